"""A first scenario from at most eight answers."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from flopwise.app.day import checked_day, today
from flopwise.app.files import write_whole
from flopwise.app.scenario import load
from flopwise.domain.calendar import month_index, month_name
from flopwise.domain.scenario import Scenario
from flopwise.ground.errors import FlopwiseError, ScenarioError, UnknownNameError

#: Where the users of a region live, for the hours of their day; UTC elsewhere.
TIMEZONES = {
    "us": "America/New_York", "us-east": "America/New_York", "us-central": "America/Chicago", "us-texas": "America/Chicago",
    "us-west": "America/Los_Angeles", "us-california": "America/Los_Angeles", "ca": "America/Toronto", "br": "America/Sao_Paulo",
    "eu": "Europe/Berlin", "de": "Europe/Berlin", "fr": "Europe/Paris", "nl": "Europe/Amsterdam", "ie": "Europe/Dublin",
    "uk": "Europe/London", "nordics": "Europe/Stockholm", "ae": "Asia/Dubai", "sa": "Asia/Riyadh", "in": "Asia/Kolkata",
    "sg": "Asia/Singapore", "my": "Asia/Kuala_Lumpur", "cn": "Asia/Shanghai", "kr": "Asia/Seoul", "jp": "Asia/Tokyo",
    "au": "Australia/Sydney",
}  # fmt: skip
TRAINING, SERVING, BOTH = "training", "serving", "both"
WORK = (TRAINING, SERVING, BOTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question: its key, its words, the answer taken when none is given, and the work that it belongs to."""

    key: str
    text: str
    default: str
    work: tuple[str, ...] = WORK


QUESTIONS: tuple[Question, ...] = (
    Question(key="name", text="Name of the scenario", default="first-plan"),
    Question(key="work", text="What is planned: training, serving or both", default=BOTH),
    Question(key="model", text="Model: catalogue name, or path of a Hugging Face config.json", default="llama-3.1-8b"),
    Question(key="tokens", text="Tokens to train on", default="200B", work=(TRAINING, BOTH)),
    Question(key="within", text="Time until training must be finished", default="60 d", work=(TRAINING, BOTH)),
    Question(key="traffic", text="Requests per second at the busiest time, or users", default="5 req/s", work=(SERVING, BOTH)),
    Question(key="region", text="Region of data and delivery (us, eu, cn, any ...)", default="us"),
    Question(key="owned", text="Servers that stand already, for example '8 dgx-h100' (none)", default="none"),
)


def applies(question: Question, answers: Mapping[str, str]) -> bool:
    """Whether a question is asked, after the answers so far."""
    return answers.get("work", BOTH) in question.work


def with_defaults(answers: Mapping[str, str]) -> dict[str, str]:
    """Answers with the defaults of what was not answered.

    Raises:
        UnknownNameError: the kind of work is none of those known.
    """
    filled = {question.key: answers.get(question.key) or question.default for question in QUESTIONS}
    if filled["work"] not in WORK:
        hint = f"one of {', '.join(WORK)}"
        raise UnknownNameError("work", filled["work"], WORK, hint=hint)
    return filled


def write(path: str | Path, answers: Mapping[str, str], *, force: bool = False, as_of: str | None = None) -> Scenario:
    """Write a commented scenario that loads and plans.

    Args:
        path: file to write.
        answers: by key of ``QUESTIONS``; what is missing takes its default.
        force: whether an existing file may be replaced.
        as_of: day of the plan (ISO), today by default; it is written into the file.

    Returns:
        The scenario as loaded from the text.

    Raises:
        FlopwiseError: the file exists, or cannot be written, or the owned servers are not told.
        ScenarioError: an answer does not fit; nothing is written.
    """
    target = Path(path)
    if target.exists() and not force:
        msg = f"{target} exists already"
        raise FlopwiseError(msg, hint="give another path, or --force to replace it")
    text = scenario_text(with_defaults(answers), checked_day(as_of) or today())
    scenario = _checked(text, target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, text.encode())
    except OSError as error:
        msg = f"{target}: cannot be written: {error.strerror or error}"
        raise FlopwiseError(msg) from error
    return scenario


def _checked(text: str, target: Path) -> Scenario:
    """Load the text before it is written. Paths in it are relative to the current folder, so a copy there would do no good."""
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / target.name
        draft.write_text(text, encoding="utf-8")
        try:
            return load(draft)
        except ScenarioError as error:
            shown = f"{target} (not written)"
            raise ScenarioError(shown, error.problems) from error


