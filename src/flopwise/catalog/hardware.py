"""Accelerators, servers and switches: one TOML file each."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from typing import Any, cast

from flopwise.catalog.facts import Entry, Table
from flopwise.domain.hardware import PRECISION_BYTES, Accelerator, ExportRule, Server, Switch

_ACCELERATOR_KEYS = (
    "name", "vendor", "architecture", "released", "status", "aliases", "memory", "memory_bandwidth", "peak", "achievable",
    "scale_up_bandwidth", "scale_up_domain", "power", "export", "notes",
)  # fmt: skip
_SERVER_KEYS = (
    "name", "vendor", "accelerator", "accelerators", "aliases", "network_bandwidth", "nics", "memory", "power", "rack_units",
    "weight", "cooling", "released", "price", "notes",
)  # fmt: skip
_SWITCH_KEYS = ("name", "vendor", "technology", "radix", "port_rate", "power", "rack_units", "price", "notes")
_EXPORT_KEYS = frozenset({"region", "since", "until", "rule", "source"})
STATUSES = ("released", "announced")
COOLING = ("air", "liquid")


def read_accelerator(file: Traversable) -> Accelerator:
    """One accelerator. Peaks are dense, link rates per direction.

    Raises:
        CatalogueError: a key is missing, unknown or cannot be read; the message names file and key.
    """
    entry = Entry.read(file)
    entry.check_keys(_ACCELERATOR_KEYS)
    peak, achievable = entry.facts("peak", "FLOP/s"), entry.facts("achievable", "1")
    for key in (*peak, *achievable):
        if key not in PRECISION_BYTES:
            raise entry.refusal(key, f"unknown precision; known: {', '.join(PRECISION_BYTES)}")
    if not peak:
        raise entry.refusal("peak", "no rate is stated")
    status = entry.text("status", "released")
    if status not in STATUSES:
        raise entry.refusal("status", f"{status!r} is none of {', '.join(STATUSES)}")
    return Accelerator(
        id=entry.id,
        name=entry.text("name"),
        vendor=entry.text("vendor"),
        architecture=entry.text("architecture"),
        aliases=entry.texts("aliases"),
        released=entry.text("released"),
        status=status,
        memory=entry.fact("memory", "B"),
        memory_bandwidth=entry.fact("memory_bandwidth", "B/s"),
        peak=peak,
        achievable=achievable,
        scale_up_bandwidth=entry.optional_fact("scale_up_bandwidth", "B/s"),
        scale_up_domain=max(entry.whole("scale_up_domain", 1), 1),
        power=entry.optional_fact("power", "W"),
        export=_export(entry),
        notes=entry.text("notes", ""),
    )


def _export(entry: Entry) -> tuple[ExportRule, ...]:
    rows = cast("list[Table]", entry.table.get("export", []))
    rules: list[ExportRule] = []
    for row in rows:
        if not row.keys() <= _EXPORT_KEYS or not {"region", "since", "rule", "source"} <= row.keys():
            raise entry.refusal("export", "expected region, since, rule, source and perhaps until")
        values: dict[str, Any] = dict(row)
        rules.append(ExportRule(**values))
    return tuple(rules)


def read_server(file: Traversable) -> Server:
    """One server.

    Raises:
        CatalogueError: a key is missing, unknown or cannot be read; the message names file and key.
    """
    entry = Entry.read(file)
    entry.check_keys(_SERVER_KEYS)
    price, currency = entry.money("price") if "price" in entry.table else (None, "USD")
    cooling = entry.text("cooling")
    if cooling not in COOLING:
        raise entry.refusal("cooling", f"{cooling!r} is none of {', '.join(COOLING)}")
    return Server(
        id=entry.id,
        name=entry.text("name"),
        vendor=entry.text("vendor"),
        accelerator=entry.text("accelerator"),
        accelerators=entry.whole("accelerators"),
        aliases=entry.texts("aliases"),
        network_bandwidth=entry.fact("network_bandwidth", "B/s"),
        nics=entry.whole("nics"),
        memory=entry.fact("memory", "B"),
        power=entry.fact("power", "W"),
        rack_units=entry.number("rack_units"),
        weight=entry.optional_fact("weight", "kg"),
        cooling=cooling,
        released=entry.text("released"),
        price=price,
        price_currency=currency,
    )


def read_switch(file: Traversable) -> Switch:
    """One switch.

    Raises:
        CatalogueError: a key is missing, unknown or cannot be read; the message names file and key.
    """
    entry = Entry.read(file)
    entry.check_keys(_SWITCH_KEYS)
    price = entry.money("price")[0] if "price" in entry.table else None
    return Switch(
        id=entry.id,
        name=entry.text("name"),
        vendor=entry.text("vendor"),
        technology=entry.text("technology"),
        radix=entry.whole("radix"),
        port_rate=entry.fact("port_rate", "B/s"),
        power=entry.fact("power", "W"),
        rack_units=entry.number("rack_units"),
        price=price,
    )
