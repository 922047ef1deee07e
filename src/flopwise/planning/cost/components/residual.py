"""Value of bought servers at the end of the horizon, as a credit in its last month."""

from __future__ import annotations

import numpy as np

from flopwise.ground.units import MONTHS_PER_YEAR
from flopwise.planning.cost.supply_line import Floats, Rates, SupplyLine

LABEL = "Residual value"
CATEGORY = "Compute"
BEARER = "owner"
FORMULA = "- servers arriving x price x residual(age at end of horizon)"


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month (negative), all in the last month; residual interpolated linearly over age in years."""
    if line.kind != "purchase":
        return 0.0
    months = len(rates.month_hours)
    age = (months - np.arange(months)) / MONTHS_PER_YEAR
    known = sorted({0.0: 1.0, **rates.residual}.items())
    share = np.interp(age, [year for year, _ in known], [part for _, part in known])
    last = np.zeros(months)
    last[-1] = 1.0
    return -np.sum(line.arrivals * share, axis=-1, keepdims=True) * line.unit_price * last
