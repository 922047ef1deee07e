"""The verbs and one line about each. A test keeps this table equal to the commands, so help needs no import."""

from __future__ import annotations

from collections.abc import Mapping

VERBS: Mapping[str, str] = {
    "init": "Write a first scenario from a few answers.",
    "plan": "Plan a scenario: what to order where and when, what it costs, what could go wrong.",
    "explain": "Show how a figure of a plan came about: formula, inputs, sources, interval.",
    "diff": "Compare two plans: what changed, and why it matters.",
    "report": "Render a plan as html, xlsx, md or json.",
    "size": "Size one training run or one service from one line of flags.",
    "catalog": "Look up accelerators, servers, models, offers and parameters with their sources.",
}

#: Verbs that are a family: their second word, and one line about it.
FAMILIES: Mapping[str, Mapping[str, str]] = {
    "size": {
        "training": "Layouts, memory, time and money of one training run.",
        "serving": "Replicas, memory, latency and money of one service.",
    },
    "catalog": {
        "list": "List one kind of things; without KIND, the number of each. Offers are counted by channel and contract.",
        "show": "Show every figure of one name with its source, date, confidence and range.",
        "template": "Print a CSV for quotes of your own, its columns explained: flopwise catalog template > quotes.csv",
    },
}

_HEAD = """\
flopwise plans, buys, schedules and proves the compute of large models.

Usage: flopwise VERB [OPTIONS] ...
       flopwise --help | --version

Verbs:
"""
_TAIL = """
'flopwise VERB --help' shows the options of a verb. Every verb takes --json.
Exit status: 0 answered; 1 error, wrong usage included; 2 answered, and the answer is no
(plans differ, a demand cannot be met, nothing fits).
"""


def help_text() -> str:
    """What ``flopwise --help`` prints."""
    return _HEAD + _lines(VERBS) + _TAIL


def family_help(verb: str) -> str:
    """What ``flopwise VERB --help`` prints for a family."""
    head = f"{VERBS[verb]}\n\nUsage: flopwise {verb} WORD [OPTIONS] ...\n\nWords:\n"
    return head + _lines(FAMILIES[verb]) + f"\n'flopwise {verb} WORD --help' shows the options.\n"


def _lines(table: Mapping[str, str]) -> str:
    width = max(len(name) for name in table)
    return "".join(f"  {name:<{width}}  {line}\n" for name, line in table.items())
