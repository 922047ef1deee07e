"""The one door to LP/MILP: named blocks of variables and rows over sparse arrays, solved by HiGHS."""

from flopwise.engines.solve.model import LinearModel, Solution, SolveStatus

__all__ = ["LinearModel", "Solution", "SolveStatus"]
