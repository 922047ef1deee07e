"""Market: which offers a scenario may use, at what price in USD, how old, and what is not covered."""

from flopwise.planning.market.selection import Market, PricedOffer, select

__all__ = ["Market", "PricedOffer", "select"]
