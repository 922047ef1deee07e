"""All workloads of a file: those that state their work, then those whose work ``mix`` tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flopwise.adapters.scenario.gather import Gather
from flopwise.adapters.scenario.mix import Known, known_work, note_use, serving_peak, training_tokens
from flopwise.adapters.scenario.schema import ExperimentPart, FineTunePart, MixPart, ScenarioPart, ServingPart, TrainingPart
from flopwise.adapters.scenario.traffic import Origin
from flopwise.adapters.scenario.work import (
    MEASURED_ENGINE,
    ServingDraft,
    draft_of,
    experiment_of,
    model_of,
    serving_of,
    training_of,
)
from flopwise.domain.model_arch import ModelArch
from flopwise.domain.workload import TrainingWorkload, Workload
from flopwise.ground.units import show

Part = TrainingPart | FineTunePart | ServingPart | ExperimentPart


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """Workloads by their place in the file: trained and served ones whose work is stated, and the rest."""

    models: Mapping[int, ModelArch]
    trained: Mapping[int, TrainingWorkload]
    drafts: Mapping[int, ServingDraft]
    unknown_runs: Sequence[int]
    unknown_services: Sequence[int]


def workloads_of(part: ScenarioPart, gather: Gather) -> tuple[Workload, ...]:
    """Every workload of the file, in its order; an empty tuple when one cannot be made, which is noted."""
    work = _stated(part, gather)
    _note_unread(part.workloads, gather)
    origins: Mapping[int, Origin] = {}
    trained = dict(work.trained)
    if part.mix is not None:
        known = known_work([*work.trained.values()], [*work.drafts.values()], part.horizon.months)
        if not _mix_applies(work, known, gather):
            return ()
        origins = _mixed_origins(part.mix, known, work, gather)
        trained |= _mixed_runs(part, part.mix, known, work, gather)
    if gather.problems:
        return ()
    made = {index: serving_of(draft, draft.origin or origins[index], gather) for index, draft in work.drafts.items()}
    made_all: Mapping[int, Workload] = {**trained, **made}
    return tuple(
        experiment_of(item) if isinstance(item, ExperimentPart) else made_all[index] for index, item in enumerate(part.workloads)
    )


def _stated(part: ScenarioPart, gather: Gather) -> _Work:
    models: dict[int, ModelArch] = {}
    trained: dict[int, TrainingWorkload] = {}
    drafts: dict[int, ServingDraft] = {}
    unknown: list[int] = []
    for index, item in enumerate(part.workloads):
        model = None if isinstance(item, ExperimentPart) else model_of(item.model, ("workloads", index, "model"), gather)
        if isinstance(item, ExperimentPart) or model is None:
            continue
        models[index] = model
        if isinstance(item, ServingPart):
            draft = draft_of(item, index, model, gather)
            if draft is not None:
                drafts[index] = draft
        elif item.tokens is None:
            unknown.append(index)
        else:
            trained[index] = training_of(item, index, item.tokens, model, gather)
    services = [index for index, draft in drafts.items() if draft.origin is None]
    return _Work(models=models, trained=trained, drafts=drafts, unknown_runs=unknown, unknown_services=services)


def _note_unread(parts: Sequence[Part], gather: Gather) -> None:
    """Keys that the format has and this version does not plan with."""
    for item in parts:
        if isinstance(item, ServingPart) and item.quality is not None:
            gather.warnings.append(f"{item.name}: 'quality' is noted; the model and precision are planned as stated")
        if isinstance(item, ServingPart) and item.engine not in {None, MEASURED_ENGINE}:
            gather.warnings.append(f"{item.name}: engine {item.engine} is planned at the rates of {MEASURED_ENGINE}")
        if isinstance(item, TrainingPart | FineTunePart) and item.checkpoint is not None and item.checkpoint.storage is not None:
            gather.warnings.append(f"{item.name}: 'checkpoint.storage' is noted; checkpoints are planned at the usual bandwidth")


def _mix_applies(work: _Work, known: Known, gather: Gather) -> bool:
    if not work.unknown_runs and not work.unknown_services:
        gather.warnings.append("'mix' is not used: the work of every workload is stated")
        return True
    need, side = (known.serving, "serving") if work.unknown_runs else (known.training, "training")
    if need <= 0.0 or (work.unknown_runs and work.unknown_services):
        gather.refuse(
            ("mix",), f"'mix' cannot tell the work of one side: no {side} work is stated", "one side with its work stated"
        )
        return False
    note_use(gather)
    return True


def _mixed_origins(mix: MixPart, known: Known, work: _Work, gather: Gather) -> dict[int, Origin]:
    origins: dict[int, Origin] = {}
    for index in work.unknown_services:
        draft = work.drafts[index]
        origins[index] = serving_peak(mix, known, draft, len(work.unknown_services))
        reason = "the share of serving in 'mix'"
        gather.assume(f"workloads.{draft.part.name}.traffic.peak", show(origins[index].peak, "req/s"), reason)
    return origins


def _mixed_runs(part: ScenarioPart, mix: MixPart, known: Known, work: _Work, gather: Gather) -> dict[int, TrainingWorkload]:
    runs: dict[int, TrainingWorkload] = {}
    for index in work.unknown_runs:
        item, model = part.workloads[index], work.models[index]
        assert isinstance(item, TrainingPart)  # noqa: S101 - only training may leave its tokens out
        tokens, words = training_tokens(mix, known, model, item.sequence, (part.horizon.months, len(work.unknown_runs)))
        gather.assume(f"workloads.{item.name}.tokens", words, "the share of training in 'mix'")
        runs[index] = training_of(item, index, tokens / (item.epochs or 1.0), model, gather)
    return runs
