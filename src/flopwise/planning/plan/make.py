"""The main job: a scenario becomes one immutable plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from flopwise import __version__
from flopwise.catalog import Catalogue
from flopwise.domain.calendar import months_of
from flopwise.domain.offer import Offer, OfferKind
from flopwise.domain.plan import (
    PLAN_SCHEMA,
    Concentration,
    Headroom,
    Infeasibility,
    Plan,
    PlanAssumption,
    PlanOrder,
    Reference,
    Status,
    Summary,
)
from flopwise.domain.provenance import Evidence
from flopwise.domain.scenario import Scenario
from flopwise.ground.errors import FlopwiseError
from flopwise.ground.units import show
from flopwise.planning.demand.headroom import reconcile
from flopwise.planning.demand.needs import make_needs, plan_blocks
from flopwise.planning.market import select
from flopwise.planning.plan import cost_rows, demand_rows, supply_rows
from flopwise.planning.plan.figures import make_figures
from flopwise.planning.plan.infeasible import infeasibilities
from flopwise.planning.plan.sensitivity import weigh
from flopwise.planning.plan.uncertainty import total_interval
from flopwise.planning.plan.words import headline, next_actions
from flopwise.planning.plan.world import World
from flopwise.planning.sourcing.choose import Candidate, Considered, make_problem, make_rates
from flopwise.planning.sourcing.pools import Pools, make_pools

Report = Callable[[str, int, int], None]
#: Relative gap at which the optimum and its references are accepted, and the time each solve may take (s).
GAP, TIME_LIMIT = 1e-2, 60.0
_STAGES = 4
#: Of a budget, so that rounding does not count as too much.
_TOLERANCE = 1e-6


def make_plan(scenario: Scenario, catalogue: Catalogue, hosted: Sequence[Offer] = (), report: Report | None = None) -> Plan:
    """Plan a scenario.

    Args:
        scenario: what is wanted, in base units.
        catalogue: facts, offers, parameters.
        hosted: offers of hosted APIs.
        report: called with (stage, done, total) on the way.

    Returns:
        The plan; its ``status`` is infeasible when some demand cannot be met, and then it says why.

    Raises:
        FlopwiseError: the whole horizon lies before the day of the plan.
        UnknownNameError, MissingPriceError: the scenario names what is not known, or an offer has no price.
        SolverError: no usable answer within the time limit.
    """
    tell = report or (lambda *_: None)
    _check_horizon(scenario)
    market = select(scenario, catalogue, hosted)
    pools = make_pools(scenario, catalogue, market)
    considered = _considered(scenario, catalogue, pools, tell)
    tell("solving the plan and its references", 1, _STAGES)
    answers = cost_rows.solve_all(considered.problem, gap=GAP, time_limit=TIME_LIMIT)
    sourced = answers[cost_rows.PLAN]
    world = World(scenario=scenario, catalogue=catalogue, market=market, considered=considered, sourced=sourced)
    references = cost_rows.references(world, answers)
    tell("looking for what binds", 2, _STAGES)
    reasons = infeasibilities(world, time_limit=TIME_LIMIT)
    tell("weighing assumptions", 3, _STAGES)
    assumptions = weigh(world, time_limit=TIME_LIMIT)
    tell("writing the plan", _STAGES, _STAGES)
    return _written(world, pools, references, reasons, assumptions)


def _check_horizon(scenario: Scenario) -> None:
    last = months_of(scenario.horizon.start, scenario.horizon.months)[-1]
    if last < scenario.as_of[:7]:
        msg = f"the horizon ends in {last}, before the day of the plan ({scenario.as_of})"
        raise FlopwiseError(msg, hint="move horizon.start, or state as_of")


def _considered(scenario: Scenario, catalogue: Catalogue, pools: Pools, tell: Report) -> Considered:
    months = months_of(scenario.horizon.start, scenario.horizon.months)
    blocks = plan_blocks(scenario, months)
    needs = make_needs(scenario, months, blocks)
    rates = make_rates(scenario, catalogue, blocks.hours.sum(axis=1))
    return make_problem(scenario, catalogue, needs, pools, rates, tell)


def _written(
    world: World,
    pools: Pools,
    references: tuple[Reference, ...],
    reasons: tuple[Infeasibility, ...],
    assumptions: tuple[PlanAssumption, ...],
) -> Plan:
    scenario = world.scenario
    interval = total_interval(world)
    demand, orders = demand_rows.demand_rows(world), supply_rows.orders(world)
    break_even, risk = cost_rows.break_evens(world), supply_rows.risk_rows(world)
    headroom, headroom_warnings = _headroom(world)
    status = Status.INFEASIBLE if reasons else Status.OPTIMAL
    figures = make_figures(
        world, interval=interval, demand=demand, orders=orders, references=references, break_even=break_even, headroom=headroom
    )
    warnings = (
        *scenario.warnings,
        *world.needs.warnings,
        *headroom_warnings,
        *_budget_warnings(world),
        *_evidence_warnings(world),
        *_quotes_not_used(world),
        *_concentration_warnings(risk),
        *(f"left out: {note}" for note in (*world.market.excluded, *pools.notes)),
    )
    return Plan(
        schema=PLAN_SCHEMA,
        name=scenario.name,
        flopwise=__version__,
        scenario_digest=scenario.digest,
        catalogue_digest=world.catalogue.digest,
        seed=scenario.risk.seed,
        as_of=scenario.as_of,
        currency="USD",
        months=world.months,
        status=status,
        gap=_gap(world),
        summary=_summary(world, interval, status, orders, references),
        demand=demand,
        headroom=headroom,
        modes=demand_rows.mode_rows(world),
        refusals=world.considered.refusals,
        orders=orders,
        pools=supply_rows.pool_rows(world),
        hosted=supply_rows.hosted_rows(world),
        hours=demand_rows.hour_rows(world),
        costs=cost_rows.cost_lines(world),
        references=references,
        break_even=break_even,
        coverage=world.market.coverage,
        risk=risk,
        fabric=supply_rows.bill(world),
        infeasibilities=reasons,
        assumptions=assumptions,
        warnings=warnings,
        figures=figures,
    )


def _gap(world: World) -> float:
    """Ledger cost over what no plan can cost less than: the solver's gap, and what whole servers by the hour add."""
    npv = world.ledger.npv
    return max(npv - world.sourced.bound, 0.0) / npv if npv > 0 else 0.0


