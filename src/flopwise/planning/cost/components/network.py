"""Cluster network of bought servers: switches, optics and cables as a share of the server price."""

from __future__ import annotations

from flopwise.planning.cost.supply_line import Floats, Rates, SupplyLine

LABEL = "Network"
CATEGORY = "Networking"
BEARER = "owner"
FORMULA = "servers arriving x price per server x network share"


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month, with the servers; a designed fabric replaces the share where one exists."""
    return line.arrivals * line.unit_price * rates.network_share if line.kind == "purchase" else 0.0
