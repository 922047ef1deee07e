"""Pictures: well-formed, the same each time, nothing loaded, hostile names as text, both languages, both widths."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from app import plan_world
from flopwise.adapters.reports import _drawing, _pictures, _series, html
from flopwise.adapters.reports._drawing import Sketch
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


def sketches() -> dict[tuple[str, str, bool], Sketch]:
    plan = world()
    return {
        (name, lang, wide): Sketch(
            name=f"{name}{wide:d}", spec=getattr(_pictures, name)(plan, Words(lang), wide=wide), label=name
        )
        for name in DRAWN
        for lang in ("en", "zh")
        for wide in (True, False)
    }


@pytest.fixture(scope="module")
def drawn():
    """Every picture, drawn twice."""
    made = sketches()
    return {key: pair for key, *pair in zip(made, *(_drawing.on_page(list(sketches().values())) for _ in range(2)), strict=True)}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("name", DRAWN)
def test_picture_is_well_formed_repeats_and_loads_nothing(drawn, name, wide, lang):
    first, second = drawn[name, lang, wide]
    ET.fromstring(first)  # noqa: S314 - our own text
    assert first == second
    assert set(re.findall(r"https?://[^\"']+", first)) <= NAMESPACES
    assert "<script" not in first


def test_hostile_workload_is_shown_as_text(drawn):
    assert "&lt;script&gt;alert(1)" in drawn["demand", "en", True][0]


def test_a_picture_that_cannot_be_drawn_is_said_and_the_page_stands(monkeypatch):
    monkeypatch.setattr(_drawing.sys, "executable", "/nowhere/python")
    page = html.render(world(), lang="en").decode()
    assert "could not be drawn" in page
    assert "<svg" not in page


def test_a_drawer_that_dies_costs_its_pictures_only(monkeypatch, tmp_path):
    broken = tmp_path / "_draw.py"
    broken.write_text("import os; os.abort()")
    monkeypatch.setattr(_drawing, "_FILE", broken)
    assert _drawing.draw([{"mark": "bar"}] * 3) == [None] * 3


def test_drawers_that_were_never_needed_end_with_us():
    script = "from flopwise.adapters.reports import _drawing; _drawing.prepare(); print(*[one.pid for one in _drawing._ready])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert all(_ends(int(pid)) for pid in done.stdout.split())


def _ends(pid: int) -> bool:
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_ids_are_unique_on_a_page(drawn):
    page = "".join(drawn[name, "en", wide][0] for name in DRAWN for wide in (True, False))
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_months_are_written_in_the_language(drawn):
    assert "2027年1月" in drawn["supply", "zh", True][0]
    assert "2027-01" in drawn["supply", "en", True][0]


def test_residual_lowers_the_total_of_its_year():
    base = world()
    line = replace(base.costs[0], component="residual", label="residual value", amount=-5.0e5)
    before, after = (
        sum(row["amount"] for row in _series.costs(plan, Words("en"))[0])
        for plan in (base, replace(base, costs=(*base.costs, line)))
    )
    assert after == pytest.approx(before - 5.0e5)
