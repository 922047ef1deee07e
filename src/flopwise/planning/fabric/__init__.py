"""Fabric: how bought servers are wired, and what that takes."""

from flopwise.planning.fabric.clos import Clos, clos
from flopwise.planning.fabric.materials import bill_of_materials

__all__ = ["Clos", "bill_of_materials", "clos"]
