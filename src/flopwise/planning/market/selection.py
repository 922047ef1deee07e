"""From dated offers to the offers that a scenario may use.

An offer passes when its channel is named, its region lies in the scenario's region, no export rule forbids
its accelerator there, and it states a price. The user's own quotes win over shipped offers of the same
channel, server and contract. Of one channel's equal instances in several regions the cheapest region stands for all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from flopwise.catalog import Catalogue
from flopwise.domain.calendar import first_day
from flopwise.domain.hardware import Accelerator
from flopwise.domain.offer import Offer, OfferKind
from flopwise.domain.plan import Coverage
from flopwise.domain.scenario import Scenario
from flopwise.ground.errors import MissingPriceError, UnknownNameError
from flopwise.ground.money import to_usd
from flopwise.ground.units import DAY, YEAR

ANY_REGION = "any"
#: Relative half-width of the interval around a price that states none, by confidence (a judgement, not a measurement).
_PRICE_SPREAD = {"high": 0.05, "medium": 0.15, "low": 0.30}
#: Area by the beginning of a cloud region's name. "eu" also covers the countries of the European Union listed here.
_AREAS = {
    "us": ("us", "northamerica-us"),
    "eu": ("eu", "europe-", "fin-", "de", "fr", "fi", "se", "ie", "nl"),
    "cn": ("cn",),
    "jp": ("jp", "asia-northeast1", "asia-northeast2", "ap-northeast-1"),
    "in": ("in", "asia-south1", "asia-south2", "ap-south"),
    "sg": ("sg", "asia-southeast1", "ap-southeast-1"),
    "uk": ("uk", "europe-west2", "eu-west-2"),
    "ca": ("ca", "northamerica-northeast"),
    "au": ("au", "australia-", "ap-southeast-2"),
}
#: Offers that are delivered or answered wherever the customer is.
_WORLDWIDE = frozenset({"", "all", "any", "global", "worldwide"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedOffer:
    """An offer with its price in USD (per server, or per server-hour), age and interval.

    ``low``/``high`` are the 80 % interval: the stated range or a spread by confidence, widened by age. A hosted API has
    several prices, in its offer: here it has the factor 1 on all of them.
    """

    offer: Offer
    usd: float
    low: float
    high: float
    age_days: int
    stale: bool

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
    candidates = _user_quotes_win([offer for offer in everything if offer.channel in named])
    passed: list[PricedOffer] = []
    excluded: dict[str, int] = defaultdict(int)
    for offer in candidates:
        reason = _exclusion(offer, scenario, catalogue)
        if reason:
            excluded[f"{offer.channel}: {reason}"] += 1
        else:
            passed.append(_price(offer, scenario.as_of, catalogue))
    chosen = _cheapest_region(passed)
    notes = tuple(f"{count} {'offer' if count == 1 else 'offers'} of {reason}" for reason, count in sorted(excluded.items()))
    return Market(offers=tuple(chosen), coverage=_coverage(passed), excluded=notes)


def _check_channels(channels: Iterable[str], offers: Sequence[Offer]) -> None:
    known = {offer.channel for offer in offers}
    for channel in channels:
        if channel not in known:
            raise UnknownNameError("channel", channel, known, hint=f"channels with offers: {', '.join(sorted(known))}")


def _user_quotes_win(offers: Sequence[Offer]) -> list[Offer]:
    quoted = {(offer.channel, offer.accelerator, offer.kind) for offer in offers if offer.user_quote}
    return [offer for offer in offers if offer.user_quote or (offer.channel, offer.accelerator, offer.kind) not in quoted]


def _exclusion(offer: Offer, scenario: Scenario, catalogue: Catalogue) -> str:
    """Why an offer may not be used, or nothing."""
    region = scenario.supply.region
    if not in_region(offer.region, region):
        return f"outside region {region!r} (region: any allows them)"
    if offer.kind is OfferKind.HOSTED:
        return ""
    barred = export_bar(catalogue.accelerator(offer.accelerator), region, scenario.horizon.start)
    return f"export: {barred}" if barred else ""


def in_region(offered: str, wanted: str) -> bool:
    """Whether an offer's region lies in the scenario's region."""
    place, area = offered.lower(), wanted.lower()
    if area == ANY_REGION or place in _WORLDWIDE or place == area:
        return True
    return place.startswith(_AREAS.get(area, (area,)))


def export_bar(accelerator: Accelerator, region: str, month: str) -> str:
    """The export rule that forbids delivery to ``region`` in ``month``, or nothing."""
    for rule in accelerator.export:
        ended = rule.until is not None and rule.until[:7] < month
        if rule.region.lower() == region.lower() and rule.since[:7] <= month and not ended:
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


def _cheapest_region(offers: Sequence[PricedOffer]) -> list[PricedOffer]:
    """One region per (channel, server): the cheapest by on-demand price, else by the lowest price of any contract."""
    groups: dict[tuple[str, str], dict[str, list[PricedOffer]]] = defaultdict(lambda: defaultdict(list))
    hosted = [item for item in offers if item.offer.kind is OfferKind.HOSTED]
    for item in offers:
        if item.offer.kind is not OfferKind.HOSTED:
            groups[item.offer.channel, item.offer.server][item.offer.region].append(item)
    chosen: list[PricedOffer] = []
    for regions in groups.values():
        chosen.extend(min(regions.values(), key=_region_rank))
    return [*chosen, *hosted]


def _region_rank(offers: Sequence[PricedOffer]) -> tuple[int, float, str]:
    """More kinds of contract first, then the lower on-demand price."""
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
