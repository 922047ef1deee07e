"""``python -m flopwise.adapters.scenario`` writes the shipped JSON Schema anew."""

from pathlib import Path

from flopwise.adapters.scenario.schema_file import write

write(Path(__file__).parent)
