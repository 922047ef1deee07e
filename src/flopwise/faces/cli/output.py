"""What goes to standard output: JSON for programs, plain tables for people."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

#: Tables fit this many columns, unless the terminal is wider.
WIDTH = 100


def print_json(value: object) -> None:
    """Print one JSON document with the names of the report."""
    sys.stdout.write(json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def plain(value: object) -> object:
    """Nouns as plain JSON values. JSON has no infinity and no NaN: they become null."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in cast("Mapping[Any, object]", value).items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in cast("Sequence[object]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def say(text: str = "") -> None:
    """Print one line for people."""
    sys.stdout.write(text + "\n")


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", right: Sequence[str] = (), fold: Sequence[str] = ()
) -> None:
    """Print a table for people.

    Args:
        columns: their heads.
        rows: cells as text.
        title: what the table shows.
        right: columns that are aligned to the right.
        fold: columns of words that may be broken over lines where the table is too wide; figures never are.
    """
    # rich is imported for output only: help and --json do not pay for it.
    from rich import box  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else WIDTH)
    if title:
        console.print(Text(f"\n{title}", style="bold"))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold", no_wrap=column not in fold)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)
