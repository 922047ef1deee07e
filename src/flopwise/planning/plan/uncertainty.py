"""How wrong amounts of money may be: errors of performance, prices and assumed rates, joined in quadrature.

Performance errors of different workloads and price errors of different channels are taken as independent; growth
and launches are not in these intervals (they change what is needed, not how wrong the sums are). What stands and is
committed already does not grow when a rate is missed: only assumed rates move it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from flopwise.domain.plan import PlanAssumption
from flopwise.planning.cost.ledger import components
from flopwise.planning.plan.demand_rows import main_mode
from flopwise.planning.plan.world import STANDING, World

Floats = NDArray[np.float64]
#: Moves every component that is paid later.
_EVERYWHERE = "finance.wacc"


def around(value: float, spread: tuple[float, float]) -> tuple[float, float]:
    """An interval from its ends over the value."""
    low, high = value * spread[0], value * spread[1]
    return (min(low, high), max(low, high))


def exact(value: float) -> tuple[float, float]:
    """The interval of what is arithmetic on stated values."""
    return (value, value)


def relative(value: float, interval: tuple[float, float]) -> tuple[float, float]:
    """Ends of an interval over its value; of nothing, no width."""
    return (interval[0] / value, interval[1] / value) if value > 0 else (1.0, 1.0)


class Uncertainty:
    """80 % intervals of parts of the net present cost. A rate's swing over its range counts half to each side."""

    def __init__(self, world: World, assumptions: Sequence[PlanAssumption]) -> None:
        self.world = world
        self._standing = np.array([item.line.kind in STANDING for item in world.lines], dtype=bool)
        self._hosted = np.array([item.hosted is not None for item in world.lines], dtype=bool)
        self._rates = {name: self._rate_errors(name, part, assumptions) for name, part in components().items()}

    def total(self) -> tuple[float, float]:
        """Of the whole net present cost (USD)."""
        return self._interval(self.world.component_npv)

    def component(self, name: str) -> tuple[float, float]:
        """Of one component (USD)."""
        return self._interval({name: self.world.component_npv[name]})

    def standing(self) -> tuple[float, float]:
        """Of what stands and is committed already (USD)."""
        return self._interval({name: amounts * self._standing for name, amounts in self.world.component_npv.items()})

    def workload(self, name: str) -> tuple[float, float]:
        """Of what one workload bears (USD)."""
        share = self.world.workload_share[name]
        return self._interval({part: amounts * share for part, amounts in self.world.component_npv.items()})

    def _interval(self, amounts: Mapping[str, Floats]) -> tuple[float, float]:
        """Around the sum of amounts by component, each (lines,)."""
        value = float(sum(parts.sum() for parts in amounts.values()))
        rates = self._rate_sums(amounts)
        low, high = (math.hypot(*self._performance(amounts, side), *self._prices(amounts, side), *rates) for side in (0, 1))
        return (value - low if value < 0 else max(value - low, 0.0), min(value + high, 0.0) if value < 0 else value + high)

    def _performance(self, amounts: Mapping[str, Floats], side: int) -> list[float]:
        """USD by workload: capacity grows as its rate falls. ``side`` 0 is cheaper (faster), 1 dearer (slower)."""
        moving = ~(self._standing | self._hosted)
        changes: list[float] = []
        for name, share in self.world.workload_share.items():
            mode = main_mode(self.world, name)
            if mode is not None:
                slow, fast = mode.interval
                factor = mode.rate / slow - 1 if side else 1 - mode.rate / fast
                changes.append(factor * sum(float(parts @ (share * moving)) for parts in amounts.values()))
        return changes

    def _prices(self, amounts: Mapping[str, Floats], side: int) -> list[float]:
        """USD by channel, of the components that move with the price."""
        changes: dict[str, float] = defaultdict(float)
        priced = [parts for name, parts in amounts.items() if components()[name].PRICED]
        for number, item in enumerate(self.world.lines):
            offer = item.contract or (self.world.problem.hosted[item.hosted].priced if item.hosted is not None else None)
            if offer is not None:
                changes[offer.offer.channel] += sum(float(parts[number]) for parts in priced) * abs(offer.spread[side] - 1)
        return list(changes.values())

    def _rate_errors(self, name: str, part: ModuleType, assumptions: Sequence[PlanAssumption]) -> dict[str, float]:
        """USD to each side by assumption, for a whole component; one that several rest on moves them by their size."""
        errors: dict[str, float] = {}
        for row in assumptions:
            path = row.assumption.path
            if row.swing and rests_on(part, path):
                sizes = {other: _size(self.world, other) for other, module in components().items() if rests_on(module, path)}
                errors[path] = row.swing / 2 * sizes[name] / (sum(sizes.values()) or 1.0)
        return errors

    def _rate_sums(self, amounts: Mapping[str, Floats]) -> list[float]:
        """USD to each side by assumption, scaled to the part of each component that the amounts are."""
        sums: dict[str, float] = defaultdict(float)
        for name, parts in amounts.items():
            whole = _size(self.world, name)
            for path, error in self._rates[name].items():
                sums[path] += error * float(np.abs(parts).sum()) / whole if whole else 0.0
        return list(sums.values())


def rests_on(part: ModuleType, path: str) -> bool:
    """Whether a component moves with an assumption."""
    return path == _EVERYWHERE or any(fnmatchcase(path, pattern) for pattern in part.ASSUMED)


def _size(world: World, component: str) -> float:
    return float(np.abs(world.component_npv[component]).sum())
