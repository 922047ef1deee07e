"""What is needed, and on which modes: rows of the plan."""

from __future__ import annotations

import numpy as np

from flopwise.domain.mode import Mode
from flopwise.domain.plan import DemandRow, HourRow, ModeRow, MonthlyNeed
from flopwise.domain.workload import TrainingWorkload
from flopwise.ground.units import DAY, HOUR, HOURS_PER_DAY, MILLION_TOKENS, show
from flopwise.perf.flops import Convention, forward_flops, training_flops
from flopwise.perf.kv import kv_bytes_per_token
from flopwise.perf.parameters import count
from flopwise.planning.demand.blocks import DAY_TYPES
from flopwise.planning.demand.needs import ServingNeed, TrainingNeed, day_load, requests_in
from flopwise.planning.plan.world import World
from flopwise.planning.sourcing.choose import Candidate

#: Runners-up that the plan keeps beside the chosen modes, per workload.
_RUNNERS_UP = 8
#: Shares of work below this are rounding.
_LITTLE = 1e-6


def demand_rows(world: World) -> tuple[DemandRow, ...]:
    """One row per planned workload."""
    services = {need.workload.name: need for need in world.needs.serving}
    trainings = {need.workload.name: need for need in world.needs.training}
    return tuple(
        _serving_row(world, services[name]) if name in services else _training_row(world, trainings[name])
        for name in world.workloads
    )


def _serving_row(world: World, need: ServingNeed) -> DemandRow:
    workload = need.workload
    tokens = workload.input.mean + workload.output.mean
    requests = float(requests_in(need, world.needs.blocks).sum())
    per_request = tokens * float(forward_flops(workload.model, tokens))
    cache = kv_bytes_per_token(workload.model, workload.kv_precision)
    means = (need.rate * world.hours).sum(axis=1) / world.hours.sum(axis=1)
    first = int(need.active.argmax())
    derivation = (
        workload.traffic.derivation,
        (
            f"growth {show(workload.traffic.growth.p50, '1')} a month: {show(need.peak[first], 'req/s')} in "
            f"{world.months[first]} to {show(need.peak[-1], 'req/s')} in {world.months[-1]} at the peak, "
            f"{show(float(means.mean()), 'req/s')} on average ({workload.traffic.profile} days in {workload.traffic.timezone})"
        ),
        (
            f"{show(requests, 'requests')} x ({workload.input.mean:,.0f} in + {workload.output.mean:,.0f} out) = "
            f"{show(requests * tokens, 'tokens')}; {show(per_request, 'FLOP')} per request"
        ),
        (
            f"KV cache {show(cache, 'B')} per token at {workload.kv_precision}: "
            f"{show(cache * tokens, 'B')} for one mean request at its end"
        ),
    )
    return DemandRow(
        workload=workload.name,
        kind=workload.kind,
        model=workload.model.name,
        rate_unit="req/s",
        work=requests * tokens,
        work_unit="tokens",
        memory=_memory(world, workload.name),
        derivation=derivation,
        months=_months(world, means, need.peak),
        unmet_share=world.sourced.unmet.get(workload.name, 0.0),
    )


def _training_row(world: World, need: TrainingNeed) -> DemandRow:
    workload = need.workload
    each = training_token_flops(workload)
    flops = each * need.tokens
    seconds = world.hours.sum(axis=1) * HOUR
    monthly = need.monthly if need.monthly is not None else need.tokens * need.seconds / need.seconds.sum()
    derivation = (
        (
            f"{show(each, 'FLOP')} per token (causal attention at {workload.sequence} tokens, no recompute) x "
            f"{show(need.tokens, 'tokens')} = {show(flops, 'FLOP')}"
        ),
        f"{show(count(workload.model).total, 'parameters')}, {show(count(workload.model).active, 'active')} per token",
        (
            f"{show(need.run_tokens, 'tokens')} in {need.deadline / DAY:.1f} days: {show(need.gang_rate, 'tokens/s')} without"
            f" failures and headroom, {show(need.gang_rate * (1 + world.scenario.headroom), 'tokens/s')} with headroom"
        ),
        *_repeats(workload),
    )
    peak = np.where(need.active, need.gang_rate, 0.0)
    return DemandRow(
        workload=workload.name,
        kind=workload.kind,
        model=workload.model.name,
        rate_unit="tokens/s",
        work=flops,
        work_unit="FLOP",
        memory=_memory(world, workload.name),
        derivation=derivation,
        months=_months(world, monthly / seconds, peak),
        unmet_share=world.sourced.unmet.get(workload.name, 0.0),
    )


