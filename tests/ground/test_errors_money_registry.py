"""Errors that help, exact money, plugin lookup."""

from __future__ import annotations

from decimal import Decimal

import pytest

from flopwise.ground import registry
from flopwise.ground.errors import FlopwiseError, Problem, ScenarioError, UnknownNameError, nearest
from flopwise.ground.money import ExchangeRate, Money, to_usd


def test_unknown_names_come_with_near_ones():
    error = UnknownNameError("accelerator", "h100-smx", ["h100-sxm", "mi300x"], hint="look")
    assert "did you mean 'h100-sxm'?" in str(error)
    assert error.nearest == ("h100-sxm",)
    assert error.hint == "look"
    assert "did you mean" not in str(UnknownNameError("x", "zzz", ["abc"]))
    assert nearest("", []) == ()


def test_a_scenario_error_lists_every_problem():
    problems = [
        Problem(path="a.b", line=3, message="is wrong", expected="right"),
        Problem(path="c", line=None, message="is missing"),
    ]
    text = str(ScenarioError("x.yaml", problems))
    assert text == "x.yaml: 2 problems\n  - line 3, a.b: is wrong (expected right)\n  - c: is missing"
    assert str(ScenarioError("x.yaml", problems[:1])).startswith("x.yaml: 1 problem\n")


def test_codes_are_stable():
    def codes(root):
        yield root.code
        for child in root.__subclasses__():
            yield from codes(child)

    found = list(codes(FlopwiseError))
    assert len(found) == len(set(found))


def test_money_is_exact():
    total = Money.of("0", "USD")
    for _ in range(10):
        total += Money.of(0.1, "USD")
    assert total == Money(Decimal("1.0"), "USD")
    assert Money.of("2.675", "USD").rounded().amount == Decimal("2.68")
    assert Money.of("2.665", "USD").rounded().amount == Decimal("2.66")
    with pytest.raises(FlopwiseError, match="convert first"):
        Money.of(1, "USD") + Money.of(1, "EUR")


def test_conversion_by_a_dated_table():
    rates = {"CNY": ExchangeRate(currency="CNY", usd=0.14, as_of="2026-11-01", source="x")}
    assert to_usd(100, "CNY", rates) == pytest.approx(14)
    assert to_usd(100, "USD", {}) == 100
    with pytest.raises(FlopwiseError, match="no exchange rate for EUR"):
        to_usd(1, "EUR", rates)


def test_members_of_a_kind_are_modules_of_a_folder():
    known = registry.names("flopwise.adapters.traces", "traces")
    assert "requests" in known
    assert registry.load("flopwise.adapters.traces", "traces", "requests").read_trace
    with pytest.raises(UnknownNameError, match="did you mean 'requests'"):
        registry.load("flopwise.adapters.traces", "traces", "request")