def scenario_text(answers: Mapping[str, str], as_of: str) -> str:
    """The commented file. Answers are put in as they were given: the loader says what is wrong with them."""
    start = month_name(month_index(date.fromisoformat(as_of).isoformat()) + 1)
    run_start = month_name(month_index(start) + 3)
    work = answers["work"]
    parts = [_HEAD.format(name=_quoted(answers["name"]), as_of=as_of, start=start)]
    if work in {TRAINING, BOTH}:
        parts.append(_TRAINING.format(**_safe(answers), start=run_start))
    if work in {SERVING, BOTH}:
        parts.append(
            _SERVING.format(
                **_safe(answers), amount=_traffic(answers["traffic"]), timezone=TIMEZONES.get(answers["region"], "UTC")
            )
        )
    parts.append(_SUPPLY.format(**_safe(answers), stands=_owned(answers["owned"], as_of)))
    return "\n".join(parts)


def _safe(answers: Mapping[str, str]) -> dict[str, str]:
    return {
        key: _model(text) if key == "model" else _quoted(text) for key, text in answers.items() if key not in {"owned", "traffic"}
    }


def _quoted(text: str) -> str:
    """Text as a YAML scalar: plain where that is safe."""
    plain = bool(text) and all(letter.isalnum() or letter in " .-_%/" for letter in text) and text[0].isalnum()
    return text if plain else "'" + text.replace("'", "''") + "'"


def _model(text: str) -> str:
    """A model's name, or the absolute path of its description: the file may be written anywhere."""
    return _quoted(str(Path(text).expanduser().resolve()) if text.endswith(".json") else text)


def _traffic(text: str) -> str:
    stripped = text.strip()
    if stripped.endswith("users") or stripped.replace("k", "").replace("M", "").isdigit():
        count = stripped.removesuffix("users").strip()
        return f"users: {{count: {_quoted(count)}, active_share: 8%, requests_per_hour: 10, peak_factor: 2.5}}"
    return f"peak: {_quoted(stripped)}"


def _owned(text: str, as_of: str) -> str:
    if text.strip().lower() in {"", "none", "0"}:
        return "  # owned: [{server: dgx-h100, count: 8, since: 2025-06}]   # servers that stand already"
    found = _OWNED.fullmatch(text.strip())
    if found is None:
        msg = f"{text!r} does not say which servers stand already"
        raise FlopwiseError(msg, hint="expected a count and a server, for example '8 dgx-h100', or 'none'")
    count, server = found["count"], found["server"]
    return f"  owned: [{{server: {_quoted(server)}, count: {count}, since: {as_of[:7]}}}]"


#: A count and a server: ``8 dgx-h100``, ``8x dgx-h100``, ``8 x dgx-h100``.
_OWNED = re.compile(r"(?P<count>\d{1,9})\s*(?:x\s|\s)\s*(?P<server>\S+)", re.ASCII)

_HEAD = """\
# A flopwise scenario. Everything that is left out is assumed, and the plan says so.
# 'flopwise plan FILE' plans it; every key is described in the documentation under "Scenario file".
flopwise: 1
name: {name}
as_of: {as_of}                          # ages of prices are measured against this day
horizon: {{start: {start}, months: 24}}
headroom: 20%                              # one budget for failed nodes, growth and experiments
workloads:"""

_TRAINING = """\
  - name: train
    kind: training
    model: {model}
    tokens: {tokens}
    precision: bf16
    sequence: 8192
    global_batch: 4M tokens
    window: {{start: {start}, finish_within: {within}}}"""

_SERVING = """\
  - name: serve
    kind: serving
    model: {model}
    precision: fp8
    traffic:
      {amount}
      profile: office-hours                # flat, office-hours, consumer or global
      timezone: {timezone}
      growth: {{p10: 2 %/month, p50: 4 %/month, p90: 8 %/month}}
    lengths: {{input: {{mean: 1200, p95: 4000}}, output: {{mean: 250, p95: 800}}}}
    slo: {{ttft_p95: 1 s, tpot_p95: 50 ms}}"""

_SUPPLY = """\
supply:
  region: {region}
{stands}
  # channels: [oem, aws, gcp]              # all channels of the catalogue when left out
  # budget: {{capex: 10M USD, monthly: 500k USD}}
"""
