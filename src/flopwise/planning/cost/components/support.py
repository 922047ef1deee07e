"""Hardware and software support of owned and bought servers."""

from __future__ import annotations

import numpy as np

from flopwise.ground.units import MONTHS_PER_YEAR
from flopwise.planning.cost.supply_line import Factors, Floats, Rates, SupplyLine

LABEL = "Support"
CATEGORY = "Compute"
BEARER = "owner"
FORMULA = "servers x price x support rate / 12"
ASSUMED: tuple[str, ...] = ("finance.support_rate",)
PRICED = True


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: held servers x price x yearly rate / 12."""
    if line.kind not in {"owned", "purchase"}:
        return 0.0
    return line.held * (line.unit_price * rates.support_rate / MONTHS_PER_YEAR)


def factors(line: SupplyLine, rates: Rates) -> Factors:
    """Server-years, price and rate."""
    held = np.broadcast_to(line.held, rates.month_hours.shape)
    return {
        "held": (float(np.sum(held)) / MONTHS_PER_YEAR, "server-years"),
        "price": (line.unit_price, "USD"),
        "support a year": (rates.support_rate, "1"),
    }
