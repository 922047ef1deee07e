"""Limits that cannot be met: the answer says which one binds, by how much, and what would do."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from flopwise.domain.plan import Status
from flopwise.domain.workload import Launch
from flopwise.ground.errors import FlopwiseError, SolverError
from flopwise.planning.plan import make_plan
from flopwise.planning.sourcing import solve
from planning import planning_world as world


def test_a_budget_too_small_names_the_least_that_works_and_it_does():
    tight = world.scenario(world.service(peak=300.0), channels=("nebius",), monthly_budget=15_000.0)
    made = world.plan(tight)
    assert made.status is Status.INFEASIBLE
    entry = made.infeasibilities[0]
    assert entry.constraint == "budget"
    assert 0 < entry.unmet_share < 1
    least = float(re.search(r"monthly budget of ([\d.]+) k USD", entry.remedy)[1]) * 1e3
    assert least > 15_000
    again = world.plan(replace(tight, supply=replace(tight.supply, monthly_budget=least * 1.005)))
    assert again.status is Status.OPTIMAL
    less = world.plan(replace(tight, supply=replace(tight.supply, monthly_budget=least * 0.97)))
    assert less.status is Status.INFEASIBLE


def test_of_two_budgets_only_the_one_that_must_grow_is_named():
    made = world.plan(world.scenario(world.service(peak=40.0), capex_budget=0.0, monthly_budget=1e3, months=6))
    assert "a monthly budget of" in made.infeasibilities[0].remedy
    assert "capital" not in made.infeasibilities[0].remedy


def test_a_capital_budget_is_kept():
    made = world.plan(
        world.scenario(world.service(peak=100.0), channels=("oem", "aws"), months=36, capex_budget=1e6, start="2027-08")
    )
    spent = sum(line.amount for line in made.costs if line.component in {"hardware", "network", "storage"})
    assert spent <= 1e6 * (1 + 1e-6)


def test_a_monthly_budget_below_what_stands_already_is_said():
    made = world.plan(world.scenario(world.service(peak=5.0), owned=(world.owned(8),), monthly_budget=1e3))
    assert any("more than the monthly budget of 1,000 USD" in text for text in made.warnings)
    enough = world.plan(world.scenario(world.service(peak=5.0), owned=(world.owned(8),), monthly_budget=1e6))
    assert not any("monthly budget" in text for text in enough.warnings)


def test_a_deadline_before_the_lead_time_says_when_the_first_servers_stand():
    made = world.plan(world.scenario(world.pretraining(days=30, start="2027-01"), channels=("oem",)))
    assert made.status is Status.INFEASIBLE
    entry = made.infeasibilities[0]
    assert entry.constraint == "lead time"
    assert "2027-06" in entry.remedy
    assert "26 weeks" in entry.remedy


def test_a_workload_that_fits_on_no_accelerator_says_what_is_missing():
    offers = [item for item in world.shipped() if item.accelerator == "v100"]
    offers = [replace(item, network_bandwidth=0.0, channel="oem") for item in offers]
    made = world.plan(
        world.scenario(world.service(precision="bf16", kv_precision="bf16"), channels=("oem",), start="2027-08"), offers
    )
    assert made.status is Status.INFEASIBLE
    entry = made.infeasibilities[0]
    assert entry.unmet_share == pytest.approx(1.0)
    assert entry.constraint in {"memory", "latency"}
    assert re.search(r"\d", entry.message)
    assert entry.remedy
    assert not made.orders


def test_a_precision_that_no_accelerator_has_is_named():
    offers = [world.offer("aws", "on-demand", "a100-8", "a100", 20.0)]
    made = world.plan(world.scenario(world.service(), channels=("aws",)), offers)
    assert made.infeasibilities[0].constraint == "precision"
    assert "fp8" in made.infeasibilities[0].message


def test_site_power_binds_and_the_power_that_works_is_stated():
    site = replace(world.SITE, power=20_000.0)
    made = world.plan(world.scenario(world.service(peak=200.0), channels=("oem",), sites=(site,), start="2027-08"))
    assert made.status is Status.INFEASIBLE
    assert made.infeasibilities[0].constraint == "site power"
    assert "at dc instead of 20 kW" in made.infeasibilities[0].remedy


def test_a_quota_binds_and_the_quota_that_works_is_stated():
    offers = [replace(item, max_servers=1) for item in world.shipped() if item.kind == "on-demand"]
    made = world.plan(world.scenario(world.service(peak=300.0), channels=("aws", "nebius")), offers)
    assert made.status is Status.INFEASIBLE
    assert made.infeasibilities[0].constraint == "quota"
    assert "servers of" in made.infeasibilities[0].remedy


def test_no_offer_at_all_says_so():
    made = world.plan(world.scenario(world.service(), channels=("aws",), region="jp"))
    assert made.status is Status.INFEASIBLE
    assert made.infeasibilities[0].constraint == "offers"
    assert any("outside region" in warning for warning in made.warnings)


def test_liquid_cooled_servers_need_a_liquid_site():
    offers = [item for item in world.shipped() if item.server == "dgx-b200"]
    wet = {**world.SERVERS, "dgx-b200": replace(world.SERVERS["dgx-b200"], cooling="liquid")}
    facts = replace(world.catalogue(offers), servers=wet)
    scenario = world.scenario(world.service(), channels=("oem",), start="2027-08")
    dry = world.make_plan(scenario, facts)
    assert dry.status is Status.INFEASIBLE
    site = replace(world.SITE, cooling="liquid")
    cooled = world.make_plan(replace(scenario, supply=replace(scenario.supply, sites=(site,))), facts)
    assert cooled.status is Status.OPTIMAL


def test_a_month_is_a_horizon():
    made = world.plan(world.scenario(world.service(), months=1))
    assert made.status is Status.OPTIMAL
    assert made.months == ("2027-01",)


def test_sixteen_old_accelerators():
    held = (world.owned(2, "dgx-v100"),)
    made = world.plan(world.scenario(world.fine_tuning(precision="bf16", lora_rank=16), owned=held, channels=("aws",)))
    assert made.status is Status.OPTIMAL


def test_nothing_to_do_orders_nothing():
    made = world.plan(world.scenario(world.service(launch=None), months=3, owned=(world.owned(8),)))
    assert not made.orders
    unlikely = world.service(launch=Launch(date="2027-02", probability=0.2))
    left_out = world.plan(world.scenario(unlikely, months=3))
    assert not left_out.orders
    assert left_out.status is Status.OPTIMAL
    assert any("left out" in warning for warning in left_out.warnings)


def test_a_launch_inside_the_horizon_asks_for_nothing_before():
    made = world.plan(world.scenario(world.service(launch=Launch(date="2027-06")), months=12))
    need = next(row for row in made.demand if row.workload == "chat")
    assert [month.peak > 0 for month in need.months] == [False] * 5 + [True] * 7
    assert all(order.arrives >= "2027-06" for order in made.orders if order.kind == "on-demand")


def test_a_minimum_order_is_kept_or_nothing_is_ordered():
    offers = [replace(item, min_servers=6) for item in world.shipped() if item.kind == "purchase"]
    small = world.plan(world.scenario(world.service(peak=20.0), channels=("oem",), start="2027-08", months=24), offers)
    assert small.status is Status.OPTIMAL
    assert small.orders
    assert all(order.servers >= 6 for order in small.orders)
    rather = world.plan(
        world.scenario(world.service(peak=2.0), channels=("oem", "nebius"), start="2027-08", months=24),
        [*offers, *(item for item in world.shipped() if item.channel == "nebius")],
    )
    assert all(order.kind != "purchase" for order in rather.orders)


def test_a_horizon_in_the_past_is_refused_and_nothing_is_rented_in_the_past():
    with pytest.raises(FlopwiseError, match="before the day of the plan"):
        world.plan(world.scenario(world.service(), start="2020-01", months=6))
    made = world.plan(world.scenario(world.service(), start="2026-10", months=6))
    assert made.status is Status.INFEASIBLE
    assert all(order.arrives >= "2026-12" for order in made.orders)
    assert all(order.order_by <= f"{order.arrives}-31" for order in made.orders)


def test_a_budget_of_nothing_names_the_least_that_works():
    made = world.plan(world.scenario(world.service(), channels=("nebius",), months=3, monthly_budget=0.0))
    assert re.search(r"monthly budget of \d", made.infeasibilities[0].remedy)


def test_very_little_traffic_still_needs_a_replica():
    made = world.plan(world.scenario(world.service(peak=1e-9), channels=("nebius",), months=3))
    assert made.orders
    assert made.summary.total_npv > 0


def test_more_to_choose_from_never_serves_less_where_power_binds(monkeypatch):
    # Three servers that cost less for the same work need more power than the site has left; one that is dear does not.
    large = {f"large-{n}": world.server(f"large-{n}", "h100", 90e3 + n, power=14e3) for n in range(3)}
    small = world.server("small", "h100", 400e3, power=6e3)
    monkeypatch.setattr(world, "SERVERS", world.SERVERS | large | {"small": small})
    site, wanted = replace(world.SITE, power=20_000.0), world.service(peak=60.0)
    few = [item for item in world.shipped() if item.server == "small"]
    all_of_them = [item for item in world.shipped() if item.channel == "oem"]
    unmet = []
    for offers in (few, all_of_them):
        made = world.plan(
            world.scenario(wanted, owned=(world.owned(1),), sites=(site,), start="2027-08", channels=("oem",)), offers
        )
        unmet.append(made.infeasibilities[0].unmet_share if made.infeasibilities else 0.0)
        assert any(order.server == "small" for order in made.orders)
    assert unmet[1] <= unmet[0] + 1e-6


def test_of_several_limits_the_ones_that_bind_together_are_named():
    site = replace(world.SITE, power=20_000.0)
    made = world.plan(world.scenario(world.service(peak=100.0), channels=("oem",), sites=(site,), months=12))
    assert "lead time and site power bind together" in made.infeasibilities[0].message
    assert "loosen lead time and site power together" in made.infeasibilities[0].remedy


def test_what_is_left_undone_is_said_by_month():
    made = world.plan(world.scenario(world.service(peak=30.0), channels=("oem",), months=12))
    assert "from 2027-01 to 2027-05; the lead time binds" in made.infeasibilities[0].message
    months = made.figures["workloads.chat.unmet"].inputs
    assert list(months) == [f"2027-0{month}" for month in range(1, 6)]
    assert months["2027-01"] == "100.0% of its requests"


def test_a_solver_that_gives_up_still_ends_in_a_plan(monkeypatch):
    def gives_up(*_, **__):
        raise SolverError("late")

    monkeypatch.setattr(solve, "_exact", gives_up)
    made = world.plan(world.scenario(world.service(peak=30.0), monthly_budget=2e4))
    assert made.infeasibilities or not any(row.unmet_share for row in made.demand)
    assert made.costs


def test_a_site_without_power_for_one_server_says_so():
    site = replace(world.SITE, power=3_000.0)
    made = world.plan(world.scenario(world.service(), channels=("oem",), sites=(site,), start="2027-08"))
    entry = made.infeasibilities[0]
    assert entry.constraint == "site power"
    assert "the power of dc (3 kW) leaves room for 0" in entry.message


def test_a_hosted_service_without_budget_names_the_budget():
    offers = [world.hosted(0.6)]
    scenario = world.scenario(world.service(), channels=("hosted-x",), monthly_budget=100.0, sites=(), owned=())
    made = make_plan(scenario, world.catalogue([]), offers)
    (entry,) = made.infeasibilities
    assert entry.constraint == "budget"
    assert "a monthly budget of" in entry.remedy


def test_servers_that_draw_more_than_their_site_has_are_said():
    crowded = world.scenario(world.service(), owned=(world.owned(20),), sites=(replace(world.SITE, power=100e3),))
    assert any("the servers that stand at dc draw up to 220 kW" in text for text in world.plan(crowded).warnings)
    roomy = world.scenario(world.service(), owned=(world.owned(2),), sites=(replace(world.SITE, power=100e3),))
    assert not any("draw up to" in text for text in world.plan(roomy).warnings)


def test_a_quote_dated_after_the_plan_is_doubted():
    quote = world.offer("cl", "on-demand", "box", "h100", 20.0, id="late", user_quote=True, region="", as_of="2027-06-01")
    made = world.plan(world.scenario(world.service(), inline_offers=(quote,)))
    assert any("quote late is dated 2027-06-01, after the day of the plan" in text for text in made.warnings)


def test_a_wide_gap_is_no_optimum(monkeypatch):
    monkeypatch.setattr("flopwise.planning.plan.make.PROVEN", -1.0)
    made = world.plan(world.scenario(world.service()))
    assert made.status is Status.FEASIBLE
    assert any("more than the least possible" in text for text in made.warnings)
    assert made.summary.best_reference


def test_of_budget_and_lead_time_the_least_budget_is_named_too():
    fast = world.pretraining(tokens=2e11, days=45.0, start="2027-01")
    made = world.plan(world.scenario(fast, channels=("oem",), capex_budget=1e5))
    (entry,) = made.infeasibilities
    assert entry.constraint == "several limits"
    assert re.search(r"without the other limits it works with a capital budget of .* instead of 100 k USD", entry.remedy)


def test_too_few_zones_for_the_headroom_are_said():
    def said(zones: int) -> bool:
        made = world.plan(world.scenario(world.service(peak=60.0, zones=zones)))
        return any("loss of one of" in text for text in made.warnings)

    assert [said(zones) for zones in (1, 2, 8)] == [False, True, False]
