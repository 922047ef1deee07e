"""What a trace of requests says about traffic, once it has been read."""

from __future__ import annotations

from dataclasses import dataclass

from flopwise.domain.workload import Lengths


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTrace:
    """Arrivals and token counts of a trace.

    ``span`` is the time from the first to the last arrival (s), ``mean_rate`` requests/s over it and
    ``peak_rate`` requests/s in the busiest ``window`` (s). ``digest`` is the SHA-256 of the file, ``notes`` say
    what was mended while reading.
    """

    count: int
    span: float
    mean_rate: float
    peak_rate: float
    window: float
    input: Lengths
    output: Lengths
    derivation: str
    digest: str
    notes: tuple[str, ...] = ()
