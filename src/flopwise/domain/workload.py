"""What the user wants to run, as the scenario states it, in base units."""

from __future__ import annotations

from dataclasses import dataclass

from flopwise.domain.model_arch import ModelArch


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A span in which work may be done: ISO start month, and seconds until it must be finished."""

    start: str
    finish_within: float


#: 95th percentile over mean of token counts where only the mean is stated.
LENGTH_TAIL = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Token counts of one direction: mean and 95th percentile."""

    mean: float
    p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Slo:
    """Latency promises at the 95th percentile (s) and availability (fraction)."""

    ttft_p95: float | None = None
    tpot_p95: float | None = None
    availability: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Monthly growth of traffic as quantiles (fractions per month)."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficProfile:
    """Peak request rate, its shape over representative days, and growth.

    ``mean_share`` is the mean over a week relative to the peak, where it is known; the profile's own otherwise.
    ``origin`` says what the peak was computed from (peak, concurrency, users, trace, mix) and ``derivation``
    prints the arithmetic.
    """

    peak: float
    profile: str
    timezone: str
    growth: Growth
    origin: str
    derivation: str
    mean_share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A workload that may start later, and how likely it is to start at all."""

    date: str
    probability: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingWorkload:
    """Pre-training or fine-tuning. ``repeat_every`` > 0 (s) makes it a recurring run; ``lora_rank`` freezes the base."""

    name: str
    kind: str
    model: ModelArch
    tokens: float
    epochs: float
    precision: str
    sequence: int
    global_batch: float
    window: Window | None
    repeat_every: float = 0.0
    finish_within: float = 0.0
    checkpoint_interval: float | None = None
    launch: Launch | None = None
    lora_rank: int | None = None


#: Tokens of an optimizer step when none are stated, as in published runs: of a run from scratch, and of a fine-tune.
PRETRAIN_BATCH, FINE_TUNE_BATCH = 4e6, 500e3


def usual_batch(tokens: float, sequence: float, *, tuned: bool) -> float:
    """Tokens of a step when none are stated: never more than the run has, never less than one sequence."""
    return max(min(FINE_TUNE_BATCH if tuned else PRETRAIN_BATCH, tokens), float(sequence))


def step_problem(tokens: float, sequence: float, batch: float) -> tuple[str, str] | None:
    """What is wrong with a run of ``tokens`` in steps of ``batch``, and what is expected; nothing when it makes sense.

    A step holds at least one sequence, and a run at least one step: with less, time per token has no meaning.
    """
    if tokens < sequence:
        return f"{tokens:g} tokens are less than one sequence of {sequence:g}", "more tokens, or a shorter sequence"
    if batch < sequence:
        return f"a batch of {batch:g} tokens is less than one sequence of {sequence:g}", "at least one sequence"
    if batch > tokens:
        return f"a batch of {batch:g} tokens is more than the {tokens:g} of the whole run", "a smaller batch, or more tokens"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingWorkload:
    """Online inference of one model."""

    name: str
    kind: str
    model: ModelArch
    precision: str
    kv_precision: str
    engine: str
    traffic: TrafficProfile
    input: Lengths
    output: Lengths
    prefix_cache_hit: float
    slo: Slo
    zones: int
    launch: Launch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentWorkload:
    """Research work stated as a share of training; it draws from the headroom budget."""

    name: str
    kind: str
    share_of_training: float


Workload = TrainingWorkload | ServingWorkload | ExperimentWorkload
