"""Look at the catalogue: what is in it, and every figure with its source, date, confidence and range."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from importlib import resources
from typing import Any, cast

from flopwise.app.day import checked_day, today
from flopwise.catalog import Catalogue, load_catalogue
from flopwise.domain.calendar import first_day
from flopwise.domain.offer import Offer
from flopwise.domain.provenance import Fact
from flopwise.domain.site import ANY_REGION, DEFAULT_REGION
from flopwise.ground.errors import UnknownNameError
from flopwise.ground.units import DAY, KILO, show

KINDS = ("accelerators", "servers", "switches", "models", "regions", "offers", "parameters")


def quote_template() -> str:
    """A CSV for quotes of the user's own: columns explained, four examples."""
    return resources.files("flopwise.catalog").joinpath("data", "quote-template.csv").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """One figure with its provenance.

    ``low`` and ``high`` are the stated range in base units, where there is one; ``text`` and ``range`` are for people.
    """

    figure: str
    value: float
    unit: str
    text: str
    low: float | None
    high: float | None
    range: str
    source: str
    as_of: str
    confidence: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferRow:
    """One offer: price as quoted, and whether it is stale at the day asked for."""

    id: str
    channel: str
    kind: str
    server: str
    accelerator: str
    accelerators: int
    region: str
    price: str
    as_of: str
    source: str
    confidence: str
    stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageRow:
    """Offers of one channel and kind of contract: how many, from when, how many are stale."""

    channel: str
    kind: str
    offers: int
    accelerators: tuple[str, ...]
    oldest: str
    newest: str
    stale: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One kind of things in the catalogue: columns and rows of text."""

    kind: str
    as_of: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing of the catalogue: plain properties, figures with provenance, offers that deliver it."""

    kind: str
    id: str
    name: str
    properties: Mapping[str, str]
    facts: tuple[FactRow, ...]
    offers: tuple[OfferRow, ...]


def catalogue() -> Catalogue:
    """The shipped catalogue."""
    return load_catalogue()


def listing(kind: str, *, as_of: str | None = None, catalogue: Catalogue | None = None) -> Listing:
    """List one kind of things.

    Args:
        kind: one of ``KINDS``; offers are counted by channel and kind of contract.
        as_of: day (ISO) against which ages are measured, today by default.
        catalogue: the shipped one by default.

    Raises:
        UnknownNameError: no such kind.
    """
    if kind not in KINDS:
        raise UnknownNameError("kind", kind, KINDS, hint=f"one of {', '.join(KINDS)}")
    facts, day = catalogue or load_catalogue(), checked_day(as_of) or today()
    columns, rows = _LISTS[kind](facts, day)
    return Listing(kind=kind, as_of=day, columns=columns, rows=tuple(rows))


def counts(catalogue: Catalogue | None = None) -> Mapping[str, int]:
    """How many things of each kind the catalogue holds."""
    facts = catalogue or load_catalogue()
    return {kind: len(getattr(facts, kind)) for kind in KINDS}


def entry(name: str, *, as_of: str | None = None, catalogue: Catalogue | None = None) -> Entry:
    """Everything that the catalogue says of one name: an accelerator, server, switch, model, region, parameter or channel.

    Raises:
        UnknownNameError: nothing has that name; carries the nearest names of all kinds.
    """
    facts, day = catalogue or load_catalogue(), checked_day(as_of) or today()
    for kind, find in _finders(facts).items():
        try:
            item = find(name)
        except UnknownNameError:
            continue
        return _entry(kind, name, item, facts, day)
    offers = [offer for offer in facts.offers if name in {offer.id, offer.channel}]
    if offers:
        rows = tuple(_offer_row(offer, facts, day) for offer in offers)
        return Entry(kind="offers", id=name, name=name, properties={}, facts=(), offers=rows)
    raise UnknownNameError("name", name, _all_names(facts), hint="'flopwise catalog list' shows what there is")


