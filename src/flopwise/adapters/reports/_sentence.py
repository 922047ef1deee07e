"""The first sentence of a report: what to order, what it costs, against what. Each figure knows its explanation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flopwise.adapters.reports._words import Words
from flopwise.domain.plan import Plan, Reference
from flopwise.ground.units import show

#: Orders that the sentence names.
_NAMED = 3
#: Two costs closer than this share are the same.
_SAME = 0.005


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text, and the id of the figure that explains it (empty for plain words)."""

    text: str
    figure: str = ""


def sentence(plan: Plan, words: Words) -> tuple[Piece, ...]:
    """The pieces of the first sentence."""
    pieces = [*_actions(plan, words), Piece("：" if words.lang == "zh" else ": "), *_cost(plan, words), *_against(plan, words)]
    for row in plan.demand:
        if row.unmet_share > 0:
            text = words("sentence_unmet", share=show(row.unmet_share, "1"), name=row.workload)
            pieces.append(Piece(text, f"workloads.{row.workload}.unmet"))
    pieces.append(Piece("。" if words.lang == "zh" else "."))
    first = pieces[0]
    return (Piece(first.text[:1].upper() + first.text[1:], first.figure), *pieces[1:])


def plain(pieces: Sequence[Piece]) -> str:
    """The sentence without links."""
    return "".join(piece.text for piece in pieces)


def _actions(plan: Plan, words: Words) -> list[Piece]:
    ranked = sorted(plan.orders, key=lambda order: -order.amount)
    if not ranked:
        return [Piece(words("sentence_nothing"))]
    pieces: list[Piece] = []
    for order in ranked[:_NAMED]:
        if pieces:
            pieces.append(Piece("，" if words.lang == "zh" else ", "))
        pieces.append(Piece(words.what(order), f"orders.{order.id}.amount"))
    if len(ranked) > _NAMED:
        pieces.append(Piece(words("sentence_more", count=len(ranked) - _NAMED)))
    return pieces


def _cost(plan: Plan, words: Words) -> list[Piece]:
    low, high = (show(end, "USD") for end in plan.summary.total_npv_interval)
    text = words(
        "sentence_cost", total=show(plan.summary.total_npv, "USD"), months=len(plan.months), interval=words.interval(low, high)
    )
    standing = plan.summary.standing_npv
    held = words("sentence_standing", amount=show(standing, "USD"))
    shown = plan.orders and standing > _SAME * plan.summary.total_npv
    return [Piece(text, "cost.total_npv"), *([Piece(held, "cost.standing")] if shown else [])]


def best_reference(plan: Plan) -> Reference | None:
    """The reference plan that the total is compared with, when there is one."""
    name = plan.summary.best_reference
    return next((row for row in plan.references if row.name == name and not row.chosen and row.npv > 0), None)


def saving(plan: Plan) -> float | None:
    """Share by which the plan is below the best reference; ``None`` without one."""
    best = best_reference(plan)
    return None if best is None or plan.summary.total_npv <= 0 else 1 - plan.summary.total_npv / best.npv


def reference_figure(name: str) -> str:
    """Id of the figure of a reference plan's cost."""
    return f"references.{name.replace(' ', '_')}.npv"


def _against(plan: Plan, words: Words) -> list[Piece]:
    best, share = best_reference(plan), saving(plan)
    if best is None or share is None:
        return []
    name = words.reference(best.name)
    key = "sentence_same" if abs(share) < _SAME else "sentence_below" if share > 0 else "sentence_above"
    return [Piece(words(key, share=show(abs(share), "1"), name=name), reference_figure(best.name))]