def _summary(
    world: World,
    interval: tuple[float, float],
    status: Status,
    orders: Sequence[PlanOrder],
    references: Sequence[Reference],
) -> Summary:
    npv = world.ledger.npv
    comparable = [item for item in references if not item.chosen and item.feasible]
    best = min(comparable, key=lambda item: item.npv, default=None) if status is Status.OPTIMAL else None
    met = _met_share(world)
    return Summary(
        headline=headline(
            orders,
            npv=npv,
            standing=world.standing.npv,
            interval=interval,
            months=len(world.months),
            best=best,
            unmet=world.sourced.unmet,
        ),
        standing_npv=world.standing.npv,
        total_npv=npv,
        total_npv_interval=interval,
        total_cash=world.ledger.total,
        best_reference=best.name if best else "",
        saving_vs_best_reference=1 - npv / best.npv if best and best.npv > 0 else None,
        met_share=met,
        peak_accelerators=_peak_accelerators(world),
        next_actions=next_actions(orders),
    )


def _met_share(world: World) -> float:
    """The least share of any workload that is served: one that fails must not hide behind others."""
    return max(1 - max(world.sourced.unmet.values(), default=0.0), 0.0)


def _peak_accelerators(world: World) -> float:
    total = np.zeros(len(world.months))
    for pool, use in zip(world.problem.pools, world.use, strict=True):
        total += (use.owned + use.purchased + use.reserved + np.ceil(use.rented_peak.max(axis=1) - 1e-6)) * pool.accelerators
    return float(total.max()) if total.size else 0.0


def _headroom(world: World) -> tuple[Headroom, tuple[str, ...]]:
    total = sum(world.used_hours.values()) or 1.0
    weights: dict[str, float] = {}
    for (name, _), hours in world.used_hours.items():
        weights[name] = weights.get(name, 0.0) + hours / total
    replicas: dict[str, float] = {}
    for number, use in enumerate(world.problem.uses):
        if number in world.sourced.serving:
            replicas[use.workload] = replicas.get(use.workload, 0.0) + float(world.sourced.serving[number].max())
    servers = [pool.accelerators for pool, hours in zip(world.problem.pools, world.accelerator_hours, strict=True) if hours > 0]
    return reconcile(
        world.scenario.headroom, world.needs, world.catalogue.parameters, replicas=replicas, weights=weights, servers=servers
    )


def _budget_warnings(world: World) -> list[str]:
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


def _evidence_warnings(world: World) -> list[str]:
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
            continue
        mine = [item for item in world.considered.candidates if item.contract and item.contract.offer.id == offer.id]
        notes.append(f"your quote {offer.id} is not used: {_why_not(world, mine)}")
    return notes


def _why_not(world: World, mine: Sequence[Candidate]) -> str:
    """The work that a quote comes nearest to, and how it compares there."""
    if not mine:
        return "it arrives after the horizon, or no work can run on it"
    compared: list[tuple[float, str]] = []
    for item in mine:
        others = [other for other in world.considered.candidates if other.workload == item.workload and other.contract]
        best = min(others, key=lambda other: other.unit_cost)
        compared.append((item.unit_cost / best.unit_cost - 1, f"{item.workload} than {best.pool.id}"))
    dearer, what = min(compared)
    if dearer <= 0:
        return "it is the cheapest at full use, but not for the hours and months in which the work comes"
    return f"at full use it is {show(dearer, '1')} dearer for {what}"


def _concentration_warnings(risk: Sequence[Concentration]) -> list[str]:
    return [
        f"{max(item.shares, key=item.shares.__getitem__)} holds {max(item.shares.values()):.0%} of the {item.tier} tier; "
        f"the scenario allows {item.limit:.0%} (reported, not enforced)"
        for item in risk
        if item.exceeded
    ]
