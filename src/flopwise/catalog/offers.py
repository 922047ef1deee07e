"""Offers as CSV: what ships, and quotes of the user's own in the same columns.

One row is one contract. Prices are per whole server (purchase) or per server-hour (rented kinds); a price per
accelerator or per month is converted here, and what it is per must be said. A missing price is an error, never 0.
Lines that begin with ``#`` are comments. All problems of a file are gathered and raised once, each with its line.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.resources.abc import Traversable
from typing import Protocol

from flopwise.domain.hardware import MOST_PER_SERVER, Accelerator, Server
from flopwise.domain.model_arch import ModelArch
from flopwise.domain.offer import LeadTime, Offer, OfferKind, Price, TokenPrice
from flopwise.domain.provenance import Confidence
from flopwise.ground.errors import CatalogueError, InputFileError, Problem, UnitError, UnknownNameError, nearest
from flopwise.ground.money import ExchangeRate
from flopwise.ground.units import HOURS_PER_MONTH, parse

#: Columns of the file, in the order of the template.
COLUMNS = (
    "channel", "kind", "server", "accelerator", "accelerators", "network", "region", "price", "currency", "per", "low", "high",
    "term_months", "upfront", "lead_p50_weeks", "lead_p90_weeks", "min_servers", "max_servers", "interruptions_per_hour",
    "model", "input", "output", "cached_input", "vendor", "as_of", "source", "confidence", "note",
)  # fmt: skip
#: Columns without which no row can be read.
NEEDED = ("kind", "currency", "as_of")
#: What spreadsheets of some languages put between cells.
_OTHER_SEPARATORS = (";", "\t")
#: More rows than any price list of one channel has; a larger file is a mistake.
MOST_ROWS = 50_000
#: Ninth decile over median of a lead time where only the median is stated.
LATE = 2.0

_PURCHASE_PER = ("server", "accelerator")
_RENT_PER = ("server-hour", "accelerator-hour", "server-month", "accelerator-month")
_WITH_TERM = frozenset({OfferKind.RESERVED, OfferKind.LEASE, OfferKind.CAPACITY_BLOCK})
_BY_HOUR = frozenset({OfferKind.ON_DEMAND, OfferKind.SPOT})
#: Columns that mean nothing in some kinds of contract.
_UNFIT: Mapping[str, frozenset[OfferKind]] = {
    "term_months": frozenset({OfferKind.PURCHASE, OfferKind.HOSTED}) | _BY_HOUR,
    "upfront": frozenset({OfferKind.PURCHASE, OfferKind.HOSTED}) | _BY_HOUR,
    "min_servers": frozenset({OfferKind.HOSTED}) | _BY_HOUR,
    "max_servers": frozenset({OfferKind.HOSTED}),
    "interruptions_per_hour": frozenset(OfferKind) - {OfferKind.SPOT},
}
_PLAIN_NUMBER = re.compile(r"\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_DAY_OR_MONTH = re.compile(r"\d{4}-\d{2}(-\d{2})?", re.ASCII)
_CURRENCY = re.compile(r"[A-Z]{3}")


class Names(Protocol):
    """What is asked of a catalogue: items by name or alias, ``UnknownNameError`` when there is none."""

    def server(self, name: str) -> Server: ...  # noqa: D102 - the class says it
    def accelerator(self, name: str) -> Accelerator: ...  # noqa: D102 - the class says it
    def model(self, name: str) -> ModelArch: ...  # noqa: D102 - the class says it

    @property
    def exchange_rates(self) -> Mapping[str, ExchangeRate]: ...  # noqa: D102 - the class says it


def read_shipped_offers(folder: Traversable) -> tuple[Offer, ...]:
    """Read all ``*.csv`` files of a folder: one file per channel, named after it.

    Raises:
        CatalogueError: a row that cannot be read, or that does not state its source.
    """
    offers: list[Offer] = []
    for file in sorted(folder.iterdir(), key=lambda item: item.name):
        if not file.name.endswith(".csv"):
            continue
        reading = _Reading(origin=file.name, channel=file.name.removesuffix(".csv"))
        try:
            offers.extend(_read(file.read_text(encoding="utf-8"), reading))
        except InputFileError as error:
            raise CatalogueError(str(error)) from error
    return tuple(offers)


def read_offers(text: str, *, origin: str, user_quote: bool = False, catalogue: Names | None = None) -> tuple[Offer, ...]:
    """Read offers from CSV text in the columns of the template.

    Args:
        text: the file's content, with a header line.
        origin: its name, for messages and as the source of rows that state none.
        user_quote: the offers are the user's own: they win over shipped ones of the same channel.
        catalogue: resolves names of servers, accelerators and models, and fills in what a server says of itself.

    Returns:
        Offers in the order of the rows, prices per server or per server-hour in the currency of the row.

    Raises:
        InputFileError: all problems of the file, each with its line and what was expected.
    """
    return tuple(_read(text, _Reading(origin=origin, user_quote=user_quote, catalogue=catalogue)))


@dataclass(slots=True, kw_only=True)
class _Reading:
    """One reading of one file: where it comes from, and the problems found on the way."""

    origin: str
    channel: str = ""
    user_quote: bool = False
    catalogue: Names | None = None
    problems: list[Problem] = field(default_factory=list[Problem])

    @property
    def shipped(self) -> bool:
        """Whether the file is one of flopwise's own, named after its channel."""
        return bool(self.channel)


