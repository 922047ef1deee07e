"""What a search answers."""

from __future__ import annotations

from dataclasses import dataclass

from flopwise.domain.mode import Mode, Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Modes (best first within a size), refusals, and how many layouts were evaluated."""

    modes: tuple[Mode, ...]
    refusals: tuple[Refusal, ...]
    evaluated: int
