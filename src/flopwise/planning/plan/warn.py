"""What a reader of a plan must be told beside its figures: what is paid for nothing, what was not checked, what lost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flopwise.domain.offer import Offer, OfferKind
from flopwise.domain.plan import Concentration
from flopwise.domain.provenance import Evidence
from flopwise.domain.workload import ServingWorkload
from flopwise.ground.money import to_usd
from flopwise.ground.units import show
from flopwise.planning.plan import demand_rows
from flopwise.planning.plan.world import World
from flopwise.planning.sourcing.choose import Candidate

#: Of a budget, so that rounding does not count as too much.
_TOLERANCE = 1e-6
#: Share of a fee below which its rest is not worth a word.
_LITTLE = 0.02
#: Share of the plan's cost from which what is owed after the horizon must be said.
_MUCH = 0.05
#: Times dearer or cheaper than the median of other offers at which a quote is doubted.
_ODD = 3.0


def warnings(world: World, risk: Sequence[Concentration]) -> tuple[str, ...]:
    """All sentences, money first."""
    return (
        *_budget(world),
        *_commitment(world),
        *_owed_later(world),
        *_power(world),
        *_evidence(world),
        *_hosted(world),
        *_zones(world),
        *_channel(world),
        *_odd_quotes(world),
        *_early_quotes(world),
        *_quotes_not_used(world),
        *_concentration(risk),
    )


def _budget(world: World) -> list[str]:
    """Months in which what stands and is committed already costs more than the budget: it is paid under any."""
    budget = world.scenario.supply.monthly_budget
    if budget is None:
        return []
    running = world.standing.running
    over = np.flatnonzero(running > budget * (1 + _TOLERANCE))
    return [
        f"owned servers and commitments cost {show(float(running[month]), 'USD')} in {world.months[month]}, more than the "
        f"monthly budget of {show(budget, 'USD')}; they are paid in any case ({len(over)} of {len(running)} months)"
        for month in over[:1]
    ]


def _power(world: World) -> list[str]:
    """Sites whose own servers draw more than their power: the plan adds nothing there, and the sum is not right as stated."""
    overhead = 1 + world.problem.rates.power_overhead
    warnings: list[str] = []
    for site in world.scenario.supply.sites:
        drawn = sum(pool.owned * pool.power for pool in world.problem.pools if pool.site is not None and pool.place == site.name)
        most = float(np.max(drawn)) * overhead
        if site.power is not None and most > site.power * (1 + _TOLERANCE):
            warnings.append(
                f"the servers that stand at {site.name} draw up to {show(most, 'W')} with network and storage, more than its "
                f"power of {show(site.power, 'W')}: nothing can be added there; check the power or the servers"
            )
    return warnings


def _owed_later(world: World) -> list[str]:
    """Reservations that outlast the horizon by much: what they serve then is not in this plan."""
    owed = world.ledger.owed_later
    if owed <= _MUCH * world.ledger.npv:
        return []
    sentence = (
        f"{show(owed, 'USD')} of the cost are owed after {world.months[-1]}, for reservations that outlast the horizon: what "
        "they serve then is not counted; plan a longer horizon to see it"
    )
    return [sentence]


def _commitment(world: World) -> list[str]:
    """Commitments whose fee is paid for nothing, in part or all."""
    lines = [item for item in world.lines if item.line.kind == "commitment"]
    warnings: list[str] = []
    for item, covered in zip(lines, world.sourced.covered, strict=True):
        unused = float(np.sum(item.line.usd))
        fee = unused + float(covered.sum())
        if unused > _LITTLE * fee:
            warnings.append(
                f"the commitment with {item.channel} pays for {show(1 - unused / fee, '1')} of its fee; "
                f"{show(unused, 'USD')} are due for nothing: other supply costs less than its on-demand prices, "
                "or it fits no work"
            )
    return warnings


def _zones(world: World) -> list[str]:
    """Services whose zones are so few that the headroom does not carry the loss of one."""
    own = {use.workload for number, use in enumerate(world.problem.uses) if world.work_share[number] > _LITTLE}
    return [
        f"{item.name}: the loss of one of {item.zones} zones takes {1 / item.zones:.0%} of its capacity, more than the headroom "
        f"of {world.problem.headroom:.0%}: state more zones, or more headroom"
        for item in world.scenario.workloads
        if isinstance(item, ServingWorkload) and item.name in own and item.zones > 1
        if 1 / item.zones > world.problem.headroom / (1 + world.problem.headroom)
    ]


def _hosted(world: World) -> list[str]:
    """Services on hosted APIs: what their providers promise is not known."""
    used = {item.hosted for item in world.lines if item.hosted is not None}
    names = sorted(
        {(world.problem.hosted[number].workload, world.problem.hosted[number].priced.offer.channel) for number in used}
    )
    return [
        f"{workload} calls {channel}, whose latency, availability, rate limits and precision are not known here: "
        "compare its terms with the promises of the service"
        for workload, channel in names
    ]


def _channel(world: World) -> list[str]:
    """Fewer channels than the scenario asks for."""
    used = {item.contract.offer.channel for item in world.lines if item.contract is not None}
    used |= {world.problem.hosted[item.hosted].priced.offer.channel for item in world.lines if item.hosted is not None}
    wanted = world.scenario.risk.min_channels
    if not used or len(used) >= wanted:
        return []
    names = ", ".join(sorted(used))
    return [f"new supply comes from {names} alone; the scenario asks for {wanted} channels (reported, not enforced)"]


def _evidence(world: World) -> list[str]:
    """Chosen modes that rest on datasheets alone: nobody should order by them without a measurement."""
    rows = [row.mode for row in demand_rows.mode_rows(world) if row.share > 0 and row.mode.evidence is Evidence.DATASHEET]
    return [
        f"{mode.workload} on {mode.accelerator} rests on datasheet figures alone: {show(mode.interval[0], mode.rate_unit)} to "
        f"{show(mode.interval[1], mode.rate_unit)} are expected; measure before you order"
        for mode in rows
    ]


def _quotes_not_used(world: World) -> list[str]:
    """What became of quotes of the user's own that the plan does not draw on."""
    used = {item.contract.offer.id for item in world.lines if item.contract is not None}
    notes: list[str] = []
    for offer in world.scenario.supply.inline_offers:
        if offer.id in used or offer.kind is OfferKind.HOSTED:
            continue  # hosted quotes are compared with self-hosting by their own break-even
        mine = [item for item in world.considered.candidates if item.contract and item.contract.offer.id == offer.id]
        notes.append(f"your quote {offer.id} is not used: {_why_not(world, mine)}")
    return notes


