"""The kinds of values that a scenario holds: each reads text or a number strictly and says what it expected.

A quantity is parsed once, here, into base units; money keeps its currency until the exchange rates are known.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BeforeValidator, Discriminator, Tag, WithJsonSchema

from flopwise.domain.hardware import MOST_PER_SERVER
from flopwise.ground.errors import nearest
from flopwise.ground.units import YEAR, parse, parse_money


@dataclass(frozen=True, slots=True)
class Amount:
    """Money as it was written: number, currency, per-what (``""``, ``h``, ``kWh``, ``kW/month`` ...)."""

    amount: float
    currency: str
    per: str


def _text_schema(*examples: Any) -> WithJsonSchema:  # noqa: ANN401 - JSON values
    return WithJsonSchema({"type": ["string", "number"], "examples": list(examples)})


def _quantity(symbol: str, *, least: float = 0.0, most: float = math.inf, zero: bool = False) -> BeforeValidator:
    def read(value: object) -> float:
        number = parse(value, symbol)
        if number < least or number > most or (number == 0.0 and not zero):
            msg = f"{value!r} is out of range; expected {_range(symbol, least, most, zero=zero)}"
            raise ValueError(msg)
        return number

    return BeforeValidator(read)


def _range(symbol: str, least: float, most: float, *, zero: bool) -> str:
    per_cent = symbol in {"1", "1/month"}
    low, high = (f"{least:.0%}", f"{most:.0%}") if per_cent else (f"{least:g}", f"{most:g} {symbol}")
    if math.isinf(most):
        return f"at least {low}" if zero else f"more than {low}"
    return f"from {low} to {high}" if zero else f"above {low}, up to {high}"


def number_of(value: object) -> float:
    """A finite number; text such as ``1e3`` counts, ``yes`` and ``true`` do not."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        msg = f"{value!r} is not a number"
        raise ValueError(msg)  # noqa: TRY004 - pydantic gathers ValueErrors
    try:
        number = float(value)
    except ValueError:
        msg = f"{value!r} is not a number"
        raise ValueError(msg) from None
    if not math.isfinite(number):
        msg = f"{value!r} is not a finite number"
        raise ValueError(msg)
    return number


def _number(least: float, *, above: bool = False) -> BeforeValidator:
    def read(value: object) -> float:
        number = number_of(value)
        if number < least or (above and number == least):
            msg = f"{value!r} is out of range; expected {'more than' if above else 'at least'} {least:g}"
            raise ValueError(msg)
        return number

    return BeforeValidator(read)


def grouped(value: object) -> str:
    """A hint for numbers that people write in groups of three."""
    digits = str(value).replace(",", "").replace("'", "").replace(" ", "")
    return f"; write {digits} without separators" if isinstance(value, str) and digits.isdigit() and digits != value else ""


def _whole(least: int, most: int = 10**9) -> BeforeValidator:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            msg = f"{value!r} is not a whole number{grouped(value)}"
            raise ValueError(msg)  # noqa: TRY004 - pydantic gathers ValueErrors
        if not least <= value <= most:
            msg = f"{value} is out of range; expected from {least} to {most}"
            raise ValueError(msg)
        return value

    return BeforeValidator(read)


def _people(value: object) -> float:
    try:
        number = parse(value.removesuffix("users") if isinstance(value, str) else value, "tokens")
    except ValueError:
        number = 0.0
    if number <= 0.0:
        msg = f"{value!r} is not a number of users; expected for example 20000 or '20k'"
        raise ValueError(msg)
    return number


def _month(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"(19|20|21)\d{2}-(0[1-9]|1[0-2])", value):
        msg = f"{value!r} is not a month; expected for example 2027-01"
        raise ValueError(msg)
    return value


def _day(value: object) -> str:
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError:
        msg = f"{value!r} is not a day; expected for example 2026-12-01"
        raise ValueError(msg) from None


def _timezone(value: object) -> str:
    try:
        if isinstance(value, str) and value:
            ZoneInfo(value)
            return value
    except (KeyError, ValueError, OSError):
        pass
    close = nearest(str(value), available_timezones())
    guess = f"; did you mean {' or '.join(close)}?" if close else "."
    msg = f"unknown time zone {value!r}{guess} Expected an IANA name such as America/New_York or UTC"
    raise ValueError(msg)


def _name(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"\w[\w.-]{0,63}", value):
        msg = f"{value!r} is not a name: letters, digits, '.', '_' and '-', at most 64"
        raise ValueError(msg)
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        msg = f"{value!r} is not text"
        raise ValueError(msg)
    return value.strip()


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        msg = f"{value!r} is neither true nor false"
        raise ValueError(msg)  # noqa: TRY004 - pydantic gathers ValueErrors
    return value


def _money(*per: str) -> BeforeValidator:
    def read(value: object) -> Amount:
        amount, currency, what = parse_money(value)
        spelled = " or ".join(f"USD/{item}" if item else "a plain amount such as 40M USD" for item in per)
        if amount < 0.0:
            msg = f"{value!r} is negative"
            raise ValueError(msg)
        if what.strip() not in per:
            found = f"is per {what!r}" if what else "lacks its per-what"
            msg = f"{value!r} {found}; expected {spelled}"
            raise ValueError(msg)
        return Amount(amount, currency, what.strip())

    return BeforeValidator(read)


