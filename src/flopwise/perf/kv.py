"""Bytes of the key-value cache, by kind of attention and by the cache's own precision (not that of the weights)."""

from __future__ import annotations

import numpy as np

from flopwise.domain.model_arch import ModelArch
from flopwise.ground.units import Bytes
from flopwise.perf.shapes import Array, element_bytes


def kv_elements_per_layer(arch: ModelArch) -> float:
    """Cached elements per token and layer: 2 x KV heads x head_dim; for latent attention the latent and its rope part."""
    if arch.latent:
        return float(arch.latent.kv_rank + arch.latent.rope_head_dim)
    return 2.0 * arch.kv_heads * arch.head_dim


def kv_bytes_per_token(arch: ModelArch, precision: str) -> Bytes:
    """Bytes that one more token adds inside every window: all layers but the linear ones."""
    return kv_elements_per_layer(arch) * element_bytes(precision) * (arch.layers - arch.linear_layers)


def kv_bytes(arch: ModelArch, precision: str, context: Array) -> Array:
    """Bytes of the cache of one sequence of ``context`` tokens: sliding layers cap at the window."""
    per_layer = kv_elements_per_layer(arch) * element_bytes(precision)
    near = np.minimum(context, arch.window) if arch.window else context
    return per_layer * (arch.full_attention_layers * context + arch.sliding_layers * near) + linear_state_bytes(arch)


def linear_state_bytes(arch: ModelArch) -> Bytes:
    """Constant state of linear attention: heads x head_dim^2 per layer, kept in fp32."""
    return arch.linear_layers * arch.heads * float(arch.head_dim) ** 2 * element_bytes("fp32")


def kv_shards(arch: ModelArch, tensor_parallel: Array) -> Array:
    """Ways in which tensor parallelism divides the cache: at most KV heads; a latent vector is replicated."""
    heads = 1.0 if arch.latent else float(arch.kv_heads)
    return np.minimum(tensor_parallel, heads)
