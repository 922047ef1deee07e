"""Sentences that the planner writes in English, in the language of the report.

A sentence that no pattern knows stays in English: an identifier or a source is never guessed at.
"""

from __future__ import annotations

import re

from flopwise.adapters.reports._sentences import ZH
from flopwise.adapters.reports._words import Words

#: A group never reaches over a semicolon: what stands behind one is another clause.
_COMPILED = tuple((re.compile(pattern.replace("(.+)", "([^;]+)")), chinese) for pattern, chinese in ZH.items())

#: A sentence and what it rests on.
_CAVEAT = re.compile(r"(.+) \(the rate of (.+) rests on datasheets alone\)")
_REFERENCE = re.compile(r"参考方案：(.+)（(.+)）")
_ORDER = re.compile(r"(自 \S+ )(purchase|lease|reserved|on-demand|spot|capacity-block|hosted)")
_BINDS = re.compile(r"约束为 (.+)$")


def phrase(text: str, words: Words) -> str:
    """A planner's sentence in the language of the report.

    >>> phrase("chosen in dgx-h100@dc-east", Words("zh"))
    '选用于 dgx-h100@dc-east'
    """
    if words.lang != "zh":
        return text
    whole = _matched(text, words)
    if whole is not None:
        return whole
    clauses = text.split("; ")
    # Some sentences hold a semicolon themselves: the longest beginning that is known goes first.
    for count in range(len(clauses) - 1, 0, -1):
        first = _matched("; ".join(clauses[:count]), words)
        if first is not None or count == 1:
            known = words(clauses[0]) if first is None else first
            return f"{known}；{phrase('; '.join(clauses[count:]), words)}"
    return words(text)


def _matched(text: str, words: Words) -> str | None:
    """The Chinese of the first pattern that fits all of a text."""
    caveat = _CAVEAT.fullmatch(text)
    if caveat is not None and "; " not in caveat[1]:
        names = caveat[2].replace(" and ", "、")
        return f"{phrase(caveat[1], words)}（{names} 的速率仅依据数据表）"
    for pattern, chinese in _COMPILED:
        found = pattern.fullmatch(text)
        if found is not None:
            made = found.expand(chinese)
            made = _REFERENCE.sub(lambda named: f"参考方案：{words(named[1])}（{phrase(named[2], words)}）", made)
            made = _ORDER.sub(lambda named: f"{named[1]}{words(named[2])}", made).replace(" and ", "、")
            return _BINDS.sub(lambda binding: f"约束为{words(binding[1])}", made)
    return None
