"""From all pools and modes to a problem of useful size: which pools are worth the optimiser's time.

Every mode of every workload on every platform is priced at the unit cost of each contract, at full use. The best
few pools of each kind of contract stay for each workload, the best by power and by price where these are limited,
and everything that is owned.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwise.catalog import Catalogue
from flopwise.domain.calendar import days_in, months_of
from flopwise.domain.hardware import Accelerator, Platform
from flopwise.domain.mode import Refusal
from flopwise.domain.offer import OfferKind
from flopwise.domain.scenario import Scenario
from flopwise.ground.money import to_usd
from flopwise.ground.units import HOUR, HOURS_PER_DAY
from flopwise.perf.bounds import serving_bound, training_bound
from flopwise.planning.cost.ledger import unit_npv
from flopwise.planning.cost.supply_line import Rates
from flopwise.planning.demand.modes import Choice, Found, Reliability, serving_choices, training_choices
from flopwise.planning.demand.needs import Needs, ServingNeed, TrainingNeed
from flopwise.planning.market import PricedOffer
from flopwise.planning.sourcing.pools import Contract, Pool, Pools
from flopwise.planning.sourcing.problem import (
    HostedUse,
    Problem,
    Use,
    elastic_line,
    purchase_line,
    request_price,
    reserved_line,
)

Floats = NDArray[np.float64]
Report = Callable[[str, int, int], None]
#: Pools kept per workload and kind of contract, and in all: many workloads share fewer, so that the model stays solvable.
_KEPT, _KEPT_IN_ALL = 3, 24
#: Pools kept by what is scarce (power of a site, capital).
_KEPT_SCARCE = 1
#: Up to so many workloads may each use the best pools of the others.
_EVERYWHERE = 8
#: Hosted APIs kept per service.
_KEPT_HOSTED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One choice of a workload in a pool under one contract; ``unit_cost`` is USD per unit of work at full use."""

    workload: str
    pool: Pool
    contract: Contract | None
    choice: Choice
    rate: float
    unit_cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """The problem, every candidate that was weighed, and why platforms were refused."""

    problem: Problem
    candidates: tuple[Candidate, ...]
    refusals: tuple[Refusal, ...]


def make_rates(scenario: Scenario, catalogue: Catalogue, month_hours: Floats, pools: Pools) -> Rates:
    """Cost rates of a scenario: its finance, and the catalogue's parameters for the rest; months as far as contracts reach."""
    longest = max((contract.term for pool in pools.pools for contract in pool.contracts), default=0)
    months = months_of(scenario.horizon.start, scenario.horizon.months + max(longest, 1))[scenario.horizon.months :]
    known, finance = catalogue.parameters, scenario.finance
    return Rates(
        month_hours=month_hours,
        later_hours=np.array([days_in(month) * HOURS_PER_DAY for month in months], dtype=float),
        wacc=finance.wacc,
        residual=finance.residual,
        support_rate=finance.support_rate,
        staff_cost=finance.staff_cost,
        accelerators_per_engineer=finance.accelerators_per_engineer,
        network_share=known["network.price_share"].value,
        storage=known["storage.bytes_per_accelerator"].value * known["storage.price_per_byte"].value,
        power_overhead=known["facility.power_overhead"].value,
        mean_power_share=known["server.mean_power_share"].value,
    )


def make_problem(
    scenario: Scenario, catalogue: Catalogue, needs: Needs, pools: Pools, rates: Rates, report: Report | None = None
) -> Considered:
    """Search modes, price them, keep what may win.

    Args:
        scenario: limits and finance.
        catalogue: parameters and exchange rates.
        needs: work by month and block.
        pools: where work may run.
        rates: cost rates.
        report: called with (stage, done, total) as platforms are searched.

    Complexity: workloads x platforms mode searches; candidates x contracts unit costs.
    """
    reliability = Reliability.of(catalogue.parameters)
    hours = _hourly_costs(pools.pools, rates)
    merits = _Merits(hours, capital=scenario.supply.capex_budget is not None)
    found = _Search(needs, pools.pools, merits, scenario.headroom, reliability).run(report)
    candidates = _candidates(pools.pools, found, hours)
    own = _pools_by_workload(candidates, merits)
    kept = _kept_pools(pools.pools, candidates, own)
    refusals = _refusals(found.values())
    problem = Problem(
        needs=needs,
        pools=tuple(kept),
        uses=_uses(kept, candidates, own),
        hosted=_hosted(needs, pools.hosted, catalogue),
        supply=scenario.supply,
        commitments=scenario.supply.commitments,
        headroom=scenario.headroom,
        rates=rates,
    )
    return Considered(problem=problem, candidates=tuple(candidates), refusals=refusals)


