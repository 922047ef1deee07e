"""Figures of one workload: demand, rate, memory, goodput, what is left undone, cost per unit of work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from flopwise.domain.mode import Mode
from flopwise.domain.plan import DemandRow
from flopwise.domain.provenance import Evidence, Figure
from flopwise.domain.workload import ServingWorkload, TrainingWorkload
from flopwise.ground.units import DAY, HOUR, MILLION_TOKENS, PETA, show
from flopwise.perf.constants import KNEE, MEMORY_INTERVAL
from flopwise.perf.evidence import interval
from flopwise.planning.demand.modes import Reliability, recovery
from flopwise.planning.demand.needs import requests_in
from flopwise.planning.plan.backing import backing, weakest
from flopwise.planning.plan.demand_rows import main_mode, training_token_flops
from flopwise.planning.plan.uncertainty import Uncertainty, around, exact, relative
from flopwise.planning.plan.world import World
from flopwise.planning.sourcing.choose import pool_rate
from flopwise.planning.sourcing.problem import Use

#: Work is counted in units of 10^15 FLOP/s for an hour.
PFLOP_HOUR = PETA * HOUR
#: Share of a month's work that counts as left undone; less is the tolerance of the solver.
_LITTLE = 1e-3
_MODEL = "step model of flopwise.perf, constants fitted to public measurements; errors on held-out rows are in the documentation"
_DETAIL_UNITS = {
    "step_time": "s",
    "ttft_p95": "s",
    "tpot_mean": "s",
    "tpot_p95": "s",
    "saturation": "req/s",
    "mfu_causal": "1",
    "bubble": "1",
    "utilisation": "1",
    "kv_bytes_per_token": "B",
    "exposed_communication_share": "1",
}


def workload_figures(world: World, row: DemandRow, uncertainty: Uncertainty) -> list[Figure]:
    """Figures of one workload, by the ids ``workloads.<name>.*``."""
    name = row.workload
    key, mode = f"workloads.{name}", main_mode(world, name)
    figures = [
        Figure(
            id=f"{key}.demand.work",
            value=row.work,
            unit=row.work_unit,
            interval=around(row.work, _growth_factors(world, name, weighted=True)),
            evidence=Evidence.COMPUTED,
            label=f"{name}: work over the horizon",
            formula="; ".join(row.derivation[:3]),
            inputs={"model": row.model},
        ),
        Figure(
            id=f"{key}.demand.peak",
            value=max(month.peak for month in row.months),
            unit=row.rate_unit,
            interval=around(max(month.peak for month in row.months), _growth_factors(world, name, weighted=False)),
            evidence=Evidence.COMPUTED,
            label=f"{name}: highest rate before headroom",
            formula="; ".join(row.derivation),
            inputs={},
        ),
        Figure(
            id=f"{key}.unmet",
            value=row.unmet_share,
            unit="1",
            interval=_unmet_interval(world, row),
            evidence=weakest([Evidence.COMPUTED, *([mode.evidence] if mode is not None else [])]),
            label=f"{name}: share of the work that the plan cannot do",
            formula="unmet work / work",
            inputs={
                month: f"{share:.1%} of its requests"
                for month, share in zip(world.months, world.unmet_by_month(name), strict=True)
                if share > _LITTLE
            },
        ),
    ]
    if mode is not None:
        figures.extend(_mode_figures(world, name))
    return [*figures, *_cost_of_work(world, name, row, uncertainty)]


def _unmet_interval(world: World, row: DemandRow) -> tuple[float, float]:
    """Share left undone if the mode is as fast or as slow as its interval says; the headroom makes up for some of it."""
    mode, share = main_mode(world, row.workload), row.unmet_share
    if mode is None:
        return exact(share)
    spare = 1 + world.problem.headroom if share == 0 else 1.0
    slow, fast = (edge / mode.rate for edge in mode.interval)
    return (min(max(1 - (1 - share) * fast, 0.0), share), max(1 - (1 - share) * slow * spare, share))


def _growth_factors(world: World, name: str, *, weighted: bool) -> tuple[float, float]:
    """Demand under slow and fast growth over that under the middle one: in the last month, or over all months."""
    workload = world.workloads[name]
    if isinstance(workload, TrainingWorkload):
        return (1.0, 1.0)
    need = next(item for item in world.needs.serving if item.workload.name == name)
    growth, month = workload.traffic.growth, np.maximum(np.arange(len(world.months)) - int(need.active.argmax()), 0)
    weights = need.peak if weighted else (need.peak == need.peak.max()).astype(float)
    slow, fast = (
        float(np.average(((1 + edge) / (1 + growth.p50)) ** month, weights=weights)) if weights.any() else 1.0
        for edge in (growth.p10, growth.p90)
    )
    return (slow, fast)


def _mode_figures(world: World, name: str) -> list[Figure]:
    mode, key = main_mode(world, name), f"workloads.{name}.mode"
    assert mode is not None  # noqa: S101 - the caller checked
    layout = mode.layout
    split = f"tp {layout.tp}, pp {layout.pp}, dp {layout.dp}, ep {layout.ep}"
    words = f"{mode.accelerators} x {mode.accelerator}, {split}, {mode.precision}"
    workload, known = world.workloads[name], world.catalogue.accelerator(mode.accelerator)
    facts = (known.memory, known.memory_bandwidth, *known.peak.values(), *known.achievable.values())
    sources = (*sorted({f"{fact.source}, {fact.as_of}" for fact in facts}), _MODEL)
    inputs = {"mode": words, "bottleneck": mode.bottleneck, **{item: f"{share:.0%}" for item, share in mode.load.items()}}
    figures = [
        Figure(
            id=f"{key}.rate",
            value=mode.rate,
            unit=mode.rate_unit,
            interval=mode.interval,
            evidence=mode.evidence,
            label=f"{name}: rate of one {'gang' if mode.rate_unit == 'tokens/s' else 'replica'}",
            formula=_rate_formula(mode.rate_unit),
            inputs={**inputs, **_work_of_one(world.workloads[name], mode), **_details(mode.detail)},
            sources=sources,
        ),
        Figure(
            id=f"{key}.memory",
            value=mode.memory,
            unit="B",
            interval=interval(mode.memory, MEMORY_INTERVAL["training" if isinstance(workload, TrainingWorkload) else "serving"]),
            evidence=mode.evidence,
            label=f"{name}: memory on the worst accelerator",
            formula="weights + gradients + optimizer + activations + KV cache + other",
            inputs={
                **{item: show(value, "B") for item, value in mode.detail.items() if item.startswith("memory.")},
                "available": show(mode.memory_available, "B"),
            },
            sources=sources,
        ),
    ]
    use = next((use for use in world.problem.uses if use.workload == name and use.choice.mode is mode), None)
    if use is not None and isinstance(workload, TrainingWorkload):
        known_rates = world.catalogue.parameters
        used = ("reliability.failures_per_accelerator_day", "reliability.restart_time", "reliability.checkpoint_bandwidth")
        figures.append(
            Figure(
                id=f"{key}.goodput",
                value=use.rate / mode.rate,
                unit="1",
                interval=_goodput_interval(world, workload, use),
                evidence=Evidence.PUBLISHED,
                label=f"{name}: share of time that makes progress (ETTR)",
                formula="1 - checkpoint/interval - (interval/2 + restart)/MTBF",
                inputs={
                    **{item: f"{known_rates[item].value:g} {known_rates[item].unit}" for item in used},
                    **_interruptions(world, use),
                },
                sources=tuple(f"{known_rates[item].source}, {known_rates[item].as_of}" for item in used),
            )
        )
    return figures


def _interruptions(world: World, use: Use) -> dict[str, str]:
    """What spot capacity adds to the failures."""
    pool = world.problem.pools[use.pool]
    return {"interruptions of a server": f"{pool.interruptions * HOUR:g} per hour"} if pool.spot else {}


def _goodput_interval(world: World, workload: TrainingWorkload, use: Use) -> tuple[float, float]:
    """Goodput at the most and the fewest failures that published clusters report."""
    known = world.catalogue.parameters
    failures, reliability = known["reliability.failures_per_accelerator_day"], Reliability.of(known)
    edges = (failures.high or failures.value, failures.low or failures.value)
    size, pool = use.choice.mode.accelerators, world.problem.pools[use.pool]
    met = (recovery(workload, size, replace(reliability, failures=edge / DAY)) for edge in edges)
    worst, best = (pool_rate(pool, replace(use.choice, recovery=item)) / use.choice.mode.rate for item in met)
    return (worst, best)


def _rate_formula(unit: str) -> str:
    if unit == "tokens/s":
        return (
            "global batch / step time; step time = (micro-batches x slowest stage + bubble + pipeline sends + exposed exchange "
            "+ optimizer) x jitter, a stage being products, attention, memory-bound work and host time"
        )
    return (
        "min(batch / (output tokens x mean time per output token), knee x saturation) at the largest batch that cache and "
        "promises allow; steps that carry prompts are in the mean time per output token"
    )


def _work_of_one(workload: ServingWorkload | TrainingWorkload, mode: Mode) -> dict[str, str]:
    """What one step, or one request, is: the inputs of the rate beside times."""
    if isinstance(workload, TrainingWorkload):
        return {"global batch": show(mode.rate * mode.detail["step_time"], "tokens")}
    return {"output tokens": f"{workload.output.mean:,.0f}", "knee": show(KNEE, "1")}


def _details(detail: Mapping[str, float]) -> dict[str, str]:
    shown = {key: show(detail[key], unit) for key, unit in _DETAIL_UNITS.items() if key in detail}
    return shown | ({"batch": f"{detail['batch']:.0f}"} if "batch" in detail else {})


def _cost_of_work(world: World, name: str, row: DemandRow, uncertainty: Uncertainty) -> list[Figure]:
    """Cost per million tokens, and per useful PFLOP-hour of training; nothing where nothing is done."""
    cost, done = world.workload_cash.get(name, 0.0), row.work * (1 - row.unmet_share)
    if cost <= 0 or done <= 0:
        return []
    workload = world.workloads[name]
    lines = (item for item, share in zip(world.lines, world.workload_share[name], strict=True) if share > 0)
    evidence = backing(world.problem, world.sourced, lines)
    spread = relative(float(world.workload_share[name] @ world.line_npv), uncertainty.workload(name))
    if isinstance(workload, TrainingWorkload):
        tokens = done / training_token_flops(workload)
        useful = done / PFLOP_HOUR
        per_flop = Figure(
            id=f"workloads.{name}.cost.per_useful_pflop_hour",
            value=cost / useful,
            unit="USD/PFLOP-h",
            interval=around(cost / useful, spread),
            evidence=evidence,
            label=f"{name}: cost per useful PFLOP-hour (model FLOPs, causal, no recompute)",
            formula="cash for the workload / (model FLOPs / 3.6e18)",
            inputs={"cash for the workload": show(cost, "USD"), "model FLOPs": show(done, "FLOP")},
        )
        return [_per_million(name, cost, tokens, "trained", spread, evidence=evidence), per_flop]
    need = next(item for item in world.needs.serving if item.workload.name == name)
    requests = float(requests_in(need, world.needs.blocks).sum()) * (1 - row.unmet_share)
    output = requests * workload.output.mean
    return [
        _per_million(name, cost, done, "served, prompt and output", spread, evidence=evidence),
        _per_million(name, cost, output, "of output", spread, evidence=evidence, suffix="_output"),
    ]


def _per_million(
    name: str, cost: float, tokens: float, words: str, spread: tuple[float, float], *, evidence: Evidence, suffix: str = ""
) -> Figure:
    value = cost / tokens * MILLION_TOKENS
    return Figure(
        id=f"workloads.{name}.cost.per_million{suffix}_tokens",
        value=value,
        unit="USD/1M tokens",
        interval=around(value, spread),
        evidence=evidence,
        label=f"{name}: cost per million tokens {words}",
        formula="cash for the workload / tokens x 1e6; idle hours of a pool, headroom included, fall on the work that uses it",
        inputs={"cash for the workload": show(cost, "USD"), "tokens": show(tokens, "tokens")},
    )
