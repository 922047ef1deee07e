"""From all pools and modes to a problem of useful size: which pools are worth the optimiser's time.

Every mode of every workload on every platform is priced under each contract: a training gang by its unit of work, a
service by the whole servers that carry its peak, and those that carry its quietest hour, since what is cheapest for
many servers is rarely so for one. The best few pools of each kind of contract stay for each workload, the best by power
and by price where these are limited, and everything that is owned.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

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
from flopwise.planning.cost.ledger import discount_factors, unit_npv
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
_KEPT, _KEPT_IN_ALL = 3, 6
#: Pools kept by what is scarce (power of a site, capital).
_KEPT_SCARCE = 1
#: Up to so many workloads may each use the best pools of the others.
_EVERYWHERE = 8
#: Times of arrival for which gangs of a single run are sized.
_DELAYS = 3
#: Hosted APIs kept per service.
_KEPT_HOSTED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One choice of a workload in a pool under one contract.

    ``servers`` are those of the pool that one gang or replica takes; ``unit_cost`` is USD per unit of work at full use.
    """

    workload: str
    pool: Pool
    contract: Contract | None
    choice: Choice
    servers: float
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
    merits = _Merits(
        hours,
        capital=scenario.supply.capex_budget is not None,
        loads={need.workload.name: _loads(need, scenario.headroom) for need in needs.serving},
        zones={need.workload.name: need.workload.zones for need in needs.serving},
    )
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


def _loads(need: ServingNeed, headroom: float) -> dict[str, float]:
    """The highest and the least rate of a service, with headroom, by what their merits begin with.

    Large deployments and small ones have other winners; of those at the least load fewer are kept.
    """
    some = need.rate[need.rate > 0]
    return {"": float(some.max()) * (1 + headroom), f"{_SCARCE}load ": float(some.min()) * (1 + headroom)} if some.size else {}


def _refusals(found: Iterable[Found]) -> tuple[Refusal, ...]:
    """Why platforms carry none of a workload; platforms that fail for the same reason count once."""
    refused = [refusal for item in found if not item.choices for refusal in item.refusals]
    return tuple({(refusal.workload, refusal.message): refusal for refusal in refused}.values())


@dataclass(frozen=True, slots=True)
class _Merits:
    """By what contracts compete: cost with their kind and term, and use of what is scarce.

    ``hourly`` is USD per server-hour by (pool, offer); ``capital`` says that there is a budget for purchases; ``loads``
    holds the rates of a service (headroom included) at which contracts are compared, and ``zones`` its least replicas.
    """

    hourly: Mapping[tuple[str, str], float]
    capital: bool
    loads: Mapping[str, Mapping[str, float]]
    zones: Mapping[str, int]

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
        """The same for the workload: per unit of work and second, or for the whole servers that carry a load."""
        if item.contract is None or not _can_hold(item):
            return
        for merit, amount in self.of(item.pool, item.contract):
            loads = self._loads(item.workload, merit)
            if not loads:
                yield merit, amount * item.servers / item.rate
            for name, load in loads.items():
                replicas = max(load / item.rate, self.zones[item.workload])
                servers = math.ceil(replicas * item.servers - _WHOLE)
                yield f"{name}{merit}", amount * max(servers, item.contract.offer.min_servers)

    def bounds(self, workload: str, pool: Pool, contract: Contract, most: float) -> Iterator[tuple[str, float]]:
        """What no mode can do with less of, when a server does at most ``most`` units of work a second."""
        for merit, amount in self.of(pool, contract):
            loads = self._loads(workload, merit)
            if not loads:
                yield merit, amount / most
            for name, load in loads.items():
                yield f"{name}{merit}", amount * max(math.ceil(load / most - _WHOLE), 1)

    def peak(self, workload: str) -> float:
        """The highest rate of a service with headroom; of a training any one gang is enough."""
        return max(self.loads.get(workload, {}).values(), default=0.0)

    def _loads(self, workload: str, merit: str) -> Mapping[str, float]:
        return {} if merit.startswith(_SCARCE) else self.loads.get(workload, {})


#: Servers nearer to a whole number than this count as whole.
_WHOLE = 1e-9
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
            best: dict[str, list[_Ranked]] = defaultdict(list)
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
        found = [training_choices(item, platform, self.headroom, self.reliability) for item in self._delayed(need, platform)]
        choices = {(choice.mode.accelerators, choice.mode.layout): choice for item in found for choice in item.choices}
        return Found(choices=tuple(choices.values()), refusals=tuple(refusal for item in found for refusal in item.refusals))

    def _delayed(self, need: TrainingNeed, platform: Platform) -> list[TrainingNeed]:
        """The need as it stands, and as what is left of its window when servers that arrive later can work.

        A gang for the whole window would be too slow on them. Recurring runs have the same time whenever servers arrive.
        """
        if need.monthly is not None:
            return [need]
        firsts = {contract.first for pool in self.pools[platform.id] for contract in pool.contracts}
        left = {float(need.seconds[first:].sum()) for first in firsts} | {need.deadline}
        deadlines = sorted({min(seconds, need.deadline) for seconds in left if seconds > 0}, reverse=True)
        return [replace(need, deadline=seconds) for seconds in deadlines[:_DELAYS]]

    def _bound(self, need: ServingNeed | TrainingNeed, platform: str) -> float:
        """Least cost of a unit of work, or of the peak, by any contract of a platform at full peak."""
        return min((cost for merit, cost in self._bounds(need, platform) if not merit.startswith(_SCARCE)), default=0.0)

    def _bounds(self, need: ServingNeed | TrainingNeed, platform: str) -> Iterator[tuple[str, float]]:
        """Merit, and what a unit of work takes of it at full peak."""
        for pool in self.pools[platform]:
            most = _rate_bound(need, pool.platform.accelerator) * pool.accelerators
            for contract in pool.contracts:
                if most > 0 and min(contract.most, pool.room) >= 1:
                    yield from self.merits.bounds(need.workload.name, pool, contract, most)

    def _may_win(self, need: ServingNeed | TrainingNeed, platform: str, best: Mapping[str, list[_Ranked]]) -> bool:
        if any(pool.owned.any() for pool in self.pools[platform]):
            return True
        bounds = list(self._bounds(need, platform))
        load = self.merits.peak(need.workload.name)
        return not bounds or any(amount < _threshold(best[merit], _kept(merit), load) for merit, amount in bounds)

    def _remember(self, platform: str, answer: Found, best: dict[str, list[_Ranked]]) -> None:
        items = (item for pool in self.pools[platform] for item in _pool_candidates(pool, answer.choices, self.merits.hourly))
        for (_, merit), ranked in _ranked(items, self.merits).items():
            best[merit] = sorted([*best[merit], *ranked])


