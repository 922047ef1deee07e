"""A whole scenario in base units, with names resolved. ``adapters.scenario`` makes it from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flopwise.domain.offer import Offer
from flopwise.domain.site import Site
from flopwise.domain.workload import Workload

#: Headroom where none is stated, and the usual limits: less leaves nothing for failures, more is idle capacity.
HEADROOM, USUAL_HEADROOM = 0.20, (0.15, 0.30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Horizon:
    """First month (ISO ``2027-01``) and number of months."""

    start: str
    months: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedServers:
    """Servers that stand already."""

    server: str
    count: int
    site: str
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """A contract already held: a savings plan of ``amount`` USD/h with ``channel`` until an ISO month (inclusive)."""

    channel: str
    kind: str
    amount: float
    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """What the plan may draw on.

    ``inline_offers`` are the user's own quotes: they stand for shipped offers of the same channel, size and contract.
    """

    sites: tuple[Site, ...]
    owned: tuple[OwnedServers, ...]
    commitments: tuple[Commitment, ...]
    channels: tuple[str, ...]
    inline_offers: tuple[Offer, ...]
    region: str
    capex_budget: float | None
    monthly_budget: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finance:
    """``residual`` maps age in years to the fraction of the purchase price that a sale returns."""

    wacc: float
    depreciation_years: float
    residual: Mapping[float, float]
    tax: float
    support_rate: float
    staff_cost: float
    accelerators_per_engineer: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskAppetite:
    """Limits on concentration, and the seed of everything random."""

    scenarios: int
    cvar_alpha: float
    cvar_weight: float
    max_share: Mapping[str, float]
    min_channels: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """A value that the user did not state and flopwise supplied: key path, value as text, why, source."""

    path: str
    value: str
    reason: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Everything a plan is made from.

    ``mix`` maps training and serving to their share, where only that is known; ``stated`` is what the file says, by path.
    """

    name: str
    currency: str
    horizon: Horizon
    as_of: str
    headroom: float
    workloads: tuple[Workload, ...]
    supply: Supply
    finance: Finance
    risk: RiskAppetite
    assumptions: tuple[Assumption, ...]
    warnings: tuple[str, ...]
    digest: str
    mix: Mapping[str, float] = field(default_factory=dict[str, float])
    stated: Mapping[str, str] = field(default_factory=dict[str, str])
