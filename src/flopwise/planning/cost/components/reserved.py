"""Reserved capacity: paid for the whole term, used or not: a part when it starts, the rest by the hour.

A term that outlasts the horizon is paid in full.
"""

from __future__ import annotations

import numpy as np

from flopwise.planning.cost.supply_line import Factors, Floats, Rates, SupplyLine

LABEL = "Reserved capacity"
CATEGORY = "Compute"
BEARER = "provider"
FORMULA = "upfront part at the start + (servers reserved x hours + hours owed after the horizon) x price x the rest"
ASSUMED: tuple[str, ...] = ()
PRICED = True


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month; hours owed after the horizon fall in its last month."""
    if line.kind != "reserved":
        return 0.0
    last = np.zeros(len(rates.month_hours))
    last[-1] = 1.0
    tail = np.asarray(line.tail_hours)[..., np.newaxis] * last
    at_start = line.arrivals * line.term_hours * line.upfront
    return (at_start + (line.held * rates.month_hours + tail) * (1 - line.upfront)) * line.unit_price


def factors(line: SupplyLine, rates: Rates) -> Factors:
    """Hours of the whole terms and their price."""
    early = float(np.sum(line.arrivals)) * line.term_hours
    hourly = float(np.sum(line.held * rates.month_hours)) + float(np.sum(line.tail_hours))
    hours = early * line.upfront + hourly * (1 - line.upfront)
    return {"terms": (hours, "server-hours"), "price": (line.unit_price, "USD/h")}
