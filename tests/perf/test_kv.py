"""Cache bytes by attention kind and cache precision."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flopwise.domain.model_arch import LatentAttention, ModelArch
from flopwise.perf.kv import kv_bytes, kv_bytes_per_token, kv_shards
from perf.perf_world import DEEPSEEK, LLAMA_8B, LLAMA_70B, LLAMA_405B, llama

ARCHITECTURES = Path(__file__).resolve().parents[3] / "shared" / "data" / "infer" / "model_archs.csv"


@pytest.mark.parametrize(("arch", "expected"), [(LLAMA_8B, 131072), (LLAMA_70B, 327680), (LLAMA_405B, 516096), (DEEPSEEK, 70272)])
def test_published_bytes_per_token(arch: ModelArch, expected: float) -> None:
    assert kv_bytes_per_token(arch, "bf16") == expected


def test_kv_heads_count_and_not_attention_heads() -> None:
    """LLM-Viewer issue 12: the load of a grouped cache is by KV heads."""
    assert kv_bytes_per_token(replace(LLAMA_70B, kv_heads=64), "bf16") == 8 * kv_bytes_per_token(LLAMA_70B, "bf16")
    assert kv_bytes_per_token(replace(LLAMA_70B, heads=128), "bf16") == kv_bytes_per_token(LLAMA_70B, "bf16")


def test_cache_precision_is_its_own() -> None:
    """configiq issue 112: 4-bit weights do not make a 4-bit cache."""
    assert kv_bytes_per_token(LLAMA_70B, "fp8") * 2 == kv_bytes_per_token(LLAMA_70B, "bf16")


def test_sliding_layers_cap_at_the_window() -> None:
    arch = llama(36, 2880, 64, 2880, window=128, sliding_layers=18)
    per_layer = 2 * 8 * 128 * 2
    context = np.array([64.0, 128.0, 4096.0])
    expected = per_layer * (18 * context + 18 * np.minimum(context, 128))
    np.testing.assert_allclose(kv_bytes(arch, "bf16", context), expected)


def test_latent_cache_is_replicated_and_grouped_cache_split() -> None:
    assert float(kv_shards(DEEPSEEK, 8.0)) == 1
    assert float(kv_shards(LLAMA_70B, 4.0)) == 4
    assert float(kv_shards(LLAMA_70B, 16.0)) == 8


def _published() -> list[dict[str, str]]:
    if not ARCHITECTURES.exists():
        return []
    with ARCHITECTURES.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["kv_bytes_per_token_bf16"]]


@pytest.mark.skipif(not ARCHITECTURES.exists(), reason="shared data absent")
def test_table_of_architectures_is_reproduced() -> None:
    for row in _published():
        assert kv_bytes_per_token(_arch(row), "bf16") == float(row["kv_bytes_per_token_bf16"]), row["name"]


def _arch(row: dict[str, str]) -> ModelArch:
    layers = int(row["layers"])
    full = int(row["full_attention_layers"] or layers)
    linear = layers - full if "linear" in row["attention_kind"] else 0
    latent = None
    if row["kv_lora_rank"]:
        latent = LatentAttention(
            kv_rank=int(row["kv_lora_rank"]),
            q_rank=None,
            rope_head_dim=int(row["qk_rope_head_dim"]),
            nope_head_dim=128,
            value_head_dim=128,
        )
    base = llama(layers, int(row["hidden"]), int(row["heads"]), 1, kv_heads=int(row["kv_heads"]), latent=latent)
    return replace(base, head_dim=int(row["head_dim"]), linear_layers=linear)
