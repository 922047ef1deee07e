"""The ledger: every component applied to every line, by month, and its net present value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from flopwise.ground import registry
from flopwise.ground.units import MONTHS_PER_YEAR
from flopwise.planning.cost.supply_line import Rates, SupplyLine

Floats = NDArray[np.float64]
_PACKAGE = "flopwise.planning.cost.components"
#: Components that the capital budget pays; all others but the credit run against the monthly budget.
CAPITAL = ("hardware", "network", "storage")
CREDIT = "residual"


@cache
def components() -> dict[str, ModuleType]:
    """All cost components by name."""
    return {name: registry.load(_PACKAGE, "cost_component", name) for name in registry.names(_PACKAGE, "cost_component")}


def charges(line: SupplyLine, rates: Rates) -> dict[str, Floats]:
    """USD by component and month for one line; each value is (..., months of the horizon and those after it).

    A component charges the horizon in ``charge`` and, where something falls due after it, that in ``later``.

    Complexity: components x months.
    """
    batch = np.broadcast_shapes(
        np.shape(line.arrivals), np.shape(line.held), np.shape(line.server_hours), np.shape(line.requests), (rates.months,)
    )[:-1]
    cash: dict[str, Floats] = {}
    for name, part in components().items():
        amounts = np.zeros((*batch, rates.ledger_months))
        amounts[..., : rates.months] = part.charge(line, rates)
        if hasattr(part, "later"):
            amounts[..., rates.months :] = part.later(line, rates)
        cash[name] = amounts
    return cash


def discount_factors(months: int, wacc: float) -> Floats:
    """Present value of 1 USD at the beginning of each month: (1 + wacc)^(-month/12)."""
    return (1 + wacc) ** (-np.arange(months) / MONTHS_PER_YEAR)


def unit_npv(line: SupplyLine, rates: Rates) -> Floats:
    """Net present cost of each decision of a batch, shape (batch,): what the optimiser minimises."""
    total = sum(charges(line, rates).values())
    return np.asarray(total @ discount_factors(rates.ledger_months, rates.wacc))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Cash by component and month, those after the horizon included; ``months`` lie within it."""

    cash: dict[str, Floats]
    discount: Floats
    months: int

    @property
    def total(self) -> float:
        """Undiscounted sum."""
        return float(sum(amounts.sum() for amounts in self.cash.values()))

    @property
    def running(self) -> Floats:
        """What each month of the horizon costs beside purchases, (months,)."""
        monthly = [amounts for name, amounts in self.cash.items() if name not in {*CAPITAL, CREDIT}]
        return np.sum(monthly, axis=0)[: self.months]

    @property
    def owed_later(self) -> float:
        """What falls due after the horizon, the sale of what is left not counted (USD)."""
        return float(sum(amounts[self.months :].sum() for name, amounts in self.cash.items() if name != CREDIT))

    @property
    def npv(self) -> float:
        """Net present value of all charges."""
        return float(sum(amounts @ self.discount for amounts in self.cash.values()))


def make_ledger(lines: Sequence[SupplyLine], rates: Rates) -> Ledger:
    """Sum the charges of all lines of a plan.

    Complexity: lines x components x months.
    """
    cash = {name: np.zeros(rates.ledger_months) for name in components()}
    for line in lines:
        for name, amounts in charges(line, rates).items():
            cash[name] = cash[name] + amounts
    return Ledger(cash=cash, discount=discount_factors(rates.ledger_months, rates.wacc), months=rates.months)
