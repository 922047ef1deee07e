"""From dated offers to the offers that a scenario may use.

An offer passes when its channel is named, its region lies in the scenario's region, no export rule forbids
its accelerator there, and it states a price. The user's own quotes win over shipped offers of the same
channel, size and contract. Of one channel's equal instances in several regions, the region with the most kinds of
contract, and the cheapest of those, stands for all; regions of the user's quotes and of larger caps stay beside it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from flopwise.catalog import Catalogue
from flopwise.domain.calendar import first_day, months_of
from flopwise.domain.hardware import Accelerator
from flopwise.domain.offer import Offer, OfferKind
from flopwise.domain.plan import Coverage
from flopwise.domain.scenario import Scenario
from flopwise.domain.site import ANY_REGION
from flopwise.ground.errors import MissingPriceError, UnknownNameError
from flopwise.ground.money import to_usd
from flopwise.ground.units import DAY, YEAR

#: Relative half-width of the interval around a price that states none, by confidence (a judgement, not a measurement).
_PRICE_SPREAD = {"high": 0.05, "medium": 0.15, "low": 0.30}
#: Area by the beginning of a cloud region's name. "eu" also covers the countries of the European Union listed here.
_AREAS = {
    "us": ("us", "northamerica-us"),
    "eu": ("eu", "europe", "fin", "de", "fr", "fi", "se", "ie", "nl"),
    "cn": ("cn",),
    "jp": ("jp", "asia-northeast1", "asia-northeast2", "asia-northeast-1", "ap-northeast-1", "ap-northeast-3", "ap-tokyo"),
    "in": ("in", "asia-south1", "asia-south2", "ap-south", "ap-mumbai"),
    "sg": ("sg", "asia-southeast1", "ap-southeast-1", "ap-singapore"),
    "uk": ("uk", "europe-west2", "eu-west-2"),
    "ca": ("ca", "northamerica-northeast"),
    "au": ("au", "australia", "ap-southeast-2", "ap-sydney"),
}
#: European regions of clouds that lie outside the European Union: London and Zurich.
_NOT_IN_AREA = {"eu": ("europe-west2", "eu-west-2", "europe-west6", "eu-central-2", "uk", "eu-zurich")}
#: Offers that are delivered or answered wherever the customer is.
_WORLDWIDE = frozenset({"", "all", "any", "global", "worldwide"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedOffer:
    """An offer with its price in USD (per server, or per server-hour), age and interval.

    ``low``/``high`` are the 80 % interval: the stated range or a spread by confidence, widened by age. A hosted API has
    several prices, in its offer: here it has the factor 1 on all of them. ``barred`` are the months of the horizon in
    which an export rule forbids delivery.
    """

    offer: Offer
    usd: float
    low: float
    high: float
    age_days: int
    stale: bool
    barred: frozenset[int] = frozenset()

    @property
    def spread(self) -> tuple[float, float]:
        """The interval over the price."""
        return self.low / self.usd, self.high / self.usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """Offers that pass, and an account of those that do not."""

    offers: tuple[PricedOffer, ...]
    coverage: tuple[Coverage, ...]
    excluded: tuple[str, ...]


def select(scenario: Scenario, catalogue: Catalogue, hosted: Sequence[Offer] = ()) -> Market:
    """Choose and price the offers of a scenario.

    Complexity: linear in the number of offers.

    Raises:
        UnknownNameError: a channel of the scenario has no offers at all.
        MissingPriceError: an offer that would be used has no price.
    """
    everything = [*catalogue.offers, *hosted, *scenario.supply.inline_offers]
    _check_channels(scenario.supply.channels, everything)
    named = {*scenario.supply.channels, *(offer.channel for offer in scenario.supply.inline_offers)}
    months = months_of(scenario.horizon.start, scenario.horizon.months)
    passed: list[PricedOffer] = []
    excluded: dict[str, int] = defaultdict(int)
    for offer in (offer for offer in everything if offer.channel in named):
        barred = _barred_months(offer, scenario, catalogue, months)
        reason = _exclusion(offer, scenario, barred, months)
        if reason:
            excluded[f"{offer.channel}: {reason}"] += 1
        else:
            passed.append(replace(_price(offer, scenario.as_of, catalogue), barred=frozenset(barred)))
    passed = _user_quotes_win(passed, excluded)
    chosen = _one_region(passed)
    notes = tuple(f"{count} {'offer' if count == 1 else 'offers'} of {reason}" for reason, count in sorted(excluded.items()))
    return Market(offers=tuple(chosen), coverage=_coverage(passed), excluded=notes)


def _check_channels(channels: Iterable[str], offers: Sequence[Offer]) -> None:
    known = {offer.channel for offer in offers}
    for channel in channels:
        if channel not in known:
            raise UnknownNameError("channel", channel, known, hint=f"channels with offers: {', '.join(sorted(known))}")


def _user_quotes_win(offers: Sequence[PricedOffer], excluded: dict[str, int]) -> list[PricedOffer]:
    """Shipped offers of what the user has a usable quote for give way to it: same channel, size, kind and term."""

    def what(offer: Offer) -> tuple[str, ...]:
        model = offer.tokens.model if offer.tokens else ""
        size = f"{offer.accelerators} x {offer.accelerator}" if offer.accelerator else model
        return offer.channel, size, offer.kind.value, f" for {offer.term_months} months" if offer.term_months else ""

    quoted = {what(item.offer) for item in offers if item.offer.user_quote}
    kept: list[PricedOffer] = []
    for item in offers:
        channel, size, kind, term = what(item.offer)
        if item.offer.user_quote or (channel, size, kind, term) not in quoted:
            kept.append(item)
        else:
            excluded[f"{channel}: your quote stands for {size}, {kind}{term}"] += 1
    return kept


def _barred_months(offer: Offer, scenario: Scenario, catalogue: Catalogue, months: Sequence[str]) -> dict[int, str]:
    """Months (offsets) in which an export rule forbids delivery to where the offer is, or else the scenario's region."""
    if offer.kind is OfferKind.HOSTED:
        return {}
    accelerator = catalogue.accelerator(offer.accelerator)
    place = scenario.supply.region if offer.region.lower() in _WORLDWIDE else offer.region
    rules = {offset: export_bar(accelerator, place, month) for offset, month in enumerate(months)} if accelerator.export else {}
    return {offset: rule for offset, rule in rules.items() if rule}


