"""From nothing to a plan that is asked, compared and rendered, through the command line only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flopwise.app.scenario import load
from flopwise.faces.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))


def run(capsys, *arguments):
    status = main.run(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_load_without_warnings(path):
    scenario = load(path)
    assert scenario.warnings == ()
    assert scenario.as_of == "2026-12-01"
    assert scenario.horizon.start == "2027-01"


@pytest.mark.slow
def test_init_plan_explain_diff_report(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    day = ("--as-of", "2026-12-01")
    assert run(capsys, "init", "s.yaml", "--name", "mine", "--work", "serving", *day)[0] == 0
    status, out, err = run(capsys, "plan", "s.yaml")
    assert status == 0, err
    assert "mine-plan/report.html" in out
    assert "Assumptions that cost most" in out
    assert all(len(line) <= 100 for line in out.splitlines() if line.startswith(("order", "plan", "component")))
    names = {path.name for path in Path("mine-plan").iterdir()}
    assert {"plan.json", "report.html", "orders.csv", "bom.csv", "plan.xlsx"} <= names

    status, out, _ = run(capsys, "plan", "s.yaml", "-o", "again", "--json")
    printed = json.loads(out)
    assert printed == json.loads(Path("again/plan.json").read_text(encoding="utf-8"))
    assert Path("again/plan.json").read_bytes() == Path("mine-plan/plan.json").read_bytes()
    assert run(capsys, "diff", "mine-plan", "again")[0] == 0

    for figure in printed["figures"]:
        status, out, _ = run(capsys, "explain", "mine-plan", figure)
        assert status == 0
        assert "formula" in out

    text = Path("s.yaml").read_text(encoding="utf-8")
    assert "5 req/s" in text
    Path("more.yaml").write_text(text.replace("5 req/s", "50 req/s"), encoding="utf-8")
    assert run(capsys, "plan", "more.yaml", "-o", "more")[0] == 0
    status, out, _ = run(capsys, "diff", "mine-plan", "more")
    assert status == 2
    assert "scenario_digest" in out
    assert "total npv" in out

    for form in ("html", "xlsx", "md", "json"):
        for lang in ("en", "zh"):
            status, _, err = run(capsys, "report", "mine-plan", "--format", form, "--lang", lang, "-o", f"r-{lang}.{form}")
            assert status == 0, err
            assert Path(f"r-{lang}.{form}").stat().st_size > 500


@pytest.mark.slow
def test_a_demand_that_cannot_be_met_is_status_2(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(capsys, "init", "s.yaml", "--work", "training", "--tokens", "200T", "--within", "3 d", "--as-of", "2026-12-01")
    status, out, err = run(capsys, "plan", "s.yaml", "-o", "p")
    assert status == 2, err
    assert "cannot be met" in out
    assert json.loads(Path("p/plan.json").read_text(encoding="utf-8"))["status"] == "infeasible"
