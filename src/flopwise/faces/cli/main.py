"""The entry point: help and version from a static table, everything else from the one verb that is asked for.

Exit status: 0 answered; 1 error, usage errors included; 2 answered, but the answer is no; 130 interrupted.
With ``--json`` standard output holds exactly one JSON document: the answer, or ``{"error": {...}}``. Without it
errors are text on standard error. A program error prints one line; FLOPWISE_DEBUG=1 shows its traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from flopwise.faces.cli.table import VERBS, help_text

ANSWERED, ERROR, NO, INTERRUPTED = 0, 1, 2, 130


def main() -> None:
    """Run the command line and exit."""
    try:
        status = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough. Python would complain again when it flushes at exit, so that goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = ANSWERED
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        status = INTERRUPTED
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command line.

    Returns:
        The exit status.
    """
    if not arguments or arguments[0] in {"--help", "-h", "help"}:
        sys.stdout.write(help_text())
        return ANSWERED
    if arguments[0] in {"--version", "-V", "version"}:
        sys.stdout.write(f"flopwise {version()}\n")
        return ANSWERED
    # Only now: help must not pay for what running a verb needs.
    from flopwise.faces.cli.runner import run_verb, unknown_verb  # noqa: PLC0415

    if arguments[0] not in VERBS:
        return unknown_verb(arguments[0], as_json="--json" in arguments)
    return run_verb(arguments[0], arguments[1:])


def version() -> str:
    """Version of flopwise."""
    from flopwise import __version__  # noqa: PLC0415 - as above

    return __version__


if __name__ == "__main__":
    main()
