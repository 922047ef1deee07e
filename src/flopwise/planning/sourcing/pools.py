"""Pools: places where one kind of server can be held, and the contracts that fill them.

A pool is one kind of server at one own site, or one instance type of one channel in one region. Spot capacity is a
pool of its own, because work on it may vanish; so is every further price by the hour for more servers than the
cheaper ones allow. All contracts of a pool serve the same work.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import count

import numpy as np
from numpy.typing import NDArray

from flopwise.catalog import Catalogue
from flopwise.domain.calendar import first_whole_month, months_between
from flopwise.domain.hardware import Accelerator, Platform, Server
from flopwise.domain.offer import Offer, OfferKind
from flopwise.domain.scenario import Scenario
from flopwise.domain.site import Site
from flopwise.ground.errors import MissingPriceError, UnknownNameError
from flopwise.ground.money import to_usd
from flopwise.ground.units import BITS_PER_BYTE, GIGA, HOUR
from flopwise.planning.market import Market, PricedOffer

Floats = NDArray[np.float64]
#: Kinds held for a term at the provider's place, and paid used or not.
_FIXED = frozenset({OfferKind.RESERVED, OfferKind.CAPACITY_BLOCK, OfferKind.LEASE})
_RENTED = _FIXED | {OfferKind.ON_DEMAND, OfferKind.SPOT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One way to fill a pool.

    ``first`` is the first month (offset) in which servers can arrive, ``barred`` the months in which an export rule
    lets none, ``lead_weeks`` the 90th percentile of the lead time that ``first`` rests on, ``term`` the months of a
    reservation (0 otherwise), ``most`` servers at once, ``interruptions`` of one spot server (1/s). Before ``earliest``
    the site is not open, whatever the lead time.
    """

    offer: Offer
    usd: float
    low: float
    high: float
    stale: bool
    first: int
    barred: frozenset[int]
    lead_weeks: float
    term: int
    most: float
    interruptions: float = 0.0
    earliest: int = 0

    @property
    def spread(self) -> tuple[float, float]:
        """80 % interval of the price over the price."""
        return self.low / self.usd, self.high / self.usd

    def opens(self, months: int) -> NDArray[np.bool_]:
        """Months in which servers may arrive or be rented, (months,)."""
        return np.array([month >= self.first and month not in self.barred for month in range(months)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Servers of one kind at one place.

    ``owned`` (months,) stand already; ``server_price`` is what one costs (USD); ``room`` is how many of this kind alone
    the power of the place leaves room for.
    """

    id: str
    platform: Platform
    place: str
    channel: str
    server: str
    power: float
    site: Site | None
    owned: Floats
    server_price: float
    room: float = math.inf
    purchases: tuple[Contract, ...] = ()
    reservations: tuple[Contract, ...] = ()
    elastic: Contract | None = None

    @property
    def accelerators(self) -> int:
        """Accelerators per server."""
        return self.platform.accelerators

    @property
    def spot(self) -> bool:
        """Whether the pool holds interruptible capacity."""
        return self.elastic is not None and self.elastic.offer.kind is OfferKind.SPOT

    @property
    def only_by_hour(self) -> bool:
        """Whether nothing is ever held here: then work shares no idle part of a server that is paid anyway."""
        return not self.owned.any() and not self.purchases and not self.reservations

    @property
    def interruptions(self) -> float:
        """Interruptions of one server (1/s)."""
        return self.elastic.interruptions if self.elastic is not None else 0.0

    @property
    def contracts(self) -> tuple[Contract, ...]:
        """All contracts, elastic ones last."""
        return (*self.purchases, *self.reservations, *((self.elastic,) if self.elastic else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """All pools, hosted offers, and notes on what was left out."""

    pools: tuple[Pool, ...]
    hosted: tuple[PricedOffer, ...]
    notes: tuple[str, ...]


def make_pools(scenario: Scenario, catalogue: Catalogue, market: Market) -> Pools:
    """Group priced offers and owned servers into pools.

    Complexity: linear in offers times sites.

    Raises:
        UnknownNameError: owned servers or a purchase name a server or site that is not known.
        MissingPriceError: an owned server has no catalogue price to compute its support from.
    """
    maker = _Maker(scenario, catalogue)
    own = maker.site_pools([item for item in market.offers if item.offer.kind is OfferKind.PURCHASE])
    rented = maker.channel_pools([item for item in market.offers if item.offer.kind in _RENTED])
    hosted = tuple(item for item in market.offers if item.offer.kind is OfferKind.HOSTED)
    return Pools(pools=(*own, *rented), hosted=hosted, notes=tuple(maker.notes))


def platform_of(accelerator: Accelerator, accelerators: int, network_bandwidth: float) -> Platform:
    """The platform shared by all servers with this accelerator, size and network."""
    gigabits = round(network_bandwidth * BITS_PER_BYTE / GIGA)
    return Platform(
        id=f"{accelerator.id} x{accelerators}" + (f" {gigabits}G" if gigabits else ""),
        accelerator=accelerator,
        accelerators=accelerators,
        network_bandwidth=network_bandwidth,
    )


def arrival_offset(scenario: Scenario, weeks: float) -> int:
    """Month of the horizon in which what is ordered on the day of the plan can work, after a lead time in weeks."""
    ordered = date.fromisoformat(scenario.as_of)
    arrives = first_whole_month(ordered + timedelta(weeks=weeks)) if weeks else scenario.as_of
    return max(months_between(scenario.horizon.start, arrives), 0)


def _steps(contracts: Iterable[Contract]) -> list[Contract]:
    """Contracts by the hour, cheapest first, without those that a cheaper one beats in all else."""
    steps: list[Contract] = []
    for item in sorted(contracts, key=lambda item: (item.usd, -item.most, item.offer.id)):
        if not any(_beats(step, item) for step in steps):
            steps.append(item)
    return steps


def _beats(cheaper: Contract, other: Contract) -> bool:
    """Whether a cheaper contract by the hour has as many servers, as soon, as often and as undisturbed."""
    return (
        cheaper.most >= other.most
        and cheaper.first <= other.first
        and cheaper.barred <= other.barred
        and cheaper.interruptions <= other.interruptions
    )


def _free_name(name: str, taken: Collection[str]) -> str:
    """The name, or the name with the first number that makes it one of its own."""
    return name if name not in taken else next(f"{name} #{n}" for n in count(2) if f"{name} #{n}" not in taken)


class _Maker:
    """Scenario and catalogue at hand while pools are made."""

    def __init__(self, scenario: Scenario, catalogue: Catalogue) -> None:
        self.scenario, self.catalogue = scenario, catalogue
        self.months = scenario.horizon.months
        self.as_of = date.fromisoformat(scenario.as_of)
        self.quota = catalogue.parameters["offers.on_demand_quota"].value
        self.notes: list[str] = []

    def site_pools(self, purchases: Sequence[PricedOffer]) -> list[Pool]:
        offered: dict[str, list[PricedOffer]] = defaultdict(list)
        for item in purchases:
            offered[self.catalogue.server(item.offer.server).id].append(item)
        owned = self._owned()
        pools: list[Pool] = []
        for site in self.scenario.supply.sites:
            for name in sorted({*offered, *(server for server, place in owned if place == site.name)}):
                pool = self._site_pool(site, self.catalogue.server(name), offered.get(name, []), owned.get((name, site.name)))
                if pool is not None:
                    pools.append(pool)
        return pools

    def _owned(self) -> dict[tuple[str, str], Floats]:
        sites = {site.name for site in self.scenario.supply.sites}
        held: dict[tuple[str, str], Floats] = defaultdict(lambda: np.zeros(self.months))
        for item in self.scenario.supply.owned:
            if item.site not in sites:
                raise UnknownNameError("site", item.site, sites, hint="owned servers stand at a site of the scenario")
            start = max(months_between(self.scenario.horizon.start, item.since), 0)
            held[self.catalogue.server(item.server).id, item.site][start:] += item.count
        return held

    def _site_pool(self, site: Site, server: Server, offers: Sequence[PricedOffer], owned: Floats | None) -> Pool | None:
        if owned is None and server.cooling == "liquid" and site.cooling == "air":
            self.notes.append(f"{server.id} needs liquid cooling, {site.name} has air")
            return None
        opens = max(months_between(self.scenario.horizon.start, site.available), 0) if site.available else 0
        room = self._room(site, server)
        if room < 1 and offers:
            self.notes.append(f"{server.id} does not fit into what is left of {site.name}'s power")
        purchases = tuple(
            replace(contract, first=max(contract.first, opens), earliest=opens) for contract in map(self._contract, offers)
        )
        return Pool(
            id=f"{server.id}@{site.name}",
            platform=platform_of(
                self.catalogue.accelerator(server.accelerator), server.accelerators, server.network_bandwidth.value
            ),
            place=site.name,
            channel=site.name,
            server=server.id,
            power=server.power.value,
            site=site,
            room=room,
            owned=np.zeros(self.months) if owned is None else owned,
            server_price=self._server_price(server, offers, needed=owned is not None),
            purchases=purchases,
        )

    def _room(self, site: Site, server: Server) -> float:
        """Servers of one kind that a site's power leaves room for beside those that stand there all the time."""
        if site.power is None:
            return math.inf
        overhead = 1 + self.catalogue.parameters["facility.power_overhead"].value
        used = sum(
            float(held.min()) * self.catalogue.server(name).power.value
            for (name, place), held in self._owned().items()
            if place == site.name
        )
        return float(math.floor(max(site.power / overhead - used, 0.0) / server.power.value))

    def _server_price(self, server: Server, offers: Sequence[PricedOffer], *, needed: bool) -> float:
        if server.price is not None:
            return to_usd(server.price.value, server.price_currency, self.catalogue.exchange_rates)
        if offers:
            return min(item.usd for item in offers)
        if needed:
            msg = f"owned server {server.id} has no price to compute its support from"
            raise MissingPriceError(msg, hint="add a quote for it: a missing price is never taken as 0")
        return 0.0

    def channel_pools(self, offers: Sequence[PricedOffer]) -> list[Pool]:
        groups: dict[tuple[str, str, str, int, float, str], list[PricedOffer]] = defaultdict(list)
        for item in offers:
            offer = item.offer
            what = (offer.accelerator, offer.accelerators, offer.network_bandwidth)
            groups[offer.channel, offer.instance, *what, offer.region].append(item)
        pools: dict[str, Pool] = {}
        for _, items in sorted(groups.items()):
            for pool in self._channel_pools(items):
                name = _free_name(pool.id, pools)
                pools[name] = replace(pool, id=name)
        return list(pools.values())

    def _channel_pools(self, items: Sequence[PricedOffer]) -> list[Pool]:
        """What one instance type of a channel can be: held or rented at the best price; more of it at others; spot."""
        contracts = [self._contract(item) for item in items]
        demand = _steps([item for item in contracts if item.offer.kind is OfferKind.ON_DEMAND])
        spot = _steps([item for item in contracts if item.offer.kind is OfferKind.SPOT])
        fixed = tuple(item for item in contracts if item.offer.kind in _FIXED)
        offer = items[0].offer
        pool = Pool(
            id=f"{offer.instance}@{offer.channel}",
            platform=platform_of(self.catalogue.accelerator(offer.accelerator), offer.accelerators, offer.network_bandwidth),
            place=offer.region,
            channel=offer.channel,
            server=offer.instance,
            power=0.0,
            site=None,
            owned=np.zeros(self.months),
            server_price=0.0,
            reservations=fixed,
            elastic=demand[0] if demand else None,
        )
        more = [replace(pool, reservations=(), elastic=item) for item in demand[1:]]
        volatile = [replace(pool, id=f"{pool.id} spot", reservations=(), elastic=item) for item in spot]
        return [*([pool] if pool.contracts else []), *more, *volatile]

    def _contract(self, item: PricedOffer) -> Contract:
        offer = item.offer
        weeks = float(self._lead_weeks(offer))
        elastic = offer.kind in {OfferKind.ON_DEMAND, OfferKind.SPOT}
        return Contract(
            offer=offer,
            usd=item.usd,
            low=item.low,
            high=item.high,
            stale=item.stale,
            first=arrival_offset(self.scenario, weeks),
            barred=item.barred,
            lead_weeks=weeks,
            term=offer.term_months if not elastic else 0,
            most=float(offer.max_servers) if offer.max_servers is not None else self.quota if elastic else math.inf,
            interruptions=self._interruptions(offer) if offer.kind is OfferKind.SPOT else 0.0,
        )

    def _interruptions(self, offer: Offer) -> float:
        """Interruptions of one spot server (1/s): as the offer states them, else as spot capacity usually has."""
        stated = offer.interruptions_per_hour
        return (self.catalogue.parameters["spot.interruptions_per_hour"].value if stated is None else stated) / HOUR

    def _lead_weeks(self, offer: Offer) -> float:
        if offer.lead_time is not None:
            return offer.lead_time.p90_weeks
        if offer.kind is OfferKind.PURCHASE:
            return self.catalogue.parameters["lead.oem.p90_weeks"].value
        if offer.kind in _FIXED:
            return self.catalogue.parameters["lead.cloud_reserved.p90_weeks"].value
        return 0.0
