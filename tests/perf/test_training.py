"""Time of a training step: monotone, conserved, and near public runs."""

from __future__ import annotations

import csv
import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwise.domain.hardware import Platform
from flopwise.domain.mode import Layout
from flopwise.domain.model_arch import ModelArch
from flopwise.perf.layouts import arrays, training_layouts
from flopwise.perf.search import training_mode
from flopwise.perf.training import StepTime, TrainingJob, micro_batches, step_time, step_tokens
from perf.perf_world import DEEPSEEK, LLAMA_8B, LLAMA_70B, LLAMA_405B, accelerator, fact, platform, training

MEASURED = Path(__file__).resolve().parents[3] / "shared" / "data" / "train" / "measured_training.csv"
LAYOUTS = [
    Layout(tp=1, pp=1, dp=16, zero_stage=3),
    Layout(tp=8, pp=1, dp=2),
    Layout(tp=4, pp=4, dp=1, vpp=5),
    Layout(tp=2, pp=2, dp=2, cp=2, zero_stage=2, recompute="full"),
    Layout(tp=1, pp=2, dp=8, micro_batch=2, recompute="selective"),
]


def job(arch: ModelArch = LLAMA_70B, **more) -> TrainingJob:
    return TrainingJob(arch=arch, sequence=8192, sequences=64, precision="bf16", **more)


def seconds(work: TrainingJob, place: Platform, layout: Layout) -> float:
    return float(np.asarray(step_time(work, place, arrays(layout)).total)[0])


@given(st.sampled_from(LAYOUTS), st.sampled_from([LLAMA_8B, LLAMA_70B, DEEPSEEK]), st.floats(1.01, 4))
def test_a_better_device_is_never_slower(layout: Layout, arch: ModelArch, factor: float) -> None:
    work, base = job(arch), accelerator()
    slow = seconds(work, platform(base), layout)
    better = [
        accelerator(bandwidth=3.35e12 * factor),
        accelerator(bf16=989e12 * factor, fp8=1979e12 * factor),
        accelerator(link=450e9 * factor),
        accelerator(memory=80e9 * factor),
    ]
    for device in better:
        assert seconds(work, platform(device), layout) <= slow
    assert seconds(work, platform(base, network=50e9 * factor), layout) <= slow


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_sum_to_the_step(layout: Layout) -> None:
    step: StepTime = step_time(job(), platform(), arrays(layout))
    parts = sum(float(np.asarray(getattr(step, field.name))[0]) for field in fields(step) if field.name != "total")
    assert math.isclose(parts, float(np.asarray(step.total)[0]), rel_tol=1e-9)


