"""Supply against demand, why this mix, and what breaks it."""

from __future__ import annotations

from flopwise.adapters.reports import _pictures as pictures
from flopwise.adapters.reports import _series as series
from flopwise.adapters.reports._markup import Column, Markup, bullets, folded, join, table, tag
from flopwise.adapters.reports._page import Key, Page, mark, meter, money, section
from flopwise.adapters.reports._phrases import phrase
from flopwise.adapters.reports._sentence import best_reference, reference_figure, saving
from flopwise.adapters.reports._theme import DASHES, GREY, INK, LINES, hue, mix
from flopwise.domain.plan import Concentration, HostedRow, Reference
from flopwise.ground.units import show

#: Kinds of contract that a full comparison looks at.
_KINDS = ("purchase", "reserved", "on-demand", "spot", "hosted")
_SAME = 0.005


def supply(page: Page) -> Markup:
    """By month, by the hour, and order by order."""
    words, plan = page.words, page.plan
    parts: list[object] = []
    rows = series.supply(plan)
    if rows:
        parts.append(page.picture(pictures.supply, words("supply_caption"), _supply_keys(page), table=_supply_table(page, rows)))
    else:
        parts.append(tag("p", words("no_pools"), class_="empty"))
    if plan.hours and rows:
        parts.append(
            page.picture(
                pictures.week, words("week_caption") + words("of_month", month=words.month(plan.hours[0].month)), _week_keys(page)
            )
        )
    if any(row.months for row in plan.hosted):
        parts.append(_hosted(page))
    if plan.orders:
        parts.append(page.picture(pictures.timeline, words("timeline_caption"), _timeline_keys(page)))
    return section(words, "supply", *parts, breaks=True)


def _supply_keys(page: Page) -> list[Key]:
    words = page.words
    keys: list[Key] = []
    for source, part in dict.fromkeys((row["source"], row["part"]) for row in series.supply(page.plan)):
        elastic = source in {"on_demand", "spot"}
        text = words(f"legend_{'peak' if part == 'peak' else 'mean'}", source=words(source)) if elastic else words(source)
        keys.append(Key(mix(hue(source), 0.55) if part == "peak" else hue(source), text))
    return [*keys, Key(INK, words("used_mean"), "dash"), Key(INK, words("used_peak"), "line")]


def _supply_table(page: Page, rows: list[series.Row]) -> Markup:
    words = page.words
    kinds = list(dict.fromkeys((row["source"], row["part"]) for row in rows))
    count = {(row["month"], row["source"], row["part"]): row["count"] for row in rows}
    heads = [f"{words(source)} ({words('above_mean')})" if part == "peak" else words(source) for source, part in kinds]
    columns = (
        Column(head=words("axis_month")),
        *(Column(head=name, number=True) for name in (*heads, words("used_mean"), words("used_peak"))),
    )
    mean, peak = ({row["month"]: row["count"] for row in series.used(page.plan, which)} for which in ("mean", "peak"))
    body = [
        (words.month(month), *(f"{count[month, *kind]:,.1f}" for kind in kinds), f"{mean[month]:,.1f}", f"{peak[month]:,.1f}")
        for month in page.plan.months
    ]
    return folded(words("as_table"), table(words("supply_caption"), columns, body))


def _week_keys(page: Page) -> list[Key]:
    hours = series.hours(page.plan)
    kinds = {pool.pool: series.main_source(pool) for pool in page.plan.pools}
    pools = [Key(colour, f"{name} ({page.words(kinds[name])})") for name, colour in hours.pools]
    lines = [
        Key(LINES[number % len(LINES)], name, "line" if DASHES[number % len(DASHES)] == (1, 0) else "dash")
        for number, name in enumerate(hours.workloads)
    ]
    return [*pools, *lines]


def _timeline_keys(page: Page) -> list[Key]:
    words = page.words
    kinds = sorted({order.kind for order in page.plan.orders})
    keys = [Key(hue(kind), words.kind(kind)) for kind in kinds]
    today = Key(GREY, words("legend_as_of", day=words.month(page.plan.as_of)), "dash")
    return [Key("#ffffff", words("legend_wait"), "open"), *keys, today]


def _hosted(page: Page) -> Markup:
    words = page.words
    columns = (
        Column(head=words("workload")),
        Column(head=words("channel")),
        Column(head=words("months_head")),
        Column(head=words("mean_head"), number=True),
        Column(head=words("peak_head"), number=True),
    )
    rows = [_hosted_row(page, row) for row in page.plan.hosted if any(need.peak > 0 for need in row.months)]
    return tag("div", tag("h3", words("hosted_rows")), table(words("hosted_caption"), columns, rows)) if rows else Markup("")


def _hosted_row(page: Page, row: HostedRow) -> tuple[object, ...]:
    busy = [need for need in row.months if need.peak > 0]
    first, last = page.words.month(busy[0].month), page.words.month(busy[-1].month)
    when = first if first == last else f"{first} – {last} ({len(busy)})"
    mean = sum(need.mean for need in busy) / len(busy)
    return (row.workload, row.channel, when, show(mean, "req/s"), show(max(need.peak for need in busy), "req/s"))


