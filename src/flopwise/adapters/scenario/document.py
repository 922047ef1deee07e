"""YAML text to plain values and the line of every key. Nothing here knows what a scenario means.

Only the safe core of YAML is read: mappings, lists and scalars. Dates stay text; duplicate keys, merge keys,
own tags and files that unfold without end are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from flopwise.ground.errors import InputFileError, Problem, ScenarioError
from flopwise.ground.units import MEGA

#: A scenario larger than this is some other file.
LARGEST_FILE = 1 * MEGA
#: Values after aliases are unfolded, and levels of nesting.
MOST_VALUES, DEEPEST = 100_000, 40
#: A number with more digits stays text, and is refused as text where a number belongs.
LONGEST_NUMBER = 300

Path_ = tuple[str | int, ...]
_CORE = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Plain values, and the line (from 1) of each path."""

    file: str
    values: Mapping[str, Any]
    lines: Mapping[Path_, int]

    def line(self, path: Path_) -> int | None:
        """Line of a path, or of the nearest parent that stands in the file."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None


def shown(path: Path_) -> str:
    """A path as people write it.

    >>> shown(("workloads", 0, "slo", "ttft_p95"))
    'workloads[0].slo.ttft_p95'
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "(top level)"


def read_document(path: Path) -> Document:
    """Read one YAML file.

    Raises:
        InputFileError: there is no such file, or it cannot be opened.
        ScenarioError: the text is not YAML that can be read safely; all duplicate keys at once.
    """
    text = _text(path)
    node = _compose(str(path), text)
    if not isinstance(node, yaml.MappingNode):
        found = "a list" if isinstance(node, yaml.SequenceNode) else "one word" if node else "nothing"
        raise _refused(str(path), "", 1, f"the file holds {found}", "keys and values, starting with 'flopwise: 1'")
    walk = _Walk()
    values = walk.value(node, ())
    if walk.problems:
        raise ScenarioError(str(path), walk.problems)
    return Document(file=str(path), values=values, lines=walk.lines)


def _text(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            message = f"the file has {size / MEGA:.0f} MB"
            raise _refused(str(path), "", None, message, f"at most {LARGEST_FILE / MEGA:.0f} MB")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _refused(str(path), "", line, "the file is not UTF-8 text", "UTF-8") from error
    except FileNotFoundError as error:
        msg = f"{path}: no such file"
        raise InputFileError(msg, hint="'flopwise init' writes a first scenario") from error
    except IsADirectoryError as error:
        msg = f"{path}: a folder, no scenario file"
        raise InputFileError(msg, hint="'flopwise explain' and 'flopwise report' read the folder of a plan") from error
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}"
        raise InputFileError(msg) from error


def _compose(file: str, text: str) -> yaml.Node | None:
    loader = None
    try:
        loader = yaml.SafeLoader(text)
        return loader.get_single_node()
    except RecursionError as error:
        raise _refused(file, "", None, "values are nested too deep", f"at most {DEEPEST} levels") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        expected = "spaces: YAML does not allow tabs for indentation" if "'\\t'" in str(error.problem) else "YAML"
        raise _refused(file, "", line, str(error.problem or error.context), expected) from error
    except yaml.YAMLError as error:
        raise _refused(file, "", None, str(error).splitlines()[0], "YAML text without control characters") from error
    finally:
        if loader is not None:
            loader.dispose()


def _refused(file: str, path: str, line: int | None, message: str, expected: str) -> ScenarioError:
    return ScenarioError(file, [Problem(path=path or "(file)", line=line, message=message, expected=expected)])


@dataclass(slots=True)
class _Walk:
    """Turns nodes into values, counting as it goes, and gathers what it refuses."""

    lines: dict[Path_, int] = field(default_factory=dict[Path_, int])
    problems: list[Problem] = field(default_factory=list[Problem])
    count: int = 0

    def value(self, node: yaml.Node, path: Path_) -> Any:  # noqa: ANN401 - YAML holds anything
        self.count += 1
        self.lines.setdefault(path, node.start_mark.line + 1)
        if self.count > MOST_VALUES or len(path) > DEEPEST:
            if not any("unfolds" in problem.message for problem in self.problems):
                limit = f"at most {MOST_VALUES} values in {DEEPEST} levels; check its aliases (*name)"
                self._refuse(path, node, "the file unfolds to too many values", limit)
            return None
        if not isinstance(node, yaml.ScalarNode) and node.tag not in {f"{_CORE}map", f"{_CORE}seq"}:
            self._refuse(path, node, f"the tag {node.tag!r} is not read", "a plain value")
            return None
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node.value, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, pairs: Sequence[tuple[yaml.Node, yaml.Node]], path: Path_) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, item in pairs:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
            inner = (*path, name)
            if not name or key.tag == f"{_CORE}merge":
                self._refuse(path, key, f"the key {name!r} is not read", "plain keys, without '<<'")
            elif name in values:
                self._refuse(inner, key, f"the key {name!r} is given twice, first on line {self.lines[inner]}", "one of them")
            else:
                self.lines[inner] = key.start_mark.line + 1
                values[name] = self.value(item, inner)
        return values

    def _scalar(self, node: yaml.Node, path: Path_) -> str | float | int | bool | None:
        text, tag = str(node.value), node.tag.removeprefix(_CORE)
        if tag in {"str", "timestamp"}:
            return text
        if tag == "null":
            return None
        if tag == "bool":
            return text.lower() in {"yes", "true", "on"}
        if tag in {"int", "float"}:
            return _number(text)
        self._refuse(path, node, f"the tag {node.tag!r} is not read", "a plain value")
        return None

    def _refuse(self, path: Path_, node: yaml.Node, message: str, expected: str) -> None:
        line = node.start_mark.line + 1
        self.problems.append(Problem(path=shown(path), line=line, message=message, expected=expected))


def _number(text: str) -> int | float | str:
    """Decimal numbers only: YAML's octal, hexadecimal and base-60 spellings stay text, and text is refused where it matters."""
    plain = text.replace("_", "")
    digits = plain.lstrip("+-")
    if len(plain) > LONGEST_NUMBER:
        return text
    if digits.isdigit() and (digits == "0" or not digits.startswith("0")):
        return int(plain)
    if ":" in text or digits.isdigit() or digits.lower().startswith(("0x", "0b")):
        return text
    return float(plain.lower().replace(".inf", "inf").replace(".nan", "nan"))
