"""Quotes written into the scenario: an offer of the user's own, checked for what its kind of contract needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flopwise.adapters.scenario.document import Path_
from flopwise.adapters.scenario.fields import Amount
from flopwise.adapters.scenario.gather import Gather
from flopwise.adapters.scenario.schema import LeadTimePart, OfferPart, TokenPricePart
from flopwise.domain.hardware import Server
from flopwise.domain.offer import LeadTime, Offer, OfferKind, Price, TokenPrice
from flopwise.domain.provenance import Confidence
from flopwise.ground.errors import UnknownNameError
from flopwise.ground.units import HOURS_PER_MONTH, MONTH, WEEK, show

_WITH_TERM = frozenset({OfferKind.RESERVED, OfferKind.LEASE, OfferKind.CAPACITY_BLOCK})
_BY_HOUR = frozenset({OfferKind.ON_DEMAND, OfferKind.SPOT})
#: Terms are planned in months; nearer to a whole number of them than this counts as whole (360 days, 30 days).
_NEAR = 0.02
#: Keys that mean nothing in some kinds of contract.
_UNFIT: Mapping[str, frozenset[OfferKind]] = {
    "term": frozenset({OfferKind.PURCHASE, OfferKind.HOSTED}) | _BY_HOUR,
    "upfront": frozenset({OfferKind.PURCHASE, OfferKind.HOSTED}) | _BY_HOUR,
    "least": frozenset({OfferKind.HOSTED}) | _BY_HOUR,
    "most": frozenset({OfferKind.HOSTED}),
    "lead_time": frozenset({OfferKind.HOSTED}),
    "interruptions": frozenset(OfferKind) - {OfferKind.SPOT},
    "tokens": frozenset(OfferKind) - {OfferKind.HOSTED},
    "price": frozenset({OfferKind.HOSTED}),
}
_EACH = frozenset({"accelerator/h", "GPU/h"})
_MONTHLY = frozenset({"month", "server/month"})
#: Ninth decile over median of a lead time where only the median is stated.
LATE = 2.0


def offer_of(part: OfferPart, path: Path_, gather: Gather) -> Offer | None:
    """An inline quote as an offer; ``None`` when something is missing, which is noted."""
    kind, server = OfferKind(part.kind), _server(part, gather)
    problems = list(_problems(part, kind, server))
    for key, message, expected in problems:
        gather.refuse((*path, key), message, expected)
    if problems:
        return None
    accelerator = gather.catalogue.accelerator(part.accelerator).id if part.accelerator else server.accelerator if server else ""
    count = part.accelerators or (server.accelerators if server else 0)
    term = round(part.term / MONTH) if part.term else 0
    key = f"supply.channels.{part.name}"
    return Offer(
        id="/".join([part.name, kind.value, part.server or accelerator or "tokens", *([f"{term}m"] if term else [])]),
        channel=part.name,
        vendor=part.vendor or part.name,
        kind=kind,
        region="",
        as_of=part.as_of,
        source=part.source or "quote in the scenario",
        confidence=Confidence.HIGH,
        server=server.id if server else part.server or "",
        accelerator=accelerator,
        accelerators=count,
        network_bandwidth=_network(part, kind, server, key, gather),
        price=_price(part.price, kind, count) if part.price else None,
        tokens=_tokens(part.tokens, gather) if part.tokens else None,
        term_months=term,
        upfront_share=part.upfront or 0.0,
        max_servers=part.most,
        min_servers=part.least or 0,
        lead_time=_lead_time(part.lead_time, kind, key, gather),
        interruptions_per_hour=part.interruptions,
        user_quote=True,
    )


def _server(part: OfferPart, gather: Gather) -> Server | None:
    """The catalogue server of a quote; rented kinds may name an instance type that the catalogue does not hold."""
    try:
        return gather.catalogue.server(part.server) if part.server else None
    except UnknownNameError:
        return None


def _problems(part: OfferPart, kind: OfferKind, server: Server | None) -> Iterator[tuple[str, str, str]]:
    """Key, message and what was expected, for everything that this kind of contract needs and the quote lacks."""
    for key, kinds in _UNFIT.items():
        if kind in kinds and getattr(part, key) is not None:
            yield key, f"{key!r} means nothing in a quote of kind {kind.value!r}", "the key left out"
    if kind is OfferKind.HOSTED:
        if part.tokens is None:
            yield "tokens", "'tokens' is missing", "prices per million tokens for a hosted API"
        return
    yield from _price_problems(part.price, kind)
    if server is None and (kind is OfferKind.PURCHASE or part.accelerator is None):
        either = "" if kind is OfferKind.PURCHASE else ", or 'accelerator' and 'accelerators'"
        yield "server", "the quote does not say what is delivered", f"a catalogue server{either}"
    elif server is None and part.accelerators is None:
        yield "accelerators", "'accelerators' is missing", "accelerators per server, for example 8"
    if kind in _WITH_TERM and part.term is None:
        yield "term", "'term' is missing", "the length of the contract, for example 1 y"
    if part.term is not None and abs(part.term / MONTH - round(part.term / MONTH)) > _NEAR * part.term / MONTH:
        yield "term", f"a term of {show(part.term, 's')} is no whole number of months", "whole months, for example 6 months"


def _price_problems(price: Amount | None, kind: OfferKind) -> Iterator[tuple[str, str, str]]:
    bought = kind is OfferKind.PURCHASE
    expected = "an amount per server, for example 310k USD" if bought else "an amount per hour, for example 55.04 USD/h"
    if price is None:
        yield "price", "'price' is missing, and a missing price is never taken as 0", expected
    elif price.amount == 0.0:
        yield "price", "the price is 0, and a missing price is never taken as 0", expected
    elif bought != (price.per in {"", "server"}):
        yield "price", f"the price does not fit a quote of kind {kind.value!r}", expected


def _price(amount: Amount, kind: OfferKind, accelerators: int) -> Price:
    """Price per server, or per server-hour; the currency stays as quoted."""
    if kind is OfferKind.PURCHASE:
        return Price(amount=amount.amount, currency=amount.currency, per="server")
    value = amount.amount * (accelerators if amount.per in _EACH else 1)
    return Price(amount=value / (HOURS_PER_MONTH if amount.per in _MONTHLY else 1.0), currency=amount.currency, per="server-hour")


def _network(part: OfferPart, kind: OfferKind, server: Server | None, key: str, gather: Gather) -> float:
    if part.network is not None or kind is OfferKind.HOSTED:
        return part.network or 0.0
    if server is not None:
        return server.network_bandwidth.value
    gather.assume(f"{key}.network", "none", "no cluster network is stated: no work that spans servers")
    return 0.0


def _tokens(part: TokenPricePart, gather: Gather) -> TokenPrice:
    cached = part.cached_input.amount if part.cached_input else None
    model = gather.catalogue.model(part.model).id
    return TokenPrice(
        input=part.input.amount, output=part.output.amount, cached_input=cached, currency=part.input.currency, model=model
    )


def _lead_time(part: LeadTimePart | None, kind: OfferKind, key: str, gather: Gather) -> LeadTime | None:
    if part is None:
        return _usual_lead_time(key, gather) if kind is OfferKind.PURCHASE else None
    late = part.p90 if part.p90 is not None else part.p50 * LATE
    if part.p90 is None:
        gather.assume(f"{key}.lead_time.p90", show(late, "s"), f"only the median is stated; {LATE:g} times it")
    return LeadTime(p50_weeks=part.p50 / WEEK, p90_weeks=late / WEEK, source="quote in the scenario")


def _usual_lead_time(key: str, gather: Gather) -> LeadTime:
    """What the catalogue states of servers in general."""
    middle, late = (gather.catalogue.parameters[f"lead.oem.{quantile}_weeks"] for quantile in ("p50", "p90"))
    gather.assume_fact(f"{key}.lead_time.p50", middle)
    gather.assume_fact(f"{key}.lead_time.p90", late)
    return LeadTime(p50_weeks=middle.value, p90_weeks=late.value, source=middle.source)
