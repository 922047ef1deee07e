"""Flags that several verbs share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Lang(StrEnum):
    """Languages of reports."""

    EN = "en"
    ZH = "zh"


def verb() -> typer.Typer:
    """One command of plain help: no rich, no completion, no pretty tracebacks."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text, errors included.")]
AsOf = Annotated[str | None, typer.Option("--as-of", metavar="DAY", help="Day against which ages are measured (2026-12-01).")]
LangOption = Annotated[Lang, typer.Option("--lang", help="Language of the report.")]
PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan.json, or the folder that holds it.")]
