"""How much each assumption weighs: the change of the total cost over its plausible range.

Cost rates are varied on the plan as it stands (its ledger is summed again). What changes the need or the capacity is
varied in the relaxed model, solved again, and compared with the relaxed model as it stands. Ranges are those of the
stated fact, or a quarter down and up where it states none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

from flopwise.domain.offer import OfferKind
from flopwise.domain.plan import PlanAssumption
from flopwise.domain.provenance import Fact
from flopwise.domain.scenario import USUAL_HEADROOM, Assumption
from flopwise.domain.workload import ServingWorkload
from flopwise.ground.units import HOUR, show
from flopwise.planning.cost.ledger import make_ledger
from flopwise.planning.cost.supply_line import Rates
from flopwise.planning.demand.modes import Reliability, recovery
from flopwise.planning.demand.needs import make_needs
from flopwise.planning.plan.demand_rows import main_mode
from flopwise.planning.plan.world import World
from flopwise.planning.sourcing.choose import pool_rate
from flopwise.planning.sourcing.lines import PlanLine
from flopwise.planning.sourcing.pools import Contract, arrival_offset
from flopwise.planning.sourcing.problem import Problem, Use, with_contracts
from flopwise.planning.sourcing.solve import least_cost

#: Range of a value that states none.
SPREAD = 0.25
#: Relaxed models solved at once.
_WORKERS = 2
#: Cells (uses x months x blocks) of the largest model that is solved again for every need and capacity.
_LARGEST = 50_000
_LOW_HIGH = (1 - SPREAD, 1 + SPREAD)
#: Parameters that planning itself rests on, whatever the scenario says.
PLANNING_PARAMETERS = (
    "network.price_share",
    "storage.bytes_per_accelerator",
    "storage.price_per_byte",
    "server.mean_power_share",
    "facility.power_overhead",
    "reliability.failures_per_accelerator_day",
    "reliability.restart_time",
    "reliability.repair_time",
    "reliability.checkpoint_bandwidth",
    "spot.interruptions_per_hour",
    "offers.on_demand_quota",
    "lead.oem.p90_weeks",
    "lead.cloud_reserved.p90_weeks",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Range:
    """Printed ends of a range, the cost difference between them (USD), and the end that cannot be served."""

    low: str
    high: str
    swing: float | None
    breaks: str = ""


def weigh(world: World, *, time_limit: float) -> tuple[PlanAssumption, ...]:
    """All assumptions of the scenario and of planning, the heaviest first; ``swing`` is ``None`` where none was varied.

    Complexity: one ledger per cost rate, two relaxed solves per need or capacity assumption.
    """
    assumptions = [*world.scenario.assumptions, *_planning_assumptions(world)]
    tests = _Tests(world, time_limit)
    with ThreadPoolExecutor(max_workers=_WORKERS) as pool:
        performance = list(pool.map(lambda name: _performance_row(world, tests, name), world.workloads))
        rows = list(pool.map(lambda item: _row(item, tests.range_of(item.path)), assumptions))
    rows.extend(row for row in performance if row is not None)
    return tuple(sorted(rows, key=lambda row: row.rank))


def _planning_assumptions(world: World) -> Iterable[Assumption]:
    for name in PLANNING_PARAMETERS:
        fact = world.catalogue.parameters[name]
        reason = fact.note or "a fact of the catalogue that the scenario does not state"
        yield Assumption(path=name, value=fact.text, reason=reason, source=f"{fact.source}, {fact.as_of}")


def _row(item: Assumption, found: _Range | None) -> PlanAssumption:
    if found is None:
        return PlanAssumption(assumption=item, low="", high="", swing=None)
    return PlanAssumption(assumption=item, low=found.low, high=found.high, swing=found.swing, breaks=found.breaks)


def _performance_row(world: World, tests: _Tests, name: str) -> PlanAssumption | None:
    """The rate of a workload's mode over its interval."""
    mode = main_mode(world, name)
    if mode is None:
        return None
    item = Assumption(
        path=f"performance.{name}",
        value=show(mode.rate, mode.rate_unit),
        reason="predicted rate of the chosen mode",
        source=f"flopwise performance model, {mode.evidence.value}; 80 % interval from errors on held-out measurements",
    )
    return _row(
        item, tests.resolved(lambda problem, edge: _with_rate(problem, name, edge / mode.rate), mode.interval, mode.rate_unit)
    )


