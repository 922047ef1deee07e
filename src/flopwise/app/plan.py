"""Plan a scenario, write the plan's folder, read it back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flopwise.app import report
from flopwise.app.files import write_whole
from flopwise.catalog import Catalogue, load_catalogue
from flopwise.domain.plan import PLAN_SCHEMA, Plan
from flopwise.domain.scenario import Scenario
from flopwise.ground import registry
from flopwise.ground.errors import PlanFileError
from flopwise.ground.units import MEGA

Progress = Callable[[str, int, int], None]
PLAN_FILE = "plan.json"
#: Files of a plan's folder beside plan.json, and the format that makes each.
FILES: Mapping[str, str] = {"report.html": "html", "orders.csv": "orders", "bom.csv": "bom", "plan.xlsx": "xlsx"}
#: A plan larger than this is some other file.
LARGEST_PLAN = 200 * MEGA
_HOSTED = "hosted-"
_SCENARIOS = frozenset({".yaml", ".yml"})


def plan(scenario: Scenario, *, progress: Progress | None = None, catalogue: Catalogue | None = None) -> Plan:
    """Plan a scenario: from tokens and traffic to orders with costs.

    Args:
        scenario: as ``load`` returns it.
        progress: called with (stage, steps done, steps in all).
        catalogue: facts and offers; the shipped catalogue by default.

    Returns:
        The plan. ``status`` is infeasible when some demand cannot be met; ``infeasibilities`` says why.

    Raises:
        FlopwiseError: an unknown channel, a missing price, or a solver that found no answer in time.
    """
    # The solver and NumPy are heavy: verbs that do not plan must not pay for them.
    from flopwise.planning.plan import make_plan  # noqa: PLC0415

    facts = catalogue or load_catalogue()
    hosted = ()
    if any(channel.startswith(_HOSTED) for channel in scenario.supply.channels):
        hosted = registry.load("flopwise.adapters.offers", "offers", "genai_prices").hosted_offers(facts)
    return make_plan(scenario, facts, hosted, progress)


def save(made: Plan, folder: str | Path, *, lang: str = "en") -> dict[str, Path]:
    """Write plan.json, report.html, orders.csv, bom.csv and plan.xlsx.

    Each file appears whole or not at all; plan.json is written first, so that a crash while the reports are made
    loses nothing.

    Returns:
        Path of each file by its name.

    Raises:
        PlanFileError: the folder cannot be written.
    """
    place = Path(folder)
    make_folder(place)
    try:
        write_whole(place / PLAN_FILE, to_json(made).encode())
    except OSError as error:
        msg = f"{place}: cannot be written: {error.strerror or error}"
        raise PlanFileError(msg, hint="name another folder with -o") from error
    # Reports of an older plan must not stand beside this one if what follows is interrupted.
    for name in FILES:
        (place / name).unlink(missing_ok=True)
    for name, form in FILES.items():
        report.report(made, format=form, lang=lang, out=place / name)
    return {name: place / name for name in (PLAN_FILE, *FILES)}


def make_folder(place: Path) -> None:
    """Make the folder of a plan, before the time for planning is spent.

    Raises:
        PlanFileError: it cannot be made, or something else has its name.
    """
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "a file of this name is there" if isinstance(error, FileExistsError) else error.strerror or str(error)
        msg = f"{place}: no folder can be made: {why}"
        raise PlanFileError(msg, hint="name another folder with -o") from error


def to_json(made: Plan) -> str:
    """The plan as JSON: exactly its fields, floats in shortest text, no infinities."""
    content: bytes = registry.load("flopwise.adapters.reports", "reports", "json").render(made, lang="en")
    return content.decode()


def read(path: str | Path) -> Plan:
    """Read a plan.json, or the folder that holds it.

    Raises:
        PlanFileError: no such file, not JSON, another schema, or fields that do not fit.
    """
    place = Path(path)
    file = place / PLAN_FILE if place.is_dir() else place
    values = _values(file)
    found = values.get("schema")
    if found != PLAN_SCHEMA:
        msg = f"{file}: schema is {found!r}; this flopwise reads {PLAN_SCHEMA!r}"
        raise PlanFileError(msg, hint="plan the scenario again, or use the flopwise that wrote the file")
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - heavy, wanted only by verbs that read plans

    try:
        return TypeAdapter(Plan).validate_python(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        msg = f"{file}: {where}: {first['msg']} ({error.error_count()} problems in all)"
        raise PlanFileError(msg, hint="the file was changed or cut short; plan the scenario again") from error


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        msg = f"{text[:20]} is not a finite number"
        raise ValueError(msg)
    return value


def _integer(text: str) -> int:
    _finite(text)
    return int(text)


def _values(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > LARGEST_PLAN:
            msg = f"{file}: larger than {LARGEST_PLAN / MEGA:.0f} MB, no plan"
            raise PlanFileError(msg)
        values = json.loads(file.read_text(encoding="utf-8"), parse_float=_finite, parse_int=_integer, parse_constant=_finite)
        # Half of a surrogate pair is legal JSON and no text: nothing could be written from it.
        json.dumps(values, ensure_ascii=False).encode()
    except FileNotFoundError as error:
        msg = f"{file}: no such file"
        raise PlanFileError(msg, hint="'flopwise plan SCENARIO' writes one") from error
    except OSError as error:
        msg = f"{file}: cannot be read: {error.strerror or error}"
        raise PlanFileError(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"{file}: not a plan{': a scenario' if file.suffix in _SCENARIOS else f': {error}'}"
        scenario = file.suffix in _SCENARIOS
        hint = (
            f"plan it first: flopwise plan {file}"
            if scenario
            else "the file was cut short or is no JSON; plan the scenario again"
        )
        raise PlanFileError(msg, hint=hint) from error
    if not isinstance(values, dict):
        msg = f"{file}: not a plan: it holds no object"
        raise PlanFileError(msg)
    return values