def _refusals(found: Iterable[Found]) -> tuple[Refusal, ...]:
    """Why platforms carry none of a workload; platforms that fail for the same reason count once."""
    refused = [refusal for item in found if not item.choices for refusal in item.refusals]
    return tuple({(refusal.workload, refusal.message): refusal for refusal in refused}.values())


@dataclass(frozen=True, slots=True)
class _Merits:
    """By what contracts compete: cost with their kind and term, and use of what is scarce.

    ``hourly`` is USD per server-hour by (pool, offer); ``capital`` says that there is a budget for purchases.
    """

    hourly: Mapping[tuple[str, str], float]
    capital: bool

    def of(self, pool: Pool, contract: Contract) -> Iterator[tuple[str, float]]:
        """What a server of the contract takes, by merit: USD per hour, watts of a site, USD at once; less is better."""
        if (pool.id, contract.offer.id) not in self.hourly:
            return
        yield f"{contract.offer.kind.value} {contract.term}", self.hourly[pool.id, contract.offer.id]
        if contract.offer.kind is OfferKind.PURCHASE:
            if pool.site is not None and pool.site.power is not None:
                yield f"{_SCARCE}power of {pool.place}", pool.power
            if self.capital:
                yield f"{_SCARCE}capital", contract.usd

    def of_candidate(self, item: Candidate) -> Iterator[tuple[str, float]]:
        """The same per unit of work and second."""
        if item.contract is not None and _can_hold(item):
            for merit, amount in self.of(item.pool, item.contract):
                yield merit, amount * item.choice.servers / item.rate


#: Marks merits of which fewer are kept.
_SCARCE = "least "


def _kept(merit: str) -> int:
    return _KEPT_SCARCE if merit.startswith(_SCARCE) else _KEPT


class _Search:
    """Mode searches, the most promising platforms of each workload first.

    A platform is left out when even at its full peak none of its contracts could be among the best that are kept
    of its kind: what is kept is the same as if all had been searched.
    """

    def __init__(
        self,
        needs: Needs,
        pools: Sequence[Pool],
        merits: _Merits,
        headroom: float,
        reliability: Reliability,
    ) -> None:
        self.needs, self.merits, self.headroom, self.reliability = needs, merits, headroom, reliability
        self.pools: dict[str, list[Pool]] = defaultdict(list)
        for pool in pools:
            self.pools[pool.platform.id].append(pool)

    def run(self, report: Report | None) -> dict[tuple[str, str], Found]:
        """Choices by (workload, platform) of all platforms that may win."""
        needs = (*self.needs.serving, *self.needs.training)
        total, done = len(self.pools) * len(needs), 0
        found: dict[tuple[str, str], Found] = {}
        for need in needs:
            best: dict[str, list[float]] = defaultdict(list)
            for platform in sorted(self.pools, key=lambda name: (self._bound(need, name), name)):
                if self._may_win(need, platform, best):
                    answer = self._modes(need, self.pools[platform][0].platform)
                    found[need.workload.name, platform] = answer
                    self._remember(platform, answer, best)
                done += 1
                if report:
                    report("searching layouts", done, total)
        return found

    def _modes(self, need: ServingNeed | TrainingNeed, platform: Platform) -> Found:
        if isinstance(need, ServingNeed):
            return serving_choices(need, platform)
        return training_choices(need, platform, self.headroom, self.reliability)

    def _bound(self, need: ServingNeed | TrainingNeed, platform: str) -> float:
        """Least cost of a unit of work by any contract of a platform at full peak."""
        return min((cost for merit, cost in self._bounds(need, platform) if not merit.startswith(_SCARCE)), default=0.0)

    def _bounds(self, need: ServingNeed | TrainingNeed, platform: str) -> Iterator[tuple[str, float]]:
        """Merit, and what a unit of work takes of it at full peak."""
        for pool in self.pools[platform]:
            most = _rate_bound(need, pool.platform.accelerator) * pool.accelerators
            for contract in pool.contracts:
                if most > 0 and min(contract.most, pool.room) >= 1:
                    yield from ((merit, amount / most) for merit, amount in self.merits.of(pool, contract))

    def _may_win(self, need: ServingNeed | TrainingNeed, platform: str, best: Mapping[str, list[float]]) -> bool:
        if any(pool.owned.any() for pool in self.pools[platform]):
            return True
        bounds = list(self._bounds(need, platform))
        return not bounds or any(
            len(best[merit]) < _kept(merit) or amount < best[merit][_kept(merit) - 1] for merit, amount in bounds
        )

    def _remember(self, platform: str, answer: Found, best: dict[str, list[float]]) -> None:
        for pool in self.pools[platform]:
            least: dict[str, float] = {}
            for item in _pool_candidates(pool, answer.choices, self.merits.hourly):
                for merit, amount in self.merits.of_candidate(item):
                    least[merit] = min(amount, least.get(merit, np.inf))
            for merit, amount in least.items():
                best[merit] = sorted([*best[merit], amount])