def _with_rate(problem: Problem, workload: str, factor: float) -> Problem:
    return replace(
        problem,
        uses=tuple(replace(use, rate=use.rate * factor) if use.workload == workload else use for use in problem.uses),
    )


def _with_growth(world: World, problem: Problem, workload: str, growth: float) -> Problem:
    return _with_workloads(
        world,
        problem,
        workload,
        lambda item: replace(item, traffic=replace(item.traffic, growth=replace(item.traffic.growth, p50=growth))),
    )


def _with_peak(world: World, problem: Problem, workload: str, factor: float) -> Problem:
    return _with_workloads(
        world, problem, workload, lambda item: replace(item, traffic=replace(item.traffic, peak=item.traffic.peak * factor))
    )


def _with_workloads(world: World, problem: Problem, name: str, change: Callable[[ServingWorkload], ServingWorkload]) -> Problem:
    workloads = tuple(
        change(item) if item.name == name and isinstance(item, ServingWorkload) else item for item in world.scenario.workloads
    )
    needs = make_needs(replace(world.scenario, workloads=workloads), world.months, problem.needs.blocks)
    return replace(problem, needs=needs)


def _with_quota(_world: World, problem: Problem, servers: float) -> Problem:
    """Another cap on what is rented by the hour, where the offer states none."""

    def changed(contract: Contract) -> Contract:
        capped = contract.offer.kind in {OfferKind.ON_DEMAND, OfferKind.SPOT} and contract.offer.max_servers is None
        return replace(contract, most=servers) if capped else contract

    return with_contracts(problem, changed)


def _with_lead(kinds: frozenset[OfferKind]) -> Callable[[World, Problem, float], Problem]:
    """Another lead time of some kinds of contract, where the offer states none."""

    def change(world: World, problem: Problem, weeks: float) -> Problem:
        def changed(contract: Contract) -> Contract:
            if contract.offer.kind not in kinds or contract.offer.lead_time is not None:
                return contract
            first = max(contract.earliest, arrival_offset(world.scenario, weeks))
            return contract if first == contract.first else replace(contract, first=first)

        return with_contracts(problem, changed)

    return change


def _with_interruptions(world: World, problem: Problem, per_hour: float) -> Problem:
    """Another rate of interruptions of spot servers, where the offer states none."""

    def changed(contract: Contract) -> Contract:
        usual = contract.offer.kind is OfferKind.SPOT and contract.offer.interruptions_per_hour is None
        return replace(contract, interruptions=per_hour / HOUR) if usual else contract

    return _with_reliability(with_contracts(problem, changed), Reliability.of(world.catalogue.parameters))


def _with_reliability(problem: Problem, reliability: Reliability) -> Problem:
    """Rates of training uses under other failure rates, restart times or interruptions; layouts stay."""
    trainings = {need.workload.name: need.workload for need in problem.needs.training}

    def changed(use: Use) -> Use:
        if use.workload not in trainings:
            return use
        met = recovery(trainings[use.workload], use.choice.mode.accelerators, reliability)
        return replace(use, rate=pool_rate(problem.pools[use.pool], replace(use.choice, recovery=met)))

    return replace(problem, uses=tuple(changed(use) for use in problem.uses))


