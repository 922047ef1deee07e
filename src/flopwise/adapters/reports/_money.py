"""What it costs, what is assumed, and all figures."""

from __future__ import annotations

from collections import defaultdict

from flopwise.adapters.reports import _pictures as pictures
from flopwise.adapters.reports import _series as series
from flopwise.adapters.reports._markup import BREAK, Column, Markup, anchor, bullets, esc, folded, join, table, tag
from flopwise.adapters.reports._page import Key, Page, mark, money, paid_and_credited, section, value, weight
from flopwise.adapters.reports._phrases import phrase
from flopwise.domain.plan import PlanAssumption
from flopwise.domain.provenance import Figure
from flopwise.ground.units import show

#: Assumptions shown before the rest is folded.
SHOWN_ASSUMPTIONS = 5


def costs(page: Page) -> Markup:
    """By year and component, and per unit of work."""
    words, plan = page.words, page.plan
    if not plan.costs:
        return section(words, "costs", tag("p", words("no_costs"), class_="empty"))
    _, _, components = series.costs(plan, words)
    keys = [Key(colour, name) for name, colour in components]
    parts = [page.picture(pictures.costs, words("year_caption"), keys), _components(page), _unit_costs(page)]
    return section(words, "costs", *parts, breaks=True)


def _components(page: Page) -> Markup:
    words, plan = page.words, page.plan
    years = sorted({line.year for line in plan.costs})
    cash: dict[tuple[str, int], float] = defaultdict(float)
    npv: dict[str, float] = defaultdict(float)
    label: dict[str, str] = {}
    for line in plan.costs:
        cash[line.component, line.year] += line.amount
        npv[line.component] += line.npv
        label[line.component] = words.component(line.component, line.label)
    heads = (*(str(year) for year in years), words("cash"), words("npv"))
    columns = (Column(head=words("component")), *(Column(head=name, number=True) for name in heads))
    whole = {name: sum(amount for (part, _), amount in cash.items() if part == name) for name in npv}
    paid, credited = paid_and_credited(whole, npv)

    def row(name: str) -> tuple[object, ...]:
        by_year = (money(cash[name, year]) if (name, year) in cash else "–" for year in years)
        return (label[name], *by_year, money(whole[name]), page.link(f"cost.{name}", money(npv[name])))

    def summed(head: str, parts: list[str], ids: tuple[str, str, str]) -> tuple[object, ...]:
        sums = {year: sum(cash.get((part, year), 0.0) for part in parts) for year in years}
        by_year = (page.link(ids[0].format(year), money(amount)) for year, amount in sums.items())
        amounts = (sum(whole[part] for part in parts), sum(npv[part] for part in parts))
        return (words(head), *by_year, *(page.link(key, money(usd)) for key, usd in zip(ids[1:], amounts, strict=True)))

    rows = [row(name) for name in paid]
    if credited:
        rows += [summed("paid", paid, ("", "cost.paid", "")), *(row(name) for name in credited)]
    rows.append(summed("sum", [*paid, *credited], ("cost.year.{}", "cost.total_cash", "cost.total_npv")))
    return table(words("costs_caption"), columns, rows, total=True)


def _unit_costs(page: Page) -> Markup:
    words, figures = page.words, page.plan.figures
    found = [item for name, item in figures.items() if ".cost.per_" in name or name == "cost.per_accelerator_hour"]
    if not found:
        return Markup("")
    columns = (
        Column(head=words("figure")),
        Column(head=words("value"), number=True),
        Column(head=words("interval_head"), number=True),
        Column(head=words("evidence")),
    )
    rows = [
        (
            phrase(item.label, words),
            page.link(item.id, value(item.value, item.unit)),
            _interval(item),
            mark(words(item.evidence.value)),
        )
        for item in found
    ]
    return table(words("unit_costs_caption"), columns, rows)


def _interval(item: Figure) -> str:
    low, high = item.interval
    return "–" if low == high else f"{value(low, item.unit)} – {value(high, item.unit)}"


