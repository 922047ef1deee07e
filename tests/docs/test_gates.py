"""The gates do what they say: skips are forbidden where they must be, CI runs what ``make check`` runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("body", "forbidden", "passes"),
    [
        ("def test_x(): pytest.skip('no reason')", True, False),
        ("def test_x(): pytest.skip('no reason')", False, True),
        ("def test_x(): pytest.skip('shared data absent')", True, True),
        ("pytest.skip('whole module', allow_module_level=True)", True, False),
        ("@pytest.mark.skipif(True, reason='never here')\ndef test_x(): pass", True, False),
        ("@pytest.mark.xfail(reason='known', strict=False)\ndef test_x(): assert False", True, True),
        ("def test_x(): pass", True, True),
    ],
)
def test_forbidden_skips_fail(body, forbidden, passes, tmp_path):
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "test_it.py").write_text(f"import pytest\n\n{body}\n", encoding="utf-8")
    environment = {key: text for key, text in os.environ.items() if not key.startswith(("PYTEST", "FLOPWISE"))}
    environment["FLOPWISE_FORBID_SKIPS"] = "1" if forbidden else "0"
    unused = [
        word for name in ("randomly", "cacheprovider", "xdist", "hypothesispytest", "socket") for word in ("-p", f"no:{name}")
    ]
    command = [sys.executable, "-m", "pytest", "-q", *unused, "--rootdir", str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    # Status 5: nothing was collected, which a skipped module amounts to.
    assert (done.returncode in {0, 5}) is passes, done.stdout


def test_ci_runs_what_make_check_runs():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.rstrip().endswith("exec make check")
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("plan", "test", "lint", "docs", "check", "clean"):
        assert f"\n{target}:" in makefile
    assert "FLOPWISE_FORBID_SKIPS=1" in makefile.partition("\ncheck:")[2]
