"""``flopwise diff``: what changed between two plans."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flopwise.faces.cli.lazy import lazy
from flopwise.faces.cli.options import Json, verb
from flopwise.faces.cli.output import print_json, print_table, say
from flopwise.faces.cli.table import VERBS

if TYPE_CHECKING:
    from flopwise.app import diff as diffs
    from flopwise.app import plan as plans
else:
    diffs, plans = lazy("flopwise.app.diff"), lazy("flopwise.app.plan")

ANSWERED, NO = 0, 2


APP = verb()
APPS = {"diff": APP}


@APP.command(help=f"{VERBS['diff']} Exit status 2 when they differ.")
def diff(
    before: Annotated[Path, typer.Argument(metavar="PLAN", help="The earlier plan: plan.json or its folder.")],
    after: Annotated[Path, typer.Argument(metavar="PLAN", help="The later plan.")],
    *,
    as_json: Json = False,
) -> int:
    """Print all changes, inputs first."""
    found = diffs.diff(plans.read(before), plans.read(after))
    if as_json:
        print_json({"same": found.same, "before": found.before, "after": found.after, "changes": found.changes})
    elif found.same:
        say("The plans say the same.")
    else:
        for section, changes in groupby(found.changes, key=lambda change: change.section):
            rows = [(change.name, change.before, change.after, change.why) for change in changes]
            print_table(
                ("", "before", "after", "meaning"), rows, title=section.capitalize(), fold=("", "before", "after", "meaning")
            )
    return ANSWERED if found.same else NO