@dataclass(slots=True, kw_only=True)
class _Row:
    """Cells of one line, read one by one; what is wrong is noted with the line and the column."""

    cells: Mapping[str, str]
    line: int
    reading: _Reading
    wrong: bool = False

    def text(self, column: str) -> str:
        return self.cells.get(column, "")

    def refuse(self, column: str, message: str, expected: str = "") -> None:
        self.wrong = True
        self.reading.problems.append(Problem(path=column, line=self.line, message=message, expected=expected))

    def needed(self, column: str, expected: str) -> str:
        if not self.text(column):
            self.refuse(column, f"{column!r} is missing", expected)
        return self.text(column)

    def number(self, column: str, example: str = "a plain number, for example 310000") -> float | None:
        """A number of at least 0, without unit and without thousands separators; nothing for an empty cell."""
        text = self.text(column)
        if not text:
            return None
        if _PLAIN_NUMBER.fullmatch(text) and math.isfinite(float(text)):
            return float(text)
        self.refuse(column, f"{text!r} is not a number of at least 0", example)
        return None

    def whole(self, column: str, most: float = math.inf) -> int | None:
        number = self.number(column, "a whole number")
        if number is not None and not number.is_integer():
            self.refuse(column, f"{self.text(column)!r} is not a whole number", "a whole number")
            return None
        if number is not None and number > most:
            self.refuse(column, f"{self.text(column)!r} is too large", f"at most {most:g}")
            return None
        return None if number is None else int(number)

    def quantity(self, column: str, unit: str) -> float | None:
        if not self.text(column):
            return None
        try:
            return parse(self.text(column), unit)
        except UnitError as error:
            self.refuse(column, str(error))
            return None


def _read(text: str, reading: _Reading) -> list[Offer]:
    rows = _rows(text, reading)
    offers = [offer for offer in (_offer(row) for row in rows) if offer is not None]
    if not reading.problems:
        _check_unique(offers, rows)
    if reading.problems:
        problems = sorted(reading.problems, key=lambda problem: problem.line or 0)
        count = f"{len(problems)} problem" + ("s" if len(problems) > 1 else "")
        msg = "\n".join([f"{reading.origin}: {count}", *(f"  - {problem}" for problem in problems)])
        raise InputFileError(msg, hint="the columns stand in the template of quotes")
    return offers


