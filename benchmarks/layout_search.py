"""Layouts per second of the training search: all legal layouts of two large models on 16,384 accelerators, one core.

Run: ``python benchmarks/layout_search.py``. Prints the best of several runs, so that a busy machine matters less.
"""

from __future__ import annotations

import time

from flopwise.domain.hardware import Accelerator, Platform
from flopwise.domain.model_arch import Experts, LatentAttention, ModelArch
from flopwise.domain.provenance import Confidence, Fact
from flopwise.domain.workload import TrainingWorkload
from flopwise.ground.units import parse
from flopwise.perf.search import search_training

GANG = 16384
RUNS = 5


def _fact(text: str, unit: str) -> Fact:
    return Fact(value=parse(text, unit), unit=unit, source="benchmark", as_of="2026-01-01", confidence=Confidence.LOW)


def _platform() -> Platform:
    device = Accelerator(
        id="bench",
        name="bench",
        vendor="bench",
        architecture="bench",
        released="2022-09",
        memory=_fact("80 GB", "B"),
        memory_bandwidth=_fact("3.35 TB/s", "B/s"),
        peak={"bf16": _fact("989 TFLOP/s", "FLOP/s")},
        scale_up_bandwidth=_fact("450 GB/s", "B/s"),
        scale_up_domain=8,
    )
    return Platform(id="bench-x8", accelerator=device, accelerators=8, network_bandwidth=parse("400 Gbit/s", "B/s"))


def _dense() -> ModelArch:
    return ModelArch(
        id="dense-405b", name="dense 405B", family="llama", layers=126, hidden=16384, heads=128, kv_heads=8, head_dim=128,
        ffn=53248, vocab=128256, max_position=131072,
    )  # fmt: skip


def _mixture() -> ModelArch:
    return ModelArch(
        id="experts-671b", name="mixture 671B", family="deepseek", layers=61, hidden=7168, heads=128, kv_heads=128,
        head_dim=192, ffn=18432, vocab=129280, max_position=163840,
        latent=LatentAttention(kv_rank=512, q_rank=1536, rope_head_dim=64, nope_head_dim=128, value_head_dim=128),
        experts=Experts(count=256, top_k=8, ffn=2048, shared=1, shared_ffn=2048, layers=58),
    )  # fmt: skip


def _workload(arch: ModelArch) -> TrainingWorkload:
    return TrainingWorkload(
        name="bench", kind="training", model=arch, tokens=1e13, epochs=1.0, precision="bf16", sequence=8192,
        global_batch=2048 * 8192.0, window=None,
    )  # fmt: skip


def main() -> None:
    platform = _platform()
    for arch in (_dense(), _mixture()):
        workload, best = _workload(arch), float("inf")
        for _ in range(RUNS):
            start = time.perf_counter()
            result = search_training(workload, platform, [GANG])
            best = min(best, time.perf_counter() - start)
        top = result.modes[0]
        print(f"{arch.name}: {result.evaluated} layouts in {best:.3f} s: {result.evaluated / best:,.0f} layouts/s")
        print(f"  best: {top.layout}, {top.detail['tokens_per_s_per_accelerator']:.0f} tokens/s per accelerator")


if __name__ == "__main__":
    main()
