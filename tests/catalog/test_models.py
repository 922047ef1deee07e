"""Shipped architectures: counts against published totals, cache sizes against the published table, refusals."""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path

import pytest

from flopwise.catalog.catalogue import plain
from flopwise.catalog.models import model_from_table, read_models
from flopwise.domain.model_arch import ModelArch
from flopwise.ground.errors import CatalogueError
from flopwise.perf.kv import kv_bytes, kv_bytes_per_token, kv_elements_per_layer
from flopwise.perf.parameters import count

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
MODELS = {model.id: model for model in read_models(files("flopwise") / "catalog" / "data" / "models")}
#: Names in the columns of public measurements that no published model has: benchmark sizes without a name of their own.
NOT_PUBLISHED = (
    "MaxText-",
    "Custom ",
    "Mixtral-like ",
    "GPT 2B..",
    "GPT2 13B",
    "DeepSeekV4 Flash",
    "Nemotron_3_5",
    "Nemotron_3_Ultra",
)
PUBLISHED = [model for model in MODELS.values() if model.published_parameters]


def named(name: str) -> ModelArch | None:
    wanted = name.lower()
    for model in MODELS.values():
        if wanted in {model.id, *(alias.lower() for alias in model.aliases)}:
            return model
    return None


@pytest.mark.parametrize("model", PUBLISHED, ids=lambda model: model.id)
def test_count_reproduces_the_published_total(model: ModelArch) -> None:
    fact = model.published_parameters
    assert fact is not None
    assert abs(count(model).total / fact.value - 1) < 0.005
    assert fact.source
    assert len(fact.as_of) >= 7


def test_enough_models_of_known_families() -> None:
    assert len(PUBLISHED) >= 100
    assert len({model.family for model in MODELS.values()}) >= 20


@pytest.mark.parametrize(
    ("name", "active"),
    [
        ("deepseek-v3", 37.5e9), ("mixtral-8x7b", 12.9e9), ("qwen3-235b-a22b", 22.1e9), ("gpt-oss-120b", 5.7e9),
        ("kimi-k2", 32.9e9), ("llama-4-scout", 17.2e9), ("deepseek-v2", 21.4e9), ("dbrx", 36.5e9), ("nemotron-3-nano", 3.58e9),
    ],
)  # fmt: skip
def test_mixtures_activate_what_is_published(name: str, active: float) -> None:
    """Embeddings included. gpt-oss prints 5.1 B active: the embedding look-up is left out there."""
    assert abs(count(MODELS[name]).active / active - 1) < 0.01


def test_cache_precision_is_not_that_of_the_weights() -> None:
    """A calculator halved the cache of a 4-bit checkpoint; both checkpoints of one model have one architecture."""
    base, packed = named("gemma-4-31b-it"), named("nvidia/Gemma-4-31B-IT-NVFP4")
    assert base is not None
    assert base is packed
    # Global layers have fewer KV heads than the others: our figure lies above the 108 KiB a token that users measured.
    assert base.kv_upper_bound
    growth = kv_bytes(base, "bf16", 20_000.0) - kv_bytes(base, "bf16", 10_000.0)
    assert 108.2 * 1024 < float(growth) / 10_000 < 2 * 108.2 * 1024
    assert kv_bytes(base, "fp8", 20_000.0) == kv_bytes(base, "bf16", 20_000.0) / 2


def test_attention_heads_do_not_size_the_cache() -> None:
    """A calculator took the attention heads of grouped models."""
    for model in MODELS.values():
        if model.latent is None:
            assert kv_elements_per_layer(model) == 2 * model.kv_heads * model.head_dim
    assert kv_bytes_per_token(MODELS["llama-3.1-70b"], "bf16") * 8 == 2 * 64 * 128 * 2 * 80


def test_names_are_lower_case_and_unique() -> None:
    seen: dict[str, str] = {}
    for model in MODELS.values():
        assert model.id == model.id.lower()
        for name in (model.id, *model.aliases):
            assert seen.setdefault(plain(name), model.id) == model.id, name
        assert model.source.startswith("http") or "arXiv" in model.source or "llm-foundry" in model.source


