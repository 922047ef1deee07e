"""Modules that are imported when first used, so that asking for help costs nothing."""

from __future__ import annotations

import importlib
from typing import Any


class Lazy:
    """Stands for a module; the first attribute asked for imports it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:  # noqa: ANN401 - whatever the module holds
        return getattr(importlib.import_module(self._name), attribute)


def lazy(name: str) -> Any:  # noqa: ANN401 - type checkers see the real import beside it
    """A module that is imported on first use."""
    return Lazy(name)
