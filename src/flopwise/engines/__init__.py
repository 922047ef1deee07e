"""Engines: the one door to LP/MILP."""
