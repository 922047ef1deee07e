"""Risk: how much a plan leans on one name."""

from flopwise.planning.risk.concentration import concentration

__all__ = ["concentration"]
