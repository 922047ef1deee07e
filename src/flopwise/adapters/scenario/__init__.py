"""The scenario file: YAML to a domain ``Scenario``, every problem at once, every default noted.

``load_scenario`` reads a file; ``json_schema`` describes the format and is shipped as ``scenario.schema.json``.
"""

from flopwise.adapters.scenario.load import load_scenario
from flopwise.adapters.scenario.schema_file import json_schema, schema_text

__all__ = ["json_schema", "load_scenario", "schema_text"]
