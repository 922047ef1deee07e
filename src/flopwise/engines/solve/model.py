"""A linear model built from named blocks.

Variables and rows come in blocks (``buy[pool, month]``), so that a value, a dual or an infeasibility maps
back to what it means. Building is a few array appends; HiGHS receives one compressed matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flopwise.ground.errors import SolverError

Indices = NDArray[np.int64]
Floats = NDArray[np.float64]
INFINITY = float("inf")
#: Bit of the presolve rule that probes binaries: on planning models it took longer than the search that it saves
#: (3 to 10 s of 4 to 13 s on 11,000 columns, against 2 s in all without it).
_PROBING = 1 << 15
#: Parts of the search that took a third to a half of the time on planning models and found nothing.
_UNHELPFUL = {
    "mip_heuristic_run_feasibility_jump": False,
    "mip_heuristic_run_root_reduced_cost": False,
    "mip_detect_symmetry": False,
}


class SolveStatus(StrEnum):
    """``feasible``: stopped at a limit with a usable point, whose gap is stated."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """Values by column. ``gap`` is (objective - bound) / |objective|; ``bound`` is proven."""

    status: SolveStatus
    objective: float
    bound: float
    gap: float
    values: Floats

    def of(self, columns: Indices) -> Floats:
        """Values of a block of variables, in the shape of its index array."""
        return self.values[columns]


@dataclass(slots=True)
class LinearModel:
    """Minimise cost over blocks of variables under blocks of rows ``lower <= A x <= upper``."""

    _lower: list[Floats] = field(default_factory=list[Floats])
    _upper: list[Floats] = field(default_factory=list[Floats])
    _cost: list[Floats] = field(default_factory=list[Floats])
    _integer: list[NDArray[np.bool_]] = field(default_factory=list[NDArray[np.bool_]])
    _row_lower: list[Floats] = field(default_factory=list[Floats])
    _row_upper: list[Floats] = field(default_factory=list[Floats])
    _rows: list[Indices] = field(default_factory=list[Indices])
    _columns: list[Indices] = field(default_factory=list[Indices])
    _entries: list[Floats] = field(default_factory=list[Floats])
    columns: int = 0
    rows: int = 0
    names: dict[str, Indices] = field(default_factory=dict[str, Indices])

    def add_variables(
        self,
        name: str,
        shape: tuple[int, ...],
        *,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = INFINITY,
        cost: ArrayLike = 0.0,
        integer: bool = False,
    ) -> Indices:
        """Add a block; return its column indices in the given shape. Bounds and costs broadcast to it."""
        count = int(np.prod(shape, dtype=np.int64))
        index = np.arange(self.columns, self.columns + count, dtype=np.int64).reshape(shape)
        for store, value in ((self._lower, lower), (self._upper, upper), (self._cost, cost)):
            store.append(np.broadcast_to(np.asarray(value, dtype=float), shape).ravel().astype(float))
        self._integer.append(np.full(count, integer))
        self.columns += count
        self.names[name] = index
        return index

    def add_rows(self, count: int, *, lower: ArrayLike = -INFINITY, upper: ArrayLike = INFINITY) -> Indices:
        """Add ``count`` empty rows; return their indices, to be filled by ``add_entries``."""
        index = np.arange(self.rows, self.rows + count, dtype=np.int64)
        self._row_lower.append(np.broadcast_to(np.asarray(lower, dtype=float), (count,)).astype(float))
        self._row_upper.append(np.broadcast_to(np.asarray(upper, dtype=float), (count,)).astype(float))
        self.rows += count
        return index

    def add_entries(self, rows: ArrayLike, columns: ArrayLike, values: ArrayLike) -> None:
        """Add coefficients; the three arguments broadcast to one shape. Repeated entries are summed."""
        row, column, value = np.broadcast_arrays(rows, columns, np.asarray(values, dtype=float))
        self._rows.append(row.ravel().astype(np.int64))
        self._columns.append(column.ravel().astype(np.int64))
        self._entries.append(value.ravel().astype(float))

    def fix(self, columns: Indices, values: ArrayLike) -> None:
        """Set both bounds of variables that were added before."""
        for store in (self._lower, self._upper):
            bounds = np.concatenate(store)
            bounds[columns] = values
            store[:] = [bounds]

    def costs(self, columns: Indices) -> Floats:
        """Objective coefficients of a block of variables, in the shape of its index array."""
        return np.concatenate(self._cost)[columns]

    def set_costs(self, columns: Indices, values: ArrayLike) -> None:
        """Set objective coefficients of variables that were added before."""
        costs = np.concatenate(self._cost)
        costs[columns] = values
        self._cost[:] = [costs]

    def solve(
        self,
        *,
        gap: float = 5e-3,
        time_limit: float = 60.0,
        threads: int = 1,
        relax: bool = False,
        cost: Floats | None = None,
    ) -> Solution:
        """Solve to a relative gap, or until the wall-clock limit.

        Args:
            cost: another objective over all columns, shape (columns,); that of the blocks by default.
            gap: relative MIP gap at which the search stops.
            time_limit: seconds of wall clock.
            threads: HiGHS threads.
            relax: drop integrality.

        Raises:
            SolverError: no usable point (limit reached without one, numerical failure, unbounded), or an
                option was refused. An infeasible model is an answer, not an error.

        Complexity: builds in O(non-zeros log non-zeros); the search itself has no useful bound.
        """
        import highspy  # noqa: PLC0415 - heavy, wanted only by verbs that solve

        highs = _quiet(highspy)
        options = {
            "output_flag": False,
            "mip_rel_gap": gap,
            "time_limit": time_limit,
            "threads": threads,
            "random_seed": 0,
            "presolve_rule_off": _PROBING,
            **_UNHELPFUL,
        }
        for option, value in options.items():
            if highs.setOptionValue(option, value) != highspy.HighsStatus.kOk:
                msg = f"the solver refused option {option}={value!r}"
                raise SolverError(msg)
        integer = np.concatenate(self._integer) if self._integer else np.zeros(0, dtype=bool)
        mixed = bool(integer.any()) and not relax
        if highs.passModel(self._highs_lp(highspy, integer if mixed else None, cost)) == highspy.HighsStatus.kError:
            msg = "the solver refused the model"
            raise SolverError(msg)
        highs.run()
        return self._read(highspy, highs, mixed=mixed)

    def _highs_lp(self, highspy: Any, integer: NDArray[np.bool_] | None, cost: Floats | None) -> Any:  # noqa: ANN401 - untyped library
        from scipy import sparse  # noqa: PLC0415 - heavy, wanted only by verbs that solve

        coordinates = (np.concatenate(self._rows), np.concatenate(self._columns))
        matrix = sparse.csc_array((np.concatenate(self._entries), coordinates), shape=(self.rows, self.columns))
        matrix.sum_duplicates()
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = self.columns, self.rows
        program.col_cost_ = np.concatenate(self._cost) if cost is None else cost
        program.col_lower_, program.col_upper_ = np.concatenate(self._lower), np.concatenate(self._upper)
        program.row_lower_, program.row_upper_ = np.concatenate(self._row_lower), np.concatenate(self._row_upper)
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
        program.a_matrix_.value_ = matrix.data
        if integer is not None:
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            program.integrality_ = [kinds[int(flag)] for flag in integer]
        return program

    def _read(self, highspy: Any, highs: Any, *, mixed: bool) -> Solution:  # noqa: ANN401 - untyped library
        status, info = highs.getModelStatus(), highs.getInfo()
        if status == highspy.HighsModelStatus.kInfeasible:
            nothing = np.full(self.columns, np.nan)
            return Solution(status=SolveStatus.INFEASIBLE, objective=INFINITY, bound=INFINITY, gap=INFINITY, values=nothing)
        optimal = status == highspy.HighsModelStatus.kOptimal
        usable = info.primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible)
        if not usable or status == highspy.HighsModelStatus.kUnbounded:
            msg = f"the solver stopped without a usable point: {highs.modelStatusToString(status)}"
            raise SolverError(msg, hint="shorten the horizon, name fewer channels, or give a longer time limit")
        objective = float(info.objective_function_value)
        bound = float(info.mip_dual_bound) if mixed else objective
        gap = abs(objective - bound) / max(abs(objective), 1e-9)
        kind = SolveStatus.OPTIMAL if optimal else SolveStatus.FEASIBLE
        values = np.asarray(highs.getSolution().col_value, dtype=float)
        return Solution(status=kind, objective=objective, bound=bound, gap=gap, values=values)


def _quiet(highspy: Any) -> Any:  # noqa: ANN401 - untyped library
    """A solver that prints nothing: the library's own constructor writes a banner to standard output."""

    class Quiet(highspy.Highs):
        def __init__(self) -> None:
            # Past Highs.__init__, which only registers callbacks (and prints); none are used here.
            super(highspy.Highs, self).__init__()

    return Quiet()