def test_heads_and_positions_are_sound() -> None:
    for model in MODELS.values():
        assert model.max_position >= 1024
        assert model.heads % model.kv_heads == 0


@pytest.mark.skipif(not SHARED.exists(), reason="shared data absent")
@pytest.mark.parametrize("file", ["train/measured_training.csv", "train/measured_memory.csv", "infer/measured_inference.csv"])
def test_names_in_public_measurements_resolve(file: str) -> None:
    with (SHARED / file).open(encoding="utf-8") as rows:
        names = {row["model"] for row in csv.DictReader(rows)}
    assert not {name for name in names if not name.startswith(NOT_PUBLISHED) and named(name) is None}


@pytest.mark.skipif(not SHARED.exists(), reason="shared data absent")
def test_cache_and_count_agree_with_the_public_table() -> None:
    checked = 0
    with (SHARED / "infer" / "model_archs.csv").open(encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            model = named(row["hf_id"]) or named(row["name"])
            if model is None or not row["kv_bytes_per_token_bf16"]:
                continue
            checked += 1
            # The table takes no cache for linear layers: it agrees with ours, which is constant there.
            assert kv_bytes_per_token(model, "bf16") == float(row["kv_bytes_per_token_bf16"]), row["name"]
            if row["params_b_published"] and model.published_parameters:
                # The table rounds to one place: 1.7 stands for 1.65 to 1.75.
                published = float(row["params_b_published"])
                assert abs(count(model).total / 1e9 - published) < max(0.01 * published, 0.05), row["name"]
    assert checked >= 30


def table(**changes: object) -> dict[str, object]:
    base: dict[str, object] = {
        "id": "x", "name": "X", "family": "llama", "layers": 2, "hidden": 64, "heads": 4, "kv_heads": 2, "head_dim": 16,
        "ffn": 128, "vocab": 100, "max_position": 128,
    }  # fmt: skip
    return {key: value for key, value in (base | changes).items() if value is not ...}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"laters": 3}, "unknown key 'laters'; did you mean 'layers'"),
        ({"vocab": ...}, "missing vocab"),
        ({"layers": 0}, "layers = 0 is not a whole number of at least 1"),
        ({"hidden": 64.5}, "hidden = 64.5"),
        ({"hidden": True}, "hidden = True"),
        ({"gated": "yes"}, "gated = 'yes'"),
        ({"kv_heads": 3}, "no multiple of kv_heads"),
        ({"sliding_layers": 1}, "sliding_layers without window"),
        ({"window": 8, "sliding_layers": 3}, "more sliding and linear layers"),
        ({"ffn": 0}, "ffn = 0 without experts"),
        ({"experts": {"count": 4, "top_k": 5, "ffn": 8, "layers": 2}}, "top_k = 5"),
        ({"experts": {"count": 4, "top_k": 2, "ffn": 8, "layers": 3}}, "experts.layers = 3"),
        ({"experts": {"count": 4, "top_k": 2, "layers": 2}}, "missing ffn"),
        ({"latent": 3}, "expected a table"),
        ({"published_parameters": {"value": 1e9}}, "expected a table of value, source"),
        (
            {"published_parameters": {"value": "many", "source": "s", "as_of": "2026", "confidence": "high"}},
            "could not convert",
        ),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, object], words: str) -> None:
    with pytest.raises(CatalogueError) as refusal:
        model_from_table(table(**changes), "x.toml")
    assert words in str(refusal.value)
    assert str(refusal.value).startswith("x.toml")


def test_files_are_checked(tmp_path: Path) -> None:
    text = "\n".join(f"{key} = {value!r}" for key, value in table().items()).replace("'", '"')
    (tmp_path / "x.toml").write_text(text, encoding="utf-8")
    assert [model.id for model in read_models(tmp_path)] == ["x"]
    (tmp_path / "y.toml").write_text(text, encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"should be x\.toml"):
        read_models(tmp_path)
    (tmp_path / "y.toml").write_text("id = ", encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"y\.toml"):
        read_models(tmp_path)
