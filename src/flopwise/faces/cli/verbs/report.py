"""``flopwise report``: render a plan."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flopwise.faces.cli.lazy import lazy
from flopwise.faces.cli.options import Json, Lang, LangOption, PlanFile, verb
from flopwise.faces.cli.output import print_json, say
from flopwise.faces.cli.table import VERBS

if TYPE_CHECKING:
    from flopwise.app import plan as plans
    from flopwise.app import report as reports
else:
    plans, reports = lazy("flopwise.app.plan"), lazy("flopwise.app.report")


class Format(StrEnum):
    """Formats of reports."""

    HTML = "html"
    XLSX = "xlsx"
    MD = "md"
    JSON = "json"


APP = verb()
APPS = {"report": APP}


@APP.command(help=VERBS["report"])
def report(
    plan: PlanFile,
    *,
    form: Annotated[Format, typer.Option("--format", "-f", help="Format of the report.")] = Format.HTML,
    lang: LangOption = Lang.EN,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="File to write; beside the plan by default (report.html, report.zh.html).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write one report and print where it is."""
    folder = plan if plan.is_dir() else plan.parent
    tongue = "" if lang is Lang.EN else f".{lang.value}"
    path = out or folder / f"report{tongue}.{form.value}"
    reports.report(plans.read(plan), format=form.value, lang=lang.value, out=path)
    if as_json:
        print_json({"report": str(path), "format": form.value, "lang": lang.value})
    else:
        say(f"report: {path}")
