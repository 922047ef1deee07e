"""Interruptible capacity rented by the hour; lost work is in the hours, not in the price."""

from __future__ import annotations

from flopwise.planning.cost.supply_line import Floats, Rates, SupplyLine

LABEL = "Spot"
CATEGORY = "Compute"
BEARER = "provider"
FORMULA = "server-hours (lost work included) x price per server-hour"


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: server-hours x price."""
    del rates
    return line.server_hours * line.unit_price if line.kind == "spot" else 0.0
