"""Time of each shipped example from scenario file to the last report, and memory at its highest.

    .venv/bin/python benchmarks/plan_examples.py

One fresh process per example, so that imports count and peaks do not mix.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.yaml"))
ONE = """
import json, resource, sys, time
start = time.perf_counter()
import flopwise as fw
from flopwise.app.plan import save
plan = fw.plan(fw.load(sys.argv[1]))
planned = time.perf_counter()
save(plan, sys.argv[2])
usage = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({
    "plan_s": planned - start, "reports_s": time.perf_counter() - planned, "cpu_s": usage.ru_utime + usage.ru_stime,
    "peak_mb": usage.ru_maxrss / 1024, "gap": plan.gap,
}))
"""


def main() -> None:
    print(f"{'example':<16}{'plan':>8}{'reports':>9}{'all':>8}{'CPU':>8}{'peak':>10}{'gap':>8}")
    for example in EXAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", ONE, str(example), folder]
            done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603 - this interpreter, own text
        row = json.loads(done.stdout)
        total = row["plan_s"] + row["reports_s"]
        print(
            f"{example.stem:<16}{row['plan_s']:>6.1f} s{row['reports_s']:>7.1f} s{total:>6.1f} s{row['cpu_s']:>6.1f} s"
            f"{row['peak_mb']:>7.0f} MB{row['gap']:>8.1%}"
        )


if __name__ == "__main__":
    main()
