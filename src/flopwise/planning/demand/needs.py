"""From workloads to needs: work by month and block, before headroom.

A serving need is a rate (req/s) in every block of every month. A training need is a number of tokens, to be
done inside a window or again in every month, and the rate that its deadline asks of one gang.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from flopwise.domain.calendar import days_in, first_day, months_between
from flopwise.domain.scenario import Scenario
from flopwise.domain.workload import ExperimentWorkload, Launch, ServingWorkload, TrafficProfile, TrainingWorkload
from flopwise.ground.units import DAY, HOUR, HOURS_PER_DAY
from flopwise.planning.demand.blocks import DAYS_OF_WEEK, Blocks, block_means, hourly_shape, make_blocks

Floats = NDArray[np.float64]
#: A launch at least this likely is planned for; a less likely one is left out and said so.
LIKELY = 0.5
#: Kinds of hours where each is cut into parts: fewer, so that the model stays as large as it can be solved quickly.
_KINDS_IN_PARTS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingNeed:
    """Requests/s of one service: ``rate`` (months, blocks), ``peak`` (months,); 0 before launch."""

    workload: ServingWorkload
    shape: Floats
    rate: Floats
    peak: Floats

    @property
    def active(self) -> NDArray[np.bool_]:
        """Months with any demand, shape (months,)."""
        return self.peak > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingNeed:
    """Tokens of one training workload.

    Attributes:
        seconds: time of each month in which the work may run (months,).
        monthly: tokens that each month must finish (months,), for recurring work; ``None`` for one run.
        tokens: all tokens inside the horizon.
        deadline: seconds that one run may take.
        run_tokens: tokens of one run.
    """

    workload: TrainingWorkload
    seconds: Floats
    monthly: Floats | None
    tokens: float
    deadline: float
    run_tokens: float

    @property
    def active(self) -> NDArray[np.bool_]:
        """Months in which the work may run, shape (months,)."""
        return self.seconds > 0

    @property
    def gang_rate(self) -> float:
        """Tokens/s that one gang must keep, failures included, to end a run in time."""
        return self.run_tokens / self.deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """All needs of a scenario over its months and blocks."""

    months: tuple[str, ...]
    blocks: Blocks
    serving: tuple[ServingNeed, ...]
    training: tuple[TrainingNeed, ...]
    experiments: tuple[ExperimentWorkload, ...]
    warnings: tuple[str, ...]

    @property
    def month_hours(self) -> Floats:
        """Hours of each month, shape (months,)."""
        return self.blocks.hours.sum(axis=1)


def make_needs(scenario: Scenario, months: Sequence[str], blocks: Blocks) -> Needs:
    """Spread the workloads of a scenario over months and blocks.

    Complexity: workloads x months x blocks.
    """
    warnings: list[str] = []
    serving: list[ServingNeed] = []
    training: list[TrainingNeed] = []
    experiments: list[ExperimentWorkload] = []
    for workload in scenario.workloads:
        if isinstance(workload, ExperimentWorkload):
            experiments.append(workload)
            continue
        starts = _launch_month(workload.name, workload.launch, months, warnings)
        if isinstance(workload, ServingWorkload):
            serving.append(_serving_need(workload, months, blocks, starts, scenario.as_of))
        else:
            need = _training_need(workload, months, starts, warnings)
            if need is not None:
                training.append(need)
    return Needs(
        months=tuple(months),
        blocks=blocks,
        serving=tuple(serving),
        training=tuple(training),
        experiments=tuple(experiments),
        warnings=tuple(warnings),
    )


def _launch_month(name: str, launch: Launch | None, months: Sequence[str], warnings: list[str]) -> int:
    """Offset of the first month of work; the number of months when it is left out."""
    if launch is None:
        return 0
    if launch.probability < LIKELY:
        warnings.append(f"{name}: left out, its launch is {launch.probability:.0%} likely (planned for from {LIKELY:.0%})")
        return len(months)
    offset = months_between(months[0], launch.date)
    if offset >= len(months):
        warnings.append(f"{name}: left out, it launches in {launch.date}, after the horizon ends ({months[-1]})")
    return min(max(offset, 0), len(months))


def _serving_need(workload: ServingWorkload, months: Sequence[str], blocks: Blocks, starts: int, as_of: str) -> ServingNeed:
    traffic = workload.traffic
    shape = _shape(traffic, as_of)
    # A service that launches within the horizon starts with its stated peak.
    age = np.arange(len(months)) - starts
    peak = np.where(age >= 0, traffic.peak * (1 + traffic.growth.p50) ** np.maximum(age, 0), 0.0)
    return ServingNeed(workload=workload, shape=shape, rate=np.outer(peak, block_means(shape, blocks, months)), peak=peak)


def _shape(traffic: TrafficProfile, as_of: str) -> Floats:
    return hourly_shape(traffic.profile, traffic.timezone, as_of, traffic.mean_share)


def _training_need(workload: TrainingWorkload, months: Sequence[str], starts: int, warnings: list[str]) -> TrainingNeed | None:
    whole = np.array([days_in(month) * DAY for month in months])
    open_ = np.where(np.arange(len(months)) >= starts, whole, 0.0)
    run = workload.tokens * workload.epochs
    if workload.repeat_every > 0:
        return _recurring(workload, open_, run)
    seconds = (
        open_
        if workload.window is None
        else np.minimum(open_, _inside(workload.window.start, workload.window.finish_within, months))
    )
    limit = workload.window.finish_within if workload.window else workload.finish_within or float(seconds.sum())
    if not seconds.any():
        warnings.append(f"{workload.name}: left out, its window does not meet the horizon {months[0]} to {months[-1]}")
        return None
    if workload.window and seconds.sum() < limit * (1 - 1e-9):
        warnings.append(
            f"{workload.name}: its window of {limit / DAY:.0f} days reaches outside the horizon; "
            f"{seconds.sum() / DAY:.0f} days of it are planned and must hold all of the work"
        )
    return TrainingNeed(
        workload=workload, seconds=seconds, monthly=None, tokens=run, deadline=min(limit, float(seconds.sum())), run_tokens=run
    )


def _recurring(workload: TrainingWorkload, open_: Floats, run: float) -> TrainingNeed:
    monthly = run * open_ / workload.repeat_every
    deadline = min(workload.finish_within or workload.repeat_every, workload.repeat_every)
    return TrainingNeed(
        workload=workload, seconds=open_, monthly=monthly, tokens=float(monthly.sum()), deadline=deadline, run_tokens=run
    )


def _inside(start: str, span: float, months: Sequence[str]) -> Floats:
    """Seconds of each month that lie in the span after ``start``."""
    begin = first_day(start)
    inside = np.zeros(len(months))
    for index, month in enumerate(months):
        first = (first_day(month) - begin) / timedelta(seconds=1)
        inside[index] = max(0.0, min(first + days_in(month) * DAY, span) - max(first, 0.0))
    return inside


def shapes_of(scenario: Scenario) -> list[Floats]:
    """Hourly shapes of the services of a scenario, (2, 24) each: what blocks are made from."""
    return [_shape(workload.traffic, scenario.as_of) for workload in scenario.workloads if isinstance(workload, ServingWorkload)]


def plan_blocks(scenario: Scenario, months: Sequence[str]) -> Blocks:
    """Blocks of a scenario: cut by days of the week where recurring training meets other work in some month."""
    shapes = shapes_of(scenario)
    blocks = make_blocks(shapes, months)
    needs = make_needs(scenario, months, blocks)
    at_work = np.sum([need.active for need in (*needs.serving, *needs.training)], axis=0)
    recurring = [need.active for need in needs.training if need.monthly is not None]
    if not np.any(np.any(recurring, axis=0) & (at_work > 1)):
        return blocks
    return make_blocks(shapes, months, _KINDS_IN_PARTS, DAYS_OF_WEEK)


def server_hours(seconds: Floats, blocks: Blocks) -> Floats:
    """Hours of each block inside the given seconds of each month, spread evenly. Shape (months, blocks)."""
    share = seconds / HOUR / blocks.hours.sum(axis=1)
    return blocks.hours * share[:, np.newaxis]


def requests_in(need: ServingNeed, blocks: Blocks) -> Floats:
    """Requests of a service by month, shape (months,)."""
    return (need.rate * blocks.hours).sum(axis=1) * HOUR


def day_load(need: ServingNeed, month: int) -> Floats:
    """Requests/s by day type and hour (UTC) of one month, shape (2, 24)."""
    assert need.shape.shape[1] == HOURS_PER_DAY  # noqa: S101 - hourly shapes only
    return need.shape * need.peak[month]
