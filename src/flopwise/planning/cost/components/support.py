"""Hardware and software support of owned and bought servers."""

from __future__ import annotations

from flopwise.ground.units import MONTHS_PER_YEAR
from flopwise.planning.cost.supply_line import Floats, Rates, SupplyLine

LABEL = "Support"
CATEGORY = "Compute"
BEARER = "owner"
FORMULA = "servers x price x support rate / 12"


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month: held servers x price x yearly rate / 12."""
    if line.kind not in {"owned", "purchase"}:
        return 0.0
    return line.held * (line.unit_price * rates.support_rate / MONTHS_PER_YEAR)
