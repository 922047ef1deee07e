"""The plan as a workbook: one sheet per question, numbers as numbers, text never a formula."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flopwise.adapters.reports import _safe
from flopwise.adapters.reports._phrases import phrase
from flopwise.adapters.reports._sentence import plain, sentence
from flopwise.adapters.reports._words import Words
from flopwise.adapters.reports._work import layout
from flopwise.domain.plan import Plan

#: Number formats by the kind of column.
_FORMATS = {
    "usd": "#,##0;[Red]-#,##0",
    "price": "#,##0.00####",
    "share": "0.0%",
    "count": "#,##0.0#",
    "whole": "#,##0",
    "number": "General",
    "text": "@",
}
_WIDTHS = {"usd": 16, "price": 14, "share": 11, "count": 13, "whole": 13, "number": 16, "text": 24}
_WIDE_TEXT = frozenset(
    {"why", "description", "source", "verdict", "reason", "formula", "inputs", "sources_head", "note", "value_text"}
)


@dataclass(frozen=True, slots=True)
class _Value:
    """A number that is formatted unlike the rest of its column."""

    number: float
    kind: str


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Name, columns as (word, kind of number), rows."""

    name: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[object]]


def render(plan: Plan, *, lang: str) -> bytes:
    """The workbook; the same plan gives the same bytes."""
    import xlsxwriter  # noqa: PLC0415 - wanted only when a workbook is written

    words = Words(lang)
    stream = io.BytesIO()
    book = xlsxwriter.Workbook(
        stream, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    )
    made = datetime.fromisoformat(plan.as_of)
    book.set_properties({"title": plan.name, "author": "", "created": made})
    styles = {
        kind: book.add_format({"num_format": form, "valign": "top", "text_wrap": kind == "text"})
        for kind, form in _FORMATS.items()
    }
    # The mark that a spreadsheet sets when text is typed behind an apostrophe: it stays text when it is edited.
    styles["quoted"] = book.add_format({"num_format": "@", "valign": "top", "text_wrap": True, "quote_prefix": True})
    head = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
    for sheet in _sheets(plan, words):
        _write(book.add_worksheet(words(sheet.name)[:31]), sheet, words, styles, head)
    book.close()
    return stream.getvalue()


def _write(page: Any, sheet: _Sheet, words: Words, styles: dict[str, Any], head: Any) -> None:  # noqa: ANN401 - untyped library
    for column, (name, kind) in enumerate(sheet.columns):
        page.write_string(0, column, words(name), head)
        page.set_column(column, column, 48 if name in _WIDE_TEXT else _WIDTHS[kind])
        for row, values in enumerate(sheet.rows, start=1):
            _cell(page, (row, column), values[column], kind, styles)
    page.freeze_panes(1, 1)
    page.set_landscape()
    page.fit_to_pages(1, 0)
    page.repeat_rows(0)
    if sheet.rows:
        page.autofilter(0, 0, len(sheet.rows), len(sheet.columns) - 1)


def _cell(page: Any, place: tuple[int, int], value: object, kind: str, styles: dict[str, Any]) -> None:  # noqa: ANN401 - untyped
    if isinstance(value, _Value):
        _cell(page, place, value.number, value.kind, styles)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        # A format with decimals shows a whole count as "24.": the point stays.
        whole = kind == "count" and float(value).is_integer()
        page.write_number(*place, value, styles["whole" if whole else kind])
    elif value is not None and value != "":
        text = str(value)
        page.write_string(*place, text, styles["quoted" if _safe.dangerous(text) else "text"])


def _sheets(plan: Plan, words: Words) -> list[_Sheet]:
    return [
        _summary(plan, words),
        _orders(plan, words),
        _pools(plan),
        _costs(plan, words),
        _references(plan, words),
        _modes(plan, words),
        _assumptions(plan, words),
        _coverage(plan, words),
        _bill(plan),
        _figures(plan, words),
    ]