def _rate_bound(need: ServingNeed | TrainingNeed, accelerator: Accelerator) -> float:
    """Units of work per second that one accelerator cannot exceed."""
    if isinstance(need, ServingNeed):
        return serving_bound(need.workload, accelerator)
    return training_bound(need.workload, accelerator)


def _hourly_costs(pools: Sequence[Pool], rates: Rates) -> dict[tuple[str, str], float]:
    """USD per server-hour at full use by (pool, offer); contracts that cannot arrive in time are left out."""
    return {
        (pool.id, contract.offer.id): hourly_cost(pool, contract, rates)
        for pool in pools
        for contract in pool.contracts
        if contract.first < len(rates.month_hours)
    }


def hourly_cost(pool: Pool, contract: Contract, rates: Rates) -> float:
    """Net present USD per server-hour of one server held from its first month on (or rented for one month)."""
    months = len(rates.month_hours)
    start = np.zeros(months)
    start[min(contract.first, months - 1)] = 1.0
    if contract.offer.kind is OfferKind.PURCHASE:
        line, hours = purchase_line(pool, contract, start), float(rates.month_hours[contract.first :].sum())
    elif contract.term:
        line = reserved_line(pool, contract, start, rates)
        hours = float(rates.month_hours[contract.first : contract.first + contract.term].sum())
    else:
        line, hours = elastic_line(pool, contract, start), 1.0
    return float(unit_npv(line, rates)) / hours


def _candidates(
    pools: Sequence[Pool], found: Mapping[tuple[str, str], Found], hourly: Mapping[tuple[str, str], float]
) -> list[Candidate]:
    return [
        candidate
        for pool in pools
        for (_, platform), item in found.items()
        if platform == pool.platform.id
        for candidate in _pool_candidates(pool, item.choices, hourly)
    ]


def _pool_candidates(pool: Pool, choices: Sequence[Choice], hourly: Mapping[tuple[str, str], float]) -> list[Candidate]:
    candidates: list[Candidate] = []
    for choice in choices:
        rate = pool_rate(pool, choice)
        if rate > 0:
            candidates.extend(_priced(choice.workload, pool, choice, rate, hourly))
    return candidates


def pool_rate(pool: Pool, choice: Choice) -> float:
    """Rate of one gang or replica in a pool: what failures leave, and on spot capacity interruptions too."""
    return choice.spot_rate(pool.interruptions) if pool.spot else choice.rate


