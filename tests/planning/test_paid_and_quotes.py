"""What is paid before a sale, when owning pays, and what is said of the user's own quotes."""

from __future__ import annotations

from datetime import date

import pytest

from flopwise.domain.calendar import days_in
from planning import planning_world as world

QUOTE = {"user_quote": True, "region": ""}


def quoted(kind: str, price: float, **more):
    quote = world.offer("cl", kind, "dgx-h100" if kind == "purchase" else "box", "h100", price, id="mine", **QUOTE | more)
    made = world.plan(world.scenario(world.service(peak=60.0), inline_offers=(quote,)))
    return next((text for text in made.warnings if "quote mine" in text), "")


def test_what_is_paid_is_the_cash_before_the_sale():
    made = world.plan(world.scenario(world.service(peak=90.0), months=24, channels=("oem",)))
    cash, paid = made.figures["cost.total_cash"].value, made.figures["cost.paid"].value
    residual = sum(line.amount for line in made.costs if line.component == "residual")
    assert residual < 0
    assert paid == pytest.approx(cash - residual)


def test_owning_is_weighed_for_this_horizon_too():
    made = world.plan(world.scenario(world.service(peak=90.0), months=12))
    (mark,) = [item for item in made.break_even if item.name == "chat.owning"]
    assert "sold when this plan ends, after 12 months, it" in mark.sentence
    long = world.plan(world.scenario(world.service(peak=90.0), months=60))
    assert all("sold when" not in item.sentence for item in long.break_even)


def test_a_quote_far_from_all_others_is_doubted():
    assert "have a median of" in quoted("on-demand", 240.0)
    assert "have a median of" not in quoted("on-demand", 26.0)


def test_a_dear_quote_is_told_by_how_much():
    assert "dearer for chat than" in quoted("reserved", 30.0, term_months=12)


# What falls due after the horizon --------------------------------------------------------------------------------------


def reserved(start: str, months: int, **more):
    quote = world.offer("cl", "reserved", "box", "h100", 10.0, id="mine", term_months=12, **QUOTE | more)
    return world.plan(world.scenario(world.service(peak=6.0), channels=(), inline_offers=(quote,), start=start, months=months))


@pytest.mark.parametrize(("start", "months"), [("2027-03", 12), ("2027-02", 3), ("2027-02", 18)])
def test_a_term_has_the_hours_of_its_own_months(start, months):
    made = reserved(start, months)
    assert made.orders
    for order in made.orders:
        days = (date(int(order.arrives[:4]) + 1, int(order.arrives[5:7]), 1) - date.fromisoformat(f"{order.arrives[:7]}-01")).days
        assert order.amount == pytest.approx(order.servers * 10.0 * 24 * days)
    cash = sum(line.amount for line in made.costs if line.component == "reserved")
    assert cash == pytest.approx(sum(order.amount for order in made.orders))


def test_what_is_owed_later_stands_in_its_own_year():
    made = reserved("2027-02", 6)
    (order,) = made.orders
    by_year = {line.year: line.amount for line in made.costs if line.component == "reserved"}
    assert set(by_year) == {2027, 2028}
    later = made.figures["cost.owed_later"].value
    assert later == pytest.approx(order.amount - sum(order.servers * 10.0 * 24 * days for days in days_held(order, "2027-07")))
    assert made.figures["cost.year.2028"].value == pytest.approx(by_year[2028])
    assert any("are owed after 2027-07" in text for text in made.warnings)


def days_held(order, last: str) -> list[int]:
    first = int(order.arrives[5:7])
    return [days_in(f"2027-{month:02d}") for month in range(first, int(last[5:7]) + 1)]


def test_what_is_left_is_sold_when_the_horizon_is_over():
    made = world.plan(world.scenario(world.service(peak=90.0), months=24, channels=("oem",)))
    (sale,) = [line for line in made.costs if line.component == "residual"]
    assert sale.year == 2029
    assert sale.npv == pytest.approx(sale.amount * 1.1**-2)
