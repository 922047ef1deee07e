"""Reserved capacity: paid every hour of the term, used or not; a term that outlasts the horizon is paid in full."""

from __future__ import annotations

import numpy as np

from flopwise.planning.cost.supply_line import Floats, Rates, SupplyLine

LABEL = "Reserved capacity"
CATEGORY = "Compute"
BEARER = "provider"
FORMULA = "(servers reserved x hours + hours owed after the horizon) x price per server-hour"


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month; hours owed after the horizon fall in its last month."""
    if line.kind != "reserved":
        return 0.0
    last = np.zeros(len(rates.month_hours))
    last[-1] = 1.0
    tail = np.asarray(line.tail_hours)[..., np.newaxis] * last
    return (line.held * rates.month_hours + tail) * line.unit_price
