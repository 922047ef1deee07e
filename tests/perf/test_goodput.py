"""Failures, checkpoints and restarts: the worked table of published Llama 3 figures, to the printed digits."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwise.perf.goodput import (
    Recovery,
    effective_training_time_ratio,
    waste,
    young_interval,
)

HOUR, DAY = 3600.0, 86400.0
#: 419 unexpected interruptions in 54 days on 16,384 accelerators in servers of 8 (arXiv 2407.21783, by counts).
RATE = 419 / 54 / (16384 / 8) * 1000


def test_published_failure_rate() -> None:
    assert round(RATE, 2) == 3.79
    assert round(RATE / 8, 3) == 0.474


@pytest.mark.parametrize(
    ("accelerators", "mtbf", "checkpoint", "restart", "minutes", "ettr"),
    [
        (1024, 49.49, 60, 600, 77.1, 0.971),
        (4096, 12.37, 60, 600, 38.5, 0.935),
        (16384, 3.09, 60, 600, 19.3, 0.842),
        (16384, 3.09, 10, 180, 7.9, 0.941),
        (16384, 3.09, 3, 120, 4.3, 0.966),
        (65536, 0.77, 3, 120, 2.2, 0.910),
    ],
)
def test_worked_table(accelerators: int, mtbf: float, checkpoint: float, restart: float, minutes: float, ettr: float) -> None:
    system = 1000 / (RATE * accelerators / 8) * DAY
    assert round(system / HOUR, 2) == mtbf
    recovery = Recovery(stall=checkpoint, restart=restart, failures=1 / system)
    assert round(recovery.checkpoint_interval() / 60, 1) == minutes
    assert round(recovery.share(), 3) == ettr


@given(st.floats(1, 600), st.floats(3600, 1e6), st.floats(0, 1800))
def test_young_is_the_least_waste_of_first_order(checkpoint: float, mtbf: float, restart: float) -> None:
    best = float(young_interval(checkpoint, mtbf))
    lost = float(waste(best, checkpoint, mtbf, restart))
    assert lost <= float(waste(best * 1.1, checkpoint, mtbf, restart)) + 1e-12
    assert lost <= float(waste(best * 0.9, checkpoint, mtbf, restart)) + 1e-12
    assert math.isclose(1 - lost, float(effective_training_time_ratio(best, checkpoint, mtbf, restart)))


def test_interruptions_add_to_failures() -> None:
    steady = Recovery(stall=60.0, restart=600.0, failures=1e-5)
    both = Recovery(stall=60.0, restart=600.0, failures=5e-5)
    assert math.isclose(steady.share(interruptions=4e-5), both.share())
    assert steady.checkpoint_interval(4e-5) < steady.checkpoint_interval()
    assert Recovery(stall=60.0, restart=600.0, failures=1.0).share() == 0.0


def test_a_stated_interval_is_kept_and_costs_more() -> None:
    young = Recovery(stall=60.0, restart=600.0, failures=1e-5)
    stated = Recovery(stall=60.0, restart=600.0, failures=1e-5, interval=7 * HOUR)
    assert stated.checkpoint_interval(1e-4) == 7 * HOUR
    assert stated.share() < young.share()
