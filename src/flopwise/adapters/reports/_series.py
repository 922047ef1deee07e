"""The rows that pictures draw, from a plan. No colour decisions but the hue that belongs to a kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flopwise.adapters.reports._theme import GREY, HUES, LINES, hue, mix
from flopwise.adapters.reports._words import Words
from flopwise.domain.plan import Plan, PoolMonth, PoolRow
from flopwise.ground.units import HOURS_PER_DAY, show

Row = dict[str, Any]
_HELD = ("owned", "purchased", "reserved")
_ELASTIC = ("on_demand", "spot")
#: Workloads whose demand is drawn, components that have a band of their own.
SHOWN_WORKLOADS, SHOWN_COMPONENTS = 7, 7


def supply(plan: Plan) -> list[Row]:
    """Accelerators by month, source and part: ``base`` (held, or the mean of elastic) and ``peak`` (above the mean)."""
    count: dict[tuple[str, str, str], float] = defaultdict(float)
    for pool in plan.pools:
        for month in pool.months:
            for source, part, value in _sources(month):
                count[month.month, source, part] += value
    order = {name: number for number, name in enumerate(HUES)}
    parts = {(source, part) for (_, source, part), value in count.items() if value > 0}
    ranked = sorted(parts, key=lambda pair: (pair[1] == "peak", order[pair[0]]))
    place = {pair: number for number, pair in enumerate(ranked)}
    return [
        {"month": month, "source": source, "part": part, "count": count[month, source, part], "order": place[source, part]}
        for source, part in ranked
        for month in plan.months
    ]


def _sources(month: PoolMonth) -> list[tuple[str, str, float]]:
    held = [(name, "base", float(getattr(month, name))) for name in _HELD]
    for name in _ELASTIC:
        mean, peak = max(getattr(month, f"{name}_mean"), 0.0), max(getattr(month, f"{name}_peak"), 0.0)
        held += [(name, "base", mean), (name, "peak", max(peak - mean, 0.0))]
    return held


def used(plan: Plan, which: str) -> list[Row]:
    """Accelerators in use by month over all pools: ``mean``, or ``peak`` (the sum of each pool's own peak)."""
    count: dict[str, float] = dict.fromkeys(plan.months, 0.0)
    for pool in plan.pools:
        for month in pool.months:
            count[month.month] = count.get(month.month, 0.0) + (month.used_mean if which == "mean" else month.used_peak)
    return [{"month": month, "count": count[month]} for month in plan.months]


def demand(plan: Plan) -> list[tuple[str, str, list[Row]]]:
    """Per workload: name, unit, and mean and peak by month."""
    return [
        (row.workload, row.rate_unit, [{"month": need.month, "mean": need.mean, "peak": need.peak} for need in row.months])
        for row in plan.demand[:SHOWN_WORKLOADS]
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """Representative days one after the other: use by pool, need by workload as a share of its peak here."""

    days: int
    names: tuple[str, ...]
    month: str
    pools: tuple[tuple[str, str], ...]
    workloads: tuple[str, ...]
    used: list[Row]
    need: list[Row]


def hours(plan: Plan) -> Hours:
    """The rows of the strip of a representative week."""
    names = tuple(dict.fromkeys(row.day for row in plan.hours))
    busy = [pool for pool in plan.pools if any(row.used.get(pool.pool, 0.0) > 0 for row in plan.hours)]
    colours = _pool_colours(busy)
    peaks = {
        name: max(row.need.get(name, 0.0) for row in plan.hours)
        for name in dict.fromkeys(key for row in plan.hours for key in row.need)
    }
    asked = tuple(name for name, peak in peaks.items() if peak > 0)[:SHOWN_WORKLOADS]
    at = {day: HOURS_PER_DAY * number for number, day in enumerate(names)}
    used_rows: list[Row] = []
    for row in plan.hours:
        floor = 0.0
        for name, colour in colours:
            top = floor + row.used.get(name, 0.0)
            start = at[row.day] + row.hour
            used_rows.append({"at": start, "end": start + 1, "floor": floor, "top": top, "colour": colour})
            floor = top
    need_rows = [
        {"at": at[row.day] + row.hour, "day": row.day, "workload": name, "share": row.need.get(name, 0.0) / peaks[name]}
        for row in _closed(plan)
        for name in asked
    ]
    month = plan.hours[0].month if plan.hours else ""
    return Hours(days=len(names), names=names, month=month, pools=colours, workloads=asked, used=used_rows, need=need_rows)


def _closed(plan: Plan) -> list[Any]:
    """The hours, the last one held to the end of its day so that its step is drawn whole."""
    rows = sorted(plan.hours, key=lambda row: (row.day, row.hour))
    return [*rows, *(replace(row, hour=row.hour + 1) for row in rows if row.hour == HOURS_PER_DAY - 1)]


def _pool_colours(pools: Sequence[PoolRow]) -> tuple[tuple[str, str], ...]:
    """Name and colour: hue by the contract that brings most of the pool, lighter for each further pool of that kind."""
    seen: dict[str, int] = defaultdict(int)
    made: list[tuple[str, str]] = []
    for pool in pools:
        kind = main_source(pool)
        made.append((pool.pool, mix(hue(kind), min(0.3 * seen[kind], 0.75))))
        seen[kind] += 1
    return tuple(made)


def main_source(pool: PoolRow) -> str:
    """The kind of supply that brings most of a pool."""
    total: dict[str, float] = defaultdict(float)
    for month in pool.months:
        for source, _, value in _sources(month):
            total[source] += value
    return max(total, key=lambda name: total[name], default="owned")


def timeline(plan: Plan, words: Words) -> list[Row]:
    """One row per order, earliest first."""
    rows = sorted(plan.orders, key=lambda order: (order.order_by, order.id))
    return [
        {
            "id": order.id,
            "order_by": order.order_by,
            "arrives": _day(order.arrives),
            "until": _day(order.until, end=True) if order.until else _day(plan.months[-1], end=True),
            "colour": hue(order.kind),
            "text": f"{words.month(order.order_by)} → {words.month(order.arrives)}: {words.what(order)}",
        }
        for order in rows
    ]


def _day(text: str, *, end: bool = False) -> str:
    """A month as its first (or last counted) day."""
    return f"{text}-{'28' if end else '01'}" if len(text) == len("2027-01") else text


def references(plan: Plan, words: Words) -> list[Row]:
    """The plan and the reference plans, cheapest first, those that serve all before those that do not."""
    rows = sorted(plan.references, key=lambda row: (not row.chosen, not row.feasible, row.npv))
    low, high = plan.summary.total_npv_interval
    return [
        {
            "id": row.name,
            "value": row.npv,
            "low": low if row.chosen else None,
            "high": high if row.chosen else None,
            "colour": LINES[1] if row.chosen else GREY if row.feasible else mix(GREY, 0.55),
            "text": f"{words.reference(row.name)}: {show(row.npv, 'USD')}{unmet(row.unmet, words)}",
        }
        for row in rows
    ]


def unmet(shares: Mapping[str, float], words: Words) -> str:
    """What a plan leaves undone, in words; empty when it serves all."""
    worst = [f"{name} {show(share, '1')}" for name, share in shares.items() if share > 0]
    return f" ({words('leaves', what=', '.join(worst))})" if worst else ""


def tornado(plan: Plan) -> list[Row]:
    """Assumptions that were varied and move the total, most first."""
    rows = [row for row in plan.assumptions if row.swing]
    rows.sort(key=lambda row: (-abs(row.swing or 0.0), row.assumption.path))
    return [
        {
            "id": row.assumption.path,
            "value": abs(row.swing or 0.0),
            "colour": LINES[1],
            "text": f"{show(abs(row.swing or 0.0), 'USD')}: {row.assumption.path}, {row.low} – {row.high}",
        }
        for row in rows
    ]


def costs(plan: Plan, words: Words) -> tuple[list[Row], list[Row], list[tuple[str, str]]]:
    """Cash by year and component, totals by year, and the components with their colours; the smallest are one band."""
    total: dict[str, float] = defaultdict(float)
    label: dict[str, str] = {}
    for line in plan.costs:
        total[line.component] += abs(line.amount)
        label[line.component] = words.component(line.component, line.label)
    ranked = sorted(total, key=lambda name: -total[name])
    own = ranked if len(ranked) <= SHOWN_COMPONENTS else ranked[: SHOWN_COMPONENTS - 1]
    named = [(label[name], hue(name)) for name in own]
    greys = iter(mix("#4d5863", share) for share in (0.0, 0.3, 0.5, 0.65, 0.78, 0.86, 0.92))
    coloured = [(name, next(greys) if colour == GREY else colour) for name, colour in named]
    if len(own) < len(ranked):
        coloured.append((words("other"), next(greys)))
    place = {name: number for number, (name, _) in enumerate(coloured)}
    amount: dict[tuple[str, str], float] = defaultdict(float)
    for line in plan.costs:
        name = label[line.component] if line.component in own else words("other")
        amount[str(line.year), name] += line.amount
    rows = [{"id": year, "component": name, "amount": value, "order": place[name]} for (year, name), value in amount.items()]
    years = sorted({str(line.year) for line in plan.costs})
    sums = {year: sum(value for (when, _), value in amount.items() if when == year) for year in years}
    return rows, [{"id": year, "text": f"{year}: {show(value, 'USD')}"} for year, value in sums.items()], coloured
