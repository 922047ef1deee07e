"""The solver door: small models with known answers, honest statuses."""

import numpy as np
import pytest

from flopwise.engines.solve import LinearModel, SolveStatus
from flopwise.ground.errors import SolverError


def knapsack(*, relax: bool):
    model = LinearModel()
    take = model.add_variables("take", (3,), upper=1, cost=[-10, -6, -5], integer=True)
    row = model.add_rows(1, upper=5)
    model.add_entries(row, take, [4, 3, 2])
    return take, model.solve(gap=0, relax=relax)


def test_integer_answer_is_exact_and_the_relaxation_bounds_it():
    take, solution = knapsack(relax=False)
    _, relaxed = knapsack(relax=True)
    assert solution.status is SolveStatus.OPTIMAL
    assert solution.objective == pytest.approx(-11)
    assert np.allclose(solution.of(take), [0, 1, 1])
    assert relaxed.objective <= solution.objective


def test_repeated_entries_are_summed():
    model = LinearModel()
    x = model.add_variables("x", (1,), cost=1.0)
    row = model.add_rows(1, lower=6)
    model.add_entries([row[0], row[0]], [x[0], x[0]], [1.0, 2.0])
    assert model.solve().of(x)[0] == pytest.approx(2)


def test_infeasible_is_an_answer_with_no_number():
    model = LinearModel()
    x = model.add_variables("x", (1,), upper=1.0, cost=1.0)
    row = model.add_rows(1, lower=2.0)
    model.add_entries(row, x, 1.0)
    solution = model.solve()
    assert solution.status is SolveStatus.INFEASIBLE
    assert np.isnan(solution.of(x)).all()


def test_unbounded_raises_instead_of_reporting_zero():
    model = LinearModel()
    x = model.add_variables("x", (1,), cost=-1.0)
    row = model.add_rows(1, lower=0.0)
    model.add_entries(row, x, 1.0)
    with pytest.raises(SolverError):
        model.solve()


def test_a_time_limit_without_a_point_raises():
    rng = np.random.default_rng(0)
    model = LinearModel()
    x = model.add_variables("x", (400,), upper=1, cost=rng.normal(size=400), integer=True)
    rows = model.add_rows(200, lower=rng.uniform(80, 100, 200), upper=rng.uniform(100.5, 101, 200))
    model.add_entries(rows[:, None], x[None, :], rng.uniform(0, 1, (200, 400)))
    with pytest.raises(SolverError, match="without a usable point"):
        model.solve(time_limit=0.0)


def test_a_refused_option_raises():
    model = LinearModel()
    x = model.add_variables("x", (1,), upper=1.0, cost=1.0)
    row = model.add_rows(1, lower=0.5)
    model.add_entries(row, x, 1.0)
    with pytest.raises(SolverError, match="refused option"):
        model.solve(gap=-1.0)


def test_a_solve_prints_nothing(capfd):
    knapsack(relax=False)
    out, err = capfd.readouterr()
    assert out == err == ""


def test_another_objective_and_fixed_variables():
    model = LinearModel()
    take = model.add_variables("take", (3,), upper=1, cost=[-10, -6, -5], integer=True)
    row = model.add_rows(1, upper=5)
    model.add_entries(row, take, [4, 3, 2])
    other = model.solve(gap=0, cost=np.array([-1.0, -6.0, -5.0]))
    assert np.allclose(other.of(take), [0, 1, 1])
    model.fix(take[:1], 1.0)
    assert np.allclose(model.solve(gap=0).of(take), [1, 0, 0])
