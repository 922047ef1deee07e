"""The report as one page: no network, no script; pictures are drawn in place."""

from __future__ import annotations

from importlib import resources

from flopwise.adapters.reports import _drawing
from flopwise.adapters.reports import _money as money
from flopwise.adapters.reports import _opening as opening
from flopwise.adapters.reports import _supply as supply
from flopwise.adapters.reports import _work as work
from flopwise.adapters.reports._markup import Markup, tag
from flopwise.adapters.reports._page import Page
from flopwise.adapters.reports._words import Words
from flopwise.domain.plan import Plan

_CODES = {"en": "en", "zh": "zh-Hans"}
#: Nothing may be loaded, whatever a name in the plan says.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def prepare() -> None:
    """Get ready to draw: worth calling while a plan is still being made."""
    _drawing.prepare()


def render(plan: Plan, *, lang: str) -> bytes:
    """The page in UTF-8.

    Args:
        plan: the plan; all its text is escaped.
        lang: ``en`` or ``zh``.
    """
    page = Page(plan, Words(lang))
    sections = (
        opening.head(page),
        opening.cannot(page),
        opening.do_now(page),
        opening.four(page),
        supply.supply(page),
        supply.mix_reasons(page),
        supply.breaks(page),
        work.needed(page),
        work.wired(page),
        money.costs(page),
        money.assumed(page),
        money.figures(page),
        money.foot(page),
    )
    style = resources.files("flopwise.adapters.reports").joinpath("page.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><meta name="referrer" content="no-referrer">'),
        tag("title", f"{page.words('plan')} {plan.name}"),
        tag("style", Markup(style)),
    )
    body = page.drawn(tag("body", tag("main", *sections)))
    return f"<!doctype html>\n{tag('html', head, Markup(body), lang=_CODES[lang])}\n".encode()
