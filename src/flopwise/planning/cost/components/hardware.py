"""Servers bought: paid in the month of arrival."""

from __future__ import annotations

from flopwise.planning.cost.supply_line import Floats, Rates, SupplyLine

LABEL = "Servers bought"
CATEGORY = "Compute"
BEARER = "owner"
FORMULA = "servers arriving x price per server"


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: arrivals x price, for purchases."""
    del rates
    return line.arrivals * line.unit_price if line.kind == "purchase" else 0.0
