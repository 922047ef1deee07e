"""Catalogue: shipped facts about accelerators, servers, switches, models, regions and offers, with provenance."""

from flopwise.catalog.catalogue import Catalogue, load_catalogue

__all__ = ["Catalogue", "load_catalogue"]
