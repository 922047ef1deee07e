"""Interruptible capacity rented by the hour; lost work is in the hours, not in the price."""

from __future__ import annotations

import numpy as np

from flopwise.planning.cost.supply_line import Factors, Floats, Rates, SupplyLine

LABEL = "Spot"
CATEGORY = "Compute"
BEARER = "provider"
FORMULA = "server-hours (lost work included) x price per server-hour"
ASSUMED: tuple[str, ...] = ()
PRICED = True


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: server-hours x price."""
    del rates
    return line.server_hours * line.unit_price if line.kind == "spot" else 0.0


def factors(line: SupplyLine, rates: Rates) -> Factors:
    """Hours and their price."""
    del rates
    return {"rented": (float(np.sum(line.server_hours)), "server-hours"), "price": (line.unit_price, "USD/h")}
