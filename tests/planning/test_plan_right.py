"""Plans are right: they add up, obey their limits, and answer changes of price and need in the right direction."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from flopwise.domain.plan import Status
from flopwise.domain.scenario import Commitment
from flopwise.ground.errors import MissingPriceError, UnknownNameError
from flopwise.planning.sourcing.demand_part import _rounded
from planning import planning_world as world

PLANS = {
    "serving": lambda: world.scenario(world.service(growth=0.03)),
    "training": lambda: world.scenario(world.pretraining(), world.fine_tuning()),
    "hybrid": lambda: world.scenario(world.service(peak=90.0), world.fine_tuning(), owned=(world.owned(2),)),
}


@pytest.fixture(scope="module", params=PLANS)
def made(request):
    return world.plan(PLANS[request.param]())


def test_the_components_sum_to_the_total(made):
    assert sum(line.npv for line in made.costs) == pytest.approx(made.summary.total_npv, rel=1e-9)
    assert sum(line.amount for line in made.costs) == pytest.approx(made.summary.total_cash, rel=1e-9)
    assert made.figures["cost.total_npv"].value == made.summary.total_npv
    years = [figure.value for name, figure in made.figures.items() if name.startswith("cost.year.")]
    assert sum(years) == pytest.approx(made.summary.total_cash, rel=1e-9)


def test_everything_is_served_and_the_gap_is_stated(made):
    assert made.status is Status.OPTIMAL
    assert made.summary.met_share == 1.0
    assert 0.0 <= made.gap < 0.05
    assert all(row.unmet_share == 0.0 for row in made.demand)


def test_no_reference_plan_that_serves_all_is_cheaper(made):
    for row in made.references:
        if row.feasible and not row.chosen:
            assert row.npv >= made.summary.total_npv - 1e-6
            assert row.regret == pytest.approx(row.npv - made.summary.total_npv, abs=1e-6)


def test_shares_of_modes_add_up_per_workload(made):
    for row in made.demand:
        shares = [mode.share for mode in made.modes if mode.mode.workload == row.workload]
        assert sum(shares) == pytest.approx(1.0, abs=0.01)


def test_pools_never_use_more_than_they_hold(made):
    for pool in made.pools:
        for month in pool.months:
            fixed = month.owned + month.purchased + month.reserved
            assert month.used_peak <= fixed + month.on_demand_peak + month.spot_peak + 1e-6
            assert month.used_mean <= fixed + month.on_demand_mean + month.spot_mean + 1e-6


def test_orders_come_before_what_they_bring(made):
    assert made.orders
    for order in made.orders:
        assert made.as_of <= order.order_by
        assert order.order_by[:7] <= order.arrives
        assert order.amount > 0
        assert f"orders.{order.id}.amount" in made.figures


def test_every_input_that_names_a_figure_names_one_that_exists(made):
    for figure in made.figures.values():
        assert figure.interval[0] <= figure.value <= figure.interval[1]
        for text in figure.inputs.values():
            if text.startswith(("cost.", "workloads.", "orders.")):
                assert text in made.figures


def test_the_same_scenario_gives_the_same_plan():
    first, second = (world.plan(PLANS["hybrid"]()) for _ in range(2))
    assert first == second


def test_a_higher_price_never_lowers_the_cost_beyond_the_gap():
    costs = [world.plan(PLANS["hybrid"](), world.shipped(factor=factor)) for factor in (1.0, 1.1, 1.5)]
    for cheap, dear in itertools.pairwise(costs):
        assert dear.summary.total_npv >= cheap.summary.total_npv * (1 - dear.gap - cheap.gap) - 1e-6


def test_one_dearer_offer_never_lowers_the_cost_beyond_the_gap():
    base = world.plan(PLANS["serving"]())
    for number, offer in enumerate(world.shipped()):
        if number % 5:
            continue
        offers = world.shipped()
        assert offer.price is not None
        offers[number] = replace(offer, price=replace(offer.price, amount=offer.price.amount * 2))
        dearer = world.plan(PLANS["serving"](), offers)
        assert dearer.summary.total_npv >= base.summary.total_npv * (1 - base.gap - dearer.gap) - 1e-6, offer.id


def test_twice_the_traffic_costs_more_but_not_more_than_twice():
    one, two = (world.plan(world.scenario(world.service(peak=peak))) for peak in (40.0, 80.0))
    slack = 1 + one.gap + two.gap
    assert one.summary.total_npv <= two.summary.total_npv <= 2 * one.summary.total_npv * slack


def test_twice_the_owned_servers_cost_twice_as_much_to_run():
    def idle_cost(count: int) -> float:
        made = world.plan(world.scenario(world.service(peak=0.5), owned=(world.owned(count),), channels=("aws",)))
        assert not made.orders
        return made.summary.total_npv

    assert idle_cost(2) == pytest.approx(2 * idle_cost(1), rel=1e-9)


def test_a_missing_price_is_an_error_and_never_free():
    offers = [world.offer("aws", "on-demand", "h100-8", "h100", None)]
    with pytest.raises(MissingPriceError, match="no price"):
        world.plan(world.scenario(world.service(), channels=("aws",)), offers)


def test_a_price_of_zero_is_a_missing_price():
    offers = [world.offer("aws", "on-demand", "h100-8", "h100", 0.0)]
    with pytest.raises(MissingPriceError):
        world.plan(world.scenario(world.service(), channels=("aws",)), offers)


def test_an_unknown_channel_is_named_with_the_nearest():
    with pytest.raises(UnknownNameError, match="nebius"):
        world.plan(world.scenario(world.service(), channels=("nebius1",)))


def test_owned_servers_are_filled_before_anything_is_ordered():
    made = world.plan(world.scenario(world.service(peak=5.0), owned=(world.owned(8),)))
    assert not made.orders
    assert {pool.pool for pool in made.pools} == {"dgx-h100@dc"}


def test_the_users_own_quote_wins():
    quote = world.offer("oem", "purchase", "dgx-b200", "b200", 600e3, id="quote", user_quote=True, region="any")
    made = world.plan(
        world.scenario(world.service(peak=100.0), channels=("oem",), inline_offers=(quote,), months=24, start="2027-08")
    )
    bought = [order for order in made.orders if order.server == "dgx-b200"]
    assert all(order.offer == "quote" and order.unit_price == 600e3 for order in bought)
    # Dearer than what ships at 450e3, and still the only price that counts.
    assert bought or any("your quote quote is not used" in text for text in made.warnings)


def test_a_commitment_pays_for_on_demand_use_of_its_channel_only():
    def total(channel: str) -> tuple[float, float]:
        held = (Commitment(channel=channel, kind="savings-plan", amount=10.0, until="2027-12"),)
        made = world.plan(world.scenario(world.service(profile="flat"), channels=("nebius",), commitments=held))
        fee = sum(line.amount for line in made.costs if line.component == "commitment")
        return made.summary.total_cash, fee

    without = world.plan(world.scenario(world.service(profile="flat"), channels=("nebius",)))
    elsewhere, full_fee = total("aws")
    assert full_fee == pytest.approx(10.0 * 8760)
    assert elsewhere == pytest.approx(without.summary.total_cash + full_fee, rel=0.01)
    here, left = total("nebius")
    assert left < full_fee
    assert here <= elsewhere


def test_training_runs_at_night_on_what_serves_by_day():
    day = world.service(peak=60.0, profile="office-hours")
    alone = world.plan(world.scenario(day, channels=("oem",), start="2027-08"))
    night = world.fine_tuning(tokens=5e8)
    both = world.plan(world.scenario(day, night, channels=("oem",), start="2027-08"))
    only = world.plan(world.scenario(night, channels=("oem",), start="2027-08"))
    bought = lambda made: sum(order.servers for order in made.orders if order.kind == "purchase")  # noqa: E731
    assert bought(both) < bought(alone) + bought(only)


def test_a_short_recurring_run_leaves_its_servers_to_a_service_on_other_days():
    owned = (world.owned(2),)
    alone = world.plan(world.scenario(world.service(peak=80.0, profile="flat"), owned=owned))
    both = world.plan(world.scenario(world.service(peak=80.0, profile="flat"), world.fine_tuning(), owned=owned))
    running = [row for row in both.modes if row.mode.workload == "tune" and row.share > 0]
    assert len(running) == 1
    # The run needs this many server-hours a month at most; the service must not lose many more than those.
    hours = 2e8 * 52 / 12 / (running[0].mode.rate / 1.2) / 3600 * running[0].mode.accelerators / 8
    rented = [sum(month.on_demand_mean * 730 / 8 for pool in plan.pools for month in pool.months) / 12 for plan in (alone, both)]
    assert rented[1] - rented[0] < 2 * 730 / 7 + hours
    assert both.summary.met_share == 1.0


def test_one_run_without_a_window_holds_servers_only_in_its_months():
    run = replace(world.pretraining(), window=None, tokens=2e10)
    made = world.plan(world.scenario(run, world.service(peak=80.0, profile="flat"), owned=(world.owned(2),)))
    pool = next(pool for pool in made.pools if pool.pool.startswith("dgx-h100"))
    assert sum(month.used_peak - month.used_mean > 4.0 for month in pool.months) <= 3
    assert made.summary.met_share == 1.0


@settings(max_examples=200)
@given(st.data())
def test_rounded_cuts_hold_for_every_whole_number_of_servers(data):
    rates = data.draw(st.lists(st.floats(0.1, 50.0), min_size=1, max_size=4))
    servers = np.array(data.draw(st.lists(st.integers(0, 6), min_size=len(rates), max_size=len(rates))))
    elsewhere, spare = data.draw(st.floats(0.0, 30.0)), data.draw(st.floats(0.0, 20.0))
    demand = float(np.dot(rates, servers)) + elsewhere - spare
    assume(demand > 0)
    for unit in rates:
        right = demand / unit
        fraction = np.array([right - np.floor(right)])
        left = sum(_rounded(rate / unit, fraction)[0] * count for rate, count in zip(rates, servers, strict=True))
        assert left + elsewhere / unit >= fraction[0] * np.ceil(right) - 1e-4


def test_a_training_gang_stays_on_one_mode():
    made = world.plan(PLANS["training"]())
    for row in made.demand:
        chosen = [mode for mode in made.modes if mode.mode.workload == row.workload and mode.share > 0]
        assert len(chosen) == 1


def test_no_multi_node_training_without_a_cluster_network():
    offers = [replace(item, network_bandwidth=0.0) for item in world.shipped() if item.channel == "nebius"]
    made = world.plan(world.scenario(world.pretraining(tokens=3e12), channels=("nebius",)), offers)
    assert made.status is Status.INFEASIBLE
    assert all(not mode.mode.spans_servers for mode in made.modes)
    assert "network" in made.infeasibilities[0].message


def test_hosted_apis_are_used_where_they_are_cheaper_and_the_break_even_is_shown():
    little = world.scenario(world.service(peak=0.05), channels=("nebius", "hosted-x"))
    made = world.plan(little, apis=[world.hosted()])
    assert [order.kind for order in made.orders] == ["hosted"]
    mark = next(item for item in made.break_even if item.name == "chat.hosted")
    requests = 0.05 * 86400
    assert mark.value > requests * (1200 + 250)
    much = world.plan(
        world.scenario(world.service(peak=400.0, profile="flat"), channels=("nebius", "hosted-x")), apis=[world.hosted()]
    )
    assert all(order.kind != "hosted" for order in much.orders)


def test_a_growing_service_may_begin_hosted_and_come_home():
    made = world.plan(
        world.scenario(world.service(peak=1.0, growth=0.15, profile="flat"), channels=("nebius", "hosted-x"), months=24),
        apis=[world.hosted(price=0.3)],
    )
    hosted = next(row for row in made.hosted if row.workload == "chat")
    need = next(row for row in made.demand if row.workload == "chat")
    assert hosted.months[0].mean == pytest.approx(need.months[0].mean)
    assert hosted.months[-1].mean < 0.5 * need.months[-1].mean


def test_a_reservation_that_outlasts_the_horizon_is_paid_in_full():
    offers = [world.offer("aws", "reserved", "h100-8", "h100", 20.0, term_months=36)]
    made = world.plan(world.scenario(world.service(peak=1.0), channels=("aws",), months=6, start="2027-03"), offers)
    order = next(order for order in made.orders if order.kind == "reserved")
    paid = sum(line.amount for line in made.costs if line.component == "reserved")
    assert paid == pytest.approx(order.servers * 20.0 * 730 * 36, rel=0.02)


def test_unit_costs_follow_from_the_ledger():
    made = world.plan(PLANS["training"]())
    cost = sum(figure.value for name, figure in made.figures.items() if name.endswith(".cost.per_million_tokens"))
    assert cost > 0
    row = next(item for item in made.demand if item.workload == "pretrain")
    figure = made.figures["workloads.pretrain.cost.per_useful_pflop_hour"]
    tokens = made.figures["workloads.pretrain.cost.per_million_tokens"]
    flops_per_token = row.work / 1e11
    assert figure.value / (3.6e18 / flops_per_token) * 1e6 == pytest.approx(tokens.value, rel=1e-6)


def test_headroom_raises_what_is_held_and_is_reconciled():
    low, high = (world.plan(world.scenario(world.service(peak=60.0), headroom=h)) for h in (0.0, 0.3))
    assert high.summary.total_npv > low.summary.total_npv
    lines = sum(line.share for line in high.headroom.lines)
    assert lines + high.headroom.unallocated == pytest.approx(0.3)
    assert any("outside the usual" in warning for warning in low.warnings)


def test_prices_are_stale_after_ninety_days_and_their_interval_wider():
    offers = [replace(item, as_of="2025-01-01") for item in world.shipped()]
    old, new = world.plan(PLANS["serving"](), offers), world.plan(PLANS["serving"]())
    assert all(order.stale for order in old.orders)
    assert not any(order.stale for order in new.orders)
    width = lambda made: np.ptp(made.summary.total_npv_interval) / made.summary.total_npv  # noqa: E731
    assert width(old) > width(new)


def test_what_breaks_the_plan_stands_before_what_moves_it():
    """A gang that is only just fast enough fails at the slow end of its interval: nothing weighs more."""
    made = world.plan(world.scenario(world.pretraining(days=20.0, tokens=4e11), months=6))
    ranks = [bool(row.breaks) for row in made.assumptions]
    assert ranks == sorted(ranks, reverse=True)
    quota = next(row for row in made.assumptions if row.assumption.path == "offers.on_demand_quota")
    assert quota.swing is not None or quota.breaks


def test_the_total_is_less_certain_than_its_assumed_rates():
    made = world.plan(world.scenario(world.service(peak=2.0), owned=(world.owned(8),), months=12))
    low, high = made.summary.total_npv_interval
    rates = [row.swing or 0.0 for row in made.assumptions if row.assumption.path.startswith(("facility.", "server."))]
    assert any(rates)
    assert high - low >= np.hypot.reduce(np.array(rates)) * (1 - 1e-9)


@pytest.mark.parametrize("kind", ["training", "serving"])
def test_the_rate_follows_from_the_inputs_that_explain_prints(kind):
    made = world.plan(PLANS[kind]())
    for row in made.modes:
        if row.share <= 0:
            continue
        detail, mode = row.mode.detail, row.mode
        if mode.rate_unit == "req/s":
            steady = detail["batch"] / (250.0 * detail["tpot_mean"])
            assert mode.rate == pytest.approx(min(steady, 0.8 * detail["saturation"]), rel=1e-6)
        else:
            batch = 4e6 if mode.workload == "pretrain" else 5e5
            assert mode.rate * detail["step_time"] == pytest.approx(batch, rel=0.2)


def test_a_quote_that_loses_is_named():
    dear = world.offer("oem", "purchase", "dgx-b200", "b200", 5e6, id="dear", user_quote=True, region="any")
    made = world.plan(world.scenario(world.service(peak=20.0), inline_offers=(dear,), months=24))
    assert any(text.startswith("your quote dear is not used: at full use it is") for text in made.warnings)


def test_promises_of_hosted_apis_are_not_taken_for_granted():
    made = world.plan(world.scenario(world.service(peak=0.05), months=6, channels=("oem", "hosted-x")), apis=(world.hosted(),))
    assert any("calls hosted-x, whose latency" in text for text in made.warnings)


def test_fewer_channels_than_asked_for_are_said():
    made = world.scenario(world.service(peak=30.0), months=6)
    plan = world.plan(replace(made, risk=replace(made.risk, min_channels=5)))
    assert any("the scenario asks for 5 channels" in text for text in plan.warnings)


# What amounts rest on ------------------------------------------------------------------------------------------------


def test_an_amount_is_no_stronger_than_what_it_rests_on():
    quote = world.offer("cl", "on-demand", "box", "b200", 40.0, id="mine", user_quote=True, region="")
    scenario = world.scenario(world.service(), channels=(), inline_offers=(quote,))
    made = world.plan(scenario)
    modes = {row.mode.evidence for row in made.modes if row.share > 0}
    assert len(modes) == 1
    assert made.figures["cost.total_npv"].evidence in modes
    assert made.figures["workloads.chat.cost.per_million_tokens"].evidence in modes
    assert all(item.evidence in modes for item in made.references if item.feasible)


def test_memory_has_an_interval():
    made = world.plan(world.scenario(world.pretraining(), world.service()))
    for name in ("pretrain", "chat"):
        memory = made.figures[f"workloads.{name}.mode.memory"]
        assert memory.interval[0] < memory.value < memory.interval[1]


def test_the_bill_of_materials_sums_to_what_is_charged():
    made = world.plan(world.scenario(world.service(peak=90.0), months=24, channels=("oem",)))
    charged = sum(line.amount for line in made.costs if line.component in {"hardware", "network", "storage"})
    assert charged > 0
    assert sum(item.amount or 0.0 for item in made.fabric) == pytest.approx(charged)


def test_headroom_is_no_work():
    made = world.plan(world.scenario(world.service(profile="flat"), owned=(world.owned(2),), channels=()))
    more = world.plan(world.scenario(world.service(profile="flat"), owned=(world.owned(2),), channels=(), headroom=0.3))
    assert made.figures["use.allocation"].value == pytest.approx(more.figures["use.allocation"].value)


def test_the_amount_of_an_order_can_be_multiplied_again():
    made = world.plan(world.scenario(world.service(peak=30.0), channels=("nebius",)))
    for order in made.orders:
        figure = made.figures[f"orders.{order.id}.amount"]
        hours = float(figure.inputs["server-hours"].replace(",", ""))
        assert hours * order.unit_price == pytest.approx(order.amount, rel=1e-3)
