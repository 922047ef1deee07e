"""``flopwise explain``: how a figure came about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flopwise.faces.cli.lazy import lazy
from flopwise.faces.cli.options import Json, PlanFile, verb
from flopwise.faces.cli.output import print_json, print_table, say
from flopwise.faces.cli.table import VERBS

if TYPE_CHECKING:
    from flopwise.app import explain as explanations
    from flopwise.app import plan as plans
    from flopwise.app.explain import Explanation
    from flopwise.domain.provenance import Figure
    from flopwise.ground import units
else:
    explanations, plans = lazy("flopwise.app.explain"), lazy("flopwise.app.plan")
    units = lazy("flopwise.ground.units")

#: Said of a figure without an error of its own.
NO_INTERVAL = "none: it follows from what is stated, or its error has not been measured"
INDENT = "  "


APP = verb()
APPS = {"explain": APP}


@APP.command(help=VERBS["explain"])
def explain(
    plan: PlanFile,
    figure: Annotated[str | None, typer.Argument(help="Id of a figure; without it all ids are listed.")] = None,
    *,
    as_json: Json = False,
) -> None:
    """Print one explanation, or the ids of all figures."""
    read = plans.read(plan)
    if figure is None:
        _list(explanations.figure_ids(read), as_json=as_json)
        return
    found = explanations.explain(read, figure)
    if as_json:
        print_json(found)
    else:
        _print(found, "")


def _list(figures: tuple[Figure, ...], *, as_json: bool) -> None:
    if as_json:
        print_json({"figures": figures})
        return
    rows = [(figure.id, units.show(figure.value, figure.unit), figure.label) for figure in figures]
    print_table(("figure", "value", ""), rows, right=("value",), fold=("figure", ""))


def _print(explanation: Explanation, indent: str) -> None:
    figure = explanation.figure
    low, high = (units.show(value, figure.unit) for value in figure.interval)
    say(f"{indent}{figure.label} ({figure.id})")
    inner = indent + INDENT
    say(f"{inner}value     {units.show(figure.value, figure.unit)}")
    exact = figure.interval[0] == figure.interval[1]
    say(f"{inner}interval  " + (NO_INTERVAL if exact else f"{low} to {high} (80 %)"))
    say(f"{inner}evidence  {figure.evidence.value}")
    say(f"{inner}formula   {figure.formula}")
    for item in explanation.inputs:
        say(f"{inner}where     {item.symbol} = {item.text}")
        if item.explanation:
            _print(item.explanation, inner + INDENT)
    for source in figure.sources:
        say(f"{inner}source    {source}")
