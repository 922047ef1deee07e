"""What all tests share: the reference data beside the repository, and a gate against skipped tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

#: Reference data that is not part of the repository; tests that need it are skipped where it is absent.
SHARED = Path(__file__).parents[1].parent / "shared"
ABSENT = "shared data absent"
#: With this set, a skipped test fails, unless it lacks only the reference data.
FORBID_SKIPS = os.environ.get("FLOPWISE_FORBID_SKIPS") == "1"


@pytest.fixture
def shared() -> Callable[[str], Path]:
    """Path of a file of the reference data; the test is skipped without it."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(ABSENT)
        return path

    return find


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a forbidden skip of a test into a failure."""
    report = yield
    _forbid(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn a forbidden skip of a whole module into a failure."""
    report = yield
    _forbid(report)
    return report


def _forbid(report: pytest.TestReport | pytest.CollectReport) -> None:
    if not FORBID_SKIPS or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if ABSENT not in reason:
        report.outcome = "failed"
        report.longrepr = f"skips are forbidden here: {reason}"
