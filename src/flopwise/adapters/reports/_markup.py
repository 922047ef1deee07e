"""Pieces of HTML. Everything that comes from a plan is escaped here and nowhere else."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


#: A line break; a void element has no end tag.
BREAK = Markup("<br>")


def esc(text: object) -> Markup:
    """Any value as escaped text; markup stays as it is.

    >>> esc("<b>") + esc(Markup("<b>"))
    '&lt;b&gt;<b>'
    """
    return text if isinstance(text, Markup) else Markup(html.escape(str(text), quote=True))


def join(parts: Iterable[object], between: str = "") -> Markup:
    """Parts one after the other, escaped."""
    return Markup(between.join(esc(part) for part in parts))


def tag(name: str, *parts: object, **attributes: object) -> Markup:
    """An element. ``class_`` is written ``class``; an attribute that is ``None`` is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value), quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{join(parts)}</{name}>")


def anchor(figure: str) -> str:
    """Id of a figure's row on the page: letters, digits, dots and hyphens only."""
    return "figure-" + re.sub(r"[^A-Za-z0-9.\-]", lambda found: f"_{ord(found[0]):x}_", figure)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column: head, and whether it holds numbers, or days that must not wrap."""

    head: str
    number: bool = False
    day: bool = False

    @property
    def style(self) -> str | None:
        """Class of the cells."""
        return "n" if self.number else "d" if self.day else None


def table(caption: str, columns: Sequence[Column], rows: Iterable[Sequence[object]], *, total: bool = False) -> Markup:
    """A table in a box of its own that scrolls when the page is narrow. ``total`` marks the last row."""
    body = [tag("tr", *(tag("td", cell, class_=column.style) for column, cell in zip(columns, row, strict=True))) for row in rows]
    if total and body:
        body[-1] = Markup(body[-1].replace("<tr>", '<tr class="total">', 1))
    head = tag("tr", *(tag("th", column.head, scope="col", class_=column.style) for column in columns))
    parts = (tag("caption", tag("span", caption)), tag("thead", head), tag("tbody", *body))
    return tag("div", tag("table", *parts), class_="scroll", tabindex="0")


def folded(summary: str, *parts: object) -> Markup:
    """Something to open."""
    return tag("details", tag("summary", summary), *parts)


def bullets(items: Iterable[object]) -> Markup:
    """A list."""
    return tag("ul", *(tag("li", item) for item in items))
