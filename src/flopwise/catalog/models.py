"""Shipped model architectures: one TOML file each, checked for what would make a count or a cache size wrong.

Sizes are whole numbers of elements. The only other figure is ``published_parameters``, a fact with source and date,
which tests hold against the count that follows from the sizes.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from importlib.resources.abc import Traversable
from typing import Any, cast

from flopwise.domain.model_arch import Experts, LatentAttention, ModelArch
from flopwise.domain.provenance import Confidence, Fact
from flopwise.ground.errors import CatalogueError, nearest

_PARAMETERS = "parameters"
_FACT_KEYS = frozenset({"value", "source", "as_of", "confidence", "note"})
Table = Mapping[str, Any]


def read_models(folder: Traversable) -> tuple[ModelArch, ...]:
    """Read all ``*.toml`` files of a folder, sorted by id.

    Raises:
        CatalogueError: a file is not TOML, has an unknown or missing key, a size that is no whole number above 0,
            or sizes that contradict each other; or two files state one id.
    """
    models = [_read(file) for file in folder.iterdir() if file.name.endswith(".toml")]
    models.sort(key=lambda model: model.id)
    for one, other in itertools.pairwise(models):
        if one.id == other.id:
            msg = f"model {one.id!r} is stated by two files"
            raise CatalogueError(msg)
    return tuple(models)


def _read(file: Traversable) -> ModelArch:
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"{file.name}: {error}"
        raise CatalogueError(msg) from error
    model = model_from_table(table, file.name)
    if f"{model.id}.toml" != file.name:
        msg = f"{file.name}: states the id {model.id!r}, so its name should be {model.id}.toml"
        raise CatalogueError(msg)
    return model


def model_from_table(table: Table, origin: str) -> ModelArch:
    """An architecture from a table of plain values.

    Args:
        table: keys of ``ModelArch``; ``latent``, ``experts`` and ``published_parameters`` are tables themselves.
        origin: name of the file, for messages.

    Raises:
        CatalogueError: as for ``read_models``.
    """
    values = dict(table)
    parts: dict[str, object] = {}
    if "latent" in values:
        parts["latent"] = _part(LatentAttention, values.pop("latent"), f"{origin}: latent")
    if "experts" in values:
        parts["experts"] = _part(Experts, values.pop("experts"), f"{origin}: experts")
    if "published_parameters" in values:
        parts["published_parameters"] = _fact(values.pop("published_parameters"), f"{origin}: published_parameters")
    values["aliases"] = tuple(values.get("aliases", ()))
    model = cast("ModelArch", _build(ModelArch, values, parts, origin))
    for problem in contradictions(model):
        msg = f"{origin}: {problem}"
        raise CatalogueError(msg)
    return model


def contradictions(model: ModelArch) -> Iterator[str]:
    """What in an architecture contradicts itself, one sentence each; nothing for a sound one."""
    if model.heads % model.kv_heads:
        yield f"heads = {model.heads} is no multiple of kv_heads = {model.kv_heads}"
    if model.sliding_layers + model.linear_layers > model.layers:
        yield f"more sliding and linear layers than the {model.layers} layers"
    if model.sliding_layers and model.window is None:
        yield "sliding_layers without window"
    if model.experts and model.experts.layers > model.layers:
        yield f"experts.layers = {model.experts.layers} is more than layers = {model.layers}"
    if model.experts and model.experts.top_k > model.experts.count:
        yield f"experts.top_k = {model.experts.top_k} is more than experts.count = {model.experts.count}"
    if model.experts is None and model.ffn == 0:
        yield "ffn = 0 without experts"


def _part(kind: type[LatentAttention | Experts], table: object, origin: str) -> object:
    if not isinstance(table, dict):
        msg = f"{origin}: expected a table"
        raise CatalogueError(msg)
    values = cast("dict[str, Any]", table)
    # A query that is not compressed has no rank, and TOML has no null.
    if kind is LatentAttention:
        values = {"q_rank": None, **values}
    return _build(kind, values, {}, origin)


def _build(kind: type[Any], values: dict[str, Any], parts: dict[str, object], origin: str) -> object:
    known = {item.name: item for item in fields(kind)}
    for key, value in values.items():
        if key not in known:
            guess = nearest(key, known)
            msg = f"{origin}: unknown key {key!r}" + (f"; did you mean {guess[0]!r}?" if guess else "")
            raise CatalogueError(msg)
        _check(key, value, known[key], origin)
    missing = [name for name, item in known.items() if _required(item) and name not in values and name not in parts]
    if missing:
        msg = f"{origin}: missing {', '.join(missing)}"
        raise CatalogueError(msg)
    return kind(**values, **parts)


def _required(item: Field[Any]) -> bool:
    return item.default is MISSING and item.default_factory is MISSING


#: Sizes that may be 0, and the one that may be negative: what the plain formula counts too much of.
_MAY_BE_ZERO = frozenset(
    {"ffn", "norms_per_layer", "learned_positions", "sliding_layers", "linear_layers", "shared", "shared_ffn"}
)
_MAY_BE_NEGATIVE = frozenset({"extra_parameters"})


def _check(key: str, value: object, item: Field[Any], origin: str) -> None:
    """Types as the dataclass annotates them (text, because annotations are postponed)."""
    kind = str(item.type)
    if kind.startswith("int"):
        fits = (isinstance(value, int) and not isinstance(value, bool)) or (value is None and "None" in kind)
        least = None if key in _MAY_BE_NEGATIVE else 0 if key in _MAY_BE_ZERO else 1
        if not fits or (isinstance(value, int) and least is not None and value < least):
            msg = f"{origin}: {key} = {value!r} is not a whole number" + ("" if least is None else f" of at least {least}")
            raise CatalogueError(msg)
    elif (kind == "bool" and not isinstance(value, bool)) or (kind == "str" and not isinstance(value, str)):
        msg = f"{origin}: {key} = {value!r} is not a {'true or false' if kind == 'bool' else 'text'}"
        raise CatalogueError(msg)


def _fact(table: object, origin: str) -> Fact:
    values = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
    missing = _FACT_KEYS - {"note"} - set(values)
    if missing or set(values) - _FACT_KEYS:
        msg = f"{origin}: expected a table of value, source, as_of, confidence and perhaps note"
        raise CatalogueError(msg)
    try:
        value, confidence = float(values["value"]), Confidence(values["confidence"])
    except ValueError as error:
        msg = f"{origin}: {error}"
        raise CatalogueError(msg) from error
    return Fact(
        value=value,
        unit=_PARAMETERS,
        source=str(values["source"]),
        as_of=str(values["as_of"]),
        confidence=confidence,
        note=str(values.get("note", "")),
    )
