"""TOML files with facts.

A fact is a text with a unit that inherits source, date and confidence from its file, or a table with its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, empty when there is none."""
        value: object = self.table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in cast("list[object]", value)):
            raise self.refusal(key, f"{value!r} is not a list of texts")
        return tuple(cast("list[str]", value))

    def number(self, key: str, default: float | None = None) -> float:
        """A plain number of at least 0."""
        value = self.table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise self.refusal(key, "a number is missing" if value is None else f"{value!r} is not a number of at least 0")
        return float(value)

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number of at least 0."""
        value = self.number(key, default)
        if value != int(value):
            raise self.refusal(key, f"{value!r} is not a whole number")
        return int(value)

    def fact(self, key: str, unit: str) -> Fact:
        """A fact in base units.

        Raises:
            CatalogueError: it is missing, has another unit, or lies outside its own range.
        """
        if key not in self.table:
            raise self.refusal(key, "the fact is missing")
        return self._fact(key, self.table[key], unit)

    def optional_fact(self, key: str, unit: str) -> Fact | None:
        """A fact, or nothing."""
        return self.fact(key, unit) if key in self.table else None

    def facts(self, key: str, unit: str) -> dict[str, Fact]:
        """A table of facts by name."""
        inside: Table = self.table.get(key, {})
        return {name: self._fact(f"{key}.{name}", value, unit) for name, value in inside.items()}

    def money(self, key: str, per: str = "") -> tuple[Fact, str]:
        """A price and its currency. Electricity per kWh becomes USD/J, rent per kW and month USD/W/month."""
        if key not in self.table:
            raise self.refusal(key, "the price is missing")
        stated = self._table(self.table[key])
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
        if len(currencies) != 1:
            raise self.refusal(key, "more than one currency")
        currency = currencies.pop()
        return self._made(key, stated, amounts, _MONEY[per][0] or currency), currency

    def _money(self, key: str, value: object) -> tuple[float, str, str]:
        try:
            return parse_money(value)
        except UnitError as error:
            raise self.refusal(key, str(error)) from error

    def _fact(self, key: str, value: object, unit: str) -> Fact:
        stated = self._table(value)
        unknown = stated.keys() - _FACT_KEYS
        if unknown:
            where = f"{key}.{min(unknown)}"
            raise self.refusal(where, "unknown key")
        amounts = {name: self._amount(key, stated[name], unit) if name in stated else None for name in ("value", "low", "high")}
        return self._made(key, stated, amounts, unit)

    def _table(self, value: object) -> Table:
        return cast("Table", value) if isinstance(value, dict) else {"value": value}

    def _amount(self, key: str, value: object, unit: str) -> float:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        try:
            return parse(value, unit)
        except (UnitError, KeyError) as error:
            raise self.refusal(key, str(error)) from error

    def _made(self, key: str, stated: Table, amounts: Mapping[str, float | None], unit: str) -> Fact:
        value, low, high = amounts["value"], amounts["low"], amounts["high"]
        if value is None:
            raise self.refusal(key, "the value is missing")
        if (low is not None and low > value) or (high is not None and high < value):
            raise self.refusal(key, f"{value:g} lies outside its own range {low} to {high}")
        origin = {name: stated.get(name, self.table.get(name)) for name in _ORIGIN}
        for name, text in origin.items():
            if not isinstance(text, str) or not text:
                raise self.refusal(key, f"no {name} is stated")
        return Fact(
            value=value,
            unit=unit,
            source=str(origin["source"]),
            as_of=str(origin["as_of"]),
            confidence=self._confidence(key, str(origin["confidence"])),
            low=low,
            high=high,
            note=str(stated.get("note", "")),
        )

    def _confidence(self, key: str, text: str) -> Confidence:
        try:
            return Confidence(text)
        except ValueError as error:
            raise self.refusal(key, f"confidence {text!r} is none of high, medium, low") from error
