"""What amounts of money rest on: the prices they are made of, and the predicted rates that decide how much is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flopwise.domain.offer import Offer
from flopwise.domain.provenance import Evidence
from flopwise.planning.plan.world import STANDING
from flopwise.planning.sourcing.lines import PlanLine
from flopwise.planning.sourcing.model import Sourced
from flopwise.planning.sourcing.problem import Problem

#: What is not arithmetic on stated values, the weakest first.
_STRENGTH = (Evidence.DATASHEET, Evidence.PUBLISHED, Evidence.MEASURED)


def weakest(kinds: Iterable[Evidence]) -> Evidence:
    """The weakest of what an answer rests on; arithmetic on stated values weakens nothing.

    >>> weakest([Evidence.COMPUTED, Evidence.PUBLISHED, Evidence.DATASHEET]).value
    'datasheet'
    """
    found = set(kinds)
    return next((kind for kind in _STRENGTH if kind in found), Evidence.COMPUTED)


def backing(problem: Problem, sourced: Sourced, lines: Iterable[PlanLine]) -> Evidence:
    """The weakest evidence behind some lines of a solved plan: their prices, and the modes that run in their pools.

    Complexity: lines x uses.
    """
    return weakest(kind for item in lines for kind in _behind(problem, sourced, item))


def _behind(problem: Problem, sourced: Sourced, item: PlanLine) -> Iterator[Evidence]:
    offer = _offer(problem, item)
    if item.line.kind == "commitment" or (offer is not None and offer.user_quote):
        yield Evidence.COMPUTED
    else:
        yield Evidence.PUBLISHED
    # What stands already is paid whatever runs on it; hosted requests do not depend on a rate of ours.
    if item.pool is not None and item.line.kind not in STANDING:
        for index, use in enumerate(problem.uses):
            work = sourced.serving.get(index, sourced.training.get(index))
            if use.pool == item.pool and work is not None and work.any():
                yield use.choice.mode.evidence


def _offer(problem: Problem, item: PlanLine) -> Offer | None:
    if item.contract is not None:
        return item.contract.offer
    return problem.hosted[item.hosted].priced.offer if item.hosted is not None else None
