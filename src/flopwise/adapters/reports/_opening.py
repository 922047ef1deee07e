"""The first screen: the sentence, what cannot be met, what to do now, four figures."""

from __future__ import annotations

from flopwise.adapters.reports._markup import Column, Markup, bullets, esc, join, table, tag
from flopwise.adapters.reports._page import Page, mark, money, section, stale
from flopwise.adapters.reports._phrases import phrase
from flopwise.adapters.reports._sentence import best_reference, saving, sentence
from flopwise.domain.plan import PlanOrder, Status
from flopwise.ground.units import show

#: Orders shown at once.
SHOWN_ORDERS = 7
_SAME = 0.005


def head(page: Page) -> Markup:
    """Name, the sentence, and what the answer rests on."""
    plan, words = page.plan, page.words
    pieces = [page.link(piece.figure, piece.text) if piece.figure else esc(piece.text) for piece in sentence(plan, words)]
    status = words(plan.status.value)
    facts = [f"{words('as_of')} {words.month(plan.as_of)}", status, words("gap", gap=show(plan.gap, "1"))]
    if plan.status is Status.INFEASIBLE:
        facts.pop()
    meta = tag("p", *(tag("span", fact) for fact in facts), class_="meta")
    note = tag("p", words("english_notes"), class_="quiet") if words("english_notes") else ""
    return tag("header", tag("h1", f"{words('plan')} {plan.name}"), tag("p", *pieces, class_="lead"), meta, note)


def cannot(page: Page) -> Markup:
    """What cannot be met, why, and what would do; nothing for a plan that serves all."""
    plan, words = page.plan, page.words
    if plan.status is not Status.INFEASIBLE and not plan.infeasibilities:
        return Markup("")
    items = [
        tag(
            "div",
            tag("h3", item.workload, " ", mark(phrase(item.constraint, words), warn=True)),
            tag(
                "p",
                tag(
                    "strong",
                    page.link(f"workloads.{item.workload}.unmet", show(item.unmet_share, "1")),
                    " ",
                    words("of_not_served"),
                ),
                words("full_stop"),
                phrase(item.message, words),
            ),
            tag("p", tag("strong", words("remedy")), words("colon"), phrase(item.remedy, words)),
        )
        for item in plan.infeasibilities
    ]
    rest = tag("p", words("no_reason")) if not items else ""
    return tag("section", tag("h2", words("cannot")), *items, rest, id="cannot", class_="bad")


def do_now(page: Page) -> Markup:
    """The first orders by the day they must be placed."""
    plan, words = page.plan, page.words
    if not plan.orders:
        return section(words, "do_now", tag("p", words("no_orders"), class_="empty"))
    ranked = sorted(plan.orders, key=lambda order: (order.order_by, order.id))
    columns = (
        Column(head=words("what")),
        Column(head=words("order_by")),
        Column(head=words("money"), number=True),
        Column(head=words("count"), number=True),
        Column(head=words("arrives")),
        Column(head=words("channel")),
        Column(head=words("why_now")),
        Column(head=words("waits_for")),
    )
    rows = [_order(page, order) for order in ranked[:SHOWN_ORDERS]]
    more = words("more_orders", count=len(ranked) - SHOWN_ORDERS) if len(ranked) > SHOWN_ORDERS else ""
    return section(words, "do_now", table(words("do_now_caption"), columns, rows), tag("p", more, class_="quiet") if more else "")


def _order(page: Page, order: PlanOrder) -> tuple[object, ...]:
    words = page.words
    what = join((tag("strong", words.kind(order.kind)), " ", order.server or order.offer, stale(words, is_stale=order.stale)))
    amount = [page.link(f"orders.{order.id}.amount", money(order.amount))]
    if order.paid_by_use:
        amount.append(tag("div", words("paid_by_use"), class_="quiet"))
    waits = phrase(order.waits_for, words) or "–"
    count = f"{order.servers:,}" if order.servers else "–"
    order_by = [tag("span", words.month(order.order_by), class_="date")]
    if order.lead_weeks:
        order_by.append(tag("div", words("lead", weeks=f"{order.lead_weeks:.0f}"), class_="quiet"))
    arrives = tag("span", words.month(order.arrives), class_="date")
    return (what, join(order_by), join(amount), count, arrives, order.channel, phrase(order.why, words), waits)


def four(page: Page) -> Markup:
    """Total, unit cost, use and concentration, each with its interval and what gives it meaning."""
    words = page.words
    cards = (_total(page), _unit_cost(page), _use(page), _risk(page))
    return section(words, "four", tag("div", *cards, class_="cards"))


def _card(label: object, shown: object, *under: object) -> Markup:
    lines = (tag("div", line, class_="under") for line in under if line)
    return tag("div", tag("div", label, class_="label"), tag("div", shown, class_="value"), *lines, class_="card")


def _total(page: Page) -> Markup:
    plan, words = page.plan, page.words
    shown = page.link("cost.total_npv", show(plan.summary.total_npv, "USD"))
    low, high = (show(end, "USD") for end in plan.summary.total_npv_interval)
    share, best = saving(plan), best_reference(plan)
    if share is None or best is None:
        against = words("no_reference")
    else:
        key = "equal_reference" if abs(share) < _SAME else "below_reference" if share > 0 else "above_reference"
        against = words(key, share=show(abs(share), "1"), name=words.reference(best.name))
    return _card(words("total"), shown, words.interval(low, high), against)


def _unit_cost(page: Page) -> Markup:
    plan, words = page.plan, page.words
    suffix = ".cost.per_million_tokens"
    found = [f"workloads.{row.workload}{suffix}" for row in plan.demand if f"workloads.{row.workload}{suffix}" in plan.figures]
    if not found:
        return _card(words("unit_cost"), words("no_unit_cost"))
    price = page.figure(found[0])
    short = "" if price is None else page.link(found[0], show(price.value, "USD"))
    rows = [(name.removeprefix("workloads.").removesuffix(suffix), name) for name in found]
    lines = [join((workload, ": ", page.shown(name))) for workload, name in rows[1:4]]
    hour = join((page.shown("cost.per_accelerator_hour"), " ", words("per_accelerator_hour")))
    label = words("per_million", name=rows[0][0])
    return _card(label, short, page.interval(rows[0][1]), *lines, hour if page.figure("cost.per_accelerator_hour") else "")


def _use(page: Page) -> Markup:
    words = page.words
    if page.figure("use.allocation") is None:
        return _card(words("allocation"), "–", words("no_pool_use"))
    peak = words("at_peak", count=f"{page.plan.summary.peak_accelerators:,.0f}")
    return _card(
        words("allocation"), page.shown("use.allocation"), page.interval("use.allocation"), words("allocation_note"), peak
    )


def _risk(page: Page) -> Markup:
    words = page.words
    tier = next((row for row in page.plan.risk if row.tier == "channel"), None)
    if tier is None or not tier.shares:
        return _card(words("risk"), "–", words("no_risk"))
    name, share = max(tier.shares.items(), key=lambda item: item[1])
    note = words("risk_note", name=phrase(name, words), number=f"{tier.effective_number:.1f}")
    limit = "" if tier.limit is None else f"{words('limit')} {show(tier.limit, '1')}"
    flag = join((" ", mark(words("exceeded"), warn=True))) if tier.exceeded else ""
    return _card(words("risk"), show(share, "1"), note, join((limit, flag)) if limit else "")


def next_steps(page: Page) -> Markup:
    """Warnings as a list; empty without any."""
    items = [phrase(text, page.words) for text in page.plan.warnings]
    return bullets(items) if items else Markup("")
