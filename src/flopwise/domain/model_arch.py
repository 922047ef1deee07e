"""A transformer architecture: what FLOPs, memory and KV cache are computed from."""

from __future__ import annotations

from dataclasses import dataclass

from flopwise.domain.provenance import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Multi-head latent attention (MLA): one compressed KV vector per token and layer."""

    kv_rank: int
    q_rank: int | None
    rope_head_dim: int
    nope_head_dim: int
    value_head_dim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """Mixture of experts: sizes of routed and shared experts, and which layers carry them."""

    count: int
    top_k: int
    ffn: int
    shared: int = 0
    shared_ffn: int = 0
    layers: int
    router_bias: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelArch:
    """One model. Sizes are elements, not bytes.

    ``ffn`` is the dense MLP width (of the dense layers, where some layers are mixtures); ``gated`` MLPs
    have three matrices, others two. ``sliding_layers`` of the ``layers`` attend within ``window`` only and
    ``linear_layers`` keep a state of constant size. ``kv_heads`` counts KV heads (not attention heads).
    ``extra_parameters`` holds what the plain formula does not know (norms aside), named in ``notes``.
    """

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    family: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    gated: bool = True
    tied_embeddings: bool = False
    qkv_bias: bool = False
    linear_bias: bool = False
    qk_norm: bool = False
    norms_per_layer: int = 2
    learned_positions: int = 0
    max_position: int
    window: int | None = None
    sliding_layers: int = 0
    linear_layers: int = 0
    latent: LatentAttention | None = None
    experts: Experts | None = None
    extra_parameters: int = 0
    published_parameters: Fact | None = None
    kv_upper_bound: bool = False
    source: str = ""
    notes: str = ""

    @property
    def full_attention_layers(self) -> int:
        """Layers whose KV cache grows with the whole context."""
        return self.layers - self.sliding_layers - self.linear_layers