def _rows(text: str, reading: _Reading) -> list[_Row]:
    # A comment becomes an empty line, so that the lines after it keep their numbers.
    lines = ["\n" if line.lstrip().startswith("#") else line for line in text.removeprefix("\ufeff").splitlines(keepends=True)]
    reader = csv.reader(lines, strict=True)
    rows: list[_Row] = []
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            values = [cell.strip() for cell in cells]
            if header is None:
                header = [value.lower() for value in values]
                if len(header) == 1 and any(mark in header[0] for mark in _OTHER_SEPARATORS):
                    reading.problems.append(_wrong_separator(reader.line_num))
                    return []
                _check_header(header, reader.line_num, reading)
            elif unprintable := next((value for value in values if not value.isprintable()), None):
                message = f"{unprintable!r} holds characters that cannot be printed"
                reading.problems.append(Problem(path="row", line=reader.line_num, message=message))
            elif len(values) > len(header):
                message = f"{len(values)} cells under {len(header)} columns"
                reading.problems.append(Problem(path="row", line=reader.line_num, message=message))
            else:
                rows.append(_Row(cells=dict(zip(header, values, strict=False)), line=reader.line_num, reading=reading))
    except csv.Error as error:
        reading.problems.append(Problem(path="row", line=reader.line_num, message=f"not CSV: {error}"))
    if header is None or len(rows) > MOST_ROWS:
        message = "the file holds no header" if header is None else f"more than {MOST_ROWS} rows"
        reading.problems.append(Problem(path="file", line=None, message=message, expected=", ".join(COLUMNS)))
        return []
    return rows


def _wrong_separator(line: int) -> Problem:
    expected = "commas between cells and points in numbers: save the sheet as CSV with these"
    return Problem(path="header", line=line, message="the cells are not separated by commas", expected=expected)


def _check_header(header: Sequence[str], line: int, reading: _Reading) -> None:
    for column in header:
        if column not in COLUMNS:
            guess = nearest(column, COLUMNS)
            message = f"unknown column {column!r}" + (f"; did you mean {guess[0]!r}?" if guess else "")
            reading.problems.append(Problem(path="header", line=line, message=message))
    if len(set(header)) < len(header):
        reading.problems.append(Problem(path="header", line=line, message="a column stands there twice"))
    missing = [column for column in NEEDED if column not in header]
    if missing:
        message = f"missing column{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
        reading.problems.append(Problem(path="header", line=line, message=message))


def _check_unique(offers: Sequence[Offer], rows: Sequence[_Row]) -> None:
    seen: dict[str, int] = {}
    for offer, row in zip(offers, rows, strict=True):
        first = seen.setdefault(offer.id, row.line)
        if first != row.line:
            row.refuse("row", f"the contract of line {first} is stated again", "one row per contract, server and region")


def _offer(row: _Row) -> Offer | None:
    kind = _kind(row)
    if kind is None:
        return None
    channel = row.text("channel") or row.reading.channel or row.needed("channel", "the name that a scenario uses")
    if row.reading.shipped:
        row.needed("source", "where the price is published")
        if channel != row.reading.channel:
            row.refuse("channel", f"{channel!r} is not the channel that the file is named after", repr(row.reading.channel))
    for column, kinds in _UNFIT.items():
        if kind in kinds and row.text(column) not in {"", "0"}:
            row.refuse(column, f"{column!r} means nothing in a row of kind {kind.value!r}", "an empty cell")
    what = _Delivered() if kind is OfferKind.HOSTED else _delivered(row, kind)
    tokens = _tokens(row) if kind is OfferKind.HOSTED else None
    price = None if kind is OfferKind.HOSTED else _price(row, kind, what.accelerators)
    term, upfront = _term(row, kind)
    as_of, confidence, lead_time = _day(row), _confidence(row), _lead_time(row)
    least, most, stops = row.whole("min_servers"), row.whole("max_servers"), row.number("interruptions_per_hour")
    if row.wrong:
        return None
    region = row.text("region")
    return Offer(
        id=_id(channel, kind, tokens.model if tokens else what.server or what.accelerator, region, (term, upfront)),
        channel=channel,
        vendor=row.text("vendor") or channel,
        kind=kind,
        region=region,
        as_of=as_of,
        source=row.text("source") or row.reading.origin,
        confidence=confidence,
        server=what.server,
        accelerator=what.accelerator,
        accelerators=what.accelerators,
        network_bandwidth=what.network,
        price=price,
        tokens=tokens,
        term_months=term,
        upfront_share=upfront,
        max_servers=most,
        min_servers=least or 0,
        lead_time=lead_time,
        interruptions_per_hour=stops,
        user_quote=row.reading.user_quote,
        note=row.text("note"),
    )