class _Tests:
    """Variations of one plan."""

    def __init__(self, world: World, time_limit: float) -> None:
        self.world, self.time_limit = world, time_limit
        self.large = len(world.problem.uses) * world.hours.size > _LARGEST

    def range_of(self, path: str) -> _Range | None:
        """Range and swing of an assumption by its path; ``None`` where it cannot be varied."""
        fact = self._fact(path)
        rates = self._rates(path, fact)
        if rates is not None:
            return rates
        lines = self._site_lines(path)
        if lines is not None:
            return lines
        return self._problem(path, fact)

    def _fact(self, path: str) -> Fact | None:
        known = self.world.catalogue.parameters
        return known.get(path) or known.get(_PARAMETER_OF.get(path, ""))

    def _edges(self, fact: Fact | None, value: float) -> tuple[float, float]:
        if fact is not None and (fact.low is not None or fact.high is not None):
            return fact.interval
        return (value * _LOW_HIGH[0], value * _LOW_HIGH[1])

    # Cost rates ---------------------------------------------------------------------------------------------------

    def _rates(self, path: str, fact: Fact | None) -> _Range | None:
        change = _RATE_CHANGES.get(path)
        rates = self.world.problem.rates
        if path.startswith("finance.residual"):
            # One row for the whole curve: ages move together.
            first = min(rates.residual, default=None)
            if first is None or not path.endswith(f"{first:g}y"):
                return None
            values = [
                replace(rates, residual={age: min(part * factor, 1.0) for age, part in rates.residual.items()})
                for factor in _LOW_HIGH
            ]
            return _Range(low="all ages 25 % lower", high="all ages 25 % higher", swing=self._summed(values))
        if change is None:
            return None
        value, make = change(rates)
        low, high = self._edges(fact, value)
        unit = fact.unit if fact else "1"
        return _Range(low=_text(low, unit), high=_text(high, unit), swing=self._summed([make(low), make(high)]))

    def _summed(self, rates: Sequence[Rates]) -> float:
        totals = [make_ledger([item.line for item in self.world.lines], each).npv for each in rates]
        return abs(totals[1] - totals[0])

    def _site_lines(self, path: str) -> _Range | None:
        """Electricity, PUE and colocation of one site."""
        parts = path.split(".")
        if parts[:2] != ["supply", "sites"] or parts[-1] not in {"electricity", "pue", "colocation"}:
            return None
        name, field = ".".join(parts[2:-1]), parts[-1]
        site = next((item for item in self.world.scenario.supply.sites if item.name == name), None)
        if site is None:
            return None
        fact: Fact = getattr(site, field)
        low, high = self._edges(fact, fact.value)
        totals = [
            make_ledger(
                [_at_rate(item, self.world, name, field, edge) for item in self.world.lines], self.world.problem.rates
            ).npv
            for edge in (low, high)
        ]
        return _Range(low=_text(low, fact.unit), high=_text(high, fact.unit), swing=abs(totals[1] - totals[0]))

    # Need and capacity --------------------------------------------------------------------------------------------

    def _problem(self, path: str, fact: Fact | None) -> _Range | None:
        if path == "headroom":
            return self.resolved(lambda problem, edge: replace(problem, headroom=edge), USUAL_HEADROOM, "1")
        if path in _RELIABILITY:
            return self._reliability(path, fact)
        if path in _CONTRACTS and fact is not None:
            change = _CONTRACTS[path]
            return self.resolved(
                lambda problem, edge: change(self.world, problem, edge), self._edges(fact, fact.value), fact.unit
            )
        service = next((name for name in self.world.workloads if path.startswith(f"workloads.{name}.traffic.")), None)
        if service is None or not isinstance(self.world.workloads[service], ServingWorkload):
            return None
        return self._traffic(service, path.removeprefix(f"workloads.{service}.traffic."))

    def _traffic(self, name: str, field: str) -> _Range | None:
        if field == "growth":
            return self.resolved(lambda problem, edge: _with_growth(self.world, problem, name, edge), (0.0, 0.04), "1/month")
        if field == "peak" or field.startswith(("users", "concurrency")):
            found = self.resolved(lambda problem, edge: _with_peak(self.world, problem, name, edge), _LOW_HIGH, "1")
            low, high = "25 % lower", "25 % higher"
            return replace(found, low=low, high=high, breaks={found.low: low, found.high: high}.get(found.breaks, ""))
        return None

    def _reliability(self, path: str, fact: Fact | None) -> _Range | None:
        if not self.world.needs.training or fact is None:
            return None
        known = dict(self.world.catalogue.parameters)

        def at(problem: Problem, edge: float) -> Problem:
            return _with_reliability(problem, Reliability.of(known | {path: replace(fact, value=edge, low=None, high=None)}))

        return self.resolved(at, self._edges(fact, fact.value), fact.unit)

    def resolved(self, change: Callable[[Problem, float], Problem], edges: tuple[float, float], unit: str) -> _Range:
        """Difference of the relaxed model's cost between both edges, and the edge at which not all can be served."""
        low, high = (_text(edge, unit) for edge in edges)
        if self.large or any(self.world.sourced.unmet.values()):
            return _Range(low=low, high=high, swing=None)
        totals = [self._least(change(self.world.problem, edge)) for edge in edges]
        if totals[0] is None or totals[1] is None:
            return _Range(low=low, high=high, swing=None, breaks=low if totals[0] is None else high)
        return _Range(low=low, high=high, swing=abs(totals[1] - totals[0]))

    def _least(self, problem: Problem) -> float | None:
        if problem is self.world.problem:
            return self._base
        return least_cost(problem, time_limit=self.time_limit)

    @cached_property
    def _base(self) -> float | None:
        return least_cost(self.world.problem, time_limit=self.time_limit)


