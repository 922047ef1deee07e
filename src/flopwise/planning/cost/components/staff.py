"""Engineers who run the fleet, bought or rented alike."""

from __future__ import annotations

from flopwise.ground.units import MONTHS_PER_YEAR
from flopwise.planning.cost.supply_line import Floats, Rates, SupplyLine

LABEL = "Staff"
CATEGORY = "Other"
BEARER = "owner"
FORMULA = "accelerators held / accelerators per engineer x loaded cost / 12"


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: mean accelerators held over accelerators per engineer, times the yearly cost / 12."""
    accelerators = (line.held + line.server_hours / rates.month_hours) * line.accelerators
    return accelerators * (rates.staff_cost / rates.accelerators_per_engineer / MONTHS_PER_YEAR)
