"""The two searches: best modes, and refusals that say what is missing."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwise.domain.mode import Mode
from flopwise.domain.provenance import Evidence
from flopwise.domain.workload import Slo
from flopwise.perf.constants import KNEE
from flopwise.perf.search import SearchResult, available_memory, search_serving, search_training
from perf.perf_world import DEEPSEEK, LLAMA_8B, LLAMA_70B, LLAMA_405B, accelerator, b200, b300, platform, serving, training

RESOURCES = {"memory capacity", "compute", "memory bandwidth", "interconnect"}


def best(result: SearchResult) -> Mode:
    assert result.modes, result.refusals
    return result.modes[0]


def test_best_layout_per_size_and_alternatives_of_the_largest() -> None:
    result = search_training(training(LLAMA_8B), platform(), [64, 8, 16], top=4)
    assert [mode.accelerators for mode in result.modes] == [8, 16, 64, 64, 64, 64]
    rates = [mode.rate for mode in result.modes[2:]]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > result.modes[1].rate > result.modes[0].rate
    for mode in result.modes:
        assert mode.memory <= mode.memory_available
        assert mode.layout.accelerators == mode.accelerators
        assert mode.spans_servers == (mode.accelerators > 8)
        assert mode.bottleneck in RESOURCES
        assert set(mode.load) == RESOURCES
        assert 0.2 < mode.detail["mfu_causal"] < mode.detail["mfu_full"] < 1
        assert mode.evidence is Evidence.PUBLISHED
        parts = sum(value for key, value in mode.detail.items() if key.startswith("memory."))
        assert math.isclose(parts, mode.memory)


def test_out_of_memory_says_how_much_is_missing() -> None:
    result = search_training(training(LLAMA_405B), platform(), [8])
    assert not result.modes
    (refusal,) = result.refusals
    assert refusal.constraint == "memory"
    assert refusal.unit == "B"
    # 405 B parameters x 18 bytes over 8 devices of 80 GB.
    assert 700e9 < refusal.shortfall < 1100e9
    assert "needs at least 128 accelerators" in refusal.remedy
    again = search_training(training(LLAMA_405B), platform(), [128])
    assert again.modes


def test_two_servers_need_a_network() -> None:
    result = search_training(training(LLAMA_8B), platform(network=0.0), [8, 16])
    assert {mode.accelerators for mode in result.modes} == {8}
    assert [refusal.constraint for refusal in result.refusals] == ["network"]


def test_unlisted_precision_is_refused() -> None:
    device = accelerator(fp8=None)
    for result in (
        search_training(training(LLAMA_8B, precision="fp8"), platform(device), [8]),
        search_serving(serving(LLAMA_8B), platform(device)),
    ):
        assert not result.modes
        assert result.refusals[0].constraint == "precision"


def test_a_batch_that_no_layout_can_split_is_refused() -> None:
    result = search_training(training(LLAMA_8B, global_batch=8192.0), platform(), [1031])
    assert result.refusals[0].constraint == "batch"


def test_unknown_vendor_rests_on_its_datasheet() -> None:
    device = accelerator("new", ceiling=None, vendor="Newcomer")
    mode = best(search_training(training(LLAMA_8B), platform(device), [8]))
    known = best(search_training(training(LLAMA_8B), platform(), [8]))
    assert mode.evidence is Evidence.DATASHEET
    assert mode.interval[1] / mode.interval[0] > known.interval[1] / known.interval[0]


def test_mixture_uses_expert_parallelism() -> None:
    mode = best(search_training(training(DEEPSEEK, sequence=4096, global_batch=16e6), platform(), [1024]))
    assert mode.layout.ep > 1


@settings(max_examples=15, deadline=None)
@given(st.floats(1.0, 3.0), st.sampled_from(["bandwidth", "memory", "link", "bf16"]))
def test_better_device_never_lowers_the_training_rate(factor: float, what: str) -> None:
    base = {"bandwidth": 3.35e12, "memory": 80e9, "link": 450e9, "bf16": 989e12}
    slow = best(search_training(training(LLAMA_70B), platform(), [64]))
    fast = best(search_training(training(LLAMA_70B), platform(accelerator(**{what: base[what] * factor})), [64]))
    assert fast.rate >= slow.rate * (1 - 1e-9)


@pytest.mark.parametrize("model", [LLAMA_8B, LLAMA_70B, DEEPSEEK])
def test_serving_modes_keep_their_promises(model) -> None:
    workload = serving(model)
    result = search_serving(workload, platform(b200()), top=6)
    each = [mode.rate / mode.accelerators for mode in result.modes]
    assert each[0] == max(each)
    for mode in result.modes:
        detail = mode.detail
        assert detail["ttft_p95"] <= workload.slo.ttft_p95
        assert detail["tpot_p95"] <= workload.slo.tpot_p95
        assert detail["tpot_mean"] < detail["tpot_p95"]
        assert detail["batch"] <= max(detail["max_batch_memory"], 1)
        assert detail["utilisation"] <= KNEE + 1e-9
        assert mode.memory <= mode.memory_available
        assert mode.bottleneck in RESOURCES
        assert math.isclose(detail["output_tokens_per_s"], mode.rate * workload.output.mean)


def test_latency_refusal_names_the_promise_and_what_would_help() -> None:
    (refusal,) = search_serving(serving(slo=Slo(tpot_p95=0.001), precision="bf16"), platform()).refusals
    assert refusal.constraint == "latency"
    assert refusal.unit == "s"
    assert refusal.shortfall > 0
    assert "TPOT" in refusal.message
    assert "fp8" in refusal.remedy


def test_a_model_that_does_not_fit_is_refused_with_the_missing_bytes() -> None:
    (refusal,) = search_serving(serving(precision="bf16"), platform(servers=1, network=0.0)).refusals
    assert refusal.constraint == "memory"
    # 141 GB of weights against 72 GB that the engine may claim.
    assert 65e9 < refusal.shortfall < 80e9
    assert "at least 2" in refusal.remedy or "at least 3" in refusal.remedy


def test_short_memory_is_a_cliff() -> None:
    """TensorRT-LLM perf-overview v0.17, 70B fp8 128/2048: 1 device of 80 GB 912 tokens/s, of 141 GB 4,166; 2 x 80 GB 6,170."""
    lengths = {"input": replace(serving().input, mean=128, p95=128), "output": replace(serving().output, mean=2048, p95=2048)}
    workload = serving(slo=Slo(), kv_precision="fp8", prefix_cache_hit=0.0, **lengths)
    small, large = accelerator(), accelerator(memory=141e9, bandwidth=4.8e12)

    def tokens(place, size: int) -> float:
        modes = [mode for mode in search_serving(workload, place, top=50).modes if mode.accelerators == size]
        return max((mode.detail["output_tokens_per_s"] for mode in modes), default=0.0)

    one = tokens(platform(small), 1)
    assert tokens(platform(large), 1) > 2 * one
    assert tokens(platform(small), 2) > 3 * one


def test_faster_successor_is_not_slower_in_decode() -> None:
    """aiconfigurator PR 1246: a catalogue slip made the predecessor faster."""
    for model in (LLAMA_70B, DEEPSEEK):
        old, new = (search_serving(serving(model), platform(device), top=50) for device in (b200(), b300()))
        rates = {mode.layout: mode.rate for mode in old.modes}
        shared = [(mode.rate, rates[mode.layout]) for mode in new.modes if mode.layout in rates]
        assert shared
        assert all(fresh >= former for fresh, former in shared)


@settings(max_examples=25, deadline=None)
@given(
    st.floats(1.0, 3.0), st.sampled_from(["bandwidth", "memory", "link", "fp8", "bf16"]), st.sampled_from([LLAMA_70B, DEEPSEEK])
)
def test_better_device_never_lowers_the_serving_rate(factor: float, what: str, model) -> None:
    base = {"bandwidth": 7.7e12, "memory": 180e9, "link": 900e9, "fp8": 4500e12, "bf16": 2250e12}
    plain = accelerator(**base)
    better = accelerator(**(base | {what: base[what] * factor}))
    slow = {mode.layout: mode.rate for mode in search_serving(serving(model), platform(plain), top=99).modes}
    fast = {mode.layout: mode.rate for mode in search_serving(serving(model), platform(better), top=99).modes}
    assert set(slow) <= set(fast)
    assert all(fast[layout] >= rate * (1 - 1e-5) for layout, rate in slow.items())


def test_reserve_is_kept_free() -> None:
    assert available_memory(platform()) < 80e9
