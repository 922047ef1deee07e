"""FLOPs per token, and their conventions against published rows."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from flopwise.domain.model_arch import ModelArch
from flopwise.perf.flops import Convention, attention_flops, linear_flops, mean_context, training_flops
from flopwise.perf.shapes import sizes
from perf.perf_world import DEEPSEEK, LLAMA_70B, LLAMA_405B, llama

MEASURED = Path(__file__).resolve().parents[3] / "shared" / "data" / "train" / "measured_training.csv"


def _rows(source: str) -> list[dict[str, str]]:
    if not MEASURED.exists():
        pytest.skip("shared data absent")
    with MEASURED.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["source"] == source]


def _arch(row: dict[str, str], *, gated: bool, tied: bool) -> ModelArch:
    heads = int(row["heads"])
    return ModelArch(
        id=row["model"],
        name=row["model"],
        family="row",
        layers=int(row["layers"]),
        hidden=int(row["hidden"]),
        heads=heads,
        kv_heads=int(row["kv_heads"] or heads),
        head_dim=int(row["hidden"]) // heads,
        ffn=int(row["ffn_hidden"]),
        vocab=int(row["vocab"]),
        gated=gated,
        tied_embeddings=tied,
        max_position=1,
    )


def test_linear_part_is_two_flops_per_active_parameter() -> None:
    # Llama 3 70B has 70.55 B parameters, 1.05 B of them in the embedding look-up.
    assert math.isclose(linear_flops(LLAMA_70B), 2 * (70.55e9 - 128256 * 8192), rel_tol=2e-3)
    assert math.isclose(linear_flops(LLAMA_405B), 2 * (405.85e9 - 128256 * 16384), rel_tol=2e-3)


def test_mixture_counts_active_parameters_only() -> None:
    # DeepSeek V3: 37 B active of 671 B, both with embeddings.
    active = linear_flops(DEEPSEEK) / 2 + DEEPSEEK.vocab * DEEPSEEK.hidden
    assert math.isclose(active, 37.5e9, rel_tol=0.02)
    size = sizes(DEEPSEEK)
    total = DEEPSEEK.layers * (size.plain_layer + size.norms + size.routed_layer) + size.embedding + size.head
    assert math.isclose(total, 671e9, rel_tol=2e-3)


def test_causal_attention_is_half_of_full() -> None:
    full = attention_flops(LLAMA_70B, 8192.0, Convention.FULL)
    assert math.isclose(float(full), 4 * 80 * 8192 * 8192)
    assert math.isclose(float(attention_flops(LLAMA_70B, 8192.0)) * 2, float(full))


def test_window_caps_attention() -> None:
    sliding = llama(2, 4096, 32, 14336, window=1024, sliding_layers=1)
    assert float(mean_context(8192.0, 1024, Convention.CAUSAL)) == 1024 - 1024**2 / (2 * 8192)
    assert float(attention_flops(sliding, 8192.0)) < float(attention_flops(llama(2, 4096, 32, 14336), 8192.0))


def test_frozen_weights_skip_their_gradient() -> None:
    plain = float(training_flops(LLAMA_70B, 4096.0))
    frozen = float(training_flops(LLAMA_70B, 4096.0, frozen=True))
    # Published LoRA rows sit at 1.5 to 1.7 of the plain count per token.
    assert 1.4 < plain / frozen < 1.7


def test_llm_foundry_rows_count_full_attention() -> None:
    """mosaicml/llm-foundry prints 6N with full attention and no recompute."""
    ratios = []
    for row in _rows("llm-foundry"):
        per_token = float(training_flops(_arch(row, gated=False, tied=True), float(row["seq_len"]), Convention.FULL))
        ratios.append(float(row["measured_tokens_per_s_per_gpu"]) * per_token / 1e12 / float(row["measured_tflops_per_gpu"]))
    assert len(ratios) > 100
    assert min(ratios) > 0.965
    assert max(ratios) < 1.008


def test_dense_megatron_bridge_rows_count_causal_attention() -> None:
    """NVIDIA-NeMo/Megatron-Bridge prints the causal half, without recompute."""
    ratios = sorted(
        float(row["measured_tokens_per_s_per_gpu"])
        * float(training_flops(_arch(row, gated=True, tied=False), float(row["seq_len"])))
        / 1e12
        / float(row["measured_tflops_per_gpu"])
        for row in _rows("Megatron-Bridge")
        if not row["n_experts"] and row["hidden"] and row["measured_tflops_per_gpu"] and "lora" not in row["notes"].lower()
    )
    assert abs(ratios[len(ratios) // 2] - 1) < 0.01


@pytest.mark.parametrize("arch", [LLAMA_70B, LLAMA_405B, DEEPSEEK])
def test_sizes_agree_with_the_parameter_count(arch: ModelArch) -> None:
    parameters = pytest.importorskip("flopwise.perf.parameters", reason="the parameter count is a module of its own")
    size = sizes(arch)
    total = arch.layers * (size.plain_layer + size.norms + size.routed_layer) + size.embedding + size.head
    assert math.isclose(total, parameters.count(arch).total, rel_tol=1e-3)