def _summary(plan: Plan, words: Words) -> _Sheet:
    total = plan.summary
    rows: list[tuple[object, ...]] = [
        (words("plan"), plan.name),
        (words("sheet_sentence"), plain(sentence(plan, words))),
        (words("as_of"), plan.as_of),
        (words("status"), words(plan.status.value)),
        (f"{words('total')} (USD)", _Value(total.total_npv, "usd")),
        (f"{words('total')}, 10 % (USD)", _Value(total.total_npv_interval[0], "usd")),
        (f"{words('total')}, 90 % (USD)", _Value(total.total_npv_interval[1], "usd")),
        (words("cash"), _Value(total.total_cash, "usd")),
        (words("met"), _Value(total.met_share, "share")),
        (words("peak_accelerators"), total.peak_accelerators),
        (words("seed"), _Value(plan.seed, "number")),
        (words("scenario"), plan.scenario_digest),
        (words("catalogue"), plan.catalogue_digest),
        *(
            (f"{words('cannot')}: {item.workload}", f"{phrase(item.message, words)}; {phrase(item.remedy, words)}")
            for item in plan.infeasibilities
        ),
        *((words("warnings"), phrase(text, words)) for text in plan.warnings),
    ]
    return _Sheet("sheet_summary", (("item", "text"), ("value_text", "count")), rows)


def _orders(plan: Plan, words: Words) -> _Sheet:
    columns = (
        ("id", "text"),
        ("kind", "text"),
        ("channel", "text"),
        ("server_head", "text"),
        ("accelerator_head", "text"),
        ("count", "count"),
        ("accelerators", "count"),
        ("order_by", "text"),
        ("arrives", "text"),
        ("until", "text"),
        ("price_head", "price"),
        ("price_per", "text"),
        ("money", "usd"),
        ("waits_for", "text"),
        ("why", "text"),
        ("stale", "text"),
        ("offer", "text"),
        ("source", "text"),
    )
    rows = [
        (
            row.id,
            words.kind(row.kind),
            row.channel,
            row.server,
            row.accelerator,
            row.servers,
            row.accelerators,
            row.order_by,
            row.arrives,
            row.until,
            row.unit_price,
            words(row.price_per),
            row.amount,
            phrase(row.waits_for, words),
            phrase(row.why, words),
            words("stale") if row.stale else "",
            row.offer,
            row.source,
        )
        for row in plan.orders
    ]
    return _Sheet("sheet_orders", columns, rows)


def _pools(plan: Plan) -> _Sheet:
    columns = (
        ("pooled", "text"),
        ("channel", "text"),
        ("place", "text"),
        ("server_head", "text"),
        ("axis_month", "text"),
        *(
            (name, "count")
            for name in (
                "owned",
                "purchased",
                "reserved",
                "on_demand_mean",
                "on_demand_peak",
                "spot_mean",
                "spot_peak",
                "used_mean_head",
                "used_peak_head",
            )
        ),
    )
    rows = [
        (
            pool.pool,
            pool.channel,
            pool.place,
            pool.server,
            month.month,
            month.owned,
            month.purchased,
            month.reserved,
            month.on_demand_mean,
            month.on_demand_peak,
            month.spot_mean,
            month.spot_peak,
            month.used_mean,
            month.used_peak,
        )
        for pool in plan.pools
        for month in pool.months
    ]
    return _Sheet("sheet_pools", columns, rows)


def _costs(plan: Plan, words: Words) -> _Sheet:
    columns = (
        ("component", "text"),
        ("year", "number"),
        ("cash", "usd"),
        ("npv", "usd"),
        ("category", "text"),
        ("formula", "text"),
    )
    rows = [
        (words.component(row.component, row.label), row.year, row.amount, row.npv, row.focus_category, phrase(row.formula, words))
        for row in plan.costs
    ]
    return _Sheet("sheet_costs", columns, rows)


