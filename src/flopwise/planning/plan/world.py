"""What all parts of a plan are written from: the problem, its answer, the ledger, and costs by pool and workload."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flopwise.catalog import Catalogue
from flopwise.domain.calendar import months_of
from flopwise.domain.scenario import Scenario
from flopwise.domain.workload import ServingWorkload, TrainingWorkload
from flopwise.ground.units import HOUR
from flopwise.planning.cost.ledger import CREDIT, Ledger, charges, components, discount_factors, make_ledger
from flopwise.planning.demand.needs import Needs
from flopwise.planning.market import Market
from flopwise.planning.sourcing.choose import Considered
from flopwise.planning.sourcing.lines import PlanLine, PoolUse, plan_lines, pool_use
from flopwise.planning.sourcing.model import Sourced
from flopwise.planning.sourcing.problem import Problem

Floats = NDArray[np.float64]
#: Kinds of line that stand already and are paid under any plan.
STANDING = frozenset({"owned", "commitment"})


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

    @property
    def ledger_months(self) -> tuple[str, ...]:
        """Months of the horizon, and those after it in which something may fall due."""
        return months_of(self.months[0], self.problem.rates.ledger_months)

    def unmet_by_month(self, workload: str) -> Floats:
        """Share of a service's requests that each month leaves undone (months,); nothing for training, counted as a whole."""
        need = next((item for item in self.needs.serving if item.workload.name == workload), None)
        if need is None:
            return np.zeros(len(self.months))
        served = np.zeros_like(need.rate)
        for number, use in enumerate(self.problem.uses):
            if use.workload == workload:
                served += self.sourced.serving[number] * use.rate / (1 + self.problem.headroom)
        for number, rate in self.sourced.hosted.items():
            if self.problem.hosted[number].workload == workload:
                served += rate
        wanted = (need.rate * self.hours).sum(axis=1)
        missing = (np.maximum(need.rate - served, 0.0) * self.hours).sum(axis=1)
        return np.divide(missing, wanted, out=np.zeros_like(missing), where=wanted > 0)

    @cached_property
    def standing(self) -> Ledger:
        """The ledger of what stands and is committed already: it is paid under any plan."""
        return make_ledger([item.line for item in self.lines if item.line.kind in STANDING], self.problem.rates)

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
    def line_charges(self) -> list[dict[str, Floats]]:
        """Cash of each line by component and month (USD)."""
        return [charges(item.line, self.problem.rates) for item in self.lines]

    @cached_property
    def component_npv(self) -> dict[str, Floats]:
        """Net present cost of each line (USD), shape (lines,), by component."""
        discount = discount_factors(self.problem.rates.ledger_months, self.problem.rates.wacc)
        return {name: np.array([float(parts[name] @ discount) for parts in self.line_charges]) for name in components()}

    @cached_property
    def line_npv(self) -> Floats:
        """Net present cost of each line (USD), shape (lines,)."""
        return np.sum(list(self.component_npv.values()), axis=0)

    @cached_property
    def line_cash(self) -> Floats:
        """Undiscounted cost of each line for the horizon (USD), shape (lines,): what is left of servers is credited.

        Rent that is owed after the horizon is left out: the work that it carries then is not counted either.
        """
        months = len(self.months)
        return np.array(
            [
                float(sum(part.sum() if name == CREDIT else part[:months].sum() for name, part in parts.items()))
                for parts in self.line_charges
            ]
        )

    @property
    def pool_cash(self) -> float:
        """Undiscounted cost of all pools (USD); fees of commitments that no use covers belong to no pool."""
        return float(sum(amount for item, amount in zip(self.lines, self.line_cash, strict=True) if item.pool is not None))

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
    def workload_share(self) -> dict[str, Floats]:
        """Part of each line that each workload bears, shape (lines,).

        Pools by hours used (idle hours fall on the users), hosted APIs directly; unused commitments fall on nobody.
        """
        shares = {name: np.zeros(len(self.lines)) for name in self.workloads}
        hours = {pool: sum(used for (_, other), used in self.used_hours.items() if other == pool) for _, pool in self.used_hours}
        for number, item in enumerate(self.lines):
            if item.hosted is not None:
                shares[self.problem.hosted[item.hosted].workload][number] = 1.0
            elif item.pool is not None and hours.get(item.pool, 0.0) > 0:
                for name in self.workloads:
                    shares[name][number] = self.used_hours.get((name, item.pool), 0.0) / hours[item.pool]
        return shares

    @cached_property
    def workload_cash(self) -> dict[str, float]:
        """Undiscounted cost by workload (USD): what a unit of work costs, comparable with a price list."""
        return {name: float(share @ self.line_cash) for name, share in self.workload_share.items()}
