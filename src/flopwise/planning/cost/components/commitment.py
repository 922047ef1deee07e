"""Spend commitments already held: the fee, less the on-demand use that it pays for."""

from __future__ import annotations

from flopwise.planning.cost.supply_line import Floats, Rates, SupplyLine

LABEL = "Commitments held"
CATEGORY = "Compute"
BEARER = "provider"
FORMULA = "commitment per hour x hours - on-demand use covered"


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month, as stated by the line."""
    del rates
    return line.usd if line.kind == "commitment" else 0.0
