"""CPU time until the command line answers: help from the static table, help of each verb, a wrong verb.

    python benchmarks/cli_start.py [--repeat N] [--check]

Prints the median CPU seconds (user and system) of the child process; ``--check`` fails when a limit is passed.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys

from flopwise.faces.cli.table import FAMILIES, VERBS

#: Limits in CPU seconds.
HELP, VERB_HELP = 0.06, 0.25
COMMAND = [sys.executable, "-m", "flopwise.faces.cli.main"]


def cpu_seconds(arguments: list[str]) -> float:
    """CPU time of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603 - this very program
        [*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env=os.environ
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    lines = [verb for verb in VERBS if verb not in FAMILIES]
    lines += [f"{verb} {word}" for verb, words in FAMILIES.items() for word in words]
    slow = 0
    for line, limit in [("--help", HELP), ("--version", HELP), *((f"{line} --help", VERB_HELP) for line in lines)]:
        times = [cpu_seconds(line.split()) for _ in range(options.repeat)]
        middle = statistics.median(times)
        slow += middle > limit
        print(f"{middle:6.3f} s  limit {limit:.2f} s  flopwise {line}")
    return 1 if slow and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
