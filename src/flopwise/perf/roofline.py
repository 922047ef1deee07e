"""What a device sustains: products by a saturating curve of arithmetic intensity, and memory-bound time.

A product of F FLOPs that moves b bytes takes F / (ceiling x peak) + b / bandwidth. The effective share of
peak is then ceiling / (1 + I0 / I) for intensity I = F / b: it saturates at the measured ceiling for large
shapes and falls with the smallest dimension, and it is monotone in peak and in bandwidth.
"""

from __future__ import annotations

import numpy as np

from flopwise.domain.hardware import Accelerator
from flopwise.ground.errors import UnknownNameError
from flopwise.ground.units import FlopsPerSecond
from flopwise.perf.constants import DEFAULT_CEILING
from flopwise.perf.shapes import Array

#: Precisions whose products run at the rate of another: block-scaled formats, and 16 bits of either kind.
_RATE_OF = {"mxfp8": "fp8", "nvfp4": "fp4", "fp4": "nvfp4", "fp16": "bf16", "bf16": "fp16", "int4": "bf16", "fp32": "tf32"}
#: Weight-only formats: stored small, computed in 16 bits.
WEIGHT_ONLY = frozenset({"int4"})


def rate_key(accelerator: Accelerator, precision: str) -> str | None:
    """Key of ``accelerator.peak`` at which products of ``precision`` run; ``None`` when the device has none."""
    if precision in accelerator.peak and precision not in WEIGHT_ONLY:
        return precision
    other = _RATE_OF.get(precision)
    return other if other in accelerator.peak else None


def sustained_rate(accelerator: Accelerator, precision: str) -> FlopsPerSecond:
    """Best measured rate of a product (FLOP/s): dense peak x measured ceiling, or x the default where unmeasured.

    Raises:
        UnknownNameError: the device does not list the precision (see ``rate_key``).
    """
    key = rate_key(accelerator, precision)
    if key is None:
        raise UnknownNameError(
            "precision", precision, accelerator.peak, hint=f"{accelerator.name} lists {', '.join(accelerator.peak)}"
        )
    return accelerator.peak[key].value * ceiling(accelerator, key)


def wide_rate(accelerator: Accelerator, precision: str) -> FlopsPerSecond:
    """Rate of 16-bit products, in which attention and logits run; of ``precision`` where the device lists no 16 bits."""
    return sustained_rate(accelerator, "bf16" if rate_key(accelerator, "bf16") else precision)


def ceiling(accelerator: Accelerator, key: str) -> float:
    """Measured fraction of dense peak at ``key``; by the closest listed precision, else the default."""
    for candidate in (key, _RATE_OF.get(key, ""), "bf16"):
        if candidate in accelerator.achievable:
            return accelerator.achievable[candidate].value
    return DEFAULT_CEILING


def has_measured_ceiling(accelerator: Accelerator) -> bool:
    """Whether any measured ceiling backs the figures of this device."""
    return bool(accelerator.achievable)


def product_time(flops: Array, moved: Array, rate: FlopsPerSecond, bandwidth: float) -> Array:
    """Time of products (s): FLOPs over the sustained rate plus bytes over bandwidth."""
    return flops / rate + moved / bandwidth


def joined(first: Array, second: Array, norm: float) -> Array:
    """Smooth maximum (first^n + second^n)^(1/n): two resources that overlap, though not perfectly."""
    high, low = np.maximum(first, second), np.minimum(first, second)
    return high * (1.0 + (low / np.maximum(high, np.finfo(float).tiny)) ** norm) ** (1.0 / norm)
