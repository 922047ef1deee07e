"""The catalogue: shipped facts by name, each with source, date and confidence.

One file under ``data/`` per accelerator, server, switch, model and region, one per channel of offers; the folder is
the index. Names are found by id or alias, whatever their case and whether they are written with spaces, underscores
or hyphens.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TypeVar

from flopwise.catalog.facilities import read_exchange_rates, read_parameters, read_region
from flopwise.catalog.hardware import read_accelerator, read_server, read_switch
from flopwise.catalog.models import read_models
from flopwise.catalog.offers import read_shipped_offers
from flopwise.domain.hardware import Accelerator, Server, Switch
from flopwise.domain.model_arch import ModelArch
from flopwise.domain.offer import Offer
from flopwise.domain.provenance import Fact
from flopwise.domain.site import Region
from flopwise.ground.errors import CatalogueError, UnknownNameError
from flopwise.ground.money import ExchangeRate

Item = TypeVar("Item", Accelerator, Server, Switch, ModelArch, Region)
Names = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """All shipped facts. Items by id; ``digest`` is the SHA-256 over all data files."""

    accelerators: Mapping[str, Accelerator]
    servers: Mapping[str, Server]
    switches: Mapping[str, Switch]
    models: Mapping[str, ModelArch]
    regions: Mapping[str, Region]
    offers: tuple[Offer, ...]
    exchange_rates: Mapping[str, ExchangeRate]
    parameters: Mapping[str, Fact]
    digest: str
    _names: Mapping[str, Names] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index ids and aliases.

        Raises:
            CatalogueError: two items of one kind share a name.
        """
        kinds = {
            "accelerator": {item.id: item.aliases for item in self.accelerators.values()},
            "server": {item.id: item.aliases for item in self.servers.values()},
            "switch": dict.fromkeys(self.switches, ()),
            "model": {item.id: item.aliases for item in self.models.values()},
            "region": dict.fromkeys(self.regions, ()),
        }
        object.__setattr__(self, "_names", {kind: _index(kind, names) for kind, names in kinds.items()})

    def accelerator(self, name: str) -> Accelerator:
        """The accelerator of that name or alias; ``UnknownNameError`` with the nearest names otherwise."""
        return self._find("accelerator", self.accelerators, name)

    def server(self, name: str) -> Server:
        """The server of that name or alias; ``UnknownNameError`` with the nearest names otherwise."""
        return self._find("server", self.servers, name)

    def switch(self, name: str) -> Switch:
        """The switch of that name; ``UnknownNameError`` with the nearest names otherwise."""
        return self._find("switch", self.switches, name)

    def model(self, name: str) -> ModelArch:
        """The model of that name or alias; ``UnknownNameError`` with the nearest names otherwise."""
        return self._find("model", self.models, name)

    def region(self, name: str) -> Region:
        """The region of that name; ``UnknownNameError`` with the nearest names otherwise."""
        return self._find("region", self.regions, name)

    def _find(self, kind: str, items: Mapping[str, Item], name: str) -> Item:
        found = self._names[kind].get(plain(name))
        if found is None:
            hint = f"'flopwise catalog list {kind}s' shows what there is".replace("switchs", "switches")
            raise UnknownNameError(kind, name, items, hint=hint)
        return items[found]


def plain(name: str) -> str:
    """A name without what people write differently: case, spaces, underscores, hyphens.

    >>> plain("H100 SXM") == plain("h100-sxm")
    True
    """
    return re.sub(r"[\s_\-]+", "", name).lower()


def _index(kind: str, names: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    index: dict[str, str] = {}
    for item, aliases in names.items():
        for name in (item, *aliases):
            other = index.setdefault(plain(name), item)
            if other != item:
                msg = f"{kind} name {name!r} stands for both {other} and {item}"
                raise CatalogueError(msg)
    return index


@cache
def load_catalogue() -> Catalogue:
    """The shipped catalogue, read once per process.

    Raises:
        CatalogueError: a shipped file cannot be read, or names contradict each other.

    Complexity: linear in the size of the data files.
    """
    return read_catalogue(files("flopwise.catalog") / "data")


def read_catalogue(data: Traversable) -> Catalogue:
    """A catalogue from a folder laid out like the shipped one.

    Raises:
        CatalogueError: a file cannot be read, or names contradict each other; the message names file and key.
    """
    catalogue = Catalogue(
        accelerators=_items(data / "accelerators", read_accelerator),
        servers=_items(data / "servers", read_server),
        switches=_items(data / "switches", read_switch),
        models={model.id: model for model in read_models(data / "models")},
        regions=_items(data / "regions", read_region),
        offers=read_shipped_offers(data / "offers"),
        exchange_rates=read_exchange_rates(data / "exchange_rates.toml"),
        parameters=read_parameters(data / "parameters.toml"),
        digest=_digest(data),
    )
    for server in catalogue.servers.values():
        if server.accelerator not in catalogue.accelerators:
            msg = f"{server.id}.toml: accelerator: {server.accelerator!r} is no accelerator of the catalogue"
            raise CatalogueError(msg)
    return catalogue


def _items(folder: Traversable, read: Callable[[Traversable], Item]) -> dict[str, Item]:
    found = [read(file) for file in folder.iterdir() if file.name.endswith(".toml")]
    return {item.id: item for item in sorted(found, key=lambda item: item.id)}


def _digest(data: Traversable) -> str:
    """SHA-256 over names and contents in the order of names."""
    total = hashlib.sha256()
    for name, content in sorted(_contents(data, "")):
        total.update(f"{name}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()


def _contents(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for item in folder.iterdir():
        name = f"{prefix}{item.name}"
        if item.is_dir():
            found.extend(_contents(item, f"{name}/"))
        elif name.endswith((".toml", ".csv")):
            found.append((name, item.read_bytes()))
    return found
