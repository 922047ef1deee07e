"""Time blocks: representative days by the hour, shared by all workloads.

A month is a weekday and a weekend day of 24 hours each (UTC), so time zones, coincident peaks and idle
nights stay visible. Hours with nearly the same mix of loads are merged into few blocks; an hour in which a
workload has its peak is merged only with hours of the same load, so peaks are never averaged away.

Where training shares servers with other work, the hours of each kind are cut again into parts of one, two and four
sevenths: a run of one day a week must hold its servers on that day, not on all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from flopwise.domain.calendar import days_in, weekdays_in
from flopwise.ground.units import HOUR, HOURS_PER_DAY

Floats = NDArray[np.float64]
DAY_TYPES = ("weekday", "weekend")
#: Load relative to the daily peak by local hour, weekday then weekend. Shapes after public request logs: office use
#: has a midday dip and quiet nights, consumer use peaks in the evening; the levels are assumptions and are printed so.
_OFFICE = (
    .08, .06, .05, .05, .06, .10, .20, .42, .72, .92, 1.0, .97, .82, .90, .99, .97, .90, .74, .50, .36, .28, .22, .16, .11,
)  # fmt: skip
_CONSUMER = (
    .42, .32, .24, .20, .18, .20, .28, .40, .52, .60, .66, .70, .74, .74, .74, .76, .80, .86, .92, .97, 1.0, .96, .82, .60,
)  # fmt: skip
PROFILES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "flat": ((1.0,) * HOURS_PER_DAY, (1.0,) * HOURS_PER_DAY),
    "office-hours": (_OFFICE, tuple(0.22 * value for value in _OFFICE)),
    "consumer": (_CONSUMER, tuple(min(1.0, 1.04 * value) for value in _CONSUMER)),
    "global": (tuple(0.75 + 0.25 * value for value in _CONSUMER), tuple(0.72 + 0.22 * value for value in _CONSUMER)),
}
#: Kinds of hours that peaks may take in any case, and loads that are equal.
_MOST, _SAME = 16, 1e-9
#: Weekdays and days of the weekend in a week.
_DAYS = (5, 2)
#: At this power nothing is left but the busiest hours; so many halvings find a power to a millionth.
_SHARPEST, _HALVINGS = 300.0, 60
#: One, two and four sevenths add up to any number of days a week.
DAYS_OF_WEEK = (1 / 7, 2 / 7, 4 / 7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Hours of a month that are alike.

    Attributes:
        kind_of_hour: kind of each representative hour, (2 day types, 24).
        kind: kind of the hours that each block is a part of, (blocks,).
        hours: hours of each block, (months, blocks).
    """

    kind_of_hour: NDArray[np.int64]
    kind: NDArray[np.int64]
    hours: Floats

    @property
    def count(self) -> int:
        """Number of blocks."""
        return self.hours.shape[1]

    def by_hour(self, values: Floats, month: int) -> Floats:
        """Mean of a value by block, (blocks,), in each representative hour of a month: (2 day types, 24)."""
        weight = self.hours[month]
        total = np.bincount(self.kind, weights=weight * values)
        return (total / np.bincount(self.kind, weights=weight))[self.kind_of_hour]


def mean_load(profile: str) -> float:
    """Mean over peak of a profile, over a week of five weekdays."""
    return _weekly_mean(np.array(PROFILES[profile]))


def least_mean_load(profile: str) -> float:
    """Mean over peak that no sharpening of a profile goes below: nothing but its busiest hours."""
    return _weekly_mean(np.array(PROFILES[profile]) >= 1.0)


def _weekly_mean(shape: NDArray[Any]) -> float:
    return float(np.average(shape.mean(axis=1), weights=_DAYS))


def _with_mean(shape: Floats, mean_share: float) -> Floats:
    """The shape raised to the power at which its weekly mean is as wanted: peak and order of hours stay."""
    low, high = 0.0, _SHARPEST
    for _ in range(_HALVINGS):
        power = (low + high) / 2
        low, high = (power, high) if _weekly_mean(shape**power) > mean_share else (low, power)
    return shape**high


