"""Why some demand cannot be met, by how much, and what would make it fit.

Each limit is lifted alone; the first that lets everything be served is the one that binds, and what the freed plan
uses says how much of it would do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flopwise.domain.mode import Refusal
from flopwise.domain.plan import Infeasibility
from flopwise.ground.errors import SolverError
from flopwise.ground.units import show
from flopwise.planning.plan.world import World
from flopwise.planning.sourcing.choose import Candidate
from flopwise.planning.sourcing.lines import pool_use
from flopwise.planning.sourcing.model import LEAST_BUDGET, Sourced
from flopwise.planning.sourcing.pools import Contract
from flopwise.planning.sourcing.problem import Problem, with_contracts
from flopwise.planning.sourcing.solve import least_budget, solve

#: Budgets in words, and what the least of one is raised by so that rounding does not make it too small.
_BUDGETS = {"capex_budget": "a capital budget", "monthly_budget": "a monthly budget"}
_SAFE = 1.001
#: Share of a month's work that counts as left undone; less is the tolerance of the solver.
_LITTLE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limit:
    """A limit that can be lifted, and what to say about it."""

    name: str
    binds: Callable[[Problem], bool]
    lift: Callable[[Problem], Problem]
    remedy: Callable[[World, Sourced, Problem], str]


def infeasibilities(world: World, *, time_limit: float) -> tuple[Infeasibility, ...]:
    """One entry per workload with unmet demand; nothing when all is served.

    Complexity: at most two solves per kind of limit, and one for the least budget.
    """
    missing = {name: share for name, share in world.sourced.unmet.items() if share > 0}
    if not missing:
        return ()
    entries: list[Infeasibility] = []
    limited: list[str] = []
    for name, share in missing.items():
        if any(use.workload == name for use in (*world.problem.uses, *world.problem.hosted)):
            limited.append(name)
        else:
            entries.append(_fits_nowhere(world, name, share))
    if limited:
        entries.extend(_binding_limit(world, limited, missing, time_limit))
    return tuple(entries)


def _fits_nowhere(world: World, name: str, share: float) -> Infeasibility:
    """No platform of the scenario can run it: the refusal that misses by least says why."""
    refusals = [item for item in world.considered.refusals if item.workload == name]
    usable = [item for item in world.considered.candidates if item.workload == name]
    if usable:
        best = min(usable, key=lambda item: item.servers)
        if all(item.contract is None or item.pool.room < item.servers for item in usable):
            return _no_room(name, share, min(usable, key=lambda item: item.pool.power * item.servers))
        message = (
            f"{name} needs {math.ceil(best.servers)} x {best.pool.server} at once "
            f"({best.choice.mode.accelerators} accelerators); no contract of the scenario can hold that many"
        )
        return Infeasibility(
            workload=name,
            unmet_share=share,
            constraint="capacity",
            message=message,
            remedy="name a channel that sells or reserves this size, or a lead time that ends inside the horizon",
        )
    if not refusals:
        message = "no offer of the scenario carries an accelerator: its channels, region or cooling leave none"
        return Infeasibility(
            workload=name,
            unmet_share=share,
            constraint="offers",
            message=message,
            remedy="name another channel or region, or add your own quote; 'flopwise catalog list offers' shows what there is",
        )
    closest = min(refusals, key=_rank)
    others = sorted({item.accelerator for item in refusals} - {closest.accelerator})
    also = (
        f"; {len(others)} other kinds of accelerator fail as well ({', '.join(others[:4])}{' ...' if len(others) > 4 else ''})"
        if others
        else ""
    )
    return Infeasibility(
        workload=name, unmet_share=share, constraint=closest.constraint, message=closest.message + also, remedy=closest.remedy
    )


def _no_room(name: str, share: float, least: Candidate) -> Infeasibility:
    """No site has the power for the smallest gang or replica."""
    site = least.pool.site
    assert site is not None  # noqa: S101 - only sites have a limited room
    servers = math.ceil(least.servers)
    message = (
        f"{name} needs {servers} x {least.pool.server} at once, {show(servers * least.pool.power, 'W')} of servers; "
        f"the power of {site.name} ({show(site.power or 0.0, 'W')}) leaves room for {least.pool.room:.0f}"
    )
    return Infeasibility(
        workload=name,
        unmet_share=share,
        constraint="site power",
        message=message,
        remedy="give the site more power, or name a channel that rents",
    )


#: Refusals nearer to running come first: too slow, then late, then short of memory, network, batch, precision.
_NEARNESS = ("deadline", "latency", "memory", "network", "batch", "precision")


def _rank(refusal: Refusal) -> tuple[int, float]:
    return (_NEARNESS.index(refusal.constraint), refusal.shortfall)


def _binding_limit(world: World, names: list[str], missing: dict[str, float], time_limit: float) -> list[Infeasibility]:
    """The limit that binds, or how many of them must be lifted together, in the order of the list."""
    limits = [limit for limit in _LIMITS if limit.binds(world.problem)]
    for limit in limits:
        freed = limit.lift(world.problem)
        answer = _served(freed, names, time_limit)
        if answer is not None:
            remedy = limit.remedy(world, answer, freed)
            return [_entry(world, name, missing[name], f"the {limit.name} binds", limit.name, remedy) for name in names]
    freed, lifted = world.problem, list[str]()
    for limit in limits:
        freed = limit.lift(freed)
        lifted.append(limit.name)
        if len(lifted) > 1 and _served(freed, names, time_limit) is not None:
            break
    else:
        remedy = "no limit of the scenario alone explains it: name more channels, or another region"
        return [_entry(world, name, missing[name], "what is offered does not suffice", "offers", remedy) for name in names]
    both = f"{', '.join(lifted[:-1])} and {lifted[-1]}"
    remedy = f"loosen {both} together, or name more channels{_least_beside(world, lifted)}"
    return [_entry(world, name, missing[name], f"{both} bind together", "several limits", remedy) for name in names]


def _least_beside(world: World, lifted: Sequence[str]) -> str:
    """The least budget that works when the other limits that bind are lifted, as the end of a sentence."""
    if "budget" not in lifted:
        return ""
    freed = world.problem
    for limit in _LIMITS:
        if limit.name in lifted and limit.name != "budget":
            freed = limit.lift(freed)
    factor = least_budget(freed)
    if factor is None:
        return ""
    parts = [_least(world, name, factor) for name in _BUDGETS if getattr(world.problem.supply, name) is not None]
    return f"; without the other limits it works with {' and '.join(parts)}"


def _served(problem: Problem, names: Sequence[str], time_limit: float) -> Sourced | None:
    """The answer to a problem that leaves nothing of some workloads undone; nothing where there is none."""
    try:
        answer = solve(problem, gap=0.05, time_limit=time_limit)
    except SolverError:
        return None
    return answer if all(answer.unmet[name] <= 0 for name in names) else None


def _entry(world: World, name: str, share: float, binding: str, constraint: str, remedy: str) -> Infeasibility:
    first, last = _unmet_months(world, name)
    when = f" from {first} to {last}" if first and first != last else f" in {first}" if first else ""
    message = f"{show(share, '1')} of {name} cannot be served{when}; {binding}"
    return Infeasibility(workload=name, unmet_share=share, constraint=constraint, message=message, remedy=remedy)


def _unmet_months(world: World, name: str) -> tuple[str, str]:
    """First and last month with unmet requests of a service; nothing for training, whose work is counted as a whole."""
    months = np.flatnonzero(world.unmet_by_month(name) > _LITTLE)
    return (world.months[months[0]], world.months[months[-1]]) if months.size else ("", "")


# Limits -----------------------------------------------------------------------------------------------------------


def _without_budgets(problem: Problem) -> Problem:
    return replace(problem, supply=replace(problem.supply, capex_budget=None, monthly_budget=None))


def _budget_remedy(world: World, _answer: Sourced, _freed: Problem) -> str:
    """The least that one budget must be while the other stays, where that works; else the least of both together."""
    supply = world.problem.supply
    if supply.capex_budget is not None and supply.monthly_budget is not None:
        for name in ("monthly_budget", "capex_budget"):
            factor = least_budget(world.problem, (name,))
            if factor is not None:
                return f"the least that works is {_least(world, name, factor)}"
    factor = least_budget(world.problem)
    if factor is None:
        return "raise the budget"
    parts = [_least(world, name, factor) for name in _BUDGETS if getattr(supply, name) is not None]
    return f"the least that works is {' with '.join(parts)}"


def _least(world: World, name: str, factor: float) -> str:
    budget: float = getattr(world.problem.supply, name)
    least = max(budget, LEAST_BUDGET) * factor * _SAFE
    return f"{_BUDGETS[name]} of {show(least, 'USD')} instead of {show(budget, 'USD')}"


def _at_once(problem: Problem) -> Problem:
    def soon(contract: Contract) -> Contract:
        return replace(contract, first=0)

    return with_contracts(problem, soon)


def _lead_time_remedy(world: World, _answer: Sourced, _freed: Problem) -> str:
    missing = {name for name, share in world.sourced.unmet.items() if share > 0}
    arrivals = sorted(
        (item.contract.first, item.contract.lead_weeks, item.pool.id, item.contract.offer.channel)
        for item in world.considered.candidates
        if item.contract and item.contract.first > 0 and item.workload in missing
    )
    if not arrivals:
        return "start later"
    first, weeks, pool, channel = arrivals[0]
    month = world.months[first] if first < len(world.months) else "after the horizon"
    return (
        f"the first new servers stand in {month} ({pool} from {channel}, {weeks:.0f} weeks at the 90th percentile): start then, "
        f"or name a channel with shorter lead times or on-demand capacity of that size"
    )


def _without_power(problem: Problem) -> Problem:
    pools = tuple(replace(pool, site=replace(pool.site, power=None) if pool.site else None) for pool in problem.pools)
    return replace(problem, pools=pools)


def _power_remedy(world: World, answer: Sourced, freed: Problem) -> str:
    overhead, needed = 1 + freed.rates.power_overhead, dict[str, float]()
    for number, pool in enumerate(freed.pools):
        if pool.site is not None:
            use = pool_use(freed, answer, number)
            peak = float((use.owned + use.purchased).max()) * pool.power * overhead
            needed[pool.site.name] = needed.get(pool.site.name, 0.0) + peak
    limits = {site.name: site.power for site in world.problem.supply.sites}
    short = [
        f"{show(power, 'W')} at {name} instead of {show(limits[name] or 0.0, 'W')}"
        for name, power in needed.items()
        if limits.get(name) is not None and power > (limits[name] or 0.0)
    ]
    return f"it works with {' and '.join(short)}" if short else "give the sites more power"


def _without_caps(problem: Problem) -> Problem:
    return with_contracts(problem, lambda contract: replace(contract, most=math.inf))


def _caps_remedy(_world: World, answer: Sourced, freed: Problem) -> str:
    used = [
        (float(pool_use(freed, answer, number).rented_peak.max()), pool.id)
        for number, pool in enumerate(freed.pools)
        if number in answer.elastic
    ]
    most, pool = max(used, default=(0.0, ""))
    if most <= 0:
        return "ask for larger caps"
    return (
        f"it works with a quota of {math.ceil(most)} servers of {pool} at once; ask the provider, or state max_servers in a quote"
    )


_LIMITS = (
    _Limit(
        name="budget",
        binds=lambda problem: problem.supply.capex_budget is not None or problem.supply.monthly_budget is not None,
        lift=_without_budgets,
        remedy=_budget_remedy,
    ),
    _Limit(name="lead time", binds=lambda _: True, lift=_at_once, remedy=_lead_time_remedy),
    _Limit(
        name="site power",
        binds=lambda problem: any(pool.site is not None and pool.site.power is not None for pool in problem.pools),
        lift=_without_power,
        remedy=_power_remedy,
    ),
    _Limit(name="quota", binds=lambda _: True, lift=_without_caps, remedy=_caps_remedy),
)
