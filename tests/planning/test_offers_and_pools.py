"""What the market becomes: which offers stay, which pools they make, and what their caps and terms allow."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from flopwise.domain.hardware import ExportRule
from flopwise.domain.offer import LeadTime
from flopwise.domain.scenario import Commitment
from flopwise.domain.workload import Launch
from flopwise.planning.market.selection import in_region, select
from flopwise.planning.sourcing.pools import make_pools
from planning import planning_world as world

QUOTE = {"user_quote": True, "region": ""}
HOUR = 3600.0


def quoted(*quotes, offers=(), **supply):
    """Pools and market of a scenario with only the given quotes and shipped offers."""
    known = world.catalogue(offers)
    channels = tuple({item.channel for item in offers})
    scenario = world.scenario(world.service(), channels=channels, inline_offers=quotes, **supply)
    market = select(scenario, known)
    return make_pools(scenario, known, market), market


def on_demand(channel: str, name: str, accelerator: str, price: float, **more):
    values = {"id": f"{channel}:{name}:{accelerator}:{price}"} | QUOTE | more
    return world.offer(channel, "on-demand", name, accelerator, price, **values)


def test_two_kinds_without_a_server_name_are_two_pools_at_their_own_price():
    pools, _ = quoted(on_demand("cl", "", "h100", 24.0), on_demand("cl", "", "a100", 12.0))
    prices = {pool.platform.accelerator.id: pool.elastic.usd for pool in pools.pools if pool.elastic}
    assert prices == {"h100": 24.0, "a100": 12.0}
    assert len({pool.id for pool in pools.pools}) == 2


def test_sizes_and_networks_of_one_name_are_pools_of_their_own():
    pools, _ = quoted(
        on_demand("cl", "box", "h100", 24.0),
        on_demand("cl", "box", "h100", 14.0, accelerators=4),
        on_demand("cl", "box", "h100", 20.0, network_bandwidth=0.0),
    )
    assert {(p.accelerators, p.platform.network_bandwidth > 0, p.elastic.usd) for p in pools.pools if p.elastic} == {
        (8, True, 24.0), (4, True, 14.0), (8, False, 20.0),
    }  # fmt: skip


def test_a_cheap_quote_with_a_cap_leaves_the_dearer_one_without():
    capped = on_demand("cl", "box", "h100", 16.0, max_servers=1)
    pools, _ = quoted(capped, on_demand("cl", "box", "h100", 24.0), on_demand("cl", "box", "h100", 26.0))
    assert [(pool.elastic.usd, pool.elastic.most) for pool in pools.pools if pool.elastic] == [(16.0, 1.0), (24.0, 64.0)]
    alone = world.plan(
        world.scenario(world.service(peak=60.0), channels=(), inline_offers=(on_demand("cl", "box", "h100", 24.0),))
    )
    both = (capped, on_demand("cl", "box", "h100", 24.0))
    plan = world.plan(world.scenario(world.service(peak=60.0), channels=(), inline_offers=both))
    assert not any(row.unmet_share for row in plan.demand)
    assert plan.summary.total_npv < alone.summary.total_npv


def test_regions_of_own_quotes_are_all_kept():
    quotes = (
        on_demand("cl", "box", "h100", 16.0, max_servers=1, region="us-east"),
        on_demand("cl", "box", "h100", 24.0, region="us-west"),
    )
    pools, _ = quoted(*quotes)
    assert {pool.place for pool in pools.pools} == {"us-east", "us-west"}


def test_a_shipped_region_with_a_larger_cap_stays_beside_the_cheapest():
    offers = [
        on_demand("cl", "box", "h100", 16.0, max_servers=1, region="us-east", user_quote=False),
        on_demand("cl", "box", "h100", 24.0, region="us-west", user_quote=False),
        on_demand("cl", "box", "h100", 25.0, max_servers=1, region="us-south", user_quote=False),
    ]
    pools, _ = quoted(offers=offers)
    assert {pool.place for pool in pools.pools} == {"us-east", "us-west"}


def test_a_quote_displaces_the_same_contract_only_and_says_so():
    offers = world.cloud("aws", 1.0)
    quote = world.offer("aws", "reserved", "mine", "h100", 12.0, term_months=36, id="mine", **QUOTE)
    _, market = quoted(quote, offers=offers)
    left = {(item.offer.kind.value, item.offer.term_months) for item in market.offers if item.offer.accelerator == "h100"}
    assert left == {("on-demand", 0), ("reserved", 12), ("reserved", 36), ("spot", 0)}
    assert "1 offer of aws: your quote stands for 8 x h100, reserved for 36 months" in market.excluded


def test_a_quote_that_may_not_be_used_displaces_nothing():
    quote = on_demand("aws", "mine", "h100", 12.0, region="eu-west-1")
    _, market = quoted(quote, offers=world.cloud("aws", 1.0))
    assert any(item.offer.kind.value == "on-demand" and item.offer.accelerator == "h100" for item in market.offers)


# Commitments and caps ---------------------------------------------------------------------------------------------


def commitments(*amounts: float):
    return tuple(Commitment(channel="aws", kind="savings-plan", amount=amount, until="2027-12") for amount in amounts)


def test_two_commitments_of_a_channel_are_worth_no_more_than_one_of_their_sum():
    one, two = (
        world.plan(world.scenario(world.service(), channels=("aws",), commitments=commitments(*amounts)))
        for amounts in ((40.0,), (20.0, 20.0))
    )
    assert two.summary.total_npv == pytest.approx(one.summary.total_npv, rel=0.01)
    large, larger = (
        world.plan(world.scenario(world.service(), channels=("aws",), commitments=commitments(*amounts)))
        for amounts in ((400.0,), (400.0, 400.0))
    )
    assert larger.summary.total_npv > large.summary.total_npv * 1.5


def test_a_cap_holds_for_reservations_at_once_and_not_over_the_years():
    term = world.offer("cl", "reserved", "box", "h100", 12.0, term_months=12, max_servers=4, id="r", **QUOTE)
    plan = world.plan(world.scenario(world.service(peak=8.0), channels=(), inline_offers=(term,), months=30))
    held = [sum(pool.months[month].reserved for pool in plan.pools) / 8 for month in range(30)]
    assert max(held) <= 4
    assert held[-1] > 0


# Export rules -------------------------------------------------------------------------------------------------------


def under_rule(region: str, since: str, until: str | None = None):
    rule = ExportRule(region=region, since=since, until=until, rule="licence", source="test")
    known = world.catalogue([*world.shipped()])
    h100 = replace(known.accelerators["h100"], export=(rule,))
    return replace(known, accelerators={**known.accelerators, "h100": h100})


def test_a_rule_that_starts_within_the_horizon_bars_its_months_only():
    known = under_rule("us", "2027-04-01")
    scenario = world.scenario(world.service())
    pools = make_pools(scenario, known, select(scenario, known)).pools
    barred = {pool.platform.accelerator.id: pool.elastic.barred for pool in pools if pool.elastic}
    assert barred["h100"] == frozenset(range(3, 12))
    assert barred["b200"] == frozenset()
    rented = next(pool.elastic for pool in pools if pool.elastic and pool.platform.accelerator.id == "h100")
    assert rented.opens(12).tolist() == [True] * 3 + [False] * 9


def test_a_rule_over_the_whole_horizon_leaves_the_offer_out():
    known = under_rule("us", "2020-01-01")
    market = select(world.scenario(world.service()), known)
    assert all(item.offer.accelerator != "h100" for item in market.offers)
    assert any("export: h100: licence" in note for note in market.excluded)


def test_any_region_does_not_lift_the_rule_where_the_offer_is():
    known = under_rule("us", "2020-01-01")
    market = select(world.scenario(world.service(), region="any"), known)
    rented = [item.offer for item in market.offers if item.offer.kind.value == "on-demand"]
    assert rented
    assert all(offer.accelerator != "h100" for offer in rented)


# Spot ---------------------------------------------------------------------------------------------------------------


def test_stated_interruptions_of_a_spot_offer_count():
    def spot(rate: float | None):
        quote = world.offer("cl", "spot", "box", "h100", 9.0, id="s", interruptions_per_hour=rate, **QUOTE)
        return quoted(quote)[0].pools[0].interruptions * HOUR

    assert spot(None) == pytest.approx(world.PARAMETERS["spot.interruptions_per_hour"])
    assert spot(0.0) == 0.0
    assert spot(0.4) == pytest.approx(0.4)


def test_the_wider_area_that_would_allow_an_offer_is_named():
    offers = [on_demand("cl", "box", "h100", 16.0, region="eu-west-1", user_quote=False)]
    _, market = quoted(offers=offers, region="de")
    assert market.excluded == ("1 offer of cl: outside region 'de' (region: eu or any allows them)",)


# What a wider choice and looser limits may never do -------------------------------------------------------------------


def small_service(quotes, **more):
    return world.plan(world.scenario(world.service(peak=more.pop("peak", 0.5)), channels=(), inline_offers=tuple(quotes), **more))


SIZES = (
    ("h100", 8, 20.0), ("h100", 4, 11.0), ("b200", 8, 34.0), ("b200", 4, 18.0), ("h100", 2, 6.5), ("b200", 2, 9.5),
    ("h100", 1, 3.6),
)  # fmt: skip


def test_one_more_offer_never_costs_more():
    quotes, last = [], math.inf
    for accelerator, count, price in SIZES:
        more = {"accelerators": count, "network_bandwidth": 0.0, "id": f"q{count}{accelerator}"}
        quotes.append(on_demand("cl", "", accelerator, price, **more))
        made = small_service(quotes)
        assert made.summary.total_npv <= last * 1.011
        last = made.summary.total_npv


def test_cheaper_quotes_with_caps_do_not_hide_the_one_that_carries_the_load():
    large = on_demand("cl", "z", "h100", 25.0, max_servers=20)
    alone = small_service([large], peak=60.0)
    assert not any(row.unmet_share for row in alone.demand)
    capped = [on_demand("cl", f"c{n}", "h100", 20.0 + n, max_servers=1) for n in range(4)]
    both = small_service([*capped, large], peak=60.0)
    assert not any(row.unmet_share for row in both.demand)
    assert both.summary.total_npv < alone.summary.total_npv


def test_spot_that_is_less_disturbed_and_servers_that_come_sooner_stay_beside_cheaper_ones():
    calm, wild = (
        world.offer("cl", "spot", "box", "h100", price, id=f"s{price}", interruptions_per_hour=rate, **QUOTE)
        for price, rate in ((9.5, 0.0), (9.0, 2.0))
    )
    late = on_demand("cl", "box", "h100", 20.0, lead_time=LeadTime(p50_weeks=20, p90_weeks=30))
    soon = on_demand("cl", "box", "h100", 21.0)
    pools, _ = quoted(calm, wild, late, soon)
    assert sorted(pool.elastic.usd for pool in pools.pools if pool.elastic) == [9.0, 9.5, 20.0, 21.0]


def test_a_dearer_contract_is_never_called_cheaper():
    by_hour = on_demand("cl", "box", "h100", 20.0)
    term = world.offer("cl", "reserved", "box", "h100", 21.0, id="term", term_months=36, **QUOTE)
    made = world.plan(world.scenario(world.service(profile="flat"), channels=(), inline_offers=(by_hour, term), months=36))
    (note,) = [text for text in made.warnings if "quote term" in text]
    assert "dearer" in note


def test_a_purchase_cap_is_the_offers_and_not_the_sites():
    quote = world.offer("oem2", "purchase", "dgx-h100", "h100", 200e3, id="p", max_servers=1, **QUOTE)
    sites = (world.SITE, replace(world.SITE, name="dc2"))
    made = world.plan(world.scenario(world.service(peak=60.0), channels=(), inline_offers=(quote,), sites=sites, months=24))
    assert sum(order.servers for order in made.orders) == 1


def test_a_longer_window_is_no_harder():
    quote = world.offer(
        "cl", "reserved", "box", "h100", 20.0, id="r", term_months=2, lead_time=LeadTime(p50_weeks=14, p90_weeks=20), **QUOTE
    )

    def unmet(start: str, days: float) -> float:
        run = world.pretraining(start=start, days=days, tokens=1.5e11)
        (row,) = world.plan(world.scenario(run, channels=(), inline_offers=(quote,), months=8)).demand
        return row.unmet_share

    assert unmet("2027-05", 61.0) == 0.0
    assert unmet("2027-01", 181.0) == 0.0


def test_a_gang_beside_a_service_rents_servers_of_its_own():
    quote = on_demand("cl", "box", "h100", 20.0, max_servers=1)
    busy = world.scenario(world.service(peak=1.0, profile="flat"), world.fine_tuning(), channels=(), inline_offers=(quote,))
    made = world.plan(busy)
    for pool in made.pools:
        assert max(month.on_demand_peak for month in pool.months) <= 8
    wide = replace(quote, max_servers=8)
    free = world.plan(replace(busy, supply=replace(busy.supply, inline_offers=(wide,))))
    apart = [world.plan(world.scenario(item, channels=(), inline_offers=(wide,))).summary.total_npv for item in busy.workloads]
    assert free.summary.total_npv <= sum(apart) * 1.02


def test_idle_servers_train_no_more_than_is_asked_for():
    made = world.plan(world.scenario(world.pretraining(), owned=(world.owned(8),), channels=()))
    done = sum(row.used_mean for pool in made.pools for row in pool.months)
    more = world.plan(world.scenario(world.pretraining(), owned=(world.owned(32),), channels=()))
    assert sum(row.used_mean for pool in more.pools for row in pool.months) == pytest.approx(done, rel=0.3)


@pytest.mark.parametrize(
    ("place", "area", "inside"),
    [
        ("ap-southeast-1", "in", False), ("ap-south-1", "in", True), ("seoul", "eu", False), ("denver", "eu", False),
        ("europe-west2", "eu", False), ("europe-west4", "eu", True), ("eu-west-2", "eu", False), ("eu-west-1", "eu", True),
        ("asia-northeast-1", "jp", True), ("FIN-02", "eu", True), ("US", "us", True), ("us-east-1", "us", True),
    ],
)  # fmt: skip
def test_places_lie_in_areas_by_whole_names(place, area, inside):
    assert in_region(place, area) is inside


def test_a_launch_starts_with_its_stated_peak():
    later = world.service(growth=0.06, launch=Launch(date="2027-07", probability=1.0))
    (row,) = world.plan(world.scenario(later)).demand
    assert next(month.peak for month in row.months if month.peak > 0) == pytest.approx(20.0)
    assert "20 req/s in 2027-07" in " ".join(row.derivation)


def test_shorter_lead_times_can_help():
    made = world.plan(world.scenario(world.service(peak=90.0), channels=("oem",), months=24), offers=[
        replace(item, lead_time=None) for item in world.shipped() if item.kind == "purchase"
    ])  # fmt: skip
    lead = next(row for row in made.assumptions if row.assumption.path == "lead.oem.p90_weeks")
    assert lead.low
    assert lead.swing is None or lead.swing >= 0
