"""Engineers who run the fleet, bought or rented alike."""

from __future__ import annotations

import numpy as np

from flopwise.ground.units import MONTHS_PER_YEAR
from flopwise.planning.cost.supply_line import Factors, Floats, Rates, SupplyLine

LABEL = "Staff"
CATEGORY = "Other"
BEARER = "owner"
FORMULA = "accelerators held / accelerators per engineer x loaded cost / 12"
ASSUMED: tuple[str, ...] = ("finance.staff_cost", "finance.accelerators_per_engineer")
PRICED = False


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: mean accelerators held over accelerators per engineer, times the yearly cost / 12."""
    accelerators = (line.held + line.server_hours / rates.month_hours) * line.accelerators
    return accelerators * (rates.staff_cost / rates.accelerators_per_engineer / MONTHS_PER_YEAR)


def factors(line: SupplyLine, rates: Rates) -> Factors:
    """Accelerator-months, accelerators for each engineer, and what an engineer costs in a month."""
    held = np.broadcast_to(line.held + line.server_hours / rates.month_hours, rates.month_hours.shape)
    return {
        "accelerators": (float(np.sum(held)) * line.accelerators, "accelerator-months"),
        "engineers for each": (1 / rates.accelerators_per_engineer, ""),
        "cost of one a month": (rates.staff_cost / MONTHS_PER_YEAR, "USD"),
    }
