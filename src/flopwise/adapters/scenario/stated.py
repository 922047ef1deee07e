"""What a scenario file states, flat: key path to text, so that two plans can say which line changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, cast

from flopwise.domain.offer import Offer

#: Keys that name an item of a list, the first that it has.
_NAMES = ("name", "server", "channel")
#: Values longer than this are cut: the text is there to be read.
_LONGEST = 200


def stated(values: Mapping[str, Any], quotes: Iterable[Offer], digests: Mapping[str, str]) -> dict[str, str]:
    """Paths as ``supply.sites.dc-east.electricity``; prices of quoted offers, digests of the files that are named.

    Args:
        values: the document.
        quotes: offers of the file of quotes.
        digests: digest by file name.

    Complexity: linear in the values of the file and its quotes.
    """
    found = dict(_flat("", values))
    for offer in quotes:
        found[f"supply.quotes.{offer.id}"] = _price(offer)
    for name, digest in digests.items():
        found[f"files.{name}"] = f"content {digest[:12]}"
    return found


def _flat(path: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[str, object]", value).items():
            yield from _flat(f"{path}.{key}" if path else str(key), item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield from _items(path, cast("Sequence[object]", value))
    else:
        text = value.isoformat() if isinstance(value, date) else str(value)
        yield path, text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _items(path: str, items: Sequence[object]) -> Iterator[tuple[str, str]]:
    """Items by their name, so that one more of them moves no other; plain values in one line."""
    if not any(isinstance(item, Mapping) for item in items):
        yield from _flat(path, ", ".join(str(item) for item in items))
        return
    seen: dict[str, int] = {}
    for item in items:
        name = _name(item)
        seen[name] = seen.get(name, 0) + 1
        key = name if seen[name] == 1 else f"{name} ({seen[name]})"
        yield from _flat(f"{path}.{key}", "named" if isinstance(item, str) else item)


def _name(item: object) -> str:
    if isinstance(item, Mapping):
        known = cast("Mapping[str, object]", item)
        return next((str(known[key]) for key in _NAMES if key in known), "item")
    return str(item)


def _price(offer: Offer) -> str:
    if offer.price is not None:
        return f"{offer.price.amount:g} {offer.price.currency} per {offer.price.per}"
    if offer.tokens is None:
        return "no price"
    cached = "" if offer.tokens.cached_input is None else f", cached {offer.tokens.cached_input:g}"
    return f"{offer.tokens.input:g} in, {offer.tokens.output:g} out{cached} {offer.tokens.currency} per 1M tokens"
