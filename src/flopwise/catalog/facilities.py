"""Regions, exchange rates and the parameters that stand in where a scenario states none."""

from __future__ import annotations

from importlib.resources.abc import Traversable

from flopwise.catalog.facts import Entry
from flopwise.domain.provenance import Fact
from flopwise.domain.site import Region
from flopwise.ground.money import ExchangeRate


def read_region(file: Traversable) -> Region:
    """Facility facts of one region.

    Raises:
        CatalogueError: a key is missing, unknown or cannot be read; the message names file and key.
    """
    entry = Entry.read(file)
    entry.check_keys(("name", "electricity", "pue", "colocation", "notes"))
    return Region(
        id=entry.id,
        name=entry.text("name"),
        electricity=entry.money("electricity", "kWh")[0],
        pue=entry.fact("pue", "1"),
        colocation=entry.money("colocation", "kW/month")[0],
    )


def read_exchange_rates(file: Traversable) -> dict[str, ExchangeRate]:
    """USD per unit of each currency.

    Raises:
        CatalogueError: a rate lacks its date or source.
    """
    whole = Entry.read(file)
    rates: dict[str, ExchangeRate] = {}
    for currency in whole.table:
        entry = Entry(file=f"{file.name}: {currency}", table=whole.inner(currency))
        entry.check_keys(("usd",))
        usd = entry.number("usd")
        if usd == 0:
            raise entry.refusal("usd", "a rate of 0 would make prices vanish")
        rates[currency] = ExchangeRate(currency=currency, usd=usd, as_of=entry.day("as_of"), source=entry.text("source"))
    return rates


def read_parameters(file: Traversable) -> dict[str, Fact]:
    """Parameters by id, each with its unit.

    Raises:
        CatalogueError: a parameter lacks unit, source, date or confidence.
    """
    whole = Entry.read(file)
    facts: dict[str, Fact] = {}
    for name in whole.table:
        unit = Entry(file=f"{file.name}: {name}", table=whole.inner(name)).text("unit")
        facts[name] = whole.fact(name, unit, zero=True)
    return facts
