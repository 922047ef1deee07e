"""Everything that one solve needs: needs, pools, uses, hosted offers, rates and limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flopwise.domain.scenario import Commitment, Supply
from flopwise.domain.workload import ServingWorkload
from flopwise.ground.units import MILLION_TOKENS
from flopwise.planning.cost.supply_line import Rates, SiteRates, SupplyLine
from flopwise.planning.demand.modes import Choice
from flopwise.planning.demand.needs import Needs
from flopwise.planning.market import PricedOffer
from flopwise.planning.sourcing.pools import Contract, Pool

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One mode of one workload in one pool: ``rate`` per gang or replica, which takes ``servers`` servers."""

    workload: str
    pool: int
    choice: Choice
    servers: float
    rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedUse:
    """One service on one hosted API: USD per mean request."""

    workload: str
    priced: PricedOffer
    usd_per_request: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One planning problem. ``headroom`` raises what own and rented capacity must deliver, not hosted APIs."""

    needs: Needs
    pools: tuple[Pool, ...]
    uses: tuple[Use, ...]
    hosted: tuple[HostedUse, ...]
    supply: Supply
    commitments: tuple[Commitment, ...]
    headroom: float
    rates: Rates

    @property
    def months(self) -> int:
        """Months of the horizon."""
        return len(self.needs.months)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """Which kinds of new supply a solve may use: a reference plan forbids some."""

    purchase: bool = True
    reserved: bool = True
    elastic: bool = True
    hosted: bool = True


def with_contracts(problem: Problem, change: Callable[[Contract], Contract]) -> Problem:
    """The problem with other contracts; the same problem where none changes."""
    if all(change(contract) is contract for pool in problem.pools for contract in pool.contracts):
        return problem
    pools = tuple(
        replace(
            pool,
            purchases=tuple(map(change, pool.purchases)),
            reservations=tuple(map(change, pool.reservations)),
            elastic=change(pool.elastic) if pool.elastic else None,
        )
        for pool in problem.pools
    )
    return replace(problem, pools=pools)


def request_price(workload: ServingWorkload, priced: PricedOffer, exchange: float = 1.0) -> float:
    """USD of one mean request on a hosted API, cached prompt tokens at their own price.

    (input x (1 - hit) x input price + input x hit x cached price + output x output price) / 1M
    """
    tokens = priced.offer.tokens
    assert tokens is not None  # noqa: S101 - hosted offers are checked when they are priced
    cached = tokens.input if tokens.cached_input is None else tokens.cached_input
    hit = workload.prefix_cache_hit
    prompt = workload.input.mean * ((1 - hit) * tokens.input + hit * cached)
    return (prompt + workload.output.mean * tokens.output) * exchange / MILLION_TOKENS


def site_rates(pool: Pool) -> SiteRates | None:
    """Rates of the pool's own site; nothing for a channel."""
    if pool.site is None:
        return None
    return SiteRates(electricity=pool.site.electricity.value, pue=pool.site.pue.value, colocation=pool.site.colocation.value)


def purchase_line(pool: Pool, contract: Contract, arrivals: Floats) -> SupplyLine:
    """Servers bought: ``arrivals`` (..., months)."""
    return SupplyLine(
        kind="purchase",
        unit_price=contract.usd,
        accelerators=pool.accelerators,
        power=pool.power,
        arrivals=arrivals,
        held=np.cumsum(arrivals, axis=-1),
        site=site_rates(pool),
    )


def reserved_line(pool: Pool, contract: Contract, starts: Floats, rates: Rates) -> SupplyLine:
    """Servers reserved from the months in which they start, for the term; what outlasts the horizon is owed."""
    months, hours = rates.months, np.concatenate([rates.month_hours, rates.later_hours])
    window = held_window(months, contract.term, len(hours))
    return SupplyLine(
        kind="reserved",
        unit_price=contract.usd,
        accelerators=pool.accelerators,
        arrivals=starts,
        held=starts @ window[:, :months],
        later_hours=starts @ (window * hours)[:, months:],
        upfront=contract.offer.upfront_share,
        term_hours=window @ hours,
    )


def elastic_line(pool: Pool, contract: Contract, server_hours: Floats) -> SupplyLine:
    """Server-hours rented by the hour, (..., months)."""
    kind = "spot" if pool.spot else "on-demand"
    return SupplyLine(kind=kind, unit_price=contract.usd, accelerators=pool.accelerators, server_hours=server_hours)


def owned_line(pool: Pool) -> SupplyLine:
    """Servers that stand already: they cost power, space, support and staff, not their price."""
    return SupplyLine(
        kind="owned",
        unit_price=pool.server_price,
        accelerators=pool.accelerators,
        power=pool.power,
        held=pool.owned,
        site=site_rates(pool),
    )


def held_window(months: int, term: int, until: int | None = None) -> Floats:
    """Matrix (start, month): 1 where a contract of ``term`` months holds a month, to the end of the horizon or ``until``."""
    start, month = np.arange(months)[:, np.newaxis], np.arange(until or months)[np.newaxis, :]
    return ((month >= start) & (month < start + term)).astype(float)
