"""Workloads: names to architectures, and a noted default for everything left unsaid."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from flopwise.adapters.scenario.checks import is_file_name, path_in_file
from flopwise.adapters.scenario.document import Path_
from flopwise.adapters.scenario.gather import Gather
from flopwise.adapters.scenario.schema import (
    ExperimentPart,
    FineTunePart,
    LaunchPart,
    LengthPart,
    LengthsPart,
    ModelPart,
    ServingPart,
    SloPart,
    TrainingPart,
    WindowPart,
)
from flopwise.adapters.scenario.traffic import Origin, Request, origin_of, profile_of
from flopwise.domain.calendar import months_between
from flopwise.domain.model_arch import Experts, LatentAttention, ModelArch
from flopwise.domain.trace import RequestTrace
from flopwise.domain.workload import (
    LENGTH_TAIL,
    ExperimentWorkload,
    Launch,
    Lengths,
    ServingWorkload,
    Slo,
    TrainingWorkload,
    Window,
    step_problem,
    usual_batch,
)
from flopwise.ground.errors import FlopwiseError
from flopwise.ground.units import show

SEQUENCE = 8192
#: Promises taken for a chat where none are stated (s).
TTFT, TPOT = 1.0, 0.05
#: The engine whose steps the shipped factors describe.
MEASURED_ENGINE = "vllm"

Part = TrainingPart | FineTunePart | ServingPart | ExperimentPart


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingDraft:
    """A service that is whole but for its traffic, which ``mix`` may have to tell."""

    part: ServingPart
    model: ModelArch
    request: Request
    slo: Slo
    origin: Origin | None
    index: int


def training_of(
    part: TrainingPart | FineTunePart, index: int, tokens: float, model: ModelArch, gather: Gather
) -> TrainingWorkload:
    """A training or fine-tuning workload. ``tokens`` are those of one epoch."""
    key, tuned = f"workloads.{part.name}", isinstance(part, FineTunePart)
    sequence = gather.chosen(
        f"{key}.sequence", part.sequence, min(SEQUENCE, model.max_position), "a common training context", "tokens"
    )
    _check_context(gather, ("workloads", index, "sequence"), sequence, model)
    total = tokens * (part.epochs or 1.0)
    usual = usual_batch(total, sequence, tuned=tuned)
    batch = gather.chosen(f"{key}.global_batch", part.global_batch, usual, "an optimizer step of published runs", "tokens")
    wrong = step_problem(total, sequence, batch)
    if wrong:
        gather.refuse(("workloads", index, "tokens" if part.global_batch is None else "global_batch"), *wrong)
    return TrainingWorkload(
        name=part.name,
        kind=part.kind,
        model=model,
        tokens=tokens,
        epochs=part.epochs or 1.0,
        precision=gather.chosen(f"{key}.precision", part.precision, "bf16", "the precision of most published runs"),
        sequence=sequence,
        global_batch=batch,
        window=_window(part.window),
        repeat_every=(part.every or 0.0) if isinstance(part, FineTunePart) else 0.0,
        finish_within=_finish(part, gather, key),
        checkpoint_interval=_interval(part),
        launch=launch_of(part.launch, part.name, gather),
        lora_rank=part.lora_rank if isinstance(part, FineTunePart) else None,
    )


def _window(part: WindowPart | None) -> Window | None:
    return Window(start=part.start, finish_within=part.finish_within) if part else None


def _finish(part: TrainingPart | FineTunePart, gather: Gather, key: str) -> float:
    """Seconds that one run may take: stated, the time to the next run, or 0 for the window or horizon."""
    if part.window is None and (isinstance(part, TrainingPart) or (part.every is None and part.finish_within is None)):
        gather.assume(f"{key}.window", "the whole horizon", "no window is stated")
    if isinstance(part, TrainingPart):
        return 0.0
    if part.every is None:
        return part.finish_within or 0.0
    if part.finish_within is None:
        gather.assume(f"{key}.finish_within", show(part.every, "s"), "each run is finished before the next one starts")
    return part.finish_within or part.every


def _interval(part: TrainingPart | FineTunePart) -> float | None:
    return part.checkpoint.interval if part.checkpoint and not isinstance(part.checkpoint.interval, str) else None


def launch_of(part: LaunchPart | None, name: str, gather: Gather) -> Launch | None:
    """When work starts. A start outside the horizon is a warning."""
    if part is None:
        return None
    horizon = gather.document.values["horizon"]
    offset = months_between(horizon["start"], part.date)
    if not 0 <= offset < horizon["months"]:
        side = "before the horizon begins" if offset < 0 else "after the horizon ends"
        gather.warnings.append(f"{name}: the launch in {part.date} lies {side} ({horizon['start']}, {horizon['months']} months)")
    return Launch(date=part.date, probability=part.probability)


def _check_context(gather: Gather, path: Path_, tokens: float, model: ModelArch) -> None:
    if tokens > model.max_position:
        line = gather.document.line(path)
        where = f"line {line}: " if line else ""
        gather.warnings.append(f"{where}{tokens:g} tokens are more than the {model.max_position} positions of {model.name}")


def draft_of(part: ServingPart, index: int, model: ModelArch, gather: Gather) -> ServingDraft | None:
    """Everything of a service but the traffic that ``mix`` must tell; ``None`` when its trace cannot be read."""
    trace = None
    if part.traffic.trace is not None:
        trace = _trace(part.traffic.trace, ("workloads", index, "traffic", "trace"), gather)
        if trace is None:
            return None
    key = f"workloads.{part.name}"
    lengths = _lengths(part.lengths, trace, index, gather, key)
    if lengths is None:
        return None
    slo = _slo(part.slo, gather, f"{key}.slo")
    request = Request(input=lengths[0], output=lengths[1], ttft=slo.ttft_p95 or TTFT, tpot=slo.tpot_p95 or TPOT)
    _check_context(gather, ("workloads", index, "lengths"), request.input.p95 + request.output.p95, model)
    origin = origin_of(part.traffic, request, trace, gather, ("workloads", index, "traffic"), f"{key}.traffic")
    return ServingDraft(part=part, model=model, request=request, slo=slo, origin=origin, index=index)


def serving_of(draft: ServingDraft, origin: Origin, gather: Gather) -> ServingWorkload:
    """A service with its traffic."""
    part = draft.part
    key = f"workloads.{part.name}"
    return ServingWorkload(
        name=part.name,
        kind=part.kind,
        model=draft.model,
        precision=gather.chosen(f"{key}.precision", part.precision, "bf16", "the precision of published weights"),
        kv_precision=gather.chosen(
            f"{key}.kv_precision",
            part.kv_precision,
            "bf16",
            "engines keep the cache in 16 bits, whatever the weights, unless told",
        ),
        engine=gather.chosen(f"{key}.engine", part.engine, MEASURED_ENGINE, "the engine with most published measurements"),
        traffic=profile_of(part.traffic, origin, gather, f"{key}.traffic"),
        input=draft.request.input,
        output=draft.request.output,
        prefix_cache_hit=gather.chosen(
            f"{key}.prefix_cache_hit", part.prefix_cache_hit, 0.0, "no shared prefixes are stated", "1"
        ),
        slo=draft.slo,
        zones=gather.chosen(f"{key}.zones", part.zones, 1, "no failure zones are stated"),
        launch=launch_of(part.launch, part.name, gather),
    )


def experiment_of(part: ExperimentPart) -> ExperimentWorkload:
    """Research work."""
    return ExperimentWorkload(name=part.name, kind=part.kind, share_of_training=part.share_of_training)


def _slo(part: SloPart | None, gather: Gather, key: str) -> Slo:
    given = part or SloPart()
    reason = "no promise is stated; usual for a chat"
    ttft, tpot = given.ttft_p95, given.tpot_p95
    if ttft is None:
        gather.assume(f"{key}.ttft_p95", show(TTFT, "s"), reason)
    if tpot is None:
        gather.assume(f"{key}.tpot_p95", show(TPOT, "s"), reason)
    return Slo(ttft_p95=ttft or TTFT, tpot_p95=tpot or TPOT, availability=given.availability)


def _lengths(
    part: LengthsPart | None, trace: RequestTrace | None, index: int, gather: Gather, key: str
) -> tuple[Lengths, Lengths] | None:
    if part is None and trace is None:
        expected = "lengths: {input: {mean: 1200, p95: 4000}, output: {mean: 250, p95: 800}}, or a trace that holds them"
        gather.refuse(("workloads", index, "lengths"), "'lengths' is missing", expected)
        return None
    if part is None and trace is not None:
        return trace.input, trace.output
    assert part is not None  # noqa: S101 - one of the two is there
    return _length(part.input, gather, f"{key}.lengths.input"), _length(part.output, gather, f"{key}.lengths.output")


def _length(part: float | LengthPart, gather: Gather, key: str) -> Lengths:
    mean = part.mean if isinstance(part, LengthPart) else part
    given = part.p95 if isinstance(part, LengthPart) else None
    p95 = given if given is not None else mean * LENGTH_TAIL
    if given is None:
        gather.assume(f"{key}.p95", f"{p95:g} tokens", f"only the mean is stated; {LENGTH_TAIL:g} times it")
    return Lengths(mean=mean, p95=p95)


def model_of(part: str | ModelPart, path: Path_, gather: Gather) -> ModelArch | None:
    """The architecture that a workload names or holds; ``None`` when it cannot be had, which is noted."""
    if isinstance(part, ModelPart):
        return _inline(part, path, gather)
    if not is_file_name(part):
        return gather.catalogue.model(part)
    file = path_in_file(gather, part)
    try:
        model = gather.read_model(file)
        gather.digests[part] = hashlib.sha256(file.read_bytes()).hexdigest()
    except (FlopwiseError, OSError) as error:
        gather.refuse(path, str(error), "the path of a Hugging Face config.json, relative to this file")
        return None
    return model


def _trace(name: str, path: Path_, gather: Gather) -> RequestTrace | None:
    try:
        trace = gather.read_trace(path_in_file(gather, name))
    except (FlopwiseError, OSError) as error:
        gather.refuse(path, str(error), "a CSV of arrivals and token counts, relative to this file")
        return None
    gather.digests[name] = trace.digest
    gather.warnings.extend(f"{name}: {note}" for note in trace.notes)
    return trace


def _inline(part: ModelPart, path: Path_, gather: Gather) -> ModelArch | None:
    heads, head_dim = part.heads, part.head_dim or part.hidden // part.heads
    kv_heads = part.kv_heads or heads
    if heads % kv_heads:
        gather.refuse(
            (*path, "kv_heads"), f"{heads} attention heads do not share {kv_heads} KV heads evenly", "a divisor of 'heads'"
        )
        return None
    if part.sliding_layers > part.layers or (part.experts and part.experts.layers > part.layers):
        gather.refuse(path, f"more special layers than the {part.layers} layers there are", "at most 'layers'")
        return None
    if part.sliding_layers and part.window is None:
        gather.refuse((*path, "window"), "'sliding_layers' is given without 'window'", "the window in tokens")
        return None
    return ModelArch(
        id=part.name,
        name=part.name,
        family="inline",
        layers=part.layers,
        hidden=part.hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        ffn=part.ffn,
        vocab=part.vocab,
        gated=part.gated,
        tied_embeddings=part.tied_embeddings,
        max_position=part.max_position,
        window=part.window,
        sliding_layers=part.sliding_layers,
        latent=LatentAttention(**part.latent.model_dump()) if part.latent else None,
        experts=Experts(**part.experts.model_dump()) if part.experts else None,
        source="inline in the scenario",
    )
