"""Cells that spreadsheets cannot mistake for formulas.

A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line break is run as a formula by spreadsheets that open
a CSV file. Such a text gets an apostrophe in front, which they show as text. Numbers are written from numbers, never
from text, so a negative amount stays a number.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any

#: Signs that begin a formula; the last is the minus of typeset text.
_SIGNS = frozenset("=+-@\u2212")
_BREAKS = frozenset("\t\r\n")
#: Categories of characters that show as nothing: controls, marks without width, blanks of any width.
_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})


def text(value: str) -> str:
    """Text that no spreadsheet runs; leading blanks do not hide a sign, and wide or small forms of a sign count as it.

    >>> text("=cmd|'/c calc'!A1"), text("dgx-h100"), text("  +1")
    ("'=cmd|'/c calc'!A1", 'dgx-h100', "'  +1")
    """
    return f"'{value}" if dangerous(value) else value


def dangerous(value: str) -> bool:
    """Whether a spreadsheet might run a text as a formula."""
    for letter in value:
        if letter in _BREAKS:
            return True
        if unicodedata.category(letter) not in _UNSEEN:
            return unicodedata.normalize("NFKC", letter) in _SIGNS
    return False


def cell(value: object) -> object:
    """A value for a CSV cell: numbers as they are, nothing as an empty cell, everything else as safe text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, (int, float)) else text(str(value))


def csv_of(kind: type[Any], rows: Iterable[Any]) -> bytes:
    """CSV (RFC 4180, UTF-8) of dataclass instances; the heads are the names of the fields."""
    names = [item.name for item in fields(kind)]
    return csv_rows(names, ([asdict(row)[name] for name in names] for row in rows))


def csv_rows(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """CSV with heads."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(heads)
    writer.writerows([cell(value) for value in row] for row in rows)
    return stream.getvalue().encode()
