"""``flopwise init``: a first scenario from a few answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flopwise.faces.cli.lazy import lazy
from flopwise.faces.cli.options import AsOf, Json, verb
from flopwise.faces.cli.output import print_json, say
from flopwise.faces.cli.table import VERBS

if TYPE_CHECKING:
    from flopwise.app import init as inits
else:
    inits = lazy("flopwise.app.init")


APP = verb()
APPS = {"init": APP}


@APP.command(help=f"{VERBS['init']} Questions whose flag is given are not asked; without a terminal defaults are taken.")
def init(  # noqa: PLR0913 - one argument per question
    path: Annotated[Path, typer.Argument(help="File to write.")] = Path("scenario.yaml"),
    *,
    name: Annotated[str | None, typer.Option(help="Name of the scenario.")] = None,
    work: Annotated[str | None, typer.Option(help="training, serving or both.")] = None,
    model: Annotated[str | None, typer.Option(help="Catalogue name, or path of a config.json.")] = None,
    tokens: Annotated[str | None, typer.Option(help="Tokens to train on, for example 2T.")] = None,
    within: Annotated[str | None, typer.Option(help="Time until training must be finished, for example '75 d'.")] = None,
    traffic: Annotated[str | None, typer.Option(help="'40 req/s' at the busiest time, or '20k users'.")] = None,
    region: Annotated[str | None, typer.Option(help="us, eu, cn, any ...")] = None,
    owned: Annotated[str | None, typer.Option(help="Servers that stand already, for example '8 dgx-h100'.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing; take the defaults.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Ask what was not given, write the file, and say what to do next."""
    given = {"name": name, "work": work, "model": model, "tokens": tokens, "within": within, "traffic": traffic}
    answers = {key: text for key, text in (given | {"region": region, "owned": owned}).items() if text is not None}
    if not yes and not as_json and sys.stdin.isatty():
        answers = _ask(answers)
    scenario = inits.write(path, answers, force=force, as_of=as_of)
    if as_json:
        print_json({"scenario": str(path), "name": scenario.name, "as_of": scenario.as_of})
        return
    say(f"wrote {path}")
    say(f"next: flopwise plan {path}")


def _ask(answers: dict[str, str]) -> dict[str, str]:
    asked = dict(answers)
    for question in inits.QUESTIONS:
        if question.key not in asked and inits.applies(question, asked):
            asked[question.key] = str(typer.prompt(question.text, default=question.default, err=True))
    return asked
