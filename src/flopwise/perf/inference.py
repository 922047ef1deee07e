"""Serving: step time of continuous batching at steady state, and the best replica for latency promises.

A replica of tp x pp x dp accelerators runs B requests at once. One decode step takes

    t_step(B) = norm(weight bytes / bandwidth, FLOPs / rate) + cache bytes / bandwidth + collectives
                + layers x fixed + fixed

with only the experts that B tokens touch, E (1 - (1 - k/E)^B). New prompts are prefilled between decode
steps, so in steady state each request costs (a prefill, then ``out`` steps shared with B - 1 others):

    rate = B / (out x t_step + B x t_prefill),   time per output token = t_step + B x t_prefill / out.

Time to first token at the 95th percentile is the prefill of a long prompt (slowed by the decodes it shares steps
with), plus the wait of an M/G/1 queue on the prefill work, plus the steps around it. Cache space holds mean contexts
up to the fill limit.

Errors on public aggregated rows, constants fitted on one half of 21 (model, accelerator) groups, median / p90 of
|predicted/measured - 1| on the other half: time per output token 0.21 / 0.79 (dense 0.10 / 0.23, experts 0.26 / 0.88;
fit half 0.14 / 0.58); offline throughput, never fitted, 0.10 to 0.15 / 0.30 to 0.55; time to first token about 0.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flopwise.domain.hardware import PRECISION_BYTES, Platform
from flopwise.domain.model_arch import ModelArch
from flopwise.perf import collectives
from flopwise.perf.constants import (
    ENGINE_SHARE,
    PREFILL_CHUNK,
    PREFILL_SLOWDOWN,
    REQUEST_OVERHEAD,
    STEPS_AROUND_PREFILL,
    TPOT_TAIL,
    WAIT_TAIL,
    ServingFactors,
)
from flopwise.perf.flops import Convention, attention_flops
from flopwise.perf.kv import kv_bytes, kv_bytes_per_token, kv_shards
from flopwise.perf.memory import ServingMemory, serving_memory
from flopwise.perf.roofline import joined, sustained_rate, wide_rate
from flopwise.perf.shapes import Array, Sizes, sizes

_ACTIVATION_BYTES = 2.0
#: All-reduces of one layer: after attention and after the MLP.
_REDUCES_PER_LAYER = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaArrays:
    """Degrees of many replicas: tensor, pipeline and attention-data parallel; experts split over tp x dp."""

    tp: Array
    pp: Array
    dp: Array

    @property
    def accelerators(self) -> Array:
        """Accelerators of one replica."""
        return self.tp * self.pp * self.dp


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingJob:
    """What is served: model, precisions of weights and cache, token counts, share of prompts in the prefix cache."""

    arch: ModelArch
    precision: str
    kv_precision: str
    input_mean: float
    input_p95: float
    output_mean: float
    prefix_cache_hit: float = 0.0

    @property
    def context(self) -> float:
        """Mean context of a running request: its prompt and half of its answer."""
        return self.input_mean + self.output_mean / 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Time of one pass (s) by resource; ``total`` joins them."""

    compute: Array
    memory_bandwidth: Array
    interconnect: Array
    fixed: Array
    total: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class SteadyState:
    """A replica that runs ``batch`` requests at once: rates (req/s), latencies and parts (s)."""

    rate: Array
    ttft_mean: Array
    ttft_p95: Array
    tpot_mean: Array
    tpot_p95: Array
    step: Parts
    prefill: Parts
    prefill_p95: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    job: ServingJob
    size: Sizes
    replica: ReplicaArrays
    link: collectives.Links
    factors: ServingFactors
    product_rate: float
    attention_rate: float
    bandwidth: float


def _setting(job: ServingJob, platform: Platform, replica: ReplicaArrays, factors: ServingFactors) -> _Setting:
    accelerator = platform.accelerator
    return _Setting(
        job=job,
        size=sizes(job.arch),
        replica=replica,
        link=collectives.links(platform, factors.links),
        factors=factors,
        product_rate=sustained_rate(accelerator, job.precision) * factors.sustained,
        attention_rate=wide_rate(accelerator, job.precision) * factors.sustained,
        bandwidth=accelerator.memory_bandwidth.value * factors.bandwidth,
    )


def experts_touched(experts: float, top_k: float, tokens: Array) -> Array:
    """Expected number of distinct experts that ``tokens`` tokens reach: E (1 - (1 - k/E)^tokens)."""
    return experts * (1.0 - (1.0 - top_k / experts) ** tokens)


