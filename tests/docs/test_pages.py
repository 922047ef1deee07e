"""The pages are true: their Python runs, their commands print what they say, their scenarios load, every verb is described."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import pkgutil
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest
from sybil import Example, Sybil
from sybil.document import Document
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

import flopwise
from adapters.scenario_world import load_text
from flopwise.faces.cli import main
from flopwise.faces.cli.table import FAMILIES, VERBS
from flopwise.ground.errors import nearest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
CHECK = doctest.OutputChecker()
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run_console(example: Example) -> None:
    """Each line after ``$`` is run; what follows is what it prints, with ``...`` for what does not matter."""
    for block in ("\n" + str(example.parsed)).split("\n$ ")[1:]:
        line, _, expected = block.partition("\n")
        words = shlex.split(line)
        assert words[0] == "flopwise", line
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            main.run(words[1:])
        assert CHECK.check_output(expected.strip() + "\n", out.getvalue(), FLAGS), f"$ {line}\n{out.getvalue()}"


def run_yaml(example: Example) -> None:
    """A whole scenario loads."""
    assert load_text(str(example.parsed), Path.cwd())


def parse(path: Path) -> Document:
    parsers = [CodeBlockParser("console", run_console), CodeBlockParser("yaml", run_yaml), PythonCodeBlockParser()]
    return Sybil(parsers, path=str(path.parent)).parse(path)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_of_a_page(path, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    for example in parse(path).examples():
        example.evaluate()


MODULES = [
    module.name for module in pkgutil.walk_packages(flopwise.__path__, "flopwise.") if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_dependency_is_explained():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    wanted = [
        *project["project"]["dependencies"],
        *(item for group in groups.values() for item in group if isinstance(item, str)),
    ]
    page = (ROOT / "docs" / "decisions" / "dependencies.md").read_text(encoding="utf-8")
    for requirement in wanted:
        name = requirement.split(">")[0].split("[")[0].split(";")[0].strip()
        assert name in page, name


def test_every_verb_is_named_in_the_pages():
    pages = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
    for verb in VERBS:
        assert f"flopwise {verb}" in pages or f"`{verb}`" in pages, verb
    assert "generated: help-texts" in pages


def test_words_of_a_family_are_told_apart():
    for words in FAMILIES.values():
        for word in words:
            assert nearest(word, words)[0] == word


def test_generated_places_are_current():
    """Run docs/generated.py when this fails."""
    spec = importlib.util.spec_from_file_location("generated", ROOT / "docs" / "generated.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    texts = [path.read_text(encoding="utf-8") for path in PAGES]
    assert {mark for text in texts for mark in made.MARK.findall(text)} == set(made.PARTS)
    for path, text in zip(PAGES, texts, strict=True):
        assert made.current(text) == text, path.name


def _shape(line: str) -> str:
    """A line without its numbers: solvers may differ in the last digit."""
    return re.sub(r"[\d.,]+", "#", " ".join(line.split()))


def test_the_readme_prints_what_the_example_prints(tmp_path, monkeypatch):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = text.partition("plan examples/hybrid.yaml\n")[2].partition("```")[0].splitlines()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        main.run(["plan", str(ROOT / "examples" / "hybrid.yaml")])
    assert [_shape(line) for line in shown] == [_shape(line) for line in out.getvalue().splitlines()]
    first, now = (re.findall(r"[\d.]+ M USD over", block) for block in (shown[0], out.getvalue()))
    assert float(first[0].split()[0]) == pytest.approx(float(now[0].split()[0]), rel=0.01)
