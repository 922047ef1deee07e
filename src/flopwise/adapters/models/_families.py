"""What each ``model_type`` of Hugging Face means: which fields hold its sizes, and what it takes for granted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from flopwise.adapters.models._fields import MOST_LAYERS, Fields
from flopwise.domain.model_arch import Experts, LatentAttention

#: Kinds of layers that ``layer_types`` may name: those that see everything, and those that see a window.
_FULL, _NEAR = "full_attention", ("sliding_attention", "chunked_attention")
Window = tuple[int | None, int]


def no_experts(_fields: Fields, _layers: int) -> Experts | None:
    """A dense model."""
    return None


def no_window(_fields: Fields, _layers: int) -> Window:
    """Every layer sees the whole context."""
    return None, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How one ``model_type`` is read.

    ``sinks`` are one parameter per head and layer, ``index`` is that of sparse attention.
    ``defaults`` stand for fields that published files leave out because the library has them. ``bias`` says what
    ``attention_bias`` means: biases of ``all`` four matrices, or of query, key and value only (``qkv``).
    """

    name: str
    tied: bool = False
    gated: bool = True
    always_qkv_bias: bool = False
    bias: str = "all"
    attention_bias: bool = False
    qk_norm: bool = False
    norms_per_layer: int = 2
    latent: bool = False
    expert_biases: bool = False
    sinks: bool = False
    index: bool = False
    experts: Callable[[Fields, int], Experts | None] = no_experts
    window: Callable[[Fields, int], Window] = no_window
    defaults: Mapping[str, int] = field(default_factory=dict[str, int])


def latent_of(fields: Fields) -> LatentAttention:
    """Sizes of multi-head latent attention."""
    return LatentAttention(
        kv_rank=fields.whole("kv_lora_rank"),
        q_rank=fields.whole("q_lora_rank") if fields.has("q_lora_rank") else None,
        rope_head_dim=fields.whole("qk_rope_head_dim"),
        nope_head_dim=fields.whole("qk_nope_head_dim"),
        value_head_dim=fields.whole("v_head_dim"),
    )


def index_parameters(fields: Fields, layers: int, latent: LatentAttention) -> int:
    """Parameters of the index that chooses which tokens attention reads: queries from the latent, keys, head weights."""
    heads, width, hidden = fields.whole("index_n_heads"), fields.whole("index_head_dim"), fields.whole("hidden_size")
    return layers * ((latent.q_rank or hidden) * heads * width + hidden * width + hidden * heads)


def _listed(fields: Fields, layers: int) -> int | None:
    """Layers that see a window only, by ``layer_types``; ``None`` where the file does not list them."""
    kinds = fields.words("layer_types", (_FULL, *_NEAR), layers)
    return None if kinds is None else sum(kind != _FULL for kind in kinds)


def _window_of_all(fields: Fields, layers: int) -> Window:
    """Mistral, Mixtral, Phi-3: a window, where one is stated, holds for every layer."""
    if not fields.has("sliding_window"):
        return None, 0
    listed = _listed(fields, layers)
    window, reach = fields.whole("sliding_window"), fields.whole("max_position_embeddings")
    return (None, 0) if window >= reach else (window, layers if listed is None else listed)


def _window_if_used(fields: Fields, layers: int) -> Window:
    """Qwen: a window counts only with ``use_sliding_window``, from layer ``max_window_layers`` on."""
    used = fields.flag("use_sliding_window", default=False)
    listed = _listed(fields, layers)
    if not used or not fields.has("sliding_window"):
        return None, 0
    first = fields.whole("max_window_layers", 0, least=0, most=MOST_LAYERS)
    return fields.whole("sliding_window"), max(layers - first, 0) if listed is None else listed


def _window_alternating(fields: Fields, layers: int) -> Window:
    """Gemma 2, gpt-oss: every second layer, beginning with the first."""
    listed = _listed(fields, layers)
    return fields.whole("sliding_window"), (layers + 1) // 2 if listed is None else listed


def _window_by_pattern(fields: Fields, layers: int) -> Window:
    """Gemma 3: all but every sixth layer."""
    listed = _listed(fields, layers)
    pattern = fields.first_whole("sliding_window_pattern", "_sliding_window_pattern", default=6)
    return fields.whole("sliding_window", 4096), layers - layers // pattern if listed is None else listed


def _window_in_chunks(fields: Fields, layers: int) -> Window:
    """Llama 4: all but every fourth layer attend within a chunk."""
    listed = _listed(fields, layers)
    return fields.whole("attention_chunk_size", 8192), layers - layers // 4 if listed is None else listed


def _mixtral_experts(fields: Fields, layers: int) -> Experts:
    """Every layer is a mixture; each expert is as wide as ``intermediate_size``."""
    return Experts(
        count=fields.whole("num_local_experts"),
        top_k=fields.first_whole("num_experts_per_tok", "experts_per_token"),
        ffn=fields.whole("intermediate_size"),
        layers=layers,
    )


