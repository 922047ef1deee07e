"""Peak memory of the worst rank."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwise.domain.mode import Layout
from flopwise.domain.model_arch import ModelArch
from flopwise.perf.layouts import arrays
from flopwise.perf.memory import (
    TrainingMemory,
    in_flight,
    layer_activations,
    mixed_precision_states,
    serving_memory,
    training_memory,
    weight_bytes,
)
from perf.perf_world import DEEPSEEK, LLAMA_8B, LLAMA_70B, llama

GPT_22B = ModelArch(
    id="gpt-22b", name="gpt 22B", family="gpt", layers=48, hidden=6144, heads=64, kv_heads=64, head_dim=96, ffn=24576,
    vocab=51200, gated=False, tied_embeddings=True, max_position=2048,
)  # fmt: skip


def peak(arch: ModelArch, layout: Layout, sequence: int = 8192, count: float = 8.0, lora: int | None = None) -> TrainingMemory:
    return training_memory(arch, arrays(layout), sequence, np.array([count]), lora)


def total(arch: ModelArch, layout: Layout, **more) -> float:
    return float(np.asarray(peak(arch, layout, **more).total)[0])


def test_rule_of_sixteen_bytes() -> None:
    """A course text printed 54 GB for 6.7 B parameters; mixed-precision Adam holds 107 GB."""
    assert round(float(mixed_precision_states(6.7e9)) / 1e9) == 107
    assert float(mixed_precision_states(1.0, gradient_bytes=4.0)) == 18


def test_states_by_zero_stage() -> None:
    """6 + 12/shard bytes per parameter with a distributed optimizer, 18/shard with everything sharded."""
    one = peak(LLAMA_8B, Layout(tp=1, pp=1, dp=8, zero_stage=0))
    parameters = float(one.weights[0]) / 2
    assert math.isclose(parameters, 8.03e9, rel_tol=1e-3)
    for stage, expected in ((0, 18), (1, 6 + 12 / 8), (2, 2 + 16 / 8), (3, 18 / 8)):
        part = peak(LLAMA_8B, Layout(tp=1, pp=1, dp=8, zero_stage=stage))
        states = float(part.weights[0] + part.gradients[0] + part.optimizer[0])
        assert math.isclose(states / parameters, expected, rel_tol=1e-9)


def test_norms_are_not_divided_by_tensor_parallelism() -> None:
    """llm-analysis issue 27 divided the states of norms by the tensor-parallel degree."""
    more = replace(LLAMA_8B, norms_per_layer=4)
    for degree in (1, 8):
        layout = Layout(tp=degree, pp=1, dp=1, zero_stage=0)
        extra = float(peak(more, layout).weights[0] - peak(LLAMA_8B, layout).weights[0])
        assert math.isclose(extra, 2 * 2 * 32 * 4096)


def test_activations_of_a_plain_transformer_are_korthikanti_without_dropout() -> None:
    assert layer_activations(GPT_22B, 0) == 32 * 6144
    assert layer_activations(GPT_22B, 2) == 2 * 6144


def test_published_peaks() -> None:
    """calculon-ai/calculon (arXiv 2205.05198 fig. 1): 59.2 GB; pytorch/torchtitan 2024-12: 82.5 and 71.9 GB."""
    korthikanti = Layout(tp=8, pp=1, dp=1, micro_batch=4, zero_stage=0, recompute="selective")
    assert abs(total(GPT_22B, korthikanti, sequence=2048, count=1.0) / 59.2e9 - 1) < 0.10
    for ranks, measured in ((8, 82.5e9), (128, 71.9e9)):
        sharded = Layout(tp=1, pp=1, dp=ranks, micro_batch=2, zero_stage=3, recompute="selective")
        assert abs(total(LLAMA_8B, sharded, count=1.0) / measured - 1) < 0.10


def test_pipeline_holds_more_micro_batches_when_interleaved() -> None:
    plain, interleaved = arrays(Layout(tp=1, pp=8, dp=1)), arrays(Layout(tp=1, pp=8, dp=1, vpp=4))
    assert float(in_flight(plain, np.array([64.0]))[0]) == 8
    assert float(in_flight(interleaved, np.array([64.0]))[0]) == 8 + 7 / 4
    assert float(in_flight(plain, np.array([3.0]))[0]) == 3


def test_uneven_layers_round_up() -> None:
    """Megatron-Bridge PR 5077: even division under-counted the fullest stage by 31.8 %."""
    uneven = llama(33, 4096, 32, 14336)
    even = llama(36, 4096, 32, 14336)
    layout = Layout(tp=1, pp=4, dp=1)
    assert float(peak(uneven, layout).weights[0]) == float(peak(even, layout).weights[0])


@given(
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([1, 2, 8]),
    st.sampled_from(["none", "selective", "full"]),
)
def test_memory_falls_with_sharding(tp: int, pp: int, dp: int, recompute: str) -> None:
    base = total(LLAMA_70B, Layout(tp=tp, pp=pp, dp=dp, zero_stage=1, recompute=recompute))
    assert total(LLAMA_70B, Layout(tp=tp, pp=pp, dp=dp * 2, zero_stage=1, recompute=recompute)) <= base
    assert total(LLAMA_70B, Layout(tp=tp, pp=pp, dp=dp, cp=2, zero_stage=1, recompute=recompute)) <= base
    if tp < 8:
        assert total(LLAMA_70B, Layout(tp=tp * 2, pp=pp, dp=dp, zero_stage=1, recompute=recompute)) < base


@pytest.mark.parametrize("arch", [LLAMA_70B, DEEPSEEK])
def test_recompute_saves_memory(arch: ModelArch) -> None:
    sizes = [total(arch, Layout(tp=8, pp=4, dp=8, ep=8, recompute=policy)) for policy in ("none", "selective", "full")]
    assert sizes == sorted(sizes, reverse=True)


def test_frozen_weights_need_no_optimizer() -> None:
    layout = Layout(tp=1, pp=1, dp=1)
    frozen = peak(LLAMA_8B, layout, lora=16)
    assert float(frozen.optimizer[0] + frozen.gradients[0]) < 1e9
    assert float(frozen.weights[0]) == float(peak(LLAMA_8B, layout).weights[0])


def test_engine_claims_absolute_bytes_of_the_device() -> None:
    """vLLM issue 17269, Logos issue 570: the claim is a share of total memory, whatever else runs there."""
    memory = serving_memory(LLAMA_8B, "bf16", memory=80e9, share=0.9, tp=1.0, pp=1.0, dp=1.0, chunk=8192.0)
    assert math.isclose(float(memory.weights) + float(memory.cache_space) + float(memory.other), 72e9)
    assert math.isclose(float(memory.weights), 16.06e9, rel_tol=1e-3)


def test_small_weights_keep_wide_embeddings() -> None:
    plain, _ = weight_bytes(LLAMA_8B, "fp8")
    assert plain > 8.03e9
    assert plain < 16.06e9
