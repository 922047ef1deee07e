"""The Chinese report says in Chinese what the planner says in English: no sentence of a real plan falls through."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from flopwise.adapters.reports._phrases import phrase
from flopwise.adapters.reports._words import Words
from flopwise.domain.plan import Plan
from planning import planning_world as world

#: Three English words in a row are a sentence that nobody translated; names, units and identifiers are shorter.
COMMAND = re.compile(r"'flopwise [^']*'")
ENGLISH = re.compile(r"\b[a-z]{2,} [a-z]{2,} [a-z]{2,}\b")
QUOTE = {"user_quote": True, "region": "any"}


def _owned_and_dear_quote():
    quotes = (
        world.offer("oem", "purchase", "dgx-b200", "b200", 5e6, id="dear", **QUOTE),
        world.offer("oem", "purchase", "dgx-h100", "h100", 30e3, id="odd", **QUOTE),
    )
    return world.scenario(world.service(peak=90.0, growth=0.03), owned=(world.owned(2),), inline_offers=quotes, months=24)


CASES = {
    "serving": lambda: world.scenario(world.service(growth=0.03)),
    "training": lambda: world.scenario(world.pretraining(), world.fine_tuning()),
    "quotes": _owned_and_dear_quote,
    "little power": lambda: world.scenario(
        world.service(peak=500.0), channels=("oem",), sites=(replace(world.SITE, power=30e3),)
    ),
    "small budget": lambda: world.scenario(world.service(peak=90.0), capex_budget=1e5, channels=("oem",)),
    "no channel": lambda: world.scenario(world.service(peak=90.0), channels=()),
}


def said(plan: Plan) -> list[str]:
    """Every sentence that a report hands to the reader; formulas, sources and inputs are not sentences."""
    found = [*plan.warnings, *(item.sentence for item in plan.break_even)]
    for item in plan.infeasibilities:
        found += [item.constraint, item.message, item.remedy]
    for order in plan.orders:
        found += [order.waits_for, order.why]
    for row in plan.references:
        found += [row.description, row.note]
    found += [row.verdict for row in plan.modes] + [note for row in plan.modes for note in row.mode.notes]
    found += [line for row in plan.demand for line in row.derivation]
    found += [text for line in plan.headroom.lines for text in (line.name, line.reason)]
    found += [figure.label for figure in plan.figures.values()]
    found += [text for row in plan.assumptions for text in (row.low, row.high)]
    found += ["; ".join(row.derivation) for row in plan.demand]
    found += [text for item in plan.refusals for text in (item.message, item.remedy)]
    return [text for text in found if text]


@pytest.mark.parametrize("case", CASES)
def test_every_sentence_of_a_plan_has_its_chinese(case):
    zh = Words("zh")
    left = sorted({text for text in said(world.plan(CASES[case]())) if ENGLISH.search(COMMAND.sub("", phrase(text, zh)))})
    assert not left, "\n".join(left)


def test_a_sentence_with_a_semicolon_is_found_among_others():
    text = "10 req/s stated; x 12 s in service (promises just kept) = 120 in flight; chosen in pool"
    assert phrase(text, Words("zh")) == "给定 10 req/s；乘以服务时间 12 s（恰好满足承诺）= 120 个并发；选用于 pool"
