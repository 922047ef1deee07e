"""Peak memory of the worst rank, by part.

Training: weights, gradients, fp32 master weights and Adam moments by ZeRO stage (18 bytes per parameter
un-sharded; 6 + 12/shard with a distributed optimizer), activations in flight by pipeline schedule
(Korthikanti 2022, with tensor and sequence parallelism, grouped KV heads, gated MLPs and fused attention, so
without the term in s^2), logits of the last stage, embeddings of the first and last stage, uneven layers,
unshard buffers of ZeRO-3, communication buffers. Norms are not divided by tensor parallelism.

Serving: weights, cache, workspace, against the engine's own claim on the device in absolute bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flopwise.domain.model_arch import ModelArch
from flopwise.ground.units import Bytes
from flopwise.perf.constants import COMMUNICATION_BUFFERS
from flopwise.perf.layouts import LayoutArrays
from flopwise.perf.shapes import Array, Sizes, element_bytes, sizes

WEIGHT_BYTES = 2.0
GRADIENT_BYTES = 4.0
#: fp32 master weight and two fp32 Adam moments.
OPTIMIZER_BYTES = 12.0
ACTIVATION_BYTES = 2.0
#: Logits exist in fp32 as values and as gradients.
LOGIT_BYTES = 8.0
#: Layers whose weights ZeRO-3 holds whole at once: the one in use and the one prefetched.
UNSHARDED_LAYERS = 2.0


def mixed_precision_states(parameters: Array, gradient_bytes: float = WEIGHT_BYTES) -> Array:
    """Static bytes of mixed-precision Adam, un-sharded: 2 + gradient + 12 per parameter (the rule of 16, or 18).

    >>> round(mixed_precision_states(6.7e9) / 1e9)
    107
    """
    return parameters * (WEIGHT_BYTES + gradient_bytes + OPTIMIZER_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingMemory:
    """Peak bytes of the worst rank, by part; arrays over layouts."""

    weights: Array
    gradients: Array
    optimizer: Array
    activations: Array
    other: Array

    @property
    def total(self) -> Array:
        """Sum of all parts."""
        return self.weights + self.gradients + self.optimizer + self.activations + self.other


def training_memory(
    arch: ModelArch, layout: LayoutArrays, sequence: int, micro_batches: Array, lora_rank: int | None = None
) -> TrainingMemory:
    """Memory of the worse of the first and the last pipeline stage; O(number of layouts).

    Args:
        arch: the model.
        layout: degrees, arrays of one shape.
        sequence: tokens per sequence.
        micro_batches: micro-batches per step and data-parallel rank.
        lora_rank: rank of adapters, when the base weights are frozen.
    """
    first = _stage(arch, layout, sequence, micro_batches, lora_rank, last=False)
    last = _stage(arch, layout, sequence, micro_batches, lora_rank, last=True)
    worse = np.asarray(last.total > first.total)
    return TrainingMemory(
        **{
            name: np.where(worse, getattr(last, name), getattr(first, name))
            for name in ("weights", "gradients", "optimizer", "activations", "other")
        }
    )


def stage_layers(layers: int, layout: LayoutArrays) -> Array:
    """Layers of the fullest pipeline stage: chunks are cut evenly and rounded up."""
    return np.minimum(np.ceil(layers / (layout.pp * layout.vpp)) * layout.vpp, float(layers))


def _stage(
    arch: ModelArch, layout: LayoutArrays, sequence: int, micro_batches: Array, lora_rank: int | None, *, last: bool
) -> TrainingMemory:
    size = sizes(arch)
    layers = stage_layers(arch.layers, layout)
    plain, routed = _rank_parameters(size, layout, layers, last=last)
    weights, gradients, optimizer = _states(layout, plain, routed)
    if lora_rank is not None:
        weights = _shared_weights(layout, plain + routed)
        adapters = adapter_parameters(arch, lora_rank) * layers / layout.tp
        gradients, optimizer = adapters * GRADIENT_BYTES, adapters * (OPTIMIZER_BYTES + WEIGHT_BYTES)
    tokens = layout.micro_batch * sequence / layout.cp
    activations = _activations(arch, layout, layers, tokens, micro_batches, last=last)
    has_head = np.asarray(layout.pp == 1.0) | last
    logits = np.where(has_head, tokens * arch.vocab / layout.tp * LOGIT_BYTES, 0.0)
    unshard = np.where(
        np.asarray(layout.zero_stage == 3.0),
        UNSHARDED_LAYERS * _layer_parameters(size, layout) * (WEIGHT_BYTES + GRADIENT_BYTES / 2.0),
        0.0,
    )
    other = logits + unshard + COMMUNICATION_BUFFERS
    return TrainingMemory(weights=weights, gradients=gradients, optimizer=optimizer, activations=activations, other=other)


def adapter_parameters(arch: ModelArch, rank: int) -> float:
    """Parameters of low-rank adapters on the attention and dense MLP matrices of one layer: rank x (in + out) of each."""
    size = sizes(arch)
    attention = 4.0 * arch.hidden + size.query + size.key + size.value + size.output
    return rank * (attention + (3.0 if arch.gated else 2.0) * (arch.hidden + arch.ffn))


def _rank_parameters(size: Sizes, layout: LayoutArrays, layers: Array, *, last: bool) -> tuple[Array, Array]:
    """Parameters of one rank outside and inside routed experts."""
    single = np.asarray(layout.pp == 1.0)
    ends = np.where(single, size.embedding + size.head, size.head_matrix if last else size.embedding)
    plain = (layers * size.plain_layer + ends) / layout.tp + layers * size.norms
    return plain, layers * size.routed_layer / layout.expert_shards


def _layer_parameters(size: Sizes, layout: LayoutArrays) -> Array:
    return size.plain_layer / layout.tp + size.norms + size.routed_layer / layout.expert_shards


def data_shards(layout: LayoutArrays) -> tuple[Array, Array]:
    """Ranks that share one copy of the states: of the plain part, and of the routed experts."""
    ranks = layout.dp * layout.cp
    return ranks, np.maximum(ranks * layout.tp / layout.expert_shards, 1.0)


def _states(layout: LayoutArrays, plain: Array, routed: Array) -> tuple[Array, Array, Array]:
    shards, expert_shards = data_shards(layout)
    sharded = plain / shards + routed / expert_shards
    whole = plain + routed
    stage = np.asarray(layout.zero_stage)
    weights = WEIGHT_BYTES * np.where(stage >= 3.0, sharded, whole)
    gradients = GRADIENT_BYTES * np.where(stage >= 2.0, sharded, whole)
    optimizer = OPTIMIZER_BYTES * np.where(stage >= 1.0, sharded, whole)
    return weights, gradients, optimizer


def _shared_weights(layout: LayoutArrays, parameters: Array) -> Array:
    shards = np.where(np.asarray(layout.zero_stage) >= 3.0, layout.dp * layout.cp, 1.0)
    return WEIGHT_BYTES * parameters / shards


def _activations(
    arch: ModelArch, layout: LayoutArrays, layers: Array, tokens: Array, micro_batches: Array, *, last: bool
) -> Array:
    """Saved activations of all micro-batches in flight, plus the working set of one layer being recomputed."""
    stored = [layer_activations(arch, policy) for policy in range(3)]
    saved = np.select([np.asarray(layout.recompute == code) for code in (0.0, 1.0)], stored[:2], stored[2])
    working = np.where(np.asarray(layout.recompute > 0.0), stored[0] - saved, 0.0)
    flight = 1.0 if last else in_flight(layout, micro_batches)
    if last:
        flight = np.where(np.asarray(layout.vpp > 1.0), in_flight(layout, micro_batches) - (layout.pp - 1.0) / layout.vpp, 1.0)
        flight = np.where(np.asarray(layout.pp == 1.0), 1.0, np.maximum(flight, 1.0))
    return tokens / layout.tp * (layers * saved * flight + working)


def in_flight(layout: LayoutArrays, micro_batches: Array) -> Array:
    """Micro-batches whose activations the first stage holds: p for 1F1B, p (1 + (p-1)/(p v)) interleaved."""
    stages = layout.pp * (1.0 + np.where(np.asarray(layout.vpp > 1.0), (layout.pp - 1.0) / (layout.pp * layout.vpp), 0.0))
    return np.minimum(stages, micro_batches)


def layer_activations(arch: ModelArch, policy: int) -> Bytes:
    """Bytes that one layer saves per token, before division by tensor (and sequence) parallelism.

    ``policy`` 0 saves all: inputs of norms and products (2 B x 4 h), Q, K, V and attention output, MLP inner
    tensors. For multi-head attention and an un-gated MLP of 4 h this is 32 h (Korthikanti's 34 h less the two
    dropout masks). 1 (selective) recomputes norms and the activation function, 2 (full) keeps only the input.
    """
    if policy == 2:
        return ACTIVATION_BYTES * arch.hidden
    size = sizes(arch)
    attention = size.query + size.key + size.value + size.output + _latent_width(arch)
    inner = (2.0 if arch.gated else 1.0) + (1.0 if policy == 0 else 0.0)
    norms = 4.0 if policy == 0 else 2.0
    return ACTIVATION_BYTES * (norms * arch.hidden + attention + _mlp_width(arch, size, inner, policy))


def _latent_width(arch: ModelArch) -> float:
    if arch.latent is None:
        return 0.0
    return float((arch.latent.q_rank or 0) + arch.latent.kv_rank + arch.latent.rope_head_dim)


def _mlp_width(arch: ModelArch, size: Sizes, inner: float, policy: int) -> float:
    mix = size.expert_share
    dense = (1.0 - mix) * inner * arch.ffn
    if arch.experts is None:
        return dense
    shared = inner * arch.experts.shared * (arch.experts.shared_ffn or arch.experts.ffn)
    copies = 2.0 if policy == 0 else 1.0
    return dense + mix * (shared + size.top_k * (inner * arch.experts.ffn + copies * arch.hidden))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingMemory:
    """Bytes of one accelerator of a replica: weights, space left for the cache, and the rest."""

    weights: Array
    cache_space: Array
    other: Array


def weight_bytes(arch: ModelArch, precision: str) -> tuple[float, float]:
    """Bytes of weights outside and inside routed experts; embeddings and head stay in 16 bits."""
    size = sizes(arch)
    small = element_bytes(precision)
    wide = max(small, WEIGHT_BYTES)
    plain = arch.layers * (size.plain_layer * small + size.norms * wide) + (size.embedding + size.head) * wide
    return plain, arch.layers * size.routed_layer * small


def serving_memory(
    arch: ModelArch, precision: str, *, memory: float, share: float, tp: Array, pp: Array, dp: Array, chunk: float
) -> ServingMemory:
    """Memory of one rank: ``share`` x ``memory`` is what the engine claims, in absolute bytes of its own process.

    ``dp`` copies of attention weights share the routed experts, which are split over tp x dp.
    """
    plain, routed = weight_bytes(arch, precision)
    weights = plain / (tp * pp) + routed / (tp * dp * pp)
    routed_width = arch.experts.top_k * arch.experts.ffn if arch.experts else 0
    inner = 2.0 * max(arch.ffn, routed_width) / tp
    workspace = ACTIVATION_BYTES * chunk * (2.0 * arch.hidden + inner)
    other = workspace + COMMUNICATION_BUFFERS * np.where(np.asarray(tp * pp * dp) > 1.0, 1.0, 0.0) + 0.0 * weights
    return ServingMemory(weights=weights, cache_space=share * memory - weights - other, other=other)
