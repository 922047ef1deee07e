"""The main job: a scenario becomes one immutable plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from flopwise import __version__
from flopwise.catalog import Catalogue
from flopwise.domain.calendar import months_of
from flopwise.domain.offer import Offer
from flopwise.domain.plan import (
    PLAN_SCHEMA,
    Headroom,
    Infeasibility,
    Plan,
    PlanAssumption,
    PlanOrder,
    Reference,
    Status,
    Summary,
)
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
from flopwise.planning.plan.uncertainty import Uncertainty
from flopwise.planning.plan.warn import warnings
from flopwise.planning.plan.words import headline, next_actions
from flopwise.planning.plan.world import World
from flopwise.planning.sourcing.choose import Considered, make_problem, make_rates
from flopwise.planning.sourcing.pools import Pools, make_pools

Report = Callable[[str, int, int], None]
#: Relative gap at which the optimum and its references are accepted, and the time each solve may take (s).
GAP, TIME_LIMIT = 1e-2, 60.0
_STAGES = 4
#: A plan whose cost is proven within this of the least possible counts as optimal.
PROVEN = 0.05
#: A gap below this is rounding.
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
    rates = make_rates(scenario, catalogue, blocks.hours.sum(axis=1), pools)
    return make_problem(scenario, catalogue, needs, pools, rates, tell)


def _written(
    world: World,
    pools: Pools,
    references: tuple[Reference, ...],
    reasons: tuple[Infeasibility, ...],
    assumptions: tuple[PlanAssumption, ...],
) -> Plan:
    scenario = world.scenario
    uncertainty = Uncertainty(world, assumptions)
    demand, orders = demand_rows.demand_rows(world), supply_rows.orders(world)
    break_even, risk = cost_rows.break_evens(world), supply_rows.risk_rows(world)
    headroom, headroom_warnings = _headroom(world)
    gap = _gap(world)
    status = Status.INFEASIBLE if reasons else Status.OPTIMAL if gap <= PROVEN else Status.FEASIBLE
    figures = make_figures(
        world,
        uncertainty=uncertainty,
        assumptions=assumptions,
        demand=demand,
        orders=orders,
        references=references,
        break_even=break_even,
        headroom=headroom,
    )
    notes = (
        *scenario.warnings,
        *world.needs.warnings,
        *headroom_warnings,
        *warnings(world, risk),
        *_unproven(status, gap),
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
        gap=gap,
        summary=_summary(world, uncertainty.total(), status, orders, references),
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
        warnings=notes,
        stated=scenario.stated,
        figures=figures,
    )


def _unproven(status: Status, gap: float) -> list[str]:
    if status is not Status.FEASIBLE:
        return []
    sentence = (
        f"this plan costs at most {show(gap, '1')} more than the least possible, and no better one was found: the proof counts "
        "servers in parts where whole ones are few"
    )
    return [sentence]


def _gap(world: World) -> float:
    """Ledger cost over what no plan can cost less than: the solver's gap, and what whole servers by the hour add."""
    npv = world.ledger.npv
    gap = max(npv - world.sourced.bound, 0.0) / npv if npv > 0 else 0.0
    return gap if gap > _TOLERANCE else 0.0


def _summary(
    world: World,
    interval: tuple[float, float],
    status: Status,
    orders: Sequence[PlanOrder],
    references: Sequence[Reference],
) -> Summary:
    npv = world.ledger.npv
    comparable = [item for item in references if not item.chosen and item.feasible]
    best = min(comparable, key=lambda item: item.npv, default=None) if status is not Status.INFEASIBLE else None
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