def coverage(catalogue: Catalogue, as_of: str) -> tuple[CoverageRow, ...]:
    """Offers by channel and kind of contract, terms apart."""
    groups: dict[tuple[str, str], list[Offer]] = defaultdict(list)
    for offer in catalogue.offers:
        term = f" {offer.term_months} months" if offer.term_months else ""
        groups[offer.channel, f"{offer.kind.value}{term}"].append(offer)
    return tuple(
        CoverageRow(
            channel=channel,
            kind=kind,
            offers=len(offers),
            accelerators=tuple(sorted({offer.accelerator for offer in offers if offer.accelerator})),
            oldest=min(offer.as_of for offer in offers),
            newest=max(offer.as_of for offer in offers),
            stale=sum(is_stale(offer, catalogue, as_of) for offer in offers),
        )
        for (channel, kind), offers in sorted(groups.items())
    )


def is_stale(offer: Offer, catalogue: Catalogue, as_of: str) -> bool:
    """Whether an offer is older than the catalogue's limit for prices."""
    age = (date.fromisoformat(as_of) - first_day(offer.as_of)).days * DAY
    return age > catalogue.parameters["price.stale_after"].value


Rows = tuple[tuple[str, ...], Iterable[tuple[str, ...]]]


def _accelerators(facts: Catalogue, _day: str) -> Rows:
    columns = ("id", "vendor", "released", "memory", "bandwidth", "bf16 dense", "power", "status")
    return columns, (
        (
            item.id, item.vendor, item.released, _fact(item.memory), _fact(item.memory_bandwidth), _fact(item.peak.get("bf16")),
            _fact(item.power), item.status,
        )
        for item in facts.accelerators.values()
    )  # fmt: skip


def _servers(facts: Catalogue, _day: str) -> Rows:
    columns = ("id", "vendor", "accelerators", "network each", "power", "cooling", "list price")
    return columns, (
        (
            item.id, item.vendor, f"{item.accelerators} x {item.accelerator}", _fact(item.network_bandwidth), _fact(item.power),
            item.cooling, f"{item.price.value:,.0f} {item.price_currency}" if item.price else "",
        )
        for item in facts.servers.values()
    )  # fmt: skip


def _switches(facts: Catalogue, _day: str) -> Rows:
    columns = ("id", "vendor", "technology", "ports", "rate each", "power", "price")
    return columns, (
        (item.id, item.vendor, item.technology, str(item.radix), _fact(item.port_rate), _fact(item.power), _fact(item.price))
        for item in facts.switches.values()
    )


def _models(facts: Catalogue, _day: str) -> Rows:
    columns = ("id", "family", "parameters", "layers", "hidden", "heads (KV)", "experts", "context")
    return columns, (
        (
            item.id, item.family, show(item.published_parameters.value, "") if item.published_parameters else "",
            str(item.layers), str(item.hidden),
            f"{item.heads} ({'latent' if item.latent else item.kv_heads})",
            f"{item.experts.count}, top {item.experts.top_k}" if item.experts else "", str(item.max_position),
        )
        for item in facts.models.values()
    )  # fmt: skip


def _regions(facts: Catalogue, _day: str) -> Rows:
    columns = ("id", "name", "electricity", "PUE", "colocation")
    return columns, (
        *((item.id, item.name, item.electricity.text, item.pue.text, item.colocation.text) for item in facts.regions.values()),
        (ANY_REGION, f"every region: offers of all, facility facts of {DEFAULT_REGION}", "", "", ""),
    )


def _offers(facts: Catalogue, day: str) -> Rows:
    columns = ("channel", "kind", "offers", "accelerators", "oldest", "newest", "stale")
    return columns, (
        (
            row.channel, row.kind, str(row.offers), _few(row.accelerators), row.oldest, row.newest,
            f"{row.stale} of {row.offers}" if row.stale else "",
        )
        for row in coverage(facts, day)
    )  # fmt: skip


def _parameters(facts: Catalogue, _day: str) -> Rows:
    columns = ("id", "value", "range", "confidence", "as of", "source")
    return columns, (
        (name, fact.text, shown_range(fact), fact.confidence.value, fact.as_of, fact.source)
        for name, fact in sorted(facts.parameters.items())
    )


_LISTS: Mapping[str, Callable[[Catalogue, str], Rows]] = {
    "accelerators": _accelerators, "servers": _servers, "switches": _switches, "models": _models, "regions": _regions,
    "offers": _offers, "parameters": _parameters,
}  # fmt: skip


