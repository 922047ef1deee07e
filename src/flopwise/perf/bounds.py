"""Rates that no layout on a device can exceed: cheap to have, so that hopeless searches are left out."""

from __future__ import annotations

from flopwise.domain.hardware import Accelerator
from flopwise.domain.workload import ServingWorkload, TrainingWorkload
from flopwise.ground.units import RequestsPerSecond, TokensPerSecond
from flopwise.perf.constants import KNEE, ServingFactors, TrainingFactors
from flopwise.perf.flops import forward_flops, training_flops
from flopwise.perf.roofline import rate_key, sustained_rate


def training_bound(workload: TrainingWorkload, accelerator: Accelerator) -> TokensPerSecond:
    """Tokens/s of one accelerator if all model FLOPs ran as the best product: no communication, memory traffic or bubble.

    0 where the device lacks the precision.
    """
    if rate_key(accelerator, workload.precision) is None:
        return 0.0
    each = float(training_flops(workload.model, 0.0, frozen=workload.lora_rank is not None))
    return sustained_rate(accelerator, workload.precision) * TrainingFactors().sustained / each


def serving_bound(workload: ServingWorkload, accelerator: Accelerator) -> RequestsPerSecond:
    """Requests/s of one accelerator at the knee if all products ran at the best rate and memory traffic were free.

    0 where the device lacks the precision.
    """
    if rate_key(accelerator, workload.precision) is None:
        return 0.0
    tokens = workload.input.mean * (1.0 - workload.prefix_cache_hit) + workload.output.mean
    rate = sustained_rate(accelerator, workload.precision) * ServingFactors().sustained
    return KNEE * rate / (tokens * float(forward_flops(workload.model, 0.0)))
