"""Plugin lookup: the modules of a folder by name, then entry points of third parties.

A member of a kind is one module (``adapters/reports/xlsx.py``) or one entry point in the group
``flopwise.<kind>``. Nothing is imported until it is asked for by name.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from flopwise.ground.errors import UnknownNameError


def names(package: str, kind: str) -> tuple[str, ...]:
    """Names of all members of a kind: modules of ``package``, then entry points, sorted.

    Complexity: one directory listing plus one entry-point query.
    """
    folder = importlib.import_module(package)
    inside = {module.name for module in pkgutil.iter_modules(folder.__path__) if not module.name.startswith("_")}
    outside = {point.name for point in _entry_points(kind)}
    return tuple(sorted(inside | outside))


def load(package: str, kind: str, name: str) -> ModuleType | Any:  # noqa: ANN401 - a plugin is what its kind's protocol says
    """Import one member by name.

    Raises:
        UnknownNameError: no module and no entry point has that name.
    """
    known = names(package, kind)
    if name not in known:
        raise UnknownNameError(kind, name, known)
    for point in _entry_points(kind):
        if point.name == name:
            return point.load()
    return importlib.import_module(f"{package}.{name}")


@cache
def _entry_points(kind: str) -> tuple[EntryPoint, ...]:
    """Entry points of a kind. A query reads the metadata of everything that is installed, so each is made once."""
    return tuple(entry_points(group=f"flopwise.{kind}"))