def decode_attention_flops(arch: ModelArch, context: Array) -> Array:
    """FLOPs of one new token over ``context`` cached ones; latent attention works on the compressed vectors."""
    if arch.latent is None:
        return attention_flops(arch, context, Convention.FULL)
    width = 2.0 * arch.latent.kv_rank + arch.latent.rope_head_dim
    return 2.0 * arch.layers * arch.heads * width * context


def decode_step(
    job: ServingJob,
    platform: Platform,
    replica: ReplicaArrays,
    batch: Array,
    context: Array,
    factors: ServingFactors | None = None,
) -> Parts:
    """Time until every one of ``batch`` requests has one more token.

    Args:
        job: model and precisions.
        platform: device, server, network.
        replica: degrees, broadcastable with ``batch``.
        batch: requests that run at once in the replica.
        context: tokens that each has in the cache.
        factors: constants; the shipped ones by default.

    Returns:
        Seconds, by part. With p stages, p micro-batches of batch/p walk round, so a token costs p stage times.
    """
    setting = _setting(job, platform, replica, factors or ServingFactors())
    tokens = np.maximum(batch / replica.pp, 1.0)
    products = _products(setting, tokens)
    per_rank = np.maximum(tokens / replica.dp, 1.0)
    cache = kv_bytes(job.arch, job.kv_precision, context) * per_rank / kv_shards(job.arch, replica.tp)
    attention = decode_attention_flops(job.arch, context) * per_rank / (replica.tp * setting.attention_rate)
    streamed = cache / setting.bandwidth
    exchange = _exchange(setting, tokens)
    fixed = _fixed(setting) + setting.factors.step
    uneven = 1.0 + setting.factors.pipeline_loss * (1.0 - 1.0 / replica.pp)
    total = (products.total + joined(streamed, attention, setting.factors.norm) + exchange + fixed) * uneven
    return Parts(
        compute=products.compute + attention,
        memory_bandwidth=products.memory_bandwidth + streamed,
        interconnect=exchange,
        fixed=fixed + 0.0 * total,
        total=total,
    )


def prefill(
    job: ServingJob,
    platform: Platform,
    replica: ReplicaArrays,
    prompt: Array,
    factors: ServingFactors | None = None,
) -> Parts:
    """Time of the pass that prefills one prompt of ``prompt`` tokens on every data-parallel rank (s).

    The cached prefix is left out. Chunks of a prompt pay products, causal attention to the whole prompt,
    exchange and one pass over the weights each.
    """
    setting = _setting(job, platform, replica, factors or ServingFactors())
    fresh = np.maximum(prompt * (1.0 - job.prefix_cache_hit), 1.0)
    passes = np.ceil(fresh / PREFILL_CHUNK)
    products = _products(setting, fresh * replica.dp)
    per_token = attention_flops(job.arch, prompt) * (1.0 + job.prefix_cache_hit)
    attention = fresh * per_token / (replica.tp * setting.attention_rate)
    exchange = _exchange(setting, fresh * replica.dp / passes) * passes
    fixed = passes * _fixed(setting)
    total = products.total + attention + exchange + fixed
    return Parts(
        compute=products.compute + attention,
        memory_bandwidth=products.memory_bandwidth,
        interconnect=exchange,
        fixed=fixed + 0.0 * total,
        total=total,
    )


def _products(setting: _Setting, tokens: Array) -> Parts:
    """All matrix products of a pass of ``tokens`` tokens through all layers, and the logits.

    ``dp`` splits the tokens of attention (whose weights are replicated) and the experts; tp splits everything.
    """
    size, replica, job = setting.size, setting.replica, setting.job
    element = PRECISION_BYTES[job.precision]
    wide = size.head_matrix * max(element, 2.0)
    plain_bytes = (size.layers * size.plain_layer * element + wide) / replica.tp
    plain_flops = 2.0 * tokens * (size.layers * size.plain_layer + size.head_matrix) / (replica.tp * replica.dp)
    plain_time = joined(plain_bytes / setting.bandwidth, plain_flops / setting.product_rate, setting.factors.norm)
    if not size.experts:
        return _parts(plain_flops / setting.product_rate, plain_bytes / setting.bandwidth, plain_time)
    split = replica.tp * replica.dp
    touched = experts_touched(float(size.experts), float(size.top_k), tokens)
    routed_bytes = size.expert_layers * touched * size.expert * element / (split * setting.factors.experts)
    routed_flops = 2.0 * tokens * size.expert_layers * size.top_k * size.expert / split
    routed_time = joined(routed_bytes / setting.bandwidth, routed_flops / setting.product_rate, setting.factors.norm)
    return _parts(
        (plain_flops + routed_flops) / setting.product_rate,
        (plain_bytes + routed_bytes) / setting.bandwidth,
        plain_time + routed_time,
    )


