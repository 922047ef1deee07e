"""Collectives by placement and tier."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwise.perf.collectives import all_gather, all_reduce, all_to_all, group, links, send
from flopwise.perf.constants import LinkFactors
from perf.perf_world import accelerator, platform


def world(network: float = 50e9, link: float | None = 450e9):
    return links(platform(accelerator(link=link), network=network), LinkFactors())


def test_tier_follows_placement_and_not_size() -> None:
    """llm-analysis issue 27: a data-parallel group of 8 with tensor parallelism 8 spans 8 servers."""
    here = world()
    packed, spread = group(here, 8.0, 1.0), group(here, 8.0, 8.0)
    assert (float(packed.local), float(spread.local)) == (8, 1)
    assert float(all_gather(here, packed, 1e9)) < float(all_gather(here, spread, 1e9)) / 4


def test_each_member_of_a_server_uses_its_own_port() -> None:
    here = world()
    wide, narrow = group(here, 16.0, 1.0), group(here, 16.0, 8.0)
    assert float(wide.domains) == 2
    assert float(all_gather(here, wide, 1e10)) < float(all_gather(here, narrow, 1e10)) / 3


def test_single_server_bus_bandwidth_matches_sweeps() -> None:
    """NCCL on one server of 8 with 450 GB/s links reaches 360 to 480 GB/s of bus bandwidth on large messages."""
    here = world()
    size = 8e9
    time = float(all_reduce(here, group(here, 8.0, 1.0), size))
    assert 350e9 < 2 * 7 / 8 * size / time < 480e9


def test_small_all_reduce_goes_in_one_shot() -> None:
    here = world()
    time = float(all_reduce(here, group(here, 8.0, 1.0), 8192.0))
    assert time < 2 * float(all_gather(here, group(here, 8.0, 1.0), 8192.0))


def test_no_network_is_infinite_and_one_member_is_free() -> None:
    here = world(network=0.0)
    assert math.isinf(float(all_gather(here, group(here, 16.0, 1.0), 1e6)))
    assert float(all_gather(here, group(here, 1.0, 1.0), 1e6)) == 0
    assert float(all_to_all(here, group(here, 8.0, 1.0), 1e6)) > 0


def test_servers_without_links_use_the_host_bus() -> None:
    slow = world(link=None)
    assert float(all_gather(slow, group(slow, 8.0, 1.0), 1e9)) > float(all_gather(world(), group(world(), 8.0, 1.0), 1e9))
    assert slow.domain == 8


@given(st.floats(1e3, 1e11), st.floats(1.01, 10), st.sampled_from([2.0, 8.0, 64.0]), st.sampled_from([1.0, 4.0, 8.0]))
@pytest.mark.parametrize("collective", [all_gather, all_reduce, all_to_all])
def test_faster_links_are_never_slower(collective, size: float, factor: float, members: float, stride: float) -> None:
    slow, out, up = world(), world(network=50e9 * factor), world(link=450e9 * factor)
    placed = group(slow, members, stride)
    base = float(collective(slow, placed, size))
    assert float(collective(out, placed, size)) <= base
    assert float(collective(up, placed, size)) <= base
    assert float(collective(slow, placed, size * factor)) >= base


def test_arrays_and_scalars_agree() -> None:
    here = world()
    sizes = np.array([1e3, 1e6, 1e9])
    many = all_reduce(here, group(here, np.array([8.0, 8.0, 16.0]), 1.0), sizes)
    for index, (members, size) in enumerate(zip((8.0, 8.0, 16.0), sizes, strict=True)):
        assert math.isclose(float(many[index]), float(all_reduce(here, group(here, members, 1.0), size)))


def test_send_crosses_the_network_beyond_the_domain() -> None:
    here = world()
    assert float(send(here, 8.0, 1e8)) > float(send(here, 4.0, 1e8))
