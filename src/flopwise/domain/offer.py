"""Offers: what can be bought or rented, from whom, for how much, since when."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from flopwise.domain.provenance import Confidence


class OfferKind(StrEnum):
    """Kinds of contract."""

    PURCHASE = "purchase"
    LEASE = "lease"
    RESERVED = "reserved"
    ON_DEMAND = "on-demand"
    SPOT = "spot"
    CAPACITY_BLOCK = "capacity-block"
    HOSTED = "hosted"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadTime:
    """Weeks from order to use, as quantiles."""

    p50_weeks: float
    p90_weeks: float
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """An amount with its currency, per-what and date. ``low``/``high`` state a range.

    ``per`` is one of ``server`` (purchase), ``server-hour`` (rented kinds), ``1M input tokens`` ...
    """

    amount: float
    currency: str
    per: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrice:
    """Hosted API prices in ``currency`` per million tokens."""

    input: float
    output: float
    cached_input: float | None
    currency: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One dated offer of one channel.

    ``server`` names a catalogue server (purchases) or the channel's instance type. A gang larger than
    ``accelerators`` needs ``network_bandwidth`` > 0 (B/s per accelerator and direction): without a cluster
    network there is no multi-node training. ``max_servers`` caps what can be held at once;
    ``interruptions_per_hour`` of one spot server is ``None`` where it is not stated.
    """

    id: str
    channel: str
    vendor: str
    kind: OfferKind
    region: str
    as_of: str
    source: str
    confidence: Confidence
    server: str = ""
    accelerator: str = ""
    accelerators: int = 0
    network_bandwidth: float = 0.0
    price: Price | None = None
    tokens: TokenPrice | None = None
    term_months: int = 0
    upfront_share: float = 0.0
    max_servers: int | None = None
    min_servers: int = 0
    lead_time: LeadTime | None = None
    interruptions_per_hour: float | None = None
    user_quote: bool = False
    note: str = ""

    @property
    def instance(self) -> str:
        """What one server of the offer is called: its name, or its size where it has none."""
        return self.server or (f"{self.accelerators}x{self.accelerator}" if self.accelerator else "")
