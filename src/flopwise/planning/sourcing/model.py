"""The sourcing model: months and blocks, integer servers, one mode per training gang.

    minimise   net present cost of purchases, reservations, hours by the hour, hosted requests
    subject to what runs in a block fits into what is held there (whole gangs and replicas at once, and on average
               over the block), demand with headroom, power, budgets, caps, commitments.

What is held, what runs and what is asked for are parts of their own; here they meet: capacity and limits.
Replicas are continuous above the smallest deployment (one per failure zone); servers, gangs and the choice to run a
service at all are integer.

Size: pools x months x blocks capacity rows, uses x months x blocks variables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwise.engines.solve import LinearModel, Solution, SolveStatus
from flopwise.planning.sourcing.demand_part import DemandPart
from flopwise.planning.sourcing.problem import Allowed, Problem
from flopwise.planning.sourcing.supply_part import SupplyPart
from flopwise.planning.sourcing.work_part import WorkPart

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
#: Fields of the supply that limit money.
BUDGETS = ("capex_budget", "monthly_budget")
#: A budget of nothing grows from this (USD), so that a factor can tell what would do.
LEAST_BUDGET = 1.0
#: Objective in thousands of USD: coefficients nearer to 1 for the solver.
_SCALE = 1e-3
#: Supply that carries less than this share of the cost is left out if the rest can do its work within the gap.
_SMALL = 0.005
#: Slack of the second solve around the least unmet share.
_SLACK = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Sourced:
    """Answer of one solve. Arrays by pool and contract id; (months,), or (months, blocks) where marked.

    Attributes:
        buys: servers arriving, by (pool, contract) index.
        reserves: reservations starting, by (pool, contract) index.
        elastic: mean servers rented by the hour, by pool (months, blocks).
        serving: replicas by use (months, blocks).
        training: gangs running on average by use (months, blocks).
        open_gangs: whole gangs that hold capacity, by use (months, blocks).
        hosted: requests/s by hosted use (months, blocks).
        covered: USD of on-demand use paid by each commitment (months,).
        unmet: share of each workload that is not served.
        objective: net present cost in the model (USD).
        bound: what no plan can cost less than, in the model (USD).
        limits: the capital and monthly budget that the plan needs when ``least_budget`` was asked, as a factor.
    """

    buys: dict[tuple[int, int], Floats]
    reserves: dict[tuple[int, int], Floats]
    elastic: dict[int, Floats]
    serving: dict[int, Floats]
    training: dict[int, Floats]
    open_gangs: dict[int, Floats]
    hosted: dict[int, Floats]
    covered: tuple[Floats, ...]
    unmet: dict[str, float]
    objective: float
    bound: float
    stopped: bool
    limits: float | None = None


class Model:
    """Columns and rows of one problem.

    Args:
        free_budgets: budgets that may grow together; their factor is then what is minimised, and money is not.
        whole_servers: count servers by the hour that carry services whole.
    """

    def __init__(
        self, problem: Problem, allowed: Allowed, *, free_budgets: Collection[str] = (), whole_servers: bool = False
    ) -> None:
        self.whole_servers = whole_servers
        self.problem = problem
        self.hours = problem.needs.blocks.hours
        self.months, self.blocks = self.hours.shape
        self.linear = LinearModel()
        cost_scale = 0.0 if free_budgets else _SCALE
        self.supply = SupplyPart(self.linear, problem, allowed, cost_scale=cost_scale)
        self.work = WorkPart(self.linear, problem, allowed, cost_scale=cost_scale)
        self._capacity()
        self.unmet = DemandPart(self.linear, problem, self.supply, self.work).unmet
        self._limits(free=free_budgets)

    def usd(self, objective: float) -> float:
        """What an objective (or bound) of this model is in USD, with what is owed under any plan."""
        return objective / _SCALE + self.supply.fixed_cost

    # Capacity ---------------------------------------------------------------------------------------------------

    def _capacity(self) -> None:
        """What runs fits into what is held: on average everywhere, and gangs as a whole where there are some."""
        for number in range(len(self.problem.pools)):
            uses = [index for index, use in enumerate(self.problem.uses) if use.pool == number]
            if not uses:
                continue
            self._capacity_rows(number, uses, whole_gangs=False)
            if any(index in self.work.training for index in uses):
                self._capacity_rows(number, uses, whole_gangs=True)

    def _capacity_rows(self, number: int, uses: list[int], *, whole_gangs: bool) -> None:
        pool = self.problem.pools[number]
        owned = np.repeat(pool.owned, self.blocks)
        most = pool.elastic.most if number in self.supply.elastic and pool.elastic is not None else 0.0
        rows = self.linear.add_rows(self.months * self.blocks, upper=owned + (most if whole_gangs else 0.0))
        table = rows.reshape(self.months, self.blocks)
        for index in uses:
            servers = self.problem.uses[index].servers
            if index in self.work.serving:
                self.linear.add_entries(rows, self.work.serving[index].ravel(), servers)
            elif whole_gangs:
                active = np.flatnonzero(self.work.training_need(index).active)
                self.linear.add_entries(table[active], self.work.holds[index], servers)
            else:
                self.linear.add_entries(rows, self.work.training[index].ravel(), servers)
        if number in self.supply.held:
            self.linear.add_entries(table, self.supply.held[number][:, np.newaxis], -1.0)
        if number in self.supply.elastic and not whole_gangs:
            self.linear.add_entries(rows, self.supply.elastic[number].ravel(), -1.0)
            if self.whole_servers and any(index in self.work.serving for index in uses):
                self._count_whole(number, uses, table)

    def _count_whole(self, number: int, uses: list[int], table: Indices) -> None:
        """Replicas beyond what is held rent whole servers: an instance cannot be rented in part."""
        rented = self.supply.elastic[number]
        whole = self.linear.add_variables(f"{self.problem.pools[number].id} whole", rented.shape, integer=True)
        rows = self.linear.add_rows(rented.size, upper=np.repeat(self.problem.pools[number].owned, self.blocks))
        for index in uses:
            if index in self.work.serving:
                self.linear.add_entries(rows, self.work.serving[index].ravel(), self.problem.uses[index].servers)
        if number in self.supply.held:
            self.linear.add_entries(rows.reshape(table.shape), self.supply.held[number][:, np.newaxis], -1.0)
        self.linear.add_entries(rows, whole.ravel(), -1.0)
        paid = self.linear.add_rows(rented.size, upper=0.0)
        self.linear.add_entries(paid, whole.ravel(), 1.0)
        self.linear.add_entries(paid, rented.ravel(), -1.0)
        if self.problem.pools[number].only_by_hour:
            self._gangs_beside(number, uses, whole, paid)

    def _gangs_beside(self, number: int, uses: list[int], whole: Indices, paid: Indices) -> None:
        """Gangs rent servers of their own beside those that services fill in part; both count against the cap."""
        elastic = self.problem.pools[number].elastic
        gangs = [index for index in uses if index in self.work.training]
        for index in gangs:
            self.linear.add_entries(paid, self.work.training[index].ravel(), self.problem.uses[index].servers)
        if gangs and elastic is not None:
            rows = self.linear.add_rows(whole.size, upper=elastic.most)
            self.linear.add_entries(rows, whole.ravel(), 1.0)
            for index in gangs:
                active = np.flatnonzero(self.work.training_need(index).active)
                held = rows.reshape(whole.shape)[active]
                self.linear.add_entries(held, self.work.holds[index], self.problem.uses[index].servers)

    # Limits -----------------------------------------------------------------------------------------------------

    def _limits(self, *, free: Collection[str]) -> None:
        self._site_power()
        supply = self.problem.supply
        factor = None
        if free:
            factor = self.linear.add_variables("budget factor", (1,), cost=1.0)
            self.budget_factor = int(factor[0])
        if supply.capex_budget is not None:
            growing = "capex_budget" in free
            budget = max(supply.capex_budget, LEAST_BUDGET) if growing else supply.capex_budget
            self._capital_row(budget, factor if growing else None)
        if supply.monthly_budget is not None:
            growing = "monthly_budget" in free
            budget = max(supply.monthly_budget, LEAST_BUDGET) if growing else supply.monthly_budget
            self._monthly_rows(budget, factor if growing else None)

    def _site_power(self) -> None:
        overhead = 1 + self.problem.rates.power_overhead
        by_site: dict[str, list[int]] = defaultdict(list)
        for number, pool in enumerate(self.problem.pools):
            if pool.site is not None and pool.site.power is not None:
                by_site[pool.site.name].append(number)
        for numbers in by_site.values():
            first = self.problem.pools[numbers[0]].site
            assert first is not None  # noqa: S101 - grouped by site above
            used = np.sum([self.problem.pools[number].owned * self.problem.pools[number].power for number in numbers], axis=0)
            # Owned servers run already: a stated power below theirs only bars new ones.
            left = np.maximum((first.power or 0.0) / overhead - used, 0.0)
            rows = self.linear.add_rows(self.months, upper=left)
            for number in numbers:
                if number in self.supply.held:
                    self.linear.add_entries(rows, self.supply.held[number], self.problem.pools[number].power)

    def _capital_row(self, budget: float, factor: Indices | None) -> None:
        row = self.linear.add_rows(1, upper=0.0 if factor is not None else budget * _SCALE)
        for columns, amounts in self.supply.capital:
            self.linear.add_entries(row, columns, amounts * _SCALE)
        if factor is not None:
            self.linear.add_entries(row, factor, -budget * _SCALE)

    def _monthly_rows(self, budget: float, factor: Indices | None) -> None:
        limit = np.full(self.months, 0.0 if factor is not None else budget) - self.supply.fixed_running
        # What is owed already is owed under any budget.
        rows = self.linear.add_rows(self.months, upper=(limit if factor is not None else np.maximum(limit, 0.0)) * _SCALE)
        for columns, amounts in (*self.supply.running, *self.work.running):
            start, month = np.nonzero(amounts)
            self.linear.add_entries(rows[month], columns[start], amounts[start, month] * _SCALE)
        if factor is not None:
            self.linear.add_entries(rows, factor, -budget * _SCALE)

    # Unmet demand -----------------------------------------------------------------------------------------------

    def forbid_unmet(self) -> None:
        """Ask for all of the demand."""
        for columns, _ in self.unmet.values():
            self.linear.fix(columns, 0.0)

    def price_unmet(self, usd: float) -> None:
        """Let all of a workload's work that is not done cost an amount (USD)."""
        for columns, weight in self.unmet.values():
            self.linear.set_costs(columns, weight * usd * _SCALE)

    def least_unmet(self, time_limit: float) -> dict[str, float]:
        """Least unavoidable unmet share of each workload, the sum of shares being minimised."""
        cost = np.zeros(self.linear.columns)
        for columns, weight in self.unmet.values():
            cost[columns.ravel()] += weight.ravel()
        solution = self.linear.solve(gap=1e-4, time_limit=time_limit, cost=cost)
        return {name: float((solution.of(columns) * weight).sum()) for name, (columns, weight) in self.unmet.items()}

    def allow_unmet(self, share: Mapping[str, float]) -> None:
        """Hold each workload's unmet share at what is unavoidable."""
        for name, (columns, weight) in self.unmet.items():
            row = self.linear.add_rows(1, upper=share[name] + _SLACK)
            self.linear.add_entries(row, columns.ravel(), weight.ravel())

    # Second pass ----------------------------------------------------------------------------------------------

    def small(self, solution: Solution) -> list[Indices]:
        """Supply by the hour or by the request that is used, but so little that an account for it is not worth having.

        Names columns of this model, which are those of any model of the same problem up to the demand rows.
        """
        least = _SMALL * abs(solution.objective)
        supply = [*self.supply.elastic.values(), *self.work.hosted.values()]
        spent = [self._spent(columns, solution) for columns in supply]
        if not any(0.0 < usd < least for usd in spent):
            return []
        # What is not used at all goes too: else it would take the place of what is dropped, and be as small.
        return [columns for columns, usd in zip(supply, spent, strict=True) if usd < least]

    def _spent(self, columns: Indices, solution: Solution) -> float:
        return float(self.linear.costs(columns).ravel() @ solution.of(columns).ravel())

    def hold(self, other: Model, solution: Solution) -> None:
        """Hold orders and gangs at another model's answer; both models have the same blocks in the same order."""
        for mine, theirs in ((self.supply.buys, other.supply.buys), (self.supply.reserves, other.supply.reserves)):
            for key, columns in mine.items():
                self.linear.fix(columns, np.round(solution.of(theirs[key])))
        for mine, theirs in ((self.work.open, other.work.open), (self.work.holds, other.work.holds)):
            for index, columns in mine.items():
                self.linear.fix(columns, np.round(solution.of(theirs[index])))
        for index, columns in self.work.chosen.items():
            self.linear.fix(columns, np.round(solution.of(other.work.chosen[index])))
        for index, columns in self.work.training.items():
            self.linear.fix(columns, solution.of(other.work.training[index]))

    # Reading ----------------------------------------------------------------------------------------------------

    def read(self, solution: Solution) -> Sourced:
        """Values back into arrays, integers rounded to whole numbers."""
        whole: Callable[[Indices], Floats] = lambda columns: np.round(solution.of(columns))  # noqa: E731 - a local name for a rule
        shares = {name: float((solution.of(columns) * weight).sum()) for name, (columns, weight) in self.unmet.items()}
        return Sourced(
            buys={key: whole(columns) for key, columns in self.supply.buys.items()},
            reserves={key: whole(columns) for key, columns in self.supply.reserves.items()},
            elastic={number: solution.of(columns) for number, columns in self.supply.elastic.items()},
            serving={number: solution.of(columns) for number, columns in self.work.serving.items()},
            training={number: solution.of(columns) for number, columns in self.work.training.items()},
            open_gangs={number: self._by_month(number, whole(columns)) for number, columns in self.work.holds.items()},
            hosted={number: solution.of(columns) for number, columns in self.work.hosted.items()},
            covered=tuple(solution.of(columns).sum(axis=1) for columns in self.supply.covered),
            unmet={name: _share(share) for name, share in shares.items()},
            objective=self.usd(solution.objective),
            bound=self.usd(solution.bound),
            stopped=solution.status is SolveStatus.FEASIBLE,
        )

    def _by_month(self, index: int, active: Floats) -> Floats:
        """(active months, blocks) of a training use spread over all months."""
        values = np.zeros((self.months, self.blocks))
        values[self.work.training_need(index).active] = active
        return values


def _share(value: float) -> float:
    """An unmet share without the solver's tolerance: nothing and everything are exact."""
    return 0.0 if value <= 2 * _SLACK else 1.0 if value >= 1 - 2 * _SLACK else value
