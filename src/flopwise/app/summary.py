"""What a plan says in one screen: the same facts in the same order as the report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from flopwise.domain.plan import Plan, PlanAssumption, PlanOrder, Reference

#: Assumptions shown before the rest is counted, and orders shown before the rest is counted.
SHOWN_ASSUMPTIONS, SHOWN_ORDERS = 5, 7


@dataclass(frozen=True, slots=True, kw_only=True)
class CostTotal:
    """One component over the horizon: cash and net present value (USD)."""

    label: str
    amount: float
    npv: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSummary:
    """One screen: costs with their total last, orders by the day they must be placed, references, assumptions."""

    headline: str
    costs: tuple[CostTotal, ...]
    orders: tuple[PlanOrder, ...]
    more_orders: int
    references: tuple[Reference, ...]
    assumptions: tuple[PlanAssumption, ...]
    more_assumptions: int
    stale_orders: int


def summarise(plan: Plan) -> PlanSummary:
    """Choose and order what one screen shows."""
    orders = sorted(plan.orders, key=lambda order: (order.order_by, order.id))
    weighed = sorted(plan.assumptions, key=lambda row: row.rank)
    return PlanSummary(
        headline=plan.summary.headline,
        costs=cost_totals(plan),
        orders=tuple(orders[:SHOWN_ORDERS]),
        more_orders=max(len(orders) - SHOWN_ORDERS, 0),
        references=plan.references,
        assumptions=tuple(weighed[:SHOWN_ASSUMPTIONS]),
        more_assumptions=max(len(weighed) - SHOWN_ASSUMPTIONS, 0),
        stale_orders=sum(order.stale for order in plan.orders),
    )


def cost_totals(plan: Plan) -> tuple[CostTotal, ...]:
    """Components over the horizon, dearest first; what is paid out, where a credit follows; the total."""
    amount: dict[str, float] = defaultdict(float)
    npv: dict[str, float] = defaultdict(float)
    for line in plan.costs:
        amount[line.label] += line.amount
        npv[line.label] += line.npv
    rows = [CostTotal(label=label, amount=amount[label], npv=npv[label]) for label in npv]
    paid = sorted((row for row in rows if row.amount >= 0), key=lambda row: -row.npv)
    credited = [row for row in rows if row.amount < 0]
    return (*paid, *([_sum("paid out", paid)] if credited else []), *credited, _sum("total", rows))


def _sum(label: str, rows: Sequence[CostTotal]) -> CostTotal:
    return CostTotal(label=label, amount=sum(row.amount for row in rows), npv=sum(row.npv for row in rows))
