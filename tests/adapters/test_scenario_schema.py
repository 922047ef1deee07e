"""The shipped JSON Schema is current, describes every key, and accepts the examples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from flopwise.adapters.scenario import json_schema, schema_text
from flopwise.adapters.scenario.document import read_document
from flopwise.adapters.scenario.schema import ScenarioPart

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


def test_the_shipped_schema_is_current():
    assert json.loads(schema_text()) == json_schema(), "run: python -m flopwise.adapters.scenario"


def test_every_key_says_what_it_is():
    schema = json_schema()
    for name, part in {"(top)": schema, **schema["$defs"]}.items():
        assert part.get("additionalProperties") is False, name
        for key, field in part["properties"].items():
            # A field that says the same as its class refers to the class only.
            words = {**schema["$defs"].get(field.get("$ref", "").rpartition("/")[2], {}), **field}
            assert words.get("description", "").endswith("."), f"{name}.{key}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_fit(path):
    assert ScenarioPart.model_validate(read_document(path).values)
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["flopwise"] == 1