def _id(channel: str, kind: OfferKind, what: str, region: str, contract: tuple[int, float]) -> str:
    term, upfront = contract
    parts = [channel, kind.value, what, region, f"{term}m" if term else "", f"upfront-{upfront:g}" if upfront else ""]
    return "/".join(part for part in parts if part)


def _kind(row: _Row) -> OfferKind | None:
    text = row.needed("kind", ", ".join(OfferKind)).lower()
    if not text:
        return None
    try:
        return OfferKind(text)
    except ValueError:
        guess = nearest(text, list(OfferKind))
        row.refuse("kind", f"unknown kind {text!r}", f"{guess[0]}?" if guess else ", ".join(OfferKind))
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Delivered:
    """What a contract delivers: server, accelerator, how many of them, cluster network per accelerator (B/s)."""

    server: str = ""
    accelerator: str = ""
    accelerators: int = 0
    network: float = 0.0


def _delivered(row: _Row, kind: OfferKind) -> _Delivered:
    server = _known_server(row, kind)
    accelerator, count, network = _accelerator(row), row.whole("accelerators", MOST_PER_SERVER), row.quantity("network", "B/s")
    if server is None:
        # A purchase of an unknown server was refused already, by its name.
        if not row.wrong:
            row.needed("accelerator", "what the server carries, for example h100-sxm")
            if not count:
                row.refuse("accelerators", "how many accelerators one server has is missing", "for example 8")
        return _Delivered(server=row.text("server"), accelerator=accelerator, accelerators=count or 0, network=network or 0.0)
    if accelerator and accelerator != server.accelerator:
        row.refuse("accelerator", f"{server.id} carries {server.accelerator}, not {accelerator}")
    if count and count != server.accelerators:
        row.refuse("accelerators", f"{server.id} has {server.accelerators} accelerators, not {count}")
    bandwidth = server.network_bandwidth.value if network is None else network
    return _Delivered(server=server.id, accelerator=server.accelerator, accelerators=server.accelerators, network=bandwidth)


def _known_server(row: _Row, kind: OfferKind) -> Server | None:
    """The catalogue server of a row; rented kinds may name an instance type that the catalogue does not hold."""
    if row.reading.catalogue is None:
        return None
    name = row.needed("server", "a catalogue server") if kind is OfferKind.PURCHASE else row.text("server")
    try:
        return row.reading.catalogue.server(name) if name else None
    except UnknownNameError as error:
        if kind is OfferKind.PURCHASE:
            row.refuse("server", str(error), "a catalogue server")
        return None


def _accelerator(row: _Row) -> str:
    name = row.text("accelerator")
    if not name or row.reading.catalogue is None:
        return name
    try:
        return row.reading.catalogue.accelerator(name).id
    except UnknownNameError as error:
        row.refuse("accelerator", str(error))
        return name


