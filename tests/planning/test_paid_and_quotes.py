"""What is paid before a sale, when owning pays, and what is said of the user's own quotes."""

from __future__ import annotations

import pytest

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
