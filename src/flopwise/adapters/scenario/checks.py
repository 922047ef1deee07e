"""Checks of names and of what hangs together, on the values as written.

They run whether or not the classes of ``schema`` accept the file, so that one reading reports everything. They
look only at values of the kind they expect: the classes report the others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from flopwise.adapters.scenario.document import Path_
from flopwise.adapters.scenario.gather import Gather
from flopwise.adapters.scenario.schema import SERVING_AMOUNTS
from flopwise.domain.site import ANY_REGION
from flopwise.ground.errors import UnitError, UnknownNameError, nearest
from flopwise.ground.units import parse_money

#: Names of hosted channels begin so; which there are is known only once their prices are read.
HOSTED = "hosted-"


def check_names(gather: Gather, hosted: Callable[[], Collection[str]]) -> None:
    """Note every name of the file that nothing knows, and every name given twice."""
    values = gather.document.values
    for path, workload in _mappings(values, "workloads"):
        _check_model(gather, (*path, "model"), workload.get("model"))
        _check_amount(gather, path, workload, mixed=isinstance(values.get("mix"), Mapping))
    _check_unique(gather, values)
    _check_currencies(gather, (), values)
    supply = values.get("supply")
    if isinstance(supply, Mapping):
        _check_supply(gather, cast("Mapping[str, Any]", supply), hosted)


def _mappings(values: Mapping[str, Any], key: str, *above: str) -> Iterator[tuple[Path_, Mapping[str, Any]]]:
    """The mappings of a list, each with its path."""
    items: Any = values.get(key)
    for index, item in enumerate(cast("list[Any]", items) if isinstance(items, list) else ()):
        if isinstance(item, Mapping):
            yield (*above, key, index), cast("Mapping[str, Any]", item)


def _known(gather: Gather, path: Path_, look_up: Callable[[str], object], name: object) -> bool:
    if not isinstance(name, str):
        return True
    try:
        look_up(name)
    except UnknownNameError as error:
        gather.refuse(path, str(error), error.hint)
        return False
    return True


def _check_model(gather: Gather, path: Path_, name: object) -> None:
    if isinstance(name, str) and not is_file_name(name):
        _known(gather, path, gather.catalogue.model, name.strip())


def is_file_name(name: str) -> bool:
    """Whether a model is named by the path of its description rather than by a catalogue name."""
    return name.endswith(".json") or name.startswith((".", "/", "~"))


def _check_amount(gather: Gather, path: Path_, workload: Mapping[str, Any], *, mixed: bool) -> None:
    """Work is stated, unless ``mix`` stands for it."""
    if mixed:
        return
    traffic = workload.get("traffic")
    if workload.get("kind") == "training" and "tokens" not in workload:
        gather.refuse((*path, "tokens"), "'tokens' is missing", "tokens of one epoch, for example 2T, or 'mix' at the top")
    if isinstance(traffic, Mapping) and not set(SERVING_AMOUNTS) & set(cast("Mapping[str, Any]", traffic)):
        expected = f"exactly one of {', '.join(SERVING_AMOUNTS)}, or 'mix' at the top"
        gather.refuse((*path, "traffic"), "no amount of traffic is given", expected)


def _check_currencies(gather: Gather, path: Path_, value: object) -> None:
    """Amounts of money are known by their form, wherever they stand."""
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[str, object]", value).items():
            _check_currencies(gather, (*path, key), item)
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[object]", value)):
            _check_currencies(gather, (*path, index), item)
    elif isinstance(value, str) and path[-1] != "source":
        currency = _currency(value)
        known = ("USD", *gather.catalogue.exchange_rates)
        if currency and currency not in known:
            gather.refuse(path, f"no exchange rate for {currency} in {value!r}", f"one of {', '.join(known)}")


def _currency(text: str) -> str:
    try:
        return parse_money(text)[1]
    except UnitError:
        return ""


def _check_unique(gather: Gather, values: Mapping[str, Any]) -> None:
    supply = values.get("supply")
    inner = cast("Mapping[str, Any]", supply) if isinstance(supply, Mapping) else {}
    for group in (_mappings(values, "workloads"), _mappings(inner, "sites", "supply")):
        seen: dict[str, int | None] = {}
        for path, item in group:
            name = item.get("name")
            if not isinstance(name, str):
                continue
            where = (*path, "name")
            if name in seen:
                gather.refuse(where, f"the name {name!r} is given twice, first on line {seen[name]}", "names that are unique")
            seen.setdefault(name, gather.document.line(where))


def _check_supply(gather: Gather, supply: Mapping[str, Any], hosted: Callable[[], Collection[str]]) -> None:
    look = gather.catalogue
    sites = {str(item.get("name")) for _, item in _mappings(supply, "sites")}
    for path, item in _mappings(supply, "owned", "supply"):
        _known(gather, (*path, "server"), look.server, item.get("server"))
        _check_site(gather, (*path, "site"), item.get("site"), sites)
    channels = _Channels(gather, hosted)
    for path, item in _mappings(supply, "commitments", "supply"):
        channels.check((*path, "channel"), item.get("channel"))
    for path, item in _mappings(supply, "channels", "supply"):
        if item.get("kind") in {"purchase", "lease"}:
            _known(gather, (*path, "server"), look.server, item.get("server"))
        _known(gather, (*path, "accelerator"), look.accelerator, item.get("accelerator"))
        tokens: Any = item.get("tokens")
        if isinstance(tokens, Mapping):
            _check_model(gather, (*path, "tokens", "model"), cast("Mapping[str, Any]", tokens).get("model"))
    named: Any = supply.get("channels")
    for index, name in enumerate(cast("list[Any]", named) if isinstance(named, list) else ()):
        channels.check(("supply", "channels", index), name)
    _check_region(gather, supply.get("region"))


def _check_site(gather: Gather, path: Path_, name: object, sites: set[str]) -> None:
    if not isinstance(name, str) or name in sites:
        return
    close = nearest(name, sites)
    guess = f"; did you mean {' or '.join(repr(item) for item in close)}?" if close else ""
    known = ", ".join(sorted(sites))
    gather.refuse(path, f"unknown site {name!r}{guess}", f"one of {known}" if sites else "a site listed under supply.sites")


class _Channels:
    """Names of channels: those of the catalogue, those written inline, and hosted ones when they are asked for."""

    def __init__(self, gather: Gather, hosted: Callable[[], Collection[str]]) -> None:
        self._gather, self._hosted = gather, hosted
        inline = _mappings(cast("Mapping[str, Any]", gather.document.values["supply"]), "channels")
        offers = [*gather.catalogue.offers, *gather.quotes]
        self._known = {offer.channel for offer in offers} | {str(item.get("name")) for _, item in inline}

    def check(self, path: Path_, name: object) -> None:
        # A file of quotes that could not be read may hold any channel; it is refused for itself.
        if not isinstance(name, str) or name in self._known or self._gather.quotes_unread:
            return
        hosted = set(self._hosted()) if name.startswith(HOSTED) else set[str]()
        if name not in hosted:
            error = UnknownNameError("channel", name, self._known | hosted)
            shown = sorted(hosted) if hosted else [*sorted(self._known), f"{HOSTED}NAME"]
            self._gather.refuse(path, str(error), f"one of {', '.join(shown)}, or an inline quote")


def _check_region(gather: Gather, name: object) -> None:
    if not isinstance(name, str) or name == ANY_REGION or region_facts_id(gather, name):
        return
    known = [*gather.catalogue.regions, ANY_REGION]
    # People write the name of a country where the catalogue has its code.
    named = [item.id for item in gather.catalogue.regions.values() if name.lower() in item.name.lower()]
    guess = f"unknown region {name!r}; did you mean {' or '.join(named)}?" if named else ""
    gather.refuse(("supply", "region"), guess or str(UnknownNameError("region", name, known)), f"one of {', '.join(known)}")


def region_facts_id(gather: Gather, name: str) -> str | None:
    """Region of the catalogue whose facts hold for ``name``: itself, or the area that a cloud region begins with."""
    for candidate in (name, name.partition("-")[0]):
        if candidate in gather.catalogue.regions:
            return candidate
    return None


def path_in_file(gather: Gather, name: str) -> Path:
    """A path of the file, relative to the folder that the file stands in."""
    written = Path(name).expanduser()
    return written if written.is_absolute() else Path(gather.document.file).parent / written
