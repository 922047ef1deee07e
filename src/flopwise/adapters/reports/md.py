"""A short report in Markdown: the sentence, what to do, what it costs, against what, on which assumptions."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from flopwise.adapters.reports._page import money, paid_and_credited, weight
from flopwise.adapters.reports._phrases import phrase
from flopwise.adapters.reports._sentence import plain, sentence
from flopwise.adapters.reports._words import Words
from flopwise.domain.plan import Plan, PlanOrder
from flopwise.ground.units import show

#: Orders and assumptions shown.
_ORDERS, _ASSUMPTIONS = 7, 5
#: Characters that mean something in Markdown or in the HTML that may stand inside it.
_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~$!])")
#: What begins another list, or a rule, at the start of an item.
_MARKER = re.compile(r"^([-+=]|\d{1,9}[.)](?=\s|$))")


def text(value: object) -> str:
    """A value as plain text inside Markdown: one line, nothing that is read as markup."""
    return _SPECIAL.sub(r"\\\1", html.escape(" ".join(str(value).split()), quote=False))


def render(plan: Plan, *, lang: str) -> bytes:
    """The report in UTF-8."""
    words = Words(lang)
    parts = [
        f"# {text(words('plan'))} {text(plan.name)}",
        f"**{text(plain(sentence(plan, words)))}**",
        f"{text(words('as_of'))} {text(words.month(plan.as_of))}",
        *_cannot(plan, words),
        *_do_now(plan, words),
        *_references(plan, words),
        *_costs(plan, words),
        *_needed(plan, words),
        *_risk(plan, words),
        *_assumed(plan, words),
    ]
    return ("\n\n".join(parts) + "\n").encode()


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[int] = ()) -> str:
    rule = "|".join("---:" if number in numbers else "---" for number in range(len(heads)))
    lines = [" | ".join(map(text, heads)), *(" | ".join(map(text, row)) for row in rows)]
    return "\n".join((f"| {lines[0]} |", f"|{rule}|", *(f"| {line} |" for line in lines[1:])))


def _item(value: str) -> str:
    """A bullet whose text begins no list or rule of its own."""
    shown = text(value)
    found = _MARKER.match(shown)
    if found:
        at = found.end() - 1
        shown = f"{shown[:at]}\\{shown[at:]}"
    return f"- {shown}"


def _cannot(plan: Plan, words: Words) -> list[str]:
    if not plan.infeasibilities:
        return []
    rows = [
        (
            item.workload,
            show(item.unmet_share, "1"),
            phrase(item.constraint, words),
            phrase(item.message, words),
            phrase(item.remedy, words),
        )
        for item in plan.infeasibilities
    ]
    heads = (words("workload"), words("unmet"), words("constraint"), words("reason"), words("remedy"))
    return [f"## {words('cannot')}", _table(heads, rows, (1,))]


def _do_now(plan: Plan, words: Words) -> list[str]:
    if not plan.orders:
        return [f"## {words('do_now')}", words("no_orders")]
    ranked = sorted(plan.orders, key=lambda order: (order.order_by, order.id))
    heads = tuple(words(name) for name in ("what", "count", "channel", "order_by", "arrives", "money", "waits_for", "why_now"))
    parts = [f"## {words('do_now')}", _table(heads, [_order(order, words) for order in ranked[:_ORDERS]], (1, 5))]
    more = len(ranked) - _ORDERS
    return [*parts, words("more_orders", count=more)] if more > 0 else parts


def _order(order: PlanOrder, words: Words) -> tuple[object, ...]:
    what = f"{words.kind(order.kind)} {order.server or order.offer}" + (f" ({words('stale')})" if order.stale else "")
    when = (words.month(order.order_by), words.month(order.arrives))
    count = order.servers or "–"
    return (
        what,
        count,
        order.channel,
        *when,
        money(order.amount),
        phrase(order.waits_for, words) or "–",
        phrase(order.why, words),
    )


def _references(plan: Plan, words: Words) -> list[str]:
    if not plan.references:
        return []
    rows = [
        (
            words(row.name),
            money(row.npv),
            money(row.regret),
            ", ".join(f"{name} {show(share, '1')}" for name, share in row.unmet.items() if share > 0) or "–",
            phrase(row.note, words) or "–",
        )
        for row in plan.references
    ]
    heads = tuple(words(name) for name in ("reference", "npv", "over", "unmet", "note"))
    turns = [_item(phrase(item.sentence, words)) for item in plan.break_even]
    return [f"## {words('mix')}", _table(heads, rows, (1, 2)), *(["\n".join(turns)] if turns else [])]


def _costs(plan: Plan, words: Words) -> list[str]:
    cash: dict[str, float] = {}
    npv: dict[str, float] = {}
    for line in plan.costs:
        label = words.component(line.component, line.label)
        cash[label] = cash.get(label, 0.0) + line.amount
        npv[label] = npv.get(label, 0.0) + line.npv
    paid, credited = paid_and_credited(cash, npv)
    sums = [(words("paid"), paid), *((label, [label]) for label in credited)] if credited else []
    groups = [*((label, [label]) for label in paid), *sums, (words("sum"), list(cash))]
    rows = [(head, money(sum(cash[part] for part in parts)), money(sum(npv[part] for part in parts))) for head, parts in groups]
    heads = (words("component"), words("cash"), words("npv"))
    return [f"## {words('costs')}", _table(heads, rows, (1, 2)) if plan.costs else words("no_costs")]


def _needed(plan: Plan, words: Words) -> list[str]:
    rows = [
        (
            row.mode.workload,
            row.platform,
            f"{row.mode.accelerators:,}",
            show(row.mode.rate, row.mode.rate_unit),
            " – ".join(show(end, row.mode.rate_unit) for end in row.mode.interval),
            words(row.mode.bottleneck),
            show(row.share, "1"),
        )
        for row in plan.modes
        if row.share > 0
    ]
    heads = tuple(
        words(name) for name in ("workload", "platform", "accelerators", "rate", "interval_head", "bottleneck", "share")
    )
    return [f"## {words('needed')}", _table(heads, rows, (2, 3, 6)) if rows else words("no_mode")]


def _risk(plan: Plan, words: Words) -> list[str]:
    if not plan.risk:
        return []
    rows = [
        (
            words("tier_channel" if row.tier == "channel" else row.tier),
            ", ".join(f"{phrase(name, words)} {show(share, '1')}" for name, share in row.shares.items()),
            f"{row.hhi:,.0f}",
            f"{row.effective_number:.1f}",
            ("–" if row.limit is None else show(row.limit, "1")) + (f" ({words('exceeded')})" if row.exceeded else ""),
        )
        for row in plan.risk
    ]
    heads = tuple(words(name) for name in ("tier", "shares", "hhi", "effective", "limit"))
    return [f"## {words('breaks')}", _table(heads, rows, (2, 3))]


def _assumed(plan: Plan, words: Words) -> list[str]:
    ranked = sorted(plan.assumptions, key=lambda row: row.rank)
    rows = [
        (row.assumption.path, row.assumption.value, f"{row.low} – {row.high}", weight(row, words), row.assumption.source)
        for row in ranked[:_ASSUMPTIONS]
    ]
    heads = tuple(words(name) for name in ("assumption", "value", "range", "swing", "source"))
    parts = [f"## {words('assumed')}", _table(heads, rows, (3,)) if rows else words("no_assumptions")]
    warned = [_item(phrase(item, words)) for item in plan.warnings]
    return [*parts, *([f"### {words('warnings')}", "\n".join(warned)] if warned else [])]
