"""Shared storage bought beside bought servers."""

from __future__ import annotations

import numpy as np

from flopwise.planning.cost.supply_line import Factors, Floats, Rates, SupplyLine

LABEL = "Storage"
CATEGORY = "Storage"
BEARER = "owner"
FORMULA = "accelerators arriving x bytes per accelerator x price per byte"
ASSUMED: tuple[str, ...] = ("storage.bytes_per_accelerator", "storage.price_per_byte")
PRICED = False


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: arrivals x accelerators x storage per accelerator (USD)."""
    return line.arrivals * (line.accelerators * rates.storage) if line.kind == "purchase" else 0.0


def factors(line: SupplyLine, rates: Rates) -> Factors:
    """Accelerators and the storage beside each."""
    accelerators = float(np.sum(line.arrivals)) * line.accelerators
    return {"accelerators": (accelerators, "accelerators"), "storage for each": (rates.storage, "USD")}
