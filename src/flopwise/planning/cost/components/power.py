"""Electricity of servers on own sites, cooling included through PUE."""

from __future__ import annotations

import numpy as np

from flopwise.ground.units import HOUR, KILO
from flopwise.planning.cost.supply_line import Factors, Floats, Rates, SupplyLine

LABEL = "Power and cooling"
CATEGORY = "Compute"
BEARER = "owner"
FORMULA = "servers x maximum power x mean share x (1 + network overhead) x PUE x hours x price"
ASSUMED: tuple[str, ...] = (
    "server.mean_power_share",
    "facility.power_overhead",
    "supply.sites.*.electricity",
    "supply.sites.*.pue",
)
PRICED = False


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: held servers x mean power x PUE x hours x electricity (USD/J)."""
    if line.site is None:
        return 0.0
    joules = line.power * rates.mean_power_share * (1 + rates.power_overhead) * line.site.pue * rates.month_hours * HOUR
    return line.held * (joules * line.site.electricity)


def factors(line: SupplyLine, rates: Rates) -> Factors:
    """Server-hours, power and price of electricity."""
    assert line.site is not None  # noqa: S101 - asked only of lines that are charged
    return {
        "held": (float(np.sum(line.held * rates.month_hours)), "server-hours"),
        "maximum power": (line.power / KILO, "kW"),
        "mean share": (rates.mean_power_share, "1"),
        "1 + network overhead": (1 + rates.power_overhead, ""),
        "PUE": (line.site.pue, ""),
        "electricity": (line.site.electricity * KILO * HOUR, "USD/kWh"),
    }