def _fixed(setting: _Setting) -> float:
    """Launch and routing time of all layers in one pass."""
    return setting.size.layers * setting.factors.layer + setting.size.expert_layers * setting.factors.routing


def _parts(compute: Array, memory_bandwidth: Array, total: Array) -> Parts:
    return Parts(compute=compute, memory_bandwidth=memory_bandwidth, interconnect=0.0, fixed=0.0, total=total)


def _exchange(setting: _Setting, tokens: Array) -> Array:
    """All-reduces over tensor ranks, expert exchange over data ranks, sends between stages, for one pass."""
    replica, job = setting.replica, setting.job
    width = job.arch.hidden * _ACTIVATION_BYTES
    layers = float(job.arch.layers)
    placed = collectives.group(setting.link, replica.tp, 1.0)
    reduces = _REDUCES_PER_LAYER * layers * collectives.all_reduce(setting.link, placed, tokens / replica.dp * width)
    wide = collectives.group(setting.link, replica.tp * replica.dp, 1.0)
    crossing = np.where(np.asarray(replica.dp > 1.0), collectives.all_gather(setting.link, wide, tokens * width), 0.0)
    hops = (replica.pp - 1.0) * np.where(
        np.asarray(replica.pp > 1.0), collectives.send(setting.link, replica.tp * replica.dp, tokens * width), 0.0
    )
    return reduces + 2.0 * setting.size.expert_layers * crossing + hops


def steady_state(
    job: ServingJob, platform: Platform, replica: ReplicaArrays, batch: Array, factors: ServingFactors | None = None
) -> SteadyState:
    """Rates and latencies of a replica that always runs ``batch`` requests; arrays broadcast. See the module."""
    step = decode_step(job, platform, replica, batch, job.context, factors)
    mean = prefill(job, platform, replica, np.asarray(job.input_mean), factors)
    long = prefill(job, platform, replica, np.asarray(job.input_p95), factors)
    uneven = 1.0 + (factors or ServingFactors()).pipeline_loss * (1.0 - 1.0 / replica.pp)
    occupied = mean.total * uneven / (replica.pp * replica.dp)
    tokens = np.maximum(job.output_mean, 1.0)
    tpot = step.total + batch * occupied / tokens
    rate = batch / (tokens * tpot)
    busy = np.minimum(rate * occupied, 1.0 - 1e-9)
    wait = busy / (1.0 - busy) * occupied
    return SteadyState(
        rate=rate,
        ttft_mean=REQUEST_OVERHEAD + PREFILL_SLOWDOWN * mean.total + wait + STEPS_AROUND_PREFILL * step.total,
        ttft_p95=REQUEST_OVERHEAD + PREFILL_SLOWDOWN * long.total + WAIT_TAIL * wait + STEPS_AROUND_PREFILL * step.total,
        tpot_mean=tpot,
        tpot_p95=TPOT_TAIL * tpot,
        step=step,
        prefill=mean,
        prefill_p95=long.total,
    )


def replica_memory(job: ServingJob, platform: Platform, replica: ReplicaArrays) -> ServingMemory:
    """Memory of one accelerator of a replica; the engine claims its share of the device in absolute bytes."""
    return serving_memory(
        job.arch,
        job.precision,
        memory=platform.accelerator.memory.value,
        share=ENGINE_SHARE,
        tp=replica.tp,
        pp=replica.pp,
        dp=replica.dp,
        chunk=PREFILL_CHUNK,
    )


def cache_capacity(job: ServingJob, platform: Platform, replica: ReplicaArrays) -> tuple[Array, Array]:
    """Tokens, and mean requests, that the cache of a whole replica holds; 0 where the weights do not fit."""
    space = np.maximum(replica_memory(job, platform, replica).cache_space, 0.0)
    shards = kv_shards(job.arch, replica.tp) * replica.pp
    tokens = space * shards * replica.dp / kv_bytes_per_token(job.arch, job.kv_precision)
    requests = space * shards * replica.dp / kv_bytes(job.arch, job.kv_precision, job.context)
    return tokens, requests
