"""Hosted APIs, paid per token."""

from __future__ import annotations

import numpy as np

from flopwise.planning.cost.supply_line import Factors, Floats, Rates, SupplyLine

LABEL = "Hosted API"
CATEGORY = "AI and Machine Learning"
BEARER = "provider"
FORMULA = "requests x (input tokens x input price + output tokens x output price)"
ASSUMED: tuple[str, ...] = ()
PRICED = True


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: requests x price of a mean request."""
    del rates
    return line.requests * line.unit_price if line.kind == "hosted" else 0.0


def factors(line: SupplyLine, rates: Rates) -> Factors:
    """Requests and the price of a mean one."""
    del rates
    return {"requests": (float(np.sum(line.requests)), "requests"), "price of a mean request": (line.unit_price, "USD")}
