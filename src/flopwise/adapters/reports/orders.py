"""Orders as CSV: one row per order, heads as the fields of ``PlanOrder``, amounts in USD."""

from __future__ import annotations

from flopwise.adapters.reports._safe import csv_of
from flopwise.domain.plan import Plan, PlanOrder


def render(plan: Plan, *, lang: str) -> bytes:  # noqa: ARG001 - names of fields are the same in all languages
    """The orders in UTF-8; text never becomes a formula."""
    return csv_of(PlanOrder, plan.orders)
