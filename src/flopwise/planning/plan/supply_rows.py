"""Orders, pools by month, hosted use, bill of materials, concentration: the supply side of the plan."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flopwise.domain.calendar import first_day, month_index, month_name, weeks_before
from flopwise.domain.plan import BillItem, Concentration, HostedRow, MonthlyNeed, PlanOrder, PoolMonth, PoolRow
from flopwise.ground.units import HOUR, show
from flopwise.planning.fabric import bill_of_materials
from flopwise.planning.plan.world import World
from flopwise.planning.risk import concentration
from flopwise.planning.sourcing.pools import Contract, Pool
from flopwise.planning.sourcing.problem import held_window

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """One order before it is numbered."""

    pool: Pool
    contract: Contract
    month: int
    servers: int
    amount: float
    until: str | None
    why: str


def orders(world: World) -> tuple[PlanOrder, ...]:
    """Purchases, reservations, on-demand and spot capacity, hosted accounts, by the day they must be placed."""
    drafts = [*_purchases(world), *_reservations(world), *_elastic(world)]
    made = [_order(world, draft) for draft in drafts] + _hosted_orders(world)
    made.sort(key=lambda order: (order.order_by, order.kind, order.pool, order.arrives))
    return tuple(replace(order, id=f"order-{number:02d}") for number, order in enumerate(made, start=1))


def _purchases(world: World) -> list[_Draft]:
    drafts: list[_Draft] = []
    for (number, index), starts in world.sourced.buys.items():
        pool = world.problem.pools[number]
        contract = pool.purchases[index]
        for month in np.flatnonzero(starts):
            count = int(starts[month])
            why = _why_held(world, number, int(month))
            drafts.append(
                _Draft(
                    pool=pool,
                    contract=contract,
                    month=int(month),
                    servers=count,
                    amount=count * contract.usd,
                    until=None,
                    why=why,
                )
            )
    return drafts


def _reservations(world: World) -> list[_Draft]:
    drafts: list[_Draft] = []
    rates = world.problem.rates
    hours = np.concatenate([rates.month_hours, rates.later_hours])
    for (number, index), starts in world.sourced.reserves.items():
        pool = world.problem.pools[number]
        contract = pool.reservations[index]
        window = held_window(rates.months, contract.term, rates.ledger_months)
        for month in np.flatnonzero(starts):
            count = int(starts[month])
            until = month_name(month_index(world.months[month]) + contract.term - 1)
            amount = count * contract.usd * float(window[month] @ hours)
            why = _why_held(world, number, int(month))
            drafts.append(
                _Draft(pool=pool, contract=contract, month=int(month), servers=count, amount=amount, until=until, why=why)
            )
    return drafts


def _elastic(world: World) -> list[_Draft]:
    """One standing order per pool by the hour: up to so many servers, and what their hours will cost."""
    drafts: list[_Draft] = []
    for number, use in enumerate(world.use):
        pool, rented = world.problem.pools[number], use.rented_mean
        if pool.elastic is None or not rented.any():
            continue
        months = np.flatnonzero(rented.any(axis=1))
        amount = float((rented * world.hours).sum()) * pool.elastic.usd
        at_peak = int(np.ceil(use.rented_peak.max() - 1e-6))
        mean = float((rented * world.hours).sum() / world.hours[months].sum())
        busiest = world.months[int(use.rented_peak.max(axis=1).argmax())]
        why = f"up to {at_peak} at once ({busiest}), {mean:.2g} on average while it runs: {_workloads(world, number)}"
        drafts.append(
            _Draft(
                pool=pool,
                contract=pool.elastic,
                month=int(months[0]),
                servers=at_peak,
                amount=amount,
                until=world.months[int(months[-1])],
                why=why,
            )
        )
    return drafts


def _why_held(world: World, number: int, month: int) -> str:
    use = world.use[number]
    held = use.owned + use.purchased + use.reserved
    at_work = np.minimum(use.used_mean / (1 + world.problem.headroom), held[:, np.newaxis])
    busy = float((at_work[month:] * world.hours[month:]).sum()) / max(float(world.hours[month:].sum(axis=1) @ held[month:]), 1e-9)
    before = held[month - 1] if month else use.owned[0]
    return (
        f"{_workloads(world, number)}; {before:.0f} to {held[month]:.0f} servers in {world.months[month]}; "
        f"in use {show(min(busy, 1.0), '1')} of the hours held from then on"
    )


def _workloads(world: World, number: int) -> str:
    names = [name for name in world.workloads if world.used_hours.get((name, number), 0.0) > 1.0]
    return " and ".join(names) or "reserve"


def _order(world: World, draft: _Draft) -> PlanOrder:
    offer, pool = draft.contract.offer, draft.pool
    arrives = world.months[draft.month]
    order_by = weeks_before(arrives, draft.contract.lead_weeks) if draft.contract.lead_weeks else first_day(arrives)
    return PlanOrder(
        id="",
        kind=offer.kind.value,
        channel=offer.channel,
        offer=offer.id,
        pool=pool.id,
        server=pool.server,
        accelerator=pool.platform.accelerator.id,
        servers=draft.servers,
        accelerators=draft.servers * pool.accelerators,
        order_by=max(order_by.isoformat(), world.scenario.as_of),
        arrives=arrives,
        until=draft.until,
        unit_price=draft.contract.usd,
        price_per="server" if pool.site else "server-hour",
        amount=draft.amount,
        waits_for=_waits_for(world, pool),
        lead_weeks=draft.contract.lead_weeks,
        why=draft.why,
        stale=draft.contract.stale,
        source=f"{offer.source} ({offer.as_of})",
    )


def _waits_for(world: World, pool: Pool) -> str:
    ready = pool.site.available if pool.site else None
    return f"{pool.place} ready in {ready}" if ready and ready > world.scenario.as_of[:7] else ""


def _hosted_orders(world: World) -> list[PlanOrder]:
    made: list[PlanOrder] = []
    for number, rate in world.sourced.hosted.items():
        used = np.flatnonzero((rate > 1e-9).any(axis=1))
        if not used.size:
            continue
        use = world.problem.hosted[number]
        requests = float((rate * world.hours).sum()) * HOUR
        offer = use.priced.offer
        made.append(
            PlanOrder(
                id="",
                kind="hosted",
                channel=offer.channel,
                offer=offer.id,
                pool=offer.channel,
                server="",
                accelerator="",
                servers=0,
                accelerators=0,
                order_by=first_day(world.months[int(used[0])]).isoformat(),
                arrives=world.months[int(used[0])],
                until=world.months[int(used[-1])],
                unit_price=use.usd_per_request,
                price_per="request",
                amount=requests * use.usd_per_request,
                waits_for="a rate limit that holds the peak",
                lead_weeks=0.0,
                why=f"{use.workload}: up to {show(float(rate.max()), 'req/s')}",
                stale=use.priced.stale,
                source=f"{offer.source} ({offer.as_of})",
            )
        )
    return made


def pool_rows(world: World) -> tuple[PoolRow, ...]:
    """Pools that hold or rent anything, by month, in accelerators."""
    rows: list[PoolRow] = []
    for pool, use in zip(world.problem.pools, world.use, strict=True):
        if not ((use.owned + use.purchased + use.reserved).any() or use.rented_mean.any()):
            continue
        size = pool.accelerators
        mean = _monthly(use.rented_mean, world.hours) * size
        peak = np.ceil(use.rented_peak.max(axis=1) - 1e-6) * size
        used_mean, used_peak = _monthly(use.used_mean, world.hours) * size, use.used_peak.max(axis=1) * size
        months = tuple(
            PoolMonth(
                month=month,
                owned=float(use.owned[t]) * size,
                purchased=float(use.purchased[t]) * size,
                reserved=float(use.reserved[t]) * size,
                on_demand_mean=0.0 if pool.spot else float(mean[t]),
                on_demand_peak=0.0 if pool.spot else float(peak[t]),
                spot_mean=float(mean[t]) if pool.spot else 0.0,
                spot_peak=float(peak[t]) if pool.spot else 0.0,
                used_mean=float(used_mean[t]),
                used_peak=float(used_peak[t]),
            )
            for t, month in enumerate(world.months)
        )
        rows.append(
            PoolRow(
                pool=pool.id,
                platform=pool.platform.id,
                accelerator=pool.platform.accelerator.id,
                server=pool.server,
                channel=pool.channel,
                place=pool.place,
                accelerators_per_server=size,
                months=months,
            )
        )
    return tuple(rows)


def _monthly(values: Floats, hours: Floats) -> Floats:
    return (values * hours).sum(axis=1) / hours.sum(axis=1)


def hosted_rows(world: World) -> tuple[HostedRow, ...]:
    """Requests/s on hosted APIs by month."""
    rows: list[HostedRow] = []
    for number, rate in world.sourced.hosted.items():
        use = world.problem.hosted[number]
        if not (rate > 1e-9).any():
            continue
        mean, peak = _monthly(rate, world.hours), rate.max(axis=1)
        months = tuple(MonthlyNeed(month=month, mean=float(mean[t]), peak=float(peak[t])) for t, month in enumerate(world.months))
        offer = use.priced.offer
        rows.append(HostedRow(workload=use.workload, channel=offer.channel, offer=offer.id, months=months))
    return tuple(rows)


def bill(world: World) -> tuple[BillItem, ...]:
    """What bought servers take, by site."""
    bought: dict[tuple[str, str], tuple[int, float]] = {}
    for (number, index), starts in world.sourced.buys.items():
        pool, count = world.problem.pools[number], int(starts.sum())
        if count:
            before = bought.get((pool.place, pool.server), (0, 0.0))
            bought[pool.place, pool.server] = (before[0] + count, before[1] + count * pool.purchases[index].usd)
    return bill_of_materials(bought, world.catalogue, world.problem.rates.network_share)


def risk_rows(world: World) -> tuple[Concentration, ...]:
    """Concentration by vendor, accelerator, channel and place, in accelerator-hours."""
    tiers: dict[str, dict[str, float]] = {tier: defaultdict(float) for tier in ("vendor", "accelerator", "channel", "place")}
    channels = _channel_hours(world)
    for pool, hours in zip(world.problem.pools, world.accelerator_hours, strict=True):
        if hours > 0:
            tiers["vendor"][pool.platform.accelerator.vendor] += hours
            tiers["accelerator"][pool.platform.accelerator.id] += hours
            tiers["place"][pool.place] += hours
    tiers["channel"] = channels
    limits = world.scenario.risk.max_share
    return tuple(concentration(tier, amounts, limits.get(tier)) for tier, amounts in tiers.items() if amounts)


def _channel_hours(world: World) -> dict[str, float]:
    """Accelerator-hours by the channel that sold them; servers owned before the plan count as ``owned``."""
    hours: dict[str, float] = defaultdict(float)
    for item in world.lines:
        if item.pool is None:
            continue
        pool = world.problem.pools[item.pool]
        held = float(np.sum(item.line.held * world.problem.rates.month_hours)) + float(np.sum(item.line.server_hours))
        hours[item.contract.offer.channel if item.contract else "owned"] += held * pool.accelerators
    return hours
