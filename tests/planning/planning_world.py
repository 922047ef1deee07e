"""A small world with round figures: four accelerators, one vendor of servers, three clouds, one hosted API."""

from __future__ import annotations

from collections.abc import Sequence

from flopwise.catalog import Catalogue
from flopwise.domain.hardware import Server, Switch
from flopwise.domain.offer import LeadTime, Offer, OfferKind, Price, TokenPrice
from flopwise.domain.plan import Plan
from flopwise.domain.provenance import Confidence
from flopwise.domain.scenario import Assumption, Finance, Horizon, OwnedServers, RiskAppetite, Scenario, Supply
from flopwise.domain.site import Site
from flopwise.domain.workload import Growth, Slo, TrafficProfile, Window, Workload
from flopwise.planning.plan import make_plan
from perf import perf_world as perf
from perf.perf_world import fact

DAY = 86400.0
AS_OF = "2026-12-01"
PARAMETERS = {
    "price.stale_after": 90 * DAY, "price.widening_per_year": 0.2, "offers.on_demand_quota": 64.0, "lead.oem.p90_weeks": 26.0,
    "lead.cloud_reserved.p90_weeks": 6.0, "reliability.failures_per_accelerator_day": 4.7e-4, "reliability.restart_time": 600.0,
    "reliability.repair_time": 5 * DAY, "reliability.checkpoint_bandwidth": 1e9, "spot.interruptions_per_hour": 0.05,
    "network.price_share": 0.15, "storage.bytes_per_accelerator": 2e13, "storage.price_per_byte": 2e-10,
    "facility.power_overhead": 0.08, "server.mean_power_share": 0.75,
}  # fmt: skip
ACCELERATORS = {
    item.id: item
    for item in (
        perf.accelerator("h100"),
        perf.b200(),
        perf.accelerator("a100", bandwidth=2e12, bf16=312e12, fp8=None, link=300e9),
        perf.accelerator("v100", memory=16e9, bandwidth=0.9e12, bf16=125e12, fp8=None, link=150e9),
    )
}


def server(name: str, accelerator: str, price: float, *, power: float = 10_200.0, cooling: str = "air") -> Server:
    return Server(
        id=name, name=name, vendor="maker", accelerator=accelerator, accelerators=8, network_bandwidth=fact(50e9), nics=8,
        memory=fact(2e12), power=fact(power), rack_units=8, cooling=cooling, released="2024-01", price=fact(price),
    )  # fmt: skip


SERVERS = {
    item.id: item
    for item in (
        server("dgx-h100", "h100", 280e3),
        server("dgx-b200", "b200", 450e3, power=14_300.0),
        server("dgx-v100", "v100", 40e3, power=3_500.0),
    )
}


def offer(channel: str, kind: str, name: str, accelerator: str, price: float | None, **more) -> Offer:
    values = {
        "id": f"{channel}:{name}:{kind}:{more.get('term_months', 0)}", "channel": channel, "vendor": channel,
        "kind": OfferKind(kind), "region": "us", "as_of": "2026-11-01", "source": "test", "confidence": Confidence.MEDIUM,
        "server": name, "accelerator": accelerator, "accelerators": 8, "network_bandwidth": 50e9,
        "price": None if price is None else Price(amount=price, currency="USD", per="server"),
    } | more  # fmt: skip
    return Offer(**values)


def cloud(channel: str, factor: float) -> list[Offer]:
    offers: list[Offer] = []
    for accelerator, price in (("h100", 24.0), ("b200", 44.0), ("a100", 14.0)):
        name = f"{accelerator}-8"
        offers += [
            offer(channel, "on-demand", name, accelerator, price * factor),
            offer(channel, "reserved", name, accelerator, price * factor * 0.69, term_months=12),
            offer(channel, "reserved", name, accelerator, price * factor * 0.45, term_months=36),
            offer(channel, "spot", name, accelerator, price * factor * 0.4),
        ]
    return offers


