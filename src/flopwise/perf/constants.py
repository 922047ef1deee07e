"""Every constant of the performance model that is not a fact of a device: its meaning, and how it was obtained.

``TrainingFactors`` and ``ServingFactors`` are passed to the formulas as a whole, so that a user's own
measurements replace them in one place. Values marked *fitted* minimise a robust log error over one half of
the public measurements (by source, or by model and accelerator); errors are quoted for the other half.
"""

from __future__ import annotations

from dataclasses import dataclass

from flopwise.ground.units import GIGA, MICRO, MILLI

#: Share of peak that the best matrix product reaches where no measurement exists: lower quartile of the public
#: ceiling table over devices (0.51 to 0.97), rounded down.
DEFAULT_CEILING = 0.70
#: Share of accelerator memory kept free for the driver context and allocator fragmentation (published practice 8-12 %).
MEMORY_RESERVE = 0.08
#: Communication buffers per process (bytes): two groups of channels at the usual library defaults.
COMMUNICATION_BUFFERS = 1.0 * GIGA
#: Rate between accelerators of a server that scale-up links do not join: about 80 % of a 16-lane
#: fourth-generation host bus (B/s), assumed.
HOST_LINK = 25.0 * GIGA
#: Vendors whose devices the factors were fitted on; others get the wider interval.
CALIBRATED_VENDORS = frozenset({"nvidia"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TierFactors:
    """One tier of links: latency (s), latency per further member (s), s per square root of a byte, share of rate."""

    latency: float
    hop: float
    root: float
    efficiency: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFactors:
    """Factors of collectives, per tier.

    An all-reduce is two phases, so about half of what fits to public all-reduce sweeps give: inside a server 13 to
    43 us and 0.005 to 0.013 us/sqrt(B) (seven servers), between two and four servers 42 to 350 us and 0.021 to 0.043
    us/sqrt(B) of a fabric without faults, lower end taken. Efficiency: bus bandwidth of such fits over the nominal
    rate, 0.8 and more in either tier; real messages share the device with products. ``hop``: one ring step between
    domains, from weak scaling of sharded training to 1,024 accelerators (assumed, not fitted alone).
    """

    scale_up: TierFactors = TierFactors(latency=8.0 * MICRO, hop=0.0, root=0.005 * MICRO, efficiency=0.85)
    scale_out: TierFactors = TierFactors(latency=25.0 * MICRO, hop=6.0 * MICRO, root=0.015 * MICRO, efficiency=0.80)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingFactors:
    """Global physical constants of the training step.

    sustained: share of the measured best-shape ceiling that holds over a whole step (clock and power), fitted.
    attention: share of the bf16 ceiling that a fused attention kernel reaches, fitted.
    element_passes: times that the tensors of a layer cross memory outside products, forward and backward, fitted.
    host: launch and framework time per layer and micro-batch, forward and backward (s), fitted.
    host_experts: the same for a mixture layer (s), fitted.
    exposed: share of overlappable communication that is never hidden, fitted.
    hiding: share of compute under which the rest hides, fitted.
    tensor_exposed: share of tensor-parallel communication that is exposed, fitted.
    jitter: loss per doubling of accelerators beyond one server (stragglers), from published weak scaling
    (128 to 512 accelerators lose 2.5 to 7.7 %), of which communication explains a part.
    """

    sustained: float = 0.84
    attention: float = 0.39
    element_passes: float = 13.0
    host: float = 0.72 * MILLI
    host_experts: float = 6.6 * MILLI
    exposed: float = 0.04
    hiding: float = 0.98
    tensor_exposed: float = 0.76
    jitter: float = 0.005
    links: LinkFactors = LinkFactors()


#: Log half-width of the 80 % interval of training rate, by class. Dense: 85 % quantile of |log error| with each
#: of six sources left out in turn, sources weighted by sqrt(min(n, 30)). Experts: one source has such rows; its
#: error when left out (80 % quantile 0.44), widened. Uncalibrated: what trials of transfer to
#: an unseen vendor gave (53 %), rounded up.
TRAINING_INTERVAL = {"dense": 0.25, "experts": 0.55, "uncalibrated": 0.60}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingFactors:
    """Global physical constants of the serving step.

    bandwidth: share of memory bandwidth that streaming weights and cache reach, fitted.
    experts: share of that bandwidth in grouped products of routed experts, fitted.
    sustained: share of the best-shape ceiling in the products of a serving step, fitted.
    routing: fixed time that a mixture layer adds: routing, permutation, small kernels (s), fitted.
    layer: fixed time per layer of a decode step (s), fitted.
    step: fixed time per step of engine and sampling (s), fitted.
    norm: exponent that joins compute and memory time of the products (infinity would be the plain maximum).
    pipeline_loss: share of a step that unequal micro-batches waste on many stages (prefill chunks among decodes), assumed.
    """

    bandwidth: float = 0.87
    experts: float = 0.62
    sustained: float = 0.63
    layer: float = 54.0 * MICRO
    routing: float = 31.0 * MICRO
    step: float = 0.05 * MILLI
    norm: float = 3.0
    pipeline_loss: float = 0.15
    links: LinkFactors = LinkFactors(scale_up=TierFactors(latency=4.0 * MICRO, hop=0.0, root=0.005 * MICRO, efficiency=0.90))


#: Log half-width of the 80 % interval of serving rate, by class: |log error| of time per output token on held-out
#: (model, accelerator) groups has 80 % quantiles 0.20 (dense) and 0.53 (experts); dense widened for engines unseen.
#: Uncalibrated: assumed wider than training's, since no serving row of another vendor was scored.
SERVING_INTERVAL = {"dense": 0.30, "experts": 0.55, "uncalibrated": 0.70}
#: Log half-width of the 80 % interval of memory on the worst accelerator. Training: 12 published peaks of Llama 3.1 8B
#: (torchtitan) give |log errors| of 0.01 to 0.36; larger models with unstated micro-batches are not scored. Serving: the
#: engine claims a stated share; what runs beside it is assumed.
MEMORY_INTERVAL = {"training": 0.36, "serving": 0.10}
#: Share of the saturation rate at which a replica is planned: time to first token breaks abruptly within
#: the last fifth before saturation (published load tests: 0.14 s to 18.8 s between adjacent rates).
KNEE = 0.80
#: Share of KV space that running requests may fill on average: above it engines evict and recompute
#: (a measured tax of 10 to 23 % of tokens and more).
KV_FILL = 0.92
#: 95th percentile over mean of time per output token in steady state: per-request logs of four public open-loop runs
#: give 1.11 to 1.51 (median 1.17); 34 public server-scenario results give 1.2 for the 99th percentile.
TPOT_TAIL = 1.25
#: Waits of a queue near its 95th percentile over the mean wait, for an exponential tail: ln 20.
WAIT_TAIL = 3.0
#: Share of total memory that an inference engine claims for itself at start (the usual default).
ENGINE_SHARE = 0.90
#: Prompt tokens that an engine works on in one step (the usual default of chunked prefill).
PREFILL_CHUNK = 8192.0
#: Part of time to first token that no model part explains (tokenisation, HTTP, scheduling), in s: between fits to
#: open-loop (5 ms) and closed-loop (14 ms) benchmarks.
REQUEST_OVERHEAD = 10.0 * MILLI
