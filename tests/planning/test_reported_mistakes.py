"""Mistakes that users reported of other planners and cost tools: ours must not make them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from flopwise.catalog import load_catalogue
from flopwise.catalog.offers import read_offers
from flopwise.domain.scenario import Commitment
from flopwise.perf.kv import kv_bytes_per_token
from flopwise.perf.search import search_serving
from flopwise.planning.cost.ledger import make_ledger
from flopwise.planning.cost.supply_line import SupplyLine
from flopwise.planning.sourcing.pools import platform_of
from perf import perf_world
from planning import planning_world as world
from planning.test_cost_and_market import RATES

QUOTE = "channel,kind,server,accelerator,accelerators,price,currency,per,as_of,source\n"


def rent(servers: float) -> SupplyLine:
    return SupplyLine(kind="on-demand", unit_price=0.4, accelerators=0, server_hours=np.full(12, 730.0) * servers)


def test_two_nodes_at_0_40_an_hour_cost_0_80_an_hour():
    assert make_ledger([rent(2)], RATES).total / (12 * 730) == pytest.approx(0.8)


@pytest.mark.parametrize("monthly", [730.0, 1460.0, 2190.0])
def test_730_a_month_is_one_an_hour(monthly):
    text = f"{QUOTE}cloud,on-demand,node,h100-sxm,8,{monthly},USD,server-month,2026-11-01,quote\n"
    offer = read_offers(text, origin="quotes.csv", user_quote=True, catalogue=load_catalogue())[0]
    assert offer.price is not None
    assert offer.price.amount == pytest.approx(monthly / 730.0)


def test_the_price_shown_is_the_price_paid_for_a_whole_instance():
    text = f"{QUOTE}cloud,spot,node,h100-sxm,8,1.28,USD,accelerator-hour,2026-11-01,quote\n"
    offer = read_offers(text, origin="quotes.csv", user_quote=True, catalogue=load_catalogue())[0]
    assert offer.price is not None
    assert offer.price.amount == pytest.approx(10.24)


def test_an_order_by_the_hour_commits_what_the_ledger_pays():
    made = world.plan(world.scenario(world.service(peak=60.0), channels=("nebius",)))
    paid = sum(line.amount for line in made.costs if line.component == "on_demand")
    assert sum(order.amount for order in made.orders if order.kind == "on-demand") == pytest.approx(paid)


def test_costs_of_workloads_add_up_to_the_cost_of_what_they_share():
    made = world.plan(world.scenario(world.service(peak=60.0), world.fine_tuning(), owned=(world.owned(2),)))
    chat = next(row for row in made.demand if row.workload == "chat")
    tokens = {"chat": chat.work, "tune": 2e8 * 365 / 7}
    costs = [made.figures[f"workloads.{name}.cost.per_million_tokens"].value * count / 1e6 for name, count in tokens.items()]
    assert sum(costs) == pytest.approx(made.summary.total_cash, rel=1e-6)


def test_costs_of_workloads_and_unused_fees_add_up_to_the_total():
    held = Commitment(channel="aws", kind="savings-plan", amount=5.0, until="2027-12")
    made = world.plan(world.scenario(world.service(peak=10.0), owned=(world.owned(2),), commitments=(held,)))
    chat = made.demand[0]
    cost = made.figures["workloads.chat.cost.per_million_tokens"].value * chat.work / 1e6
    unused = sum(line.amount for line in made.costs if line.component == "commitment")
    assert unused == pytest.approx(5.0 * 8760, rel=1e-6)
    assert cost + unused == pytest.approx(made.summary.total_cash, rel=1e-6)
    assert any("pays for 0 % of its fee" in text for text in made.warnings)


def test_nothing_held_costs_nothing_idle():
    made = world.plan(world.scenario(world.service(peak=0.02), channels=("nebius", "hosted-x")), apis=[world.hosted()])
    assert {line.component for line in made.costs} == {"hosted"}
    assert "cost.per_accelerator_hour" not in made.figures


def test_cache_and_weights_have_their_own_precisions():
    arch = perf_world.LLAMA_70B
    assert kv_bytes_per_token(arch, "bf16") == 2 * kv_bytes_per_token(arch, "fp8") == 2 * 8 * 128 * 2 * 80
    wide = replace(arch, heads=arch.heads * 2)
    assert kv_bytes_per_token(wide, "bf16") == kv_bytes_per_token(arch, "bf16")


def test_b300_is_not_slower_than_b200_in_decode_of_the_same_layout():
    facts = load_catalogue()
    service = replace(world.service(), model=facts.model("llama-3.3-70b"))
    times: dict[str, dict[tuple[int, int], float]] = {}
    for name in ("b200", "b300"):
        found = search_serving(service, platform_of(facts.accelerator(name), 8, 50e9), top=20)
        times[name] = {(mode.layout.tp, mode.layout.pp): mode.rate for mode in found.modes}
    both = times["b200"].keys() & times["b300"].keys()
    assert both
    assert all(times["b300"][layout] >= times["b200"][layout] * (1 - 1e-3) for layout in both)