def mix_reasons(page: Page) -> Markup:
    """Reference plans side by side, where things turn, and one paragraph."""
    words, plan = page.words, page.plan
    parts: list[object] = [tag("p", _paragraph(page))]
    if plan.references:
        keys = [Key(LINES[1], words("this_plan_cost")), Key(GREY, words("legend_feasible"))]
        if any(not row.feasible for row in plan.references):
            keys.append(Key(mix(GREY, 0.55), words("legend_partial")))
        keys.append(Key(INK, words("legend_interval"), "line"))
        parts += [page.picture(pictures.references, words("references_caption"), keys), _reference_table(page)]
    else:
        parts.append(tag("p", words("no_references"), class_="empty"))
    if plan.break_even:
        items = [
            join(
                (page.link(f"break_even.{item.name}", show(item.value, item.unit)), words("colon"), phrase(item.sentence, words))
            )
            for item in plan.break_even
        ]
        parts += [tag("h3", words("break_even")), bullets(items)]
    return section(words, "mix", *parts, breaks=True)


def _paragraph(page: Page) -> str:
    words, plan = page.words, page.plan
    gap = words("paragraph_gap", gap=show(plan.gap, "1")) if plan.gap > 0 else ""
    said = [words("paragraph_fits", gap=gap)]
    best, share = best_reference(plan), saving(plan)
    if best is None or share is None:
        said.append(words("paragraph_none"))
    elif abs(share) < _SAME:
        said.append(words("paragraph_same", name=words.reference(best.name)))
    elif share > 0:
        more = show(best.npv - plan.summary.total_npv, "USD")
        said.append(
            words(
                "paragraph_saves",
                name=words.reference(best.name),
                more=more,
                share=show(best.npv / plan.summary.total_npv - 1, "1"),
            )
        )
    partial = [words.reference(row.name) for row in plan.references if not row.feasible and not row.chosen]
    if partial:
        said.append(words("paragraph_leaves", names=("、" if words.lang == "zh" else ", ").join(partial)))
    missing = [kind for kind in _KINDS if not any(row.kind.startswith(kind) and row.offers for row in plan.coverage)]
    if missing and plan.coverage:
        said.append(words("not_full", kinds=("、" if words.lang == "zh" else ", ").join(words.kind(kind) for kind in missing)))
    return ("" if words.lang == "zh" else " ").join(text[:1].upper() + text[1:] for text in said)


def _reference_table(page: Page) -> Markup:
    words = page.words
    columns = (
        Column(head=words("reference")),
        Column(head=words("description")),
        Column(head=words("npv"), number=True),
        Column(head=words("over"), number=True),
        Column(head=words("unmet")),
        Column(head=words("note")),
    )
    return table(words("references_caption"), columns, [_reference(page, row) for row in page.plan.references])


def _reference(page: Page, row: Reference) -> tuple[object, ...]:
    words = page.words
    figure = "cost.total_npv" if row.chosen else reference_figure(row.name)
    left = ", ".join(f"{name} {show(share, '1')}" for name, share in row.unmet.items() if share > 0)
    name = tag("strong", words(row.name)) if row.chosen else words(row.name)
    return (
        name,
        phrase(row.description, words),
        page.link(figure, money(row.npv)),
        money(row.regret),
        left or "–",
        phrase(row.note, words) or "–",
    )


def breaks(page: Page) -> Markup:
    """Concentration by tier, and the assumptions that move the total."""
    words, plan = page.words, page.plan
    parts: list[object] = [_concentration(page) if plan.risk else tag("p", words("no_risk"), class_="empty")]
    if any(row.swing for row in plan.assumptions):
        parts.append(page.picture(pictures.tornado, words("tornado_caption")))
    else:
        parts.append(tag("p", words("no_swing"), class_="empty"))
    return section(words, "breaks", *parts, breaks=True)


def _concentration(page: Page) -> Markup:
    words = page.words
    columns = (
        Column(head=words("tier")),
        Column(head=words("shares")),
        Column(head=words("hhi"), number=True),
        Column(head=words("effective"), number=True),
        Column(head=words("limit"), number=True),
    )
    return table(words("concentration_caption"), columns, [_tier(page, row) for row in page.plan.risk])


def _tier(page: Page, row: Concentration) -> tuple[object, ...]:
    ranked = sorted(row.shares.items(), key=lambda item: -item[1])
    bars = meter(((phrase(name, page.words), share, False) for name, share in ranked), lambda share, _: show(share, "1"))
    limit = "–" if row.limit is None else show(row.limit, "1")
    flag = join((" ", mark(page.words("exceeded"), warn=True))) if row.exceeded else ""
    return (
        page.words("tier_channel" if row.tier == "channel" else row.tier),
        bars,
        f"{row.hhi:,.0f}",
        f"{row.effective_number:.1f}",
        join((limit, flag)),
    )
