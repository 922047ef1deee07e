"""The shipped examples as a user plans them, the public hour of requests, and the plan's folder."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import flopwise as fw
from flopwise.app import plan as plans
from flopwise.app.files import write_whole
from flopwise.domain.plan import Plan, Status
from flopwise.ground.errors import PlanFileError
from planning import planning_world as world

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def made() -> Plan:
    return world.plan(world.scenario(world.service()))


@pytest.mark.parametrize("name", ["research-lab", "assistant", "hybrid"])
def test_examples_are_planned_and_serve_everything(name):
    made = fw.plan(fw.load(EXAMPLES / f"{name}.yaml"))
    assert made.status is Status.OPTIMAL
    assert made.orders
    assert sum(line.npv for line in made.costs) == pytest.approx(made.summary.total_npv, rel=1e-9)
    low, high = made.summary.total_npv_interval
    assert 0 < low < made.summary.total_npv < high
    for row in made.references:
        if row.feasible:
            assert row.npv >= made.summary.total_npv - 1e-6
    assert all(item.assumption.source for item in made.assumptions)


def test_a_public_hour_of_requests_is_planned(shared: Callable[[str], Path], tmp_path):
    text = (EXAMPLES / "assistant.yaml").read_text(encoding="utf-8")
    trace = shared("data/infer/traces/azure2023_conv.csv")
    scenario = tmp_path / "public.yaml"
    scenario.write_text(text.replace("trace: requests.csv", f"trace: {trace}"), encoding="utf-8")
    assert str(trace) in scenario.read_text(encoding="utf-8")
    made = fw.plan(fw.load(scenario))
    assert made.status is Status.OPTIMAL
    assert "19366 requests" in made.demand[0].derivation[0]


def test_a_plan_is_read_back_as_it_was_written(made, tmp_path):
    paths = plans.save(made, tmp_path / "p")
    assert set(paths) == {"plan.json", "report.html", "orders.csv", "bom.csv", "plan.xlsx"}
    assert all(path.stat().st_size > 0 for path in paths.values())
    assert plans.read(tmp_path / "p") == made
    assert plans.read(tmp_path / "p" / "plan.json") == made


def test_the_same_plan_gives_the_same_bytes_in_every_file(made, tmp_path):
    first, second = plans.save(made, tmp_path / "a"), plans.save(made, tmp_path / "b")
    assert all(first[name].read_bytes() == second[name].read_bytes() for name in first)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "not a plan"), ("[]", "no object"), ("[" * 100_000, "not a plan"), ('{"schema": "other/9"}', "schema"),
        ('{"schema": "flopwise.plan/1"}', "problems"),
    ],
)  # fmt: skip
def test_files_that_are_no_plan_are_refused(content, said, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(PlanFileError, match=said):
        plans.read(path)


def test_a_plan_cut_short_or_changed_is_refused(made, tmp_path):
    text = plans.to_json(made)
    path = tmp_path / "plan.json"
    path.write_text(text[: len(text) // 2], encoding="utf-8")
    with pytest.raises(PlanFileError, match="not a plan"):
        plans.read(path)
    values = json.loads(text)
    values["orders"] = "none"
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(PlanFileError, match="orders"):
        plans.read(path)


def test_a_missing_plan_says_how_to_make_one(tmp_path):
    with pytest.raises(PlanFileError, match="no such file") as caught:
        plans.read(tmp_path / "nothing")
    assert "flopwise plan" in caught.value.hint


def test_a_file_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "plan.json"
    write_whole(path, b"old")

    def fail(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["plan.json"]


def test_an_unwritable_folder_is_said(made, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(PlanFileError, match="a file of this name is there"):
        plans.save(made, blocked)


def test_numbers_that_json_lacks_are_refused(made):
    broken = replace(made, gap=float("nan"))
    with pytest.raises(ValueError, match="JSON compliant"):
        plans.to_json(broken)


def test_a_pipe_is_written_to_and_a_link_stays_a_link(tmp_path):
    pipe, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"through")
    reader.join(10)
    assert read == [b"through"]
    assert pipe.is_fifo()
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400", "1" + "0" * 400])
def test_a_plan_with_a_number_that_is_none_is_refused(made, tmp_path, number):
    path = tmp_path / "plan.json"
    text = re.sub(r'"total_npv":\s*[0-9.e+]+', f'"total_npv": {number}', plans.to_json(made), count=1)
    assert number in text
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PlanFileError, match="finite"):
        plans.read(path)


def test_half_a_surrogate_pair_is_refused(made, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(plans.to_json(made).replace('"test"', '"\\ud800"', 1), encoding="utf-8")
    with pytest.raises(PlanFileError, match="not a plan"):
        plans.read(path)


def test_no_report_of_an_older_plan_stands_beside_a_new_one(made, tmp_path, monkeypatch):
    plans.save(made, tmp_path)

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("flopwise.app.report.report", stopped)
    with pytest.raises(KeyboardInterrupt):
        plans.save(made, tmp_path)
    assert [item.name for item in tmp_path.iterdir()] == ["plan.json"]
