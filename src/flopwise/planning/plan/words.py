"""The plan's first sentence and what to do next, from its orders and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flopwise.domain.plan import PlanOrder, Reference
from flopwise.ground.units import show

#: Orders that the first sentence names.
_NAMED = 3
#: Two costs closer than this share are the same.
_SAME = 0.005
_VERBS = {
    "purchase": "buy",
    "reserved": "reserve",
    "capacity-block": "book",
    "lease": "lease",
    "on-demand": "rent up to",
    "spot": "rent up to",
    "hosted": "call",
}


def headline(
    orders: Sequence[PlanOrder],
    *,
    npv: float,
    standing: float,
    interval: tuple[float, float],
    months: int,
    best: Reference | None,
    unmet: Mapping[str, float],
) -> str:
    """One sentence: what is ordered, what all of it costs, how much of that is for what stands already, against what."""
    ranked = sorted(orders, key=lambda order: -order.amount)
    actions = ", ".join(_action(order) for order in ranked[:_NAMED]) or "order nothing"
    more = f" and {len(ranked) - _NAMED} more orders" if len(ranked) > _NAMED else ""
    span = f"{months} months" if months > 1 else "one month"
    cost = f"{show(npv, 'USD')} over {span} (80 %: {show(interval[0], 'USD')} to {show(interval[1], 'USD')})"
    if orders and standing > _SAME * npv:
        cost += f", {show(standing, 'USD')} of it for what stands and is committed already"
    served = "".join(f"; {show(share, '1')} of {name} cannot be done" for name, share in unmet.items() if share > 0)
    compared = _against(best, npv) if orders else ""
    sentence = f"{actions}{more}: {cost}{compared}{served}."
    return sentence[0].upper() + sentence[1:]


def _against(best: Reference | None, npv: float) -> str:
    if best is None or best.npv <= 0 or npv <= 0:
        return ""
    saving = 1 - npv / best.npv
    if abs(saving) < _SAME:
        return f", as much as {best.name}"
    return f", {show(saving, '1')} below {best.name}" if saving > 0 else f", {show(-saving, '1')} above {best.name}"


def _action(order: PlanOrder) -> str:
    verb = _VERBS.get(order.kind, order.kind)
    if order.kind == "hosted":
        return f"{verb} {order.channel}"
    kind = " on spot" if order.kind == "spot" else " on demand" if order.kind == "on-demand" else ""
    when = f" by {order.order_by}" if order.kind == "purchase" else f" until {order.until}" if order.kind == "reserved" else ""
    return f"{verb} {order.servers} {order.server}{kind} from {order.channel}{when}"


def next_actions(orders: Sequence[PlanOrder], limit: int = 7) -> tuple[str, ...]:
    """The first orders by date."""
    return tuple(f"{order.order_by}: {_action(order)} ({show(order.amount, 'USD')})" for order in orders[:limit])
