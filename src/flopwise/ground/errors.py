"""Every error that flopwise raises on purpose.

FlopwiseError            what is wrong, where, what was expected, what to try
+-- UnitError            a quantity that cannot be read
+-- UnknownNameError     a name that no registry or catalogue holds (nearest names given)
+-- CatalogueError       a shipped or user fact that contradicts itself
+-- MissingPriceError    a price that is not there (never taken as 0)
+-- ScenarioError        all problems of one scenario file, gathered
+-- ModelFormatError     a model description with a field that is not understood
+-- PlanFileError        a plan file that cannot be read, or is of another schema
+-- SolverError          the solver stopped without an answer that may be used
+-- InputFileError       a trace, quote or other input file that cannot be read
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class FlopwiseError(Exception):
    """Root of all deliberate errors. ``hint`` says what to try next, ``code`` is stable for programs."""

    code = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UnitError(FlopwiseError, ValueError):
    """A text is not a quantity of the expected dimension."""

    code = "unit"


class UnknownNameError(FlopwiseError):
    """A name is not known; carries the nearest known names."""

    code = "unknown-name"

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        self.kind, self.name = kind, name
        self.nearest = nearest(name, known)
        guess = f"; did you mean {' or '.join(repr(item) for item in self.nearest)}?" if self.nearest else ""
        super().__init__(f"unknown {kind} {name!r}{guess}", hint=hint)


class CatalogueError(FlopwiseError):
    """A catalogue entry is malformed or contradicts itself."""

    code = "catalogue"


class MissingPriceError(FlopwiseError):
    """A price is missing. A missing price is never 0."""

    code = "missing-price"


class ModelFormatError(FlopwiseError):
    """A model description has a field, or lacks one, in a way that is not understood."""

    code = "model-format"


class PlanFileError(FlopwiseError):
    """A plan file cannot be read."""

    code = "plan-file"


class SolverError(FlopwiseError):
    """The solver did not return a usable answer."""

    code = "solver"


class InputFileError(FlopwiseError):
    """An input file other than the scenario cannot be read."""

    code = "input-file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem of a file: where it is, what is wrong, what was expected."""

    path: str
    line: int | None
    message: str
    expected: str = ""

    def __str__(self) -> str:
        """One line for people: ``line 12, workloads[0].slo.ttft_p95: ...``."""
        where = f"line {self.line}, {self.path}" if self.line else self.path
        tail = f" (expected {self.expected})" if self.expected else ""
        return f"{where}: {self.message}{tail}"


class ScenarioError(FlopwiseError):
    """All problems of one scenario file, each with its line and path."""

    code = "scenario"

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        self.file, self.problems = file, tuple(problems)
        count = f"{len(problems)} problem" + ("s" if len(problems) > 1 else "")
        super().__init__("\n".join([f"{file}: {count}", *(f"  - {problem}" for problem in problems)]))


def nearest(name: str, known: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Known names closest to ``name``, best first; empty when nothing is close.

    >>> nearest("h100-smx", ["h100-sxm", "mi300x"])
    ('h100-sxm',)
    """
    return tuple(difflib.get_close_matches(name, list(known), n=limit, cutoff=0.6))
