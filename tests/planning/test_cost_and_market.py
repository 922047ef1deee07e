"""Cost components, closed forms, offers that pass, network counts, concentration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwise.domain.hardware import ExportRule
from flopwise.ground.errors import UnknownNameError
from flopwise.ground.units import parse
from flopwise.planning.cost.checks import (
    annuity_factor,
    break_even_utilisation,
    owning_cost_per_hour,
)
from flopwise.planning.cost.ledger import charges, components, discount_factors, make_ledger, unit_npv
from flopwise.planning.cost.supply_line import Rates, SiteRates, SupplyLine
from flopwise.planning.fabric import clos
from flopwise.planning.market import select
from flopwise.planning.market.selection import export_bar, in_region
from flopwise.planning.risk import concentration
from planning import planning_world as world

HOURS = np.full(12, 730.0)
RATES = Rates(
    month_hours=HOURS, wacc=0.1, residual={1.0: 0.6, 5.0: 0.1}, support_rate=0.04, staff_cost=180e3,
    accelerators_per_engineer=256, network_share=0.15, storage=4000.0, power_overhead=0.08, mean_power_share=0.75,
)  # fmt: skip
SITE = SiteRates(electricity=0.08 / 3.6e6, pue=1.25, colocation=0.18)


def purchase(count: float = 1.0, price: float = 300e3) -> SupplyLine:
    arrivals = np.zeros(12)
    arrivals[0] = count
    return SupplyLine(
        kind="purchase", unit_price=price, accelerators=8, power=10e3, arrivals=arrivals, held=np.cumsum(arrivals), site=SITE
    )


def test_two_nodes_cost_twice_one():
    one, two = (make_ledger([purchase(count)], RATES) for count in (1.0, 2.0))
    assert two.npv == pytest.approx(2 * one.npv)
    assert make_ledger([purchase(), purchase()], RATES).npv == pytest.approx(two.npv)


def test_components_of_a_purchase_by_hand():
    parts = charges(purchase(), RATES)
    assert parts["hardware"].sum() == pytest.approx(300e3)
    assert parts["network"].sum() == pytest.approx(45e3)
    assert parts["storage"].sum() == pytest.approx(32e3)
    assert parts["residual"].sum() == pytest.approx(-180e3)
    assert parts["power"].sum() == pytest.approx(10.0 * 0.75 * 1.08 * 1.25 * 8760 * 0.08)
    assert parts["space"].sum() == pytest.approx(10e3 * 1.08 * 0.18 * 12)
    assert parts["support"].sum() == pytest.approx(12e3)
    assert parts["staff"].sum() == pytest.approx(8 / 256 * 180e3)
    assert {name for name, cash in parts.items() if cash.any()} == {
        "hardware", "network", "storage", "residual", "power", "space", "support", "staff"
    }  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.floats(0, 50), min_size=12, max_size=12), st.floats(0.5, 1e3), st.sampled_from(["on-demand", "spot"]))
def test_unit_costs_and_ledger_agree(hours, price, kind):
    unit = unit_npv(SupplyLine(kind=kind, unit_price=price, accelerators=8, server_hours=np.eye(12)), RATES)
    line = SupplyLine(kind=kind, unit_price=price, accelerators=8, server_hours=np.array(hours))
    assert make_ledger([line], RATES).npv == pytest.approx(float(unit @ np.array(hours)), rel=1e-9, abs=1e-9)


def test_what_is_paid_upfront_moves_cash_and_not_its_sum():
    starts = np.zeros(12)
    starts[0] = 2.0
    plain = SupplyLine(
        kind="reserved", unit_price=10.0, accelerators=8, arrivals=starts, held=np.full(12, 2.0), term_hours=12 * 730.0
    )
    early = replace(plain, upfront=0.5)
    rates = replace(RATES, wacc=0.1)
    first, second = (charges(line, rates)["reserved"] for line in (plain, early))
    assert first.sum() == pytest.approx(second.sum()) == pytest.approx(2 * 12 * 730 * 10.0)
    assert second[0] == pytest.approx(0.5 * first.sum() + 0.5 * first[0])
    assert make_ledger([early], rates).npv > make_ledger([plain], rates).npv


def test_every_component_speaks_for_itself():
    for name, part in components().items():
        assert part.LABEL, name
        assert part.FORMULA, name
        assert part.CATEGORY, name
        assert not charges(SupplyLine(kind="hosted"), RATES)[name].any(), name
        assert all(isinstance(path, str) for path in part.ASSUMED), name


STARTS = np.array([0.0, 2, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0])
LINES = (
    purchase(3.0),
    replace(purchase(), arrivals=STARTS, held=np.cumsum(STARTS)),
    replace(purchase(), kind="owned", arrivals=0.0, held=np.full(12, 4.0)),
    SupplyLine(kind="on-demand", unit_price=20.0, accelerators=8, server_hours=STARTS * 100),
    SupplyLine(kind="spot", unit_price=9.0, accelerators=8, server_hours=STARTS * 50),
    SupplyLine(
        kind="reserved", unit_price=12.0, accelerators=8, arrivals=STARTS, held=np.minimum(np.cumsum(STARTS), 5), upfront=0.3,
        later_hours=np.array([900.0]), term_hours=6 * 730.0,
    ),
    SupplyLine(kind="hosted", unit_price=3e-4, requests=STARTS * 1e6),
    SupplyLine(kind="commitment", usd=STARTS * 70.0),
)  # fmt: skip


@pytest.mark.parametrize("name", components())
def test_the_factors_that_a_component_names_multiply_to_its_charge(name):
    part = components()[name]
    charged = [line for line in LINES if charges(line, RATES)[name].any()]
    assert charged, f"no line of this test is charged by {name}"
    for line in charged:
        factors = part.factors(line, RATES)
        product = np.prod([value for value, _ in factors.values()])
        assert product == pytest.approx(float(charges(line, RATES)[name].sum())), (name, line.kind)


def test_money_later_is_worth_less():
    assert discount_factors(25, 0.10)[12] == pytest.approx(1 / 1.1)
    assert discount_factors(3, 0.0).tolist() == [1.0, 1.0, 1.0]


def test_published_figures_of_owning():
    # 50,000 USD per accelerator, five years, 15 % residual, 10 % cost of capital: about 1.37 USD/h of capital.
    hourly = owning_cost_per_hour(50e3, rate=0.10, years=5, residual=0.15, running_per_hour=0.0, hours_per_year=8760)
    assert hourly == pytest.approx(1.37, abs=0.01)
    assert annuity_factor(0.0, 5) == pytest.approx(0.2)
    assert break_even_utilisation(38.65, 88.49) == pytest.approx(0.44, abs=0.01)


def test_a_month_of_730_hours_makes_730_dollars_one_per_hour():
    assert parse("1 month", "s") / 3600 == 730


@pytest.mark.parametrize(
    ("offered", "wanted", "passes"),
    [
        ("us-east-1", "us", True), ("europe-west4", "us", False), ("europe-west4", "eu", True), ("any", "jp", True),
        ("asia-northeast1", "jp", True), ("us-east-1", "any", True), ("cn", "cn", True), ("us-east-1", "cn", False),
    ],
)  # fmt: skip
def test_regions(offered, wanted, passes):
    assert in_region(offered, wanted) is passes


def test_an_export_rule_bars_from_its_date_on_until_it_ends():
    rule = ExportRule(region="cn", since="2022-10-07", until="2026-01-15", rule="licence", source="test")
    barred = replace(world.ACCELERATORS["h100"], export=(rule,))
    assert not export_bar(barred, "cn", "2022-09")
    assert "licence" in export_bar(barred, "cn", "2024-01")
    assert not export_bar(barred, "cn", "2026-02")
    assert not export_bar(barred, "us", "2024-01")


def test_only_named_channels_pass_and_coverage_says_what_there_is():
    scenario = world.scenario(world.service(), channels=("aws",))
    market = select(scenario, world.catalogue())
    assert {item.offer.channel for item in market.offers} == {"aws"}
    kinds = {row.kind: row for row in market.coverage}
    assert set(kinds) == {"on-demand", "reserved 12 months", "reserved 36 months", "spot"}
    assert kinds["on-demand"].offers == 3
    with pytest.raises(UnknownNameError, match="unknown channel"):
        select(replace(scenario, supply=replace(scenario.supply, channels=("awz",))), world.catalogue())


def test_older_prices_have_wider_intervals():
    def width(as_of: str) -> float:
        offers = [replace(world.shipped()[0], as_of=as_of)]
        market = select(world.scenario(world.service(), channels=("oem",)), world.catalogue(offers))
        return market.offers[0].high - market.offers[0].low

    assert width("2024-01-01") > width("2026-01-01") > width("2026-11-30")


@pytest.mark.parametrize(
    ("servers", "rails", "radix", "leaves", "spines", "cores"),
    [(1, 8, 64, 0, 0, 0), (8, 8, 64, 1, 0, 0), (32, 8, 64, 8, 4, 0), (128, 8, 64, 32, 16, 0), (256, 8, 64, 64, 32, 0)],
)
def test_networks_of_published_sizes(servers, rails, radix, leaves, spines, cores):
    found = clos(servers, rails, radix)
    assert (found.leaves, found.spines, found.cores) == (leaves, spines, cores)
    assert found.links == (servers * rails if servers > 1 else 0)


@given(st.integers(1, 4000), st.integers(1, 8), st.sampled_from([36, 64, 128]))
def test_a_network_has_ports_for_every_link(servers, rails, radix):
    found = clos(servers, rails, radix)
    ports = found.switches * radix
    assert ports >= found.links + 2 * found.trunks - radix * found.tiers or found.tiers <= 1
    if found.spines and not found.cores:
        assert found.leaves * radix >= found.links + found.trunks
        assert found.spines * radix >= found.trunks


def test_concentration():
    one = concentration("vendor", {"a": 5.0})
    assert (one.hhi, one.effective_number) == (10_000, 1)
    even = concentration("vendor", dict.fromkeys("abcd", 1.0))
    assert (even.hhi, even.effective_number) == (2500, 4)
    assert not concentration("vendor", {"a": 7.0, "b": 3.0}, limit=0.7).exceeded