def _references(plan: Plan, words: Words) -> _Sheet:
    columns = (
        ("reference", "text"),
        ("description", "text"),
        ("feasible", "text"),
        ("npv", "usd"),
        ("cash", "usd"),
        ("over", "usd"),
        ("unmet", "text"),
        ("note", "text"),
    )
    rows = [
        (
            words(row.name),
            phrase(row.description, words),
            words("yes" if row.feasible else "no"),
            row.npv,
            row.total,
            row.regret,
            ", ".join(f"{name} {share:.1%}" for name, share in row.unmet.items() if share > 0),
            phrase(row.note, words),
        )
        for row in plan.references
    ]
    return _Sheet("sheet_references", columns, rows)


def _modes(plan: Plan, words: Words) -> _Sheet:
    columns = (
        ("workload", "text"),
        ("platform", "text"),
        ("accelerators", "count"),
        ("layout", "text"),
        ("precision", "text"),
        ("rate", "number"),
        ("low", "number"),
        ("high", "number"),
        ("unit", "text"),
        ("share", "share"),
        ("unit_price", "price"),
        ("memory_head", "number"),
        ("memory_available", "number"),
        ("bottleneck", "text"),
        ("memory capacity", "share"),
        ("compute", "share"),
        ("memory bandwidth", "share"),
        ("interconnect", "share"),
        ("evidence", "text"),
        ("verdict", "text"),
    )
    rows = [
        (
            row.mode.workload,
            row.platform,
            row.mode.accelerators,
            layout(row.mode.layout),
            row.mode.precision,
            row.mode.rate,
            *row.mode.interval,
            row.mode.rate_unit,
            row.share,
            row.unit_cost,
            row.mode.memory,
            row.mode.memory_available,
            words(row.mode.bottleneck),
            *(row.mode.load.get(name) for name, kind in columns[14:18] if kind),
            words(row.mode.evidence.value),
            phrase(row.verdict, words),
        )
        for row in plan.modes
    ]
    return _Sheet("sheet_modes", columns, rows)


def _assumptions(plan: Plan, words: Words) -> _Sheet:
    columns = (
        ("assumption", "text"),
        ("value", "text"),
        ("low", "text"),
        ("high", "text"),
        ("swing", "usd"),
        ("reason", "text"),
        ("source", "text"),
    )
    rows = [
        (
            row.assumption.path,
            row.assumption.value,
            row.low,
            row.high,
            row.swing,
            phrase(row.assumption.reason, words),
            row.assumption.source,
        )
        for row in plan.assumptions
    ]
    return _Sheet("sheet_assumptions", columns, rows)


def _coverage(plan: Plan, words: Words) -> _Sheet:
    columns = (
        ("channel", "text"),
        ("kind", "text"),
        ("offers", "count"),
        ("oldest", "text"),
        ("newest", "text"),
        ("stale_count", "count"),
    )
    rows = [(row.channel, words.kind(row.kind), row.offers, row.oldest, row.newest, row.stale) for row in plan.coverage]
    return _Sheet("sheet_coverage", columns, rows)


def _bill(plan: Plan) -> _Sheet:
    columns = (
        ("site", "text"),
        ("item", "text"),
        ("description", "text"),
        ("number", "count"),
        ("price_head", "price"),
        ("amount", "usd"),
        ("power_watts", "count"),
        ("rack_units", "count"),
        ("source", "text"),
    )
    rows = [
        (row.site, row.item, row.description, row.count, row.unit_price, row.amount, row.power, row.rack_units, row.source)
        for row in plan.fabric
    ]
    return _Sheet("sheet_bill", columns, rows)


def _figures(plan: Plan, words: Words) -> _Sheet:
    columns = (
        ("id", "text"),
        ("figure", "text"),
        ("value", "number"),
        ("low", "number"),
        ("high", "number"),
        ("unit", "text"),
        ("evidence", "text"),
        ("formula", "text"),
        ("inputs", "text"),
        ("sources_head", "text"),
    )
    rows = [
        (
            row.id,
            phrase(row.label, words),
            row.value,
            *row.interval,
            row.unit,
            words(row.evidence.value),
            phrase(row.formula, words),
            "; ".join(f"{name} = {given}" for name, given in row.inputs.items()),
            "; ".join(row.sources),
        )
        for row in plan.figures.values()
    ]
    return _Sheet("sheet_figures", columns, rows)
