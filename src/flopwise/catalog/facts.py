"""TOML files with facts.

A fact is a text with a unit that inherits source, date and confidence from its file, or a table with its own.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.resources.abc import Traversable
from typing import Any, cast

from flopwise.domain.provenance import Confidence, Fact
from flopwise.ground.errors import CatalogueError, UnitError, nearest
from flopwise.ground.units import HOUR, KILO, parse, parse_money

Table = Mapping[str, Any]
_FACT_KEYS = frozenset({"value", "low", "high", "unit", "source", "as_of", "confidence", "note"})
_ORIGIN = ("source", "as_of", "confidence")
#: Per-what of a money text, the unit of the fact and what the amount is divided by.
_MONEY: Mapping[str, tuple[str, float]] = {
    "": ("", 1.0),
    "kWh": ("USD/J", KILO * HOUR),
    "kW/month": ("USD/W/month", KILO),
}


def read_table(file: Traversable) -> Table:
    """The table of a TOML file.

    Raises:
        CatalogueError: not TOML, or not UTF-8.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"{file.name}: {error}"
        raise CatalogueError(msg) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of facts. Every refusal names the file and the key."""

    file: str
    table: Table

    @classmethod
    def read(cls, file: Traversable) -> Entry:
        """Open a file."""
        return cls(file=file.name, table=read_table(file))

    @property
    def id(self) -> str:
        """The name of the file without its ending."""
        return self.file.removesuffix(".toml")

    def check_keys(self, known: Sequence[str]) -> None:
        """Refuse unknown keys."""
        for key in self.table:
            if key not in known and key not in _ORIGIN:
                close = nearest(key, known)
                raise self.refusal(key, f"unknown key{f', did you mean {close[0]!r}?' if close else ''}")

    def refusal(self, key: str, message: str) -> CatalogueError:
        """An error that names file and key."""
        msg = f"{self.file}: {key}: {message}"
        return CatalogueError(msg)

    def text(self, key: str, default: str | None = None) -> str:
        """A text, or the default."""
        value = self.table.get(key, default)
        if not isinstance(value, str):
            raise self.refusal(key, "a text is missing" if value is None else f"{value!r} is not a text")
        return value

    def day(self, key: str) -> str:
        """An ISO date."""
        return self.checked_day(key, self.text(key))

    def checked_day(self, key: str, text: str) -> str:
        """``text`` when it is an ISO date."""
        try:
            date.fromisoformat(text)
        except ValueError as error:
            raise self.refusal(key, f"{text!r} is not a date such as 2026-08-22") from error
        return text

    def choice(self, key: str, known: Sequence[str], default: str | None = None) -> str:
        """A text out of a list."""
        text = self.text(key, default)
        if text not in known:
            raise self.refusal(key, f"{text!r} is none of {', '.join(known)}")
        return text

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, empty when there is none."""
        value: object = self.table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in cast("list[object]", value)):
            raise self.refusal(key, f"{value!r} is not a list of texts")
        return tuple(cast("list[str]", value))

    def number(self, key: str, default: float | None = None) -> float:
        """A plain number of at least 0."""
        value = self.table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
            raise self.refusal(key, "a number is missing" if value is None else f"{value!r} is not a number of at least 0")
        return float(value)

    def whole(self, key: str, default: int | None = None, *, least: int = 0) -> int:
        """A whole number of at least ``least``."""
        value = self.number(key, default)
        if value != int(value) or value < least:
            raise self.refusal(key, f"{value!r} is not a whole number of at least {least}")
        return int(value)

    def inner(self, key: str) -> Table:
        """A table inside the file, empty when there is none."""
        value: object = self.table.get(key, {})
        if not isinstance(value, dict):
            raise self.refusal(key, f"{value!r} is not a table")
        return cast("Table", value)

    def tables(self, key: str) -> tuple[Table, ...]:
        """A list of tables, empty when there is none."""
        value: object = self.table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in cast("list[object]", value)):
            raise self.refusal(key, f"{value!r} is not a list of tables")
        return tuple(cast("list[Table]", value))

    def fact(self, key: str, unit: str, *, zero: bool = False) -> Fact:
        """A fact in base units; more than 0, or at least 0 where ``zero`` says something.

        Raises:
            CatalogueError: it is missing, has another unit or none, is negative, or lies outside its own range.
        """
        if key not in self.table:
            raise self.refusal(key, "the fact is missing")
        return self._fact(key, self.table[key], unit, zero=zero)

    def optional_fact(self, key: str, unit: str) -> Fact | None:
        """A fact, or nothing."""
        return self.fact(key, unit) if key in self.table else None

    def facts(self, key: str, unit: str) -> dict[str, Fact]:
        """A table of facts by name."""
        return {name: self._fact(f"{key}.{name}", value, unit, zero=False) for name, value in self.inner(key).items()}

    def money(self, key: str, per: str = "") -> tuple[Fact, str]:
        """A price and its currency. Electricity per kWh becomes USD/J, rent per kW and month USD/W/month."""
        if key not in self.table:
            raise self.refusal(key, "the price is missing")
        stated = self._stated(key, self.table[key])
        currencies = set[str]()
        amounts = dict[str, float | None]()
        for name in ("value", "low", "high"):
            amounts[name] = None
            if name in stated:
                amount, currency, what = self._money(key, stated[name])
                if what != per:
                    raise self.refusal(key, f"{stated[name]!r} is per {what!r}; expected per {per!r}")
                amounts[name] = amount / _MONEY[per][1]
                currencies.add(currency)
        if len(currencies) > 1:
            raise self.refusal(key, "more than one currency")
        fact = self._made(key, stated, amounts, _MONEY[per][0] or "".join(currencies), zero=False)
        return fact, currencies.pop()

    def _money(self, key: str, value: object) -> tuple[float, str, str]:
        try:
            return parse_money(value)
        except UnitError as error:
            raise self.refusal(key, str(error)) from error

    def _fact(self, key: str, value: object, unit: str, *, zero: bool) -> Fact:
        stated = self._stated(key, value)
        # A bare number is of a stated unit or of none: 80 must not become 80 bytes.
        bare = unit == "1" or stated.get("unit") == unit
        amounts = dict[str, float | None]()
        for name in ("value", "low", "high"):
            amounts[name] = self._amount(key, stated[name], unit, bare=bare) if name in stated else None
        return self._made(key, stated, amounts, unit, zero=zero)

    def _stated(self, key: str, value: object) -> Table:
        if not isinstance(value, dict):
            return {"value": value}
        stated = cast("Table", value)
        for name in stated:
            if name not in _FACT_KEYS:
                where = f"{key}.{name}"
                raise self.refusal(where, "unknown key")
        return stated

    def _amount(self, key: str, value: object, unit: str, *, bare: bool) -> float:
        if bare and isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        try:
            return parse(value, unit)
        except (UnitError, KeyError) as error:
            raise self.refusal(key, str(error)) from error

    def _made(self, key: str, stated: Table, amounts: Mapping[str, float | None], unit: str, *, zero: bool) -> Fact:
        value, low, high = self._range(key, amounts, zero=zero)
        return Fact(
            value=value,
            unit=unit,
            source=self._origin(key, stated, "source"),
            as_of=self.checked_day(key, self._origin(key, stated, "as_of")),
            confidence=self._confidence(key, self._origin(key, stated, "confidence")),
            low=low,
            high=high,
            note=Entry(file=f"{self.file}: {key}", table=stated).text("note", ""),
        )

    def _range(self, key: str, amounts: Mapping[str, float | None], *, zero: bool) -> tuple[float, float | None, float | None]:
        value, low, high = amounts["value"], amounts["low"], amounts["high"]
        if value is None:
            raise self.refusal(key, "the value is missing")
        for amount in (value, low, high):
            if amount is not None and not 0 <= amount < math.inf:
                raise self.refusal(key, f"{amount:g} is not a number of at least 0")
        if value == 0 and not zero:
            raise self.refusal(key, "it is 0; what is not known is left out")
        if (low is not None and low > value) or (high is not None and high < value):
            raise self.refusal(key, f"{value:g} lies outside its own range {low} to {high}")
        return value, low, high

    def _origin(self, key: str, stated: Table, name: str) -> str:
        text = stated.get(name, self.table.get(name))
        if not isinstance(text, str) or not text:
            raise self.refusal(key, f"no {name} is stated")
        return text

    def _confidence(self, key: str, text: str) -> Confidence:
        try:
            return Confidence(text)
        except ValueError as error:
            raise self.refusal(key, f"confidence {text!r} is none of high, medium, low") from error