def shipped(*, factor: float = 1.0) -> list[Offer]:
    """All offers; ``factor`` multiplies every price."""
    lead = LeadTime(p50_weeks=12, p90_weeks=26)
    bought = [
        offer("oem", "purchase", item.id, item.accelerator, item.price.value * factor, lead_time=lead)
        for item in SERVERS.values()
        if item.price
    ]
    return [*bought, *cloud("aws", 1.3 * factor), *cloud("nebius", 0.8 * factor)]


def hosted(price: float = 0.6) -> Offer:
    tokens = TokenPrice(input=price, output=1.5 * price, cached_input=None, currency="USD", model=perf.LLAMA_70B.id)
    return offer("hosted-x", "hosted", "", "", None, region="any", accelerators=0, tokens=tokens)


def catalogue(offers: Sequence[Offer] | None = None, **parameters: float) -> Catalogue:
    switch = Switch(
        id="switch", name="switch", vendor="maker", technology="infiniband", radix=64, port_rate=fact(50e9), power=fact(1700.0),
        rack_units=1, price=fact(30e3),
    )  # fmt: skip
    return Catalogue(
        accelerators=ACCELERATORS, servers=SERVERS, switches={"switch": switch}, models={}, regions={},
        offers=tuple(shipped() if offers is None else offers), exchange_rates={},
        parameters={name: fact(value) for name, value in (PARAMETERS | parameters).items()}, digest="catalogue",
    )  # fmt: skip


SITE = Site(
    name="dc", electricity=fact(0.08 / 3.6e6), pue=fact(1.25), power=2e6, colocation=fact(0.18), cooling="air", available=None
)
FINANCE = Finance(
    wacc=0.1, depreciation_years=5, residual={1.0: 0.62, 3.0: 0.3, 5.0: 0.12}, tax=0.0, support_rate=0.04, staff_cost=180e3,
    accelerators_per_engineer=256,
)  # fmt: skip


def scenario(*workloads: Workload, months: int = 12, headroom: float = 0.2, start: str = "2027-01", **supply) -> Scenario:
    values = {
        "sites": (SITE,), "owned": (), "commitments": (), "channels": ("oem", "aws", "nebius"), "inline_offers": (),
        "region": "us", "capex_budget": None, "monthly_budget": None,
    } | supply  # fmt: skip
    return Scenario(
        name="test", currency="USD", horizon=Horizon(start=start, months=months), as_of=AS_OF, headroom=headroom,
        workloads=workloads, supply=Supply(**values), finance=FINANCE,
        risk=RiskAppetite(scenarios=1, cvar_alpha=0.95, cvar_weight=0.0, max_share={}, min_channels=1, seed=7),
        assumptions=(Assumption(path="finance.wacc", value="10 %", reason="test", source="test"),), warnings=(),
        digest="scenario",
    )  # fmt: skip


def service(peak: float = 20.0, *, growth: float = 0.0, profile: str = "office-hours", **more):
    traffic = TrafficProfile(
        peak=peak, profile=profile, timezone="America/New_York", growth=Growth(p10=growth, p50=growth, p90=growth),
        origin="peak", derivation=f"{peak} req/s as stated",
    )  # fmt: skip
    return perf.serving(perf.LLAMA_70B, **({"name": "chat", "traffic": traffic, "slo": Slo(ttft_p95=0.8, tpot_p95=0.045)} | more))


def pretraining(days: float = 60.0, *, start: str = "2027-02", tokens: float = 1e11, **more):
    window = Window(start=start, finish_within=days * DAY)
    return perf.training(perf.LLAMA_8B, **({"name": "pretrain", "tokens": tokens, "window": window} | more))


def fine_tuning(**more):
    values = {
        "name": "tune", "kind": "fine-tune", "tokens": 2e8, "global_batch": 5e5, "sequence": 4096, "repeat_every": 7 * DAY,
        "finish_within": 2 * DAY,
    } | more  # fmt: skip
    return perf.training(perf.LLAMA_8B, **values)


def owned(count: int = 8, name: str = "dgx-h100") -> OwnedServers:
    return OwnedServers(server=name, count=count, site="dc", since="2025-06")


def plan(made: Scenario, offers: Sequence[Offer] | None = None, apis: Sequence[Offer] = (), **parameters: float) -> Plan:
    return make_plan(made, catalogue(offers, **parameters), apis)
