"""Serving step: experts touched, resources, steady state, and public throughput."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwise.domain.model_arch import ModelArch
from flopwise.perf.inference import (
    ReplicaArrays,
    ServingJob,
    cache_capacity,
    decode_step,
    experts_touched,
    prefill,
    steady_state,
)
from perf.perf_world import DEEPSEEK, LLAMA_8B, LLAMA_70B, accelerator, platform


def job(arch: ModelArch = LLAMA_70B, *, inputs: float = 1000, outputs: float = 1000, **more) -> ServingJob:
    values = {"precision": "fp8", "kv_precision": "fp8"} | more
    return ServingJob(arch=arch, input_mean=inputs, input_p95=inputs, output_mean=outputs, **values)


def one(tp: int = 8, pp: int = 1, dp: int = 1) -> ReplicaArrays:
    return ReplicaArrays(tp=np.array([float(tp)]), pp=np.array([float(pp)]), dp=np.array([float(dp)]))


def test_experts_touched_by_few_and_many_tokens() -> None:
    assert math.isclose(float(experts_touched(256.0, 8.0, 1.0)), 8)
    assert 250 < float(experts_touched(256.0, 8.0, 128.0)) < 256


def test_single_stream_decode_is_bandwidth_bound() -> None:
    """70 GB of weights over 8 x 3.35 TB/s take 2.6 ms at best; public single-stream figures are 6 to 9 ms."""
    step = decode_step(job(), platform(), one(), np.array([1.0]), 1000.0)
    assert 2.6e-3 < float(step.total[0]) < 9e-3
    assert float(step.memory_bandwidth[0]) > float(step.compute[0])


@given(
    st.floats(1, 512),
    st.floats(1.01, 4),
    st.sampled_from([LLAMA_8B, LLAMA_70B, DEEPSEEK]),
    st.sampled_from([(8, 1, 1), (4, 2, 1)]),
)
def test_steps_are_monotone(batch: float, factor: float, arch: ModelArch, degrees: tuple[int, int, int]) -> None:
    work, replica, base = job(arch), one(*degrees), platform()
    step = float(decode_step(work, base, replica, np.array([batch]), 2000.0).total[0])
    assert float(decode_step(work, base, replica, np.array([batch * factor]), 2000.0).total[0]) >= step
    assert float(decode_step(work, base, replica, np.array([batch]), 2000.0 * factor).total[0]) >= step
    wide = platform(accelerator(bandwidth=3.35e12 * factor))
    quick = platform(accelerator(bf16=989e12 * factor, fp8=1979e12 * factor))
    for better in (wide, quick):
        assert float(decode_step(work, better, replica, np.array([batch]), 2000.0).total[0]) <= step
        now = float(prefill(work, better, replica, np.array([1000.0])).total[0])
        assert now <= float(prefill(work, base, replica, np.array([1000.0])).total[0])


def test_little_law_holds_in_steady_state() -> None:
    batch = np.array([1.0, 16.0, 64.0])
    state = steady_state(job(), platform(), one(), batch)
    residence = np.asarray(state.tpot_mean) * 1000
    np.testing.assert_allclose(np.asarray(state.rate) * residence, batch)


def test_rate_rises_and_saturates_with_the_batch() -> None:
    batch = np.array([1.0, 4.0, 16.0, 64.0, 256.0, 1024.0])
    state = steady_state(job(), platform(), one(), batch)
    rate = np.asarray(state.rate)
    assert (np.diff(rate) > 0).all()
    assert (np.diff(rate / batch) < 0).all()
    assert (np.diff(np.asarray(state.tpot_mean)) > 0).all()


def test_cached_prefix_shortens_prefill() -> None:
    plain = prefill(job(inputs=8000), platform(), one(), np.array([8000.0]))
    cached = prefill(job(inputs=8000, prefix_cache_hit=0.5), platform(), one(), np.array([8000.0]))
    assert 0.4 < float(cached.total[0] / plain.total[0]) < 0.75


def test_capacity_counts_kv_heads_and_cache_precision() -> None:
    tokens, requests = cache_capacity(job(), platform(), one())
    narrow, _ = cache_capacity(job(kv_precision="bf16"), platform(), one())
    assert math.isclose(float(tokens[0]), 2 * float(narrow[0]))
    assert math.isclose(float(tokens[0]) / float(requests[0]), 1500)
    # MLA keeps one latent per rank: 8-way tensor parallelism does not divide it, data parallelism does.
    split, _ = cache_capacity(job(DEEPSEEK), platform(accelerator(memory=180e9)), one(1, 1, 8))
    whole, _ = cache_capacity(job(DEEPSEEK), platform(accelerator(memory=180e9)), one(8, 1, 1))
    assert float(split[0]) > 4 * float(whole[0])


@pytest.mark.parametrize(
    ("arch", "tp", "inputs", "outputs", "measured"),
    [
        # NVIDIA/TensorRT-LLM perf-overview v1.0 and v0.17, 80 GB devices, fp8 weights and cache, offline maximum.
        (LLAMA_8B, 1, 128, 128, 28312),
        (LLAMA_8B, 1, 1000, 1000, 15220),
        (LLAMA_8B, 1, 5000, 500, 3459),
        (LLAMA_70B, 2, 128, 2048, 6169.58),
        (LLAMA_70B, 4, 1000, 1000, 7430.99),
    ],
)
def test_published_offline_throughput(arch: ModelArch, tp: int, inputs: float, outputs: float, measured: float) -> None:
    work = job(arch, inputs=inputs, outputs=outputs)
    _, requests = cache_capacity(work, platform(), one(tp))
    batch = np.minimum(np.geomspace(1, 4096, 64), 0.92 * float(requests[0]))
    state = steady_state(work, platform(), one(tp), batch)
    tokens = float(np.asarray(state.rate).max()) * outputs
    assert abs(tokens / measured - 1) < 0.25


@pytest.mark.parametrize(("rate", "ttft", "tpot"), [(2.0, 0.062, 0.021), (4.0, 0.068, 0.024), (8.0, 0.092, 0.032)])
def test_published_open_loop_latency(rate: float, ttft: float, tpot: float) -> None:
    """TensorRT-LLM v0.14 online serving: 70B bf16, 467 tokens in and 256 out, tp 4 on 80 GB devices."""
    work = job(inputs=467, outputs=256, precision="bf16", kv_precision="bf16")
    batch = np.geomspace(0.5, 500, 400)
    state = steady_state(work, platform(), one(4), batch)
    index = int(np.searchsorted(np.asarray(state.rate), rate))
    assert abs(float(np.asarray(state.ttft_mean)[index]) / ttft - 1) < 0.35
    assert abs(float(np.asarray(state.tpot_mean)[index]) / tpot - 1) < 0.20


def test_published_saturation() -> None:
    """The same table: between 8 and 16 req/s the replica saturates (3,164 tokens/s reached at 16 req/s offered)."""
    work = job(inputs=467, outputs=256, precision="bf16", kv_precision="bf16")
    _, requests = cache_capacity(work, platform(), one(4))
    state = steady_state(work, platform(), one(4), 0.92 * np.asarray(requests))
    assert 11 < float(state.rate[0]) < 18


def test_more_layers_cost_more() -> None:
    deeper = replace(LLAMA_70B, layers=160)
    step, more = (float(decode_step(job(arch), platform(), one(), np.array([8.0]), 1e3).total[0]) for arch in (LLAMA_70B, deeper))
    assert more > 1.5 * step
