"""Load a scenario: joins the file format with model descriptions, request traces and hosted APIs."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from flopwise.adapters.models.hf_config import read_model
from flopwise.adapters.scenario import load_scenario
from flopwise.adapters.traces.requests import read_trace
from flopwise.app.day import checked_day
from flopwise.catalog import Catalogue, load_catalogue
from flopwise.domain.scenario import Scenario
from flopwise.ground import registry


def load(path: str | Path, *, as_of: str | None = None, catalogue: Catalogue | None = None) -> Scenario:
    """Read a scenario file and resolve every name in it.

    Args:
        path: the YAML file.
        as_of: day of the plan (ISO), before what the file states; today when neither does.
        catalogue: facts and names; the shipped catalogue by default.

    Returns:
        The scenario in base units. ``assumptions`` lists every value that the file does not state.

    Raises:
        InputFileError: the file cannot be opened.
        ScenarioError: all problems of the file at once, each with its line and what was expected.
    """
    facts = catalogue or load_catalogue()

    def hosted() -> Collection[str]:
        return hosted_channels(facts)

    return load_scenario(Path(path), facts, read_model=read_model, read_trace=read_trace, hosted=hosted, as_of=checked_day(as_of))


def hosted_channels(catalogue: Catalogue) -> tuple[str, ...]:
    """Names of the channels of hosted APIs. Their price lists are read only here, when a file names one."""
    source = registry.load("flopwise.adapters.offers", "offers", "genai_prices")
    return tuple(sorted({offer.channel for offer in source.hosted_offers(catalogue)}))
