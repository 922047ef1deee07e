"""How wrong the total may be: errors of performance, prices and assumed rates, joined in quadrature.

Performance errors of different workloads and price errors of different channels are taken as independent; growth
and launches are not in this interval (they change what is needed, not how wrong the sums are).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from flopwise.domain.plan import PlanAssumption
from flopwise.planning.plan.demand_rows import main_mode
from flopwise.planning.plan.world import World

#: Assumptions about what things cost: their swing moves the total as it stands.
_RATES = ("finance.", "network.", "storage.", "server.", "facility.", "supply.sites.")


def total_interval(world: World, assumptions: Sequence[PlanAssumption]) -> tuple[float, float]:
    """80 % interval of the net present cost (USD). A rate's swing over its range counts half to each side."""
    rates = rate_errors(assumptions)
    low = math.hypot(*_performance(world, 0), *_prices(world, 0), *rates)
    high = math.hypot(*_performance(world, 1), *_prices(world, 1), *rates)
    return (max(world.ledger.npv - low, 0.0), world.ledger.npv + high)


def rate_errors(assumptions: Sequence[PlanAssumption]) -> list[float]:
    """USD to each side by assumed cost rate."""
    return [(row.swing or 0.0) / 2 for row in assumptions if row.assumption.path.startswith(_RATES)]


def _performance(world: World, side: int) -> list[float]:
    """USD by workload: capacity cost grows as its rate falls. ``side`` 0 is cheaper (faster), 1 dearer (slower)."""
    hosted = _hosted_npv(world)
    changes: list[float] = []
    for name, npv in world.workload_npv.items():
        mode = main_mode(world, name)
        if mode is not None and npv > 0:
            slow, fast = mode.interval
            factor = mode.rate / slow - 1 if side else 1 - mode.rate / fast
            changes.append(max(npv - hosted.get(name, 0.0), 0.0) * factor)
    return changes


def _hosted_npv(world: World) -> dict[str, float]:
    totals: dict[str, float] = defaultdict(float)
    for item, npv in zip(world.lines, world.line_npv, strict=True):
        if item.hosted is not None:
            totals[world.problem.hosted[item.hosted].workload] += npv
    return totals


def _prices(world: World, side: int) -> list[float]:
    """USD by channel."""
    changes: dict[str, float] = defaultdict(float)
    for item, npv in zip(world.lines, world.line_npv, strict=True):
        priced = item.contract or (world.problem.hosted[item.hosted].priced if item.hosted is not None else None)
        if priced is not None:
            changes[priced.offer.channel] += abs(npv) * abs(priced.spread[side] - 1)
    return list(changes.values())
