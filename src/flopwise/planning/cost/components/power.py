"""Electricity of servers on own sites, cooling included through PUE."""

from __future__ import annotations

from flopwise.ground.units import HOUR
from flopwise.planning.cost.supply_line import Floats, Rates, SupplyLine

LABEL = "Power and cooling"
CATEGORY = "Compute"
BEARER = "owner"
FORMULA = "servers x maximum power x mean share x (1 + network overhead) x PUE x hours x price"


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: held servers x mean power x PUE x hours x electricity (USD/J)."""
    if line.site is None:
        return 0.0
    joules = line.power * rates.mean_power_share * (1 + rates.power_overhead) * line.site.pue * rates.month_hours * HOUR
    return line.held * (joules * line.site.electricity)
