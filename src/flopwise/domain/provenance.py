"""Where a figure comes from, and how wrong it may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from flopwise.ground.units import show


class Confidence(StrEnum):
    """How far a published figure is trusted."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Evidence(StrEnum):
    """What a figure rests on, from weakest to strongest; ``computed`` is arithmetic on what the scenario states."""

    COMPUTED = "computed"
    DATASHEET = "datasheet"
    PUBLISHED = "published"
    MEASURED = "measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One stated figure: value in base units, range where sources conflict, source, date, confidence."""

    value: float
    unit: str
    source: str
    as_of: str
    confidence: Confidence
    low: float | None = None
    high: float | None = None
    note: str = ""

    @property
    def interval(self) -> tuple[float, float]:
        """The stated range, or the value twice."""
        return (self.value if self.low is None else self.low, self.value if self.high is None else self.high)

    @property
    def text(self) -> str:
        """The value for people. Factors such as PUE have no unit and are no shares, so they are not in per cent."""
        return f"{self.value:g}" if self.unit == "1" and self.value > 1.0 else show(self.value, self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One answer that can be asked: value, unit, 80 % interval, evidence, formula, inputs, sources.

    ``inputs`` maps the symbols of ``formula`` to printed values or to the ids of other figures.
    """

    id: str
    value: float
    unit: str
    interval: tuple[float, float]
    evidence: Evidence
    label: str
    formula: str
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    sources: tuple[str, ...] = ()
