"""The plan: one immutable answer, written as JSON and never changed. All amounts are USD, all times months of the horizon.

``plan.json`` is exactly ``dataclasses.asdict(Plan)``; nothing in it depends on the clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from flopwise.domain.mode import Mode, Refusal
from flopwise.domain.provenance import Evidence, Figure
from flopwise.domain.scenario import Assumption

PLAN_SCHEMA = "flopwise.plan/1"


class Status(StrEnum):
    """How good the plan is.

    ``optimal``: all demand is met, at a cost proven near the least possible. ``feasible``: all is met, but the proof
    leaves more room than that. ``infeasible``: some demand cannot be met; the plan still says what can be done.
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthlyNeed:
    """Demand of one workload in one month: mean and peak rate (its unit), before headroom."""

    month: str
    mean: float
    peak: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandRow:
    """What one workload needs. ``derivation`` prints the arithmetic from the scenario's words to the numbers.

    ``work`` is total model FLOPs (training) or tokens (serving) over the horizon; ``memory`` maps parts
    (weights, gradients, optimizer, activations, kv_cache) to bytes.
    """

    workload: str
    kind: str
    model: str
    rate_unit: str
    work: float
    work_unit: str
    memory: Mapping[str, float]
    derivation: tuple[str, ...]
    months: tuple[MonthlyNeed, ...]
    unmet_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadroomLine:
    """One draw on the headroom budget, as a fraction of the need before headroom."""

    name: str
    share: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """The one budget and what draws on it. ``unallocated`` is what is left; negative means overdrawn."""

    budget: float
    lines: tuple[HeadroomLine, ...]
    unallocated: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeRow:
    """A mode as the plan weighed it. ``share`` is the part of the workload's work that it does (0 when not chosen).

    ``unit_cost`` is USD per million tokens at the cheapest offer of that platform; ``verdict`` says why it was
    chosen or lost.
    """

    platform: str
    mode: Mode
    share: float
    unit_cost: float | None
    verdict: str


_PAID_BY_USE = frozenset({"on-demand", "spot", "hosted"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOrder:
    """One order: what, how many, from whom, until when it must be placed.

    ``amount`` (USD) is the total commitment of a purchase or reservation, and the expected bill of what is paid by use.
    ``lead_weeks`` is the 90th percentile of the lead time that the order rests on.
    """

    id: str
    kind: str
    channel: str
    offer: str
    pool: str
    server: str
    accelerator: str
    servers: int
    accelerators: int
    order_by: str
    arrives: str
    until: str | None
    unit_price: float
    price_per: str
    amount: float
    waits_for: str
    lead_weeks: float
    why: str
    stale: bool
    source: str

    @property
    def paid_by_use(self) -> bool:
        """Whether the amount is an expected bill and no commitment."""
        return self.kind in _PAID_BY_USE


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolMonth:
    """Accelerators of one pool in one month by contract; elastic kinds as hourly mean and peak."""

    month: str
    owned: float
    purchased: float
    reserved: float
    on_demand_mean: float
    on_demand_peak: float
    spot_mean: float
    spot_peak: float
    used_mean: float
    used_peak: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRow:
    """A pool: one kind of server at one place, and its months."""

    pool: str
    platform: str
    accelerator: str
    server: str
    channel: str
    place: str
    accelerators_per_server: int
    months: tuple[PoolMonth, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedRow:
    """A hosted API used by the plan: requests/s by month as mean and peak."""

    workload: str
    channel: str
    offer: str
    months: tuple[MonthlyNeed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HourRow:
    """A representative day type and hour: share of need by workload (rates) and accelerators in use by pool."""

    month: str
    day: str
    hour: int
    need: Mapping[str, float]
    used: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """One component in one calendar year: cash (undiscounted) and net present value, USD."""

    component: str
    label: str
    focus_category: str
    year: int
    amount: float
    npv: float
    formula: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A reference plan solved beside the optimum. ``regret`` is its NPV over the plan's, where both serve all."""

    name: str
    description: str
    feasible: bool
    npv: float
    total: float
    unmet: Mapping[str, float]
    regret: float | None
    chosen: bool
    note: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """A closed-form check beside the optimum, for people: value, unit, 80 % interval, what it rests on, one sentence."""

    name: str
    value: float
    unit: str
    interval: tuple[float, float]
    evidence: Evidence
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Offers considered per channel and contract kind: how many, oldest and newest date, how many stale."""

    channel: str
    kind: str
    offers: int
    oldest: str
    newest: str
    stale: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Concentration:
    """Share by name on one tier (vendor, channel, region), Herfindahl-Hirschman index (0-10,000), effective number."""

    tier: str
    shares: Mapping[str, float]
    hhi: float
    effective_number: float
    limit: float | None
    exceeded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BillItem:
    """One line of the bill of materials of bought servers."""

    site: str
    item: str
    description: str
    count: int
    unit_price: float | None
    amount: float | None
    power: float
    rack_units: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Infeasibility:
    """What cannot be met: which workload, how much, which constraint binds, and the least change that works."""

    workload: str
    unmet_share: float
    constraint: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAssumption:
    """An assumption with its weight: the change of total cost (USD) over its plausible range, when it was varied.

    ``breaks`` names the end of the range at which not everything can be served any more; empty when there is none.
    """

    assumption: Assumption
    low: str
    high: str
    swing: float | None
    breaks: str = ""

    @property
    def rank(self) -> tuple[bool, float, str]:
        """Order of weight: what can break the plan, then what moves the total most."""
        return (not self.breaks, -abs(self.swing or 0.0), self.assumption.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The first sentence's ingredients: key figures by figure id, and the words around them.

    ``standing_npv`` (USD) is the part of the total that owned servers and commitments cost in any case.
    """

    headline: str
    total_npv: float
    total_npv_interval: tuple[float, float]
    standing_npv: float
    total_cash: float
    best_reference: str
    saving_vs_best_reference: float | None
    met_share: float
    peak_accelerators: float
    next_actions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The whole answer. ``stated`` is what the scenario file says, by path."""

    schema: str
    name: str
    flopwise: str
    scenario_digest: str
    catalogue_digest: str
    seed: int
    as_of: str
    currency: str
    months: tuple[str, ...]
    status: Status
    gap: float
    summary: Summary
    demand: tuple[DemandRow, ...]
    headroom: Headroom
    modes: tuple[ModeRow, ...]
    refusals: tuple[Refusal, ...]
    orders: tuple[PlanOrder, ...]
    pools: tuple[PoolRow, ...]
    hosted: tuple[HostedRow, ...]
    hours: tuple[HourRow, ...]
    costs: tuple[CostLine, ...]
    references: tuple[Reference, ...]
    break_even: tuple[BreakEven, ...]
    coverage: tuple[Coverage, ...]
    risk: tuple[Concentration, ...]
    fabric: tuple[BillItem, ...]
    infeasibilities: tuple[Infeasibility, ...]
    assumptions: tuple[PlanAssumption, ...]
    warnings: tuple[str, ...]
    stated: Mapping[str, str]
    figures: Mapping[str, Figure]
