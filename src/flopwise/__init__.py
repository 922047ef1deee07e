"""flopwise plans, buys, schedules and proves the compute of large models.

    import flopwise as fw
    plan = fw.plan(fw.load("scenario.yaml"))

Names are resolved on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "load": "flopwise.app.scenario",
    "plan": "flopwise.app.plan",
    "explain": "flopwise.app.explain",
    "diff": "flopwise.app.diff",
    "report": "flopwise.app.report",
    "size_training": "flopwise.app.size",
    "size_serving": "flopwise.app.size",
    "catalogue": "flopwise.app.catalog",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - each name has its own type
    """Import a public function when it is first asked for."""
    if name not in _PUBLIC:
        msg = f"module 'flopwise' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    """Public names, for people who look around."""
    return ["__version__", *_PUBLIC]
