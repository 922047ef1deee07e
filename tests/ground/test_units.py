"""Strict parsing and readable printing of quantities."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwise.ground.errors import UnitError
from flopwise.ground.units import GIBI, HOUR, HOURS_PER_MONTH, KILO, TEBI, Unit, parse, parse_money, show


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("80 GB", "B", 80e9),
        ("80 GiB", "B", 80 * GIBI),
        ("1 TiB", "B", TEBI),
        ("3.35 TB/s", "B/s", 3.35e12),
        ("400 Gbit/s", "B/s", 50e9),
        ("989 TFLOP/s", "FLOP/s", 989e12),
        ("75 d", "s", 75 * 86400),
        ("75d", "s", 75 * 86400),
        ("800 ms", "s", 0.8),
        ("12 weeks", "s", 12 * 604800),
        ("1 month", "s", HOURS_PER_MONTH * HOUR),
        ("2 MW", "W", 2e6),
        ("2T", "tokens", 2e12),
        ("4M tokens", "tokens", 4e6),
        ("1_000_000", "tokens", 1e6),
        ("20%", "1", 0.2),
        (0.2, "1", 0.2),
        ("6 %/month", "1/month", 0.06),
        ("12 %/y", "1/month", 0.01),
        ("40 req/s", "req/s", 40),
        ("7200 req/h", "req/s", 2),
    ],
)
def test_read(text, unit, value):
    assert parse(text, unit) == pytest.approx(value)
    assert parse(text, Unit(unit)) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "unit", "said"),
    [
        ("80 Gb", "B", "ambiguous"),
        ("400 Gbps", "B/s", "ambiguous"),
        ("80", "B", "unit is missing"),
        ("80 gb", "B", "not a unit"),
        ("75", "s", "unit is missing"),
        ("75 parsecs", "s", "allowed: us, ms"),
        ("five d", "s", "not a number"),
        ("", "s", "not a number"),
        (None, "s", "not a quantity"),
        (True, "1", "not a quantity"),
        ([1], "tokens", "not a quantity"),
        ("nan", "1", "not a number"),
        ("inf", "1", "not a number"),
        ("1e999", "tokens", "finite"),
        (float("nan"), "1", "not a number"),
        ("2T USD", "tokens", "not a unit"),
        ("٣ d", "s", ""),
    ],
)
def test_refused(text, unit, said):
    if text == "٣ d":
        # Digits of other scripts are digits for Python; they mean the same number.
        assert parse(text, unit) == 3 * 86400
        return
    with pytest.raises(UnitError, match=said):
        parse(text, unit)


@given(st.floats(1e-6, 1e15))
def test_gb_and_gib_differ_by_the_same_factor(number):
    text = f"{number:.12f}"
    assert parse(f"{text} GiB", "B") == pytest.approx(parse(f"{text} GB", "B") * GIBI / 1e9)


def test_730_dollars_a_month_is_one_dollar_an_hour():
    amount, currency, per = parse_money("730 USD/month")
    assert (currency, per) == ("USD", "month")
    assert amount / HOURS_PER_MONTH == 1.0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("310k USD", (310e3, "USD", "")),
        ("0.08 USD/kWh", (0.08, "USD", "kWh")),
        ("180 USD/kW/month", (180.0, "USD", "kW/month")),
        ("40M CNY", (40e6, "CNY", "")),
        ("0.90 USD/1M tokens", (0.9, "USD", "1M tokens")),
    ],
)
def test_money(text, found):
    assert parse_money(text) == pytest.approx(found[0]) if isinstance(text, float) else parse_money(text) == found


@pytest.mark.parametrize("text", ["310k", "USD", "310 dollars", "", None, 5, "1 usd", "1 USD per h"])
def test_money_refused(text):
    with pytest.raises(UnitError, match="not an amount of money"):
        parse_money(text)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3.35e12, "B/s", "3.35 TB/s"),
        (0.23, "1", "23 %"),
        (41_300_000, "USD", "41.3 M USD"),
        (0.0123, "s", "12.3 ms"),
        (75 * 86400, "s", "75 d"),
        (0.08 / (KILO * HOUR), "USD/J", "0.08 USD/kWh"),
        (0.18, "USD/W/month", "180 USD/kW/month"),
        (0, "USD", "0 USD"),
        (1234567, "", "1.23 M"),
        (950, "req/s", "950 req/s"),
    ],
)
def test_printed(value, unit, text):
    assert show(value, unit) == text


@given(st.floats(1e-3, 1e17, allow_nan=False))
def test_printed_bytes_can_be_read_again(value):
    assert math.isclose(parse(show(value, "B", 6).replace(",", ""), "B"), value, rel_tol=1e-5)
