"""Plan: the main job, joined into one immutable answer."""

from flopwise.planning.plan.make import make_plan

__all__ = ["make_plan"]
