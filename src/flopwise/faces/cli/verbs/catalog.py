"""``flopwise catalog``: the shipped facts with their sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flopwise.faces.cli.lazy import lazy
from flopwise.faces.cli.options import AsOf, Json, verb
from flopwise.faces.cli.output import print_json, print_table, say
from flopwise.faces.cli.table import FAMILIES

if TYPE_CHECKING:
    from flopwise.app import catalog as catalogues
    from flopwise.app.catalog import Entry, FactRow
else:
    catalogues = lazy("flopwise.app.catalog")

KINDS = "accelerators, servers, switches, models, regions, offers or parameters"
#: Columns of words that may be broken, and columns of numbers.
FOLD = ("id", "accelerators", "source", "name", "range", "kind")
RIGHT = ("memory", "bandwidth", "bf16 dense", "power", "list price", "price", "offers", "parameters", "value", "electricity")


LIST = verb()


@LIST.command(help=FAMILIES["catalog"]["list"])
def list_(
    kind: Annotated[str | None, typer.Argument(metavar="[KIND]", help=f"One of {KINDS}.")] = None,
    *,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Print one list."""
    if kind is None:
        counts = catalogues.counts()
        if as_json:
            print_json(counts)
        else:
            print_table(("kind", "entries"), [(name, str(count)) for name, count in counts.items()], right=("entries",))
        return
    found = catalogues.listing(kind, as_of=as_of)
    if as_json:
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
        print_json({"kind": found.kind, "as_of": found.as_of, "rows": rows})
        return
    print_table(found.columns, found.rows, title=f"{found.kind} as of {found.as_of}", right=RIGHT, fold=FOLD)


SHOW = verb()


@SHOW.command(help=FAMILIES["catalog"]["show"])
def show(
    name: Annotated[str, typer.Argument(help="An accelerator, server, switch, model, region, parameter or channel.")],
    *,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Print one entry."""
    found = catalogues.entry(name, as_of=as_of)
    if as_json:
        print_json(found)
    else:
        _print(found)


def _print(found: Entry) -> None:
    say(f"{found.name} ({found.kind}: {found.id})")
    for key, text in found.properties.items():
        say(f"  {key}: {text}")
    if found.facts:
        _print_facts(found.facts)
    if found.offers:
        offers = [
            (
                row.channel,
                row.kind,
                f"{row.accelerators} x {row.accelerator}" if row.accelerator else "",
                row.region,
                row.price,
                row.as_of,
                "stale" if row.stale else "",
            )
            for row in found.offers
        ]
        print_table(
            ("channel", "kind", "what", "region", "price", "as of", ""),
            offers,
            title="Offers",
            right=("price",),
            fold=("what", "region"),
        )


def _print_facts(facts: tuple[FactRow, ...]) -> None:
    """Figures, then their sources by number: many figures share one."""
    sources = list(dict.fromkeys(row.source for row in facts))
    rows = [(row.figure, row.text, row.range, row.confidence, row.as_of, str(sources.index(row.source) + 1)) for row in facts]
    print_table(
        ("figure", "value", "range", "confidence", "as of", "source"), rows, title="Figures", right=("value",), fold=("figure",)
    )
    for number, source in enumerate(sources, 1):
        say(f"  source {number}: {source}")
    for row in facts:
        if row.note:
            say(f"  {row.figure}: {row.note}")


TEMPLATE = verb()


@TEMPLATE.command(help=FAMILIES["catalog"]["template"])
def template(*, as_json: Json = False) -> None:
    """Print the template of quotes."""
    text = catalogues.quote_template()
    if as_json:
        print_json({"template": text})
    else:
        say(text.rstrip())


APPS = {"catalog list": LIST, "catalog show": SHOW, "catalog template": TEMPLATE}
