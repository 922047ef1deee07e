"""Counts of a non-blocking rail-optimised Clos network."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Clos:
    """Switches by tier and cables. ``links`` join servers to leaves, ``trunks`` join switches."""

    leaves: int
    spines: int
    cores: int
    links: int
    trunks: int

    @property
    def switches(self) -> int:
        """Switches of all tiers."""
        return self.leaves + self.spines + self.cores

    @property
    def tiers(self) -> int:
        """Tiers of switches."""
        return 3 if self.cores else 2 if self.spines else 1 if self.leaves else 0


def clos(servers: int, rails: int, radix: int) -> Clos:
    """A network in which every rail (the n-th NIC of each server) has its own leaves, without oversubscription.

    One tier while all ports fit into one switch; two tiers while a spine reaches every leaf with at least one
    port; three tiers beyond. Two tiers: leaf ports down = radix / 2, spines = ceil(uplinks / radix). Three
    tiers: pods of (radix / 2)^2 ports, cores = half as many ports up again.

    Args:
        servers: servers that are joined.
        rails: NICs per server on this network.
        radix: ports per switch.

    >>> clos(servers=32, rails=8, radix=64)
    Clos(leaves=8, spines=4, cores=0, links=256, trunks=256)
    """
    links = servers * rails
    if links == 0 or servers <= 1:
        return Clos(leaves=0, spines=0, cores=0, links=0, trunks=0)
    if links <= radix:
        return Clos(leaves=1, spines=0, cores=0, links=links, trunks=0)
    down = radix // 2
    leaves = rails * math.ceil(servers / down)
    uplinks = leaves * down
    spines = math.ceil(uplinks / radix)
    if leaves <= radix:
        return Clos(leaves=leaves, spines=spines, cores=0, links=links, trunks=uplinks)
    spines = math.ceil(uplinks / down)
    return Clos(leaves=leaves, spines=spines, cores=math.ceil(uplinks / radix), links=links, trunks=2 * uplinks)
