"""The command line: exit status, help from the table, errors as text and as JSON, silence on broken pipes."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from app.plan_world import infeasible, make_plan, order, write
from flopwise.app.summary import summarise
from flopwise.faces.cli import main, runner
from flopwise.faces.cli.table import FAMILIES, VERBS, help_text
from flopwise.faces.cli.verbs.plan import print_plan

FLOPWISE = [sys.executable, "-m", "flopwise.faces.cli.main"]
LINES = [verb for verb in VERBS if verb not in FAMILIES] + [
    f"{verb} {word}" for verb, words in FAMILIES.items() for word in words
]


def run(capsys, *arguments):
    status = main.run(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_table_is_equal_to_the_commands():
    folder = Path(importlib.import_module("flopwise.faces.cli.verbs").__path__[0])
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(VERBS)
    found = {line for verb in VERBS for line in importlib.import_module(f"flopwise.faces.cli.verbs.{verb}").APPS}
    assert found == set(LINES)


@pytest.mark.parametrize("line", LINES)
def test_each_command_says_what_the_table_says(line, capsys):
    verb, _, word = line.partition(" ")
    status, out, _ = run(capsys, *line.split(), "--help")
    expected = FAMILIES[verb][word] if word else VERBS[verb]
    assert status == 0
    assert expected.split(".")[0] in " ".join(out.split())
    assert "--json" in out


def test_help_and_version(capsys):
    for arguments in ([], ["--help"], ["-h"]):
        status, out, err = run(capsys, *arguments)
        assert (status, err) == (0, "")
        assert out == help_text()
        assert all(verb in out for verb in VERBS)
    status, out, _ = run(capsys, "--version")
    assert out.startswith("flopwise ")
    status, out, _ = run(capsys, "size", "--help")
    assert status == 0
    assert "training" in out


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from flopwise.faces.cli.main import run; run(['--help']);"
        "print([name for name in ('typer', 'rich', 'pydantic', 'numpy', 'yaml') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    code = code.replace("['--help']", "['size', 'training', '--help']")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['typer']"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plna"], "did you mean 'plan'?"),
        (["size", "trainig"], "did you mean 'training'?"),
        (["size"], "unknown word"),
        (["explain"], "Missing argument"),
        (["plan"], "Missing argument"),
        (["report", ".", "--format", "pdf"], "pdf"),
        (["plan", "x.yaml", "--nope"], "--nope"),
        (["plan", "absent.yaml"], "no such file"),
        (["plan", "x.yaml", "--as-of", "yesterday"], "not a day"),
        (["explain", "absent"], "absent"),
        (["size", "training", "llama-3.1-8b", "-a", "h100-sxm", "--tokens", "2Gb"], "--tokens: 'Gb' is ambiguous"),
        (["size", "training", "llama-3.1-8b", "-a", "h100-smx", "--tokens", "2T"], "did you mean 'h100-sxm'"),
        (["size", "serving", "llama-3.1-8b", "-a", "h100-sxm"], "exactly one of rate and concurrency"),
        (["catalog", "show", "h100-smx"], "did you mean"),
        (["catalog", "list", "modles"], "did you mean 'models'"),
    ],
)
def test_wrong_use_is_status_1_with_a_hint_and_no_traceback(arguments, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *arguments)
    assert status == 1
    assert out == ""
    assert said in err
    assert err.startswith("error: ")
    assert "Traceback" not in err
    status, out, err = run(capsys, *arguments, "--json")
    assert status == 1
    assert err == ""
    error = json.loads(out)["error"]
    assert set(error) >= {"code", "message", "hint"}
    assert said in error["message"]


def test_a_broken_scenario_lists_its_problems(capsys, tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text("flopwise: 1\nnam: x\n", encoding="utf-8")
    status, _, err = run(capsys, "plan", str(path))
    assert status == 1
    assert "line 2, nam: unknown key 'nam'; did you mean 'name'?" in err
    status, out, _ = run(capsys, "plan", str(path), "--json")
    problems = json.loads(out)["error"]["problems"]
    assert {"path", "line", "message", "expected"} == set(problems[0])


def test_explain_lists_asks_and_corrects(capsys, tmp_path):
    write(make_plan(), tmp_path)
    status, out, _ = run(capsys, "explain", str(tmp_path))
    assert status == 0
    assert "cost.total_npv" in out
    status, out, _ = run(capsys, "explain", str(tmp_path / "plan.json"), "cost.total_npv")
    assert status == 0
    for part in (
        "formula   hardware + power",
        "hardware = cost.hardware",
        "servers = 2",
        "80 %",
        "a source, 2026-11",
        "published",
    ):
        assert part in out
    status, _, err = run(capsys, "explain", str(tmp_path), "cost.totl_npv")
    assert status == 1
    assert "did you mean 'cost.total_npv'" in err
    status, out, _ = run(capsys, "explain", str(tmp_path), "cost.total_npv", "--json")
    assert json.loads(out)["figure"]["id"] == "cost.total_npv"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "null", '{"schema": "flopwise.plan/99"}', "\udcff"])
def test_a_file_that_is_no_plan(text, capsys, tmp_path):
    path = tmp_path / "plan.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    status, out, err = run(capsys, "explain", str(path))
    assert (status, out) == (1, "")
    assert err.startswith("error: ")
    assert "internal error" not in err


def test_diff_answers_no_with_status_2(capsys, tmp_path):
    write(make_plan(), tmp_path / "a")
    write(make_plan(scenario_digest="c" * 64, orders=(order(3),)), tmp_path / "b")
    status, out, _ = run(capsys, "diff", str(tmp_path / "a"), str(tmp_path / "a"))
    assert (status, out) == (0, "The plans say the same.\n")
    status, out, _ = run(capsys, "diff", str(tmp_path / "a"), str(tmp_path / "b"))
    assert status == 2
    assert out.index("Inputs") < out.index("Orders")
    status, out, _ = run(capsys, "diff", str(tmp_path / "a"), str(tmp_path / "b"), "--json")
    assert status == 2
    assert json.loads(out)["same"] is False


def test_the_screen_of_a_plan(capsys):
    made = infeasible()
    print_plan(made, summarise(made), "small-plan/report.html")
    out = capsys.readouterr().out
    for part in (
        "Buy 2 dgx-h100.", "2026-12-20", "2 x dgx-h100", "Servers", "total", "rent all", "finance.x7", "and 3 more in the report",
        "report: small-plan/report.html", "cannot be met: chat: 0.2 MW missing", "raise the power", "warning: something to know",
    ):  # fmt: skip
        assert part in out, part
    assert all(len(line) <= 100 for line in out.splitlines())
    assert "\x1b" not in out


def test_a_program_error_is_one_line(capsys, monkeypatch):
    def fail(*_arguments: object, **_options: object) -> None:
        msg = "boom"
        raise RuntimeError(msg)

    monkeypatch.setattr(typer.main, "get_command", fail)
    status, _, err = run(capsys, "plan", "x")
    assert status == 1
    assert "internal error: RuntimeError: boom" in err
    assert "Traceback" not in err
    monkeypatch.setenv(runner.DEBUG, "1")
    assert "Traceback" in run(capsys, "plan", "x")[2]


@pytest.mark.skipif(os.name == "nt", reason="signals and pipes of POSIX")
def test_a_closed_pipe_is_quiet(tmp_path):
    figures = {f"f{n}": figure for n in range(4000) for figure in [make_plan().figures["cost.hardware"]]}
    write(make_plan(figures=figures), tmp_path)
    with subprocess.Popen(
        [*FLOPWISE, "explain", str(tmp_path), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == ""


def test_an_interrupt_is_clean(capsys, monkeypatch):
    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(typer.main, "get_command", interrupted)
    monkeypatch.setattr(sys, "argv", ["flopwise", "plan", "x"])
    with pytest.raises(SystemExit) as caught:
        main.main()
    assert caught.value.code == main.INTERRUPTED
    assert capsys.readouterr().err == "\ninterrupted\n"