def _exclusion(offer: Offer, scenario: Scenario, barred: Mapping[int, str], months: Sequence[str]) -> str:
    """Why an offer may not be used in any month, or nothing."""
    region = scenario.supply.region
    if not in_region(offer.region, region):
        wider = [area for area, parts in _AREAS.items() if region.lower() in parts and in_region(offer.region, area)]
        return f"outside region {region!r} (region: {' or '.join([*wider, ANY_REGION])} allows them)"
    return f"export: {barred[0]}" if len(barred) == len(months) else ""


def in_region(offered: str, wanted: str) -> bool:
    """Whether an offer's region lies in the scenario's region."""
    return wanted.lower() == ANY_REGION or offered.lower() in _WORLDWIDE or _lies_in(offered, wanted)


def _lies_in(place: str, area: str) -> bool:
    """Whether a place is an area, or its name goes on from one of the area's names."""
    place, area = place.lower(), area.lower()
    if any(_goes_on(place, outside) for outside in _NOT_IN_AREA.get(area, ())):
        return False
    return place == area or any(_goes_on(place, name) for name in _AREAS.get(area, (area,)))


def _goes_on(place: str, name: str) -> bool:
    """Whether a place is a name, or the name with a hyphen, a number or the letter of a zone behind it.

    >>> _goes_on("us-east-1", "us"), _goes_on("europe", "eu"), _goes_on("seoul", "se")
    (True, False, False)
    """
    return re.fullmatch(rf"{re.escape(name)}(-.*|\d+|[a-z])?", place) is not None


def export_bar(accelerator: Accelerator, region: str, month: str) -> str:
    """The export rule that forbids delivery to ``region`` in ``month``, or nothing."""
    for rule in accelerator.export:
        ended = rule.until is not None and rule.until[:7] < month
        if _lies_in(region, rule.region) and rule.since[:7] <= month and not ended:
            return f"{accelerator.id}: {rule.rule} (since {rule.since})"
    return ""