def _few(names: Sequence[str], most: int = 4) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _fact(fact: Fact | None) -> str:
    return fact.text if fact else ""


def shown_range(fact: Fact) -> str:
    """The stated range for people, or nothing."""
    if fact.low is None and fact.high is None:
        return ""
    low, high = fact.interval
    return f"{show(low, fact.unit)} - {show(high, fact.unit)}"


def _finders(facts: Catalogue) -> Mapping[str, Callable[[str], object]]:
    def parameter(name: str) -> Fact:
        if name not in facts.parameters:
            raise UnknownNameError("parameter", name, facts.parameters)
        return facts.parameters[name]

    return {
        "accelerators": facts.accelerator,
        "servers": facts.server,
        "switches": facts.switch,
        "models": facts.model,
        "regions": facts.region,
        "parameters": parameter,
    }


def _all_names(facts: Catalogue) -> list[str]:
    tables = (facts.accelerators, facts.servers, facts.switches, facts.models, facts.regions, facts.parameters)
    return [name for table in tables for name in table] + sorted({offer.channel for offer in facts.offers})


def _entry(kind: str, name: str, item: object, facts: Catalogue, day: str) -> Entry:
    if isinstance(item, Fact):
        return Entry(kind=kind, id=name, name=name, properties={}, facts=(_fact_row("value", item),), offers=())
    values = {field.name: getattr(item, field.name) for field in fields(cast("Any", item))}
    found = tuple(row for key, value in values.items() for row in _fact_rows(key, value))
    plain = {key: _plain(value) for key, value in values.items() if not list(_fact_rows(key, value)) and _plain(value)}
    offers = [offer for offer in facts.offers if str(values["id"]) in {offer.accelerator, offer.server}]
    return Entry(
        kind=kind,
        id=str(values["id"]),
        name=str(values["name"]),
        properties={key: text for key, text in plain.items() if key not in {"id", "name"}},
        facts=found,
        offers=tuple(_offer_row(offer, facts, day) for offer in offers),
    )


def _fact_rows(key: str, value: object) -> Iterator[FactRow]:
    if isinstance(value, Fact):
        yield _fact_row(key, value)
    elif isinstance(value, Mapping):
        for name, inner in cast("Mapping[str, object]", value).items():
            if isinstance(inner, Fact):
                yield _fact_row(f"{key}.{name}", inner)


def _fact_row(figure: str, fact: Fact) -> FactRow:
    return FactRow(
        figure=figure,
        value=fact.value,
        text=fact.text,
        unit=fact.unit,
        range=shown_range(fact),
        low=fact.low,
        high=fact.high,
        source=fact.source,
        as_of=fact.as_of,
        confidence=fact.confidence.value,
        note=fact.note,
    )


def _plain(value: object) -> str:
    """A property as text; nothing for what is absent or empty."""
    if value is None or value in ((), {}):
        return ""
    if isinstance(value, tuple):
        return "; ".join(_plain(item) for item in cast("tuple[object, ...]", value))
    if is_dataclass(value) and not isinstance(value, type):
        return ", ".join(f"{field.name} {getattr(value, field.name)}" for field in fields(value))
    return str(value)


def _offer_row(offer: Offer, facts: Catalogue, day: str) -> OfferRow:
    term = f" {offer.term_months} months" if offer.term_months else ""
    return OfferRow(
        id=offer.id,
        channel=offer.channel,
        kind=f"{offer.kind.value}{term}",
        server=offer.server,
        accelerator=offer.accelerator,
        accelerators=offer.accelerators,
        region=offer.region,
        price=_price(offer),
        as_of=offer.as_of,
        source=offer.source,
        confidence=offer.confidence.value,
        stale=is_stale(offer, facts, day),
    )


def _price(offer: Offer) -> str:
    if offer.tokens:
        return f"{offer.tokens.input:g} in, {offer.tokens.output:g} out {offer.tokens.currency}/1M tokens"
    if offer.price is None:
        return "not stated"
    shown = f"{offer.price.amount:,.2f}" if offer.price.amount < KILO else f"{offer.price.amount:,.0f}"
    return f"{shown} {offer.price.currency}/{offer.price.per}"