def assumed(page: Page) -> Markup:
    """Assumptions by what they cost, offers by age, warnings, and what is not in the model."""
    words, plan = page.words, page.plan
    ranked = sorted(plan.assumptions, key=lambda row: row.rank)
    parts: list[object] = []
    if ranked:
        parts.append(_assumptions(page, words("top_assumptions"), ranked[:SHOWN_ASSUMPTIONS]))
    else:
        parts.append(tag("p", words("no_assumptions"), class_="empty"))
    rest = ranked[SHOWN_ASSUMPTIONS:]
    if rest:
        head = words("other_assumptions", count=len(rest))
        parts.append(folded(head, _assumptions(page, head, rest)))
    parts += [tag("h3", words("coverage")), _coverage(page)]
    if plan.warnings:
        parts += [tag("h3", words("warnings")), bullets(phrase(text, words) for text in plan.warnings)]
    parts += [tag("h3", words("not_modelled")), bullets(words("not_modelled_text").split("\n"))]
    return section(words, "assumed", *parts, breaks=True)


def _assumptions(page: Page, caption: str, rows: list[PlanAssumption]) -> Markup:
    words = page.words
    columns = (
        Column(head=words("assumption")),
        Column(head=words("value")),
        Column(head=words("range")),
        Column(head=words("swing"), number=True),
        Column(head=words("why")),
        Column(head=words("source")),
    )
    body = [
        (
            tag("code", row.assumption.path),
            row.assumption.value,
            f"{phrase(row.low, words)} – {phrase(row.high, words)}" if row.low or row.high else "–",
            weight(row, words),
            phrase(row.assumption.reason, words),
            row.assumption.source,
        )
        for row in rows
    ]
    return table(caption, columns, body)


def _coverage(page: Page) -> Markup:
    words, rows = page.words, page.plan.coverage
    if not rows:
        return tag("p", words("no_coverage"), class_="empty")
    columns = (
        Column(head=words("channel")),
        Column(head=words("kind")),
        Column(head=words("offers"), number=True),
        Column(head=words("oldest")),
        Column(head=words("newest")),
        Column(head=words("stale_count"), number=True),
    )
    body = [
        (
            row.channel,
            words.kind(row.kind),
            f"{row.offers:,}",
            words.month(row.oldest),
            words.month(row.newest),
            join((f"{row.stale:,} ", mark(words("stale"), warn=True))) if row.stale else "0",
        )
        for row in rows
    ]
    all_offers, old = sum(row.offers for row in rows), sum(row.stale for row in rows)
    note = tag("p", words("all_stale", count=f"{old:,}", all=f"{all_offers:,}"), class_="quiet") if old else ""
    return tag("div", note, table(words("coverage_caption"), columns, body))


def figures(page: Page) -> Markup:
    """Every figure with its formula, inputs and sources; each row is what links on the page lead to."""
    words = page.words
    columns = (
        Column(head=words("figure")),
        Column(head=words("value"), number=True),
        Column(head=words("formula")),
        Column(head=words("sources_head")),
    )
    rows = [_figure(page, item) for item in page.plan.figures.values()]
    shown = table(words("figures_caption"), columns, rows) if rows else tag("p", words("no_figures"), class_="empty")
    return section(words, "figures", tag("div", shown, class_="figures"), breaks=True)


def _figure(page: Page, item: Figure) -> tuple[object, ...]:
    words = page.words
    name = tag("div", phrase(item.label, words), BREAK, tag("code", item.id), id=anchor(item.id))
    ends = _interval(item)
    interval = "" if ends == "–" else tag("div", ends, class_="quiet")
    shown = join((value(item.value, item.unit), interval, tag("div", mark(words(item.evidence.value)))))
    inputs = [join((symbol, " = ", page.link(given, given))) for symbol, given in item.inputs.items()]
    formula = join((tag("div", phrase(item.formula, words)), tag("div", join(inputs, "; "), class_="quiet") if inputs else ""))
    return (name, shown, formula, join((esc(source) for source in item.sources), "; ") or "–")


def foot(page: Page) -> Markup:
    """What the plan was made from, so that it can be made again."""
    plan, words = page.plan, page.words
    facts = (
        f"flopwise {plan.flopwise}",
        f"{words('scenario')} {plan.scenario_digest[:12]}",
        f"{words('catalogue')} {plan.catalogue_digest[:12]}",
        f"{words('seed')} {plan.seed}",
        show(plan.summary.total_cash, "USD") + " " + words("cash_word"),
    )
    return tag("footer", *(tag("span", fact) for fact in facts), class_="meta")