def _repeats(workload: TrainingWorkload) -> tuple[str, ...]:
    if not workload.repeat_every:
        return ()
    return (f"a run every {show(workload.repeat_every, 's')}, in every month of the horizon",)


def training_token_flops(workload: TrainingWorkload) -> float:
    """Model FLOPs of one trained token: causal attention, no recompute."""
    frozen = workload.lora_rank is not None
    return float(training_flops(workload.model, float(workload.sequence), Convention.CAUSAL, frozen=frozen))


def _months(world: World, mean: np.ndarray, peak: np.ndarray) -> tuple[MonthlyNeed, ...]:
    return tuple(
        MonthlyNeed(month=month, mean=float(low), peak=float(high))
        for month, low, high in zip(world.months, mean, peak, strict=True)
    )


def _memory(world: World, name: str) -> dict[str, float]:
    """Bytes by part on the worst accelerator of the mode that does most of the work, or of the cheapest one."""
    mode = main_mode(world, name)
    if mode is None:
        return {}
    prefix = "memory."
    return {
        key.removeprefix(prefix): value for key, value in mode.detail.items() if key.startswith(prefix) and "space" not in key
    }


def main_mode(world: World, name: str) -> Mode | None:
    """The mode that does most of a workload's work; the cheapest one when none runs."""
    uses = [(world.work_share[number], use) for number, use in enumerate(world.problem.uses) if use.workload == name]
    if uses:
        return max(uses, key=lambda item: (item[0], item[1].rate / item[1].servers))[1].choice.mode
    rest = sorted((item for item in world.considered.candidates if item.workload == name), key=lambda item: item.unit_cost)
    return rest[0].choice.mode if rest else None


def mode_rows(world: World) -> tuple[ModeRow, ...]:
    """Chosen modes first, then the runners-up by unit cost, with the reason each lost."""
    rows: list[ModeRow] = []
    for name in world.workloads:
        chosen = _chosen_rows(world, name)
        best = min((row.unit_cost for row in chosen if row.unit_cost is not None), default=None)
        seen = {(row.platform, row.mode.accelerators) for row in chosen}
        rows.extend(chosen)
        owned = any(world.problem.pools[number].owned.any() for number in _chosen_pools(world, name))
        rows.extend(_runner_up_rows(world, name, best, seen, owned=owned))
    return tuple(rows)


def _chosen_pools(world: World, name: str) -> list[int]:
    return [
        use.pool for number, use in enumerate(world.problem.uses) if use.workload == name and world.work_share[number] > _LITTLE
    ]


def _chosen_rows(world: World, name: str) -> list[ModeRow]:
    rows: dict[tuple[str, int], ModeRow] = {}
    for number, use in enumerate(world.problem.uses):
        share = world.work_share[number]
        if use.workload != name or share <= _LITTLE:
            continue
        key = (use.choice.platform.id, use.choice.mode.accelerators)
        pools = [world.problem.pools[use.pool].id]
        if key in rows:
            share += rows[key].share
            pools = [*rows[key].verdict.removeprefix("chosen in ").split(", "), *pools]
        cost = _per_million(_cheapest(world, name, *key), world.workloads[name])
        rows[key] = ModeRow(
            platform=key[0], mode=use.choice.mode, share=share, unit_cost=cost, verdict=f"chosen in {', '.join(pools)}"
        )
    return sorted(rows.values(), key=lambda row: -row.share)


