"""Hostile and broken YAML: always one error with file and line, never a traceback, a hang or a wrong value."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopwise.adapters.scenario.document import Document, read_document, shown
from flopwise.ground.errors import FlopwiseError, InputFileError, ScenarioError


def read(text: str | bytes, folder: Path) -> Document:
    path = folder / "x.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_document(path)


def refused(text: str | bytes, folder: Path) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        read(text, folder)
    return caught.value


def test_values_and_lines(tmp_path):
    found = read("a: 1\nb:\n  - x: 2.5\n  - y\n", tmp_path)
    assert found.values == {"a": 1, "b": [{"x": 2.5}, "y"]}
    assert found.line(("b", 0, "x")) == 3
    assert found.line(("b", 1)) == 4
    assert found.line(("b", 0, "nothing", "below")) == 3


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("a: 1\na: 2\n", "given twice", 2),
        ("a: 1\nb: !!python/object/apply:os.system ['true']\n", "could not determine|tag", 2),
        ("a: !secret x\n", "tag", 1),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "'<<' is not read", 3),
        ("a: [1, 2\nb: 3\n", "expected|did not find", 2),
        ("a:\n\t- b\n", "cannot start any token", 2),
        ("- a\n- b\n", "holds a list", 1),
        ("just words\n", "holds one word", 1),
        ("", "holds nothing", 1),
        ("# only a comment\n", "holds nothing", 1),
        ("a: 1\n---\nb: 2\n", "another document|expected", 2),
        ("a: *missing\n", "undefined alias", 1),
        ("? [1, 2]\n: x\n", "is not read", 1),
    ],
)
def test_refused_with_its_line(text, message, line, tmp_path):
    error = refused(text, tmp_path)
    assert error.problems[0].line == line
    assert any(part in str(error) for part in message.split("|")), str(error)


def test_billion_laughs(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert "unfolds to too many values" in str(refused("\n".join(lines), tmp_path))


def test_endless_alias(tmp_path):
    assert "unfolds" in str(refused("a: &a [*a]\n", tmp_path))


def test_deep_nesting(tmp_path):
    assert "deep" in str(refused("[" * 20_000, tmp_path))
    assert refused("a: " + "[" * 60 + "]" * 60, tmp_path).problems


def test_not_utf8(tmp_path):
    error = refused(b"a: 1\nb: \xff\xfe\n", tmp_path)
    assert error.problems[0].line == 2
    assert "UTF-8" in str(error)


def test_control_characters(tmp_path):
    assert refused(b"a: \x00\x01", tmp_path).problems


def test_byte_order_mark_is_no_part_of_a_key(tmp_path):
    assert read(b"\xef\xbb\xbfa: 1\n", tmp_path).values == {"a": 1}


def test_too_large(tmp_path):
    assert "MB" in str(refused("a: " + "x" * 1_100_000, tmp_path))


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(InputFileError, match="no such file"):
        read_document(tmp_path / "absent.yaml")
    with pytest.raises(InputFileError, match="a folder, no scenario file"):
        read_document(tmp_path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2027-01", "2027-01"),
        ("2026-12-01", "2026-12-01"),
        ("1_000", 1000),
        ("1e3", "1e3"),
        ("1.0e+3", 1000.0),
        ("0x10", "0x10"),
        ("010", "010"),
        ("12:30:45", "12:30:45"),
        ("yes", True),
        ("~", None),
        ("20%", "20%"),
    ],
)
def test_scalars_keep_their_meaning(text, value, tmp_path):
    found = read(f"a: {text}\n", tmp_path).values["a"]
    assert found == value
    assert type(found) is type(value)


def test_paths_as_people_write_them():
    assert shown(("workloads", 0, "slo", "ttft_p95")) == "workloads[0].slo.ttft_p95"
    assert shown(()) == "(top level)"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    with suppress(FlopwiseError):
        read(data, tmp_path_factory.mktemp("bytes"))
