"""Every figure of a plan that can be asked: value, interval, formula, inputs, sources."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from flopwise.domain.mode import Mode
from flopwise.domain.plan import BreakEven, DemandRow, Headroom, PlanAssumption, PlanOrder, Reference
from flopwise.domain.provenance import Evidence, Figure
from flopwise.domain.workload import ServingWorkload, TrainingWorkload
from flopwise.ground.units import DAY, HOUR, MILLION_TOKENS, PETA, show
from flopwise.perf.constants import KNEE
from flopwise.planning.cost.ledger import components
from flopwise.planning.demand.modes import Reliability, goodput
from flopwise.planning.demand.needs import requests_in
from flopwise.planning.plan.demand_rows import main_mode, training_token_flops
from flopwise.planning.plan.uncertainty import rate_errors
from flopwise.planning.plan.world import World

#: Work is counted in units of 10^15 FLOP/s for an hour.
PFLOP_HOUR = PETA * HOUR
_MODEL = "step model of flopwise.perf, constants fitted to public measurements; errors on held-out rows are in the documentation"


def make_figures(
    world: World,
    *,
    interval: tuple[float, float],
    assumptions: Sequence[PlanAssumption],
    demand: Iterable[DemandRow],
    orders: Iterable[PlanOrder],
    references: Iterable[Reference],
    break_even: Iterable[BreakEven],
    headroom: Headroom,
) -> Mapping[str, Figure]:
    """All figures by id, in the order in which a reader meets them."""
    rates = math.hypot(*rate_errors(assumptions))
    relative = (interval[0] / world.ledger.npv, interval[1] / world.ledger.npv) if world.ledger.npv > 0 else (1.0, 1.0)
    figures = [
        *_totals(world, interval, relative, rates),
        *_components(world, relative),
        *_unit_costs(world, relative),
        *(figure for row in demand for figure in _workload(world, row, relative)),
        *(_order(order, world) for order in orders),
        *(_reference(item, relative) for item in references if not item.chosen),
        *(_break_even(item) for item in break_even),
        _headroom(headroom),
    ]
    return {figure.id: figure for figure in figures}


def slug(text: str) -> str:
    """A name as part of a figure id."""
    return text.replace(" ", "_")


def _around(value: float, relative: tuple[float, float]) -> tuple[float, float]:
    low, high = value * relative[0], value * relative[1]
    return (min(low, high), max(low, high))


def _exact(value: float) -> tuple[float, float]:
    return (value, value)


def _price_sources(world: World) -> tuple[str, ...]:
    found = {
        f"{item.contract.offer.id}: {item.contract.offer.source}, {item.contract.offer.as_of}"
        for item in world.lines
        if item.contract is not None
    }
    found |= {
        f"{offer.id}: {offer.source}, {offer.as_of}"
        for offer in (world.problem.hosted[item.hosted].priced.offer for item in world.lines if item.hosted is not None)
    }
    return tuple(sorted(found))


def _totals(world: World, interval: tuple[float, float], relative: tuple[float, float], rates: float) -> list[Figure]:
    parts = {name: f"cost.{name}" for name, cash in world.ledger.cash.items() if cash.any()}
    years = sorted({month[:4] for month in world.months})
    sources = _price_sources(world)
    npv = Figure(
        id="cost.total_npv",
        value=world.ledger.npv,
        unit="USD",
        interval=interval,
        evidence=Evidence.PUBLISHED,
        label="Net present cost over the horizon",
        formula="sum over components and months of cash x (1 + wacc)^(-month/12)",
        inputs={**parts, "wacc": show(world.scenario.finance.wacc, "1"), "months": str(len(world.months))},
        sources=sources,
    )
    cash = Figure(
        id="cost.total_cash",
        value=world.ledger.total,
        unit="USD",
        interval=_around(world.ledger.total, relative),
        evidence=Evidence.PUBLISHED,
        label="Cash over the horizon, residual value credited",
        formula="sum of cost.year.*",
        inputs={year: f"cost.year.{year}" for year in years},
        sources=sources,
    )
    return [npv, *_standing(world, rates), cash, *(_year(world, year, relative) for year in years)]


def _standing(world: World, rates: float) -> list[Figure]:
    """Fees are contracts and exact; what owned servers cost moves with assumed rates alone (``rates``: USD to each side)."""
    value = world.standing.npv
    if value <= 0:
        return []
    parts = {name: show(float(cash @ world.standing.discount), "USD") for name, cash in world.standing.cash.items() if cash.any()}
    return [
        Figure(
            id="cost.standing",
            value=value,
            unit="USD",
            interval=(max(value - rates, 0.0), value + rates),
            evidence=Evidence.PUBLISHED,
            label="Of it for what stands and is committed already, under any plan",
            formula="net present cost of owned servers and of commitments held",
            inputs=parts,
        )
    ]


def _year(world: World, year: str, relative: tuple[float, float]) -> Figure:
    inside = np.array([month[:4] == year for month in world.months])
    parts = {name: float(cash[inside].sum()) for name, cash in world.ledger.cash.items() if cash[inside].any()}
    value = float(sum(parts.values()))
    return Figure(
        id=f"cost.year.{year}",
        value=value,
        unit="USD",
        interval=_around(value, relative),
        evidence=Evidence.PUBLISHED,
        label=f"Cash in {year}",
        formula=" + ".join(parts) or "0",
        inputs={name: show(usd, "USD") for name, usd in parts.items()},
    )


def _components(world: World, relative: tuple[float, float]) -> list[Figure]:
    figures: list[Figure] = []
    for name, part in components().items():
        cash = world.ledger.cash[name]
        if cash.any():
            value = float(cash @ world.ledger.discount)
            figures.append(
                Figure(
                    id=f"cost.{name}",
                    value=value,
                    unit="USD",
                    interval=_exact(value) if name == "commitment" else _around(value, relative),
                    evidence=Evidence.COMPUTED if name == "commitment" else Evidence.PUBLISHED,
                    label=f"{part.LABEL}, net present",
                    formula=part.FORMULA,
                    inputs=_rates(world, name),
                    sources=_price_sources(world)
                    if name in {"hardware", "reserved", "on_demand", "spot", "hosted"}
                    else _rate_sources(world, name),
                )
            )
    return figures


#: Catalogue parameters behind each component.
_BEHIND = {
    "network": ("network.price_share",),
    "storage": ("storage.bytes_per_accelerator", "storage.price_per_byte"),
    "power": ("server.mean_power_share", "facility.power_overhead"),
    "space": ("facility.power_overhead",),
}


def _rates(world: World, name: str) -> dict[str, str]:
    finance, rates = world.scenario.finance, world.problem.rates
    own = {
        "staff": {
            "staff cost per engineer": show(finance.staff_cost, "USD/y"),
            "accelerators per engineer": f"{finance.accelerators_per_engineer:g}",
        },
        "support": {"support rate": f"{finance.support_rate:.1%} of the price a year"},
        "residual": {f"{age:g} y": f"{share:.0%}" for age, share in sorted(finance.residual.items())},
        "storage": {"storage per accelerator": show(rates.storage, "USD")},
        "network": {"network share": f"{rates.network_share:.1%}"},
        "power": {
            "mean power": f"{rates.mean_power_share:.0%} of maximum",
            **{f"{site.name} PUE": f"{site.pue.value:g}" for site in world.scenario.supply.sites},
        },
    }
    return own.get(name, {})


def _rate_sources(world: World, name: str) -> tuple[str, ...]:
    facts = [world.catalogue.parameters[key] for key in _BEHIND.get(name, ())]
    return tuple(f"{fact.source}, {fact.as_of}" for fact in facts)


def _unit_costs(world: World, relative: tuple[float, float]) -> list[Figure]:
    hours = float(world.accelerator_hours.sum())
    figures: list[Figure] = []
    pools_cost = float(world.pool_cash.sum())
    if hours > 0:
        value = pools_cost / hours
        figures.append(
            Figure(
                id="cost.per_accelerator_hour",
                value=value,
                unit="USD/h",
                interval=_around(value, relative),
                evidence=Evidence.PUBLISHED,
                label="Cost per accelerator-hour held or rented",
                formula="cash for pools / accelerator-hours; fees of commitments that no use covers are not in it",
                inputs={"cash for pools": show(pools_cost, "USD"), "accelerator-hours": f"{hours:,.0f}"},
            )
        )
        used = sum(world.used_hours.values())
        figures.append(
            Figure(
                id="use.allocation",
                value=used / hours,
                unit="1",
                interval=_exact(used / hours),
                evidence=Evidence.COMPUTED,
                label="Share of accelerator-hours with work on them",
                formula="used hours / hours held or rented",
                inputs={"used hours": f"{used:,.0f}", "hours held or rented": f"{hours:,.0f}"},
            )
        )
    return figures


def _workload(world: World, row: DemandRow, relative: tuple[float, float]) -> list[Figure]:
    name = row.workload
    key = f"workloads.{name}"
    figures = [
        Figure(
            id=f"{key}.demand.work",
            value=row.work,
            unit=row.work_unit,
            interval=_around(row.work, _growth_factors(world, name, weighted=True)),
            evidence=Evidence.COMPUTED,
            label=f"{name}: work over the horizon",
            formula="; ".join(row.derivation[:3]),
            inputs={"model": row.model},
        ),
        Figure(
            id=f"{key}.demand.peak",
            value=max(month.peak for month in row.months),
            unit=row.rate_unit,
            interval=_around(max(month.peak for month in row.months), _growth_factors(world, name, weighted=False)),
            evidence=Evidence.COMPUTED,
            label=f"{name}: highest rate before headroom",
            formula="; ".join(row.derivation),
            inputs={},
        ),
        Figure(
            id=f"{key}.unmet",
            value=row.unmet_share,
            unit="1",
            interval=_exact(row.unmet_share),
            evidence=Evidence.COMPUTED,
            label=f"{name}: share of the work that the plan cannot do",
            formula="unmet work / work",
            inputs={},
        ),
    ]
    mode = main_mode(world, name)
    if mode is not None:
        figures.extend(_mode_figures(world, name))
    return [*figures, *_cost_of_work(world, name, row, relative)]


def _growth_factors(world: World, name: str, *, weighted: bool) -> tuple[float, float]:
    """Demand under slow and fast growth over that under the middle one: in the last month, or over all months."""
    workload = world.workloads[name]
    if isinstance(workload, TrainingWorkload):
        return (1.0, 1.0)
    need = next(item for item in world.needs.serving if item.workload.name == name)
    growth, month = workload.traffic.growth, np.arange(len(world.months))
    weights = need.peak if weighted else (need.peak == need.peak.max()).astype(float)
    slow, fast = (
        float(np.average(((1 + edge) / (1 + growth.p50)) ** month, weights=weights)) if weights.any() else 1.0
        for edge in (growth.p10, growth.p90)
    )
    return (slow, fast)


def _hosted_spread(world: World, order: PlanOrder) -> tuple[float, float]:
    """Price interval of a hosted API over its price."""
    found = (use.priced.spread for use in world.problem.hosted if use.priced.offer.id == order.offer)
    return next(found, (1.0, 1.0))


def _mode_figures(world: World, name: str) -> list[Figure]:
    mode, key = main_mode(world, name), f"workloads.{name}.mode"
    assert mode is not None  # noqa: S101 - the caller checked
    layout = mode.layout
    split = f"tp {layout.tp}, pp {layout.pp}, dp {layout.dp}, ep {layout.ep}"
    words = f"{mode.accelerators} x {mode.accelerator}, {split}, {mode.precision}"
    known = world.catalogue.accelerator(mode.accelerator)
    facts = (known.memory, known.memory_bandwidth, *known.peak.values(), *known.achievable.values())
    sources = (*sorted({f"{fact.source}, {fact.as_of}" for fact in facts}), _MODEL)
    inputs = {"mode": words, "bottleneck": mode.bottleneck, **{item: f"{share:.0%}" for item, share in mode.load.items()}}
    figures = [
        Figure(
            id=f"{key}.rate",
            value=mode.rate,
            unit=mode.rate_unit,
            interval=mode.interval,
            evidence=mode.evidence,
            label=f"{name}: rate of one {'gang' if mode.rate_unit == 'tokens/s' else 'replica'}",
            formula=_rate_formula(mode.rate_unit),
            inputs={**inputs, **_work_of_one(world.workloads[name], mode), **_details(mode.detail)},
            sources=sources,
        ),
        Figure(
            id=f"{key}.memory",
            value=mode.memory,
            unit="B",
            interval=_exact(mode.memory),
            evidence=mode.evidence,
            label=f"{name}: memory on the worst accelerator",
            formula="weights + gradients + optimizer + activations + KV cache + other",
            inputs={
                **{item: show(value, "B") for item, value in mode.detail.items() if item.startswith("memory.")},
                "available": show(mode.memory_available, "B"),
            },
            sources=sources,
        ),
    ]
    progress = next((use.choice.goodput for use in world.problem.uses if use.workload == name and use.choice.mode is mode), None)
    workload = world.workloads[name]
    if progress is not None and isinstance(workload, TrainingWorkload):
        known_rates = world.catalogue.parameters
        used = ("reliability.failures_per_accelerator_day", "reliability.restart_time", "reliability.checkpoint_bandwidth")
        figures.append(
            Figure(
                id=f"{key}.goodput",
                value=progress,
                unit="1",
                interval=_goodput_interval(world, workload, mode.accelerators),
                evidence=Evidence.PUBLISHED,
                label=f"{name}: share of time that makes progress (ETTR)",
                formula="1 - checkpoint/interval - (interval/2 + restart)/MTBF",
                inputs={item: f"{known_rates[item].value:g} {known_rates[item].unit}" for item in used},
                sources=tuple(f"{known_rates[item].source}, {known_rates[item].as_of}" for item in used),
            )
        )
    return figures


def _goodput_interval(world: World, workload: TrainingWorkload, accelerators: int) -> tuple[float, float]:
    """Goodput at the most and the fewest failures that published clusters report."""
    known = world.catalogue.parameters
    failures, reliability = known["reliability.failures_per_accelerator_day"], Reliability.of(known)
    edges = (failures.high or failures.value, failures.low or failures.value)
    worst, best = (goodput(workload, accelerators, replace(reliability, failures=edge / DAY))[0] for edge in edges)
    return (worst, best)


def _rate_formula(unit: str) -> str:
    if unit == "tokens/s":
        return (
            "global batch / step time; step time = (micro-batches x slowest stage + bubble + pipeline sends + exposed exchange "
            "+ optimizer) x jitter, a stage being products, attention, memory-bound work and host time"
        )
    return (
        "min(batch / (output tokens x mean time per output token), knee x saturation) at the largest batch that cache and "
        "promises allow; steps that carry prompts are in the mean time per output token"
    )


def _work_of_one(workload: ServingWorkload | TrainingWorkload, mode: Mode) -> dict[str, str]:
    """What one step, or one request, is: the inputs of the rate beside times."""
    if isinstance(workload, TrainingWorkload):
        return {"global batch": show(mode.rate * mode.detail["step_time"], "tokens")}
    return {"output tokens": f"{workload.output.mean:,.0f}", "knee": show(KNEE, "1")}


_DETAIL_UNITS = {
    "step_time": "s",
    "ttft_p95": "s",
    "tpot_mean": "s",
    "tpot_p95": "s",
    "saturation": "req/s",
    "mfu_causal": "1",
    "bubble": "1",
    "utilisation": "1",
    "kv_bytes_per_token": "B",
    "exposed_communication_share": "1",
}


def _details(detail: Mapping[str, float]) -> dict[str, str]:
    shown = {key: show(detail[key], unit) for key, unit in _DETAIL_UNITS.items() if key in detail}
    return shown | ({"batch": f"{detail['batch']:.0f}"} if "batch" in detail else {})


def _cost_of_work(world: World, name: str, row: DemandRow, relative: tuple[float, float]) -> list[Figure]:
    """Cost per million tokens, and per useful PFLOP-hour of training; nothing where nothing is done."""
    cost, done = world.workload_cash.get(name, 0.0), row.work * (1 - row.unmet_share)
    if cost <= 0 or done <= 0:
        return []
    workload = world.workloads[name]
    if isinstance(workload, TrainingWorkload):
        tokens = done / training_token_flops(workload)
        useful = done / PFLOP_HOUR
        per_flop = Figure(
            id=f"workloads.{name}.cost.per_useful_pflop_hour",
            value=cost / useful,
            unit="USD/PFLOP-h",
            interval=_around(cost / useful, relative),
            evidence=Evidence.PUBLISHED,
            label=f"{name}: cost per useful PFLOP-hour (model FLOPs, causal, no recompute)",
            formula="cash for the workload / (model FLOPs / 3.6e18)",
            inputs={"cash for the workload": show(cost, "USD"), "model FLOPs": show(done, "FLOP")},
        )
        return [_per_million(name, cost, tokens, "trained", relative), per_flop]
    need = next(item for item in world.needs.serving if item.workload.name == name)
    requests = float(requests_in(need, world.needs.blocks).sum()) * (1 - row.unmet_share)
    output = requests * workload.output.mean
    return [
        _per_million(name, cost, done, "served, prompt and output", relative),
        _per_million(name, cost, output, "of output", relative, suffix="_output"),
    ]


def _per_million(name: str, cost: float, tokens: float, words: str, relative: tuple[float, float], suffix: str = "") -> Figure:
    value = cost / tokens * MILLION_TOKENS
    return Figure(
        id=f"workloads.{name}.cost.per_million{suffix}_tokens",
        value=value,
        unit="USD/1M tokens",
        interval=_around(value, relative),
        evidence=Evidence.PUBLISHED,
        label=f"{name}: cost per million tokens {words}",
        formula="cash for the workload / tokens x 1e6; idle hours of a pool fall on the work that uses it",
        inputs={"cash for the workload": show(cost, "USD"), "tokens": show(tokens, "tokens")},
    )


def _order(order: PlanOrder, world: World) -> Figure:
    """What one order commits."""
    contract = next(
        (item.contract for item in world.lines if item.contract is not None and item.contract.offer.id == order.offer), None
    )
    relative = contract.spread if contract else _hosted_spread(world, order)
    formulas = {
        "purchase": "servers x price per server",
        "hosted": "requests x price of a mean request",
        "on-demand": "server-hours x price per server-hour",
        "spot": "server-hours x price per server-hour",
    }
    inputs = {"servers": str(order.servers)} if order.servers else {}
    return Figure(
        id=f"orders.{order.id}.amount",
        value=order.amount,
        unit="USD",
        interval=_around(order.amount, relative),
        evidence=Evidence.PUBLISHED,
        label=f"{order.kind} of {order.server or order.channel} from {order.channel}",
        formula=formulas.get(order.kind, "servers x hours of the term x price per server-hour"),
        inputs={**inputs, "price": f"{show(order.unit_price, f'USD/{order.price_per}')}", "from": order.arrives},
        sources=(order.source,),
    )


def _reference(item: Reference, relative: tuple[float, float]) -> Figure:
    unmet = {name: f"{share:.1%} not served" for name, share in item.unmet.items()}
    return Figure(
        id=f"references.{slug(item.name)}.npv",
        value=item.npv,
        unit="USD",
        interval=_around(item.npv, relative),
        evidence=Evidence.PUBLISHED,
        label=f"Reference plan: {item.name} ({item.description})",
        formula="the same model, solved with fewer kinds of supply",
        inputs=unmet,
    )


def _break_even(item: BreakEven) -> Figure:
    formula = (
        "levelised cost of owning per unit of work / price by the hour per unit of work"
        if item.unit == "1"
        else "cost of the smallest deployment per day / hosted price per token"
    )
    return Figure(
        id=f"break_even.{item.name}",
        value=item.value,
        unit=item.unit,
        interval=item.interval,
        evidence=item.evidence,
        label=item.sentence,
        formula=formula,
        inputs={},
    )


def _headroom(item: Headroom) -> Figure:
    lines = {line.name: f"{line.share:.1%} ({line.reason})" for line in item.lines}
    return Figure(
        id="headroom.budget",
        value=item.budget,
        unit="1",
        interval=_exact(item.budget),
        evidence=Evidence.COMPUTED,
        label="Headroom over the need, one budget",
        formula="spares + zones + growth + experiments + unallocated",
        inputs={**lines, "unallocated": f"{item.unallocated:.1%}"},
    )
