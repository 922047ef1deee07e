"""Pictures: well-formed, the same each time, nothing loaded, hostile names as text, both languages, both widths."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from app import plan_world
from flopwise.adapters.reports import _pictures, _series, _theme
from flopwise.adapters.reports._words import Words
from flopwise.domain.plan import HourRow, Plan

HOSTILE = "<script>alert(1)</script>"
DRAWN = ("supply", "demand", "week", "timeline", "references", "tornado", "costs")
NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def world() -> Plan:
    """The small plan with hours and a workload whose name is markup."""
    base = plan_world.make_plan()
    pool = base.pools[0].pool
    hours = tuple(
        HourRow(month="2027-01", day=day, hour=hour, need={HOSTILE: hour + 1.0}, used={pool: 4.0})
        for day in ("weekday", "weekend")
        for hour in range(24)
    )
    assert base.demand
    return replace(base, demand=(replace(base.demand[0], workload=HOSTILE),), hours=hours)


def draw(plan: Plan, name: str, lang: str, *, wide: bool) -> str:
    return _theme.svg(f"{name}{wide:d}", getattr(_pictures, name)(plan, Words(lang), wide=wide), name)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("name", DRAWN)
def test_picture_is_well_formed_repeats_and_loads_nothing(name, wide, lang):
    drawn = draw(world(), name, lang, wide=wide)
    ET.fromstring(drawn)  # noqa: S314 - our own text
    assert drawn == draw(world(), name, lang, wide=wide)
    assert set(re.findall(r"https?://[^\"']+", drawn)) <= NAMESPACES
    assert "<script" not in drawn


def test_hostile_workload_is_shown_as_text():
    assert "&lt;script&gt;alert(1)" in draw(world(), "demand", "en", wide=True)


def test_ids_are_unique_on_a_page():
    drawn = "".join(draw(world(), name, "en", wide=wide) for name in DRAWN for wide in (True, False))
    ids = re.findall(r'\bid="([^"]+)"', drawn)
    assert len(ids) == len(set(ids))


def test_months_are_written_in_the_language():
    assert "2027年1月" in draw(world(), "supply", "zh", wide=True)
    assert "2027-01" in draw(world(), "supply", "en", wide=True)


def test_residual_lowers_the_total_of_its_year():
    base = world()
    line = replace(base.costs[0], component="residual", label="residual value", amount=-5.0e5)
    before, after = (
        sum(row["amount"] for row in _series.costs(plan, Words("en"))[0])
        for plan in (base, replace(base, costs=(*base.costs, line)))
    )
    assert after == pytest.approx(before - 5.0e5)
