"""Accelerators, servers and switches: one TOML file each."""

from __future__ import annotations

from importlib.resources.abc import Traversable

from flopwise.catalog.facts import Entry
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
_EXPORT_KEYS = ("region", "since", "until", "rule", "source")
STATUSES = ("released", "announced")
COOLING = ("air", "liquid")
TECHNOLOGIES = ("infiniband", "ethernet")


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
    for key, fact in achievable.items():
        if fact.interval[1] > 1:
            where = f"achievable.{key}"
            raise entry.refusal(where, f"{fact.interval[1]:g} is no fraction of the peak")
    if not peak:
        raise entry.refusal("peak", "no rate is stated")
    return Accelerator(
        id=entry.id,
        name=entry.text("name"),
        vendor=entry.text("vendor"),
        architecture=entry.text("architecture"),
        aliases=entry.texts("aliases"),
        released=entry.text("released"),
        status=entry.choice("status", STATUSES, "released"),
        memory=entry.fact("memory", "B"),
        memory_bandwidth=entry.fact("memory_bandwidth", "B/s"),
        peak=peak,
        achievable=achievable,
        scale_up_bandwidth=entry.optional_fact("scale_up_bandwidth", "B/s"),
        scale_up_domain=entry.whole("scale_up_domain", 1, least=1),
        power=entry.optional_fact("power", "W"),
        export=_export(entry),
        notes=entry.text("notes", ""),
    )


def _export(entry: Entry) -> tuple[ExportRule, ...]:
    rules: list[ExportRule] = []
    for table in entry.tables("export"):
        row = Entry(file=f"{entry.file}: export", table=table)
        row.check_keys(_EXPORT_KEYS)
        rules.append(
            ExportRule(
                region=row.text("region"),
                since=row.day("since"),
                until=row.day("until") if "until" in table else None,
                rule=row.text("rule"),
                source=row.text("source"),
            )
        )
    return tuple(rules)


def read_server(file: Traversable) -> Server:
    """One server.

    Raises:
        CatalogueError: a key is missing, unknown or cannot be read; the message names file and key.
    """
    entry = Entry.read(file)
    entry.check_keys(_SERVER_KEYS)
    price, currency = entry.money("price") if "price" in entry.table else (None, "USD")
    return Server(
        id=entry.id,
        name=entry.text("name"),
        vendor=entry.text("vendor"),
        accelerator=entry.text("accelerator"),
        accelerators=entry.whole("accelerators", least=1),
        aliases=entry.texts("aliases"),
        network_bandwidth=entry.fact("network_bandwidth", "B/s", zero=True),
        nics=entry.whole("nics"),
        memory=entry.fact("memory", "B"),
        power=entry.fact("power", "W"),
        rack_units=entry.number("rack_units"),
        weight=entry.optional_fact("weight", "kg"),
        cooling=entry.choice("cooling", COOLING),
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
        technology=entry.choice("technology", TECHNOLOGIES),
        radix=entry.whole("radix", least=1),
        port_rate=entry.fact("port_rate", "B/s"),
        power=entry.fact("power", "W"),
        rack_units=entry.number("rack_units"),
        price=price,
    )
