"""``flopwise plan``: the main job."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flopwise.faces.cli.lazy import lazy
from flopwise.faces.cli.options import AsOf, Json, Lang, LangOption, verb
from flopwise.faces.cli.output import print_json, print_table, say
from flopwise.faces.cli.progress import progress
from flopwise.faces.cli.table import VERBS

if TYPE_CHECKING:
    from flopwise.app import plan as plans
    from flopwise.app import report as reports
    from flopwise.app import scenario as scenarios
    from flopwise.app import summary as summaries
    from flopwise.app.summary import PlanSummary
    from flopwise.domain.plan import Plan, PlanAssumption, PlanOrder, Reference
    from flopwise.ground import units
else:
    plans, scenarios = lazy("flopwise.app.plan"), lazy("flopwise.app.scenario")
    reports = lazy("flopwise.app.report")
    summaries, units = lazy("flopwise.app.summary"), lazy("flopwise.ground.units")

ANSWERED, NO = 0, 2
#: Characters of a source on the screen.
SOURCE_WIDTH = 24


APP = verb()
APPS = {"plan": APP}


@APP.command(help=VERBS["plan"])
def plan(
    scenario: Annotated[Path, typer.Argument(help="The scenario file (YAML).")],
    *,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Folder of the plan; ./NAME-plan by default.")] = None,
    lang: LangOption = Lang.EN,
    as_of: AsOf = None,
    as_json: Json = False,
) -> int:
    """Plan a scenario, write the plan's files and print one screen about it."""
    read = scenarios.load(scenario, as_of=as_of)
    folder = out or Path(f"{read.name}-plan")
    plans.make_folder(folder)
    reports.prepare()
    with progress() as show:
        made = plans.plan(read, progress=show)
    paths = plans.save(made, folder, lang=lang.value)
    if as_json:
        print_json(made)
    else:
        print_plan(made, summaries.summarise(made), str(paths["report.html"]))
    return NO if made.status.value == "infeasible" else ANSWERED


def print_plan(made: Plan, summary: PlanSummary, report: str) -> None:
    """One screen about a plan, in the order of the report."""
    say(summary.headline)
    say(f"as of {made.as_of}, {made.months[0]} to {made.months[-1]}, gap {units.show(made.gap, '1')}")
    _problems(made)
    _orders(summary)
    _costs(summary)
    _references(summary)
    _assumptions(summary)
    for warning in made.warnings:
        say(f"warning: {warning}")
    say(f"report: {report}")


def _problems(made: Plan) -> None:
    for item in made.infeasibilities:
        say(f"cannot be met: {item.workload}: {item.message}")
        say(f"  try: {item.remedy}")


def _orders(summary: PlanSummary) -> None:
    if not summary.orders:
        say("\nNo orders: nothing has to be bought or reserved.")
        return
    rows = [
        (
            order.order_by,
            order.kind,
            f"{order.servers} x {order.server or order.accelerator}" if order.servers else "per token",
            order.channel,
            order.arrives,
            units.show(order.amount, ""),
            ", ".join(_marks(order)),
        )
        for order in summary.orders
    ]
    columns = ("order by", "kind", "what", "channel", "arrives", "USD", "")
    print_table(columns, rows, title="Orders", right=("USD",), fold=("what", "kind"))
    if summary.more_orders:
        say(f"and {summary.more_orders} more in the report")


def _marks(order: PlanOrder) -> list[str]:
    """What a reader must know about an amount."""
    return [*(["paid by use"] if order.paid_by_use else []), *(["stale price"] if order.stale else [])]


def _costs(summary: PlanSummary) -> None:
    rows = [(row.label, units.show(row.amount, ""), units.show(row.npv, "")) for row in summary.costs]
    print_table(("component", "cash, USD", "present value, USD"), rows, title="Cost", right=("cash, USD", "present value, USD"))


def _references(summary: PlanSummary) -> None:
    rows = [
        (
            ("* " if row.chosen else "  ") + row.name,
            units.show(row.npv, ""),
            units.show(row.regret, "") if row.regret is not None else "",
            row.note or (row.description if row.feasible else f"cannot do {_missing(row)}"),
        )
        for row in summary.references
    ]
    columns = ("plan", "present value, USD", "over this plan, USD", "")
    print_table(columns, rows, title="Reference plans", right=columns[1:3], fold=("plan", ""))


def _missing(row: Reference) -> str:
    return ", ".join(f"{units.show(share, '1')} of {name}" for name, share in row.unmet.items())


def _assumptions(summary: PlanSummary) -> None:
    rows = [
        (
            row.assumption.path,
            row.assumption.value,
            _weight(row),
            _short(row.assumption.source),
        )
        for row in summary.assumptions
    ]
    print_table(
        ("assumed", "value", "moves the total by", "source"),
        rows,
        title="Assumptions that cost most",
        fold=("assumed", "value", "moves the total by", "source"),
    )
    if summary.more_assumptions:
        say(f"and {summary.more_assumptions} more in the report, with all sources")


def _weight(row: PlanAssumption) -> str:
    if row.breaks:
        return f"not all served at {row.breaks}"
    return units.show(row.swing, "USD") if row.swing else ""


def _short(text: str) -> str:
    """The beginning of a source; the report has it whole."""
    return textwrap.shorten(text, SOURCE_WIDTH, placeholder=" ...")
