"""Bill of materials of the servers bought for each site: servers, switches, cables, storage, racks.

The network is counted as one non-blocking rail-optimised Clos per kind of server and site, with the cheapest listed
switch per port that is fast enough. The ledger charges the network by its share of the server price; what the counted
items leave of that share stands for cables, optics and installation, so that the bill sums to what is charged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from flopwise.catalog import Catalogue
from flopwise.domain.hardware import Server, Switch
from flopwise.domain.plan import BillItem
from flopwise.ground.units import BITS_PER_BYTE, PETA, show
from flopwise.planning.fabric.clos import Clos, clos

#: Usable units of a rack, the rest being power and cabling.
RACK_UNITS = 42


def bill_of_materials(
    bought: Mapping[tuple[str, str], tuple[int, float]], catalogue: Catalogue, network_share: float
) -> tuple[BillItem, ...]:
    """Items by site.

    Args:
        bought: (site, server id) to servers bought in all, and what they cost together (USD).
        catalogue: servers and switches.
        network_share: of the server price, what the ledger charges for the network.

    Complexity: kinds of server times switches.
    """
    items: list[BillItem] = []
    for (site, name), (count, amount) in sorted(bought.items()):
        server = catalogue.server(name)
        items.append(
            BillItem(
                site=site,
                item=server.id,
                description=f"{server.name}, {server.accelerators} accelerators",
                count=count,
                unit_price=amount / count,
                amount=amount,
                power=server.power.value * count,
                rack_units=server.rack_units * count,
                source=server.power.source,
            )
        )
        network = _network(site, server, count, catalogue)
        items.extend(network)
        items.append(_network_rest(site, server, amount * network_share, network))
        items.append(_storage(site, server, count, catalogue))
        items.append(_racks(site, server, count))
    return tuple(items)


def _network(site: str, server: Server, count: int, catalogue: Catalogue) -> list[BillItem]:
    if server.nics == 0 or server.network_bandwidth.value <= 0 or count <= 1:
        return []
    rate = server.network_bandwidth.value * server.accelerators / server.nics
    switch = _switch(rate, catalogue)
    if switch is None:
        return []
    split = max(1, int(switch.port_rate.value // rate))
    fabric = clos(count, server.nics, switch.radix * split)
    tiers = f"{fabric.leaves} leaf, {fabric.spines} spine, {fabric.cores} core"
    ports = f"{switch.radix} ports of {show(switch.port_rate.value * BITS_PER_BYTE, 'bit/s')}"
    price = switch.price.value if switch.price else None
    return [
        BillItem(
            site=site,
            item=switch.id,
            description=f"{switch.name}: {tiers}; {ports}, non-blocking, one rail per NIC",
            count=fabric.switches,
            unit_price=price,
            amount=price * fabric.switches if price else None,
            power=switch.power.value * fabric.switches,
            rack_units=switch.rack_units * fabric.switches,
            source=switch.port_rate.source,
        ),
        _cables(site, server, fabric),
    ]


def _network_rest(site: str, server: Server, charged: float, counted: Sequence[BillItem]) -> BillItem:
    """What the counted items leave of the share that is charged; less than nothing where they cost more."""
    listed = sum(item.amount or 0.0 for item in counted)
    over = "; the listed switches cost more than this share" if listed > charged else ""
    return BillItem(
        site=site,
        item="network, rest",
        description=f"optics, cables and installation for {server.id}: {show(charged, 'USD')} less what is listed{over}",
        count=1,
        unit_price=None,
        amount=charged - listed,
        power=0.0,
        rack_units=0.0,
        source="share of the server price (network.price_share)",
    )


def _switch(rate: float, catalogue: Catalogue) -> Switch | None:
    """The listed switch with the least price per port-rate among those whose ports are fast enough; unpriced ones last."""
    fast = [switch for switch in catalogue.switches.values() if switch.port_rate.value >= rate * 0.999]
    return min(fast, key=_price_per_rate, default=None)


def _price_per_rate(switch: Switch) -> tuple[bool, float, str]:
    price = switch.price.value if switch.price else 0.0
    return (switch.price is None, price / (switch.radix * switch.port_rate.value), switch.id)


def _cables(site: str, server: Server, fabric: Clos) -> BillItem:
    return BillItem(
        site=site,
        item="cables",
        description=f"{server.id}: {fabric.links} to servers, {fabric.trunks} between switches",
        count=fabric.links + fabric.trunks,
        unit_price=None,
        amount=None,
        power=0.0,
        rack_units=0.0,
        source="counted from the network",
    )


def _storage(site: str, server: Server, count: int, catalogue: Catalogue) -> BillItem:
    each = catalogue.parameters["storage.bytes_per_accelerator"]
    price = catalogue.parameters["storage.price_per_byte"]
    size = each.value * server.accelerators * count
    return BillItem(
        site=site,
        item="shared storage",
        description=f"{show(size, 'B')} for {server.id}",
        count=max(1, math.ceil(size / PETA)),
        unit_price=None,
        amount=size * price.value,
        power=0.0,
        rack_units=0.0,
        source=price.source,
    )


def _racks(site: str, server: Server, count: int) -> BillItem:
    per_rack = max(1, int(RACK_UNITS // server.rack_units))
    return BillItem(
        site=site,
        item="racks",
        description=f"{per_rack} x {server.id} each, at {show(server.power.value * per_rack, 'W')}",
        count=math.ceil(count / per_rack),
        unit_price=None,
        amount=None,
        power=0.0,
        rack_units=0.0,
        source="counted from rack units",
    )
