"""Days as ISO text: today, and days that somebody typed."""

from __future__ import annotations

from datetime import UTC, date, datetime

from flopwise.ground.errors import FlopwiseError


def today() -> str:
    """The day of the computer's clock (UTC)."""
    return datetime.now(tz=UTC).date().isoformat()


def checked_day(text: str | None) -> str | None:
    """A day as typed, or nothing.

    Raises:
        FlopwiseError: the text is no day.
    """
    if text is None:
        return None
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        msg = f"{text!r} is not a day"
        raise FlopwiseError(msg, hint="expected for example 2026-12-01") from None
