"""Serving: step time of continuous batching at steady state, and the best replica for latency promises.

A replica of tp x pp x dp accelerators runs B requests at once. One decode step takes

    t_step(B) = norm(weight bytes / bandwidth, FLOPs / rate) + cache bytes / bandwidth + collectives
                + layers x fixed + fixed

with only the experts that B tokens touch, E (1 - (1 - k/E)^B). In steady state a = B/out requests finish, and as many
new prompts start, per step (chunked prefill): while a < 1, a share a of the steps carries one prompt; beyond, every
step carries a prompts. Prompt tokens join the products, exchange and attention of their step. Little's law gives

    time per output token = mean step(B),   rate = B / (out x time per output token).

Time to first token is the steps that carry the prompt, the wait for a place in a step (utilisation of the prompt
tokens that a step may take), and the step that runs when it arrives (two at the 95th percentile). Cache space holds
mean contexts up to the fill limit.

Errors on public rows, constants fitted on one half of 21 (model, accelerator) groups, median / p90 of
|predicted/measured - 1| on the other half: time per output token, closed loop 0.22 / 0.80 (dense 0.12 / 0.24, experts
0.27 / 0.88; fit half 0.14 / 0.54). Never fitted: offline throughput dense 0.11 / 0.22 to 0.33, experts 0.13 to 0.17 /
0.33; open loop, time per output token 0.11 / 0.19 and time to first token 0.20 / 0.47. Closed-loop time to first
token, whose arrivals are bunched, is about twice the figure here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flopwise.domain.hardware import Platform
from flopwise.domain.model_arch import ModelArch
from flopwise.perf import collectives
from flopwise.perf.constants import (
    ENGINE_SHARE,
    PREFILL_CHUNK,
    REQUEST_OVERHEAD,
    TPOT_TAIL,
    WAIT_TAIL,
    ServingFactors,
)
from flopwise.perf.flops import Convention, attention_flops
from flopwise.perf.kv import kv_bytes, kv_bytes_per_token, kv_shards
from flopwise.perf.memory import ServingMemory, serving_memory
from flopwise.perf.roofline import joined, sustained_rate, wide_rate
from flopwise.perf.shapes import Array, Sizes, element_bytes, sizes

_ACTIVATION_BYTES = 2.0
#: All-reduces of one layer: after attention and after the MLP.
_REDUCES_PER_LAYER = 2.0
_PARTS = ("compute", "memory_bandwidth", "interconnect", "fixed", "total")
#: Prompt tokens that steps carry over what they may: beyond, the wait is taken as if at this share.
_FULLEST = 0.999


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
    """A replica that runs ``batch`` requests at once: rates (req/s), latencies and parts (s).

    ``step`` is a step with its share of prompt tokens, ``decode`` one without, ``prefill`` the steps
    that carry a mean prompt, ``prefill_p95`` a long one.
    """

    rate: Array
    ttft_mean: Array
    ttft_p95: Array
    tpot_mean: Array
    tpot_p95: Array
    step: Parts
    decode: Array
    prefill: Array
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
    *,
    prompt_tokens: Array = 0.0,
) -> Parts:
    """Time until every one of ``batch`` requests has one more token.

    Args:
        job: model and precisions.
        platform: device, server, network.
        replica: degrees, broadcastable with ``batch``.
        batch: requests that run at once in the replica.
        context: tokens that each has in the cache.
        factors: constants; the shipped ones by default.
        prompt_tokens: tokens of new mean prompts that the same step carries in the whole replica.

    Returns:
        Seconds, by part. With p stages, p micro-batches of batch/p walk round, so a token costs p stage times.
    """
    setting = _setting(job, platform, replica, factors or ServingFactors())
    tokens = np.maximum(batch / replica.pp, 1.0)
    fresh = prompt_tokens / replica.pp
    products = _products(setting, tokens + fresh)
    per_rank = np.maximum(tokens / replica.dp, 1.0)
    cache = kv_bytes(job.arch, job.kv_precision, context) * per_rank / kv_shards(job.arch, replica.tp)
    attention = decode_attention_flops(job.arch, context) * per_rank / (replica.tp * setting.attention_rate)
    streamed = cache / setting.bandwidth
    exchange = _exchange(setting, tokens + fresh)
    first = _prompt_attention(setting, fresh / replica.dp, job.input_mean)
    fixed = _fixed(setting) + setting.factors.step
    uneven = 1.0 + setting.factors.pipeline_loss * (1.0 - 1.0 / replica.pp)
    cached = joined(streamed, attention, setting.factors.norm)
    total = (products.total + cached + first + exchange + fixed) * uneven
    return Parts(
        compute=products.compute + attention + first,
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
    fresh = _fresh_tokens(job, prompt)
    passes = np.ceil(fresh / PREFILL_CHUNK)
    products = _products(setting, fresh * replica.dp)
    attention = _prompt_attention(setting, fresh, prompt)
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


def _prompt_attention(setting: _Setting, tokens: Array, prompt: Array) -> Array:
    """Causal attention of ``tokens`` fresh tokens on one data-parallel rank; they also see the cached prefix."""
    per_token = attention_flops(setting.job.arch, prompt) * (1.0 + setting.job.prefix_cache_hit)
    return tokens * per_token / (setting.replica.tp * setting.attention_rate)


def _products(setting: _Setting, tokens: Array) -> Parts:
    """All matrix products of a pass of ``tokens`` tokens through all layers, and the logits.

    ``dp`` splits the tokens of attention (whose weights are replicated) and the experts; tp splits everything.
    """
    size, replica, job = setting.size, setting.replica, setting.job
    element = element_bytes(job.precision)
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
    tokens = np.maximum(job.output_mean, 1.0)
    share, carried = _prompts_per_step(job, replica, batch / tokens)
    decode = decode_step(job, platform, replica, batch, job.context, factors)
    mixed = decode_step(job, platform, replica, batch, job.context, factors, prompt_tokens=carried)
    step = Parts(
        **{name: (1.0 - share) * getattr(decode, name) + share * getattr(mixed, name) for name in _PARTS},
    )
    full = np.minimum(share * carried / (PREFILL_CHUNK * replica.pp * replica.dp), _FULLEST)
    wait = full / (1.0 - full) * mixed.total
    first = [_first_token(job, platform, replica, batch, length, factors) for length in (job.input_mean, job.input_p95)]
    return SteadyState(
        rate=batch / (tokens * step.total),
        ttft_mean=REQUEST_OVERHEAD + step.total + first[0] + wait,
        ttft_p95=REQUEST_OVERHEAD + 2.0 * step.total + first[1] + WAIT_TAIL * wait,
        tpot_mean=step.total,
        tpot_p95=TPOT_TAIL * step.total,
        step=step,
        decode=decode.total,
        prefill=first[0],
        prefill_p95=first[1],
    )


def _prompts_per_step(job: ServingJob, replica: ReplicaArrays, starting: Array) -> tuple[Array, Array]:
    """Share of steps that carry prompts, and prompt tokens of such a step, when ``starting`` prompts start per step."""
    fresh = _fresh_tokens(job, job.input_mean)
    pieces = np.ceil(fresh / PREFILL_CHUNK)
    each = starting / replica.pp
    share = np.minimum(1.0, each * pieces)
    return share, each * fresh / share * replica.pp


def _fresh_tokens(job: ServingJob, prompt: Array) -> Array:
    return np.maximum(prompt * (1.0 - job.prefix_cache_hit), 1.0)


def _first_token(
    job: ServingJob, platform: Platform, replica: ReplicaArrays, batch: Array, prompt: float, factors: ServingFactors | None
) -> Array:
    """Time of the steps that carry one prompt of ``prompt`` tokens, among ``batch`` running requests."""
    fresh = _fresh_tokens(job, prompt)
    pieces = np.ceil(fresh / PREFILL_CHUNK)
    carried = fresh / pieces * replica.pp * replica.dp
    step = decode_step(job, platform, replica, batch, job.context, factors, prompt_tokens=carried)
    return pieces * step.total


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
