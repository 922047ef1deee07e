"""The legal modes of every workload on every platform, each with the rate that failures leave.

A training gang must be fast enough for its deadline, so its size is sought: a coarse grid of sizes first, then
sizes around the smallest that is fast enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flopwise.domain.hardware import Platform
from flopwise.domain.mode import Mode, Refusal
from flopwise.domain.provenance import Fact
from flopwise.domain.workload import TrainingWorkload
from flopwise.ground.units import DAY, show
from flopwise.perf.flops import training_flops
from flopwise.perf.goodput import Recovery, checkpoint_bytes
from flopwise.perf.memory import adapter_parameters
from flopwise.perf.parameters import count
from flopwise.perf.search import search_serving, search_training
from flopwise.planning.demand.needs import ServingNeed, TrainingNeed

#: A gang is not sought beyond this many accelerators.
LARGEST_GANG = 32_768
#: Sizes tried around the one that is fast enough by interpolation, and doublings tried at once.
_FINE = (0.8, 0.9, 1.0, 1.1, 1.25)
_STEP = 3
#: Gang sizes and replica sizes kept per platform.
_KEPT = 3
#: Spot capacity that keeps less than this share of its time is not worth asking for.
_LEAST_SPOT_SHARE = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """Failures and restarts, in base units (1/s per accelerator, s, B/s per accelerator)."""

    failures: float
    restart: float
    checkpoint_bandwidth: float

    @classmethod
    def of(cls, parameters: Mapping[str, Fact]) -> Reliability:
        """From the catalogue's parameters."""
        return cls(
            failures=parameters["reliability.failures_per_accelerator_day"].value / DAY,
            restart=parameters["reliability.restart_time"].value,
            checkpoint_bandwidth=parameters["reliability.checkpoint_bandwidth"].value,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One mode on one platform as the optimiser sees it.

    ``servers`` per gang or replica (a replica may take part of a server). A service has no ``recovery``: its replicas
    must not vanish, so it never runs on spot capacity.
    """

    workload: str
    platform: Platform
    mode: Mode
    servers: float
    recovery: Recovery | None = None

    @property
    def goodput(self) -> float:
        """Share of time that makes progress."""
        return 1.0 if self.recovery is None else self.recovery.share()

    @property
    def rate(self) -> float:
        """The mode's rate times ``goodput``."""
        return self.mode.rate * self.goodput

    def spot_rate(self, interruptions: float) -> float:
        """What failures and ``interruptions`` (of one server, 1/s) leave of the rate; 0 where it is not worth asking for."""
        if self.recovery is None:
            return 0.0
        share = self.recovery.share(interruptions * max(self.servers, 1.0))
        return self.mode.rate * share if share >= _LEAST_SPOT_SHARE else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Choices of one workload on one platform, and why others were refused."""

    choices: tuple[Choice, ...]
    refusals: tuple[Refusal, ...]


def serving_choices(need: ServingNeed, platform: Platform) -> Found:
    """Replicas of a service on a platform. Spot capacity is not offered to services: a replica must not vanish."""
    found = search_serving(need.workload, platform, top=_KEPT)
    choices = tuple(
        Choice(
            workload=need.workload.name, platform=platform, mode=mode, servers=mode.accelerators / platform.accelerators,
        )
        for mode in found.modes
    )  # fmt: skip
    return Found(choices=choices, refusals=found.refusals)


def training_choices(need: TrainingNeed, platform: Platform, headroom: float, reliability: Reliability) -> Found:
    """Gangs that end a run in time with headroom, smallest first, at most three; otherwise why there are none.

    Args:
        need: the training need.
        platform: device, server size, network.
        headroom: the budget by which the planned rate exceeds the required one.
        reliability: failures and restarts.

    Complexity: about twenty gang sizes, each a search over all legal layouts.
    """
    wanted = need.gang_rate * (1 + headroom)
    coarse = _coarse(need, platform, wanted, reliability)
    fast = [choice for choice in coarse.choices if choice.rate >= wanted]
    if not fast:
        return Found(choices=(), refusals=coarse.refusals or (_too_slow(need, platform, coarse, wanted),))
    around = _fine_sizes(platform, coarse.choices, wanted)
    fine = _search(need, platform, around, reliability) if around else coarse
    usable = sorted({choice.mode.accelerators: choice for choice in (*fast, *fine.choices) if choice.rate >= wanted}.items())
    return Found(choices=tuple(choice for _, choice in usable[:_KEPT]), refusals=())


def _coarse(need: TrainingNeed, platform: Platform, wanted: float, reliability: Reliability) -> Found:
    """Doublings from the least size that could be fast enough at full peak, until one is; all refusals on the way."""
    choices: list[Choice] = []
    refusals: tuple[Refusal, ...] = ()
    sizes = _coarse_sizes(need, platform, wanted)
    for first in range(0, len(sizes), _STEP):
        found = _search(need, platform, sizes[first : first + _STEP], reliability)
        choices.extend(found.choices)
        refusals = found.refusals or refusals
        if any(choice.rate >= wanted for choice in found.choices):
            break
    return Found(choices=tuple(choices), refusals=refusals if not choices else ())


def _coarse_sizes(need: TrainingNeed, platform: Platform, wanted: float) -> list[int]:
    """Parts of one server, then powers of two of whole servers where a network joins them, from the least useful size on."""
    parts = [size for size in (1, 2, 4) if size < platform.accelerators and platform.accelerators % size == 0]
    sizes, size = [*parts, platform.accelerators], platform.accelerators * 2
    longest = min(LARGEST_GANG, _most_useful(need.workload))
    while platform.network_bandwidth > 0 and size <= longest:
        sizes.append(size)
        size *= 2
    least = _least_size(need, platform, wanted)
    return [size for size in sizes if size >= least] or sizes[-1:]


def _least_size(need: TrainingNeed, platform: Platform, wanted: float) -> float:
    """No gang smaller than this is fast enough: every accelerator at its highest dense peak."""
    workload = need.workload
    flops = float(training_flops(workload.model, float(workload.sequence), frozen=workload.lora_rank is not None))
    return wanted * flops / max(fact.value for fact in platform.accelerator.peak.values())


def _most_useful(workload: TrainingWorkload) -> int:
    """Sequences per step times tensor and pipeline degrees that still make sense."""
    sequences = max(1, round(workload.global_batch / workload.sequence))
    return sequences * 64


def _fine_sizes(platform: Platform, coarse: Sequence[Choice], wanted: float) -> list[int]:
    """Whole servers around the size where the coarse rates cross the wanted one, from the last that is too slow on."""
    by_size = {choice.mode.accelerators: choice.rate for choice in coarse}
    sizes = np.array(sorted(by_size), dtype=float)
    rates = np.maximum.accumulate([by_size[int(size)] for size in sizes])
    crossing = float(np.exp(np.interp(np.log(wanted), np.log(rates), np.log(sizes))))
    if crossing <= platform.accelerators:
        return []
    if crossing <= sizes[0]:
        crossing = float(sizes[0]) * wanted / float(rates[0])
    servers = {_even(max(1, round(crossing * factor / platform.accelerators))) for factor in _FINE}
    return sorted(count * platform.accelerators for count in servers if count * platform.accelerators not in by_size)


def _even(servers: int) -> int:
    """The next count of servers that splits into equal parts easily: a multiple of 8 from 32 on, of 4 from 16, of 2 from 4."""
    step = 8 if servers >= 32 else 4 if servers >= 16 else 2 if servers >= 4 else 1
    return -(-servers // step) * step


def _search(need: TrainingNeed, platform: Platform, sizes: Sequence[int], reliability: Reliability) -> Found:
    found = search_training(need.workload, platform, sizes, top=1)
    choices = [_choice(need, platform, mode, reliability) for mode in found.modes]
    return Found(choices=tuple(choice for choice in choices if choice.rate > 0), refusals=found.refusals)


def _choice(need: TrainingNeed, platform: Platform, mode: Mode, reliability: Reliability) -> Choice:
    return Choice(
        workload=need.workload.name,
        platform=platform,
        mode=mode,
        servers=mode.accelerators / platform.accelerators,
        recovery=recovery(need.workload, mode.accelerators, reliability),
    )


def recovery(workload: TrainingWorkload, accelerators: int, reliability: Reliability) -> Recovery:
    """How a gang of so many accelerators meets failures.

    Checkpoints are written by all accelerators at once; adapters alone are small, a full run writes weights and
    optimizer states.
    """
    model, rank = workload.model, workload.lora_rank
    trained = count(model).total if rank is None else adapter_parameters(model, rank) * model.layers
    return Recovery(
        stall=float(checkpoint_bytes(trained)) / (reliability.checkpoint_bandwidth * accelerators),
        restart=reliability.restart,
        failures=reliability.failures * accelerators,
        interval=workload.checkpoint_interval or None,
    )


def _too_slow(need: TrainingNeed, platform: Platform, coarse: Found, wanted: float) -> Refusal:
    best = max((choice for choice in coarse.choices), key=lambda choice: choice.rate, default=None)
    name, rate = need.workload.name, best.rate if best else 0.0
    size = best.mode.accelerators if best else platform.accelerators
    where = "" if platform.network_bandwidth > 0 else " (no cluster network beyond one server)"
    days = need.deadline / DAY
    return Refusal(
        workload=name,
        accelerator=platform.accelerator.id,
        constraint="deadline",
        shortfall=wanted - rate,
        unit="tokens/s",
        message=(
            f"{need.workload.model.name} on {size} x {platform.accelerator.name}{where} reaches {show(rate, 'tokens/s')}; "
            f"{show(wanted, 'tokens/s')} end {show(need.run_tokens, 'tokens')} in {days:.0f} days with headroom"
        ),
        remedy=(
            f"allow {days * wanted / rate:.0f} days, fewer tokens, or a platform with a cluster network"
            if rate > 0
            else "name another accelerator or a larger global batch"
        ),
    )
