"""Units: strict parsing at the edges, SI base floats inside, readable text on the way out.

This is the only module that holds scale factors. Inside flopwise a quantity is a plain float (or a
NumPy array) in the base unit of its dimension, and its type says which: ``Bytes``, ``Seconds``,
``FlopsPerSecond``. Text such as ``"80 GB"`` becomes a float here and nowhere else.

``80 GB`` is 80e9 bytes, ``80 GiB`` is 80 x 2**30 bytes, and ``80 Gb`` is refused: a reader cannot
tell bits from bytes there, so network rates are spelled ``Gbit/s``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from flopwise.ground.errors import UnitError

KILO, MEGA, GIGA, TERA, PETA, EXA = 1e3, 1e6, 1e9, 1e12, 1e15, 1e18
MILLI, MICRO = 1e-3, 1e-6
KIBI, MEBI, GIBI, TEBI = 2.0**10, 2.0**20, 2.0**30, 2.0**40
BITS_PER_BYTE = 8.0
MINUTE, HOUR, DAY, WEEK = 60.0, 3600.0, 86400.0, 604800.0
HOURS_PER_DAY = 24
MONTHS_PER_YEAR = 12
#: The billing month that clouds use: 730 h, so that 730 USD/month is 1 USD/h.
HOURS_PER_MONTH = 730.0
HOURS_PER_YEAR = HOURS_PER_MONTH * MONTHS_PER_YEAR
MONTH = HOURS_PER_MONTH * HOUR
YEAR = MONTH * MONTHS_PER_YEAR
#: Price quantum of hosted APIs: money per million tokens.
MILLION_TOKENS = MEGA


@dataclass(frozen=True, slots=True)
class Unit:
    """The base unit of an annotated float, as it is printed and as it is parsed."""

    symbol: str


Bytes = Annotated[float, Unit("B")]
BytesPerSecond = Annotated[float, Unit("B/s")]
Flops = Annotated[float, Unit("FLOP")]
FlopsPerSecond = Annotated[float, Unit("FLOP/s")]
Seconds = Annotated[float, Unit("s")]
Watts = Annotated[float, Unit("W")]
Joules = Annotated[float, Unit("J")]
Kilograms = Annotated[float, Unit("kg")]
Tokens = Annotated[float, Unit("tokens")]
TokensPerSecond = Annotated[float, Unit("tokens/s")]
RequestsPerSecond = Annotated[float, Unit("req/s")]
Fraction = Annotated[float, Unit("1")]
PerMonth = Annotated[float, Unit("1/month")]
Usd = Annotated[float, Unit("USD")]
UsdPerHour = Annotated[float, Unit("USD/h")]
UsdPerJoule = Annotated[float, Unit("USD/J")]
UsdPerWattMonth = Annotated[float, Unit("USD/W/month")]

_METRIC = {"": 1.0, "k": KILO, "M": MEGA, "G": GIGA, "T": TERA, "P": PETA, "E": EXA}
_BINARY = {"Ki": KIBI, "Mi": MEBI, "Gi": GIBI, "Ti": TEBI}
_TIME = {
    "us": MICRO, "ms": MILLI, "s": 1.0, "min": MINUTE, "h": HOUR, "d": DAY, "day": DAY, "days": DAY,
    "week": WEEK, "weeks": WEEK, "month": MONTH, "months": MONTH, "y": YEAR, "year": YEAR, "years": YEAR,
}  # fmt: skip
#: Letters that may follow a count: 2T tokens, 4M tokens, 310k USD.
_COUNT = {"": 1.0, "k": KILO, "K": KILO, "M": MEGA, "B": GIGA, "T": TERA}
_PER_TIME = {"s": 1.0, "min": MINUTE, "h": HOUR, "d": DAY, "month": MONTH, "y": YEAR}


def _bytes_table() -> dict[str, float]:
    metric = {f"{prefix}B": factor for prefix, factor in _METRIC.items()}
    return metric | {f"{prefix}B": factor for prefix, factor in _BINARY.items()}


def _byte_rate_table() -> dict[str, float]:
    byte_rates = {f"{unit}/s": factor for unit, factor in _bytes_table().items()}
    bit_rates = {f"{prefix}bit/s": factor / BITS_PER_BYTE for prefix, factor in _METRIC.items()}
    return byte_rates | bit_rates


def _metric_table(symbol: str) -> dict[str, float]:
    return {f"{prefix}{symbol}": factor for prefix, factor in _METRIC.items()}


_TABLES: dict[str, dict[str, float]] = {
    "B": _bytes_table(),
    "B/s": _byte_rate_table(),
    "FLOP": _metric_table("FLOP"),
    "FLOP/s": _metric_table("FLOP/s"),
    "s": _TIME,
    "W": _metric_table("W"),
    "J": _metric_table("J") | {"Wh": HOUR, "kWh": KILO * HOUR, "MWh": MEGA * HOUR},
    "kg": {"kg": 1.0, "t": KILO},
    "tokens": {"tokens": 1.0, "": 1.0},
    "tokens/s": {f"tokens/{t}": 1.0 / f for t, f in _PER_TIME.items()},
    "req/s": {f"req/{t}": 1.0 / f for t, f in _PER_TIME.items()},
    "1": {"": 1.0, "%": 0.01},
    "1/month": {"%/month": 0.01, "%/y": 0.01 / MONTHS_PER_YEAR},
    "servers": {"servers": 1.0, "": 1.0},
}
#: Dimensions whose number may carry a counting letter ("2T", "4M tokens").
_COUNTED = frozenset({"tokens", "servers"})
_NUMBER = re.compile(r"^\s*([+-]?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(.*?)\s*$")


def parse(text: object, unit: Unit | str) -> float:
    """Read ``text`` as a quantity of dimension ``unit``, in base units.

    Args:
        text: a string such as ``"3.35 TB/s"``, or a bare number where the dimension allows one
            (counts and fractions only).
        unit: the base unit, as a ``Unit`` or its symbol.

    Returns:
        The value in base units.

    Raises:
        UnitError: the text has no number, no unit, or one that this dimension does not allow. The
            message lists the allowed spellings.

    >>> parse("80 GB", "B"), parse("80 GiB", "B")
    (80000000000.0, 85899345920.0)
    >>> parse("75 d", "s") == 75 * 24 * 3600
    True
    >>> parse("80 Gb", "B")
    Traceback (most recent call last):
        ...
    flopwise.ground.errors.UnitError: 'Gb' is ambiguous in '80 Gb': bits or bytes? Write GB, GiB or, for a rate, Gbit/s
    """
    symbol = unit.symbol if isinstance(unit, Unit) else unit
    table = _TABLES[symbol]
    if isinstance(text, bool) or not isinstance(text, (int, float, str)):
        msg = f"{text!r} is not a quantity; expected {_example(symbol)}"
        raise UnitError(msg)
    match = _NUMBER.match(str(text))
    if match is None:
        msg = f"{text!r} is not a number with a unit; expected {_example(symbol)}"
        raise UnitError(msg)
    number, suffix = float(match[1].replace("_", "")), match[2]
    factor = _factor(suffix, symbol, table)
    if factor is None:
        raise UnitError(_refusal(str(text), suffix, symbol, table))
    value = number * factor
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN is not equal to itself
        msg = f"{text!r} is not a finite number"
        raise UnitError(msg)
    return value


def _factor(suffix: str, symbol: str, table: dict[str, float]) -> float | None:
    if suffix in table:
        return table[suffix]
    if symbol in _COUNTED:
        letter, _, word = suffix.partition(" ")
        if letter in _COUNT and word in table:
            return _COUNT[letter] * table[word]
    return None


#: What a unit measures, where its symbol alone would puzzle.
_MEANS = {"s": "time", "B": "memory", "B/s": "bandwidth", "W": "power", "1": "a share", "req/s": "requests over time"}


def _refusal(text: str, suffix: str, symbol: str, table: dict[str, float]) -> str:
    if re.fullmatch(r"[kMGTP]i?b(/s|ps)?", suffix):
        prefix = suffix[0]
        return f"{suffix!r} is ambiguous in {text!r}: bits or bytes? Write {prefix}B, {prefix}iB or, for a rate, {prefix}bit/s"
    allowed = ", ".join(name for name in table if name)
    given = f"{suffix!r} is not a unit of {_MEANS.get(symbol, symbol)}" if suffix else "a unit is missing"
    return f"{given} in {text!r}; allowed: {allowed or 'a bare number'}"


def _example(symbol: str) -> str:
    return {
        "B": "for example '80 GB'", "B/s": "for example '3.35 TB/s' or '400 Gbit/s'", "s": "for example '75 d' or '800 ms'",
        "FLOP/s": "for example '989 TFLOP/s'", "tokens": "for example '2T' or '4M tokens'", "1": "for example '20%' or 0.2",
        "req/s": "for example '40 req/s'", "1/month": "for example '6 %/month'", "W": "for example '2 MW'",
    }.get(symbol, f"a number in {symbol}")  # fmt: skip


def parse_money(text: object) -> tuple[float, str, str]:
    """Read a price or an amount: ``"310k USD"``, ``"0.08 USD/kWh"``, ``"180 USD/kW/month"``.

    Returns:
        The number, the currency code and the per-what (``""`` for a plain amount), not converted:
        the caller knows which per-what it accepts.

    Raises:
        UnitError: no number, or no three-letter currency.

    >>> parse_money("310k USD"), parse_money("180 USD/kW/month")
    ((310000.0, 'USD', ''), (180.0, 'USD', 'kW/month'))
    """
    match = re.fullmatch(r"\s*([+-]?\d[\d_]*(?:\.\d+)?)\s*([kMB]?)\s*([A-Z]{3})(?:/([A-Za-z/0-9 ]+))?\s*", str(text))
    if match is None:
        msg = f"{text!r} is not an amount of money; expected for example '40M USD', '0.08 USD/kWh' or '55.04 USD/h'"
        raise UnitError(msg)
    return float(match[1].replace("_", "")) * _COUNT[match[2]], match[3], match[4] or ""


_STEPS = ((EXA, "E"), (PETA, "P"), (TERA, "T"), (GIGA, "G"), (MEGA, "M"), (KILO, "k"))
#: Units that people read in multiples: base unit -> factor and the unit that is printed.
_READER_UNITS = {"USD/J": (KILO * HOUR, "USD/kWh"), "USD/W/month": (KILO, "USD/kW/month")}
_COUNT_STEPS = ((TERA, " T"), (GIGA, " B"), (MEGA, " M"), (KILO, " k"))


def show(value: float, symbol: str, digits: int = 3) -> str:
    """Print a base-unit float for a reader: three significant digits, a fitting prefix, the unit.

    >>> show(3.35e12, "B/s"), show(0.23, "1"), show(41_300_000, "USD"), show(0.0123, "s"), show(0.08 / 3.6e6, "USD/J")
    ('3.35 TB/s', '23 %', '41.3 M USD', '12.3 ms', '0.08 USD/kWh')
    >>> show(800e9, "bit/s")
    '800 Gbit/s'
    """
    if symbol in _READER_UNITS:
        factor, name = _READER_UNITS[symbol]
        return f"{_significant(value * factor, digits)} {name}"
    if symbol == "1":
        return f"{_significant(value * 100, digits)} %"
    if symbol == "s":
        return _show_time(value, digits)
    prefixed = symbol in {"B", "B/s", "bit/s", "FLOP", "FLOP/s", "W"}
    return _show_prefixed(value, symbol, digits) if prefixed else _show_counted(value, symbol, digits)


def _show_prefixed(value: float, symbol: str, digits: int) -> str:
    for factor, prefix in _STEPS:
        if abs(value) >= factor:
            return f"{_significant(value / factor, digits)} {prefix}{symbol}"
    return f"{_significant(value, digits)} {symbol}"


def _show_counted(value: float, symbol: str, digits: int) -> str:
    for factor, prefix in _COUNT_STEPS:
        if abs(value) >= 10 * factor or (abs(value) >= factor >= MEGA):
            return f"{_significant(value / factor, digits)}{prefix} {symbol}".rstrip()
    return f"{_significant(value, digits)} {symbol}".rstrip()


def _show_time(value: float, digits: int) -> str:
    size = abs(value)
    for limit, factor, name in ((1.0, MILLI, "ms"), (10 * MINUTE, 1.0, "s"), (2 * HOUR, MINUTE, "min"), (2 * DAY, HOUR, "h")):
        if size < limit:
            return f"{_significant(value / factor, digits)} {name}"
    return f"{_significant(value / DAY, digits)} d"


def _significant(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    if "e" in text:
        text = f"{float(text):,.0f}" if abs(value) >= 1 else text
    return text
