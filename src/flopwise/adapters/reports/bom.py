"""Bill of materials as CSV: one row per item, heads as the fields of ``BillItem``, amounts in USD, power in watts."""

from __future__ import annotations

from flopwise.adapters.reports._safe import csv_of
from flopwise.domain.plan import BillItem, Plan


def render(plan: Plan, *, lang: str) -> bytes:  # noqa: ARG001 - names of fields are the same in all languages
    """The bill in UTF-8; text never becomes a formula."""
    return csv_of(BillItem, plan.fabric)
