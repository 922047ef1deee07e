"""Cluster network of bought servers: switches, optics and cables as a share of the server price."""

from __future__ import annotations

import numpy as np

from flopwise.planning.cost.supply_line import Factors, Floats, Rates, SupplyLine

LABEL = "Network"
CATEGORY = "Networking"
BEARER = "owner"
FORMULA = "servers arriving x price per server x network share"
ASSUMED: tuple[str, ...] = ("network.price_share",)
PRICED = True


def charge(line: SupplyLine, rates: Rates) -> Floats | float:
    """USD by month, with the servers; a designed fabric replaces the share where one exists."""
    return line.arrivals * line.unit_price * rates.network_share if line.kind == "purchase" else 0.0


def factors(line: SupplyLine, rates: Rates) -> Factors:
    """Servers, their price, and the share of it that the network costs."""
    servers = float(np.sum(line.arrivals))
    return {"servers": (servers, "servers"), "price": (line.unit_price, "USD"), "network share": (rates.network_share, "1")}
