"""A scenario file becomes a domain ``Scenario``, or one error with every problem of the file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from flopwise.adapters.scenario.checks import check_names, path_in_file
from flopwise.adapters.scenario.digest import digest_of
from flopwise.adapters.scenario.document import read_document
from flopwise.adapters.scenario.finance import finance_of, risk_of
from flopwise.adapters.scenario.gather import Gather, ReadModel, ReadTrace
from flopwise.adapters.scenario.messages import problems_of
from flopwise.adapters.scenario.schema import ScenarioPart
from flopwise.adapters.scenario.stated import stated
from flopwise.adapters.scenario.supply import note_exchange_rates, supply_of
from flopwise.adapters.scenario.workloads import workloads_of
from flopwise.catalog import Catalogue
from flopwise.catalog.offers import read_offers
from flopwise.domain.scenario import HEADROOM, Horizon, Scenario
from flopwise.ground.errors import FlopwiseError, ScenarioError

#: Usual room for failed nodes, growth and experiments; outside it a warning.
_QUOTES = "a CSV of quotes, relative to this file"


def no_hosted() -> Collection[str]:
    """No hosted channels."""
    return ()


def load_scenario(
    path: Path,
    catalogue: Catalogue,
    *,
    read_model: ReadModel,
    read_trace: ReadTrace,
    hosted: Callable[[], Collection[str]] = no_hosted,
    as_of: str | None = None,
) -> Scenario:
    """Read a scenario file.

    Args:
        path: the YAML file.
        catalogue: what names stand for, facts for what is left unsaid, and exchange rates.
        read_model: reads a model description (a Hugging Face ``config.json``).
        read_trace: reads a request trace.
        hosted: names of the channels of hosted APIs; asked only when the file names one.
        as_of: day of the plan (ISO), before what the file states; today by default.

    Returns:
        The scenario in base units, with every value that the file does not state as an assumption.

    Raises:
        InputFileError: the file cannot be opened.
        ScenarioError: all problems of the file, each with its line and what was expected.
    """
    gather = Gather(document=read_document(path), catalogue=catalogue, read_model=read_model, read_trace=read_trace)
    _read_quotes(gather)
    check_names(gather, hosted)
    part = _validated(gather)
    if part is None or gather.problems:
        raise _error(gather)
    gather.as_of = as_of or part.as_of or gather.chosen("as_of", None, datetime.now(tz=UTC).date().isoformat(), "today")
    scenario = _resolve(part, gather)
    if gather.problems:
        raise _error(gather)
    return scenario


def _validated(gather: Gather) -> ScenarioPart | None:
    try:
        return ScenarioPart.model_validate(gather.document.values)
    except ValidationError as error:
        gather.problems.extend(problems_of(error, gather.document))
        return None


def _error(gather: Gather) -> ScenarioError:
    ordered = sorted(gather.problems, key=lambda problem: (problem.line or 0, problem.path))
    return ScenarioError(gather.document.file, ordered)


def _read_quotes(gather: Gather) -> None:
    """Offers of the file that ``supply.quotes`` names, before names of channels are checked."""
    supply = gather.document.values.get("supply")
    name = supply.get("quotes") if isinstance(supply, dict) else None
    if not isinstance(name, str):
        return
    gather.quotes_unread = True
    try:
        text = path_in_file(gather, name).read_text(encoding="utf-8-sig")
        offers = read_offers(text, origin=name, user_quote=True, catalogue=gather.catalogue)
    except OSError as error:
        gather.refuse(("supply", "quotes"), f"{name}: {error.strerror or error}".lower(), _QUOTES)
        return
    except UnicodeDecodeError:
        gather.refuse(("supply", "quotes"), f"{name}: not UTF-8 text", "a CSV saved as UTF-8")
        return
    except FlopwiseError as error:
        gather.refuse(("supply", "quotes"), str(error))
        return
    gather.quotes, gather.quotes_unread = tuple(offers), False
    gather.digests[name] = hashlib.sha256(text.encode()).hexdigest()


def _resolve(part: ScenarioPart, gather: Gather) -> Scenario:
    headroom = gather.chosen("headroom", part.headroom, HEADROOM, "for failed nodes, growth and experiments", "1")
    if part.horizon.start < gather.as_of[:7]:
        gather.warnings.append(
            f"line {gather.document.line(('horizon', 'start'))}: the horizon starts in {part.horizon.start}, before "
            f"the day of the plan, {gather.as_of}: orders for its first months can no longer be placed"
        )
    workloads = workloads_of(part, gather)
    supply = supply_of(part.supply, gather)
    finance, risk = finance_of(part.finance, gather), risk_of(part.risk, gather)
    note_exchange_rates(supply, gather)
    return Scenario(
        name=part.name,
        currency=gather.chosen("currency", part.currency, "USD", "no currency is stated"),
        horizon=Horizon(start=part.horizon.start, months=part.horizon.months),
        as_of=gather.as_of,
        headroom=headroom,
        workloads=workloads,
        supply=supply,
        finance=finance,
        risk=risk,
        assumptions=tuple(gather.assumptions),
        warnings=tuple(gather.warnings),
        digest=digest_of(part, gather.digests),
        stated=stated(gather.document.values, gather.quotes, gather.digests),
        mix=part.mix.model_dump() if part.mix else {},
    )
