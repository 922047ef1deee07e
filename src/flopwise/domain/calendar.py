"""Months as ISO text (``2027-01``) and as offsets from the first month of a horizon."""

from __future__ import annotations

import calendar
from datetime import date, timedelta

from flopwise.ground.units import MONTHS_PER_YEAR


def month_index(month: str) -> int:
    """Months since year 0, so that differences are offsets."""
    year, number = month[:7].split("-")
    return int(year) * MONTHS_PER_YEAR + int(number) - 1


def month_name(index: int) -> str:
    """ISO text of a month index.

    >>> month_name(month_index("2027-01") + 13)
    '2028-02'
    """
    return f"{index // MONTHS_PER_YEAR:04d}-{index % MONTHS_PER_YEAR + 1:02d}"


def months_between(first: str, last: str) -> int:
    """Offset of ``last`` from ``first`` in months, negative when before."""
    return month_index(last) - month_index(first)


def months_of(start: str, count: int) -> tuple[str, ...]:
    """``count`` ISO months from ``start`` on."""
    first = month_index(start)
    return tuple(month_name(first + offset) for offset in range(count))


def days_in(month: str) -> int:
    """Days of an ISO month."""
    return calendar.monthrange(int(month[:4]), int(month[5:7]))[1]


def first_day(month: str) -> date:
    """First day of an ISO month, or the day itself when the text is a full date."""
    return date.fromisoformat(month if len(month) > 7 else f"{month}-01")


def first_whole_month(day: date) -> str:
    """The first month that begins on or after ``day``.

    >>> first_whole_month(date(2027, 1, 1)), first_whole_month(date(2027, 1, 2))
    ('2027-01', '2027-02')
    """
    index = month_index(day.isoformat())
    return month_name(index if day.day == 1 else index + 1)


def weeks_before(month: str, weeks: float) -> date:
    """The day ``weeks`` before a month begins."""
    return first_day(month) - timedelta(weeks=weeks)


def weekdays_in(month: str) -> int:
    """Monday-to-Friday days of an ISO month."""
    year, number = int(month[:4]), int(month[5:7])
    return sum(date(year, number, day).weekday() < 5 for day in range(1, days_in(month) + 1))
