"""Runs one verb and turns everything that goes wrong into a message and an exit status."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import typer

from flopwise.faces.cli.output import print_json
from flopwise.faces.cli.table import FAMILIES, VERBS, family_help
from flopwise.ground.errors import FlopwiseError, ScenarioError, UnknownNameError

ANSWERED, ERROR = 0, 1
#: Environment variable that shows tracebacks of program errors.
DEBUG = "FLOPWISE_DEBUG"


def run_verb(verb: str, arguments: Sequence[str]) -> int:
    """Run one verb. A verb returns its exit status, or nothing when it has answered."""
    as_json = "--json" in arguments
    if verb in FAMILIES:
        return _run_family(verb, arguments, as_json=as_json)
    return _run(verb, verb, arguments, as_json=as_json)


def _run_family(verb: str, arguments: Sequence[str], *, as_json: bool) -> int:
    """The second word is looked up here: typer's own groups import its whole coercion layer, even for help."""
    words = FAMILIES[verb]
    if arguments and arguments[0] in {"--help", "-h"}:
        sys.stdout.write(family_help(verb))
        return ANSWERED
    if not arguments or arguments[0] not in words:
        name = arguments[0] if arguments else ""
        error = UnknownNameError(f"word after {verb!r}", name, words, hint=f"one of {', '.join(words)}")
        return report_error(error, as_json=as_json)
    return _run(verb, f"{verb} {arguments[0]}", arguments[1:], as_json=as_json)


def _run(module: str, name: str, arguments: Sequence[str], *, as_json: bool) -> int:
    try:
        apps: Any = importlib.import_module(f"flopwise.faces.cli.verbs.{module}").APPS
        command: Any = typer.main.get_command(apps[name])
        status = command.main(args=list(arguments), prog_name=f"flopwise {name}", standalone_mode=False)
    except FlopwiseError as error:
        return report_error(error, as_json=as_json)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:  # noqa: BLE001 - the last resort: nobody should read a traceback
        return _other_error(error, name, as_json=as_json)
    return status if isinstance(status, int) else ANSWERED


def unknown_verb(name: str, *, as_json: bool) -> int:
    """Report a verb that does not exist."""
    return report_error(UnknownNameError("verb", name, VERBS, hint="'flopwise --help' lists the verbs"), as_json=as_json)


def report_error(error: FlopwiseError, *, as_json: bool) -> int:
    """Print an error: one line what and where, one line what to try; or one JSON document on standard output."""
    if as_json:
        print_json({"error": {"code": error.code, "message": str(error), "hint": error.hint, **_details(error)}})
        return ERROR
    sys.stderr.write(f"error: {error}\n")
    if error.hint:
        sys.stderr.write(f"hint: {error.hint}\n")
    return ERROR


def _details(error: FlopwiseError) -> dict[str, object]:
    if isinstance(error, ScenarioError):
        return {"file": error.file, "problems": list(error.problems)}
    if isinstance(error, UnknownNameError):
        return {"kind": error.kind, "name": error.name, "nearest": list(error.nearest)}
    return {}


class UsageError(FlopwiseError):
    """A command line that does not fit the verb."""

    code = "usage"


def _other_error(error: Exception, verb: str, *, as_json: bool) -> int:
    # typer carries its own copy of click, whose error classes are not public: they are known by what they can do.
    if hasattr(error, "format_message"):
        text = str(error.format_message()).replace("Value error, ", "")  # type: ignore[attr-defined]
        return report_error(UsageError(text, hint=f"'flopwise {verb} --help' shows what it takes"), as_json=as_json)
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    wrong = f"internal error: {type(error).__name__}: {error}"
    return report_error(FlopwiseError(wrong, hint=f"this is a bug; {DEBUG}=1 shows where"), as_json=as_json)
