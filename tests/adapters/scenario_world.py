"""A small scenario that tests bend, and the shipped catalogue."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from flopwise.adapters.models.hf_config import read_model
from flopwise.adapters.scenario import load_scenario
from flopwise.adapters.traces.requests import read_trace
from flopwise.catalog import Catalogue, load_catalogue
from flopwise.domain.scenario import Scenario
from flopwise.ground.errors import ScenarioError

SMALL = """\
flopwise: 1
name: small
as_of: 2026-12-01
horizon: {start: 2027-01, months: 12}
headroom: 20%
workloads:
  - name: train
    kind: training
    model: llama-3.1-8b
    tokens: 200B
    window: {start: 2027-03, finish_within: 60 d}
  - name: chat
    kind: serving
    model: llama-3.1-8b
    precision: fp8
    traffic: {peak: 5 req/s, profile: office-hours, timezone: UTC, growth: 3 %/month}
    lengths: {input: {mean: 1000, p95: 3000}, output: {mean: 200, p95: 600}}
    slo: {ttft_p95: 1 s, tpot_p95: 50 ms}
supply:
  region: us
  sites: [{name: here, electricity: 0.08 USD/kWh, pue: 1.3, power: 1 MW, colocation: 180 USD/kW/month}]
  owned: [{server: dgx-h100, count: 1, site: here, since: 2025-06}]
  channels: [oem, aws]
"""


@cache
def shipped() -> Catalogue:
    """The shipped catalogue, read once."""
    return load_catalogue()


def load_text(text: str, folder: Path, *, as_of: str | None = None, hosted: tuple[str, ...] = ()) -> Scenario:
    """Load a scenario from text."""
    path = folder / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    return load_scenario(path, shipped(), read_model=read_model, read_trace=read_trace, hosted=lambda: hosted, as_of=as_of)


def problems(text: str, folder: Path) -> ScenarioError:
    """The error that a text raises."""
    with pytest.raises(ScenarioError) as caught:
        load_text(text, folder)
    return caught.value


def bent(old: str, new: str) -> str:
    """The small scenario with one part replaced."""
    assert old in SMALL
    return SMALL.replace(old, new, 1)


def line_of(text: str, part: str) -> int:
    """Line (from 1) that holds ``part``."""
    return text[: text.index(part)].count("\n") + 1