def _gpt_oss_experts(fields: Fields, layers: int) -> Experts:
    plain = _mixtral_experts(fields, layers)
    return Experts(count=plain.count, top_k=plain.top_k, ffn=plain.ffn, layers=layers, router_bias=True)


def _qwen_experts(fields: Fields, layers: int) -> Experts | None:
    """Every ``decoder_sparse_step``-th layer is a mixture, but for ``mlp_only_layers``."""
    step, dense = fields.whole("decoder_sparse_step", 1), fields.indices("mlp_only_layers", layers)
    mixtures = sum((index + 1) % step == 0 and index not in dense for index in range(layers))
    shared = fields.whole("shared_expert_intermediate_size", 0, least=0)
    return Experts(
        count=fields.first_whole("num_experts", "num_routed_experts"),
        top_k=fields.whole("num_experts_per_tok"),
        ffn=fields.whole("moe_intermediate_size"),
        shared=1 if shared else 0,
        shared_ffn=shared,
        layers=mixtures,
    )


def _deepseek_experts(fields: Fields, layers: int) -> Experts | None:
    """The first layers are dense, then every layer is a mixture with shared experts of the same width."""
    fields.must_be("moe_layer_freq", 1)
    if not fields.has("n_routed_experts"):
        return None
    width, first = fields.whole("moe_intermediate_size"), fields.whole("first_k_dense_replace", 0, least=0, most=MOST_LAYERS)
    return Experts(
        count=fields.whole("n_routed_experts"),
        top_k=fields.whole("num_experts_per_tok"),
        ffn=width,
        shared=fields.whole("n_shared_experts", 0, least=0),
        shared_ffn=width,
        layers=max(layers - first, 0),
        router_bias=fields.word("topk_method", "noaux_tc") == "noaux_tc",
    )


def _llama4_experts(fields: Fields, layers: int) -> Experts:
    """Every ``interleave_moe_layer_step``-th layer is a mixture with one shared expert."""
    step, width = fields.whole("interleave_moe_layer_step", 1), fields.whole("intermediate_size")
    listed = fields.indices("moe_layers", layers)
    return Experts(
        count=fields.whole("num_local_experts"),
        top_k=fields.whole("num_experts_per_tok", 1),
        ffn=width,
        shared=1,
        shared_ffn=width,
        layers=len(listed) or layers // step,
    )


_GEMMA_3 = {
    "vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "max_position_embeddings": 131072,
}  # fmt: skip
_LATENT = Family(name="deepseek", latent=True, experts=_deepseek_experts)
_LATENT_WITH_INDEX = Family(name="deepseek", latent=True, index=True, experts=_deepseek_experts)
_GEMMA_3_FAMILY = Family(name="gemma", tied=True, qk_norm=True, norms_per_layer=4, window=_window_by_pattern, defaults=_GEMMA_3)

#: What is understood, by ``model_type``. Falcon and ChatGLM have spellings of their own and are read apart.
FAMILIES: Mapping[str, Family] = {
    "llama": Family(name="llama"),
    "mistral": Family(name="mistral", window=_window_of_all),
    "mixtral": Family(name="mixtral", experts=_mixtral_experts, window=_window_of_all),
    "qwen2": Family(name="qwen2", always_qkv_bias=True, window=_window_if_used),
    "qwen2_moe": Family(name="qwen2-moe", always_qkv_bias=True, experts=_qwen_experts, window=_window_if_used),
    "qwen3": Family(name="qwen3", qk_norm=True, window=_window_if_used),
    "qwen3_moe": Family(name="qwen3-moe", qk_norm=True, experts=_qwen_experts, window=_window_if_used),
    "deepseek_v2": _LATENT,
    "deepseek_v3": _LATENT,
    "deepseek_v32": _LATENT_WITH_INDEX,
    "glm_moe_dsa": _LATENT_WITH_INDEX,
    "kimi_k2": _LATENT,
    "gemma": Family(name="gemma", tied=True),
    "gemma2": Family(name="gemma", tied=True, norms_per_layer=4, window=_window_alternating),
    "gemma3_text": _GEMMA_3_FAMILY,
    "gpt_oss": Family(
        name="gpt-oss", attention_bias=True, expert_biases=True, sinks=True, experts=_gpt_oss_experts, window=_window_alternating
    ),
    "glm": Family(name="glm", bias="qkv"),
    "glm4": Family(name="glm", bias="qkv", norms_per_layer=4),
    "glm4_moe": Family(name="glm-moe", bias="qkv", experts=_deepseek_experts),
    "phi3": Family(name="phi", window=_window_of_all),
    "phimoe": Family(name="phi", experts=_mixtral_experts, window=_window_of_all),
    "llama4_text": Family(name="llama4", experts=_llama4_experts, window=_window_in_chunks),
}
