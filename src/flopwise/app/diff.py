"""What changed between two plans, and why it matters: what went in first, then what came out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from flopwise.domain.plan import DemandRow, Plan, PlanOrder, PoolRow
from flopwise.ground.units import show

#: Figures closer than this are the same: solvers differ by as much between machines.
TOLERANCE = 1e-9
ABSENT = "-"
#: Stated values that stand among the inputs already.
_SAID_ELSEWHERE = frozenset({"as_of", "risk.seed", "currency"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference: where, what it was and is, and what it means."""

    section: str
    name: str
    before: str
    after: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDiff:
    """All differences between two plans, inputs first."""

    before: str
    after: str
    changes: tuple[Change, ...]

    @property
    def same(self) -> bool:
        """Whether the plans say the same."""
        return not self.changes


def diff(before: Plan, after: Plan) -> PlanDiff:
    """Compare two plans: inputs, assumptions, result, cost by component, orders, modes and pools."""
    parts = (_inputs, _stated, _demand, _assumptions, _result, _costs, _unit_costs, _orders, _modes, _pools, _unmet)
    changes = tuple(change for part in parts for change in part(before, after))
    return PlanDiff(before=before.name, after=after.name, changes=changes)


def _inputs(before: Plan, after: Plan) -> Iterator[Change]:
    for name, why in (
        ("scenario_digest", "the scenario says something else"),
        ("catalogue_digest", "prices or device figures of the catalogue changed"),
        ("flopwise", "another version made the plan: formulas may differ"),
        ("schema", "another layout of plan.json"),
        ("as_of", "ages of offers are measured against another day"),
        ("seed", "another sample of futures"),
        ("currency", "amounts are reported in another currency"),
    ):
        old, new = str(getattr(before, name)), str(getattr(after, name))
        if old != new:
            short = (old[:12], new[:12]) if name.endswith("digest") else (old, new)
            yield Change(section="inputs", name=name, before=short[0], after=short[1], why=why)
    if before.months != after.months:
        spans = [f"{plan.months[0]} to {plan.months[-1]}" if plan.months else ABSENT for plan in (before, after)]
        yield Change(section="inputs", name="horizon", before=spans[0], after=spans[1], why="another span is planned")


def _stated(before: Plan, after: Plan) -> Iterator[Change]:
    """What the files say differently, by path; what only one of them states may be an assumption of the other.

    Files of one digest say the same, however it is spelled.
    """
    if before.scenario_digest == after.scenario_digest:
        return
    for path in _both(before.stated, after.stated):
        old, new = before.stated.get(path, "not stated"), after.stated.get(path, "not stated")
        if old != new and path not in _SAID_ELSEWHERE:
            yield Change(section="scenario", name=path, before=old, after=new, why="stated otherwise")


def _demand(before: Plan, after: Plan) -> Iterator[Change]:
    """What the scenario asks for: work, highest rate, and how it was derived."""
    old, new = ({row.workload: row for row in plan.demand} for plan in (before, after))
    for name in _both(old, new):
        first, second = old.get(name), new.get(name)
        if first is None or second is None:
            model = next(row.model for row in (second, first) if row)
            texts = [ABSENT if row is None else show(row.work, row.work_unit) for row in (first, second)]
            why = "a new workload" if first is None else "no longer planned"
            yield Change(section="demand", name=f"{name}: {model}", before=texts[0], after=texts[1], why=why)
            continue
        yield from _number("demand", f"{name}: work", first.work, second.work, second.work_unit)
        yield from _number("demand", f"{name}: highest rate", _highest(first), _highest(second), second.rate_unit)
        for told, tells in zip(first.derivation, second.derivation, strict=False):
            if told != tells:
                yield Change(section="demand", name=f"{name}: derivation", before=told, after=tells, why="stated otherwise")


def _highest(row: DemandRow) -> float:
    return max((month.peak for month in row.months), default=0.0)


def _assumptions(before: Plan, after: Plan) -> Iterator[Change]:
    old, new = ({row.assumption.path: row for row in plan.assumptions} for plan in (before, after))
    for path in _both(old, new):
        first, second = old.get(path), new.get(path)
        texts = (first.assumption.value if first else "stated", second.assumption.value if second else "stated")
        if texts[0] == texts[1]:
            continue
        swing = (second or first).swing if (second or first) else None  # type: ignore[union-attr]
        why = f"its range moves the total by {show(swing, 'USD')}" if swing else "not varied"
        yield Change(section="assumptions", name=path, before=texts[0], after=texts[1], why=why)


def _result(before: Plan, after: Plan) -> Iterator[Change]:
    if before.status != after.status:
        why = "some demand cannot be met" if after.status.value == "infeasible" else "all demand can be met"
        yield Change(section="result", name="status", before=before.status.value, after=after.status.value, why=why)
    for name, unit in (("total_npv", "USD"), ("total_cash", "USD"), ("met_share", "1"), ("peak_accelerators", "")):
        yield from _number("result", name.replace("_", " "), getattr(before.summary, name), getattr(after.summary, name), unit)


def _costs(before: Plan, after: Plan) -> Iterator[Change]:
    old, new = (_by_component(plan) for plan in (before, after))
    for name in _both(old, new):
        yield from _number("cost (net present value)", name, old.get(name, 0.0), new.get(name, 0.0), "USD")