def test_one_layout_equals_itself_among_many() -> None:
    work, place = job(), platform()
    many = training_layouts(LLAMA_70B, place, 64, 64, 8192)
    together = np.asarray(step_time(work, place, many).total)
    for index in (0, len(many) // 2, len(many) - 1):
        alone = np.asarray(step_time(work, place, many.take(np.array([index]))).total)
        assert math.isclose(float(alone[0]), float(together[index]), rel_tol=1e-12)


def test_step_is_about_linear_in_the_batch() -> None:
    layout = Layout(tp=8, pp=1, dp=2)
    twice = seconds(replace(job(), sequences=128), platform(), layout)
    assert 1.8 < twice / seconds(job(), platform(), layout) <= 2.0


def test_bubble_of_a_pipeline() -> None:
    """(p - 1) / (m + p - 1) for equal stages, divided by the interleaving."""
    work = replace(job(), sequences=16)
    plain = step_time(work, platform(), arrays(Layout(tp=1, pp=16, dp=1)))
    inside = step_time(work, platform(), arrays(Layout(tp=1, pp=16, dp=1, vpp=5)))
    share = float(np.asarray(plain.bubble)[0] / np.asarray(plain.total)[0])
    assert abs(share - 15 / 31) < 0.08
    assert math.isclose(float(np.asarray(plain.bubble)[0]), 5 * float(np.asarray(inside.bubble)[0]), rel_tol=1e-6)


def test_batch_is_rounded_to_whole_micro_batches() -> None:
    layout = arrays(Layout(tp=1, pp=1, dp=6, micro_batch=1))
    assert float(micro_batches(job(), layout)[0]) == 11
    assert float(step_tokens(job(), layout)[0]) == 66 * 8192


def test_a_gang_over_servers_without_a_network_never_ends() -> None:
    assert math.isinf(seconds(job(), platform(network=0.0), Layout(tp=8, pp=1, dp=2)))


def test_recompute_costs_time_and_adapters_save_it() -> None:
    layout = Layout(tp=8, pp=1, dp=2)
    assert seconds(job(), platform(), replace(layout, recompute="full")) > seconds(job(), platform(), layout)
    assert seconds(job(lora_rank=16), platform(), layout) < 0.8 * seconds(job(), platform(), layout)


@pytest.mark.parametrize(
    ("model", "layout", "sequences", "precision", "measured", "source"),
    [
        (LLAMA_405B, Layout(tp=8, pp=16, dp=128, vpp=8), 2048, "bf16", 158, "arXiv 2407.21783: 400 TFLOPS on 16,384"),
        (LLAMA_405B, Layout(tp=8, pp=8, dp=8, cp=2, vpp=8), 1536, "fp8", 326, "Megatron-Bridge 26.06"),
        (
            LLAMA_8B,
            Layout(tp=1, pp=1, dp=64, micro_batch=2, zero_stage=3, recompute="selective"),
            128,
            "bf16",
            6514,
            "torchtitan",
        ),
    ],
)
def test_published_rates(model: ModelArch, layout: Layout, sequences: int, precision: str, measured: float, source: str) -> None:
    assert source
    workload = training(model, global_batch=sequences * 8192.0, precision=precision)
    mode = training_mode(workload, platform(), layout)
    assert abs(mode.detail["tokens_per_s_per_accelerator"] / measured - 1) < 0.30
    assert mode.interval[0] < mode.rate < mode.interval[1]


@pytest.mark.skipif(not MEASURED.exists(), reason="shared data absent")
@pytest.mark.parametrize(("source", "median"), [("InternEvo", 0.08), ("vTrain-multi", 0.15)])
def test_sources_that_the_constants_never_saw(source: str, median: float) -> None:
    """Held-out dense runs of 7B and more: the medians stated in ``training`` do not drift."""
    errors = sorted(_errors(source))
    assert len(errors) > 20
    assert errors[len(errors) // 2] < median


def _errors(source: str) -> list[float]:
    device = accelerator("a100", bandwidth=2.039e12, bf16=312e12, fp8=None, link=300e9)
    device = replace(device, achievable={"bf16": fact(0.87)})
    with MEASURED.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["source"] == source and float(row["params_b"]) >= 7]
    return [_error(row, device, 6.25e9 if source == "InternEvo" else 12.5e9) for row in rows]


def _error(row: dict[str, str], device, network: float) -> float:
    heads = int(row["heads"])
    arch = ModelArch(
        id="row", name="row", family="row", layers=int(row["layers"]), hidden=int(row["hidden"]), heads=heads, kv_heads=heads,
        head_dim=int(row["hidden"]) // heads, ffn=int(row["ffn_hidden"]), vocab=int(row["vocab"]), max_position=1,
        gated=row["source"] == "InternEvo", tied_embeddings=row["source"] != "InternEvo",
    )  # fmt: skip
    tp, pp, ranks = int(row["tp"]), int(row["pp"]), int(row["n_accel"])
    layout = Layout(tp=tp, pp=pp, dp=ranks // (tp * pp), micro_batch=int(row["micro_batch"]), recompute=row["recompute"])
    work = TrainingJob(arch=arch, sequence=int(row["seq_len"]), sequences=int(row["global_batch"]), precision="bf16")
    predicted = work.sequences * work.sequence / seconds(work, platform(device, network=network), layout) / ranks
    return abs(predicted / float(row["measured_tokens_per_s_per_gpu"]) - 1)
