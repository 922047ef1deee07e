"""Numbers and months beyond reason are problems of the file with their line, and no others are invented."""

from __future__ import annotations

from pathlib import Path

import pytest

import flopwise as fw
from flopwise.ground.errors import ScenarioError

TEXT = """flopwise: 1
name: extreme
as_of: 2026-12-01
horizon: {start: START, months: 6}
workloads:
  - name: chat
    kind: serving
    model: qwen3-32b
    traffic: {peak: PEAK}
    lengths: {input: 800, output: 200}
supply: {region: us}
"""


@pytest.mark.parametrize(
    ("start", "peak", "path"),
    [
        ("9999-12", "5 req/s", "horizon.start"),
        ("2027-01", "-4 req/s", "workloads[0].traffic.peak"),
        ("2027-01", "1e300 req/s", "workloads[0].traffic.peak"),
        ("2027-01", "9" * 5000, "workloads[0].traffic.peak"),
    ],
)
def test_one_extreme_is_one_problem_with_its_line(start, peak, path, tmp_path: Path):
    file = tmp_path / "extreme.yaml"
    file.write_text(TEXT.replace("START", start).replace("PEAK", peak), encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        fw.load(file)
    assert [problem.path for problem in caught.value.problems] == [path]
    assert caught.value.problems[0].line in {4, 9}