def _odd_quotes(world: World) -> list[str]:
    """Quotes so far from the shipped offers of the same accelerator and contract that a unit or a digit may be wrong."""
    notes: list[str] = []
    for item in world.market.offers:
        quote = item.offer
        if not quote.user_quote or quote.kind is OfferKind.HOSTED:
            continue
        others = [_per_accelerator(offer, world) for offer in world.catalogue.offers if _alike(offer, quote)]
        if not others:
            continue
        usual, mine = float(np.median(others)), _per_accelerator(quote, world)
        if not 1 / _ODD < mine / usual < _ODD:
            unit = "USD" if quote.kind is OfferKind.PURCHASE else "USD/h"
            notes.append(
                f"your quote {quote.id} is {show(mine, unit)} per accelerator, where {len(others)} shipped offers of "
                f"{quote.accelerator} {quote.kind.value} have a median of {show(usual, unit)}: check its price, currency "
                "and number of accelerators"
            )
    return notes


def _early_quotes(world: World) -> list[str]:
    """Quotes dated after the day of the plan: a mistyped date, which would hide their age."""
    return [
        f"your quote {offer.id} is dated {offer.as_of}, after the day of the plan ({world.scenario.as_of}): check its date"
        for offer in world.scenario.supply.inline_offers
        if offer.as_of > world.scenario.as_of
    ]


def _alike(offer: Offer, quote: Offer) -> bool:
    return (offer.accelerator, offer.kind) == (quote.accelerator, quote.kind) and offer.price is not None


def _per_accelerator(offer: Offer, world: World) -> float:
    """USD of one accelerator, or of one accelerator-hour."""
    assert offer.price is not None  # noqa: S101 - only offers with a price are compared
    return to_usd(offer.price.amount, offer.price.currency, world.catalogue.exchange_rates) / max(offer.accelerators, 1)


def _why_not(world: World, mine: Sequence[Candidate]) -> str:
    """How a quote compares with what the plan draws on for the same work, the work that costs most first."""
    if not mine:
        return "it arrives after the horizon, does not fit the site, or no work can run on it"
    names = sorted({item.workload for item in mine}, key=lambda name: -world.workload_cash.get(name, 0.0))
    for name in names:
        drawn = _drawn_on(world, name)
        if drawn:
            best = min((item for item in mine if item.workload == name), key=lambda item: item.unit_cost)
            return _compared(name, best, min(drawn))
    if any(pool.owned.any() for pool in world.problem.pools):
        return f"what stands already does the work that it could do ({', '.join(names)})"
    return f"its first month, term, cap or size does not suit {', '.join(names)}"


def _drawn_on(world: World, name: str) -> list[tuple[float, str, bool]]:
    """New supply that a workload runs on: cost of a unit of work at full use, where, and whether only use is paid."""
    used = {item.contract.offer.id for item in world.lines if item.contract is not None}
    pools = {
        world.problem.pools[use.pool].id
        for number, use in enumerate(world.problem.uses)
        if use.workload == name and world.work_share[number] > _TOLERANCE
    }
    drawn = [
        (item.unit_cost, item.pool.id, item.contract.term == 0 and item.contract.offer.kind is not OfferKind.PURCHASE)
        for item in world.considered.candidates
        if item.workload == name and item.contract and item.contract.offer.id in used and item.pool.id in pools
    ]
    hosted = [world.problem.hosted[item.hosted] for item in world.lines if item.hosted is not None]
    return [*drawn, *((use.usd_per_request, use.priced.offer.channel, True) for use in hosted if use.workload == name)]


def _compared(name: str, quote: Candidate, drawn: tuple[float, str, bool]) -> str:
    cost, where, by_use = drawn
    change = quote.unit_cost / cost - 1
    if change > 0:
        return f"at full use it is {show(change, '1')} dearer for {name} than {where}, which the plan uses"
    assert quote.contract is not None  # noqa: S101 - quotes are contracts
    held = quote.contract.term > 0 or quote.contract.offer.kind is OfferKind.PURCHASE
    less = f"at full use it is {show(-change, '1')} cheaper for {name} than {where}, which the plan uses"
    if held and by_use:
        return f"{less}, but it is paid for idle hours too, and {where} only for use"
    return f"{less}, but its first month, cap, size or budget fits less well"


def _concentration(risk: Sequence[Concentration]) -> list[str]:
    return [
        f"{max(item.shares, key=item.shares.__getitem__)} holds {max(item.shares.values()):.0%} of the {item.tier} tier; "
        f"the scenario allows {item.limit:.0%} (reported, not enforced)"
        for item in risk
        if item.exceeded
    ]
