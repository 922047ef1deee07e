"""Time of one training step, in closed form, over many layouts at once.

step = (m x slowest stage + (p-1)/v x mean stage + pipeline sends + exposed gradient and weight exchange
        + optimizer) x jitter

A stage is layers x (products + fused attention + memory-bound passes, joined with the host's launch time, +
exposed tensor, context and expert exchange), the last one with the logits. m micro-batches, p stages, v
interleaved chunks. Products follow the roofline of ``roofline``; exchange that overlaps compute is exposed as
c (g + (1-g) c / (c + f compute)), which falls towards a floor g and is monotone in every rate.

Errors on public runs, constants fitted on three sources, median / p90 of |predicted/measured - 1| of tokens/s, dense
models of 7B and more: fitted sources 0.08 / 0.17, the other three 0.11 / 0.37; mixtures (one source, fitted) 0.17 / 0.54.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flopwise.domain.hardware import Platform
from flopwise.domain.model_arch import ModelArch
from flopwise.ground.units import Seconds
from flopwise.perf import collectives
from flopwise.perf.collectives import Group, Links
from flopwise.perf.constants import TrainingFactors
from flopwise.perf.flops import BACKWARD, BACKWARD_FROZEN, attention_flops
from flopwise.perf.layouts import LayoutArrays
from flopwise.perf.memory import OPTIMIZER_BYTES, WEIGHT_BYTES, data_shards, stage_layers
from flopwise.perf.roofline import joined, product_time, sustained_rate, wide_rate
from flopwise.perf.shapes import Array, Sizes, element_bytes, sizes

#: FLOPs of a fused attention backward pass over its forward pass (it recomputes the scores).
_ATTENTION_BACKWARD = 2.5
#: Exponent that joins the device's time with the host's launch time.
_LAUNCH_NORM = 3.0
#: Crossings of memory by fp32 logits in the loss, forward and backward.
_LOSS_PASSES = 6.0
#: Bytes per parameter that the optimizer reads and writes: fp32 state twice, gradient in, weight out.
_OPTIMIZER_TRAFFIC = 2.0 * OPTIMIZER_BYTES + 4.0 + WEIGHT_BYTES
_GRADIENT_WIRE_BYTES = 2.0
_ACTIVATION_WIRE_BYTES = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """What is trained: model, tokens per sequence, sequences per step, precision, adapters."""

    arch: ModelArch
    sequence: int
    sequences: int
    precision: str
    lora_rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTime:
    """Parts of a step (s), arrays over layouts; ``total`` is their sum.

    ``compute`` (products and attention), ``memory_bound`` (passes, loss, optimizer), ``host`` (what launch
    time adds), ``communication`` (exposed), ``bubble`` (pipeline fill), ``jitter`` (stragglers).
    """

    total: Array
    compute: Array
    memory_bound: Array
    host: Array
    communication: Array
    bubble: Array
    jitter: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """One average layer and micro-batch, forward and backward (s)."""

    compute: Array
    memory_bound: Array
    device_and_host: Array
    exposed: Array

    @property
    def total(self) -> Array:
        return self.device_and_host + self.exposed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """What every term needs: job, platform figures, layouts and derived arrays."""

    job: TrainingJob
    size: Sizes
    layout: LayoutArrays
    link: Links
    factors: TrainingFactors
    product_rate: float
    attention_rate: float
    bandwidth: float
    tokens: Array

    @property
    def backward(self) -> float:
        """Backward products over forward products."""
        return BACKWARD_FROZEN if self.job.lora_rank is not None else BACKWARD


def micro_batches(job: TrainingJob, layout: LayoutArrays) -> Array:
    """Micro-batches per step and data-parallel rank; a batch that does not divide is rounded."""
    return np.maximum(np.round(job.sequences / (layout.dp * layout.micro_batch)), 1.0)


def step_tokens(job: TrainingJob, layout: LayoutArrays) -> Array:
    """Tokens of one step as the layout runs it: whole micro-batches on every data-parallel rank."""
    return micro_batches(job, layout) * layout.dp * layout.micro_batch * job.sequence


def step_time(job: TrainingJob, platform: Platform, layout: LayoutArrays, factors: TrainingFactors | None = None) -> StepTime:
    """Time of one optimizer step.

    Args:
        job: what is trained.
        platform: the device, its server, its network (B/s per accelerator and direction).
        layout: degrees; arrays of one shape.
        factors: constants; the shipped ones by default.

    Returns:
        Parts of the step in seconds, arrays of the layouts' shape; infinite where a group needs a network
        that is not there. O(number of layouts).
    """
    setting = _setting(job, platform, layout, factors or TrainingFactors())
    count = micro_batches(job, layout)
    layers = stage_layers(job.arch.layers, layout)
    layer = _layer(setting)
    logits_compute, logits_memory = _logits(setting)
    logits = logits_compute + logits_memory
    busiest, has_logits = _slowest_stage(setting, layers, layer.total, logits)
    slowest = busiest * layer.total + has_logits * logits
    bubble = (layout.pp - 1.0) / layout.vpp * (job.arch.layers * layer.total + logits) / layout.pp
    sends = _pipeline_sends(setting, count)
    exchange = _data_exchange(setting, count, layers, layer.total)
    optimizer = _optimizer(setting, layers)
    jitter = _jitter(setting.link, layout, setting.factors)
    before = count * slowest + bubble + sends + exchange + optimizer
    return StepTime(
        total=before * jitter,
        compute=count * (busiest * layer.compute + has_logits * logits_compute),
        memory_bound=count * (busiest * layer.memory_bound + has_logits * logits_memory) + optimizer,
        host=count * busiest * (layer.device_and_host - layer.compute - layer.memory_bound),
        communication=count * busiest * layer.exposed + sends + exchange,
        bubble=bubble,
        jitter=before * (jitter - 1.0),
    )


def _setting(job: TrainingJob, platform: Platform, layout: LayoutArrays, factors: TrainingFactors) -> _Setting:
    accelerator = platform.accelerator
    return _Setting(
        job=job,
        size=sizes(job.arch),
        layout=layout,
        link=collectives.links(platform, factors.links),
        factors=factors,
        product_rate=sustained_rate(accelerator, job.precision) * factors.sustained,
        attention_rate=wide_rate(accelerator, job.precision) * factors.attention,
        bandwidth=accelerator.memory_bandwidth.value,
        tokens=layout.micro_batch * job.sequence / layout.cp,
    )


def _slowest_stage(setting: _Setting, layers: Array, layer: Array, logits: Array) -> tuple[Array, Array]:
    """Layers of the slowest stage, and 1 where it carries the logits.

    The fullest stage, or the last one: half of the layers that rounding leaves over (at most one) spare it.
    """
    spare = np.clip((layers * setting.layout.pp - setting.size.layers) / 2.0, 0.0, 1.0)
    last = np.asarray(logits >= spare * layer)
    return np.where(last, layers - spare, layers), np.where(last, 1.0, 0.0)


def _layer(setting: _Setting) -> _Layer:
    """Sum of all terms of one layer; recomputation repeats the forward part that its policy names."""
    layout, factors = setting.layout, setting.factors
    forward, weights_read = _products(setting)
    attention = _attention(setting)
    passes = _passes(setting)
    full = np.asarray(layout.recompute == 2.0) * 1.0
    partial = np.asarray(layout.recompute >= 1.0) * 1.0
    compute = forward * (1.0 + setting.backward + full) + attention * (1.0 + _ATTENTION_BACKWARD + partial)
    memory_bound = passes * (1.0 + partial / 3.0) + weights_read * (1.0 + setting.backward + full)
    mix = setting.size.expert_share
    host = ((1.0 - mix) * factors.host + mix * factors.host_experts) * (1.0 + full / 3.0)
    device = compute + memory_bound
    busy = joined(device, host, _LAUNCH_NORM)
    exposed = _tensor_exchange(setting, full) + _context_exchange(setting, attention) + _expert_exchange(setting, device, full)
    return _Layer(compute=compute, memory_bound=memory_bound, device_and_host=busy, exposed=exposed)


def _products(setting: _Setting) -> tuple[Array, Array]:
    """Forward time of the matrix products of an average layer: FLOP part, and memory part (weights and tensors)."""
    size, layout = setting.size, setting.layout
    element = element_bytes(setting.job.precision)
    flops = 2.0 * setting.tokens * size.active_layer / layout.tp
    local_experts = size.routed_layer / layout.expert_shards
    weights = WEIGHT_BYTES * (size.plain_layer / layout.tp + local_experts)
    tensors = setting.tokens / layout.tp * _tensor_elements(setting.job.arch, size) * (1.0 + element)
    return product_time(flops, 0.0, setting.product_rate, 1.0), product_time(0.0, weights + tensors, 1.0, setting.bandwidth)


def _tensor_elements(arch: ModelArch, size: Sizes) -> float:
    """Elements per token that products of a layer write and the next one reads."""
    inner = 2.0 if arch.gated else 1.0
    dense = (1.0 - size.expert_share) * (inner * arch.ffn + arch.hidden)
    attention = size.query + size.key + size.value + size.output + arch.hidden
    if arch.experts is None:
        return attention + dense
    shared = arch.experts.shared * inner * (arch.experts.shared_ffn or arch.experts.ffn)
    routed = size.top_k * (inner * arch.experts.ffn + 2.0 * arch.hidden)
    return attention + dense + size.expert_share * (shared + routed)


def _attention(setting: _Setting) -> Array:
    """Forward time of causal attention of an average layer."""
    per_layer = attention_flops(setting.job.arch, float(setting.job.sequence)) / setting.size.layers
    return setting.tokens * per_layer / (setting.layout.tp * setting.attention_rate)


def _passes(setting: _Setting) -> Array:
    """Memory-bound passes over the tensors of a layer, forward and backward, split by sequence parallelism."""
    elements = setting.tokens * _tensor_elements(setting.job.arch, setting.size) / setting.layout.tp
    moved = elements * setting.factors.element_passes * WEIGHT_BYTES
    return moved / setting.bandwidth


def _logits(setting: _Setting) -> tuple[Array, Array]:
    """Output projection and loss of one micro-batch on the last stage: products, memory-bound part."""
    per_rank = setting.tokens * setting.job.arch.vocab / setting.layout.tp
    rate = setting.attention_rate / setting.factors.attention * setting.factors.sustained
    products = 2.0 * per_rank * setting.job.arch.hidden * (1.0 + setting.backward) / rate
    return products, per_rank * 4.0 * _LOSS_PASSES / setting.bandwidth


def _tensor_exchange(setting: _Setting, full: Array) -> Array:
    """Four all-gathers and four reduce-scatters of the micro-batch per layer, six with full recompute."""
    layout = setting.layout
    placed = collectives.group(setting.link, layout.tp, 1.0)
    size = setting.tokens * setting.job.arch.hidden * _ACTIVATION_WIRE_BYTES
    once = collectives.all_reduce(setting.link, placed, size)
    return setting.factors.tensor_exposed * once * (4.0 + 2.0 * full)


def _context_exchange(setting: _Setting, attention: Array) -> Array:
    """Keys and values travel round the context ring, forward and backward, behind attention."""
    layout = setting.layout
    placed = collectives.group(setting.link, layout.cp, layout.tp)
    width = (setting.size.key + setting.size.value) / layout.tp
    size = setting.tokens * layout.cp * width * _ACTIVATION_WIRE_BYTES
    once = collectives.all_gather(setting.link, placed, size)
    return _exposed(3.0 * once, attention * (1.0 + _ATTENTION_BACKWARD), setting.factors)


def _expert_exchange(setting: _Setting, device: Array, full: Array) -> Array:
    """Tokens to their experts and back, forward and backward (and once more when recomputed)."""
    if not setting.size.experts:
        return 0.0
    layout = setting.layout
    placed = collectives.group(setting.link, layout.ep, 1.0)
    copies = np.minimum(float(setting.size.top_k), np.maximum(layout.ep, 1.0))
    size = setting.tokens / layout.tp * copies * setting.job.arch.hidden * _ACTIVATION_WIRE_BYTES
    once = collectives.all_to_all(setting.link, placed, size)
    return _exposed(setting.size.expert_share * once * (4.0 + 2.0 * full), device, setting.factors)


def _exposed(time: Array, compute: Array, factors: TrainingFactors) -> Array:
    """Part of ``time`` that ``compute`` does not hide; all of it where the time is infinite."""
    finite = np.isfinite(time)
    real = np.where(finite, time, 1.0)
    share = real / np.maximum(real + factors.hiding * compute, np.finfo(float).tiny)
    return np.where(finite, real * (factors.exposed + (1.0 - factors.exposed) * share), np.inf)


def _pipeline_sends(setting: _Setting, count: Array) -> Array:
    """Activations to the next stage and gradients back; behind compute but for the floor."""
    layout = setting.layout
    stride = layout.tp * layout.cp * layout.dp
    size = setting.tokens / layout.tp * setting.job.arch.hidden * _ACTIVATION_WIRE_BYTES
    once = collectives.send(setting.link, stride, size)
    steps = 2.0 * (setting.factors.exposed * count * layout.vpp + (layout.pp - 1.0))
    return np.where(np.asarray(layout.pp > 1.0), steps * np.where(np.asarray(layout.pp > 1.0), once, 0.0), 0.0)


def _data_exchange(setting: _Setting, count: Array, layers: Array, layer: Array) -> Array:
    """Gradients and weights among data-parallel ranks.

    ZeRO 0 and 1: one reduce-scatter of gradients and one all-gather of weights per step, behind one
    micro-batch. ZeRO 2: gradients after every micro-batch. ZeRO 3: weights twice and gradients once per
    micro-batch. Frozen weights (LoRA) have no gradients; those of the adapters are too small to count.
    """
    size, layout = setting.size, setting.layout
    ends = np.where(np.asarray(layout.pp == 1.0), size.embedding + size.head, size.embedding) / layout.tp
    plain = layers * (size.plain_layer / layout.tp + size.norms) + ends
    routed = layers * size.routed_layer / layout.expert_shards
    shards, expert_shards = data_shards(layout)
    once = _gather(setting, plain / layers, shards, layout.tp) + _gather(
        setting, routed / layers, expert_shards, layout.expert_shards
    )
    once = once * layers
    stage = np.asarray(layout.zero_stage)
    frozen = setting.job.lora_rank is not None
    passes = (2.0 * count, 0.0, 0.0) if frozen else (3.0 * count, 1.0 + count, 2.0)
    volume = once * np.select([stage == 3.0, stage == 2.0], passes[:2], passes[2])
    cover = layers * layer * np.where(stage >= 2.0, count, 1.0)
    return _exposed(volume, cover, setting.factors)


def _gather(setting: _Setting, parameters: Array, ranks: Array, stride: Array) -> Array:
    """One all-gather of ``parameters`` weights (or reduce-scatter of their gradients); frameworks send layer by layer."""
    placed: Group = collectives.group(setting.link, ranks, stride)
    return collectives.all_gather(setting.link, placed, parameters * _GRADIENT_WIRE_BYTES)


def _optimizer(setting: _Setting, layers: Array) -> Seconds | Array:
    size, layout = setting.size, setting.layout
    shards, expert_shards = data_shards(layout)
    sharded = np.asarray(layout.zero_stage >= 1.0)
    plain = layers * size.plain_layer / layout.tp / np.where(sharded, shards, 1.0)
    routed = layers * size.routed_layer / layout.expert_shards / np.where(sharded, expert_shards, 1.0)
    trained = 0.0 if setting.job.lora_rank is not None else 1.0
    return trained * (plain + routed) * _OPTIMIZER_TRAFFIC / setting.bandwidth


def _jitter(link: Links, layout: LayoutArrays, factors: TrainingFactors) -> Array:
    servers = np.maximum(layout.accelerators / link.domain, 1.0)
    return 1.0 + factors.jitter * np.log2(servers)
