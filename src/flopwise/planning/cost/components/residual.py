"""Value of bought servers at the end of the horizon, as a credit in the first month after it."""

from __future__ import annotations

import numpy as np

from flopwise.ground.units import MONTHS_PER_YEAR
from flopwise.planning.cost.supply_line import Factors, Floats, Rates, SupplyLine

LABEL = "Residual value"
CATEGORY = "Compute"
BEARER = "owner"
FORMULA = "- servers arriving x price x residual(age at end of horizon)"
ASSUMED: tuple[str, ...] = ("finance.residual.*",)
PRICED = True


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """Nothing within the horizon."""
    del line, rates
    return 0.0


def later(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month after the horizon (negative), all in the first; residual interpolated linearly over age in years."""
    if line.kind != "purchase":
        return 0.0
    first = np.zeros(len(rates.later_hours))
    first[0] = 1.0
    return -np.sum(line.arrivals * _share(rates), axis=-1, keepdims=True) * line.unit_price * first


def factors(line: SupplyLine, rates: Rates) -> Factors:
    """Servers, their price, and the mean share of it that comes back."""
    servers = float(np.sum(line.arrivals))
    back = -float(np.sum(line.arrivals * _share(rates))) / servers
    return {"servers": (servers, "servers"), "price": (line.unit_price, "USD"), "credited": (back, "1")}


def _share(rates: Rates) -> Floats:
    """Share of the price that comes back at the end of the horizon, by month of arrival (months,)."""
    months = rates.months
    return share_left(rates, (months - np.arange(months)) / MONTHS_PER_YEAR)


def share_left(rates: Rates, age: Floats | float) -> Floats:
    """Share of its price that a server of some age (years) still fetches."""
    known = sorted({0.0: 1.0, **rates.residual}.items())
    return np.asarray(np.interp(age, [year for year, _ in known], [part for _, part in known]))
