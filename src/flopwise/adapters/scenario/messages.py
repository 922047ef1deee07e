"""From pydantic's errors to problems with a path, a line, what is wrong and what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from flopwise.adapters.scenario.document import Document, Path_, shown
from flopwise.adapters.scenario.schema import NOT_YET, PLANNED_KINDS, UNPLANNED_KINDS, ScenarioPart
from flopwise.ground.errors import Problem, nearest


def problems_of(error: ValidationError, document: Document) -> list[Problem]:
    """One problem per error, in the order of the file."""
    errors = error.errors(include_url=False)
    refused = [item["loc"] for item in errors]
    # A list whose only item was refused counts as empty: that is no second problem.
    own = [item for item in errors if item["type"] != "too_short" or not any(_inside(item["loc"], other) for other in refused)]
    found = [_problem(item, document) for item in own]
    return sorted(found, key=lambda problem: (problem.line or 0, problem.path))


def _inside(outer: Sequence[int | str], inner: Sequence[int | str]) -> bool:
    return len(inner) > len(outer) and tuple(inner[: len(outer)]) == tuple(outer)


def _problem(error: ErrorDetails, document: Document) -> Problem:
    raw: tuple[int | str, ...] = error["loc"]
    path = tuple(part for part in raw if isinstance(part, int) or not (part.startswith("<") and part.endswith(">")))
    message, expected = _words(error, raw, path)
    return Problem(path=shown(path), line=document.line(path), message=message, expected=expected)


def _words(error: ErrorDetails, raw: tuple[int | str, ...], path: Path_) -> tuple[str, str]:
    kind, value = error["type"], error["input"]
    if kind == "extra_forbidden":
        return _unknown_key(raw, str(path[-1]))
    if kind == "missing":
        return f"{path[-1]!r} is missing", _description(raw)
    if kind == "union_tag_invalid":
        return _unknown_kind(value)
    if kind == "value_error":
        message, _, expected = str(error.get("ctx", {}).get("error", error["msg"])).partition("; expected ")
        return message, expected
    if kind == "literal_error":
        return f"{value!r} is not known here", str(error.get("ctx", {}).get("expected", ""))
    return _structure(kind, value, error["msg"], raw)


def _structure(kind: str, value: object, message: str, raw: tuple[int | str, ...]) -> tuple[str, str]:
    if kind in {"model_type", "model_attributes_type", "dict_type", "mapping_type"}:
        return f"{_said(value)} stands where keys and values belong", _description(raw)
    if kind in {"tuple_type", "list_type"}:
        return f"{_said(value)} stands where a list belongs", "a list: each item on its own line after '- '"
    if kind == "too_short":
        return "the list is empty", "at least one item"
    return message, _description(raw)


def _said(value: object) -> str:
    return "nothing" if value is None else "a list" if isinstance(value, list) else repr(value)


def _unknown_kind(value: object) -> tuple[str, str]:
    known = ", ".join(PLANNED_KINDS)
    if not isinstance(value, dict):
        return f"{_said(value)} stands where a workload belongs", "a mapping with name, kind, model ..."
    kind: Any = value.get("kind")
    if kind is None:
        return "'kind' is missing", f"one of {known}"
    if kind in UNPLANNED_KINDS:
        return f"kind {kind!r} is not planned by this version", f"one of {known}"
    close = nearest(str(kind), (*PLANNED_KINDS, *UNPLANNED_KINDS))
    guess = f"; did you mean {' or '.join(repr(item) for item in close)}?" if close else ""
    return f"unknown kind {kind!r}{guess}", f"one of {known}"


def _unknown_key(raw: tuple[int | str, ...], key: str) -> tuple[str, str]:
    if key in NOT_YET:
        return f"{key!r} is not read yet: {NOT_YET[key]}", "the key left out"
    owner = _owner(raw)
    known = tuple(owner.model_fields) if owner else ()
    close = nearest(key, known)
    guess = f"; did you mean {' or '.join(repr(item) for item in close)}?" if close else ""
    if re.fullmatch(r"\d{3}", key):
        # "{count: 12,000}" is a count of 12 and a key 000 to YAML.
        guess = "; numbers are written without separators, for example 12000"
    return f"unknown key {key!r}{guess}", f"one of {', '.join(known)}"


def _description(raw: tuple[int | str, ...]) -> str:
    owner = _owner(raw)
    field = owner.model_fields.get(str(raw[-1])) if owner and raw else None
    return (field.description or "").removesuffix(".") if field else ""


def _owner(raw: Sequence[int | str]) -> type[BaseModel] | None:
    """Class that holds the last key of a location."""
    current: list[type[BaseModel]] = [ScenarioPart]
    for part in raw[:-1]:
        if isinstance(part, int):
            continue
        if part.startswith("<"):
            current = [model for model in current if _tag(model) in {part, None}]
            continue
        fields = [model.model_fields[part] for model in current if part in model.model_fields]
        current = [model for field in fields for model in _models(field.annotation)]
    return current[0] if current else None


def _tag(model: type[BaseModel]) -> str | None:
    kind = model.model_fields.get("kind")
    words = get_args(kind.annotation) if kind else ()
    return f"<{words[0]}>" if words else None


def _models(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 - any type expression
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
