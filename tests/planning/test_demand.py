"""Blocks, needs, headroom and modes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwise.domain.calendar import months_of
from flopwise.domain.workload import ExperimentWorkload, Launch
from flopwise.planning.demand.blocks import PROFILES, block_means, hourly_shape, make_blocks
from flopwise.planning.demand.headroom import reconcile
from flopwise.planning.demand.modes import Reliability, recovery, serving_choices, training_choices
from flopwise.planning.demand.needs import make_needs, requests_in, server_hours, shapes_of
from flopwise.planning.sourcing.pools import platform_of
from planning import planning_world as world

MONTHS = months_of("2027-01", 12)


def needs_of(*workloads, months: int = 12):
    scenario = world.scenario(*workloads, months=months)
    names = months_of("2027-01", months)
    return make_needs(scenario, names, make_blocks(shapes_of(scenario), names))


@settings(deadline=None, max_examples=25)
@given(
    first=st.sampled_from(sorted(PROFILES)), second=st.sampled_from(sorted(PROFILES)),
    zone=st.sampled_from(["UTC", "America/New_York", "Asia/Shanghai", "Australia/Adelaide"]), limit=st.integers(2, 12),
)  # fmt: skip
def test_blocks_keep_hours_work_and_peaks(first, second, zone, limit):
    shapes = [hourly_shape(first, "UTC", "2026-12-01"), hourly_shape(second, zone, "2026-12-01")]
    blocks = make_blocks(shapes, MONTHS, limit)
    assert blocks.hours.sum() == pytest.approx(8760)
    days = np.array([[5 / 7], [2 / 7]])
    for shape in shapes:
        means = block_means(shape, blocks, MONTHS)
        assert means.max() == pytest.approx(shape.max())
        mean = float((means * blocks.hours.sum(axis=0)).sum() / 8760)
        assert mean == pytest.approx(float((shape * days).sum() / 24), rel=0.01)


def test_time_zones_move_the_peak():
    east, west = (hourly_shape("office-hours", zone, "2026-12-01")[0].argmax() for zone in ("Asia/Shanghai", "America/New_York"))
    assert east == 2
    assert west == 15


def test_a_window_gives_its_share_of_each_month():
    need = needs_of(world.pretraining(days=45, start="2027-02")).training[0]
    assert need.seconds[0] == 0
    assert need.seconds[1] == 28 * 86400
    assert need.seconds[2] == 17 * 86400
    assert need.seconds[3:].sum() == 0
    assert need.gang_rate == pytest.approx(1e11 / (45 * 86400))


def test_a_window_that_reaches_outside_the_horizon_is_said():
    made = needs_of(world.pretraining(days=60, start="2027-12"))
    assert made.training[0].deadline == pytest.approx(31 * 86400)
    assert "outside the horizon" in made.warnings[0]
    nothing = needs_of(world.pretraining(start="2029-01"))
    assert not nothing.training
    assert "left out" in nothing.warnings[0]


def test_recurring_work_is_counted_by_the_length_of_the_month():
    need = needs_of(world.fine_tuning(tokens=7e8)).training[0]
    assert need.monthly is not None
    assert need.monthly[0] == pytest.approx(7e8 * 31 / 7)
    assert need.monthly[1] == pytest.approx(7e8 * 28 / 7)


def test_growth_compounds_from_the_first_month():
    need = needs_of(world.service(peak=10.0, growth=0.06)).serving[0]
    assert need.peak[0] == pytest.approx(10.0)
    assert need.peak[11] == pytest.approx(10.0 * 1.06**11)


def test_requests_are_the_flat_rate_times_the_hours():
    made = needs_of(world.service(peak=2.0, profile="flat"))
    assert requests_in(made.serving[0], made.blocks)[0] == pytest.approx(2.0 * 31 * 86400)


def test_a_launch_that_is_unlikely_or_late_is_left_out_and_said():
    unlikely = needs_of(world.service(launch=Launch(date="2027-03", probability=0.4)))
    late = needs_of(world.service(launch=Launch(date="2029-03")))
    for made in (unlikely, late):
        assert not made.serving[0].active.any()
        assert "left out" in made.warnings[0]


def test_hours_of_a_window_are_spread_over_blocks():
    made = needs_of(world.service(), world.pretraining(days=45, start="2027-02"))
    hours = server_hours(made.training[0].seconds, made.blocks)
    assert hours[1].sum() == pytest.approx(28 * 24)
    assert hours[2].sum() == pytest.approx(17 * 24)


def reconciled(budget: float, *workloads, replicas=None):
    made = needs_of(*workloads)
    parameters = world.catalogue().parameters
    return reconcile(
        budget, made, parameters, replicas=replicas or {"chat": 10.0}, weights={"chat": 0.5, "tune": 0.5}, servers=[8]
    )


def test_headroom_lines_and_rest_add_up_to_the_budget():
    found, warnings = reconciled(
        0.2, world.service(), world.fine_tuning(), ExperimentWorkload(name="lab", kind="experiment", share_of_training=0.1)
    )
    assert sum(line.share for line in found.lines) + found.unallocated == pytest.approx(0.2)
    lab = next(line for line in found.lines if line.name == "lab")
    assert lab.share == pytest.approx(0.05)
    assert not warnings


@pytest.mark.parametrize(("budget", "said"), [(0.1, True), (0.15, False), (0.30, False), (0.35, True)])
def test_a_budget_outside_fifteen_to_thirty_per_cent_is_said(budget, said):
    _, warnings = reconciled(budget, world.service())
    assert any("outside the usual" in warning for warning in warnings) is said


def test_an_overdrawn_budget_is_said():
    found, warnings = reconciled(
        0.2, ExperimentWorkload(name="lab", kind="experiment", share_of_training=0.9), world.fine_tuning()
    )
    assert found.unallocated < 0
    assert any("overdrawn" in warning for warning in warnings)


RELIABILITY = Reliability.of(world.catalogue().parameters)


def test_gangs_are_fast_enough_and_more_headroom_needs_no_smaller_gang():
    need = needs_of(world.pretraining(tokens=1e12)).training[0]
    platform = platform_of(world.ACCELERATORS["h100"], 8, 50e9)
    sizes = []
    for headroom in (0.0, 0.3):
        found = training_choices(need, platform, headroom, RELIABILITY)
        assert found.choices
        assert all(choice.rate >= need.gang_rate * (1 + headroom) for choice in found.choices)
        sizes.append(found.choices[0].mode.accelerators)
    assert sizes[0] <= sizes[1]


def test_a_platform_without_a_network_is_refused_with_the_time_it_would_take():
    need = needs_of(world.pretraining(tokens=1e12)).training[0]
    found = training_choices(need, platform_of(world.ACCELERATORS["h100"], 8, 0.0), 0.2, RELIABILITY)
    assert not found.choices
    assert found.refusals[0].constraint in {"deadline", "memory"}
    assert found.refusals[0].remedy


def test_more_accelerators_fail_more_often():
    workload = world.pretraining()
    shares = [recovery(workload, size, RELIABILITY).share() for size in (8, 512, 16384)]
    assert shares == sorted(shares, reverse=True)
    assert 0.5 < shares[-1] < 1.0


def test_services_are_never_put_on_spot():
    need = needs_of(world.service()).serving[0]
    found = serving_choices(need, platform_of(world.ACCELERATORS["h100"], 8, 50e9))
    assert found.choices
    assert all(choice.spot_rate(0.0) == 0.0 for choice in found.choices)
