"""Spend commitments already held: the fee, less the on-demand use that it pays for."""

from __future__ import annotations

import numpy as np

from flopwise.planning.cost.supply_line import Factors, Floats, Rates, SupplyLine

LABEL = "Commitments held"
CATEGORY = "Compute"
BEARER = "provider"
FORMULA = "commitment per hour x hours - on-demand use covered"
ASSUMED: tuple[str, ...] = ()
PRICED = False


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month, as stated by the line."""
    del rates
    return line.usd if line.kind == "commitment" else 0.0


def factors(line: SupplyLine, rates: Rates) -> Factors:
    """What no use covers."""
    del rates
    return {"fee less the use that it covers": (float(np.sum(line.usd)), "USD")}
