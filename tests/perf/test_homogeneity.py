"""Units: a world whose clock runs k times as fast gives every time divided by k, whatever the layout."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwise.domain.mode import Layout
from flopwise.perf.constants import LinkFactors, ServingFactors, TierFactors, TrainingFactors
from flopwise.perf.inference import ReplicaArrays, ServingJob, decode_step, prefill
from flopwise.perf.layouts import arrays
from flopwise.perf.training import TrainingJob, step_time
from perf.perf_world import DEEPSEEK, LLAMA_70B, accelerator, platform


def _tier(tier: TierFactors, k: float) -> TierFactors:
    return replace(tier, latency=tier.latency / k, hop=tier.hop / k, root=tier.root / k)


def _links(links: LinkFactors, k: float) -> LinkFactors:
    return LinkFactors(scale_up=_tier(links.scale_up, k), scale_out=_tier(links.scale_out, k))


def _device(k: float):
    return accelerator(bandwidth=3.35e12 * k, bf16=989e12 * k, fp8=1979e12 * k, link=450e9 * k)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.1, 10))
@pytest.mark.parametrize("arch", [LLAMA_70B, DEEPSEEK])
def test_training_time_scales_with_the_clock(arch, k: float) -> None:
    factors = TrainingFactors()
    fast = replace(factors, host=factors.host / k, host_experts=factors.host_experts / k, links=_links(factors.links, k))
    work = TrainingJob(arch=arch, sequence=4096, sequences=64, precision="bf16")
    layout = arrays(Layout(tp=2, pp=2, dp=8, cp=2, ep=8, zero_stage=1, recompute="full"))
    base = np.asarray(step_time(work, platform(), layout, factors).total)[0]
    quick = np.asarray(step_time(work, platform(_device(k), network=50e9 * k), layout, fast).total)[0]
    assert math.isclose(float(base), float(quick) * k, rel_tol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.1, 10))
@pytest.mark.parametrize("arch", [LLAMA_70B, DEEPSEEK])
def test_serving_time_scales_with_the_clock(arch, k: float) -> None:
    factors = ServingFactors()
    fast = replace(
        factors,
        layer=factors.layer / k,
        routing=factors.routing / k,
        step=factors.step / k,
        links=_links(factors.links, k),
    )
    work = ServingJob(arch=arch, precision="fp8", kv_precision="fp8", input_mean=1e3, input_p95=4e3, output_mean=250)
    replica = ReplicaArrays(tp=np.array([4.0]), pp=np.array([2.0]), dp=np.array([2.0]))
    slow, quick = platform(), platform(_device(k), network=50e9 * k)
    for time in (
        lambda place, constants: decode_step(work, place, replica, np.array([32.0]), 1500.0, constants),
        lambda place, constants: prefill(work, place, replica, np.array([4000.0]), constants),
    ):
        base, other = float(time(slow, factors).total[0]), float(time(quick, fast).total[0])
        assert math.isclose(base, other * k, rel_tol=1e-9)
