"""Hugging Face ``config.json``: each family against the catalogue, cache sizes, refusals by the name of the field."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flopwise.adapters.models.hf_config import MOST_BYTES, read_model
from flopwise.catalog.models import read_models
from flopwise.domain.model_arch import ModelArch
from flopwise.ground.errors import FlopwiseError, InputFileError, ModelFormatError
from flopwise.perf.kv import kv_bytes, kv_bytes_per_token
from flopwise.perf.parameters import count

MODELS = {model.id: model for model in read_models(files("flopwise") / "catalog" / "data" / "models")}


def sizes(
    kind: str, layers: int, hidden: int, heads: int, kv: int, ffn: int, vocab: int, reach: int, **more: Any
) -> dict[str, Any]:
    return {
        "model_type": kind, "num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads,
        "num_key_value_heads": kv, "intermediate_size": ffn, "vocab_size": vocab, "max_position_embeddings": reach,
        "hidden_act": "silu", "rms_norm_eps": 1e-05, "rope_theta": 500000.0, "initializer_range": 0.02, "use_cache": True,
        "torch_dtype": "bfloat16", "bos_token_id": 1, "eos_token_id": [2, 3], "architectures": ["X"],
        "transformers_version": "4.57",
    } | more  # fmt: skip


LATENT = {
    "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "moe_layer_freq": 1,
    "aux_loss_alpha": 0.001, "seq_aux": True, "ep_size": 1, "norm_topk_prob": True, "routed_scaling_factor": 2.5,
    "attention_bias": False, "attention_dropout": 0.0, "scoring_func": "sigmoid",
    "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096},
}  # fmt: skip
V3 = LATENT | {
    "q_lora_rank": 1536, "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1, "moe_intermediate_size": 2048,
    "first_k_dense_replace": 3, "n_group": 8, "topk_group": 4, "topk_method": "noaux_tc", "num_nextn_predict_layers": 1,
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
}  # fmt: skip
OSS = {
    "head_dim": 64, "num_experts_per_tok": 4, "experts_per_token": 4, "sliding_window": 128, "attention_bias": True,
    "initial_context_length": 4096, "swiglu_limit": 7.0, "router_aux_loss_coef": 0.9, "tie_word_embeddings": False,
}  # fmt: skip
LLAMA_31 = {
    "attention_bias": False,
    "mlp_bias": False,
    "pretraining_tp": 1,
    "rope_scaling": {"factor": 8.0, "rope_type": "llama3"},
}
LLAMA_4 = {
    "head_dim": 128, "intermediate_size_mlp": 16384, "num_experts_per_tok": 1, "attention_chunk_size": 8192, "use_qk_norm": True,
    "no_rope_layers": [], "router_jitter_noise": 0.0, "attn_temperature_tuning": 4, "output_router_logits": False,
}  # fmt: skip
QWEN = {"use_sliding_window": False, "sliding_window": 131072, "max_window_layers": 28, "attention_dropout": 0.0}
QWEN_3 = {"head_dim": 128, "use_sliding_window": False, "sliding_window": None, "max_window_layers": 64, "attention_bias": False}
QWEN_3_MIXTURE = QWEN_3 | {"num_experts": 128, "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": []}
GEMMA_2 = {
    "head_dim": 256, "sliding_window": 4096, "sliding_window_size": 4096, "attn_logit_softcapping": 50.0, "attention_bias": False,
    "final_logit_softcapping": 30.0, "query_pre_attn_scalar": 256, "cache_implementation": "hybrid", "hidden_activation": "gelu",
}  # fmt: skip
GLM_MIXTURE = {
    "head_dim": 128, "attention_bias": True, "n_routed_experts": 128, "num_experts_per_tok": 8, "n_shared_experts": 1,
    "moe_intermediate_size": 1408, "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1, "partial_rotary_factor": 0.5,
    "use_qk_norm": False, "num_nextn_predict_layers": 1,
}  # fmt: skip
PHI_MIXTURE = {
    "num_local_experts": 16, "num_experts_per_tok": 2, "attention_bias": True, "lm_head_bias": True, "sliding_window": 131072,
    "router_jitter_noise": 0.01, "input_jitter_noise": 0.01,
}  # fmt: skip
FALCON = {"model_type": "falcon", "vocab_size": 65024, "alibi": False, "bias": False, "multi_query": True, "parallel_attn": True}
GLM_4 = {
    "model_type": "chatglm", "num_layers": 40, "hidden_size": 4096, "num_attention_heads": 32, "multi_query_attention": True,
    "multi_query_group_num": 2, "kv_channels": 128, "ffn_hidden_size": 13696, "padded_vocab_size": 151552, "seq_length": 131072,
    "add_qkv_bias": True, "add_bias_linear": False, "tie_word_embeddings": False, "rmsnorm": True, "post_layer_norm": True,
    "apply_query_key_layer_scaling": True, "original_rope": True, "rope_ratio": 500, "attention_dropout": 0.0,
}  # fmt: skip

CONFIGS: dict[str, dict[str, Any]] = {
    "llama-2-7b": sizes("llama", 32, 4096, 32, 32, 11008, 32000, 4096, pretraining_tp=1, tie_word_embeddings=False),
    "llama-3.1-8b": sizes("llama", 32, 4096, 32, 8, 14336, 128256, 131072, **LLAMA_31),
    "llama-3.1-70b": sizes("llama", 80, 8192, 64, 8, 28672, 128256, 131072, **LLAMA_31),
    "llama-3.1-405b": sizes("llama", 126, 16384, 128, 8, 53248, 128256, 131072, **LLAMA_31),
    "llama-3.2-1b": sizes("llama", 16, 2048, 32, 8, 8192, 128256, 131072, head_dim=64, tie_word_embeddings=True),
    "deepseek-coder-33b": sizes("llama", 62, 7168, 56, 8, 19200, 32256, 16384),
    "mistral-7b-v0.1": sizes("mistral", 32, 4096, 32, 8, 14336, 32000, 32768, sliding_window=4096),
    "mistral-7b": sizes("mistral", 32, 4096, 32, 8, 14336, 32768, 32768, sliding_window=None),
    "mistral-nemo-12b": sizes("mistral", 40, 5120, 32, 8, 14336, 131072, 131072, head_dim=128, sliding_window=None),
    "mixtral-8x7b": sizes(
        "mixtral", 32, 4096, 32, 8, 14336, 32000, 32768, num_local_experts=8, num_experts_per_tok=2, sliding_window=None
    ),
    "qwen2-0.5b": sizes("qwen2", 24, 896, 14, 2, 4864, 151936, 131072, tie_word_embeddings=True, **QWEN),
    "qwen2.5-72b": sizes("qwen2", 80, 8192, 64, 8, 29568, 152064, 131072, tie_word_embeddings=False, **QWEN),
    "qwen2-57b-a14b": sizes(
        "qwen2_moe", 28, 3584, 28, 4, 18944, 151936, 131072, num_experts=64, num_experts_per_tok=8, moe_intermediate_size=2560,
        qkv_bias=True,
        shared_expert_intermediate_size=20480, decoder_sparse_step=1, mlp_only_layers=[], **QWEN,
    ),
    "qwen3-0.6b": sizes("qwen3", 28, 1024, 16, 8, 3072, 151936, 40960, tie_word_embeddings=True, **QWEN_3),
    "qwen3-32b": sizes("qwen3", 64, 5120, 64, 8, 25600, 151936, 40960, **QWEN_3),
    "qwen3-30b-a3b": sizes("qwen3_moe", 48, 2048, 32, 4, 6144, 151936, 40960, moe_intermediate_size=768, **QWEN_3_MIXTURE),
    "qwen3-235b-a22b": sizes("qwen3_moe", 94, 4096, 64, 4, 12288, 151936, 40960, moe_intermediate_size=1536, **QWEN_3_MIXTURE),
    "deepseek-v2-lite": sizes(
        "deepseek_v2", 27, 2048, 16, 16, 10944, 102400, 163840, q_lora_rank=None, n_routed_experts=64, num_experts_per_tok=6,
        n_shared_experts=2, moe_intermediate_size=1408, first_k_dense_replace=1, topk_method="greedy", **LATENT,
    ),
    "deepseek-v3": sizes("deepseek_v3", 61, 7168, 128, 128, 18432, 129280, 163840, **V3),
    "deepseek-v3.2": sizes(
        "deepseek_v32", 61, 7168, 128, 128, 18432, 129280, 163840, index_n_heads=64, index_head_dim=128, index_topk=2048, **V3
    ),
    "kimi-k2": sizes(
        "kimi_k2", 61, 7168, 64, 64, 18432, 163840, 131072, **(V3 | {"n_routed_experts": 384, "first_k_dense_replace": 1})
    ),
    "gemma-2-9b": sizes("gemma2", 42, 3584, 16, 8, 14336, 256000, 8192, **GEMMA_2),
    "gemma-2-27b": sizes("gemma2", 46, 4608, 32, 16, 36864, 256000, 8192, **(GEMMA_2 | {"head_dim": 128})),
    "gemma-3-1b": sizes(
        "gemma3_text", 26, 1152, 4, 1, 6912, 262144, 32768, head_dim=256, sliding_window=512, sliding_window_pattern=6,
        rope_local_base_freq=10000,
    ),
    # The published file leaves most to the library's defaults.
    "gemma-3-4b": {
        "model_type": "gemma3",
        "text_config": {
            "model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
            "sliding_window": 1024, "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
        },
        "vision_config": {"hidden_size": 1152, "num_hidden_layers": 27}, "mm_tokens_per_image": 256,
    },
    "gpt-oss-120b": sizes(
        "gpt_oss", 36, 2880, 64, 8, 2880, 201088, 131072, num_local_experts=128,
        layer_types=["sliding_attention", "full_attention"] * 18, **OSS,
    ),
    "gpt-oss-20b": sizes("gpt_oss", 24, 2880, 64, 8, 2880, 201088, 131072, num_local_experts=32, **OSS),
    "glm-4-9b": GLM_4,
    "glm-4-32b": sizes("glm4", 61, 6144, 48, 2, 23040, 151552, 32768, head_dim=128, attention_bias=False),
    "glm-4.5-air": sizes("glm4_moe", 46, 4096, 96, 8, 10944, 151552, 131072, **GLM_MIXTURE),
    "phi-3-mini": sizes("phi3", 32, 3072, 32, 32, 8192, 32064, 131072, sliding_window=262144, embd_pdrop=0.0),
    "phi-4": sizes("phi3", 40, 5120, 40, 10, 17920, 100352, 16384, sliding_window=None),
    "phi-3.5-moe": sizes("phimoe", 32, 4096, 32, 8, 6400, 32064, 131072, **PHI_MIXTURE),
    "falcon-7b": FALCON | {"hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71},
    "falcon-40b": FALCON
    | {
        "hidden_size": 8192, "num_hidden_layers": 60, "num_attention_heads": 128, "num_kv_heads": 8,
        "new_decoder_architecture": True,
    },
    "llama-4-scout": {
        "model_type": "llama4",
        "text_config": sizes(
            "llama4_text", 48, 5120, 40, 8, 8192, 202048, 10485760, num_local_experts=16, interleave_moe_layer_step=1, **LLAMA_4
        ),
    },
    "llama-4-maverick": {
        "model_type": "llama4",
        "text_config": sizes(
            "llama4_text", 48, 5120, 40, 8, 8192, 202048, 1048576, num_local_experts=128, interleave_moe_layer_step=2, **LLAMA_4
        ),
    },
}  # fmt: skip


def written(folder: Path, values: object, name: str = "config.json") -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(values if isinstance(values, str) else json.dumps(values), encoding="utf-8")
    return file


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def reader(values: object) -> ModelArch:
        return read_model(written(tmp_path / "model", values))

    return reader


@pytest.mark.parametrize("name", CONFIGS)
def test_published_config_gives_the_catalogue_model(name: str, read: Any) -> None:
    arch, known = read(CONFIGS[name]), MODELS[name]
    fact = known.published_parameters
    assert fact is not None
    assert abs(count(arch).total / fact.value - 1) < 0.005
    assert abs(count(arch).total / count(known).total - 1) < 1e-4
    assert abs(count(arch).active / count(known).active - 1) < 1e-4
    assert kv_bytes_per_token(arch, "bf16") == kv_bytes_per_token(known, "bf16")
    for context in (100.0, 4096.0, 100_000.0):
        assert kv_bytes(arch, "fp8", context) == kv_bytes(known, "fp8", context)
    assert arch.max_position == known.max_position


@pytest.mark.parametrize(
    ("name", "bf16"),
    [
        # 2 x KV heads x head size x 2 bytes x layers; of latent attention (512 + 64) x 2 bytes x layers.
        ("llama-3.1-70b", 2 * 8 * 128 * 2 * 80), ("llama-2-7b", 2 * 32 * 128 * 2 * 32), ("qwen3-32b", 2 * 8 * 128 * 2 * 64),
        ("deepseek-v3", 576 * 2 * 61), ("falcon-7b", 2 * 1 * 64 * 2 * 32), ("gpt-oss-120b", 2 * 8 * 64 * 2 * 36),
        ("gemma-2-27b", 2 * 16 * 128 * 2 * 46), ("glm-4-9b", 2 * 2 * 128 * 2 * 40),
    ],
)  # fmt: skip
def test_cache_is_by_kv_heads_head_size_and_its_own_precision(name: str, bf16: int, read: Any) -> None:
    """Not by attention heads, and not by the precision of the weights, which the file states as bfloat16 or fp8."""
    arch = read(CONFIGS[name])
    assert kv_bytes_per_token(arch, "bf16") == bf16
    assert kv_bytes_per_token(arch, "fp8") * 2 == bf16


def test_quantised_weights_do_not_change_the_cache(read: Any) -> None:
    plain = CONFIGS["llama-3.1-8b"]
    packed = plain | {
        "torch_dtype": "float8_e4m3fn",
        "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128},
    }
    assert kv_bytes_per_token(read(packed), "bf16") == kv_bytes_per_token(read(plain), "bf16")
    assert count(read(packed)) == count(read(plain))


def test_head_size_is_explicit_or_derived(read: Any) -> None:
    nemo = dict(CONFIGS["mistral-nemo-12b"])
    assert read(nemo).head_dim == 128
    del nemo["head_dim"]
    assert read(nemo).head_dim == 160


def test_kv_heads_default_to_attention_heads(read: Any) -> None:
    values = dict(CONFIGS["llama-2-7b"])
    del values["num_key_value_heads"]
    assert read(values).kv_heads == 32
    assert read(values | {"num_key_value_heads": None}).kv_heads == 32


def test_qwen_window_counts_only_when_used(read: Any) -> None:
    values = CONFIGS["qwen2.5-72b"]
    assert read(values).sliding_layers == 0
    used = read(values | {"use_sliding_window": True, "sliding_window": 4096, "max_window_layers": 70})
    assert (used.window, used.sliding_layers) == (4096, 10)


def test_sparse_layers_of_qwen(read: Any) -> None:
    values = CONFIGS["qwen3-30b-a3b"] | {"decoder_sparse_step": 2, "mlp_only_layers": [1, 3]}
    assert read(values).experts.layers == 22


def test_biases_of_llama(read: Any) -> None:
    plain = CONFIGS["llama-3.1-8b"]
    base = count(read(plain)).total
    attention = count(read(plain | {"attention_bias": True})).total - base
    assert attention == 32 * (4096 + 2 * 1024 + 4096)
    both = count(read(plain | {"attention_bias": True, "mlp_bias": True})).total - base
    assert both == attention + 32 * (2 * 14336 + 4096)


def test_id_is_the_folder_or_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "My-Model"
    written(folder, CONFIGS["llama-2-7b"])
    assert read_model(folder).id == "my-model"
    assert read_model(folder / "config.json").id == "my-model"
    assert read_model(written(tmp_path, CONFIGS["llama-2-7b"], "other.json")).id == "other"
    assert read_model(folder).source == "config.json"


def refused(read: Any, name: str, **changes: Any) -> str:
    values = {key: value for key, value in (CONFIGS[name] | changes).items() if value is not ...}
    with pytest.raises(ModelFormatError) as error:
        read(values)
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("llama-2-7b", {"model_type": "mamba"}, "model_type: 'mamba' is not understood"),
        ("llama-2-7b", {"model_type": "lama"}, "did you mean 'llama'?"),
        ("llama-2-7b", {"model_type": ...}, "model_type: is missing"),
        ("llama-2-7b", {"model_type": ["llama"]}, "model_type: ['llama'] is not a text"),
        ("llama-2-7b", {"hidden_size": ...}, "hidden_size: is missing"),
        ("llama-2-7b", {"vocab_size": None}, "vocab_size: is missing"),
        ("llama-2-7b", {"hidden_size": -4096}, "hidden_size: -4096 is not between 1 and"),
        ("llama-2-7b", {"num_hidden_layers": 0}, "num_hidden_layers: 0 is not between 1 and"),
        ("llama-2-7b", {"num_hidden_layers": 10**9}, "num_hidden_layers: 1000000000 is not between 1 and"),
        ("llama-2-7b", {"hidden_size": 10**30}, "hidden_size: 1e+30 is not between"),
        ("llama-2-7b", {"hidden_size": 4096.5}, "hidden_size: 4096.5 is not a whole number"),
        ("llama-2-7b", {"hidden_size": "4096"}, "hidden_size: '4096' is not a whole number"),
        ("llama-2-7b", {"hidden_size": True}, "hidden_size: True is not a whole number"),
        ("llama-2-7b", {"hidden_size": [4096]}, "hidden_size: [4096] is not a whole number"),
        ("llama-2-7b", {"hidden_size": 4100}, "head_dim: is missing, and 4100 is no multiple of 32"),
        ("llama-2-7b", {"num_key_value_heads": 5}, "heads = 32 is no multiple of kv_heads = 5"),
        ("llama-2-7b", {"tie_word_embeddings": "no"}, "tie_word_embeddings: 'no' is not true or false"),
        ("llama-2-7b", {"kv_lora_rank": 512}, "kv_lora_rank: is not understood for this model_type"),
        ("llama-2-7b", {"num_experts": 8}, "num_experts: is not understood for this model_type"),
        ("llama-2-7b", {"sliding_window_layers": [1]}, "sliding_window_layers: is not understood"),
        ("llama-2-7b", {"cross_attention_layers": [3]}, "cross_attention_layers: is not understood"),
        ("llama-2-7b", {"mlp_bias": True}, "mlp_bias: true without attention_bias"),
        ("llama-2-7b", {"text_config": 3}, "text_config: is not an object"),
        ("qwen3-30b-a3b", {"moe_intermediate_size": ...}, "moe_intermediate_size: is missing"),
        ("qwen3-30b-a3b", {"mlp_only_layers": [48]}, "mlp_only_layers: 48 is not the number of a layer below 48"),
        ("qwen3-30b-a3b", {"mlp_only_layers": 3}, "mlp_only_layers: 3 is not a list"),
        ("qwen3-30b-a3b", {"num_experts_per_tok": 129}, "experts.top_k = 129 is more than experts.count = 128"),
        ("gpt-oss-120b", {"layer_types": ["linear_attention"] * 36}, "layer_types: 'linear_attention' is not understood"),
        ("gpt-oss-120b", {"layer_types": ["full_attention"]}, "layer_types: 1 entries for 36 layers"),
        ("gpt-oss-120b", {"layer_types": "full"}, "layer_types: 'full' is not a list"),
        ("qwen2.5-72b", {"qkv_bias": False}, "qkv_bias: False is not understood; expected True"),
        ("deepseek-v3", {"moe_layer_freq": 2}, "moe_layer_freq: 2 is not understood; expected 1"),
        ("deepseek-v3", {"kv_lora_rank": ...}, "kv_lora_rank: is missing"),
        ("deepseek-v3", {"first_k_dense_replace": -1}, "first_k_dense_replace: -1 is not between 0"),
        ("gemma-3-4b", {"text_config": {"hidden_size": 2560}}, "text_config.num_hidden_layers: is missing"),
        ("falcon-7b", {"num_attention_heads": 70}, "num_attention_heads: 4544 is no multiple of 70"),
        ("glm-4-9b", {"multi_query_group_num": ...}, "multi_query_group_num: is missing"),
    ],
)
def test_refusals_name_the_field(name: str, changes: dict[str, Any], words: str, read: Any) -> None:
    text = refused(read, name, **changes)
    assert words in text
    assert text.startswith("config.json: ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[1, 2]", "expected an object of fields"),
        ("null", "expected an object of fields"),
        ('{"hidden_size": NaN}', "NaN is not a number"),
        ('{"hidden_size": -Infinity}', "-Infinity is not a number"),
        ('{"hidden_size": ' + "9" * 5000 + "}", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"a":' * 100_000, "not JSON"),
        ('"' + "x" * (MOST_BYTES + 1) + '"', "no config.json"),
    ],
)
def test_files_that_are_no_config(text: str, words: str, read: Any) -> None:
    with pytest.raises(ModelFormatError, match=words):
        read(text)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="no such file"):
        read_model(tmp_path / "absent.json")
    with pytest.raises(InputFileError, match="no such file"):
        read_model(tmp_path)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputFileError, match="cannot read"):
        read_model(tmp_path / "bytes.json")
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(InputFileError, match="no such file"):
        read_model(tmp_path / "pipe.json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(CONFIGS)), st.data())
def test_any_value_in_any_field_is_read_or_refused(tmp_path: Path, name: str, data: st.DataObject) -> None:
    values = dict(CONFIGS[name])
    field = data.draw(st.sampled_from(sorted(values)))
    file = written(tmp_path / "any", values | {field: data.draw(JSON)})
    try:
        arch = read_model(file)
    except FlopwiseError:
        return
    assert count(arch).total > 0
