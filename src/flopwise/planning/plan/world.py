"""What all parts of a plan are written from: the problem, its answer, the ledger, and costs by pool and workload."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flopwise.catalog import Catalogue
from flopwise.domain.scenario import Scenario
from flopwise.domain.workload import ServingWorkload, TrainingWorkload
from flopwise.ground.units import HOUR
from flopwise.planning.cost.ledger import Ledger, charges, discount_factors, make_ledger
from flopwise.planning.demand.needs import Needs
from flopwise.planning.market import Market
from flopwise.planning.sourcing.choose import Considered
from flopwise.planning.sourcing.lines import PlanLine, PoolUse, plan_lines, pool_use
from flopwise.planning.sourcing.model import Sourced
from flopwise.planning.sourcing.problem import Problem

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class World:
    """One solved plan, before it is written down."""

    scenario: Scenario
    catalogue: Catalogue
    market: Market
    considered: Considered
    sourced: Sourced

    @property
    def problem(self) -> Problem:
        """The problem that was solved."""
        return self.considered.problem

    @property
    def needs(self) -> Needs:
        """Needs by month and block."""
        return self.problem.needs

    @property
    def months(self) -> tuple[str, ...]:
        """ISO months of the horizon."""
        return self.needs.months

    @property
    def hours(self) -> Floats:
        """Hours by month and block."""
        return self.needs.blocks.hours

    @cached_property
    def workloads(self) -> dict[str, ServingWorkload | TrainingWorkload]:
        """Workloads that are planned, by name, in the order of the scenario."""
        needs = {need.workload.name: need.workload for need in (*self.needs.serving, *self.needs.training)}
        return {item.name: needs[item.name] for item in self.scenario.workloads if item.name in needs}

    @cached_property
    def standing(self) -> Ledger:
        """The ledger of what stands and is committed already: it is paid under any plan."""
        return make_ledger([item.line for item in self.lines if item.line.kind in {"owned", "commitment"}], self.problem.rates)

    @cached_property
    def lines(self) -> list[PlanLine]:
        """Ledger lines and where each comes from."""
        return plan_lines(self.problem, self.sourced)

    @cached_property
    def ledger(self) -> Ledger:
        """Cash by component and month."""
        return make_ledger([item.line for item in self.lines], self.problem.rates)

    @cached_property
    def use(self) -> tuple[PoolUse, ...]:
        """What each pool holds, rents and uses."""
        return tuple(pool_use(self.problem, self.sourced, number) for number in range(len(self.problem.pools)))

    @cached_property
    def line_npv(self) -> list[float]:
        """Net present cost of each line (USD)."""
        discount = discount_factors(len(self.months), self.problem.rates.wacc)
        rates = self.problem.rates
        return [float(sum(float(np.sum(part @ discount)) for part in charges(item.line, rates).values())) for item in self.lines]

    @cached_property
    def line_cash(self) -> list[float]:
        """Undiscounted cost of each line (USD)."""
        rates = self.problem.rates
        return [float(sum(float(np.sum(part)) for part in charges(item.line, rates).values())) for item in self.lines]

    @property
    def pool_cash(self) -> Floats:
        """Cost by pool (USD), shape (pools,); fees of commitments that no use covers belong to no pool."""
        return self._by_pool(self.line_cash)

    def _by_pool(self, amounts: Sequence[float]) -> Floats:
        totals = np.zeros(len(self.problem.pools))
        for item, amount in zip(self.lines, amounts, strict=True):
            if item.pool is not None:
                totals[item.pool] += amount
        return totals

    @cached_property
    def accelerator_hours(self) -> Floats:
        """Accelerator-hours held or rented by pool, used or not, shape (pools,)."""
        totals = np.zeros(len(self.problem.pools))
        for number, (pool, use) in enumerate(zip(self.problem.pools, self.use, strict=True)):
            held = (use.owned + use.purchased + use.reserved)[:, np.newaxis] + use.rented_mean
            totals[number] = float((held * self.hours).sum()) * pool.accelerators
        return totals

    @cached_property
    def used_hours(self) -> dict[tuple[str, int], float]:
        """Accelerator-hours of work by (workload, pool)."""
        used: dict[tuple[str, int], float] = defaultdict(float)
        for number, use in enumerate(self.problem.uses):
            amount = self.sourced.serving.get(number, self.sourced.training.get(number))
            if amount is not None:
                hours = float((amount * self.hours).sum()) * use.servers
                used[use.workload, use.pool] += hours * self.problem.pools[use.pool].accelerators
        return dict(used)

    @cached_property
    def work_share(self) -> dict[int, float]:
        """Share of its workload's work that each use does."""
        shares: dict[int, float] = {}
        for number, use in enumerate(self.problem.uses):
            amount = self.sourced.serving.get(number, self.sourced.training.get(number))
            done = 0.0 if amount is None else float((amount * self.hours).sum()) * use.rate * HOUR
            shares[number] = done / self._work[use.workload] if self._work[use.workload] else 0.0
        return shares

    @cached_property
    def _work(self) -> dict[str, float]:
        """Planned capacity times time by workload, in its unit of work, hosted requests included."""
        work: dict[str, float] = defaultdict(float)
        for number, use in enumerate(self.problem.uses):
            amount = self.sourced.serving.get(number, self.sourced.training.get(number))
            work[use.workload] += 0.0 if amount is None else float((amount * self.hours).sum()) * use.rate * HOUR
        for number, rate in self.sourced.hosted.items():
            work[self.problem.hosted[number].workload] += float((rate * self.hours).sum()) * HOUR
        return work

    @cached_property
    def workload_npv(self) -> dict[str, float]:
        """Net present cost by workload (USD)."""
        return self._by_workload(self.line_npv)

    @cached_property
    def workload_cash(self) -> dict[str, float]:
        """Undiscounted cost by workload (USD): what a unit of work costs, comparable with a price list."""
        return self._by_workload(self.line_cash)

    def _by_workload(self, amounts: Sequence[float]) -> dict[str, float]:
        """Pools by hours used (idle hours fall on the users), hosted APIs directly; unused commitments fall on nobody."""
        costs = dict.fromkeys(self.workloads, 0.0)
        for number, amount in enumerate(self._by_pool(amounts)):
            used = {name: hours for (name, pool), hours in self.used_hours.items() if pool == number and hours > 0}
            for name, hours in used.items():
                costs[name] += amount * hours / sum(used.values())
        for item, amount in zip(self.lines, amounts, strict=True):
            if item.hosted is not None:
                costs[self.problem.hosted[item.hosted].workload] += amount
        return costs
