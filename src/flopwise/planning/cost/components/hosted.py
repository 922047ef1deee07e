"""Hosted APIs, paid per token."""

from __future__ import annotations

from flopwise.planning.cost.supply_line import Floats, Rates, SupplyLine

LABEL = "Hosted API"
CATEGORY = "AI and Machine Learning"
BEARER = "provider"
FORMULA = "requests x (input tokens x input price + output tokens x output price)"


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month, as stated by the line."""
    del rates
    return line.usd if line.kind == "hosted" else 0.0
