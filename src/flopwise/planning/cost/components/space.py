"""Colocation of servers on own sites, charged on the IT power that is installed."""

from __future__ import annotations

from flopwise.planning.cost.supply_line import Floats, Rates, SupplyLine

LABEL = "Space"
CATEGORY = "Compute"
BEARER = "owner"
FORMULA = "servers x maximum power x (1 + network overhead) x rent per watt and month"


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: held servers x maximum power x colocation rent."""
    if line.site is None:
        return 0.0
    return line.held * (line.power * (1 + rates.power_overhead) * line.site.colocation)
