"""Shared storage bought beside bought servers."""

from __future__ import annotations

from flopwise.planning.cost.supply_line import Floats, Rates, SupplyLine

LABEL = "Storage"
CATEGORY = "Storage"
BEARER = "owner"
FORMULA = "accelerators arriving x bytes per accelerator x price per byte"


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: arrivals x accelerators x storage per accelerator (USD)."""
    return line.arrivals * (line.accelerators * rates.storage) if line.kind == "purchase" else 0.0
