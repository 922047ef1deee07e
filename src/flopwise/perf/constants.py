"""Every constant of the performance model that is not a fact of a device: its meaning, and how it was obtained.

``TrainingFactors`` and ``ServingFactors`` are passed to the formulas as a whole, so that a user's own
measurements replace them in one place. Values marked *fitted* minimise a robust log error over one half of
the public measurements (by source, or by model and accelerator); errors are quoted for the other half.
"""

from __future__ import annotations

from dataclasses import dataclass

from flopwise.ground.units import GIGA, MICRO, MILLI

#: Share of peak that the best matrix product reaches where no measurement exists: median of the public
#: ceiling table over devices (0.51 to 0.97).
DEFAULT_CEILING = 0.70
#: Share of accelerator memory kept free for the driver context and allocator fragmentation (published practice 8-12 %).
MEMORY_RESERVE = 0.08
#: Communication buffers per process (bytes): two groups of channels at the usual library defaults.
COMMUNICATION_BUFFERS = 1.0 * GIGA
#: Rate between accelerators of a server that scale-up links do not join: a host bus of 16 lanes, as measured (B/s).
HOST_LINK = 25.0 * GIGA
#: Vendors whose devices the factors were fitted on; others get the wider interval.
CALIBRATED_VENDORS = frozenset({"nvidia"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFactors:
    """Collective time = latency x (1 + log2 members or domains) + root x sqrt(bytes) + bytes / (efficiency x rate).

    Latency and root: medians of fits to public collective benchmarks (8 to 128 accelerators, five vendors of
    clouds and servers), scale-up from single nodes, scale-out from several. Efficiency: measured bus bandwidth
    over nominal link rate in the same fits (0.94-1.1 inside, 0.83-0.97 between servers), lowered by the fit.
    """

    scale_up_latency: float = 5.0 * MICRO
    scale_up_root: float = 0.010 * MICRO
    scale_up_efficiency: float = 0.85
    scale_out_latency: float = 20.0 * MICRO
    scale_out_root: float = 0.030 * MICRO
    scale_out_efficiency: float = 0.80


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingFactors:
    """Global physical constants of the training step.

    sustained: share of the measured best-shape ceiling that holds over a whole step (clock and power), fitted.
    attention: share of the bf16 ceiling that a fused attention kernel reaches, fitted.
    element_passes: times that the residual stream crosses memory per layer, forward and backward, fitted.
    quantise_passes: further crossings when products run below 16 bits, fitted.
    host: launch and framework time per layer and micro-batch, forward and backward (s), fitted.
    host_experts: the same for a mixture layer (s), fitted.
    exposed: share of overlappable communication that is never hidden, fitted.
    hiding: share of compute under which the rest hides, fitted.
    tensor_exposed: share of tensor-parallel communication that is exposed, fitted.
    jitter: loss per doubling of accelerators beyond one server (stragglers), from published weak scaling
    (128 to 512 accelerators lose 2.5 to 7.7 %), of which communication explains a part.
    """

    sustained: float = 0.90
    attention: float = 0.60
    element_passes: float = 24.0
    quantise_passes: float = 12.0
    host: float = 1.0 * MILLI
    host_experts: float = 4.0 * MILLI
    exposed: float = 0.15
    hiding: float = 0.9
    tensor_exposed: float = 0.8
    jitter: float = 0.005
    links: LinkFactors = LinkFactors()


#: 80 % interval of training rate as log half-widths, from residuals on held-out sources, by class.
TRAINING_INTERVAL = {"dense": 0.30, "experts": 0.55, "uncalibrated": 0.60}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingFactors:
    """Global physical constants of the serving step.

    bandwidth: share of memory bandwidth that streaming weights and cache reach, fitted.
    sustained: share of the best-shape ceiling in the products of a serving step, fitted.
    layer: fixed time per layer of a decode step (s), fitted.
    step: fixed time per step of engine and sampling (s), fitted.
    norm: exponent that joins compute and memory time of the products (infinity would be the plain maximum).
    pipeline_loss: share of a step that unequal micro-batches waste on many stages (prefill chunks among decodes), assumed.
    """

    bandwidth: float = 0.75
    sustained: float = 0.70
    layer: float = 25.0 * MICRO
    step: float = 2.0 * MILLI
    norm: float = 3.0
    pipeline_loss: float = 0.15
    links: LinkFactors = LinkFactors()


#: 80 % interval of serving rate as log half-widths, from residuals on held-out groups, by class.
SERVING_INTERVAL = {"dense": 0.40, "experts": 0.60, "uncalibrated": 0.70}
#: Share of the saturation rate at which a replica is planned: time to first token breaks abruptly within
#: the last fifth before saturation (published load tests: 0.14 s to 18.8 s between adjacent rates).
KNEE = 0.80
#: Share of KV space that running requests may fill on average: above it engines evict and recompute
#: (a measured tax of 10 to 23 % of tokens and more).
KV_FILL = 0.92
#: 95th percentile over mean of time per output token in steady state (published online benchmarks: 1.1-1.4).
TPOT_TAIL = 1.25
#: Waits of a queue near its 95th percentile over the mean wait, for an exponential tail: ln 20.
WAIT_TAIL = 3.0
#: Share of total memory that an inference engine claims for itself at start (the usual default).
ENGINE_SHARE = 0.90
#: Prompt tokens that an engine works on in one step (the usual default of chunked prefill).
PREFILL_CHUNK = 8192.0
#: Time from arrival to the first scheduled step that no model part explains (tokenisation, HTTP), in s.
REQUEST_OVERHEAD = 10.0 * MILLI
