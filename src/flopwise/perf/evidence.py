"""What a predicted rate rests on, how wide its interval is, and whether the device has the precision at all."""

from __future__ import annotations

import math

from flopwise.domain.hardware import Platform
from flopwise.domain.mode import Refusal
from flopwise.perf.constants import CALIBRATED_VENDORS
from flopwise.perf.roofline import has_measured_ceiling, rate_key


def interval(rate: float, half_width: float) -> tuple[float, float]:
    """80 % interval of a rate: multiplied and divided by exp(half width)."""
    return rate * math.exp(-half_width), rate * math.exp(half_width)


def calibrated(platform: Platform) -> bool:
    """Whether the shipped factors rest on measurements of this vendor and device."""
    return platform.accelerator.vendor.lower() in CALIBRATED_VENDORS and has_measured_ceiling(platform.accelerator)


def precision_refusal(workload: str, platform: Platform, precision: str) -> Refusal | None:
    """A refusal when the device has no rate for ``precision``."""
    accelerator = platform.accelerator
    if rate_key(accelerator, precision) is not None:
        return None
    listed = ", ".join(sorted(accelerator.peak)) or "none"
    return Refusal(
        workload=workload,
        accelerator=accelerator.id,
        constraint="precision",
        shortfall=1.0,
        unit="1",
        message=f"{accelerator.name} has no {precision} rate; it lists {listed}",
        remedy=f"use one of {listed}, or another accelerator",
    )
