"""Colocation of servers on own sites, charged on the IT power that is installed."""

from __future__ import annotations

import numpy as np

from flopwise.ground.units import KILO
from flopwise.planning.cost.supply_line import Factors, Floats, Rates, SupplyLine

LABEL = "Space"
CATEGORY = "Compute"
BEARER = "owner"
FORMULA = "servers x maximum power x (1 + network overhead) x rent per watt and month"
ASSUMED: tuple[str, ...] = ("facility.power_overhead", "supply.sites.*.colocation")
PRICED = False


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: held servers x maximum power x colocation rent."""
    if line.site is None:
        return 0.0
    return line.held * (line.power * (1 + rates.power_overhead) * line.site.colocation)


def factors(line: SupplyLine, rates: Rates) -> Factors:
    """Server-months, power and rent."""
    assert line.site is not None  # noqa: S101 - asked only of lines that are charged
    held = np.broadcast_to(line.held, rates.month_hours.shape)
    return {
        "held": (float(np.sum(held)), "server-months"),
        "maximum power": (line.power / KILO, "kW"),
        "1 + network overhead": (1 + rates.power_overhead, ""),
        "rent": (line.site.colocation * KILO, "USD/kW/month"),
    }
