"""A small plan made by hand, and the folder that holds it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from flopwise.domain.mode import Layout, Mode
from flopwise.domain.plan import (
    PLAN_SCHEMA,
    CostLine,
    DemandRow,
    Headroom,
    HeadroomLine,
    Infeasibility,
    ModeRow,
    MonthlyNeed,
    Plan,
    PlanAssumption,
    PlanOrder,
    PoolMonth,
    PoolRow,
    Reference,
    Status,
    Summary,
)
from flopwise.domain.provenance import Evidence, Figure
from flopwise.domain.scenario import Assumption

MONTHS = ("2027-01", "2027-02")


def figure(name: str, value: float, unit: str, **inputs: str) -> Figure:
    return Figure(
        id=name, value=value, unit=unit, interval=(value * 0.9, value * 1.1), evidence=Evidence.PUBLISHED,
        label=name.replace(".", " "),
        formula=" + ".join(inputs) or "stated", inputs=inputs, sources=("a source, 2026-11",),
    )  # fmt: skip


def mode(accelerator: str = "h100-sxm") -> Mode:
    return Mode(
        workload="chat", accelerator=accelerator, accelerators=2, layout=Layout(tp=2, pp=1, dp=1), precision="fp8",
        spans_servers=False,
        rate=4.0, rate_unit="req/s", interval=(3.0, 5.0), evidence=Evidence.PUBLISHED, memory=60e9, memory_available=72e9,
        bottleneck="memory bandwidth", load={"compute": 0.4}, detail={"tpot_p95": 0.04},
    )  # fmt: skip


def order(servers: int = 2, order_by: str = "2026-12-20", amount: float = 600e3, identity: str = "o1") -> PlanOrder:
    return PlanOrder(
        id=identity, kind="purchase", channel="oem", offer="oem/dgx-h100", pool="here", server="dgx-h100", accelerator="h100-sxm",
        servers=servers, accelerators=8 * servers, order_by=order_by, arrives="2027-02", until=None, unit_price=300e3,
        price_per="server", amount=amount, waits_for="", lead_weeks=12.0, why="cheapest", stale=False, source="list price",
    )  # fmt: skip


def pool(peak: float = 12.0) -> PoolRow:
    month = PoolMonth(
        month=MONTHS[0], owned=8, purchased=8, reserved=0, on_demand_mean=0, on_demand_peak=0, spot_mean=0, spot_peak=0,
        used_mean=6, used_peak=peak,
    )  # fmt: skip
    return PoolRow(
        pool="here", platform="dgx-h100", accelerator="h100-sxm", server="dgx-h100", channel="oem", place="here",
        accelerators_per_server=8, months=(month,),
    )  # fmt: skip


def costs(hardware: float = 600e3) -> tuple[CostLine, ...]:
    return tuple(
        CostLine(
            component=name, label=label, focus_category="Compute", year=year, amount=amount, npv=amount * 0.95, formula="a x b"
        )
        for name, label, amount in (("hardware", "Servers", hardware), ("power", "Electricity", 20e3))
        for year in (2027, 2028)
    )


def assumption(path: str, value: str, swing: float | None) -> PlanAssumption:
    noted = Assumption(path=path, value=value, reason="not stated", source="flopwise default")
    return PlanAssumption(assumption=noted, low="", high="", swing=swing)


def make_plan(**changes: object) -> Plan:
    """The plan, with fields replaced."""
    total = sum(line.npv for line in costs())
    fields: dict[str, object] = {
        "schema": PLAN_SCHEMA, "name": "small", "flopwise": "0.1.0", "scenario_digest": "a" * 64, "catalogue_digest": "b" * 64,
        "seed": 7, "as_of": "2026-12-01", "currency": "USD", "months": MONTHS, "status": Status.OPTIMAL, "gap": 0.001,
        "summary": Summary(
            headline="Buy 2 dgx-h100.", total_npv=total, total_npv_interval=(total * 0.9, total * 1.1),
            standing_npv=0.0, total_cash=total / 0.95,
            best_reference="rent all", saving_vs_best_reference=0.2, met_share=1.0, peak_accelerators=12.0, next_actions=(),
        ),
        "demand": (
            DemandRow(
                workload="chat", kind="serving", model="Llama", rate_unit="req/s", work=1e9, work_unit="tokens", memory={},
                derivation=("5 req/s stated",), months=(MonthlyNeed(month=MONTHS[0], mean=2, peak=5),), unmet_share=0.0,
            ),
        ),
        "headroom": Headroom(budget=0.2, lines=(HeadroomLine(name="failures", share=0.05, reason="x"),), unallocated=0.15),
        "modes": (ModeRow(platform="dgx-h100", mode=mode(), share=1.0, unit_cost=1.0, verdict="chosen"),),
        "refusals": (), "orders": (order(),), "pools": (pool(),), "hosted": (), "hours": (), "costs": costs(),
        "references": (
            Reference(
                name="rent all", description="everything on demand", feasible=True, npv=total * 1.25, total=total * 1.3, unmet={},
                regret=total * 0.25, chosen=False, evidence=Evidence.PUBLISHED, note="",
            ),
        ),
        "break_even": (), "coverage": (), "risk": (), "fabric": (), "infeasibilities": (),
        "assumptions": tuple(assumption(f"finance.x{number}", str(number), 1e3 * number) for number in range(8)),
        "stated": {}, "warnings": ("something to know",),
        "figures": {
            item.id: item
            for item in (
                figure("cost.total_npv", total, "USD", hardware="cost.hardware", power="19 k USD"),
                figure("cost.hardware", 1.14e6, "USD", servers="2", price="300 k USD"),
            )
        },
    }  # fmt: skip
    return Plan(**(fields | changes))  # type: ignore[arg-type]


def infeasible() -> Plan:
    item = Infeasibility(
        workload="chat", unmet_share=0.4, constraint="power", message="0.2 MW missing", remedy="raise the power of here"
    )
    return make_plan(status=Status.INFEASIBLE, infeasibilities=(item,))


def write(plan: Plan, folder: Path) -> Path:
    """Write plan.json as the product does."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "plan.json"
    path.write_text(json.dumps(asdict(plan)), encoding="utf-8")
    return path
