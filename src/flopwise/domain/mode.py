"""Modes: the legal ways to run one workload on one kind of accelerator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flopwise.domain.provenance import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a model is split: tensor, pipeline, data, context and expert parallel degrees, and the rest."""

    tp: int
    pp: int
    dp: int
    cp: int = 1
    ep: int = 1
    vpp: int = 1
    micro_batch: int = 1
    zero_stage: int = 1
    recompute: str = "none"

    @property
    def accelerators(self) -> int:
        """Product of the degrees that occupy accelerators (experts live inside the data and tensor axes)."""
        return self.tp * self.pp * self.dp * self.cp


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """One way to run one workload.

    ``accelerators`` is the gang (training) or replica (serving) size; ``rate`` is tokens/s of the gang, or
    req/s of the replica at the SLO; ``interval`` its 80 % interval. ``spans_servers`` needs a cluster network.
    ``load`` gives the used share of memory capacity, compute, memory bandwidth and interconnect, of which
    ``bottleneck`` is the binding one. ``detail`` holds what a reader asks next (step time, MFU, TTFT, TPOT,
    batch), by name, in base units.
    """

    workload: str
    accelerator: str
    accelerators: int
    layout: Layout
    precision: str
    spans_servers: bool
    rate: float
    rate_unit: str
    interval: tuple[float, float]
    evidence: Evidence
    memory: float
    memory_available: float
    bottleneck: str
    load: Mapping[str, float]
    detail: Mapping[str, float]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a class of layouts cannot run a workload on an accelerator, and what would make it fit.

    ``constraint`` is one of memory, latency, batch, precision, network; ``shortfall`` is by how much it is missed
    in ``unit`` at the closest layout.
    """

    workload: str
    accelerator: str
    constraint: str
    shortfall: float
    unit: str
    message: str
    remedy: str