def _price(row: _Row, kind: OfferKind, accelerators: int) -> Price | None:
    allowed = _PURCHASE_PER if kind is OfferKind.PURCHASE else _RENT_PER
    amount, low, high = row.number("price"), row.number("low"), row.number("high")
    if not row.text("price"):
        row.refuse("price", "the price is missing, and a missing price is never taken as 0", "a number, for example 310000")
    elif amount == 0:
        row.refuse("price", "the price is 0, and a missing price is never taken as 0", "a number above 0")
    per = row.needed("per", " or ".join(allowed))
    if per and per not in allowed:
        row.refuse("per", f"{per!r} does not fit an offer of kind {kind.value!r}", " or ".join(allowed))
    currency = _currency(row)
    if amount and (low == 0 or not (amount if low is None else low) <= amount <= (amount if high is None else high)):
        row.refuse("low", f"the price {amount:g} does not lie between low and high", "low <= price <= high, low above 0")
    if row.wrong or amount is None:
        return None
    factor = (accelerators if per.startswith("accelerator") else 1) / (HOURS_PER_MONTH if per.endswith("-month") else 1.0)
    return Price(
        amount=amount * factor,
        currency=currency,
        per="server" if kind is OfferKind.PURCHASE else "server-hour",
        low=None if low is None else low * factor,
        high=None if high is None else high * factor,
    )


def _currency(row: _Row) -> str:
    currency = row.needed("currency", "for example USD")
    if currency and not _CURRENCY.fullmatch(currency):
        row.refuse("currency", f"{currency!r} is not a currency", "three capital letters, for example USD or CNY")
    elif currency and currency != "USD" and row.reading.catalogue is not None:
        known = row.reading.catalogue.exchange_rates
        if currency not in known:
            row.refuse("currency", f"no exchange rate for {currency}", f"USD, {', '.join(sorted(known))}")
    return currency


def _tokens(row: _Row) -> TokenPrice | None:
    """Prices per million tokens of a hosted API."""
    model, prices = (
        row.needed("model", "a catalogue model"),
        [row.number(column) for column in ("input", "output", "cached_input")],
    )
    for column, price in zip(("input", "output"), prices, strict=False):
        if not price:
            row.refuse(column, f"the {column} price per million tokens is missing", "a number above 0")
    currency = _currency(row)
    if model and row.reading.catalogue is not None:
        try:
            model = row.reading.catalogue.model(model).id
        except UnknownNameError as error:
            row.refuse("model", str(error))
    read, written, cached = prices
    if not read or not written:
        return None
    return TokenPrice(input=read, output=written, cached_input=cached, currency=currency, model=model)


def _term(row: _Row, kind: OfferKind) -> tuple[int, float]:
    term, upfront = row.whole("term_months"), row.quantity("upfront", "1")
    if kind in _WITH_TERM and not term:
        row.refuse("term_months", "the length of the contract is missing", "months, for example 12")
    if upfront is not None and not 0 <= upfront <= 1:
        row.refuse("upfront", f"{row.text('upfront')!r} is no share of the price", "0 % to 100 %")
    return term or 0, upfront or 0.0


def _day(row: _Row) -> str:
    text = row.needed("as_of", "the day of the price, for example 2026-11-20")
    if text and (not _DAY_OR_MONTH.fullmatch(text) or not _is_day(text)):
        row.refuse("as_of", f"{text!r} is not a date", "year-month-day or year-month, for example 2026-11-20")
    return text


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text if len(text) > len("2026-11") else f"{text}-01")
    except ValueError:
        return False
    return True


def _confidence(row: _Row) -> Confidence:
    text = row.text("confidence")
    if not text:
        return Confidence.HIGH if row.reading.user_quote else Confidence.MEDIUM
    try:
        return Confidence(text)
    except ValueError:
        row.refuse("confidence", f"{text!r} is not a confidence", ", ".join(Confidence))
        return Confidence.LOW


def _lead_time(row: _Row) -> LeadTime | None:
    median, late = row.number("lead_p50_weeks"), row.number("lead_p90_weeks")
    if median is None:
        if late is not None:
            row.refuse("lead_p50_weeks", "the median of the lead time is missing", "weeks")
        return None
    if late is not None and late < median:
        row.refuse("lead_p90_weeks", f"{late:g} weeks is less than the median of {median:g}", "at least the median")
    # A stated median alone says nothing of delays; buyers see about twice that in one order of ten.
    return LeadTime(
        p50_weeks=median,
        p90_weeks=median * LATE if late is None else late,
        source=row.text("source") or row.reading.origin,
    )