def _price(offer: Offer, as_of: str, catalogue: Catalogue) -> PricedOffer:
    age = max((date.fromisoformat(as_of) - first_day(offer.as_of)).days, 0)
    stale = age * DAY > catalogue.parameters["price.stale_after"].value and not offer.user_quote
    if offer.kind is OfferKind.HOSTED:
        if offer.tokens is None:
            msg = f"hosted offer {offer.id} has no token prices"
            raise MissingPriceError(msg, hint="state input and output prices per million tokens")
        low, high = _interval(offer, 1.0, age, catalogue)
        return PricedOffer(offer=offer, usd=1.0, low=low, high=high, age_days=age, stale=stale)
    if offer.price is None or offer.price.amount <= 0:
        msg = f"offer {offer.id} of channel {offer.channel} has no price"
        raise MissingPriceError(msg, hint="a missing price is never taken as 0: add it to your quotes or leave the offer out")
    usd = to_usd(offer.price.amount, offer.price.currency, catalogue.exchange_rates)
    low, high = _interval(offer, usd, age, catalogue)
    return PricedOffer(offer=offer, usd=usd, low=low, high=high, age_days=age, stale=stale)


def _interval(offer: Offer, usd: float, age_days: int, catalogue: Catalogue) -> tuple[float, float]:
    price = offer.price
    spread = 0.0 if offer.user_quote else _PRICE_SPREAD[offer.confidence.value]
    ratio_low = price.low / price.amount if price and price.low else 1 - spread
    ratio_high = price.high / price.amount if price and price.high else 1 + spread
    widening = catalogue.parameters["price.widening_per_year"].value * age_days * DAY / YEAR
    return usd * ratio_low / (1 + widening), usd * ratio_high * (1 + widening)


def _one_region(offers: Sequence[PricedOffer]) -> list[PricedOffer]:
    """One region per channel and kind of server, and beside it those that hold a quote of the user's or larger caps."""
    groups: dict[tuple[str, ...], dict[str, list[PricedOffer]]] = defaultdict(lambda: defaultdict(list))
    hosted = [item for item in offers if item.offer.kind is OfferKind.HOSTED]
    for item in offers:
        if item.offer.kind is not OfferKind.HOSTED:
            groups[item.offer.channel, item.offer.instance, item.offer.accelerator][item.offer.region].append(item)
    chosen: list[PricedOffer] = []
    for regions in groups.values():
        best, *others = sorted(regions.values(), key=_region_rank)
        chosen.extend(best)
        for region in others:
            chosen.extend(item for item in region if item.offer.user_quote or _lifts_cap(item.offer, best))
    return [*chosen, *hosted]


def _lifts_cap(offer: Offer, chosen: Sequence[PricedOffer]) -> bool:
    """Whether the chosen region caps the same contract at fewer servers."""
    same = [item.offer for item in chosen if (item.offer.kind, item.offer.term_months) == (offer.kind, offer.term_months)]
    caps = [math.inf if other.max_servers is None else other.max_servers for other in same]
    return bool(caps) and max(caps) < (math.inf if offer.max_servers is None else offer.max_servers)


def _region_rank(offers: Sequence[PricedOffer]) -> tuple[int, float, str]:
    """More kinds of contract first, then the lower on-demand price, or else the lowest of any contract."""
    on_demand = [item.usd for item in offers if item.offer.kind is OfferKind.ON_DEMAND]
    kinds = {(item.offer.kind, item.offer.term_months) for item in offers}
    return (-len(kinds), min(on_demand or [item.usd for item in offers]), offers[0].offer.region)


def _coverage(offers: Sequence[PricedOffer]) -> tuple[Coverage, ...]:
    groups: dict[tuple[str, str], list[PricedOffer]] = defaultdict(list)
    for item in offers:
        term = f" {item.offer.term_months} months" if item.offer.kind is OfferKind.RESERVED else ""
        groups[item.offer.channel, f"{item.offer.kind.value}{term}"].append(item)
    return tuple(
        Coverage(
            channel=channel, kind=kind, offers=len(items), stale=sum(item.stale for item in items),
            oldest=min(item.offer.as_of for item in items), newest=max(item.offer.as_of for item in items),
        )
        for (channel, kind), items in sorted(groups.items())
    )  # fmt: skip