def _at_rate(item: PlanLine, world: World, site: str, field: str, value: float):  # noqa: ANN202 - a SupplyLine
    line = item.line
    if item.pool is None or line.site is None or world.problem.pools[item.pool].place != site:
        return line
    return replace(line, site=replace(line.site, **{field: value}))


def _text(value: float, unit: str) -> str:
    return f"{value:g}" if unit == "1" and value > 1 else show(value, unit)


#: Parameter of the catalogue behind an assumption's path, where the names differ.
_PARAMETER_OF: Mapping[str, str] = {
    "finance.staff_cost": "staff.cost",
    "finance.accelerators_per_engineer": "staff.accelerators_per_engineer",
}
_RELIABILITY = frozenset(
    {"reliability.failures_per_accelerator_day", "reliability.restart_time", "reliability.checkpoint_bandwidth"}
)
#: Parameters of contracts, and the problem with another value.
_CONTRACTS: Mapping[str, Callable[[World, Problem, float], Problem]] = {
    "offers.on_demand_quota": _with_quota,
    "spot.interruptions_per_hour": _with_interruptions,
    "lead.oem.p90_weeks": _with_lead(frozenset({OfferKind.PURCHASE})),
    "lead.cloud_reserved.p90_weeks": _with_lead(frozenset({OfferKind.RESERVED, OfferKind.CAPACITY_BLOCK, OfferKind.LEASE})),
}
#: Value of a rate, and rates with another value, by path.
_RATE_CHANGES: Mapping[str, Callable[[Rates], tuple[float, Callable[[float], Rates]]]] = {
    "finance.wacc": lambda rates: (rates.wacc, lambda value: replace(rates, wacc=value)),
    "finance.support_rate": lambda rates: (rates.support_rate, lambda value: replace(rates, support_rate=value)),
    "finance.staff_cost": lambda rates: (rates.staff_cost, lambda value: replace(rates, staff_cost=value)),
    "finance.accelerators_per_engineer": lambda rates: (
        rates.accelerators_per_engineer,
        lambda value: replace(rates, accelerators_per_engineer=value),
    ),
    "network.price_share": lambda rates: (rates.network_share, lambda value: replace(rates, network_share=value)),
    "server.mean_power_share": lambda rates: (rates.mean_power_share, lambda value: replace(rates, mean_power_share=value)),
    "facility.power_overhead": lambda rates: (rates.power_overhead, lambda value: replace(rates, power_overhead=value)),
}
