"""Where servers stand: power, space, electricity."""

from __future__ import annotations

from dataclasses import dataclass

from flopwise.domain.provenance import Fact

#: Name of no region in particular, and the region whose facility facts hold there.
ANY_REGION, DEFAULT_REGION = "any", "us"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A place for bought servers.

    ``power`` is the IT power that the site can feed (W); ``electricity`` in USD/J, ``colocation`` in USD
    per W and month of installed IT power, 0 where space is owned; ``available`` is an ISO month.
    """

    name: str
    electricity: Fact
    pue: Fact
    power: float | None
    colocation: Fact
    cooling: str
    available: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Facility parameters of a region, as shipped: electricity (USD/J), PUE, colocation (USD/W/month)."""

    id: str
    name: str
    electricity: Fact
    pue: Fact
    colocation: Fact
