"""Best replicas of a serving workload on a platform within its latency promises, and why others cannot."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flopwise.domain.hardware import Platform
from flopwise.domain.mode import Layout, Mode, Refusal
from flopwise.domain.model_arch import ModelArch
from flopwise.domain.provenance import Evidence
from flopwise.domain.workload import ServingWorkload, Slo
from flopwise.ground.units import show
from flopwise.perf.bottleneck import COMPUTE, INTERCONNECT, MEMORY_BANDWIDTH, MEMORY_CAPACITY
from flopwise.perf.constants import ENGINE_SHARE, KNEE, KV_FILL, SERVING_INTERVAL, ServingFactors
from flopwise.perf.evidence import calibrated, interval, precision_refusal
from flopwise.perf.inference import (
    ReplicaArrays,
    ServingJob,
    SteadyState,
    cache_capacity,
    replica_memory,
    steady_state,
)
from flopwise.perf.kv import kv_bytes, kv_bytes_per_token
from flopwise.perf.layouts import divisors, tensor_degrees
from flopwise.perf.result import SearchResult

#: Halvings of the interval that holds the largest batch within the promises: relative precision 2^-20.
_HALVINGS = 20
_PIPELINES = (1, 2, 4, 8)
_LARGEST_REPLICA = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class _Replicas:
    """All replicas, arrays of one length: running requests, planned and saturation rate, whether it fits and keeps."""

    replica: ReplicaArrays
    batch: NDArray[np.float64]
    state: SteadyState
    rate: NDArray[np.float64]
    saturation: NDArray[np.float64]
    fits: NDArray[np.bool_]
    keeps: NDArray[np.bool_]
    most: NDArray[np.float64]


def search_serving(
    workload: ServingWorkload, platform: Platform, *, top: int = 5, factors: ServingFactors | None = None
) -> SearchResult:
    """Best replicas, best rate per accelerator first, at most ``top``.

    Args:
        workload: model, precisions, token counts and promises; its traffic does not matter here.
        platform: device, server size, network.
        top: how many modes to keep; the best of each replica size come first.
        factors: constants of the step model; the shipped ones by default.

    Returns:
        Modes whose rate is in req/s of one replica within the promises, at or below the knee; refusals when
        none can: for memory (bytes missing), latency (seconds missed at batch 1) or precision.
    """
    refused = precision_refusal(workload.name, platform, workload.precision)
    if refused:
        return SearchResult(modes=(), refusals=(refused,), evaluated=0)
    job = serving_job(workload)
    found = _evaluate(job, workload.slo, platform, _candidates(job.arch, platform), factors)
    evaluated = int(found.batch.size)
    usable = np.flatnonzero(found.fits & found.keeps)
    if not usable.size:
        refusal = _latency_refusal if found.fits.any() else _memory_refusal
        return SearchResult(modes=(), refusals=(refusal(workload, job, platform, found),), evaluated=evaluated)
    order = _order(found, usable)[:top]
    modes = tuple(_mode(workload, job, platform, found, int(row)) for row in order)
    return SearchResult(modes=modes, refusals=(), evaluated=evaluated)


def serving_job(workload: ServingWorkload) -> ServingJob:
    """The part of a workload that the step model needs."""
    return ServingJob(
        arch=workload.model,
        precision=workload.precision,
        kv_precision=workload.kv_precision,
        input_mean=workload.input.mean,
        input_p95=workload.input.p95,
        output_mean=workload.output.mean,
        prefix_cache_hit=workload.prefix_cache_hit,
    )


def _candidates(arch: ModelArch, platform: Platform) -> ReplicaArrays:
    """Replicas as arrays of one length: whole servers, or parts of one."""
    rows = [
        (tp, pp, dp)
        for tp in tensor_degrees(arch, platform.accelerators)
        for pp in _PIPELINES
        for dp in _data_degrees(arch)
        if pp <= arch.layers and _stands(tp * pp * dp, platform)
    ]
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return ReplicaArrays(tp=table[:, 0], pp=table[:, 1], dp=table[:, 2])


def _data_degrees(arch: ModelArch) -> list[int]:
    """Data-parallel attention serves mixtures only: experts are split over the same ranks."""
    if arch.experts is None:
        return [1]
    return [degree for degree in divisors(arch.experts.count) if degree <= _LARGEST_REPLICA]


def _stands(size: int, platform: Platform) -> bool:
    """Inside one server, or on whole servers with a network between them."""
    if size <= platform.accelerators:
        return True
    return size <= _LARGEST_REPLICA and size % platform.accelerators == 0 and platform.network_bandwidth > 0.0


def _evaluate(job: ServingJob, slo: Slo, platform: Platform, replica: ReplicaArrays, factors: ServingFactors | None) -> _Replicas:
    """Largest batch of every replica that cache, promises and knee allow, by bisection: latency and rate rise with it.

    Complexity: replicas x 20 evaluations, vectorised over replicas.
    """
    _, requests = cache_capacity(job, platform, replica)
    most = np.floor(KV_FILL * np.asarray(requests))
    highest = np.maximum(most, 1.0)
    saturation = np.asarray(steady_state(job, platform, replica, highest, factors).rate)
    low, high = np.ones_like(highest), highest.copy()
    for _ in range(_HALVINGS):
        middle = np.sqrt(low * high)
        state = steady_state(job, platform, replica, middle, factors)
        good = _keeps(state, slo) & (np.asarray(state.rate) <= KNEE * saturation)
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    state = steady_state(job, platform, replica, low, factors)
    return _Replicas(
        replica=replica,
        batch=low,
        state=state,
        rate=np.minimum(np.asarray(state.rate), KNEE * saturation),
        saturation=saturation,
        fits=np.asarray(most >= 1.0, dtype=np.bool_),
        keeps=_keeps(state, slo),
        most=most,
    )


def _keeps(state: SteadyState, slo: Slo) -> NDArray[np.bool_]:
    ttft = np.asarray(state.ttft_p95) <= (slo.ttft_p95 if slo.ttft_p95 is not None else np.inf)
    return ttft & (np.asarray(state.tpot_p95) <= (slo.tpot_p95 if slo.tpot_p95 is not None else np.inf))


def _order(found: _Replicas, usable: NDArray[np.int64]) -> NDArray[np.int64]:
    """The best of each size first, then the others, each by rate per accelerator."""
    size = np.asarray(found.replica.accelerators)[usable]
    each = found.rate[usable] / size
    best = np.array([each[index] >= each[size == size[index]].max() for index in range(len(usable))])
    return usable[np.lexsort((size, -each, ~best))]


def _mode(workload: ServingWorkload, job: ServingJob, platform: Platform, found: _Replicas, row: int) -> Mode:
    layout = _layout(job.arch, found.replica, row)
    known = calibrated(platform)
    group = ("experts" if job.arch.experts else "dense") if known else "uncalibrated"
    detail = _detail(job, platform, found, row)
    load = _load(found, row, detail)
    full = detail["batch"] >= found.most[row] * (1.0 - 1e-3)
    return Mode(
        workload=workload.name,
        accelerator=platform.accelerator.id,
        accelerators=layout.accelerators,
        layout=layout,
        precision=workload.precision,
        spans_servers=layout.accelerators > platform.accelerators,
        rate=float(found.rate[row]),
        rate_unit="req/s",
        interval=interval(float(found.rate[row]), SERVING_INTERVAL[group]),
        evidence=Evidence.PUBLISHED if known else Evidence.DATASHEET,
        memory=detail["memory.weights"] + detail["memory.kv_cache"] + detail["memory.other"],
        memory_available=platform.accelerator.memory.value * ENGINE_SHARE,
        bottleneck=MEMORY_CAPACITY if full else max((COMPUTE, MEMORY_BANDWIDTH, INTERCONNECT), key=lambda key: load[key]),
        load=load,
        detail=detail,
        notes=_notes(job, detail, full=full),
    )


def _layout(arch: ModelArch, replica: ReplicaArrays, row: int) -> Layout:
    tp, pp, dp = (int(np.asarray(getattr(replica, field.name))[row]) for field in fields(replica))
    return Layout(tp=tp, pp=pp, dp=dp, ep=tp * dp if arch.experts else 1, zero_stage=0)


def _pick(value: Any, row: int) -> float:  # noqa: ANN401 - a float, or an array over replicas
    array = np.ravel(np.asarray(value, dtype=np.float64))
    return float(array[row if array.size > 1 else 0])


def _detail(job: ServingJob, platform: Platform, found: _Replicas, row: int) -> dict[str, float]:
    state, rate = found.state, float(found.rate[row])
    batch = float(found.batch[row])
    one = ReplicaArrays(
        **{field.name: np.atleast_1d(np.asarray(getattr(found.replica, field.name))[row]) for field in fields(found.replica)}
    )
    memory = replica_memory(job, platform, one)
    tokens, requests = cache_capacity(job, platform, one)
    space = _pick(memory.cache_space, 0)
    return {
        "ttft_p95": _pick(state.ttft_p95, row),
        "ttft_mean": _pick(state.ttft_mean, row),
        "tpot_p95": _pick(state.tpot_p95, row),
        "tpot_mean": _pick(state.tpot_mean, row),
        "saturation": float(found.saturation[row]),
        "batch": batch,
        "max_batch_memory": float(found.most[row]),
        "kv_bytes_per_token": kv_bytes_per_token(job.arch, job.kv_precision),
        "kv_bytes_per_request": float(kv_bytes(job.arch, job.kv_precision, job.context)),
        "kv_capacity_tokens": _pick(tokens, 0),
        "output_tokens_per_s": rate * job.output_mean,
        "prefill_time": _pick(state.prefill, row),
        "step_time": _pick(state.decode, row),
        "saturation_rate": float(found.saturation[row]),
        "utilisation": rate / float(found.saturation[row]),
        "memory.weights": _pick(memory.weights, 0),
        "memory.kv_cache": space * batch / max(_pick(requests, 0), 1.0),
        "memory.cache_space": space,
        "memory.other": _pick(memory.other, 0),
    }


def _load(found: _Replicas, row: int, detail: dict[str, float]) -> dict[str, float]:
    """Share of memory in use, and of the time of a step (decodes and their share of prompts) by resource."""
    step, total = found.state.step, _pick(found.state.step.total, row)
    used = detail["memory.weights"] + detail["memory.kv_cache"] + detail["memory.other"]
    return {
        MEMORY_CAPACITY: used / (detail["memory.weights"] + detail["memory.cache_space"] + detail["memory.other"]),
        COMPUTE: _pick(step.compute, row) / total,
        MEMORY_BANDWIDTH: _pick(step.memory_bandwidth, row) / total,
        INTERCONNECT: _pick(step.interconnect, row) / total,
    }


def _notes(job: ServingJob, detail: dict[str, float], *, full: bool) -> tuple[str, ...]:
    notes: list[str] = []
    if full:
        notes.append("the cache limits how many requests run at once")
    if detail["utilisation"] >= KNEE - 1e-6:
        notes.append(f"planned at {show(KNEE, '1')} of saturation, the knee of time to first token")
    if job.arch.kv_upper_bound:
        notes.append("the cache size of this attention is an upper bound")
    return tuple(notes)


def _latency_refusal(workload: ServingWorkload, job: ServingJob, platform: Platform, found: _Replicas) -> Refusal:
    """The replica that comes closest at batch 1, and what it misses."""
    ttft = np.where(found.fits, np.asarray(found.state.ttft_p95), np.inf)
    tpot = np.where(found.fits, np.asarray(found.state.tpot_p95), np.inf)
    slo = workload.slo
    over_first = ttft / slo.ttft_p95 if slo.ttft_p95 else np.zeros_like(ttft)
    over_token = tpot / slo.tpot_p95 if slo.tpot_p95 else np.zeros_like(tpot)
    row = int(np.argmin(np.maximum(over_first, over_token)))
    first = bool(over_first[row] >= over_token[row])
    name, value, promise = ("TTFT", ttft[row], slo.ttft_p95) if first else ("TPOT", tpot[row], slo.tpot_p95)
    missed = float(value) - float(promise or 0.0)
    layout = _layout(job.arch, found.replica, row)
    return Refusal(
        workload=workload.name,
        accelerator=platform.accelerator.id,
        constraint="latency",
        shortfall=missed,
        unit="s",
        message=(
            f"{job.arch.name} on {layout.accelerators} x {platform.accelerator.name} (tp {layout.tp}, pp {layout.pp}, "
            f"dp {layout.dp}) reaches {name} p95 {show(float(value), 's')} with one request running; "
            f"promised {show(float(promise or 0.0), 's')}: {show(missed, 's')} over"
        ),
        remedy=_faster(workload, first=first),
    )


def _faster(workload: ServingWorkload, *, first: bool) -> str:
    steps = ["a device with more compute" if first else "a device with more memory bandwidth", "more tensor parallelism"]
    if workload.precision in {"bf16", "fp16"}:
        steps.insert(0, "fp8 weights")
    if first:
        steps.append("shorter prompts or a higher prefix cache hit rate")
    return f"use {', '.join(steps[:-1])}, or {steps[-1]}; or relax the promise"


def _memory_refusal(workload: ServingWorkload, job: ServingJob, platform: Platform, found: _Replicas) -> Refusal:
    """The replica that misses by least room for the weights and one mean request."""
    memory = replica_memory(job, platform, found.replica)
    space = np.asarray(memory.cache_space)
    one = float(kv_bytes(job.arch, job.kv_precision, job.context)) / KV_FILL
    split = np.asarray(found.replica.pp) * np.minimum(
        np.asarray(found.replica.tp), 1.0 if job.arch.latent else float(job.arch.kv_heads)
    )
    missing = one / split - space
    row = int(np.argmin(missing))
    layout = _layout(job.arch, found.replica, row)
    need = float(missing[row]) + platform.accelerator.memory.value * ENGINE_SHARE
    total = need * layout.accelerators
    count = int(np.ceil(total / (platform.accelerator.memory.value * ENGINE_SHARE)))
    smaller = "; or fp8 weights" if workload.precision in {"bf16", "fp16"} else ""
    return Refusal(
        workload=workload.name,
        accelerator=platform.accelerator.id,
        constraint="memory",
        shortfall=float(missing[row]),
        unit="B",
        message=(
            f"{job.arch.name} on {layout.accelerators} x {platform.accelerator.name} needs {show(need, 'B')} of "
            f"{show(platform.accelerator.memory.value * ENGINE_SHARE, 'B')} per accelerator for weights and one request: "
            f"{show(float(missing[row]), 'B')} missing"
        ),
        remedy=(
            f"needs at least {count} accelerators of this kind in one replica, or {show(need / ENGINE_SHARE, 'B')} each{smaller}"
        ),
    )
