"""Parameter counts: parts, biases, norms and mixtures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from flopwise.domain.model_arch import Experts, ModelArch
from flopwise.perf.flops import linear_flops
from flopwise.perf.parameters import ParameterCount, count
from perf.perf_world import DEEPSEEK, LLAMA_8B, LLAMA_70B, LLAMA_405B


def parts(one: ParameterCount) -> float:
    return one.embedding + one.lm_head + one.attention + one.mlp + one.experts + one.norms


@pytest.mark.parametrize(
    ("arch", "total"), [(LLAMA_8B, 8030261248), (LLAMA_70B, 70553706496), (LLAMA_405B, 405853388800), (DEEPSEEK, 671026404352)]
)
def test_published_totals_to_the_last_parameter(arch: ModelArch, total: int) -> None:
    assert count(arch).total == total
    assert parts(count(arch)) == total


def test_dense_models_are_all_active_and_mixtures_are_not() -> None:
    assert count(LLAMA_8B).active == count(LLAMA_8B).total
    assert count(LLAMA_8B).experts == 0
    # 248 of 256 experts of 58 layers are idle for one token.
    idle = 58 * 248 * 3 * 7168 * 2048
    assert count(DEEPSEEK).total - count(DEEPSEEK).active == idle


def test_tied_embeddings_are_counted_once() -> None:
    tied = count(replace(LLAMA_8B, tied_embeddings=True))
    assert tied.lm_head == 0
    assert count(LLAMA_8B).total - tied.total == 128256 * 4096


def test_biases() -> None:
    plain = count(LLAMA_8B).total
    assert count(replace(LLAMA_8B, qkv_bias=True)).total - plain == 32 * (4096 + 2 * 1024)
    # Query, key, value and output; gate, up and down.
    assert count(replace(LLAMA_8B, linear_bias=True)).total - plain == 32 * (4096 + 2 * 1024 + 4096 + 2 * 14336 + 4096)


def test_norms() -> None:
    assert count(LLAMA_8B).norms == 65 * 4096
    assert count(replace(LLAMA_8B, qk_norm=True)).norms == 65 * 4096 + 32 * 2 * 128
    assert count(replace(LLAMA_8B, norms_per_layer=0)).norms == 0
    # LayerNorm has a bias as well.
    assert count(replace(LLAMA_8B, gated=False, linear_bias=True)).norms == 2 * 65 * 4096
    # Latent vectors have norms of their own.
    assert count(DEEPSEEK).norms == 61 * (2 * 7168 + 512 + 1536) + 7168


def test_router_bias_and_expert_biases() -> None:
    experts = Experts(count=8, top_k=2, ffn=1024, layers=32)
    arch = replace(LLAMA_8B, experts=experts)
    biased = replace(arch, experts=replace(experts, router_bias=True))
    assert count(biased).total - count(arch).total == 32 * 8
    linear = replace(arch, linear_bias=True)
    assert count(linear).experts - count(arch).experts == 32 * 8 * (2 * 1024 + 4096)


def test_learned_positions_are_embeddings() -> None:
    assert count(replace(LLAMA_8B, learned_positions=2048)).embedding == (128256 + 2048) * 4096


def test_flops_follow_active_parameters() -> None:
    """2 FLOPs per active parameter, without the embedding look-up and the norms."""
    one = count(DEEPSEEK)
    assert linear_flops(DEEPSEEK) == 2 * (one.active - one.embedding - one.norms)
