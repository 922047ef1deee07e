"""What the market becomes: which offers stay, which pools they make, and what their caps and terms allow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flopwise.domain.hardware import ExportRule
from flopwise.domain.scenario import Commitment
from flopwise.planning.market.selection import select
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
