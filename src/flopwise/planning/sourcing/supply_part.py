"""The part of the model that is held: servers that arrive or are reserved, rented by the hour, commitments, their money."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flopwise.domain.calendar import months_between
from flopwise.engines.solve import LinearModel
from flopwise.planning.cost.ledger import CAPITAL, CREDIT, charges, discount_factors, unit_npv
from flopwise.planning.cost.supply_line import SupplyLine
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
#: No single order is larger (servers): keeps the coefficients of minimum orders small.
_LARGEST_ORDER = 20_000.0


class SupplyPart:
    """Columns of supply, with what they cost and when it is paid.

    Attributes:
        buys: servers arriving in each month, by (pool, contract).
        reserves: reservations starting in each month, by (pool, contract).
        elastic: servers rented by the hour, by pool (months, blocks).
        held: servers bought and reserved that stand in each month, by pool.
        covered: USD of on-demand use paid by each commitment (months, blocks).
        capital: columns and what each start pays from the capital budget (starts, months).
        running: columns and what each start pays from the monthly budget (starts, months).
        fixed_running: USD owed in each month under any plan (months,).
        fixed_cost: its net present value (USD).

    Size: contracts x months columns, pools by the hour x months x blocks columns.
    """

    def __init__(self, linear: LinearModel, problem: Problem, allowed: Allowed, *, cost_scale: float) -> None:
        self.linear, self.problem, self.allowed, self.cost_scale = linear, problem, allowed, cost_scale
        self.hours = problem.needs.blocks.hours
        self.months, self.blocks = self.hours.shape
        self.discount = discount_factors(self.months, problem.rates.wacc)
        self.running: list[tuple[Indices, Floats]] = []
        self.capital: list[tuple[Indices, Floats]] = []
        self._add_supply()
        self._hold_by_month()

    def _add_supply(self) -> None:
        self.buys: dict[tuple[int, int], Indices] = {}
        self.reserves: dict[tuple[int, int], Indices] = {}
        self.elastic: dict[int, Indices] = {}
        self.starts: dict[str, list[tuple[Contract, Indices]]] = defaultdict(list)
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
                    line = reserved_line(pool, contract, np.eye(self.months), self.problem.rates)
                    self.reserves[number, index] = self._hold(contract, line)
            if self.allowed.elastic and pool.elastic is not None:
                self.elastic[number] = self._rent(pool, pool.elastic)
        for starts in self.starts.values():
            self._cap(starts)
        self._commitments()

    def _add_fixed(self, line: SupplyLine) -> None:
        cash = np.sum(list(charges(line, self.problem.rates).values()), axis=0)[: self.months]
        self.fixed_running += cash
        self.fixed_cost += float(cash @ self.discount)

    def _hold(self, contract: Contract, line: SupplyLine) -> Indices:
        """Integer servers that start in each month; their cost, capital and running charges."""
        parts = {name: amounts[:, : self.months] for name, amounts in charges(line, self.problem.rates).items()}
        most = np.where(contract.opens(self.months), contract.most, 0.0)
        columns = self.linear.add_variables(
            contract.offer.id, (self.months,), upper=most, cost=unit_npv(line, self.problem.rates) * self.cost_scale, integer=True
        )
        paid_at_once = np.diag(np.sum([parts[name] for name in CAPITAL], axis=0))
        monthly = np.sum([amounts for name, amounts in parts.items() if name not in {*CAPITAL, CREDIT}], axis=0)
        if paid_at_once.any():
            self.capital.append((columns, paid_at_once))
        self.running.append((columns, monthly))
        self.starts[contract.offer.id].append((contract, columns))
        if contract.offer.min_servers > 1:
            self._least_order(contract, columns)
        return columns

    def _cap(self, starts: Sequence[tuple[Contract, Indices]]) -> None:
        """No more servers at once than an offer has, at all sites: of all that were bought, and of what is reserved together."""
        contract = starts[0][0]
        if not np.isfinite(contract.most):
            return
        start, month = np.nonzero(held_window(self.months, contract.term or self.months))
        rows = self.linear.add_rows(self.months, upper=contract.most)
        for _, columns in starts:
            self.linear.add_entries(rows[month], columns[start], 1.0)

    def _least_order(self, contract: Contract, columns: Indices) -> None:
        """Nothing in a month, or at least as many servers as the offer asks for."""
        ordered = self.linear.add_variables(f"{contract.offer.id} ordered", (self.months,), upper=1.0, integer=True)
        least = self.linear.add_rows(self.months, lower=0.0)
        self.linear.add_entries(least, columns, 1.0)
        self.linear.add_entries(least, ordered, -float(contract.offer.min_servers))
        most = self.linear.add_rows(self.months, upper=0.0)
        self.linear.add_entries(most, columns, 1.0)
        self.linear.add_entries(most, ordered, -min(contract.most, _LARGEST_ORDER))

    def _rent(self, pool: Pool, contract: Contract) -> Indices:
        line = elastic_line(pool, contract, np.eye(self.months))
        parts = [amounts[:, : self.months] for amounts in charges(line, self.problem.rates).values()]
        per_hour = unit_npv(line, self.problem.rates)
        open_ = np.where(contract.opens(self.months), contract.most, 0.0)
        columns = self.linear.add_variables(
            f"{pool.id} by the hour", (self.months, self.blocks), upper=open_[:, np.newaxis],
            cost=per_hour[:, np.newaxis] * self.hours * self.cost_scale,
        )  # fmt: skip
        monthly = np.diag(np.sum(parts, axis=0))
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
                cost=-self.discount[:, np.newaxis] * self.cost_scale * np.ones(self.blocks),
            )  # fmt: skip
            for block in range(self.blocks):
                self.running.append((columns[:, block], -np.eye(self.months)))
            self.covered.append(columns)
        for channel in {commitment.channel for commitment in self.problem.commitments}:
            self._cover_once(channel)

    def _cover_once(self, channel: str) -> None:
        """All commitments of a channel together pay for no more than what is rented there on demand."""
        rows = self.linear.add_rows(self.hours.size, upper=0.0)
        for commitment, columns in zip(self.problem.commitments, self.covered, strict=True):
            if commitment.channel == channel:
                self.linear.add_entries(rows, columns.ravel(), 1.0)
        for number, rented in self.elastic.items():
            pool = self.problem.pools[number]
            if pool.channel == channel and not pool.spot and pool.elastic is not None:
                self.linear.add_entries(rows, rented.ravel(), -(pool.elastic.usd * self.hours).ravel())

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
