"""Request traces as CSV: an arrival time, prompt tokens and generated tokens per row.

Reads the columns of the Azure LLM inference traces (``TIMESTAMP, ContextTokens, GeneratedTokens``) and usual
variants of their names, comma, semicolon or tab between them, with or without a byte order mark. Rows that cannot
be read are left out and named by line; clocks that run backwards are mended; all of it is noted.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flopwise.domain.trace import RequestTrace
from flopwise.domain.workload import Lengths
from flopwise.ground.errors import InputFileError
from flopwise.ground.units import DAY, HOUR, MILLI, MINUTE, Seconds, show

Floats = NDArray[np.float64]
#: Names of the columns, letters and digits only, in lower case.
TIME_NAMES = ("timestamp", "time", "arrival", "arrivaltime", "arrivedat", "arrivaltimestamp", "starttime", "ts", "timestampms")
INPUT_NAMES = (
    "contexttokens", "inputtokens", "prompttokens", "inputlength", "inputlen", "promptlen", "requesttokens",
    "numprefilltokens", "isl",
)  # fmt: skip
OUTPUT_NAMES = (
    "generatedtokens", "outputtokens", "completiontokens", "outputlength", "outputlen", "responsetokens",
    "numdecodetokens", "osl",
)  # fmt: skip
#: More than this share of unreadable rows and the file is refused; so many of them are named.
MOST_BAD, NAMED = 0.05, 5
#: The busiest stretch of this length is the peak: long enough to be load rather than chance, short enough for a rush.
WINDOW: Seconds = 5 * MINUTE
#: Steps back of less than this are rows written late, and steps of whole hours are taken as such to this much.
LATE: Seconds = MINUTE
#: A forward step is a clock set forward when it is this long and longer than all the rest of the trace.
LEAP: Seconds = DAY
#: Clocks are set back now and then; a trace that steps back more often is in another order than that of time.
MOST_RESETS = 8
#: Numbers beyond this are milliseconds of an epoch, not seconds.
MILLISECONDS_FROM = 1e11
_MOST_TOKENS = 1e8


def read_trace(path: Path) -> RequestTrace:
    """Read a request trace.

    Returns:
        Mean and peak rate (req/s), token counts, and notes on what was mended.

    Raises:
        InputFileError: no such file, no such columns, fewer than two rows, or too many rows that cannot be read.
    """
    raw = _bytes(path)
    rows = _rows(path, raw)
    times, notes = mend(np.array(rows.times))
    count, window = len(times), _window(times)
    span = float(times[-1] - times[0])
    if span <= 0.0:
        msg = f"{path}: all {count} rows have the same time"
        raise InputFileError(msg, hint="expected arrival times that span at least some minutes")
    mean, peak = (count - 1) / span, _peak(times, window)
    return RequestTrace(
        count=count,
        span=span,
        mean_rate=mean,
        peak_rate=peak,
        window=window,
        input=_lengths(rows.inputs),
        output=_lengths(rows.outputs),
        derivation=(
            f"{count} requests in {show(span, 's')} of {path.name}: {show(mean, 'req/s')} on average, "
            f"{show(peak, 'req/s')} in the busiest {show(window, 's')}"
        ),
        digest=hashlib.sha256(raw).hexdigest(),
        notes=(*rows.notes(), *notes),
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        msg = f"{path}: no such file"
        raise InputFileError(msg) from error
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}"
        raise InputFileError(msg) from error


@dataclass(slots=True)
class _Rows:
    """Columns as read, and the rows that were left out, by line."""

    times: list[float] = field(default_factory=list[float])
    inputs: list[float] = field(default_factory=list[float])
    outputs: list[float] = field(default_factory=list[float])
    bad: list[str] = field(default_factory=list[str])
    empty: int = 0

    def notes(self) -> tuple[str, ...]:
        found: list[str] = []
        if self.bad:
            found.append(f"{len(self.bad)} rows left out: {_some(self.bad)}")
        if self.empty:
            found.append(f"{self.empty} rows without generated tokens left out (refused or failed requests)")
        return tuple(found)


def _rows(path: Path, raw: bytes) -> _Rows:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        msg = f"{path}, line {line}: the file is not UTF-8 text"
        raise InputFileError(msg) from error
    lines = text.splitlines()
    header = next((line for line in lines if line.strip()), "")
    delimiter = max(",;\t", key=header.count)
    reader = csv.reader(lines, delimiter=delimiter)
    names = next((row for row in reader if any(cell.strip() for cell in row)), [])
    columns = _columns(path, names)
    rows = _Rows()
    _fill(rows, reader, columns, names)
    good = len(rows.times)
    if len(rows.bad) > MOST_BAD * (good + len(rows.bad)):
        msg = f"{path}: {len(rows.bad)} of {good + len(rows.bad)} rows cannot be read: {_some(rows.bad)}"
        raise InputFileError(msg, hint=f"at most {MOST_BAD:.0%} of the rows may be left out")
    if good < 2:
        msg = f"{path}: {good} rows with an arrival and tokens"
        raise InputFileError(msg, hint="expected at least two requests")
    return rows


def _columns(path: Path, names: Sequence[str]) -> tuple[int, int, int]:
    plain = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in names]
    found: list[int] = []
    for what, known in (("arrival time", TIME_NAMES), ("prompt tokens", INPUT_NAMES), ("generated tokens", OUTPUT_NAMES)):
        places = [plain.index(name) for name in known if name in plain]
        if not places:
            msg = f"{path}, line 1: no column of {what} among {', '.join(name.strip() for name in names) or 'nothing'}"
            raise InputFileError(msg, hint="expected for example TIMESTAMP,ContextTokens,GeneratedTokens")
        found.append(places[0])
    return found[0], found[1], found[2]


def _fill(rows: _Rows, reader: Iterator[list[str]], columns: tuple[int, int, int], names: Sequence[str]) -> None:
    when, prompt, answer = columns
    scale = MILLI if names[when].strip().lower().endswith("ms") else 1.0
    line = 1
    while True:
        line = getattr(reader, "line_num", line) + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            rows.bad.append(f"line {line}: {error}")
            continue
        if not any(cell.strip() for cell in row):
            continue
        try:
            time, tokens, generated = seconds(row[when], scale), _count(row[prompt]), _count(row[answer])
        except (IndexError, ValueError) as error:
            reason = "too few columns" if isinstance(error, IndexError) else str(error)
            rows.bad.append(f"line {line}: {reason}")
            continue
        if generated == 0.0:
            rows.empty += 1
            continue
        rows.times.append(time)
        rows.inputs.append(tokens)
        rows.outputs.append(generated)


def seconds(text: str, scale: float = 1.0) -> Seconds:
    """An arrival time: ISO text (UTC where it names no zone) or a number of seconds; large numbers are milliseconds.

    >>> seconds("2023-11-16 18:15:46.6805900") - seconds("2023-11-16T18:15:46Z")
    0.6805899143218994
    """
    stripped = text.strip()
    try:
        number = float(stripped)
    except ValueError:
        moment = datetime.fromisoformat(stripped)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not np.isfinite(number):
        msg = f"{stripped!r} is not a time"
        raise ValueError(msg)
    return number * (MILLI if scale == 1.0 and abs(number) > MILLISECONDS_FROM else scale)


def _count(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= _MOST_TOKENS:
        msg = f"{text.strip()!r} is not a number of tokens"
        raise ValueError(msg)
    return number


def _some(bad: Sequence[str]) -> str:
    more = len(bad) - NAMED
    return "; ".join(bad[:NAMED]) + (f"; and {more} more" if more > 0 else "")


def mend(times: Floats) -> tuple[Floats, tuple[str, ...]]:
    """Arrival times in order (s), and what was done to them.

    A step back by whole hours after which the clock runs on is a clock set back (summer time, another zone): what
    follows is moved up to where it stopped. Other rows out of order are sorted. A leap longer than all else is a clock
    set forward and is closed.
    """
    notes: list[str] = []
    times = _set_back(times, notes)
    late = int((np.diff(times) < 0).sum())
    if late:
        notes.append(f"{late} rows out of order were sorted by time")
        times = np.sort(times)
    return _set_forward(times, notes), tuple(notes)


def _set_back(times: Floats, notes: list[str]) -> Floats:
    """Undo steps back by whole hours; any other disorder is rows in another order, for which sorting is right."""
    highest = np.maximum.accumulate(times)
    behind = np.flatnonzero(np.diff(times) < -LATE) + 1
    if len(behind) > MOST_RESETS:
        return times
    mended, undone = times.copy(), 0.0
    for start in behind:
        back = float(highest[start - 1] - times[start])
        # A late row is followed by timely ones; behind a clock set back, everything lies before the highest time.
        if _whole_hours(back) and bool((times[start : start + 20] < highest[start - 1]).all()):
            mended[start:] += back - undone
            undone = back
            notes.append(f"row {start + 1}: the clock was set back by {show(back, 's')}; what follows was moved up")
    return mended


def _whole_hours(step: Seconds) -> bool:
    """Whether a step is that of a time zone or of summer time: whole hours to a minute, at most a day."""
    return HOUR - LATE < step < DAY and abs(step - round(step / HOUR) * HOUR) < LATE


def _set_forward(times: Floats, notes: list[str]) -> Floats:
    steps = np.diff(times)
    if len(steps) < 2:
        return times
    place = int(np.argmax(steps))
    step, rest = float(steps[place]), float(steps.sum() - steps[place])
    if step < LEAP or step < rest:
        return times
    usual = float(np.median(steps))
    notes.append(f"row {place + 2}: the clock leaps by {show(step, 's')}, longer than all the rest; the leap was closed")
    closed = times.copy()
    closed[place + 1 :] -= step - usual
    return closed


def _window(times: Floats) -> Seconds:
    """The window of the peak: five minutes, or a sixth of a trace shorter than half an hour."""
    return max(min(WINDOW, float(times[-1] - times[0]) / 6), 1.0)


def _peak(times: Floats, window: Seconds) -> float:
    last = np.searchsorted(times, times + window, side="left")
    return float((last - np.arange(len(times))).max()) / window


def _lengths(counts: Sequence[float]) -> Lengths:
    values = np.array(counts)
    mean, p95 = float(values.mean()), float(np.quantile(values, 0.95))
    return Lengths(mean=mean, p95=max(mean, p95))
