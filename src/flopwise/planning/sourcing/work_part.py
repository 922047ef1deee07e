"""The part of the model that runs: replicas, gangs and hosted requests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flopwise.engines.solve import LinearModel
from flopwise.ground.units import HOUR
from flopwise.planning.cost.ledger import discount_factors
from flopwise.planning.demand.needs import TrainingNeed
from flopwise.planning.sourcing.problem import Allowed, Problem

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class WorkPart:
    """Columns of work.

    Attributes:
        serving: replicas by use (months, blocks).
        training: gangs running on average by use (months, blocks).
        open: whether a gang may hold servers in a block, by use (blocks,).
        holds: whether it holds them, by use (active months, blocks).
        chosen: whether a mode is the one of its training, by use (1,).
        hosted: requests/s by hosted use (months, blocks).
        running: columns and what they pay from the monthly budget.

    Size: uses x months x blocks columns.
    """

    def __init__(self, linear: LinearModel, problem: Problem, allowed: Allowed, *, cost_scale: float) -> None:
        self.linear, self.problem, self.allowed, self.cost_scale = linear, problem, allowed, cost_scale
        self.hours = problem.needs.blocks.hours
        self.months, self.blocks = self.hours.shape
        self.discount = discount_factors(self.months, problem.rates.wacc)
        self.running: list[tuple[Indices, Floats]] = []
        self._add_uses()
        self._add_hosted()

    def uses_of(self, workload: str) -> list[int]:
        """Numbers of the uses that can do a workload."""
        return [index for index, use in enumerate(self.problem.uses) if use.workload == workload]

    def training_need(self, index: int) -> TrainingNeed:
        """The need behind a use for training."""
        name = self.problem.uses[index].workload
        return next(need for need in self.problem.needs.training if need.workload.name == name)

    def share(self, need: TrainingNeed) -> Floats:
        """Share of each month in which the work may run."""
        return need.seconds / (self.hours.sum(axis=1) * HOUR)

    def _add_uses(self) -> None:
        shape = (self.months, self.blocks)
        services = {need.workload.name: need for need in self.problem.needs.serving}
        trainings = {need.workload.name: need for need in self.problem.needs.training}
        self.serving: dict[int, Indices] = {}
        self.training: dict[int, Indices] = {}
        self.open: dict[int, Indices] = {}
        self.holds: dict[int, Indices] = {}
        self.chosen: dict[int, Indices] = {}
        for number, use in enumerate(self.problem.uses):
            name = f"{use.workload} on {self.problem.pools[use.pool].id} as {use.choice.mode.accelerators}"
            if use.workload in services:
                upper = np.where(services[use.workload].active, np.inf, 0.0)[:, np.newaxis]
                self.serving[number] = self.linear.add_variables(name, shape, upper=upper)
            else:
                share = self.share(trainings[use.workload])[:, np.newaxis]
                self.training[number] = self.linear.add_variables(name, shape, upper=share)
                self.open[number] = self.linear.add_variables(f"{name} open", (self.blocks,), upper=1.0, integer=True)
                self.holds[number] = self._months_held(name, self.open[number], trainings[use.workload])
                self.chosen[number] = self.linear.add_variables(f"{name} chosen", (1,), upper=1.0, integer=True)

    def _add_hosted(self) -> None:
        self.hosted: dict[int, Indices] = {}
        if not self.allowed.hosted:
            return
        for number, use in enumerate(self.problem.hosted):
            requests = self.hours * HOUR
            cost = self.discount[:, np.newaxis] * requests * use.usd_per_request
            columns = self.linear.add_variables(
                f"{use.workload} on {use.priced.offer.channel}", (self.months, self.blocks), cost=cost * self.cost_scale
            )
            for block in range(self.blocks):
                self.running.append((columns[:, block], np.diag(requests[:, block] * use.usd_per_request)))
            self.hosted[number] = columns

    def _months_held(self, name: str, open_: Indices, need: TrainingNeed) -> Indices:
        """Whether the gang holds its servers, (active months, blocks): in its blocks, and of one run only in its months."""
        months = int(need.active.sum())
        if need.monthly is not None:
            return np.broadcast_to(open_, (months, self.blocks))
        runs = self.linear.add_variables(f"{name} runs", (months, 1), upper=1.0, integer=True)
        holds = self.linear.add_variables(f"{name} holds", (months, self.blocks), upper=1.0)
        for whole in (runs, open_):
            rows = self.linear.add_rows(holds.size, upper=0.0)
            self.linear.add_entries(rows.reshape(holds.shape), holds, 1.0)
            self.linear.add_entries(rows.reshape(holds.shape), whole, -1.0)
        both = self.linear.add_rows(holds.size, upper=1.0).reshape(holds.shape)
        for columns, sign in ((runs, 1.0), (open_, 1.0), (holds, -1.0)):
            self.linear.add_entries(both, columns, sign)
        return holds
