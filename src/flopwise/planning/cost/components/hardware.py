"""Servers bought: paid in the month of arrival."""

from __future__ import annotations

import numpy as np

from flopwise.planning.cost.supply_line import Factors, Floats, Rates, SupplyLine

LABEL = "Servers bought"
CATEGORY = "Compute"
BEARER = "owner"
FORMULA = "servers arriving x price per server"
ASSUMED: tuple[str, ...] = ()
PRICED = True


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: arrivals x price, for purchases."""
    del rates
    return line.arrivals * line.unit_price if line.kind == "purchase" else 0.0


def factors(line: SupplyLine, rates: Rates) -> Factors:
    """Servers and their price."""
    del rates
    return {"servers": (float(np.sum(line.arrivals)), "servers"), "price": (line.unit_price, "USD")}
