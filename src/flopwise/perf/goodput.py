"""What failures, checkpoints and restarts leave of a steady-state rate.

Symbols: C checkpoint stall, M mean time between failures of the whole system, R time to detect and restart,
tau checkpoint interval, all in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flopwise.ground.units import Seconds
from flopwise.perf.shapes import Array


def young_interval(checkpoint: Array, mtbf: Array) -> Array:
    """Checkpoint interval of least waste, first order: sqrt(2 C M) (Young 1974)."""
    return np.sqrt(2.0 * np.asarray(checkpoint) * mtbf)


def waste(interval: Array, checkpoint: Array, mtbf: Array, restart: Array) -> Array:
    """Lost fraction of wall time, first order: C/tau + (tau/2 + R)/M, at most 1."""
    return np.minimum(checkpoint / interval + (interval / 2.0 + restart) / mtbf, 1.0)


def effective_training_time_ratio(interval: Array, checkpoint: Array, mtbf: Array, restart: Array) -> Array:
    """ETTR, first order: 1 - waste. Queue wait after a failure adds to ``restart``."""
    return 1.0 - waste(interval, checkpoint, mtbf, restart)


def checkpoint_bytes(parameters: Array, bytes_per_parameter: float = 14.0) -> Array:
    """Size of a checkpoint: weights in 16 bits and three fp32 copies (master, two moments), no gradients."""
    return parameters * bytes_per_parameter


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """How a gang meets failures: what a checkpoint stalls it, how often it fails, what a restart takes.

    ``stall`` and ``restart`` in s, ``failures`` of the whole gang in 1/s, ``interval`` between checkpoints in s or
    ``None`` for Young's.
    """

    stall: Seconds
    restart: Seconds
    failures: float
    interval: Seconds | None = None

    def checkpoint_interval(self, interruptions: float = 0.0) -> Seconds:
        """The stated interval, or Young's at the joint rate of failures and interruptions (s)."""
        if self.interval is not None:
            return self.interval
        return float(young_interval(self.stall, 1.0 / (self.failures + interruptions)))

    def share(self, interruptions: float = 0.0) -> float:
        """Share of time that makes progress (ETTR), at least 0.

        Args:
            interruptions: of the whole gang on spot capacity (1/s). Failures and interruptions are independent, so
                their rates add; each costs a restart and half an interval of work.

        >>> steady = Recovery(stall=60.0, restart=600.0, failures=1 / 86400)
        >>> round(steady.share(), 3), round(steady.share(interruptions=5 / 86400), 3)
        (0.956, 0.867)
        """
        mtbf = 1.0 / (self.failures + interruptions)
        ettr = effective_training_time_ratio(self.checkpoint_interval(interruptions), self.stall, mtbf, self.restart)
        return max(float(ettr), 0.0)
