"""Plugin lookup: the modules of a folder by name, then entry points of third parties.

A member of a kind is one module (``adapters/reports/xlsx.py``) or one entry point in the group
``flopwise.<kind>``. Nothing is imported until it is asked for by name.
"""

from __future__ import annotations

import importlib
import pkgutil
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from flopwise.ground.errors import UnknownNameError


def names(package: str, kind: str) -> tuple[str, ...]:
    """Names of all members of a kind: modules of ``package``, then entry points, sorted.

    Complexity: one directory listing plus one entry-point query.
    """
    folder = importlib.import_module(package)
    inside = {module.name for module in pkgutil.iter_modules(folder.__path__) if not module.name.startswith("_")}
    outside = {point.name for point in entry_points(group=f"flopwise.{kind}")}
    return tuple(sorted(inside | outside))


def load(package: str, kind: str, name: str) -> ModuleType | Any:  # noqa: ANN401 - a plugin is what its kind's protocol says
    """Import one member by name.

    Raises:
        UnknownNameError: no module and no entry point has that name.
    """
    known = names(package, kind)
    if name not in known:
        raise UnknownNameError(kind, name, known)
    for point in entry_points(group=f"flopwise.{kind}", name=name):
        return point.load()
    return importlib.import_module(f"{package}.{name}")
