"""Reserved capacity: paid for the whole term, used or not: a part when it starts, the rest by the hour.

A term that outlasts the horizon is owed in full, in the months after it.
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
    """USD by month of the horizon."""
    if line.kind != "reserved":
        return 0.0
    at_start = line.arrivals * line.term_hours * line.upfront
    return (at_start + line.held * rates.month_hours * (1 - line.upfront)) * line.unit_price


def later(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month after the horizon: what is left of the terms."""
    del rates
    return line.later_hours * ((1 - line.upfront) * line.unit_price) if line.kind == "reserved" else 0.0


def factors(line: SupplyLine, rates: Rates) -> Factors:
    """Hours of the whole terms and their price."""
    early = float(np.sum(line.arrivals * line.term_hours))
    hourly = float(np.sum(line.held * rates.month_hours)) + float(np.sum(line.later_hours))
    hours = early * line.upfront + hourly * (1 - line.upfront)
    return {"terms": (hours, "server-hours"), "price": (line.unit_price, "USD/h")}
