"""Accelerators, the servers that carry them, and switches. Peaks are dense; link rates are per direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flopwise.domain.provenance import Fact

#: Bytes of one weight or activation element by precision name. ``mxfp8``/``nvfp4`` carry block scales.
PRECISION_BYTES: Mapping[str, float] = {
    "fp32": 4.0, "tf32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "mxfp8": 1.03125, "int8": 1.0,
    "fp4": 0.5, "nvfp4": 0.5625, "int4": 0.5,
}  # fmt: skip


#: More accelerators than any server or rack holds.
MOST_PER_SERVER = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRule:
    """A restriction of delivery to a region, from a date on (ISO), until another or for good."""

    region: str
    since: str
    until: str | None = None
    rule: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """One accelerator as the catalogue states it.

    ``peak`` maps a precision to the dense peak (FLOP/s); ``achievable`` maps a precision to the best
    measured fraction of that peak. ``scale_up_bandwidth`` is per direction and per accelerator (B/s).
    """

    id: str
    name: str
    vendor: str
    architecture: str
    aliases: tuple[str, ...] = ()
    released: str
    status: str = "released"
    memory: Fact
    memory_bandwidth: Fact
    peak: Mapping[str, Fact]
    achievable: Mapping[str, Fact] = field(default_factory=dict[str, Fact])
    scale_up_bandwidth: Fact | None = None
    scale_up_domain: int = 1
    power: Fact | None = None
    export: tuple[ExportRule, ...] = ()
    notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A whole unit that is bought: a node, or a rack-scale system.

    ``network_bandwidth`` is the scale-out rate per accelerator and direction (B/s), 0 where the server
    has no cluster network; ``power`` is the maximum IT power (W).
    """

    id: str
    name: str
    vendor: str
    accelerator: str
    accelerators: int
    aliases: tuple[str, ...] = ()
    network_bandwidth: Fact
    nics: int
    memory: Fact
    power: Fact
    rack_units: float
    weight: Fact | None = None
    cooling: str
    released: str
    price: Fact | None = None
    price_currency: str = "USD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A switch: ``radix`` ports of ``port_rate`` (B/s per direction)."""

    id: str
    name: str
    vendor: str
    technology: str
    radix: int
    port_rate: Fact
    power: Fact
    rack_units: float
    price: Fact | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """What ``perf`` needs of a place to run: an accelerator, how many stand in one server, and the network between servers.

    Offers with the same accelerator, server size and network share one platform, so their modes are computed once.
    ``network_bandwidth`` is per accelerator and direction (B/s); 0 means no cluster network.
    """

    id: str
    accelerator: Accelerator
    accelerators: int
    network_bandwidth: float

    @property
    def scale_up_domain(self) -> int:
        """Accelerators that reach each other at scale-up rate: the smaller of the link domain and the server."""
        return min(self.accelerator.scale_up_domain, self.accelerators)