def hourly_shape(profile: str, timezone: str, as_of: str, mean_share: float | None = None) -> Floats:
    """Load relative to the peak, shape (2 day types, 24 hours UTC).

    ``mean_share`` is the weekly mean over the peak, between ``least_mean_load`` and 1; the profile's own by default.

    The offset of the time zone is the one in force at ``as_of``; a change of clocks moves the peak by an
    hour for part of the year, which representative days do not show.
    """
    local = np.array(PROFILES[profile])
    if mean_share is not None:
        local = _with_mean(local, mean_share)
    moment = datetime.fromisoformat(as_of).replace(hour=12, tzinfo=ZoneInfo(timezone))
    offset = moment.utcoffset()
    hours = 0 if offset is None else round(offset.total_seconds() / HOUR)
    return np.roll(local, -hours, axis=1)


def make_blocks(shapes: Sequence[Floats], months: Sequence[str], limit: int = 8, parts: Sequence[float] = (1.0,)) -> Blocks:
    """Merge the 48 representative hours into at most ``limit`` kinds by likeness of all shapes, each cut into parts.

    Args:
        shapes: one (2, 24) array per workload, relative to its peak.
        months: ISO months of the horizon.
        limit: kinds of hours wanted; up to twice as many, and 16 in any case, are returned if peaks need them. Beyond
            that the nearest peaks are merged with hours that are almost as busy, and lose the difference.
        parts: shares of the hours of each kind that become blocks of their own; they sum to 1.

    Complexity: agglomerative over 48 points, O(48**3) at most.
    """
    hours_of_day = np.array([[weekdays_in(month), days_in(month) - weekdays_in(month)] for month in months], dtype=float)
    weight = np.repeat(hours_of_day.sum(axis=0), HOURS_PER_DAY)
    points = np.stack([shape.ravel() for shape in shapes], axis=1) if shapes else np.ones((2 * HOURS_PER_DAY, 1))
    label = _merge(points, weight, limit, most=max(2 * limit, _MOST))
    of_hour = label.reshape(2, HOURS_PER_DAY)
    member = np.eye(label.max() + 1)[of_hour].sum(axis=1)  # hours of each block in one day of each type
    hours = hours_of_day @ member
    kinds = np.arange(hours.shape[1])
    return Blocks(kind_of_hour=of_hour, kind=np.repeat(kinds, len(parts)), hours=np.kron(hours, np.asarray(parts)))


def block_means(shape: Floats, blocks: Blocks, months: Sequence[str]) -> Floats:
    """Mean of an hourly shape in each block, weighted by how often each day type occurs. Shape (blocks,)."""
    days = np.array([[weekdays_in(month), days_in(month) - weekdays_in(month)] for month in months], dtype=float).sum(axis=0)
    weight = np.repeat(days, HOURS_PER_DAY)
    label = blocks.kind_of_hour.ravel()
    total = np.bincount(label, weights=weight * shape.ravel())
    return (total / np.bincount(label, weights=weight))[blocks.kind]


def _merge(points: Floats, weight: Floats, limit: int, most: int) -> NDArray[np.int64]:
    """Ward-like merging to ``limit`` clusters; none that lowers a workload's peak before there are more than ``most``."""
    peaks = points.max(axis=0)
    clusters = [[index] for index in range(len(points))]
    while len(clusters) > 1:
        centre = np.array([np.average(points[c], axis=0, weights=weight[c]) for c in clusters])
        mass = np.array([weight[c].sum() for c in clusters])
        apart = np.abs(centre[:, None] - centre[None, :])
        cost = (apart**2).sum(axis=2) * mass[:, None] * mass[None, :] / (mass[:, None] + mass[None, :])
        at_peak = centre >= peaks - _SAME
        lowers = ((at_peak[:, None] | at_peak[None, :]) & (apart > _SAME)).any(axis=2)
        itself = np.eye(len(clusters), dtype=bool)
        allowed = np.where(lowers | itself, np.inf, cost)
        if not np.isfinite(allowed).any() and len(clusters) > most:
            allowed = np.where(itself, np.inf, cost)
        best = np.unravel_index(np.argmin(allowed), allowed.shape)
        if not np.isfinite(allowed[best]) or (len(clusters) <= limit and allowed[best] > _SAME):
            break
        first, second = sorted(int(index) for index in best)
        clusters[first] += clusters.pop(second)
    label = np.zeros(len(points), dtype=np.int64)
    for number, cluster in enumerate(sorted(clusters, key=min)):
        label[cluster] = number
    return label
