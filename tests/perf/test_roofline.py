"""Sustained rates, their fall-backs, and the shape of the efficiency curve."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwise.ground.errors import UnknownNameError
from flopwise.perf.kv import kv_bytes_per_token
from flopwise.perf.roofline import joined, product_time, rate_key, sustained_rate, wide_rate
from perf.perf_world import LLAMA_8B, accelerator


def test_measured_ceiling_then_default() -> None:
    assert math.isclose(sustained_rate(accelerator(), "bf16"), 0.80 * 989e12)
    assert math.isclose(sustained_rate(accelerator(ceiling=None), "bf16"), 0.70 * 989e12)


def test_block_scaled_and_weight_only_formats_run_at_another_rate() -> None:
    device = accelerator()
    assert rate_key(device, "mxfp8") == "fp8"
    assert rate_key(device, "int4") == "bf16"
    assert rate_key(device, "fp4") is None
    assert wide_rate(device, "fp8") == sustained_rate(device, "bf16")


def test_unknown_precision_is_an_error_with_names() -> None:
    with pytest.raises(UnknownNameError, match="fp4"):
        sustained_rate(accelerator(), "fp4")
    with pytest.raises(UnknownNameError, match="did you mean 'bf16'"):
        kv_bytes_per_token(LLAMA_8B, "bf6")


@given(st.floats(1e-6, 1e3), st.floats(1e-6, 1e3))
def test_smooth_maximum_lies_between_maximum_and_sum(first: float, second: float) -> None:
    value = float(joined(first, second, 3.0))
    assert max(first, second) <= value * (1 + 1e-12)
    assert value <= (first + second) * (1 + 1e-12)


def test_small_products_reach_a_smaller_share_of_peak() -> None:
    """TPU microbenchmarks: 59 % of peak at 2048 cubed, 77 % at 4096, 82 % at 16384 (ceiling 83 %)."""
    peak, bandwidth = 1153.5e12, 3.685e12
    shares = []
    for side in (2048.0, 4096.0, 16384.0):
        time = float(product_time(2 * side**3, 3 * side**2 * 2, 0.83 * peak, bandwidth))
        shares.append(2 * side**3 / time / peak)
    assert shares == sorted(shares)
    assert all(abs(share - measured) < 0.08 for share, measured in zip(shares, (0.59, 0.77, 0.82), strict=True))