#: What a pool takes by one merit, the pool, and the load that it can carry.
_Ranked = tuple[float, str, float]


def _ranked(items: Iterable[Candidate], merits: _Merits) -> dict[tuple[str, str], list[_Ranked]]:
    """Pools by (workload, merit), the best first."""
    least: dict[tuple[str, str], dict[str, tuple[float, float]]] = defaultdict(dict)
    for item in items:
        for merit, amount in merits.of_candidate(item):
            pools = least[item.workload, merit]
            pools[item.pool.id] = min((amount, _carried(item)), pools.get(item.pool.id, (math.inf, 0.0)))
    return {key: sorted((amount, pool, carried) for pool, (amount, carried) in pools.items()) for key, pools in least.items()}


def _carried(item: Candidate) -> float:
    """Units of work a second that all servers of a contract can do."""
    assert item.contract is not None  # noqa: S101 - only candidates with a contract are ranked
    return min(item.contract.most, item.pool.room) * item.rate / item.servers


def _first(ranked: Sequence[_Ranked], most: int, load: float) -> Sequence[_Ranked]:
    """The best few, and more of them while their caps leave some of the load."""
    carried = 0.0
    for count, (_, _, each) in enumerate(ranked, start=1):
        carried += each
        if count >= most and carried >= load:
            return ranked[:count]
    return ranked


def _threshold(ranked: Sequence[_Ranked], most: int, load: float) -> float:
    """What a further pool must stay below to be among those that are kept; anything where they do not suffice yet."""
    kept = _first(ranked, most, load)
    enough = len(kept) >= most and sum(carried for _, _, carried in kept) >= load
    return kept[-1][0] if enough else math.inf


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
    """USD per server-hour of one server held from its first month on (or rented for one month).

    Net present cost over equally discounted hours: the price that, paid for each hour, is worth the same.
    """
    months = len(rates.month_hours)
    first = min(contract.first, months - 1)
    start = np.zeros(months)
    start[first] = 1.0
    worth = np.concatenate([rates.month_hours, rates.later_hours]) * discount_factors(rates.ledger_months, rates.wacc)
    if contract.offer.kind is OfferKind.PURCHASE:
        return float(unit_npv(purchase_line(pool, contract, start), rates)) / float(worth[first:months].sum())
    if contract.term:
        held = float(worth[first : first + contract.term].sum())
        return float(unit_npv(reserved_line(pool, contract, start, rates), rates)) / held
    return float(unit_npv(elastic_line(pool, contract, start), rates)) * float(rates.month_hours[first] / worth[first])


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


def servers_taken(pool: Pool, choice: Choice) -> float:
    """Servers that one gang or replica takes: a rented instance that a gang fills in part is paid whole."""
    whole = pool.site is None and choice.recovery is not None
    return float(math.ceil(choice.servers - _WHOLE)) if whole else choice.servers


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
            servers=servers_taken(pool, choice),
            rate=rate,
            unit_cost=cost * servers_taken(pool, choice) / (rate * HOUR),
        )
        for contract, cost in ways
    ]


def _pools_by_workload(candidates: Sequence[Candidate], merits: _Merits) -> dict[str, set[str]]:
    """The best pools of each workload by merit; fewer of each where there are many workloads."""
    best = _ranked(candidates, merits)
    share = max(1, _KEPT_IN_ALL // len({workload for workload, _ in best} or {""}))
    own: dict[str, set[str]] = defaultdict(set)
    for (workload, merit), ranked in best.items():
        kept = _first(ranked, min(_kept(merit), share), merits.peak(workload))
        own[workload].update(pool for _, pool, _ in kept)
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
    return new >= 1 and new + float(item.pool.owned.max()) >= item.servers


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
            use = Use(workload=item.workload, pool=number, choice=item.choice, servers=item.servers, rate=item.rate)
            if key not in uses or use.rate > uses[key].rate:
                uses[key] = use
    return tuple(_undominated(list(uses.values())))


def _undominated(uses: Sequence[Use]) -> list[Use]:
    """Per workload and pool: the best rate per server, and smaller deployments that are nearly as good or finer.

    Of gangs the faster stay too: one that is large enough for the whole window may be too slow for what is left of it.
    """
    kept: list[Use] = []
    for use in uses:
        rivals = [other for other in uses if (other.workload, other.pool) == (use.workload, use.pool) and other is not use]
        gang = use.choice.recovery is not None
        if not any(_beaten(use, other, gang=gang) for other in rivals):
            kept.append(use)
    return kept


def _beaten(use: Use, other: Use, *, gang: bool) -> bool:
    """Whether fewer servers do as much: in all for a gang, each for replicas."""
    least = use.rate if gang else use.rate / use.servers * other.servers
    return other.servers < use.servers and other.rate >= least * (1 - _WHOLE)


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
