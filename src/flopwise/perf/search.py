"""Best layouts of a training workload on a platform, and why the rest cannot run; the door to both searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwise.domain.hardware import Platform
from flopwise.domain.mode import Layout, Mode, Refusal
from flopwise.domain.provenance import Evidence
from flopwise.domain.workload import TrainingWorkload
from flopwise.ground.units import show
from flopwise.perf.bottleneck import COMPUTE, INTERCONNECT, MEMORY_BANDWIDTH, MEMORY_CAPACITY
from flopwise.perf.constants import MEMORY_RESERVE, TRAINING_INTERVAL, TrainingFactors
from flopwise.perf.evidence import calibrated, interval, precision_refusal
from flopwise.perf.flops import Convention, attention_flops, linear_flops, training_flops
from flopwise.perf.layouts import LayoutArrays, arrays, layout_at, training_layouts
from flopwise.perf.memory import TrainingMemory, training_memory
from flopwise.perf.result import SearchResult
from flopwise.perf.roofline import rate_key
from flopwise.perf.serving_search import search_serving
from flopwise.perf.training import StepTime, TrainingJob, micro_batches, step_time, step_tokens

__all__ = ["SearchResult", "available_memory", "search_serving", "search_training", "training_mode"]

#: A step this much longer than that of the best layout in endless memory makes memory capacity the bottleneck.
_MEMORY_BINDS = 1.05


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evaluated:
    """All layouts of one gang size: time per token (s), peak bytes, and which fit."""

    size: int
    layouts: LayoutArrays
    time: NDArray[np.float64]
    memory: NDArray[np.float64]
    fits: NDArray[np.bool_]


def available_memory(platform: Platform) -> float:
    """Bytes that a training process may plan with: all but the reserve."""
    return platform.accelerator.memory.value * (1.0 - MEMORY_RESERVE)


def search_training(
    workload: TrainingWorkload,
    platform: Platform,
    sizes: Sequence[int],
    *,
    top: int = 5,
    factors: TrainingFactors | None = None,
) -> SearchResult:
    """Best layout for each gang size, and the best alternatives of the largest size that runs.

    Args:
        workload: what is trained.
        platform: device, server size, network.
        sizes: gang sizes in accelerators.
        top: how many modes to keep of the largest size.
        factors: constants of the step model; the shipped ones by default.

    Returns:
        Modes sorted by size (rate in tokens/s of the gang in steady state, without failures) and one refusal
        per constraint that turned sizes away. Grows with the number of legal layouts, about a million a second.
    """
    refused = precision_refusal(workload.name, platform, workload.precision)
    if refused:
        return SearchResult(modes=(), refusals=(refused,), evaluated=0)
    job = _job(workload)
    modes: list[Mode] = []
    evaluated = 0
    largest: _Evaluated | None = None
    failed: list[_Evaluated] = []
    unlinked = [size for size in sorted(set(sizes)) if not _linked(platform, size)]
    for size in sorted(set(sizes) - set(unlinked)):
        found = _evaluate(job, platform, size, factors)
        evaluated += len(found.layouts)
        if found.fits.any():
            modes.extend(_modes(workload, job, platform, found, 1, factors))
            largest = found
        else:
            failed.append(found)
    refusals = _refusals(workload, job, platform, failed, modes)
    if unlinked:
        refusals.append(_network_refusal(workload, platform, unlinked[0]))
    if largest and top > 1:
        modes.extend(_modes(workload, job, platform, largest, top, factors)[1:])
    return SearchResult(modes=tuple(modes), refusals=tuple(refusals), evaluated=evaluated)


def training_mode(
    workload: TrainingWorkload, platform: Platform, layout: Layout, *, factors: TrainingFactors | None = None
) -> Mode:
    """The mode of one given layout, whether it fits or not: ``memory`` against ``memory_available`` says which.

    Raises:
        UnknownNameError: the device does not list the precision.
    """
    job = _job(workload)
    one = arrays(layout)
    return _mode(workload, job, platform, one, 0, factors=factors, crowded=False)


def _job(workload: TrainingWorkload) -> TrainingJob:
    return TrainingJob(
        arch=workload.model,
        sequence=workload.sequence,
        sequences=max(1, round(workload.global_batch / workload.sequence)),
        precision=workload.precision,
        lora_rank=workload.lora_rank,
    )


def _evaluate(job: TrainingJob, platform: Platform, size: int, factors: TrainingFactors | None) -> _Evaluated:
    layouts = training_layouts(job.arch, platform, size, job.sequences, job.sequence)
    times, memories = [np.empty(0)], [np.empty(0)]
    for chunk in layouts.chunks():
        times.append(np.asarray(step_time(job, platform, chunk, factors).total / step_tokens(job, chunk)))
        memories.append(np.asarray(_memory(job, chunk).total))
    memory = np.concatenate(memories)
    fits = memory <= available_memory(platform)
    return _Evaluated(size=size, layouts=layouts, time=np.concatenate(times), memory=memory, fits=fits)


def _memory(job: TrainingJob, layout: LayoutArrays) -> TrainingMemory:
    return training_memory(job.arch, layout, job.sequence, micro_batches(job, layout), job.lora_rank)


def _modes(
    workload: TrainingWorkload,
    job: TrainingJob,
    platform: Platform,
    found: _Evaluated,
    count: int,
    factors: TrainingFactors | None,
) -> list[Mode]:
    time = np.where(found.fits, found.time, np.inf)
    order = np.lexsort((found.memory, time))[:count]
    crowded = bool(found.time.min() * _MEMORY_BINDS < time.min())
    return [
        _mode(workload, job, platform, found.layouts, int(index), factors=factors, crowded=crowded)
        for index in order
        if np.isfinite(time[index])
    ]


def _mode(
    workload: TrainingWorkload,
    job: TrainingJob,
    platform: Platform,
    layouts: LayoutArrays,
    index: int,
    *,
    factors: TrainingFactors | None,
    crowded: bool,
) -> Mode:
    one = layouts.take(np.array([index]))
    step, memory = step_time(job, platform, one, factors), _memory(job, one)
    layout = layout_at(one, 0)
    rate = _first(step_tokens(job, one)) / _first(step.total)
    load = _load(step, memory, platform)
    known = calibrated(platform)
    group = ("experts" if workload.model.experts else "dense") if known else "uncalibrated"
    return Mode(
        workload=workload.name,
        accelerator=platform.accelerator.id,
        accelerators=layout.accelerators,
        layout=layout,
        precision=workload.precision,
        spans_servers=layout.accelerators > platform.accelerators,
        rate=rate,
        rate_unit="tokens/s",
        interval=interval(rate, TRAINING_INTERVAL[group]),
        evidence=Evidence.PUBLISHED if known else Evidence.DATASHEET,
        memory=_first(memory.total),
        memory_available=available_memory(platform),
        bottleneck=MEMORY_CAPACITY if crowded else max((COMPUTE, MEMORY_BANDWIDTH, INTERCONNECT), key=lambda key: load[key]),
        load=load,
        detail=_detail(job, platform, one, step, memory),
        notes=_notes(job, one),
    )


def _first(value: object) -> float:
    return float(np.ravel(np.asarray(value, dtype=np.float64))[0])


def _load(step: StepTime, memory: TrainingMemory, platform: Platform) -> dict[str, float]:
    total = _first(step.total)
    return {
        MEMORY_CAPACITY: _first(memory.total) / available_memory(platform),
        COMPUTE: _first(step.compute) / total,
        MEMORY_BANDWIDTH: _first(step.memory_bound) / total,
        INTERCONNECT: _first(step.communication) / total,
    }


def _detail(job: TrainingJob, platform: Platform, one: LayoutArrays, step: StepTime, memory: TrainingMemory) -> dict[str, float]:
    time = _first(step.total)
    layout = layout_at(one, 0)
    each = _first(step_tokens(job, one)) / time / layout.accelerators
    key = rate_key(platform.accelerator, job.precision) or job.precision
    peak = platform.accelerator.peak[key].value
    frozen = job.lora_rank is not None
    causal = _first(training_flops(job.arch, float(job.sequence), Convention.CAUSAL, frozen=frozen))
    full = _first(training_flops(job.arch, float(job.sequence), Convention.FULL, frozen=frozen))
    hardware = causal + _recomputed_flops(job, layout.recompute)
    return {
        "step_time": time,
        "mfu_causal": each * causal / peak,
        "mfu_full": each * full / peak,
        "hfu": each * hardware / peak,
        "tokens_per_s_per_accelerator": each,
        "bubble": _first(step.bubble) / time,
        "exposed_communication_share": _first(step.communication) / time,
        "host_share": _first(step.host) / time,
        "micro_batches": _first(micro_batches(job, one)),
        "memory.weights": _first(memory.weights),
        "memory.gradients": _first(memory.gradients),
        "memory.optimizer": _first(memory.optimizer),
        "memory.activations": _first(memory.activations),
        "memory.other": _first(memory.other),
    }


def _recomputed_flops(job: TrainingJob, policy: str) -> float:
    """Causal forward FLOPs per token that a recompute policy repeats."""
    attention = _first(attention_flops(job.arch, float(job.sequence)))
    return {"none": 0.0, "selective": attention, "full": attention + linear_flops(job.arch)}[policy]


def _notes(job: TrainingJob, one: LayoutArrays) -> tuple[str, ...]:
    run = round(_first(step_tokens(job, one)) / job.sequence)
    return () if run == job.sequences else (f"global batch rounded from {job.sequences} to {run} sequences",)


def _linked(platform: Platform, size: int) -> bool:
    return size <= platform.accelerators or platform.network_bandwidth > 0.0


def _network_refusal(workload: TrainingWorkload, platform: Platform, size: int) -> Refusal:
    return Refusal(
        workload=workload.name,
        accelerator=platform.accelerator.id,
        constraint="network",
        shortfall=float(size - platform.accelerators),
        unit="accelerators",
        message=f"a gang of {size} spans servers of {platform.accelerators}, and {platform.id} has no cluster network",
        remedy=f"use at most {platform.accelerators} accelerators, or an offer with a cluster network",
    )


def _refusals(
    workload: TrainingWorkload, job: TrainingJob, platform: Platform, failed: list[_Evaluated], modes: list[Mode]
) -> list[Refusal]:
    """One refusal for sizes that cannot be split, and one for sizes that lack memory: the one that misses by least."""
    refusals: list[Refusal] = []
    unsplit = [found for found in failed if not len(found.layouts)]
    short = [found for found in failed if len(found.layouts)]
    if unsplit:
        refusals.append(_batch_refusal(workload, job, platform, unsplit[0].size))
    if short:
        closest = min(short, key=lambda found: float(found.memory.min()))
        works = modes[0].accelerators if modes else _size_that_fits(job, platform, closest.size)
        refusals.append(_memory_refusal(workload, job, platform, closest, works))
    return refusals


def _batch_refusal(workload: TrainingWorkload, job: TrainingJob, platform: Platform, size: int) -> Refusal:
    return Refusal(
        workload=workload.name,
        accelerator=platform.accelerator.id,
        constraint="batch",
        shortfall=float(max(size - job.sequences, 1)),
        unit="accelerators",
        message=f"no split of {size} accelerators suits {job.sequences} sequences per step and {job.arch.layers} layers",
        remedy="use a size with more divisors, or a larger global batch",
    )


def _memory_refusal(
    workload: TrainingWorkload, job: TrainingJob, platform: Platform, found: _Evaluated, works: int | None
) -> Refusal:
    accelerator, usable = platform.accelerator, available_memory(platform)
    best = int(np.argmin(found.memory))
    need = float(found.memory[best])
    closest = layout_at(found.layouts, best)
    count = f"needs at least {works} accelerators of this kind" if works else "needs a shorter sequence"
    return Refusal(
        workload=workload.name,
        accelerator=accelerator.id,
        constraint="memory",
        shortfall=need - usable,
        unit="B",
        message=(
            f"{job.arch.name} on {found.size} x {accelerator.name}: the closest layout (tp {closest.tp}, pp {closest.pp}, "
            f"dp {closest.dp}, cp {closest.cp}, ZeRO-{closest.zero_stage}, recompute {closest.recompute}) needs "
            f"{show(need, 'B')} of {show(usable, 'B')} per accelerator: {show(need - usable, 'B')} missing"
        ),
        remedy=f"{count}, or one with {show(need / (1.0 - MEMORY_RESERVE), 'B')} of memory",
    )


def _size_that_fits(job: TrainingJob, platform: Platform, size: int) -> int | None:
    """Smallest doubling of ``size`` whose closest layout fits; ``None`` when none does up to 64 times."""
    for factor in (2, 4, 8, 16, 32, 64):
        if not _linked(platform, size * factor):
            return None
        layouts = training_layouts(job.arch, platform, size * factor, job.sequences, job.sequence)
        lean = layouts.take(np.flatnonzero(np.asarray(layouts.recompute) == 2.0))
        if len(lean) and float(np.min(np.asarray(_memory(job, lean).total))) <= available_memory(platform):
            return size * factor
    return None