def _ages(value: object) -> object:
    """Residual values by age: ``1 y`` becomes 1.0."""
    if not isinstance(value, Mapping):
        msg = f"{value!r} is not a table of ages; expected for example {{1 y: 62%, 3 y: 30%}}"
        raise ValueError(msg)  # noqa: TRY004 - pydantic gathers ValueErrors
    read = {round(parse(age, "s") / YEAR, 6): parse(share, "1") for age, share in value.items()}
    shares = [read[age] for age in sorted(read)]
    if any(not 0.0 <= share <= 1.0 for share in shares):
        msg = "a residual value is out of range; expected from 0% to 100%"
        raise ValueError(msg)
    if any(later > earlier for earlier, later in itertools.pairwise(shares)):
        msg = "residual values rise with age; each must be at most the one before"
        raise ValueError(msg)
    return read


#: Amounts are computed and reported in one currency.
REPORTED = "USD"


def _reported(value: object) -> str:
    """The one currency of reports."""
    if value == REPORTED:
        return REPORTED
    msg = f"amounts are reported in {REPORTED}, not {value!r}; expected {REPORTED} (prices in EUR and CNY are converted)"
    raise ValueError(msg)


def scalar_or_mapping(value: object) -> str:
    """Tag of a value that may be one word or a mapping. Tags are dropped from paths in messages."""
    return "<mapping>" if isinstance(value, Mapping) else "<scalar>"


def choice(kind: str, known: tuple[str, ...]) -> tuple[BeforeValidator, WithJsonSchema]:
    """One of some words, with the nearest named when it is none of them."""

    def read(value: object) -> str:
        if value in known:
            return str(value)
        close = nearest(str(value), known)
        guess = f"; did you mean {' or '.join(close)}?" if close else "."
        msg = f"unknown {kind} {value!r}{guess} Known: {', '.join(known)}"
        raise ValueError(msg)

    return BeforeValidator(read), WithJsonSchema({"type": "string", "enum": list(known)})


#: More requests/s than all services of the world together; a larger number is a mistake of units.
MOST_REQUESTS = 1e9

EITHER = Discriminator(scalar_or_mapping)
SCALAR, MAPPING = Tag("<scalar>"), Tag("<mapping>")
_COUNT_SCHEMA = WithJsonSchema({"type": "integer"})
_NUMBER_SCHEMA = WithJsonSchema({"type": "number"})
_TEXT_SCHEMA = WithJsonSchema({"type": "string"})

Duration = Annotated[float, _quantity("s"), _text_schema("75 d", "800 ms")]
Share = Annotated[float, _quantity("1", most=1.0, zero=True), _text_schema("20%", 0.2)]
Rate = Annotated[float, _quantity("req/s", most=MOST_REQUESTS), _text_schema("40 req/s", "9000 req/h")]
Growing = Annotated[float, _quantity("1/month", least=-0.5, most=1.0, zero=True), _text_schema("6 %/month")]
Tokens = Annotated[float, _quantity("tokens"), _text_schema("2T", "4M tokens")]
Power = Annotated[float, _quantity("W"), _text_schema("2 MW")]
Bandwidth = Annotated[float, _quantity("B/s", zero=True), _text_schema("400 Gbit/s")]
Positive = Annotated[float, _number(0.0, above=True), _NUMBER_SCHEMA]
Weight = Annotated[float, _number(0.0), _NUMBER_SCHEMA]
Factor = Annotated[float, _number(1.0), _NUMBER_SCHEMA]
Count = Annotated[int, _whole(1), _COUNT_SCHEMA]
#: Failure zones of one service; more than any region has.
Zones = Annotated[int, _whole(1, 16), _COUNT_SCHEMA]
PerServer = Annotated[int, _whole(1, MOST_PER_SERVER), _COUNT_SCHEMA]
CountOrZero = Annotated[int, _whole(0), _COUNT_SCHEMA]
Months = Annotated[int, _whole(1, 120), _COUNT_SCHEMA]
Users = Annotated[float, BeforeValidator(_people), _text_schema(20000, "20k")]
Currency = Annotated[str, BeforeValidator(_reported), WithJsonSchema({"type": "string", "enum": [REPORTED]})]
Month = Annotated[
    str, BeforeValidator(_month), WithJsonSchema({"type": "string", "pattern": r"^\d{4}-\d{2}$", "examples": ["2027-01"]})
]
Day = Annotated[str, BeforeValidator(_day), WithJsonSchema({"type": "string", "format": "date", "examples": ["2026-12-01"]})]
TimeZone = Annotated[str, BeforeValidator(_timezone), WithJsonSchema({"type": "string", "examples": ["America/New_York", "UTC"]})]
Name = Annotated[str, BeforeValidator(_name), WithJsonSchema({"type": "string", "pattern": r"^\w[\w.-]{0,63}$"})]
Text = Annotated[str, BeforeValidator(_text), _TEXT_SCHEMA]
Flag = Annotated[bool, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})]
Ages = Annotated[
    Mapping[float, float],
    BeforeValidator(_ages),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": ["string", "number"]}, "examples": [{"1 y": "62%"}]}),
]
Capital = Annotated[Amount, _money(""), _text_schema("40M USD")]
Monthly = Annotated[Amount, _money("", "month"), _text_schema("2.5M USD")]
Hourly = Annotated[Amount, _money("h", "month"), _text_schema("120 USD/h")]
Yearly = Annotated[Amount, _money("", "y", "year"), _text_schema("180k USD/y")]
Electricity = Annotated[Amount, _money("kWh", "MWh"), _text_schema("0.08 USD/kWh")]
Colocation = Annotated[Amount, _money("kW/month"), _text_schema("180 USD/kW/month")]
ServerPrice = Annotated[
    Amount,
    _money("", "server", "h", "month", "server/h", "server/month", "accelerator/h", "GPU/h"),
    _text_schema("310k USD", "55.04 USD/h", "2.40 USD/GPU/h"),
]
TokenAmount = Annotated[Amount, _money("1M tokens", "M tokens"), _text_schema("0.90 USD/1M tokens")]
