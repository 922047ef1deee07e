"""Supply: places, what stands already, contracts held, channels and budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from flopwise.adapters.scenario.checks import HOSTED, region_facts_id
from flopwise.adapters.scenario.fields import Amount
from flopwise.adapters.scenario.gather import Gather
from flopwise.adapters.scenario.quotes import offer_of
from flopwise.adapters.scenario.schema import CommitmentPart, OfferPart, OwnedPart, SitePart, SupplyPart
from flopwise.domain.calendar import first_day
from flopwise.domain.provenance import Fact
from flopwise.domain.scenario import Commitment, OwnedServers, Supply
from flopwise.domain.site import ANY_REGION, DEFAULT_REGION, Region, Site
from flopwise.ground.money import to_usd
from flopwise.ground.units import DAY, HOUR, HOURS_PER_MONTH, KILO, MEGA, UsdPerHour

#: Base units of one per-what: electricity per kWh in joules, hours of a billing month.
_JOULES: Mapping[str, float] = {"kWh": KILO * HOUR, "MWh": MEGA * HOUR}


def supply_of(part: SupplyPart | None, gather: Gather) -> Supply:
    """Everything that a plan may draw on, money in USD."""
    given = part or SupplyPart()
    region = gather.chosen("supply.region", given.region, DEFAULT_REGION, "decides eligibility and facility facts")
    sites = _sites(given.sites, region, gather)
    inline = [item for item in given.channels or () if isinstance(item, OfferPart)]
    numbered = enumerate(given.channels or ())
    offers = [offer_of(item, ("supply", "channels", index), gather) for index, item in numbered if isinstance(item, OfferPart)]
    quoted = {offer.channel for offer in gather.quotes} | {item.name for item in inline}
    budget = given.budget
    return Supply(
        sites=sites,
        owned=tuple(_owned(item, sites, gather) for item in given.owned),
        commitments=tuple(_commitment(item, index, gather) for index, item in enumerate(given.commitments)),
        channels=_channels(given, quoted, gather),
        inline_offers=tuple(offer for offer in offers if offer is not None) + gather.quotes,
        region=region,
        capex_budget=usd(budget.capex, gather) if budget and budget.capex else None,
        monthly_budget=usd(budget.monthly, gather) if budget and budget.monthly else None,
    )


def usd(amount: Amount, gather: Gather) -> float:
    """An amount in USD by the dated rates of the catalogue; its per-what stays."""
    gather.currencies.add(amount.currency)
    return to_usd(amount.amount, amount.currency, dict(gather.catalogue.exchange_rates))


def note_exchange_rates(supply: Supply, gather: Gather) -> None:
    """Note the rate of every currency that an amount of the file or an offer that may be used is stated in."""
    offers = [offer for offer in gather.catalogue.offers if offer.channel in supply.channels]
    prices = [price for offer in (*offers, *supply.inline_offers) for price in (offer.price, offer.tokens) if price]
    for currency in sorted(gather.currencies.union(price.currency for price in prices) - {"USD"}):
        rate = gather.catalogue.exchange_rates[currency]
        reason = f"amounts in {currency} are converted to USD"
        gather.assume(f"exchange_rates.{currency}", f"{rate.usd:g} USD", reason, f"{rate.source}, {rate.as_of}")
        age = (date.fromisoformat(gather.as_of) - first_day(rate.as_of)).days
        if age * DAY > gather.catalogue.parameters["price.stale_after"].value:
            gather.warnings.append(f"the exchange rate of {currency} is of {rate.as_of}, {age} days old")


def hourly(amount: Amount, gather: Gather) -> UsdPerHour:
    """A running amount per hour: 730 USD/month is 1 USD/h."""
    return usd(amount, gather) / (HOURS_PER_MONTH if amount.per == "month" else 1.0)


def _channels(part: SupplyPart, quoted: set[str], gather: Gather) -> tuple[str, ...]:
    """Catalogue channels by name. Channels of the user's own quotes are drawn on in any case."""
    if part.channels is not None:
        return tuple(item for item in part.channels if isinstance(item, str) and item not in quoted)
    every = tuple(sorted({offer.channel for offer in gather.catalogue.offers if not offer.channel.startswith(HOSTED)}))
    gather.assume("supply.channels", ", ".join(every), "no channels are named: all of the catalogue, without hosted APIs")
    return every


def _sites(parts: Sequence[SitePart], region: str, gather: Gather) -> tuple[Site, ...]:
    """Sites with the facts of the region for what is left unsaid; one made of these facts alone where none is named."""
    facts = gather.catalogue.regions[_facts_region(region, gather)]
    if not parts:
        name = f"{facts.id}-colocation"
        gather.assume(
            "supply.sites", name, f"no site is named: a place at the usual terms of {facts.name}, without a power limit"
        )
        parts = (SitePart(name=name),)
    return tuple(_site(part, facts, gather) for part in parts)


def _facts_region(region: str, gather: Gather) -> str:
    known = None if region == ANY_REGION else region_facts_id(gather, region)
    if known is None:
        known = DEFAULT_REGION if DEFAULT_REGION in gather.catalogue.regions else next(iter(gather.catalogue.regions))
        gather.assume("supply.sites.region", known, "facility facts where any region will do")
    return known


def _site(part: SitePart, facts: Region, gather: Gather) -> Site:
    key = f"supply.sites.{part.name}"
    cooling = gather.chosen(f"{key}.cooling", part.cooling, "air", "liquid-cooled servers need it stated")
    return Site(
        name=part.name,
        electricity=_electricity(part.electricity, f"{key}.electricity", facts.electricity, gather),
        pue=_fact(part.pue, "1", f"{key}.pue", facts.pue, gather),
        power=part.power,
        colocation=_colocation(part.colocation, f"{key}.colocation", facts.colocation, gather),
        cooling=cooling,
        available=part.available,
    )


def _electricity(amount: Amount | None, key: str, fallback: Fact, gather: Gather) -> Fact:
    value = usd(amount, gather) / _JOULES[amount.per] if amount else None
    return _fact(value, "USD/J", key, fallback, gather)


def _colocation(amount: Amount | None, key: str, fallback: Fact, gather: Gather) -> Fact:
    value = usd(amount, gather) / KILO if amount else None
    return _fact(value, "USD/W/month", key, fallback, gather)


def _fact(value: float | None, unit: str, key: str, fallback: Fact, gather: Gather) -> Fact:
    if value is not None:
        return gather.own_fact(value, unit, key)
    gather.assume_fact(key, fallback)
    return fallback


def _owned(part: OwnedPart, sites: Sequence[Site], gather: Gather) -> OwnedServers:
    server = gather.catalogue.server(part.server).id
    key = f"supply.owned.{server}"
    site = part.site or gather.chosen(f"{key}.site", None, sites[0].name, "no site is stated: the first one")
    since = part.since or gather.chosen(f"{key}.since", None, gather.as_of[:7], "no date of purchase is stated: taken as new")
    return OwnedServers(server=server, count=part.count, site=site, since=since)


def _commitment(part: CommitmentPart, index: int, gather: Gather) -> Commitment:
    start: str = gather.document.values["horizon"]["start"]
    if part.until < start:
        line = gather.document.line(("supply", "commitments", index, "until"))
        gather.warnings.append(f"line {line}: the commitment with {part.channel} ends in {part.until}, before the horizon begins")
    return Commitment(channel=part.channel, kind=part.kind, amount=hourly(part.amount, gather), until=part.until)