def _unit_costs(before: Plan, after: Plan) -> Iterator[Change]:
    old, new = ({name: item for name, item in plan.figures.items() if ".per_" in name} for plan in (before, after))
    for name in _both(old, new):
        item = new.get(name) or old[name]
        values = [found[name].value if name in found else 0.0 for found in (old, new)]
        yield from _number("unit cost", item.label, values[0], values[1], item.unit)


def _by_component(plan: Plan) -> Mapping[str, float]:
    totals: dict[str, float] = defaultdict(float)
    for line in plan.costs:
        totals[line.label] += line.npv
    return totals


def _orders(before: Plan, after: Plan) -> Iterator[Change]:
    old, new = (_by_order(plan.orders) for plan in (before, after))
    moved = _moved(old, new)
    for key in _both(old, new):
        if key in moved.values():
            continue
        first, second = old.get(key), new.get(moved.get(key, key))
        texts = [_order_words(order) for order in (first, second)]
        if texts[0] != texts[1] or key in moved:
            yield Change(section="orders", name=key, before=texts[0], after=texts[1], why=_order_why(first, second))


def _by_order(orders: Iterable[PlanOrder]) -> Mapping[str, PlanOrder]:
    """Orders by what they are for; numbers tell repeated ones apart."""
    found: dict[str, PlanOrder] = {}
    for order in orders:
        key = name = f"{_what(order)}, arrives {order.arrives}"
        count = 1
        while key in found:
            count += 1
            key = f"{name} ({count})"
        found[key] = order
    return found


def _what(order: PlanOrder) -> str:
    return f"{order.kind} {order.server or order.accelerator or 'API'} from {order.channel}"


def _moved(old: Mapping[str, PlanOrder], new: Mapping[str, PlanOrder]) -> dict[str, str]:
    """Orders that only arrive in another month: key of before to key of after, pairs in the order of time."""
    waiting: dict[str, list[str]] = defaultdict(list)
    for key, order in new.items():
        if key not in old:
            waiting[_what(order)].append(key)
    return {key: waiting[_what(order)].pop(0) for key, order in old.items() if key not in new and waiting.get(_what(order))}


def _order_words(order: PlanOrder | None) -> str:
    if order is None:
        return ABSENT
    count = f"{order.servers} by {order.order_by}" if order.servers else f"from {order.order_by}"
    return f"{count}, {show(order.amount, 'USD')}"


def _order_why(old: PlanOrder | None, new: PlanOrder | None) -> str:
    if new is None:
        return "no longer ordered"
    if old is None:
        return f"new: order by {new.order_by}"
    reasons: list[str] = []
    if old.arrives != new.arrives:
        reasons.append(f"arrives {new.arrives} instead of {old.arrives}")
    elif old.order_by != new.order_by:
        reasons.append(f"order by {new.order_by} instead of {old.order_by}")
    if new.servers != old.servers:
        reasons.append(f"{new.servers - old.servers:+d} servers at once")
    if not math.isclose(old.unit_price, new.unit_price, rel_tol=TOLERANCE):
        prices = [show(order.unit_price, f"USD/{order.price_per}") for order in (new, old)]
        reasons.append(f"{prices[0]} instead of {prices[1]}")
    return "; ".join(reasons) or ("more use" if new.amount > old.amount else "less use")


def _modes(before: Plan, after: Plan) -> Iterator[Change]:
    old, new = (_chosen(plan) for plan in (before, after))
    for name in _both(old, new):
        first, second = old.get(name, ABSENT), new.get(name, ABSENT)
        if first != second:
            yield Change(section="modes", name=name, before=first, after=second, why="the work runs another way")


def _chosen(plan: Plan) -> Mapping[str, str]:
    """How each workload runs, in words."""
    words: dict[str, list[str]] = defaultdict(list)
    for row in plan.modes:
        if row.share > 0.0:
            layout = row.mode.layout
            how = f"{show(row.share, '1')} on {row.mode.accelerators} x {row.mode.accelerator} (tp {layout.tp}, pp {layout.pp}, "
            words[row.mode.workload].append(f"{how}dp {layout.dp}, {row.mode.precision})")
    return {name: "; ".join(sorted(parts)) for name, parts in words.items()}


def _pools(before: Plan, after: Plan) -> Iterator[Change]:
    old, new = ({row.pool: row for row in plan.pools} for plan in (before, after))
    for name in _both(old, new):
        yield from _number("pools (peak use)", name, _peak(old.get(name)), _peak(new.get(name)), "accelerators")


def _peak(row: PoolRow | None) -> float:
    return max((month.used_peak for month in row.months), default=0.0) if row else 0.0


def _unmet(before: Plan, after: Plan) -> Iterator[Change]:
    old, new = ({row.workload: row.unmet_share for row in plan.demand} for plan in (before, after))
    for name in _both(old, new):
        yield from _number("unmet demand", name, old.get(name, 0.0), new.get(name, 0.0), "1")


def _number(section: str, name: str, old: float, new: float, unit: str) -> Iterator[Change]:
    if math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
        return
    moved = new - old
    sign = "+" if moved > 0 else "-"
    share = f" ({moved / abs(old):+.1%})" if old and unit != "1" else ""
    yield Change(
        section=section, name=name, before=show(old, unit), after=show(new, unit), why=f"{sign}{show(abs(moved), unit)}{share}"
    )


def _both(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    return [*old, *(name for name in new if name not in old)]
