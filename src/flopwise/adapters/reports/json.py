"""The plan itself: exactly its fields, floats in shortest text, no infinities."""

from __future__ import annotations

import json
from dataclasses import asdict

from flopwise.domain.plan import Plan


def render(plan: Plan, *, lang: str) -> bytes:  # noqa: ARG001 - names of fields are the same in all languages
    """plan.json in UTF-8."""
    return (json.dumps(asdict(plan), ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()
