"""The sourcing model: months and blocks, integer servers, one mode per training gang.

    minimise   net present cost of purchases, reservations, hours by the hour, hosted requests
    subject to what runs in a block fits into what is held there (whole gangs and replicas at once, and on average
               over the block), demand with headroom, power, budgets, caps, commitments.

Replicas are continuous above the smallest deployment (one per failure zone); servers, gangs and the choice to run a
service at all are integer. Servers by the hour are whole in a second pass that keeps the orders of the first; the
gap is measured against the bound of the first, in which they may be rented in part. Unmet demand is never traded
against cost: where some is unavoidable, its least amount is found first and held while cost is minimised.

Size: pools x months x blocks capacity rows, uses x months x blocks variables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flopwise.domain.calendar import months_between
from flopwise.engines.solve import LinearModel, Solution, SolveStatus
from flopwise.ground.errors import SolverError
from flopwise.ground.units import HOUR
from flopwise.planning.cost.ledger import CAPITAL, CREDIT, charges, discount_factors, unit_npv
from flopwise.planning.cost.supply_line import SupplyLine
from flopwise.planning.demand.needs import ServingNeed, TrainingNeed
from flopwise.planning.sourcing.pools import Contract, Pool
from flopwise.planning.sourcing.problem import (
    Allowed,
    Problem,
    elastic_line,
    held_window,
    owned_line,
    purchase_line,
    reserved_line,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
#: Services are planned for at least this many requests/s (nine a day).
LEAST_RATE = 1e-4
#: Fields of the supply that limit money.
BUDGETS = ("capex_budget", "monthly_budget")
#: A budget of nothing grows from this (USD), so that a factor can tell what would do.
LEAST_BUDGET = 1.0
#: Objective in thousands of USD: coefficients nearer to 1 for the solver.
_SCALE = 1e-3
#: Up to so many counts of whole servers by the hour are solved at once, more in a second pass.
_AT_ONCE = 700
#: In models with more columns they stay in parts: the ledger rounds them up, and the gap says what that costs.
_LARGEST = 50_000
#: Supply that carries less than this share of the cost is left out if the rest can do its work within the gap.
_SMALL = 0.005
_TIDYINGS = 3
#: No single order is larger (servers): keeps the coefficients of minimum orders small.
_LARGEST_ORDER = 20_000.0
#: Work that is not done costs so many times the whole plan, or so much (USD) where that is not known, when a problem is
#: too large for exact answers; these end at a wider gap.
_DEAR, _DEAREST, _WIDE = 10.0, 1e9, 0.05
#: Slack of the second solve around the least unmet share.
_SLACK = 1e-6
#: Right sides nearer to a whole number than this give no cut: its coefficients would drown in the tolerance.
_LEAST_FRACTION = 1e-3


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


def solve(problem: Problem, allowed: Allowed | None = None, *, gap: float = 5e-3, time_limit: float = 10.0) -> Sourced:
    """The cheapest plan of those that leave the least demand unmet.

    Raises:
        SolverError: no usable point within the time limit.
    """
    kinds = allowed or Allowed()
    at_once = _whole_cells(problem, kinds) <= _AT_ONCE
    model = _Model(problem, kinds, whole_servers=at_once)
    model.forbid_unmet()
    least: dict[str, float] | None = None
    try:
        solution = model.linear.solve(gap=gap, time_limit=time_limit)
    except SolverError:
        return _anyhow(problem, kinds, time_limit=time_limit)
    if solution.status is SolveStatus.INFEASIBLE:
        model = _Model(problem, kinds, whole_servers=at_once)
        least = model.least_unmet(time_limit)
        model.allow_unmet(least)
        solution = model.linear.solve(gap=gap, time_limit=time_limit)
    bound = solution.bound / _SCALE + model.fixed_cost
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
    model = _Model(problem, allowed)
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
    before: tuple[_Model, Solution],
    *,
    without: Sequence[Indices] = (),
    gap: float,
    time_limit: float,
) -> tuple[_Model, Solution] | None:
    """The same orders and gangs, with servers by the hour counted whole and services spread anew, some supply left out.

    Whole servers in every block make the model ten times slower than the rest of it; with what is ordered held, the
    months come apart and are solved in a second. Nothing when that does not fit into caps and budgets.
    """
    model = _Model(problem, allowed, whole_servers=True)
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
    before: tuple[_Model, Solution],
    *,
    gap: float,
    time_limit: float,
) -> tuple[_Model, Solution]:
    """Without supply that carries next to nothing, where the rest can do its work within the gap."""
    best, dropped = before, list[Indices]()
    for _ in range(_TIDYINGS):
        small = best[0].small(best[1])
        if not small:
            break
        dropped += small
        fewer = _again(problem, allowed, least, best, without=dropped, gap=gap, time_limit=time_limit)
        if fewer is None or fewer[1].objective > before[1].objective + gap * abs(before[1].objective):
            break
        best = fewer
    return best


def least_cost(problem: Problem, *, time_limit: float) -> float | None:
    """Net present cost of serving everything with servers and gangs in parts (USD): a bound that is quick to have.

    Nothing where not everything can be served, or the solver gives up.
    """
    model = _Model(problem, Allowed())
    model.forbid_unmet()
    try:
        solution = model.linear.solve(time_limit=time_limit, relax=True)
    except SolverError:
        return None
    return None if solution.status is SolveStatus.INFEASIBLE else solution.objective / _SCALE + model.fixed_cost


def least_budget(problem: Problem, budgets: Collection[str] = BUDGETS, *, time_limit: float = 10.0) -> float | None:
    """Factor by which the named budgets must grow (or may shrink) together so that everything is served.

    Others stay as they are. ``None`` if no factor helps.
    """
    whole = _whole_cells(problem, Allowed()) <= _AT_ONCE
    model = _Model(problem, Allowed(), free_budgets=budgets, whole_servers=whole)
    model.forbid_unmet()
    solution = model.linear.solve(gap=1e-3, time_limit=time_limit)
    if solution.status is SolveStatus.INFEASIBLE:
        return None
    return float(solution.values[model.budget_factor])


class _Model:
    """Blocks of variables and rows of one problem."""

    def __init__(
        self, problem: Problem, allowed: Allowed, *, free_budgets: Collection[str] = (), whole_servers: bool = False
    ) -> None:
        self.whole_servers = whole_servers
        self.problem, self.allowed = problem, allowed
        self.hours = problem.needs.blocks.hours
        self.months, self.blocks = self.hours.shape
        self.linear = LinearModel()
        self.discount = discount_factors(self.months, problem.rates.wacc)
        self.running: list[tuple[Indices, Floats]] = []
        self.capital: list[tuple[Indices, Floats]] = []
        self.priced = 0.0 if free_budgets else _SCALE
        self._supply()
        self._hold_by_month()
        self._work()
        self._capacity()
        self._demand()
        self._limits(free=free_budgets)

    # Supply -----------------------------------------------------------------------------------------------------

    def _supply(self) -> None:
        self.buys: dict[tuple[int, int], Indices] = {}
        self.reserves: dict[tuple[int, int], Indices] = {}
        self.elastic: dict[int, Indices] = {}
        self.fixed_running = np.zeros(self.months)
        self.fixed_cost = 0.0
        for number, pool in enumerate(self.problem.pools):
            if pool.owned.any():
                self._add_fixed(owned_line(pool))
            if self.allowed.purchase:
                for index, contract in enumerate(pool.purchases):
                    self.buys[number, index] = self._hold(contract, purchase_line(pool, contract, np.eye(self.months)))
            if self.allowed.reserved:
                for index, contract in enumerate(pool.reservations):
                    line = reserved_line(pool, contract, np.eye(self.months), self.problem.rates.month_hours)
                    self.reserves[number, index] = self._hold(contract, line)
            if self.allowed.elastic and pool.elastic is not None:
                self.elastic[number] = self._rent(pool, pool.elastic)
        self._commitments()

    def _add_fixed(self, line: SupplyLine) -> None:
        cash = np.sum([np.broadcast_to(part, (self.months,)) for part in charges(line, self.problem.rates).values()], axis=0)
        self.fixed_running += cash
        self.fixed_cost += float(cash @ self.discount)

    def _hold(self, contract: Contract, line: SupplyLine) -> Indices:
        """Integer servers that start in each month; their cost, capital and running charges."""
        parts = charges(line, self.problem.rates)
        most = np.where(np.arange(self.months) >= contract.first, contract.most, 0.0)
        columns = self.linear.add_variables(
            contract.offer.id, (self.months,), upper=most, cost=unit_npv(line, self.problem.rates) * self.priced, integer=True
        )
        paid_at_once = np.diag(sum(parts[name] for name in CAPITAL) + np.zeros((self.months, self.months)))
        later = sum(amounts for name, amounts in parts.items() if name not in {*CAPITAL, CREDIT})
        if paid_at_once.any():
            self.capital.append((columns, paid_at_once))
        self.running.append((columns, self._without_tail(line, np.asarray(later))))
        if np.isfinite(contract.most):
            row = self.linear.add_rows(1, upper=contract.most)
            self.linear.add_entries(row, columns, 1.0)
        if contract.offer.min_servers > 1:
            self._least_order(contract, columns)
        return columns

    def _least_order(self, contract: Contract, columns: Indices) -> None:
        """Nothing in a month, or at least as many servers as the offer asks for."""
        ordered = self.linear.add_variables(f"{contract.offer.id} ordered", (self.months,), upper=1.0, integer=True)
        least = self.linear.add_rows(self.months, lower=0.0)
        self.linear.add_entries(least, columns, 1.0)
        self.linear.add_entries(least, ordered, -float(contract.offer.min_servers))
        most = self.linear.add_rows(self.months, upper=0.0)
        self.linear.add_entries(most, columns, 1.0)
        self.linear.add_entries(most, ordered, -min(contract.most, _LARGEST_ORDER))

    def _without_tail(self, line: SupplyLine, monthly: Floats) -> Floats:
        """Hours owed after the horizon are a liability, not a charge of the last month's budget."""
        owed = monthly.copy()
        owed[:, -1] -= np.asarray(line.tail_hours) * (1 - line.upfront) * line.unit_price
        return owed

    def _rent(self, pool: Pool, contract: Contract) -> Indices:
        line = elastic_line(pool, contract, np.eye(self.months))
        parts = charges(line, self.problem.rates)
        per_hour = unit_npv(line, self.problem.rates)
        open_ = np.where(np.arange(self.months) >= contract.first, contract.most, 0.0)
        columns = self.linear.add_variables(
            f"{pool.id} by the hour", (self.months, self.blocks), upper=open_[:, np.newaxis],
            cost=per_hour[:, np.newaxis] * self.hours * self.priced,
        )  # fmt: skip
        monthly = np.diag(sum(parts.values()) + np.zeros((self.months, self.months)))
        for block in range(self.blocks):
            self.running.append((columns[:, block], np.diag(monthly * self.hours[:, block])))
        return columns

    def _commitments(self) -> None:
        """Spend held already pays for on-demand use of its channel, up to its hourly amount."""
        self.covered: list[Indices] = []
        for commitment in self.problem.commitments:
            left = months_between(self.problem.needs.months[0], commitment.until) + 1
            live = (np.arange(self.months) < left).astype(float)
            fee = commitment.amount * self.hours.sum(axis=1) * live
            self.fixed_running += fee
            self.fixed_cost += float(fee @ self.discount)
            most = commitment.amount * self.hours * live[:, np.newaxis]
            columns = self.linear.add_variables(
                f"covered by {commitment.channel}", (self.months, self.blocks), upper=most,
                cost=-self.discount[:, np.newaxis] * self.priced * np.ones(self.blocks),
            )  # fmt: skip
            for block in range(self.blocks):
                self.running.append((columns[:, block], -np.eye(self.months)))
            rows = self.linear.add_rows(columns.size, upper=0.0)
            self.linear.add_entries(rows, columns.ravel(), 1.0)
            for number, rented in self.elastic.items():
                pool = self.problem.pools[number]
                if pool.channel == commitment.channel and not pool.spot and pool.elastic is not None:
                    self.linear.add_entries(rows, rented.ravel(), -(pool.elastic.usd * self.hours).ravel())
            self.covered.append(columns)

    # Work -------------------------------------------------------------------------------------------------------

    def _work(self) -> None:
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
                share = self._share(trainings[use.workload])[:, np.newaxis]
                self.training[number] = self.linear.add_variables(name, shape, upper=share)
                self.open[number] = self.linear.add_variables(f"{name} open", (self.blocks,), upper=1.0, integer=True)
                self.holds[number] = self._months_held(name, self.open[number], trainings[use.workload])
                self.chosen[number] = self.linear.add_variables(f"{name} chosen", (1,), upper=1.0, integer=True)
        self.hosted: dict[int, Indices] = {}
        if self.allowed.hosted:
            for number, use in enumerate(self.problem.hosted):
                requests = self.hours * HOUR
                cost = self.discount[:, np.newaxis] * requests * use.usd_per_request
                columns = self.linear.add_variables(
                    f"{use.workload} on {use.priced.offer.channel}", shape, cost=cost * self.priced
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

    def _share(self, need: TrainingNeed) -> Floats:
        """Share of each month in which the work may run."""
        return need.seconds / (self.hours.sum(axis=1) * HOUR)

    # Rows -------------------------------------------------------------------------------------------------------

    def _capacity(self) -> None:
        """What runs fits into what is held: on average everywhere, and gangs as a whole where there are some."""
        for number in range(len(self.problem.pools)):
            uses = [index for index, use in enumerate(self.problem.uses) if use.pool == number]
            if not uses:
                continue
            self._capacity_rows(number, uses, whole_gangs=False)
            if any(index in self.training for index in uses):
                self._capacity_rows(number, uses, whole_gangs=True)

    def _capacity_rows(self, number: int, uses: list[int], *, whole_gangs: bool) -> None:
        pool = self.problem.pools[number]
        owned = np.repeat(pool.owned, self.blocks)
        most = pool.elastic.most if number in self.elastic and pool.elastic is not None else 0.0
        rows = self.linear.add_rows(self.months * self.blocks, upper=owned + (most if whole_gangs else 0.0))
        table = rows.reshape(self.months, self.blocks)
        for index in uses:
            servers = self.problem.uses[index].servers
            if index in self.serving:
                self.linear.add_entries(rows, self.serving[index].ravel(), servers)
            elif whole_gangs:
                active = np.flatnonzero(self._training_need(index).active)
                self.linear.add_entries(table[active], self.holds[index], servers)
            else:
                self.linear.add_entries(rows, self.training[index].ravel(), servers)
        if number in self.held:
            self.linear.add_entries(table, self.held[number][:, np.newaxis], -1.0)
        if number in self.elastic and not whole_gangs:
            self.linear.add_entries(rows, self.elastic[number].ravel(), -1.0)
            if self.whole_servers and any(index in self.serving for index in uses):
                self._count_whole(number, uses, table)

    def _count_whole(self, number: int, uses: list[int], table: Indices) -> None:
        """Replicas beyond what is held rent whole servers: an instance cannot be rented in part."""
        rented = self.elastic[number]
        whole = self.linear.add_variables(f"{self.problem.pools[number].id} whole", rented.shape, integer=True)
        rows = self.linear.add_rows(rented.size, upper=np.repeat(self.problem.pools[number].owned, self.blocks))
        for index in uses:
            if index in self.serving:
                self.linear.add_entries(rows, self.serving[index].ravel(), self.problem.uses[index].servers)
        if number in self.held:
            self.linear.add_entries(rows.reshape(table.shape), self.held[number][:, np.newaxis], -1.0)
        self.linear.add_entries(rows, whole.ravel(), -1.0)
        paid = self.linear.add_rows(rented.size, upper=0.0)
        self.linear.add_entries(paid, whole.ravel(), 1.0)
        self.linear.add_entries(paid, rented.ravel(), -1.0)

    def _hold_by_month(self) -> None:
        """Servers bought and reserved that stand in each month, by pool: one column instead of all starts in every row."""
        self.held: dict[int, Indices] = {}
        for number, pool in enumerate(self.problem.pools):
            starts = [(self.buys[key], self.months) for key in self.buys if key[0] == number]
            starts += [(self.reserves[key], pool.reservations[key[1]].term) for key in self.reserves if key[0] == number]
            if not starts:
                continue
            self.held[number] = self.linear.add_variables(f"{pool.id} held", (self.months,))
            rows = self.linear.add_rows(self.months, lower=0.0, upper=0.0)
            self.linear.add_entries(rows, self.held[number], -1.0)
            for columns, term in starts:
                start, month = np.nonzero(held_window(self.months, term))
                self.linear.add_entries(rows[month], columns[start], 1.0)

    def _training_need(self, index: int) -> TrainingNeed:
        name = self.problem.uses[index].workload
        return next(need for need in self.problem.needs.training if need.workload.name == name)

    def _demand(self) -> None:
        self.unmet: dict[str, tuple[Indices, Floats]] = {}
        for need in self.problem.needs.serving:
            self._serving_demand(need)
        for need in self.problem.needs.training:
            self._training_demand(need)

    def _uses_of(self, workload: str) -> list[int]:
        return [index for index, use in enumerate(self.problem.uses) if use.workload == workload]

    def _serving_demand(self, need: ServingNeed) -> None:
        name = need.workload.name
        # A rate far below this drowns in the solver's tolerance.
        wanted = np.where(need.rate > 0, np.maximum(need.rate, LEAST_RATE), 0.0)
        total = float((wanted * self.hours).sum())
        rows = self.linear.add_rows(wanted.size, lower=wanted.ravel())
        missing = self.linear.add_variables(f"{name} unmet", wanted.shape, upper=wanted)
        self.linear.add_entries(rows, missing.ravel(), 1.0)
        self.unmet[name] = (missing, self.hours / total if total else np.zeros_like(self.hours))
        uses = self._uses_of(name)
        for index in uses:
            each = self.problem.uses[index].rate / (1 + self.problem.headroom)
            self.linear.add_entries(rows, self.serving[index].ravel(), each)
        for number, use in enumerate(self.problem.hosted):
            if use.workload == name and number in self.hosted:
                self.linear.add_entries(rows, self.hosted[number].ravel(), 1.0)
        if uses:
            self._smallest_deployment(need, uses)
            self._whole_server_cuts(need, wanted, missing)

    def _whole_server_cuts(self, need: ServingNeed, wanted: Floats, missing: Indices) -> None:
        """What counting servers whole implies even where they are counted in parts: the bound is nearer to the answer.

        Servers z of pools with rates a carry a service with what is hosted or missing, y: sum a z + y >= demand. With
        both sides over the rate of one pool, f the fraction of the right side and g those of the coefficients, mixed
        integer rounding gives sum (f floor(a) + min(f, g)) z + y >= f ceil(demand) (Nemhauser and Wolsey, 1990).
        """
        rates = self._server_rates(need)
        hosted = [n for n, use in enumerate(self.problem.hosted) if use.workload == need.workload.name and n in self.hosted]
        for unit in sorted(set(rates.values())):
            right = (wanted / unit).ravel()
            fraction = right - np.floor(right + _SLACK)
            cells = np.flatnonzero(fraction > _LEAST_FRACTION)
            part = fraction[cells]
            rows = self.linear.add_rows(
                cells.size, lower=part * np.ceil(right[cells]) - self._owned_part(rates, unit, cells, part)
            )
            self.linear.add_entries(rows, missing.ravel()[cells], 1.0 / unit)
            for number in hosted:
                self.linear.add_entries(rows, self.hosted[number].ravel()[cells], 1.0 / unit)
            for number, rate in rates.items():
                weight = _rounded(rate / unit, part)
                if number in self.elastic:
                    self.linear.add_entries(rows, self.elastic[number].ravel()[cells], weight)
                if number in self.held:
                    self.linear.add_entries(rows, self.held[number][cells // self.blocks], weight)

    def _server_rates(self, need: ServingNeed) -> dict[int, float]:
        """Requests/s that one whole server of each pool carries at most, headroom taken off."""
        rates: dict[int, float] = {}
        for index in self._uses_of(need.workload.name):
            use = self.problem.uses[index]
            rates[use.pool] = max(rates.get(use.pool, 0.0), use.rate / use.servers / (1 + self.problem.headroom))
        return rates

    def _owned_part(self, rates: Mapping[int, float], unit: float, cells: Indices, part: Floats) -> Floats:
        """What owned servers add to the left side of the cuts, (cells,)."""
        return np.sum(
            [
                _rounded(rate / unit, part) * self.problem.pools[number].owned[cells // self.blocks]
                for number, rate in rates.items()
            ],
            axis=0,
        )

    def _smallest_deployment(self, need: ServingNeed, uses: list[int]) -> None:
        """A service that runs on own or rented capacity in a month holds one replica per zone in every hour of it."""
        runs = self.linear.add_variables(f"{need.workload.name} self-hosted", (self.months,), upper=need.active, integer=True)
        every = np.repeat(runs, self.blocks)
        least = self.linear.add_rows(need.rate.size, lower=0.0)
        most = self.linear.add_rows(need.rate.size, upper=0.0)
        slowest = min(self.problem.uses[index].rate for index in uses) / (1 + self.problem.headroom)
        enough = np.repeat(np.ceil(need.peak / slowest) + need.workload.zones, self.blocks)
        self.linear.add_entries(least, every, -float(need.workload.zones))
        self.linear.add_entries(most, every, -enough)
        for index in uses:
            self.linear.add_entries(least, self.serving[index].ravel(), 1.0)
            self.linear.add_entries(most, self.serving[index].ravel(), 1.0)

    def _training_demand(self, need: TrainingNeed) -> None:
        name, uses = need.workload.name, self._uses_of(need.workload.name)
        wanted = np.array([need.tokens]) if need.monthly is None else need.monthly[need.active]
        groups = [np.flatnonzero(need.active)] if need.monthly is None else [np.array([m]) for m in np.flatnonzero(need.active)]
        rows = self.linear.add_rows(len(groups), lower=1.0)
        missing = self.linear.add_variables(f"{name} unmet", (len(groups),), upper=1.0)
        self.linear.add_entries(rows, missing, 1.0)
        self.unmet[name] = (missing, wanted / wanted.sum())
        for index in uses:
            rate = self.problem.uses[index].rate / (1 + self.problem.headroom)
            for row, members, tokens in zip(rows, groups, wanted, strict=True):
                work = rate * HOUR * self.hours[members] / tokens
                self.linear.add_entries(row, self.training[index][members], work)
            self._gang_rows(index, need)
        if uses:
            one = self.linear.add_rows(1, upper=1.0)
            for index in uses:
                self.linear.add_entries(one, self.chosen[index], 1.0)

    def _gang_rows(self, index: int, need: TrainingNeed) -> None:
        """A gang runs in a block only while it holds its servers there, and holds them only if its mode is chosen."""
        active = np.flatnonzero(need.active)
        share = self._share(need)[active]
        rows = self.linear.add_rows(len(active) * self.blocks, upper=0.0).reshape(len(active), self.blocks)
        self.linear.add_entries(rows, self.training[index][active], 1.0)
        self.linear.add_entries(rows, self.holds[index], -share[:, np.newaxis])
        chosen = self.linear.add_rows(self.blocks, upper=0.0)
        self.linear.add_entries(chosen, self.open[index], 1.0)
        self.linear.add_entries(chosen, self.chosen[index], -1.0)

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
                if number in self.held:
                    self.linear.add_entries(rows, self.held[number], self.problem.pools[number].power)

    def _capital_row(self, budget: float, factor: Indices | None) -> None:
        row = self.linear.add_rows(1, upper=0.0 if factor is not None else budget * _SCALE)
        for columns, amounts in self.capital:
            self.linear.add_entries(row, columns, amounts * _SCALE)
        if factor is not None:
            self.linear.add_entries(row, factor, -budget * _SCALE)

    def _monthly_rows(self, budget: float, factor: Indices | None) -> None:
        limit = np.full(self.months, 0.0 if factor is not None else budget) - self.fixed_running
        # What is owed already is owed under any budget.
        rows = self.linear.add_rows(self.months, upper=(limit if factor is not None else np.maximum(limit, 0.0)) * _SCALE)
        for columns, amounts in self.running:
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
        supply = [*self.elastic.values(), *self.hosted.values()]
        return [columns for columns in supply if 0.0 < self._spent(columns, solution) < least]

    def _spent(self, columns: Indices, solution: Solution) -> float:
        return float(self.linear.costs(columns).ravel() @ solution.of(columns).ravel())

    def hold(self, other: _Model, solution: Solution) -> None:
        """Hold orders and gangs at another model's answer; both models have the same blocks in the same order."""
        for mine, theirs in ((self.buys, other.buys), (self.reserves, other.reserves)):
            for key, columns in mine.items():
                self.linear.fix(columns, np.round(solution.of(theirs[key])))
        for mine, theirs in ((self.open, other.open), (self.holds, other.holds)):
            for index, columns in mine.items():
                self.linear.fix(columns, np.round(solution.of(theirs[index])))
        for index, columns in self.chosen.items():
            self.linear.fix(columns, np.round(solution.of(other.chosen[index])))
        for index, columns in self.training.items():
            self.linear.fix(columns, solution.of(other.training[index]))

    # Reading ----------------------------------------------------------------------------------------------------

    def read(self, solution: Solution) -> Sourced:
        """Values back into arrays, integers rounded to whole numbers."""
        whole: Callable[[Indices], Floats] = lambda columns: np.round(solution.of(columns))  # noqa: E731 - a local name for a rule
        shares = {name: float((solution.of(columns) * weight).sum()) for name, (columns, weight) in self.unmet.items()}
        return Sourced(
            buys={key: whole(columns) for key, columns in self.buys.items()},
            reserves={key: whole(columns) for key, columns in self.reserves.items()},
            elastic={number: solution.of(columns) for number, columns in self.elastic.items()},
            serving={number: solution.of(columns) for number, columns in self.serving.items()},
            training={number: solution.of(columns) for number, columns in self.training.items()},
            open_gangs={number: self._by_month(number, whole(columns)) for number, columns in self.holds.items()},
            hosted={number: solution.of(columns) for number, columns in self.hosted.items()},
            covered=tuple(solution.of(columns).sum(axis=1) for columns in self.covered),
            unmet={name: _share(share) for name, share in shares.items()},
            objective=solution.objective / _SCALE + self.fixed_cost,
            bound=solution.bound / _SCALE + self.fixed_cost,
            stopped=solution.status is SolveStatus.FEASIBLE,
        )

    def _by_month(self, index: int, active: Floats) -> Floats:
        """(active months, blocks) of a training use spread over all months."""
        values = np.zeros((self.months, self.blocks))
        values[self._training_need(index).active] = active
        return values


def _rounded(coefficient: float, fraction: Floats) -> Floats:
    """Coefficient of mixed integer rounding for a right side with the given fractions."""
    whole = np.floor(coefficient + _SLACK)
    return fraction * whole + np.minimum(np.maximum(coefficient - whole, 0.0), fraction)


def _share(value: float) -> float:
    """An unmet share without the solver's tolerance: nothing and everything are exact."""
    return 0.0 if value <= 2 * _SLACK else 1.0 if value >= 1 - 2 * _SLACK else value
