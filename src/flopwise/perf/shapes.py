"""Sizes that every formula of this room starts from: elements per layer and per token of one architecture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwise.domain.hardware import PRECISION_BYTES
from flopwise.domain.model_arch import ModelArch
from flopwise.ground.errors import UnknownNameError

#: A quantity of one layout (float) or of many at once (array).
Array = float | NDArray[np.float64]


def element_bytes(precision: str) -> float:
    """Bytes of one element, block scales included.

    Raises:
        UnknownNameError: no such precision.

    >>> element_bytes("bf16"), element_bytes("nvfp4")
    (2.0, 0.5625)
    """
    if precision not in PRECISION_BYTES:
        raise UnknownNameError("precision", precision, PRECISION_BYTES, hint=f"known: {', '.join(PRECISION_BYTES)}")
    return PRECISION_BYTES[precision]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Elements (not bytes) of one architecture.

    ``attention`` .. ``norms`` are parameters of one layer; ``expert`` is one routed expert and ``shared`` all
    shared experts of a layer; ``extra`` is what the plain formula does not know, spread over layers. ``query``,
    ``key``, ``value`` and ``output`` are activation widths per token of attention, as computed (after
    decompression, for latent attention).
    """

    layers: int
    dense_layers: int
    expert_layers: int
    attention: float
    dense_mlp: float
    shared: float
    expert: float
    router: float
    norms: float
    extra: float
    embedding: float
    head: float
    head_matrix: float
    query: float
    key: float
    value: float
    output: float
    experts: int
    top_k: int

    @property
    def expert_share(self) -> float:
        """Fraction of layers that are mixtures."""
        return self.expert_layers / self.layers

    @property
    def plain_layer(self) -> float:
        """Parameters of an average layer outside routed experts and norms."""
        mix = self.expert_share
        return self.attention + self.extra + (1.0 - mix) * self.dense_mlp + mix * (self.shared + self.router)

    @property
    def routed_layer(self) -> float:
        """Routed expert parameters of an average layer."""
        return self.expert_share * self.experts * self.expert

    @property
    def active_layer(self) -> float:
        """Parameters that one token meets in an average layer, norms left out."""
        return self.plain_layer + self.expert_share * self.top_k * self.expert


def sizes(arch: ModelArch) -> Sizes:
    """Element counts of ``arch``; O(1)."""
    query, key, value = _widths(arch)
    experts = arch.experts
    matrices = 3 if arch.gated else 2
    expert_layers = experts.layers if experts else 0
    table = float(arch.vocab * arch.hidden)
    return Sizes(
        layers=arch.layers,
        dense_layers=arch.layers - expert_layers,
        expert_layers=expert_layers,
        attention=_attention_parameters(arch),
        dense_mlp=float(matrices * arch.hidden * arch.ffn),
        shared=float(matrices * arch.hidden * experts.shared * (experts.shared_ffn or experts.ffn)) if experts else 0.0,
        expert=float(matrices * arch.hidden * experts.ffn) if experts else 0.0,
        router=float(arch.hidden * experts.count) if experts else 0.0,
        norms=float(arch.norms_per_layer * arch.hidden),
        extra=arch.extra_parameters / arch.layers,
        embedding=table,
        head=0.0 if arch.tied_embeddings else table,
        head_matrix=table,
        query=query,
        key=key,
        value=value,
        output=float(arch.heads * arch.latent.value_head_dim) if arch.latent else query,
        experts=experts.count if experts else 0,
        top_k=experts.top_k if experts else 0,
    )


def _widths(arch: ModelArch) -> tuple[float, float, float]:
    if arch.latent:
        head = arch.latent.nope_head_dim + arch.latent.rope_head_dim
        return float(arch.heads * head), float(arch.heads * head), float(arch.heads * arch.latent.value_head_dim)
    pair = float(arch.kv_heads * arch.head_dim)
    return float(arch.heads * arch.head_dim), pair, pair


def _attention_parameters(arch: ModelArch) -> float:
    hidden, latent = arch.hidden, arch.latent
    if latent is None:
        return float(hidden * arch.head_dim * (2 * arch.heads + 2 * arch.kv_heads))
    query = arch.heads * (latent.nope_head_dim + latent.rope_head_dim)
    query_parameters = latent.q_rank * (hidden + query) if latent.q_rank else hidden * query
    down = hidden * (latent.kv_rank + latent.rope_head_dim)
    up = latent.kv_rank * arch.heads * (latent.nope_head_dim + latent.value_head_dim)
    return float(query_parameters + down + up + arch.heads * latent.value_head_dim * hidden)
