"""Tables that other programs read: CSV, workbook, Markdown and JSON of real plans, and of hostile names."""

from __future__ import annotations

import csv
import functools
import io
import json
import math
import re
import time
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import asdict, fields, replace

import pytest

from flopwise.adapters.reports import _safe
from flopwise.app.plan import read, to_json
from flopwise.domain.plan import BillItem, Plan, PlanOrder, Status
from flopwise.ground import registry
from planning import planning_world as world

FORMATS = ("json", "orders", "bom", "md", "xlsx")
NAMES = ("=cmd|' /C calc'!A0", "+1", "-2", "@SUM(A1)", "\t=1", "\r=1", "\u3000=1", "\u200b=1", "\x0b=1", "＝1", "﹢1", "\u22121")
PLAIN = ("h100-8@nebius", "a=b", "1-2", "  two words", "价格", "", "\u3000价格", "x@y", '"quoted", with\nbreak', "1e5")
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
CJK = re.compile(r"[\u4e00-\u9fff]")
SHEETS = 10


def render(plan: Plan, form: str, lang: str = "en") -> bytes:
    return registry.load("flopwise.adapters.reports", "reports", form).render(plan, lang=lang)


@functools.cache
def served() -> Plan:
    return world.plan(world.scenario(world.service()))


@functools.cache
def bought() -> Plan:
    return world.plan(world.scenario(world.service(40.0, profile="flat"), months=36, channels=("oem",)))


@functools.cache
def short() -> Plan:
    return world.plan(world.scenario(world.service(2000.0), capex_budget=1e5, channels=("oem",)))


@functools.cache
def by_token() -> Plan:
    return world.plan(world.scenario(world.service(), channels=("oem", "hosted-x")), apis=(world.hosted(0.01),))


PLANS = (served, bought, short, by_token)


def hostile(name: str) -> Plan:
    plan = bought()
    item = replace(plan.fabric[0], site=name, item=name, description=name, source=name)
    return replace(
        plan,
        name=name,
        orders=tuple(replace(row, id=name, channel=name, offer=name, server=name, why=name, source=name) for row in plan.orders),
        pools=tuple(replace(row, pool=name, channel=name, place=name, server=name) for row in plan.pools),
        references=tuple(replace(row, name=name, description=name, note=name, unmet={name: 0.5}) for row in plan.references),
        break_even=tuple(replace(row, name=name, sentence=name) for row in served().break_even),
        costs=tuple(replace(row, label=name, formula=name, focus_category=name) for row in plan.costs),
        coverage=tuple(replace(row, channel=name, kind=name) for row in plan.coverage),
        fabric=(item, *plan.fabric[1:]),
        warnings=(name,),
        figures={name: replace(next(iter(plan.figures.values())), id=name, label=name, formula=name, sources=(name,))},
    )


def table(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


class Book:
    """Sheets of a workbook read from its XML alone: text and numbers by place, heads, and the parts."""

    def __init__(self, content: bytes) -> None:
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            self.parts = {name: ET.fromstring(parts.read(name)) for name in parts.namelist()}  # noqa: S314 - our own
            self.dates = {entry.date_time for entry in parts.infolist()}
        self.strings = ["".join(node.itertext()) for node in self.parts["xl/sharedStrings.xml"].iter(f"{MAIN}si")]
        names = [node.get("name") or "" for node in self.parts["xl/workbook.xml"].iter(f"{MAIN}sheet")]
        self.pages = {name: self.parts[f"xl/worksheets/sheet{place}.xml"] for place, name in enumerate(names, start=1)}
        self.styles = list(self.parts["xl/styles.xml"].find(f"{MAIN}cellXfs") or ())
        self.formats = {
            node.get("numFmtId"): node.get("formatCode") for node in self.parts["xl/styles.xml"].iter(f"{MAIN}numFmt")
        }

    def cells(self, name: str) -> dict[str, str | float]:
        """Values of a sheet by place, such as ``A1``."""
        return {cell.get("r") or "": self._value(cell) for cell in self.pages[name].iter(f"{MAIN}c")}

    def _value(self, cell: ET.Element) -> str | float:
        assert cell.get("t") in {"s", "n", None}, "text is shared, everything else is a number"
        found = cell.find(f"{MAIN}v")
        assert found is not None
        return self.strings[int(found.text or "")] if cell.get("t") == "s" else float(found.text or "")

    def heads(self, name: str) -> list[str]:
        return [str(value) for place, value in self.cells(name).items() if re.fullmatch("[A-Z]+1", place)]


def test_plans_have_rows_to_write():
    assert served().orders
    assert served().break_even
    assert bought().fabric
    assert by_token().hosted
    assert short().status is Status.INFEASIBLE
    assert short().orders == ()


@pytest.mark.parametrize("make", PLANS)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_same_plan_gives_the_same_bytes(make, form, lang):
    assert render(make(), form, lang) == render(make(), form, lang)


def test_a_workbook_knows_no_clock(monkeypatch):
    first = render(served(), "xlsx")
    later = time.time() + 400 * 86400
    monkeypatch.setattr(time, "time", lambda: later)
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(later))
    assert render(served(), "xlsx") == first
    assert Book(first).dates == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize("make", PLANS)
