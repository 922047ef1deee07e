"""Read a Hugging Face ``config.json`` as an architecture.

Only what decides sizes is read: layers, widths, heads, experts, windows. Weight precision is the workload's business.
What is not understood is refused by the name of the field, because a wrong count is worse than none.
Files are untrusted: size, nesting and numbers are bounded, nothing in them is executed or followed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn, cast

from flopwise.adapters.models._families import FAMILIES, Family, index_parameters, latent_of
from flopwise.adapters.models._fields import MOST_LAYERS, Fields
from flopwise.catalog.models import contradictions
from flopwise.domain.model_arch import ModelArch
from flopwise.ground.errors import InputFileError, ModelFormatError, nearest

#: Published files have some kilobytes; those of quantised models, which list every layer, a few hundred.
MOST_BYTES = 4_000_000

_OWN_SPELLING = ("falcon", "chatglm")
#: Wrappers of a text model, and the ``model_type`` of their text part where it does not say so.
_WRAPPERS = {"gemma3": "gemma3_text", "llama4": "llama4_text", "mistral3": "mistral", "kimi_k25": "kimi_k2"}


def read_model(path: Path) -> ModelArch:
    """The architecture that a ``config.json`` describes.

    Args:
        path: the file, or the folder that holds it. Its name becomes the id.

    Returns:
        Sizes in elements. Of a multimodal model the text part.

    Raises:
        InputFileError: no such file, or one that cannot be read as text.
        ModelFormatError: not JSON, a ``model_type`` or a field that is not understood, or sizes that contradict each other.
    """
    file = path / "config.json" if path.is_dir() else path
    values = _parse(_text(file), file.name)
    name = (file.resolve().parent.name if file.name == "config.json" else file.stem) or "model"
    arch = _model(_text_part(Fields(values, file.name)), name)
    for problem in contradictions(arch):
        msg = f"{file.name}: {problem}"
        raise ModelFormatError(msg)
    return arch


def _text(file: Path) -> str:
    if not file.is_file():
        msg = f"no such file: {file}"
        raise InputFileError(msg, hint="expected a Hugging Face config.json, or the folder that holds it")
    try:
        if file.stat().st_size > MOST_BYTES:
            msg = f"{file.name}: more than {MOST_BYTES} bytes, so it is no config.json"
            raise ModelFormatError(msg)
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        msg = f"cannot read {file}: {error}"
        raise InputFileError(msg, hint="expected a Hugging Face config.json, or the folder that holds it") from error


def _parse(text: str, name: str) -> Mapping[str, object]:
    def no_number(constant: str) -> NoReturn:
        msg = f"{name}: {constant} is not a number"
        raise ModelFormatError(msg)

    try:
        values: object = json.loads(text, parse_constant=no_number)
    # Deep nesting ends in a RecursionError, an endless integer in a ValueError.
    except (ValueError, RecursionError) as error:
        msg = f"{name}: not JSON: {str(error)[:200]}"
        raise ModelFormatError(msg) from error
    if not isinstance(values, dict):
        msg = f"{name}: expected an object of fields"
        raise ModelFormatError(msg)
    return cast("dict[str, object]", values)


def _text_part(fields: Fields) -> Fields:
    """The text model of a multimodal description; what it leaves out of tying stands outside."""
    inner = fields.values.get("text_config")
    if inner is None:
        return fields
    if not isinstance(inner, dict):
        fields.refuse("text_config", "is not an object of fields")
    outer = fields.word("model_type")
    values = cast("dict[str, object]", inner)
    kept = {"model_type": _WRAPPERS.get(outer, outer)}
    if "tie_word_embeddings" in fields.values:
        kept["tie_word_embeddings"] = cast("str", fields.values["tie_word_embeddings"])
    return Fields(kept | values, fields.file, "text_config.")


def _model(fields: Fields, name: str) -> ModelArch:
    kind = fields.word("model_type")
    if kind == "falcon":
        return _falcon(fields, name)
    if kind == "chatglm":
        return _chatglm(fields, name)
    if kind not in FAMILIES:
        known = sorted([*FAMILIES, *_OWN_SPELLING])
        guess = nearest(kind, known)
        message = f"{kind!r} is not understood" if kind else "is missing"
        fields.refuse(
            "model_type",
            message + (f"; did you mean {guess[0]!r}?" if guess else ""),
            hint=f"understood: {', '.join(known)}",
        )
    return _plain(fields, name, FAMILIES[kind])


def _plain(fields: Fields, name: str, family: Family) -> ModelArch:
    """All families with the spellings of Llama."""
    defaults = family.defaults
    layers = fields.whole("num_hidden_layers", most=MOST_LAYERS)
    hidden = fields.whole("hidden_size")
    heads = fields.whole("num_attention_heads", defaults.get("num_attention_heads"))
    latent = latent_of(fields) if family.latent else None
    experts, (window, sliding) = family.experts(fields, layers), family.window(fields, layers)
    qkv_bias, linear_bias, extra = _biases(fields, family, layers, hidden)
    if latent:
        fields.must_be("head_dim", latent.rope_head_dim, latent.nope_head_dim + latent.rope_head_dim)
        extra += index_parameters(fields, layers, latent) if family.index else 0
    arch = ModelArch(
        id=name.lower(),
        name=name,
        family=family.name,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=heads if latent else fields.whole("num_key_value_heads", defaults.get("num_key_value_heads", heads)),
        head_dim=latent.nope_head_dim + latent.rope_head_dim if latent else _head_dim(fields, hidden, heads, family),
        # Llama 4 states the width of dense layers apart from that of experts.
        ffn=fields.whole("intermediate_size_mlp" if fields.has("intermediate_size_mlp") else "intermediate_size"),
        vocab=fields.whole("vocab_size", defaults.get("vocab_size")),
        gated=family.gated,
        tied_embeddings=fields.flag("tie_word_embeddings", default=family.tied),
        qkv_bias=qkv_bias,
        linear_bias=linear_bias,
        qk_norm=family.qk_norm or (family.name == "glm-moe" and fields.flag("use_qk_norm", default=False)),
        norms_per_layer=family.norms_per_layer,
        max_position=fields.whole("max_position_embeddings", defaults.get("max_position_embeddings")),
        window=window,
        sliding_layers=sliding,
        latent=latent,
        experts=experts,
        extra_parameters=extra + (layers * heads if family.sinks else 0),
        source=fields.file,
        notes="Layers that predict further tokens are left out." if fields.has("num_nextn_predict_layers") else "",
    )
    fields.refuse_unknown("sliding_window", "layer_types", "lm_head_bias", *(["num_key_value_heads"] if latent else []))
    return arch


def _head_dim(fields: Fields, hidden: int, heads: int, family: Family) -> int:
    """Explicit, or the width divided by the heads, which has to come out even."""
    default = family.defaults.get("head_dim")
    if fields.has("head_dim") or default is not None:
        return fields.whole("head_dim", default)
    if hidden % heads:
        fields.refuse("head_dim", f"is missing, and {hidden} is no multiple of {heads} attention heads")
    return hidden // heads


def _biases(fields: Fields, family: Family, layers: int, hidden: int) -> tuple[bool, bool, int]:
    """Bias of query, key and value; of all matrices; and parameters of the output bias where only attention has biases."""
    attention = fields.flag("attention_bias", default=family.attention_bias)
    perceptron = fields.flag("mlp_bias", default=family.expert_biases)
    if family.always_qkv_bias:
        fields.must_be("qkv_bias", True)  # noqa: FBT003 - a value that is allowed, no switch
    if perceptron and not attention:
        fields.refuse("mlp_bias", "true without attention_bias is not understood")
    if perceptron:
        return False, True, 0
    output = layers * hidden if attention and family.bias == "all" else 0
    return attention or family.always_qkv_bias, False, output


def _falcon(fields: Fields, name: str) -> ModelArch:
    """Falcon: MLPs of two matrices, attention and MLP side by side, one or two norms a layer."""
    layers = fields.first_whole("num_hidden_layers", "n_layer")
    hidden, heads = fields.whole("hidden_size"), fields.first_whole("num_attention_heads", "n_head")
    grouped = fields.flag("new_decoder_architecture", default=False)
    parallel = fields.flag("parallel_attn", default=True)
    single = fields.flag("multi_query", default=True)
    kv_heads = fields.first_whole("num_kv_heads", "n_head_kv", default=heads) if grouped else 1 if single else heads
    if hidden % heads:
        fields.refuse("num_attention_heads", f"{hidden} is no multiple of {heads} attention heads")
    norms = fields.whole("num_ln_in_parallel_attn", 2 if grouped else 1) if parallel else 2
    arch = ModelArch(
        id=name.lower(),
        name=name,
        family="falcon",
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=hidden // heads,
        ffn=fields.whole("ffn_hidden_size", 4 * hidden),
        vocab=fields.whole("vocab_size"),
        gated=False,
        tied_embeddings=fields.flag("tie_word_embeddings", default=True),
        linear_bias=fields.flag("bias", default=False),
        norms_per_layer=norms,
        max_position=fields.whole("max_position_embeddings", 2048),
        source=fields.file,
    )
    fields.refuse_unknown("num_kv_heads", "n_head_kv", "alibi")
    return arch


def _chatglm(fields: Fields, name: str) -> ModelArch:
    """GLM-4 in its first spelling: groups of queries, a gated MLP, a head of its own."""
    heads, grouped = fields.whole("num_attention_heads"), fields.flag("multi_query_attention", default=False)
    hidden = fields.whole("hidden_size")
    arch = ModelArch(
        id=name.lower(),
        name=name,
        family="glm",
        layers=fields.whole("num_layers", most=MOST_LAYERS),
        hidden=hidden,
        heads=heads,
        kv_heads=fields.whole("multi_query_group_num") if grouped else heads,
        head_dim=fields.whole("kv_channels"),
        ffn=fields.whole("ffn_hidden_size"),
        vocab=fields.first_whole("padded_vocab_size", "vocab_size"),
        tied_embeddings=fields.flag("tie_word_embeddings", default=False),
        qkv_bias=fields.flag("add_qkv_bias", default=False),
        linear_bias=fields.flag("add_bias_linear", default=False),
        max_position=fields.first_whole("seq_length", "max_position_embeddings"),
        source=fields.file,
    )
    fields.refuse_unknown("multi_query_group_num", "num_hidden_layers", "vocab_size")
    return arch
