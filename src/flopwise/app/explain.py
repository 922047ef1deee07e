"""Ask a figure of a plan: its formula, what went into it, where that came from, and how wrong it may be."""

from __future__ import annotations

from dataclasses import dataclass

from flopwise.domain.plan import Plan
from flopwise.domain.provenance import Figure
from flopwise.ground.errors import UnknownNameError

#: Inputs of inputs are followed this far; deeper ones are asked for by their own id.
DEEPEST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One symbol of a formula: its printed value, and its own explanation where it is a figure."""

    symbol: str
    text: str
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A figure with the explanations of what went into it."""

    figure: Figure
    inputs: tuple[Input, ...]


def explain(plan: Plan, figure: str) -> Explanation:
    """Explain one figure of a plan.

    Args:
        plan: the plan.
        figure: id of the figure, for example ``cost.total_npv``; ``figure_ids`` lists them.

    Raises:
        UnknownNameError: the plan has no such figure; carries the nearest ids.
    """
    if figure not in plan.figures:
        raise UnknownNameError("figure", figure, plan.figures, hint="'flopwise explain PLAN' lists the ids of all figures")
    return _explain(plan, figure, ())


def figure_ids(plan: Plan) -> tuple[Figure, ...]:
    """All figures of a plan by id."""
    return tuple(plan.figures[name] for name in sorted(plan.figures))


def _explain(plan: Plan, name: str, above: tuple[str, ...]) -> Explanation:
    figure = plan.figures[name]
    inputs = tuple(_input(plan, symbol, text, (*above, name)) for symbol, text in figure.inputs.items())
    return Explanation(figure=figure, inputs=inputs)


def _input(plan: Plan, symbol: str, text: str, above: tuple[str, ...]) -> Input:
    known = text in plan.figures and text not in above and len(above) <= DEEPEST
    return Input(symbol=symbol, text=text, explanation=_explain(plan, text, above) if known else None)