@pytest.mark.parametrize("form", ["orders", "md", "xlsx"])
def test_a_plan_read_back_gives_the_same_bytes(tmp_path, make, form):
    file = tmp_path / "plan.json"
    file.write_text(to_json(make()), encoding="utf-8")
    assert render(read(file), form) == render(make(), form)


@pytest.mark.parametrize("make", PLANS)
def test_json_reads_back_to_the_same_plan(tmp_path, make):
    file = tmp_path / "plan.json"
    file.write_bytes(render(make(), "json"))
    assert read(file) == make()
    assert to_json(make()).encode() == render(make(), "json") == render(make(), "json", "zh")


def test_json_refuses_what_is_not_finite():
    with pytest.raises(ValueError, match="JSON compliant"):
        render(replace(served(), gap=math.nan), "json")


@pytest.mark.parametrize("name", NAMES)
def test_json_keeps_hostile_names(tmp_path, name):
    file = tmp_path / "plan.json"
    file.write_bytes(render(hostile(name), "json"))
    assert read(file) == hostile(name)


@pytest.mark.parametrize(("form", "kind", "rows"), [("orders", PlanOrder, "orders"), ("bom", BillItem, "fabric")])
@pytest.mark.parametrize("make", PLANS)
def test_csv_reads_back_to_the_rows(make, form, kind, rows):
    content = render(make(), form)
    found, wanted = table(content), [asdict(row) for row in getattr(make(), rows)]
    assert content.split(b"\r\n", 1)[0].decode().split(",") == [item.name for item in fields(kind)]
    assert content.endswith(b"\r\n")
    assert len(found) == len(wanted)
    for given, row in zip(found, wanted, strict=True):
        for name, value in row.items():
            if isinstance(value, bool):
                assert given[name] == json.dumps(value)
            elif isinstance(value, (int, float)):
                assert float(given[name]) == value
                assert math.isfinite(float(given[name]))
            else:
                assert given[name] == (value or "")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["orders", "bom"])
def test_csv_marks_hostile_names_as_text(form, name):
    row = table(render(hostile(name), form))[0]
    assert [value for value in row.values() if name in value] == [f"'{name}"] * sum(name in value for value in row.values())
    assert row["source"] == f"'{name}"
    assert float(row["unit_price"]) > 0


@pytest.mark.parametrize("name", NAMES)
def test_names_that_look_like_formulas_are_found(name):
    assert _safe.dangerous(name)
    assert _safe.dangerous(f"  {name}")


@pytest.mark.parametrize("name", PLAIN)
def test_plain_names_are_left_alone(name):
    assert _safe.text(name) == name
    assert table(_safe.csv_rows(["a", "b"], [[name, "x"]])) == [{"a": name, "b": "x"}]


@pytest.mark.parametrize("value", [-1.5, -1, 0.1 + 0.2, 1e-9, 1.5e300, 0.0])
def test_numbers_in_csv_are_exact(value):
    assert float(table(_safe.csv_rows(["a", "b"], [[value, "x"]]))[0]["a"]) == value


@pytest.mark.parametrize("make", PLANS)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_workbook_has_its_sheets_and_finite_numbers(make, lang):
    book = Book(render(make(), "xlsx", lang))
    assert len(book.pages) == SHEETS
    for name, page in book.pages.items():
        values = book.cells(name).values()
        assert all(math.isfinite(value) for value in values if isinstance(value, float))
        assert not [node for node in page.iter() if node.tag in {f"{MAIN}f", f"{MAIN}hyperlink"}]
        pane = next(page.iter(f"{MAIN}pane"))
        assert pane.get("state") == "frozen"
        assert next(page.iter(f"{MAIN}col"), None) is not None
        rows = {cell for cell in book.cells(name) if not cell.endswith("1") or re.search(r"\d{2}$", cell)}
        assert (next(page.iter(f"{MAIN}autoFilter"), None) is not None) == bool(rows)


