"""What each workload needs and how it runs, and what is built for it."""

from __future__ import annotations

from flopwise.adapters.reports import _pictures as pictures
from flopwise.adapters.reports._markup import BREAK, Column, Markup, bullets, folded, join, table, tag
from flopwise.adapters.reports._page import Key, Page, mark, meter, money, section
from flopwise.adapters.reports._phrases import phrase
from flopwise.adapters.reports._theme import LINES, mix
from flopwise.domain.mode import Layout, Mode, Refusal
from flopwise.domain.plan import DemandRow, ModeRow
from flopwise.ground.units import show

#: The four loads of which one binds.
_LOADS = ("memory capacity", "compute", "memory bandwidth", "interconnect")
#: Parts of the names of details, and their unit.
_DETAIL_UNITS = (
    ("tokens_per_s", "tokens/s"),
    ("saturation_rate", "req/s"),
    ("bytes", "B"),
    ("_time", "s"),
    ("ttft", "s"),
    ("tpot", "s"),
    ("mfu", "1"),
    ("hfu", "1"),
    ("bubble", "1"),
    ("_share", "1"),
    ("utilisation", "1"),
)


def needed(page: Page) -> Markup:
    """Demand by month, then each workload with its mode."""
    words, plan = page.words, page.plan
    parts: list[object] = []
    if any(row.months for row in plan.demand):
        keys = [Key(LINES[1], words("legend_need_peak"), "line"), Key(mix(LINES[1], 0.65), words("legend_need_mean"))]
        parts.append(page.picture(pictures.demand, words("demand_caption"), keys))
    parts += [_workload(page, row) for row in plan.demand]
    parts.append(_headroom(page))
    return section(words, "needed", *parts, breaks=True)


def _workload(page: Page, row: DemandRow) -> Markup:
    words, plan = page.words, page.plan
    modes = [item for item in plan.modes if item.mode.workload == row.workload]
    chosen = sorted((item for item in modes if item.share > 0), key=lambda item: -item.share)
    others = [item for item in modes if item.share <= 0]
    refused = [item for item in plan.refusals if item.workload == row.workload]
    work = page.link(f"workloads.{row.workload}.demand.work", show(row.work, row.work_unit))
    unmet = join((" ", mark(f"{words('unmet')}: {show(row.unmet_share, '1')}", warn=True))) if row.unmet_share > 0 else ""
    head = tag("p", words(row.kind), ", ", row.model, ", ", words("work_is"), work, unmet)
    lines = bullets(phrase(line, words) for line in row.derivation)
    left = tag("div", tag("h4", words("derivation")), lines)
    right = tag(
        "div", tag("h4", words("chosen_mode")), _mode(page, chosen[0]) if chosen else tag("p", words("no_mode"), class_="empty")
    )
    also = _modes(page, words("also_chosen"), chosen[1:]) if chosen[1:] else ""
    lost = folded(words("runners_count", count=len(others)), _modes(page, words("runners_up"), others)) if others else ""
    out = folded(words("refusals_count", count=len(refused)), _refusals(page, refused)) if refused else ""
    return tag(
        "article", tag("h3", row.workload), head, tag("div", left, right, class_="two"), also, lost, out, class_="workload"
    )


def _mode(page: Page, row: ModeRow) -> Markup:
    words, mode = page.words, row.mode
    low, high = (show(end, mode.rate_unit) for end in mode.interval)
    rate = page.link(f"workloads.{mode.workload}.mode.rate", show(mode.rate, mode.rate_unit))
    facts = (
        (words("platform"), f"{row.platform}, {words('gang', count=f'{mode.accelerators:,}')}"),
        (words("layout"), f"{layout(mode.layout)}, {mode.precision}"),
        (words("share"), show(row.share, "1")),
        (words("rate"), join((rate, " ", mark(words(mode.evidence.value)), BREAK, words.interval(low, high)))),
        (words("memory"), words("memory_of", used=show(mode.memory, "B"), all=show(mode.memory_available, "B"))),
        (words("memory_parts"), _memory(page, mode)),
        (words("unit_price"), "–" if row.unit_cost is None else show(row.unit_cost, "")),
        (words("verdict"), phrase(row.verdict, words)),
        *(((words("detail"), detail(mode)),) if mode.detail else ()),
        *(((words("note"), "; ".join(phrase(note, words) for note in mode.notes)),) if mode.notes else ()),
    )
    listed = tag("dl", *(part for name, text in facts for part in (tag("dt", name), tag("dd", text))))
    shares = [(words(name), mode.load[name], name == mode.bottleneck) for name in _LOADS if name in mode.load]

    def note(share: float, marked: bool) -> object:  # noqa: FBT001 - a callback of ``meter``
        return join((show(share, "1"), " ", mark(words("binds"), warn=True))) if marked else show(share, "1")

    return tag("div", listed, tag("h4", words("loads")), meter(shares, note))