def _priced(workload: str, pool: Pool, choice: Choice, rate: float, hourly: Mapping[tuple[str, str], float]) -> list[Candidate]:
    ways: list[tuple[Contract | None, float]] = [
        (contract, hourly[pool.id, contract.offer.id]) for contract in pool.contracts if (pool.id, contract.offer.id) in hourly
    ]
    if pool.owned.any():
        ways.append((None, 0.0))
    return [
        Candidate(
            workload=workload,
            pool=pool,
            contract=contract,
            choice=choice,
            rate=rate,
            unit_cost=cost * choice.servers / (rate * HOUR),
        )
        for contract, cost in ways
    ]


def _pools_by_workload(candidates: Sequence[Candidate], merits: _Merits) -> dict[str, set[str]]:
    """The best pools of each workload by merit; fewer of each where there are many workloads."""
    best: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for item in candidates:
        for merit, amount in merits.of_candidate(item):
            amounts = best[item.workload, merit]
            amounts[item.pool.id] = min(amount, amounts.get(item.pool.id, np.inf))
    share = max(1, _KEPT_IN_ALL // len({workload for workload, _ in best} or {""}))
    own: dict[str, set[str]] = defaultdict(set)
    for (workload, merit), amounts in best.items():
        own[workload].update(sorted(amounts, key=lambda pool: (amounts[pool], pool))[: min(_kept(merit), share)])
    return own


def _kept_pools(pools: Sequence[Pool], candidates: Sequence[Candidate], own: Mapping[str, set[str]]) -> list[Pool]:
    """Pools that are good for some workload, and what is owned, in the order of ``pools``."""
    keep = {pool.id for pool in pools if pool.owned.any()}.union(*own.values())
    useful = {item.pool.id for item in candidates}
    return [pool for pool in pools if pool.id in keep and (pool.id in useful or pool.owned.any())]


def _can_hold(item: Candidate) -> bool:
    """Whether the contract's cap and the power of the site let one gang or replica stand at all, on what is new."""
    if item.contract is None:
        return True
    new = min(item.contract.most, item.pool.room)
    return new >= 1 and new + float(item.pool.owned.max()) >= item.choice.servers


def _uses(pools: Sequence[Pool], candidates: Sequence[Candidate], own: Mapping[str, set[str]]) -> tuple[Use, ...]:
    """What may run where: everything everywhere, but only on its own best pools where there are many workloads."""
    everywhere = len(own) <= _EVERYWHERE
    numbers = {pool.id: number for number, pool in enumerate(pools)}
    uses: dict[tuple[str, int, int], Use] = {}
    for item in candidates:
        number = numbers.get(item.pool.id)
        welcome = everywhere or item.pool.id in own[item.workload] or item.pool.owned.any()
        if number is not None and welcome:
            key = (item.workload, number, item.choice.mode.accelerators)
            use = Use(workload=item.workload, pool=number, choice=item.choice, rate=item.rate)
            if key not in uses or use.rate > uses[key].rate:
                uses[key] = use
    return tuple(_undominated(list(uses.values())))


def _undominated(uses: Sequence[Use]) -> list[Use]:
    """Per workload and pool: the best rate per server, and smaller deployments that are nearly as good or finer."""
    kept: list[Use] = []
    for use in uses:
        rivals = [other for other in uses if (other.workload, other.pool) == (use.workload, use.pool) and other is not use]
        beaten = any(
            other.rate / other.servers >= use.rate / use.servers * (1 - 1e-9) and other.servers < use.servers for other in rivals
        )
        if not beaten:
            kept.append(use)
    return kept


def _hosted(needs: Needs, offers: Sequence[PricedOffer], catalogue: Catalogue) -> tuple[HostedUse, ...]:
    """The cheapest hosted APIs of each service's model."""
    uses: list[HostedUse] = []
    for need in needs.serving:
        fitting: list[HostedUse] = []
        for item in offers:
            tokens = item.offer.tokens
            if tokens is not None and tokens.model == need.workload.model.id:
                usd = to_usd(1.0, tokens.currency, catalogue.exchange_rates)
                price = request_price(need.workload, item, usd)
                fitting.append(HostedUse(workload=need.workload.name, priced=item, usd_per_request=price))
        uses.extend(sorted(fitting, key=lambda use: (use.usd_per_request, use.priced.offer.id))[:_KEPT_HOSTED])
    return tuple(uses)
