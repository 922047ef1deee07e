"""What failures, checkpoints and restarts leave of a steady-state rate.

Symbols: C checkpoint stall, M mean time between failures of the whole system, R time to detect and restart,
tau checkpoint interval, all in seconds.
"""

from __future__ import annotations

import numpy as np

from flopwise.ground.units import DAY, PerMonth, Seconds
from flopwise.perf.shapes import Array

#: Failure rates are published per this many node-days.
NODE_DAYS = 1000.0


def system_mtbf(failures_per_1000_node_days: Array, nodes: Array) -> Array:
    """Mean time between failures of ``nodes`` nodes (s): 1000 / (rate x nodes) days.

    >>> round(system_mtbf(6.5, 2048) / 3600, 2)
    1.8
    """
    return NODE_DAYS / (failures_per_1000_node_days * nodes) * DAY


def young_interval(checkpoint: Array, mtbf: Array) -> Array:
    """Checkpoint interval of least waste, first order: sqrt(2 C M) (Young 1974)."""
    return np.sqrt(2.0 * np.asarray(checkpoint) * mtbf)


def waste(interval: Array, checkpoint: Array, mtbf: Array, restart: Array) -> Array:
    """Lost fraction of wall time, first order: C/tau + (tau/2 + R)/M, at most 1."""
    return np.minimum(checkpoint / interval + (interval / 2.0 + restart) / mtbf, 1.0)


def effective_training_time_ratio(interval: Array, checkpoint: Array, mtbf: Array, restart: Array) -> Array:
    """ETTR, first order: 1 - waste. Queue wait after a failure adds to ``restart``."""
    return 1.0 - waste(interval, checkpoint, mtbf, restart)


def best_ettr(checkpoint: Array, mtbf: Array, restart: Array) -> Array:
    """ETTR at Young's interval."""
    return effective_training_time_ratio(young_interval(checkpoint, mtbf), checkpoint, mtbf, restart)


def checkpoint_bytes(parameters: Array, bytes_per_parameter: float = 14.0) -> Array:
    """Size of a checkpoint: weights in 16 bits and three fp32 copies (master, two moments), no gradients."""
    return parameters * bytes_per_parameter


def spot_effective_share(interruptions: PerMonth, restart: Seconds, lost_work: Seconds, month: Seconds) -> float:
    """Share of paid time that spot capacity turns into kept work.

    Args:
        interruptions: interruptions per accelerator gang and month.
        restart: time to get capacity back and start again, paid or not, per interruption (s).
        lost_work: work since the last checkpoint, half an interval on average (s).
        month: length of the billing month (s).

    Returns:
        1 - interruptions x (restart + lost work) / month, at least 0.
    """
    return max(0.0, 1.0 - interruptions * (restart + lost_work) / month)