def _cheapest(world: World, name: str, platform: str, size: int) -> float | None:
    costs = [
        item.unit_cost
        for item in world.considered.candidates
        if item.workload == name
        and item.contract
        and item.choice.platform.id == platform
        and item.choice.mode.accelerators == size
    ]
    return min(costs, default=None)


def _runner_up_rows(world: World, name: str, best: float | None, seen: set[tuple[str, int]], *, owned: bool) -> list[ModeRow]:
    by_platform: dict[str, Candidate] = {}
    for item in world.considered.candidates:
        key = item.choice.platform.id
        new = item.workload == name and item.contract is not None
        if new and (key not in by_platform or item.unit_cost < by_platform[key].unit_cost):
            by_platform[key] = item
    rows: list[ModeRow] = []
    for item in sorted(by_platform.values(), key=lambda candidate: candidate.unit_cost):
        if (item.choice.platform.id, item.choice.mode.accelerators) in seen or len(rows) >= _RUNNERS_UP:
            continue
        cost = _per_million(item.unit_cost, world.workloads[name])
        rows.append(
            ModeRow(
                platform=item.choice.platform.id,
                mode=item.choice.mode,
                share=0.0,
                unit_cost=cost,
                verdict=_verdict(item, cost, best, owned=owned),
            )
        )
    return rows


def _verdict(item: Candidate, cost: float | None, best: float | None, *, owned: bool) -> str:
    where = f"on {item.pool.id} ({item.contract.offer.kind.value})" if item.contract else f"on {item.pool.id}"
    if best is None or cost is None:
        return f"cheapest {where}"
    if cost <= best and owned:
        return f"cheaper {where} than new servers of the chosen kind, but those that stand already are paid"
    if cost <= best:
        return f"as cheap {where} at full use, but it does not fit the times, caps or limits as well"
    return f"{show(cost / best - 1, '1')} dearer per token at full use, cheapest {where}"


def _per_million(unit_cost: float | None, workload: object) -> float | None:
    """USD per million tokens from USD per unit of work: a request carries its tokens, training counts tokens itself."""
    if unit_cost is None:
        return None
    if isinstance(workload, TrainingWorkload):
        return unit_cost * MILLION_TOKENS
    tokens = workload.input.mean + workload.output.mean  # type: ignore[attr-defined]
    return unit_cost * MILLION_TOKENS / tokens


def hour_rows(world: World) -> tuple[HourRow, ...]:
    """Representative days of the last month with all workloads in it: need and accelerators in use by the hour."""
    month = _busiest_month(world)
    loads = {need.workload.name: day_load(need, month) for need in world.needs.serving}
    working = {
        pool.id: world.needs.blocks.by_hour(use.used_mean[month], month) * pool.accelerators
        for pool, use in zip(world.problem.pools, world.use, strict=True)
        if use.used_mean[month].any()
    }
    rows: list[HourRow] = []
    for day, day_name in enumerate(DAY_TYPES):
        for hour in range(HOURS_PER_DAY):
            need = {name: float(load[day, hour]) for name, load in loads.items()}
            used = {pool: float(by_hour[day, hour]) for pool, by_hour in working.items()}
            rows.append(HourRow(month=world.months[month], day=day_name, hour=hour, need=need, used=used))
    return tuple(rows)


def _busiest_month(world: World) -> int:
    """The month with most accelerators at work, the latest of equals."""
    used = np.zeros(len(world.months))
    for pool, use in zip(world.problem.pools, world.use, strict=True):
        used += (use.used_mean * world.hours).sum(axis=1) / world.hours.sum(axis=1) * pool.accelerators
    return int(len(used) - 1 - np.argmax(used[::-1]))
