"""Capacity rented by the hour."""

from __future__ import annotations

from flopwise.planning.cost.supply_line import Floats, Rates, SupplyLine

LABEL = "On demand"
CATEGORY = "Compute"
BEARER = "provider"
FORMULA = "server-hours x price per server-hour"


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: server-hours x price."""
    del rates
    return line.server_hours * line.unit_price if line.kind == "on-demand" else 0.0
