"""``mix``: the work of one side, training or serving, from that of the other.

Both sides are model FLOPs per second on average over the horizon. The share of accelerator time becomes a share
of FLOPs by how well each side uses an accelerator, a noted assumption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flopwise.adapters.scenario.gather import Gather
from flopwise.adapters.scenario.schema import MixPart
from flopwise.adapters.scenario.traffic import FLAT, Origin, Request
from flopwise.adapters.scenario.work import SEQUENCE, ServingDraft
from flopwise.domain.model_arch import ModelArch
from flopwise.domain.workload import TrainingWorkload
from flopwise.ground.units import MONTH, Flops, FlopsPerSecond, RequestsPerSecond, Tokens, show
from flopwise.perf.flops import forward_flops, training_flops
from flopwise.planning.demand.blocks import mean_load

#: Model FLOPs over peak that the two sides reach, typically: large training runs, and chat serving within its promises.
TRAINING_USE, SERVING_USE = 0.40, 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Mean model FLOP/s of what is stated on each side, over the horizon."""

    training: FlopsPerSecond
    serving: FlopsPerSecond


def known_work(training: Sequence[TrainingWorkload], drafts: Sequence[ServingDraft], months: int) -> Known:
    """What both sides ask for, as far as it is stated. Growth and launches are left out: ``mix`` is a rough word."""
    trained = sum(_training_rate(workload, months) for workload in training)
    served = sum(
        draft.origin.peak * _mean_share(draft) * request_flops(draft.model, draft.request) for draft in drafts if draft.origin
    )
    return Known(training=trained, serving=served)


def _mean_share(draft: ServingDraft) -> float:
    """Mean over peak of a service."""
    known = draft.origin.mean_share if draft.origin else None
    return mean_load(draft.part.traffic.profile or FLAT) if known is None else known


def _training_rate(workload: TrainingWorkload, months: int) -> FlopsPerSecond:
    each = float(training_flops(workload.model, float(workload.sequence), frozen=workload.lora_rank is not None))
    period = workload.repeat_every or months * MONTH
    return each * workload.tokens * workload.epochs / period


def request_flops(model: ModelArch, request: Request) -> Flops:
    """Model FLOPs of one request: a forward pass over its prompt and its output."""
    tokens = request.input.mean + request.output.mean
    return tokens * float(forward_flops(model, tokens))


def serving_peak(mix: MixPart, known: Known, draft: ServingDraft, count: int) -> Origin:
    """Peak rate of one of ``count`` services of unknown traffic, from the training work."""
    ratio = mix.serving / mix.training
    flops = known.training * ratio * SERVING_USE / TRAINING_USE / count
    mean: RequestsPerSecond = flops / request_flops(draft.model, draft.request)
    peak = mean / _mean_share(draft)
    shared = f" / {count} services" if count > 1 else ""
    words = (
        f"training needs {show(known.training, 'FLOP/s')} on average; x {ratio:.3g} (serving over training in 'mix') x "
        f"{SERVING_USE:g} / {TRAINING_USE:g} (use of an accelerator){shared} / "
        f"{show(request_flops(draft.model, draft.request), 'FLOP')} per request = {show(mean, 'req/s')}; "
        f"busiest hour {show(peak, 'req/s')}"
    )
    return Origin(peak=peak, name="mix", derivation=words)


def training_tokens(
    mix: MixPart, known: Known, model: ModelArch, sequence: int | None, spread: tuple[int, int]
) -> tuple[Tokens, str]:
    """Tokens of one of several runs of unknown size, from the serving work. ``spread`` is (months, number of runs)."""
    months, count = spread
    ratio = mix.training / mix.serving
    flops = known.serving * ratio * TRAINING_USE / SERVING_USE / count * months * MONTH
    tokens = flops / float(training_flops(model, float(sequence or SEQUENCE)))
    words = (
        f"serving needs {show(known.serving, 'FLOP/s')} on average; x {ratio:.3g} (training over serving in 'mix') x "
        f"{TRAINING_USE:g} / {SERVING_USE:g} (use of an accelerator) over {months} months = {show(tokens, 'tokens')}"
    )
    return tokens, words


def note_use(gather: Gather) -> None:
    """Note how well each side is taken to use an accelerator."""
    value = f"training {show(TRAINING_USE, '1')}, serving {show(SERVING_USE, '1')} of peak"
    gather.assume("mix.use", value, "turns shares of accelerator time into shares of work")
