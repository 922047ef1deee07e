"""Writes the marked places of the pages from what the code says of itself: the scenario's keys, help texts, the catalogue.

A place begins with ``<!-- generated: NAME -->``, NAME being one of ``PARTS``, and ends with ``<!-- end -->``. Run this file
after a change of schema, help or catalogue; a test fails while a page is behind.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

MARK = re.compile(r"<!-- generated: ([a-z-]+) -->\n.*?<!-- end -->", re.DOTALL)
#: Columns of help texts, whatever the terminal.
_WIDTH = "100"
PAGES = Path(__file__).parent


def current(markdown: str) -> str:
    """A page with its marked places as they should be."""
    return MARK.sub(lambda found: f"<!-- generated: {found[1]} -->\n\n{PARTS[found[1]]().strip()}\n\n<!-- end -->", markdown)


def scenario_keys() -> str:
    """A section and a table per mapping of the scenario file, from its JSON Schema."""
    from flopwise.adapters.scenario import json_schema  # noqa: PLC0415 - only pages that need it pay for it

    schema = json_schema()
    parts = schema["$defs"]
    sections = [_section("Top level", schema, parts)]
    sections += [_section(name.removesuffix("Part"), part, parts) for name, part in parts.items()]
    return "\n\n".join(sections)


def _section(title: str, part: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    needed = set(part.get("required", ()))
    rows = [
        f"| `{key}` | {_kind(field, parts)} | {'yes' if key in needed else ''} | {_words(field, parts)} |"
        for key, field in part["properties"].items()
    ]
    head = f"### {title} keys\n\n{part.get('description', '')}\n"
    return "\n".join([head, "| key | value | needed | meaning |", "|---|---|---|---|", *rows])


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-") + "-keys"


def _kind(field: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    return " or ".join(dict.fromkeys(_kinds(field, parts)))


def _kinds(field: Mapping[str, Any], parts: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        title = name.removesuffix("Part")
        yield f"[{title}](#{_anchor(title)})"
        return
    for key in ("anyOf", "oneOf"):
        for inner in field.get(key, ()):
            yield from _kinds(inner, parts)
    if "enum" in field:
        yield ", ".join(f"`{word}`" for word in field["enum"])
    elif "const" in field:
        yield f"`{field['const']}`"
    elif field.get("type") == "array":
        yield "list of " + (_kind(field["items"], parts) or "values")
    elif isinstance(field.get("type"), list):
        yield "quantity"
    elif field.get("type") not in {None, "null"}:
        yield {"string": "text", "integer": "whole number", "boolean": "true or false", "object": "table"}.get(
            field["type"], field["type"]
        )


def _words(field: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    own = field.get("description") or parts.get(field.get("$ref", "").rpartition("/")[2], {}).get("description", "")
    return str(own).replace("|", "\\|")


def help_texts() -> str:
    """What ``--help`` prints for flopwise and for each verb."""
    from flopwise.faces.cli.table import FAMILIES, VERBS  # noqa: PLC0415 - only pages that need it pay for it

    lines = [""]
    for verb in VERBS:
        lines += [f"{verb} {word}" for word in FAMILIES[verb]] if verb in FAMILIES else [verb]
    return "\n\n".join(f"## `{'flopwise ' + line if line else 'flopwise'}`\n\n```text\n{_help(line)}```" for line in lines)


def _help(line: str) -> str:
    from flopwise.faces.cli.main import run  # noqa: PLC0415

    out, width = io.StringIO(), os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = _WIDTH
    try:
        with contextlib.redirect_stdout(out):
            run([*line.split(), "--help"])
    finally:
        os.environ.pop("COLUMNS")
        if width is not None:
            os.environ["COLUMNS"] = width
    return out.getvalue()


def catalogue_size() -> str:
    """How many things of each kind the catalogue holds."""
    from flopwise.app.catalog import counts  # noqa: PLC0415

    rows = "\n".join(f"| {kind} | {count} |" for kind, count in counts().items())
    return f"| kind | entries |\n|---|---:|\n{rows}"


def catalogue_coverage() -> str:
    """Offers by channel and kind of contract."""
    from flopwise.app.catalog import catalogue, coverage  # noqa: PLC0415

    facts = catalogue()
    newest = max(offer.as_of for offer in facts.offers)
    rows = "\n".join(
        f"| {row.channel} | {row.kind} | {row.offers} | {row.oldest} | {row.newest} |"
        for row in coverage(facts, f"{newest[:7]}-28")
    )
    return f"| channel | contract | offers | oldest | newest |\n|---|---|---:|---|---|\n{rows}"


def catalogue_parameters() -> str:
    """Every parameter with its source."""
    from flopwise.app.catalog import listing  # noqa: PLC0415

    found = listing("parameters", as_of="2026-12-01")
    head = " | ".join(found.columns)
    rows = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in found.rows)
    return f"| {head} |\n|{'---|' * len(found.columns)}\n{rows}"


PARTS: Mapping[str, Callable[[], str]] = {
    "scenario-keys": scenario_keys,
    "help-texts": help_texts,
    "catalogue-size": catalogue_size,
    "catalogue-coverage": catalogue_coverage,
    "catalogue-parameters": catalogue_parameters,
}


def main() -> None:
    """Rewrite the pages whose marked places changed."""
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if current(text) != text:
            page.write_text(current(text), encoding="utf-8")


if __name__ == "__main__":
    main()
