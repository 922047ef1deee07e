"""What reading a scenario gathers on its way: problems, warnings, and a value for everything left unsaid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from flopwise.adapters.scenario.document import Document, Path_, shown
from flopwise.catalog import Catalogue
from flopwise.domain.model_arch import ModelArch
from flopwise.domain.offer import Offer
from flopwise.domain.provenance import Confidence, Fact
from flopwise.domain.scenario import Assumption
from flopwise.domain.trace import RequestTrace
from flopwise.ground.errors import Problem
from flopwise.ground.units import show

#: Source of values that are choices of flopwise and no facts about the world.
OWN_CHOICE = "flopwise default"

Value = TypeVar("Value", str, int, float)
ReadModel = Callable[[Path], ModelArch]
ReadTrace = Callable[[Path], RequestTrace]


@dataclass(slots=True, kw_only=True)
class Gather:
    """One reading of one scenario.

    ``quotes`` are the offers of the file that ``supply.quotes`` names, ``quotes_unread`` that it could not be read;
    ``digests`` holds the digests of all files that the scenario points to, ``currencies`` those that amounts were
    converted from.
    """

    document: Document
    catalogue: Catalogue
    read_model: ReadModel
    read_trace: ReadTrace
    as_of: str = ""
    quotes: tuple[Offer, ...] = ()
    quotes_unread: bool = False
    problems: list[Problem] = field(default_factory=list[Problem])
    warnings: list[str] = field(default_factory=list[str])
    assumptions: list[Assumption] = field(default_factory=list[Assumption])
    digests: dict[str, str] = field(default_factory=dict[str, str])
    currencies: set[str] = field(default_factory=set[str])

    def refuse(self, path: Path_, message: str, expected: str = "") -> None:
        """Note a problem of the file."""
        problem = Problem(path=shown(path), line=self.document.line(path), message=message, expected=expected)
        if problem not in self.problems:
            self.problems.append(problem)

    def assume(self, path: str, value: str, reason: str, source: str = OWN_CHOICE) -> None:
        """Note a value that the file does not state."""
        self.assumptions.append(Assumption(path=path, value=value, reason=reason, source=source))

    def chosen(self, path: str, given: Value | None, default: Value, reason: str, unit: str = "") -> Value:
        """The given value, or a default of flopwise's own that is noted. ``unit`` is how a number is printed."""
        if given is not None:
            return given
        text = show(default, unit) if isinstance(default, float) else f"{default} {unit}".rstrip()
        self.assume(path, text, reason)
        return default

    def stated(self, path: str, given: float | None, parameter: str, reason: str = "") -> float:
        """The given value, or a fact of the catalogue that is noted with its source."""
        if given is not None:
            return given
        fact = self.catalogue.parameters[parameter]
        self.assume_fact(path, fact, reason)
        return fact.value

    def assume_fact(self, path: str, fact: Fact, reason: str = "") -> None:
        """Note that a fact of the catalogue stands in for what the file does not state."""
        why = reason or fact.note or "not stated"
        self.assume(path, fact.text, why, f"{fact.source}, {fact.as_of}")

    def own_fact(self, value: float, unit: str, path: str) -> Fact:
        """A value of the file as a fact."""
        source = f"{Path(self.document.file).name}: {path}"
        return Fact(value=value, unit=unit, source=source, as_of=self.as_of, confidence=Confidence.HIGH)
