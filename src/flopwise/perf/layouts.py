"""Layouts as arrays, and the enumeration of every legal one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import product

import numpy as np
from numpy.typing import NDArray

from flopwise.domain.hardware import Platform
from flopwise.domain.mode import Layout
from flopwise.domain.model_arch import ModelArch
from flopwise.perf.shapes import Array

#: Recompute policies; their position is the code in ``LayoutArrays.recompute``.
RECOMPUTE = ("none", "selective", "full")
#: Layouts evaluated at once: temporary arrays of this length stay in the processor's cache.
CHUNK = 16384
#: Micro-batches tried, in sequences.
_MICRO_BATCHES = (1, 2, 4, 8, 16, 32)
#: Interleavings tried.
_INTERLEAVINGS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16)
#: Largest relative change of the global batch that rounding to whole micro-batches may cause.
BATCH_TOLERANCE = 0.05
#: Tokens that a context-parallel rank keeps at least; below, attention kernels starve.
_MIN_TOKENS_PER_RANK = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutArrays:
    """Degrees of many layouts at once: every field is an array of one shape, or a float."""

    tp: Array
    pp: Array
    dp: Array
    cp: Array
    ep: Array
    vpp: Array
    micro_batch: Array
    zero_stage: Array
    recompute: Array

    @property
    def accelerators(self) -> Array:
        """Product of the degrees that occupy accelerators."""
        return self.tp * self.pp * self.dp * self.cp

    @property
    def expert_shards(self) -> Array:
        """Ways in which routed experts are split: expert parallel, else with the tensors."""
        return np.where(np.asarray(self.ep) > 1.0, self.ep, self.tp)

    def take(self, index: NDArray[np.int64] | slice) -> LayoutArrays:
        """The layouts at ``index``."""
        return LayoutArrays(**{field.name: np.asarray(getattr(self, field.name))[index] for field in fields(self)})

    def chunks(self, length: int = CHUNK) -> Iterator[LayoutArrays]:
        """Split into pieces that stay in the processor's cache."""
        for start in range(0, len(self), length):
            yield self.take(slice(start, start + length))

    def __len__(self) -> int:
        return int(np.size(self.tp))


def arrays(layout: Layout) -> LayoutArrays:
    """One layout as arrays of length 1."""
    return LayoutArrays(
        tp=np.array([float(layout.tp)]),
        pp=np.array([float(layout.pp)]),
        dp=np.array([float(layout.dp)]),
        cp=np.array([float(layout.cp)]),
        ep=np.array([float(layout.ep)]),
        vpp=np.array([float(layout.vpp)]),
        micro_batch=np.array([float(layout.micro_batch)]),
        zero_stage=np.array([float(layout.zero_stage)]),
        recompute=np.array([float(RECOMPUTE.index(layout.recompute))]),
    )


def layout_at(many: LayoutArrays, index: int) -> Layout:
    """The layout at ``index`` as the noun."""
    values = {field.name: int(np.asarray(getattr(many, field.name))[index]) for field in fields(many)}
    recompute = RECOMPUTE[values.pop("recompute")]
    return Layout(**values, recompute=recompute)


def divisors(number: int) -> list[int]:
    """All divisors, ascending; O(sqrt n)."""
    low = [value for value in range(1, int(number**0.5) + 1) if number % value == 0]
    return sorted(set(low + [number // value for value in low]))


def tensor_degrees(arch: ModelArch, domain: int) -> list[int]:
    """Tensor-parallel degrees that divide the heads, agree with the KV heads and stay in the scale-up domain."""
    kv_heads = arch.heads if arch.latent else arch.kv_heads
    return [degree for degree in divisors(arch.heads) if degree <= domain and (kv_heads % degree == 0 or degree % kv_heads == 0)]


def training_layouts(arch: ModelArch, platform: Platform, accelerators: int, sequences: int, sequence: int) -> LayoutArrays:
    """Every legal layout of a training gang.

    Args:
        arch: the model.
        platform: the device and its domain.
        accelerators: gang size; tp x pp x cp x dp equals it.
        sequences: global batch in sequences; rounded to whole micro-batches on every data-parallel rank.
        sequence: tokens per sequence, split by context parallelism.

    Returns:
        Arrays of equal length, possibly empty. Grows with the number of divisors of ``accelerators``.
    """
    meshes = np.array(list(_meshes(arch, platform, accelerators, sequences, sequence)), dtype=np.float64).reshape(-1, 4)
    return _with_policies(_variants(arch, meshes, sequences))


def _meshes(
    arch: ModelArch, platform: Platform, accelerators: int, sequences: int, sequence: int
) -> Iterator[tuple[int, int, int, int]]:
    for tp in tensor_degrees(arch, platform.scale_up_domain):
        if accelerators % tp:
            continue
        for pp in divisors(accelerators // tp):
            if pp > arch.layers:
                break
            rest = accelerators // (tp * pp)
            for cp in _context_degrees(sequence):
                if rest % cp == 0 and rest // cp <= sequences * (1.0 + BATCH_TOLERANCE):
                    yield tp, pp, cp, rest // cp


def _context_degrees(sequence: int) -> list[int]:
    degrees = [1]
    while sequence // (degrees[-1] * 2) >= _MIN_TOKENS_PER_RANK and sequence % (degrees[-1] * 2) == 0:
        degrees.append(degrees[-1] * 2)
    return degrees


def _variants(arch: ModelArch, meshes: NDArray[np.float64], sequences: int) -> NDArray[np.float64]:
    """Expert degree, interleaving and micro-batch of each mesh; the batch may be rounded within the tolerance.

    Rows of ``meshes`` are (tp, pp, cp, dp), those returned (tp, pp, dp, cp, ep, vpp, micro-batch).
    """
    grid = np.array(list(product(_expert_degrees(arch), _INTERLEAVINGS, _MICRO_BATCHES)), dtype=np.float64)
    tp, pp, cp, dp = np.repeat(meshes, len(grid), axis=0).T
    ep, vpp, micro = np.tile(grid, (len(meshes), 1)).T
    count = np.maximum(np.round(sequences / (dp * micro)), 1.0)
    near = np.abs(count * dp * micro - sequences) <= BATCH_TOLERANCE * sequences
    interleaved = (vpp == 1.0) | ((pp > 1.0) & (pp * vpp <= arch.layers) & (count % pp == 0.0))
    keep = near & interleaved & (tp * cp * dp % ep == 0.0)
    return np.stack((tp, pp, dp, cp, ep, vpp, micro), axis=1)[keep]


def _expert_degrees(arch: ModelArch) -> list[int]:
    return divisors(arch.experts.count) if arch.experts else [1]


def _with_policies(table: NDArray[np.float64]) -> LayoutArrays:
    """Cross each row with ZeRO stages (0 never beats 1; 2 and 3 need ranks to shard over) and recompute policies."""
    stages = np.array([1.0, 2.0, 3.0])
    policies = np.arange(float(len(RECOMPUTE)))
    grid = np.stack(np.meshgrid(stages, policies, indexing="ij"), axis=-1).reshape(-1, 2)
    rows = np.repeat(table, len(grid), axis=0)
    extra = np.tile(grid, (len(table), 1))
    keep = (rows[:, 2] * rows[:, 3] > 1.0) | (extra[:, 0] == 1.0)
    rows, extra = rows[keep], extra[keep]
    columns = ("tp", "pp", "dp", "cp", "ep", "vpp", "micro_batch")
    named = {name: np.ascontiguousarray(rows[:, index]) for index, name in enumerate(columns)}
    return LayoutArrays(**named, zero_stage=extra[:, 0].copy(), recompute=extra[:, 1].copy())
