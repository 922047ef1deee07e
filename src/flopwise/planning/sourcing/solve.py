"""Solving: the least unmet demand first, then the least cost; servers by the hour whole in a second pass.

The second pass keeps the orders of the first; the gap is measured against the bound of the first, in which servers by
the hour may be rented in part. Unmet demand is never traded against cost: where some is unavoidable, its least amount
is found first and held while cost is minimised.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flopwise.engines.solve import Solution, SolveStatus
from flopwise.ground.errors import SolverError
from flopwise.planning.sourcing.model import BUDGETS, Model, Sourced
from flopwise.planning.sourcing.problem import Allowed, Problem

Indices = NDArray[np.int64]
#: Up to so many counts of whole servers by the hour are solved at once, more in a second pass.
_AT_ONCE = 700
#: In models with more columns they stay in parts: the ledger rounds them up, and the gap says what that costs.
_LARGEST = 50_000
_TIDYINGS = 3
#: Work that is not done costs so many times the whole plan, or so much (USD) where that is not known, when a problem is
#: too large for exact answers; these end at a wider gap.
_DEAR, _DEAREST, _WIDE = 10.0, 1e9, 0.05


def solve(problem: Problem, allowed: Allowed | None = None, *, gap: float = 5e-3, time_limit: float = 10.0) -> Sourced:
    """The cheapest plan of those that leave the least demand unmet.

    Raises:
        SolverError: no usable point within the time limit.
    """
    kinds = allowed or Allowed()
    try:
        return _exact(problem, kinds, gap=gap, time_limit=time_limit)
    except SolverError:
        return _anyhow(problem, kinds, time_limit=time_limit)


def _exact(problem: Problem, kinds: Allowed, *, gap: float, time_limit: float) -> Sourced:
    at_once = _whole_cells(problem, kinds) <= _AT_ONCE
    model = Model(problem, kinds, whole_servers=at_once)
    model.forbid_unmet()
    least: dict[str, float] | None = None
    solution = model.linear.solve(gap=gap, time_limit=time_limit)
    if solution.status is SolveStatus.INFEASIBLE:
        model = Model(problem, kinds, whole_servers=at_once)
        least = model.least_unmet(time_limit)
        model.allow_unmet(least)
        solution = model.linear.solve(gap=gap, time_limit=time_limit)
    bound = model.usd(solution.bound)
    if model.linear.columns > _LARGEST:
        return replace(model.read(solution), bound=bound)
    if not at_once:
        model, solution = _again(problem, kinds, least, (model, solution), gap=gap, time_limit=time_limit) or (model, solution)
    model, solution = _tidied(problem, kinds, least, (model, solution), gap=gap, time_limit=time_limit)
    return replace(model.read(solution), bound=bound)


def _anyhow(problem: Problem, allowed: Allowed, *, time_limit: float) -> Sourced:
    """An answer to a problem too large to be solved in time: what is not served has a price, so that some point is known.

    Servers by the hour are counted in parts where they are rented, and the gap says how far the answer may be off.
    """
    model = Model(problem, allowed)
    model.price_unmet(_DEAR * (least_cost(problem, time_limit=time_limit) or _DEAREST))
    solution = model.linear.solve(gap=_WIDE, time_limit=time_limit)
    return model.read(solution)


def _whole_cells(problem: Problem, allowed: Allowed) -> int:
    """Pools by the hour that services may use, times months and blocks: how many whole counts there are."""
    services = {need.workload.name for need in problem.needs.serving}
    pools = {use.pool for use in problem.uses if use.workload in services and problem.pools[use.pool].elastic is not None}
    return len(pools) * problem.needs.blocks.hours.size if allowed.elastic else 0


def _again(
    problem: Problem,
    allowed: Allowed,
    least: Mapping[str, float] | None,
    before: tuple[Model, Solution],
    *,
    without: Sequence[Indices] = (),
    gap: float,
    time_limit: float,
) -> tuple[Model, Solution] | None:
    """The same orders and gangs, with servers by the hour counted whole and services spread anew, some supply left out.

    Whole servers in every block make the model ten times slower than the rest of it; with what is ordered held, the
    months come apart and are solved in a second. Nothing when that does not fit into caps and budgets.
    """
    model = Model(problem, allowed, whole_servers=True)
    if least is None:
        model.forbid_unmet()
    else:
        model.allow_unmet(least)
    model.hold(*before)
    for columns in without:
        model.linear.fix(columns, 0.0)
    solution = model.linear.solve(gap=gap, time_limit=time_limit)
    return None if solution.status is SolveStatus.INFEASIBLE else (model, solution)


def _tidied(
    problem: Problem,
    allowed: Allowed,
    least: Mapping[str, float] | None,
    before: tuple[Model, Solution],
    *,
    gap: float,
    time_limit: float,
) -> tuple[Model, Solution]:
    """Without supply that carries next to nothing, where the rest can do its work within the gap."""
    best = before
    for _ in range(_TIDYINGS):
        small = best[0].small(best[1])
        if not small:
            break
        fewer = _again(problem, allowed, least, best, without=small, gap=gap, time_limit=time_limit)
        if fewer is None or fewer[1].objective > before[1].objective + gap * abs(before[1].objective):
            break
        best = fewer
    return best


def least_cost(problem: Problem, *, time_limit: float) -> float | None:
    """Net present cost of serving everything with servers and gangs in parts (USD): a bound that is quick to have.

    Nothing where not everything can be served, or the solver gives up.
    """
    model = Model(problem, Allowed())
    model.forbid_unmet()
    try:
        solution = model.linear.solve(time_limit=time_limit, relax=True)
    except SolverError:
        return None
    return None if solution.status is SolveStatus.INFEASIBLE else model.usd(solution.objective)


def least_budget(problem: Problem, budgets: Collection[str] = BUDGETS, *, time_limit: float = 10.0) -> float | None:
    """Factor by which the named budgets must grow (or may shrink) together so that everything is served.

    Others stay as they are. ``None`` if no factor helps, or none is found in time.
    """
    whole = _whole_cells(problem, Allowed()) <= _AT_ONCE
    model = Model(problem, Allowed(), free_budgets=budgets, whole_servers=whole)
    model.forbid_unmet()
    try:
        solution = model.linear.solve(gap=1e-3, time_limit=time_limit)
    except SolverError:
        return None
    return None if solution.status is SolveStatus.INFEASIBLE else float(solution.values[model.budget_factor])