def layout(split: Layout) -> str:
    """A layout in one line; degrees of one are left out but for tensor, pipeline and data."""
    parts = [f"TP {split.tp}", f"PP {split.pp}", f"DP {split.dp}"]
    parts += [f"{name} {degree}" for name, degree in (("CP", split.cp), ("EP", split.ep), ("VPP", split.vpp)) if degree > 1]
    return ", ".join(parts) + ("" if split.recompute == "none" else f", recompute {split.recompute}")


def _memory(page: Page, mode: Mode) -> str:
    parts = {name.removeprefix("memory."): size for name, size in mode.detail.items() if name.startswith("memory.")}
    if not parts:
        parts = next((dict(row.memory) for row in page.plan.demand if row.workload == mode.workload), {})
    return (
        ", ".join(f"{page.words(name)} {show(size, 'B')}" for name, size in sorted(parts.items(), key=lambda item: -item[1]))
        or "–"
    )


def detail(mode: Mode) -> str:
    """What a reader asks next about a mode, in one line."""
    return ", ".join(
        f"{name} {_quantity(name, amount)}" for name, amount in mode.detail.items() if not name.startswith("memory.")
    )


def _quantity(name: str, amount: float) -> str:
    for pattern, unit in _DETAIL_UNITS:
        if pattern in name:
            return show(amount, unit)
    return show(amount, "")


def _modes(page: Page, caption: str, rows: list[ModeRow]) -> Markup:
    words = page.words
    columns = (
        Column(head=words("platform")),
        Column(head=words("accelerators"), number=True),
        Column(head=words("layout")),
        Column(head=words("rate"), number=True),
        Column(head=words("share"), number=True),
        Column(head=words("unit_price"), number=True),
        Column(head=words("bottleneck")),
        Column(head=words("verdict")),
    )
    body = [
        (
            row.platform,
            f"{row.mode.accelerators:,}",
            f"{layout(row.mode.layout)}, {row.mode.precision}",
            show(row.mode.rate, row.mode.rate_unit),
            show(row.share, "1") if row.share > 0 else "–",
            "–" if row.unit_cost is None else show(row.unit_cost, ""),
            words(row.mode.bottleneck),
            phrase(row.verdict, words),
        )
        for row in rows
    ]
    return table(caption, columns, body)


def _refusals(page: Page, rows: list[Refusal]) -> Markup:
    words = page.words
    columns = (
        Column(head=words("accelerator")),
        Column(head=words("constraint")),
        Column(head=words("reason")),
        Column(head=words("remedy")),
    )
    body = [(row.accelerator, words(row.constraint), phrase(row.message, words), phrase(row.remedy, words)) for row in rows]
    return table(words("refusals"), columns, body)


def _headroom(page: Page) -> Markup:
    words, room = page.words, page.plan.headroom
    columns = (Column(head=words("item")), Column(head=words("share"), number=True), Column(head=words("reason")))
    rows: list[tuple[object, ...]] = [
        (phrase(line.name, words), show(line.share, "1"), phrase(line.reason, words)) for line in room.lines
    ]
    left = join((show(room.unallocated, "1"), " ", mark(words("overdrawn"), warn=True) if room.unallocated < 0 else ""))
    rows += [
        (words("unallocated"), left, ""),
        (words("budget"), page.link("headroom.budget", show(room.budget, "1")), words("budget_note")),
    ]
    return tag(
        "article", tag("h3", words("headroom")), table(words("headroom_caption"), columns, rows, total=True), class_="workload"
    )


def wired(page: Page) -> Markup:
    """The bill of materials."""
    words, rows = page.words, page.plan.fabric
    if not rows:
        return section(words, "wired", tag("p", words("no_bill"), class_="empty"))
    columns = (
        Column(head=words("site")),
        Column(head=words("item")),
        Column(head=words("description")),
        Column(head=words("number"), number=True),
        Column(head=words("amount"), number=True),
        Column(head=words("power"), number=True),
        Column(head=words("rack_units"), number=True),
        Column(head=words("source")),
    )
    body = [
        (
            row.site,
            row.item,
            row.description,
            f"{row.count:,}",
            money(row.amount),
            show(row.power, "W") if row.power else "–",
            f"{row.rack_units:g}" if row.rack_units else "–",
            row.source,
        )
        for row in rows
    ]
    total = sum(row.amount or 0.0 for row in rows)
    end = (
        words("sum"),
        "",
        "",
        "",
        money(total),
        show(sum(row.power for row in rows), "W"),
        f"{sum(row.rack_units for row in rows):g}",
        "",
    )
    return section(words, "wired", table(words("bill_caption"), columns, [*body, end], total=True), breaks=True)
