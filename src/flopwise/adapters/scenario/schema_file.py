"""The JSON Schema of the scenario file, made from the classes of ``schema``.

``python -m flopwise.adapters.scenario`` writes the shipped copy anew; a test keeps it current.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from flopwise.adapters.scenario.schema import ScenarioPart

#: Name of the shipped copy, beside this module.
SCHEMA_FILE = "scenario.schema.json"


def json_schema() -> dict[str, Any]:
    """The format as JSON Schema 2020-12, for editors: keys, kinds of values, descriptions, examples."""
    body = ScenarioPart.model_json_schema()
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "flopwise scenario"}
    return head | {key: value for key, value in body.items() if key != "title"}


def schema_text() -> str:
    """The shipped copy as text."""
    return files(__package__ or "flopwise.adapters.scenario").joinpath(SCHEMA_FILE).read_text(encoding="utf-8")


def write(folder: Path) -> Path:
    """Write the schema into a folder, and say where."""
    path = folder / SCHEMA_FILE
    path.write_text(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