def test_workbook_holds_the_numbers_of_the_plan():
    plan, book = served(), Book(render(served(), "xlsx"))
    for place, order in enumerate(plan.orders, start=2):
        cells = book.cells("Orders")
        heads = {head: re.sub(r"\d", "", at) for at, head in cells.items() if re.fullmatch("[A-Z]+1", at)}
        assert cells[f"{heads['Amount, USD']}{place}"] == pytest.approx(order.amount)
        assert cells[f"{heads['Order by']}{place}"] == order.order_by
    summary = list(book.cells("Summary").values())
    for wanted in (plan.name, plan.as_of, plan.summary.total_npv, "everything is served"):
        assert any(wanted == found or wanted == pytest.approx(found) for found in summary if isinstance(found, type(wanted)))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_whole_counts_show_no_point_and_shares_show_percent(lang):
    book = Book(render(served(), "xlsx", lang))
    summary, orders = list(book.pages)[:2]

    def form(sheet: str, place: str) -> str | None:
        cell = next(cell for cell in book.pages[sheet].iter(f"{MAIN}c") if cell.get("r") == place)
        return book.formats.get(book.styles[int(cell.get("s") or 0)].get("numFmtId"))

    assert form(summary, "B10") == "0.0%"
    assert form(summary, "B6") == "#,##0;[Red]-#,##0"
    assert form(summary, "B11") == form(orders, "F2") == "#,##0"
    assert not [code for code in book.formats.values() if re.search(r"\.#+$", code or "")]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_workbook_never_runs_hostile_names(name, lang):
    book = Book(render(hostile(name), "xlsx", lang))
    found = 0
    for sheet, page in book.pages.items():
        values = book.cells(sheet)
        assert not [node for node in page.iter() if node.tag == f"{MAIN}f"]
        for cell in page.iter(f"{MAIN}c"):
            value = values[cell.get("r") or ""]
            if isinstance(value, str) and _safe.dangerous(unescaped(value)):
                found += 1
                assert book.styles[int(cell.get("s") or 0)].get("quotePrefix") == "1"
    assert found > SHEETS


def unescaped(value: str) -> str:
    """Text with the control characters that a workbook writes by their number."""
    return re.sub(r"_x([0-9A-F]{4})_", lambda found: chr(int(found[1], 16)), value)


def test_negative_amounts_stay_numbers_in_the_workbook():
    plan = served()
    cost = replace(plan.costs[0], amount=-12.5, npv=-11.0)
    values = Book(render(replace(plan, costs=(cost,)), "xlsx")).cells("Costs").values()
    assert {-12.5, -11.0} <= set(values)


def test_workbook_refuses_what_is_not_finite():
    plan = served()
    with pytest.raises(TypeError, match="NAN/INF"):
        render(replace(plan, costs=(replace(plan.costs[0], npv=math.inf),)), "xlsx")


@pytest.mark.parametrize("make", PLANS)
def test_chinese_workbook_has_chinese_heads(make):
    book = Book(render(make(), "xlsx", "zh"))
    english = Book(render(make(), "xlsx"))
    assert all(CJK.search(name) for name in book.pages)
    assert not any(CJK.search(name) for name in english.pages)
    for name, other in zip(book.pages, english.pages, strict=True):
        same = [head for head in book.heads(name) if not CJK.search(head)]
        assert not same, same
        assert len(book.heads(name)) == len(english.heads(other))


def tables(text: str) -> list[list[str]]:
    """Rows of all tables; an escaped pipe is text."""
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]


@pytest.mark.parametrize("make", PLANS)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_markdown_is_complete_and_its_tables_are_even(make, lang):
    plan, text = make(), render(make(), "md", lang).decode()
    assert text.startswith("# ")
    assert text.endswith("\n")
    assert "nan" not in text.lower().split()
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert len(heads) == 5 + bool(plan.infeasibilities) + bool(plan.risk)
    assert all(CJK.search(head) for head in heads) == (lang == "zh")
    block: list[int] = []
    for line in text.splitlines():
        block = [*block, len(re.split(r"(?<!\\)\|", line))] if line.startswith("|") else []
        assert len(set(block)) < 2, line


@pytest.mark.parametrize(
    "name", ["a|b", "<b>x</b>", "[x](http://a.example)", "**x**", "# x", "x\n## y", "`x`", "![x](y)", "$x$", "&lt;"]
)
def test_markdown_keeps_names_as_text(name):
    text = render(hostile(name), "md").decode()
    plain = render(hostile("x"), "md").decode()
    assert [line.split()[0] for line in text.splitlines() if line.startswith("#")] == re.findall(r"^#+", plain, re.MULTILINE)
    assert {len(row) for row in tables(text)} <= {len(row) for row in tables(plain)}
    assert not re.search(r"<b>|(?<!\\)(\[x|`x|\$x|\*\*x)", text)
    assert ("&amp;lt;" in text) == (name == "&lt;")


@pytest.mark.parametrize(("name", "shown"), [("- x", "- \\- x"), ("+ x", "- \\+ x"), ("---", "- \\---"), ("1. x", "- 1\\. x")])
def test_markdown_items_begin_no_other_list(name, shown):
    assert f"\n{shown}" in render(hostile(name), "md").decode()


def test_markdown_items_keep_numbers():
    assert "\n- 40.5 % x" in render(hostile("40.5 % x"), "md").decode()
