"""Model FLOPs per token, under a named convention.

Two published conventions differ by half of the attention term: ``FULL`` counts every query-key pair,
``CAUSAL`` only those that a causal mask keeps. Neither counts recomputation (that would be hardware FLOPs).
Linear part: 2 FLOPs per active parameter and token forward, 4 backward (Kaplan 2020; Korthikanti 2022).
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from flopwise.domain.model_arch import ModelArch
from flopwise.ground.units import Flops
from flopwise.perf.shapes import Array, sizes

#: Backward pass over forward pass: gradient of inputs and of weights, each as dear as the forward product.
BACKWARD = 2.0
#: With frozen weights (LoRA) only the gradient of inputs remains.
BACKWARD_FROZEN = 1.0


class Convention(StrEnum):
    """How attention is counted when FLOPs, and so MFU, are printed."""

    CAUSAL = "causal"
    FULL = "full"


def linear_flops(arch: ModelArch) -> Flops:
    """Forward FLOPs per token of all matrices: active parameters without the embedding look-up, plus logits."""
    size = sizes(arch)
    return 2.0 * (size.layers * size.active_layer + size.head_matrix)


def attention_flops(arch: ModelArch, context: Array, convention: Convention = Convention.CAUSAL) -> Array:
    """Forward FLOPs per token of scores and weighted values, over a sequence of ``context`` tokens.

    Per layer 2 s (heads x qk width + heads x value width), halved under ``CAUSAL``. Sliding layers see at most
    their window; linear layers update and read a state of head_dim per channel.
    """
    size = sizes(arch)
    width = 2.0 * (size.query + size.output)
    seen = mean_context(context, None, convention)
    near = mean_context(context, arch.window, convention)
    state = float(arch.head_dim)
    return width * (arch.full_attention_layers * seen + arch.sliding_layers * near + arch.linear_layers * state)


def mean_context(context: Array, window: int | None, convention: Convention) -> Array:
    """Mean number of tokens that a query attends to: s, or s/2 under a causal mask; w - w^2/2s inside a window."""
    width = np.minimum(context, window) if window else context
    if convention is Convention.FULL:
        return width
    return width - width * width / (2.0 * np.maximum(context, 1.0))


def forward_flops(arch: ModelArch, context: Array, convention: Convention = Convention.CAUSAL) -> Array:
    """Model FLOPs per token of a forward pass over a sequence of ``context`` tokens."""
    return linear_flops(arch) + attention_flops(arch, context, convention)


def training_flops(
    arch: ModelArch, sequence: Array, convention: Convention = Convention.CAUSAL, *, frozen: bool = False
) -> Array:
    """Model FLOPs per trained token: 6 N + 3 x attention; ``frozen`` (LoRA) drops the gradient of the weights.

    Attention has no weights: its backward pass costs twice the forward one in any case.
    """
    linear = linear_flops(arch) * (1.0 + (BACKWARD_FROZEN if frozen else BACKWARD))
    return linear + attention_flops(arch, sequence, convention) * (1.0 + BACKWARD)
