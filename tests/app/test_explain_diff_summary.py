"""Ask, compare and sum up a plan."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.plan_world import assumption, costs, figure, infeasible, make_plan, mode, order, pool
from flopwise.app.diff import diff
from flopwise.app.explain import DEEPEST, explain, figure_ids
from flopwise.app.summary import cost_totals, summarise
from flopwise.domain.plan import ModeRow
from flopwise.ground.errors import UnknownNameError


def test_inputs_that_are_figures_are_explained_too():
    found = explain(make_plan(), "cost.total_npv")
    inner = {item.symbol: item for item in found.inputs}
    assert inner["hardware"].explanation is not None
    assert inner["hardware"].explanation.figure.id == "cost.hardware"
    assert inner["power"].explanation is None
    assert inner["power"].text == "19 k USD"


def test_circles_and_chains_end():
    figures = {"a": figure("a", 1, "USD", x="b"), "b": figure("b", 1, "USD", x="a")}
    found = explain(make_plan(figures=figures), "a")
    inner = found.inputs[0].explanation
    assert inner is not None
    assert inner.inputs[0].explanation is None
    chain = {f"f{n}": figure(f"f{n}", 1, "USD", x=f"f{n + 1}") for n in range(20)}
    found, depth = explain(make_plan(figures=chain), "f0"), 0
    while found.inputs[0].explanation is not None:
        found, depth = found.inputs[0].explanation, depth + 1
    assert depth == DEEPEST


def test_unknown_figures_come_with_near_ones():
    with pytest.raises(UnknownNameError, match=r"did you mean 'cost.total_npv'"):
        explain(make_plan(), "cost.total_np")
    assert [item.id for item in figure_ids(make_plan())] == ["cost.hardware", "cost.total_npv"]


def test_a_plan_is_the_same_as_itself():
    assert diff(make_plan(), make_plan()).same


def test_what_went_in_comes_first():
    old = make_plan()
    new = make_plan(
        scenario_digest="c" * 64, as_of="2026-12-15", assumptions=(*old.assumptions[:-1], assumption("finance.x7", "9", 7e3)),
        summary=replace(old.summary, total_npv=old.summary.total_npv * 1.1), costs=costs(700e3),
        orders=(order(3, "2026-12-10", 900e3),), pools=(pool(20.0),),
        modes=(ModeRow(platform="dgx-h200", mode=mode("h200-sxm"), share=1.0, unit_cost=1.0, verdict="chosen"),),
    )  # fmt: skip
    found = diff(old, new)
    sections = [change.section for change in found.changes]
    assert sections == sorted(sections, key=sections.index)
    assert sections[0] == "inputs"
    by_name = {(change.section, change.name): change for change in found.changes}
    assert "says something else" in by_name["inputs", "scenario_digest"].why
    assert by_name["assumptions", "finance.x7"].before == "7"
    assert "7 k USD" in by_name["assumptions", "finance.x7"].why or "7,000" in by_name["assumptions", "finance.x7"].why
    assert "+10.0%" in by_name["result", "total npv"].why
    assert by_name["cost (net present value)", "Servers"].why.startswith("+")
    assert ("cost (net present value)", "Electricity") not in by_name
    assert any(change.section == "orders" and "2026-12-10 instead of 2026-12-20" in change.why for change in found.changes)
    assert "h200-sxm" in by_name["modes", "chat"].after
    assert by_name["pools (peak use)", "here"].after == "20 accelerators"


def test_the_lines_of_the_file_that_changed_are_named():
    old = make_plan(stated={"supply.sites.dc.electricity": "0.20 EUR/kWh", "name": "a", "as_of": "2026-12-01"})
    new = {"supply.sites.dc.electricity": "0.25 EUR/kWh", "name": "a", "supply.budget.capex": "2M USD", "as_of": "2026-12-02"}
    found = diff(old, make_plan(scenario_digest="c" * 64, stated=new))
    rows = [(change.name, change.before, change.after) for change in found.changes if change.section == "scenario"]
    assert rows == [
        ("supply.sites.dc.electricity", "0.20 EUR/kWh", "0.25 EUR/kWh"), ("supply.budget.capex", "not stated", "2M USD")
    ]  # fmt: skip
    assert diff(old, make_plan(stated=new)).same


def test_an_order_says_what_changed_price_use_or_month():
    first = order()
    for changed, words in (
        (replace(first, amount=first.amount * 0.5), "less use"),
        (replace(first, amount=first.amount * 2), "more use"),
        (replace(first, unit_price=first.unit_price * 2, amount=first.amount * 2), "instead of"),
        (replace(first, arrives="2027-09"), f"arrives 2027-09 instead of {first.arrives}"),
        (replace(first, servers=first.servers + 3), "+3 servers at once"),
    ):
        changes = [change for change in diff(make_plan(), make_plan(orders=(changed,))).changes if change.section == "orders"]
        assert len(changes) == 1
        assert words in changes[0].why
        assert ("price" in changes[0].why) is False


def test_orders_that_come_and_go():
    whole, none = make_plan(), make_plan(orders=())
    assert "no longer ordered" in diff(whole, none).changes[0].why
    assert "new: order by 2026-12-20" in diff(none, whole).changes[0].why
    twice = make_plan(orders=(order(), order(identity="o2")))
    assert len(diff(whole, twice).changes) == 1


def test_status_and_unmet_demand():
    change = diff(make_plan(), infeasible()).changes[0]
    assert (change.name, change.after) == ("status", "infeasible")


def test_one_screen():
    plan = make_plan()
    found = summarise(plan)
    assert [row.assumption.path for row in found.assumptions] == [f"finance.x{number}" for number in (7, 6, 5, 4, 3)]
    assert found.more_assumptions == 3
    assert [row.label for row in found.costs] == ["Servers", "Electricity", "total"]
    assert found.costs[-1].npv == pytest.approx(sum(line.npv for line in plan.costs))
    assert cost_totals(make_plan(costs=()))[-1].npv == 0
    many = make_plan(orders=tuple(order(identity=f"o{n}", order_by=f"2027-01-{28 - n:02d}") for n in range(10)))
    found = summarise(many)
    assert len(found.orders) == 7
    assert found.more_orders == 3
    assert found.orders[0].order_by == "2027-01-19"
