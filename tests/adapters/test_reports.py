"""Reports: every format, both languages, hostile names, nothing loaded, the same bytes each time."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import re
from dataclasses import asdict, replace

import pytest
from openpyxl import load_workbook

from app import plan_world
from flopwise.adapters.reports import _drawing, _pictures, _safe, _theme
from flopwise.adapters.reports._phrases import phrase
from flopwise.adapters.reports._sentence import plain, sentence
from flopwise.adapters.reports._words import Words
from flopwise.domain.plan import (
    BillItem,
    BreakEven,
    Concentration,
    Coverage,
    HostedRow,
    HourRow,
    Infeasibility,
    MonthlyNeed,
    Plan,
    Status,
)
from flopwise.domain.provenance import Evidence
from flopwise.ground import registry

FORMATS = ("html", "xlsx", "md", "json", "orders", "bom")
HOSTILE = "<script>alert(1)</script>"
FORMULA = "=cmd|'/c calc'!A1"
VOID = {"meta", "br"}
HEADS = {"h1", "h2", "h3", "h4", "th", "figcaption", "summary", "span"}


def render(plan: Plan, form: str, lang: str = "en") -> bytes:
    return registry.load("flopwise.adapters.reports", "reports", form).render(plan, lang=lang)


def full(**changes: object) -> Plan:
    """The small plan with every table filled."""
    base = plan_world.make_plan()
    pool = base.pools[0]
    first = replace(pool.months[0], on_demand_mean=2.0, on_demand_peak=6.0)
    refs = (
        replace(base.references[0], name="this plan", chosen=True, regret=None, npv=base.summary.total_npv),
        base.references[0],
        replace(
            base.references[0], name="buy only", feasible=False, unmet={"chat": 0.3}, regret=None, note="not a full comparison"
        ),
    )
    values: dict[str, object] = {
        "orders": tuple(plan_world.order(identity=f"o{n}", order_by=f"2026-12-{10 + n}") for n in range(9)),
        "pools": (replace(pool, months=(first, replace(first, month="2027-02"))),),
        "hosted": (
            HostedRow(workload="chat", channel="api", offer="api/x", months=(MonthlyNeed(month="2027-01", mean=1.0, peak=2.0),)),
        ),
        "hours": tuple(
            HourRow(month="2027-01", day=day, hour=hour, need={"chat": hour + 1.0}, used={"here": 4.0})
            for day in ("weekday", "weekend")
            for hour in range(24)
        ),
        "references": refs,
        "break_even": (BreakEven(
                name="chat.owning", value=0.4, unit="1", interval=(0.3, 0.5), evidence=Evidence.PUBLISHED, sentence="owning pays",
            ),),
        "coverage": (Coverage(channel="oem", kind="purchase", offers=3, oldest="2026-01-01", newest="2026-11-01", stale=1),),
        "risk": (
            Concentration(
                tier="channel", shares={"oem": 0.9, "x": 0.1}, hhi=8200.0, effective_number=1.2, limit=0.8, exceeded=True
            ),
        ),
        "fabric": (
            BillItem(
                site="here", item="server", description="DGX", count=2, unit_price=3e5, amount=6e5, power=2e4, rack_units=16.0,
                source="quote",
            ),
        ),
        "summary": replace(base.summary, best_reference="rent all"),
    }  # fmt: skip
    return replace(base, **(values | changes))


def infeasible() -> Plan:
    item = Infeasibility(workload="chat", unmet_share=0.4, constraint="quota", message="40 % is missing", remedy="ask for more")
    return full(status=Status.INFEASIBLE, infeasibilities=(item,))


def hostile() -> Plan:
    base = full()
    demand = replace(base.demand[0], workload=HOSTILE, model=HOSTILE, derivation=(HOSTILE,))
    need = tuple(replace(row, need={HOSTILE: 1.0 + row.hour}, used={HOSTILE: 2.0}) for row in base.hours)
    orders = tuple(
        replace(order, channel=FORMULA, offer=HOSTILE, server=f'"><img src=x onerror={HOSTILE}>', why="+1+1", waits_for="\t=1+1")
        for order in base.orders
    )
    return replace(
        base,
        name=f"</title>{HOSTILE}",
        demand=(demand,),
        hours=need,
        orders=orders,
        pools=(replace(base.pools[0], pool=HOSTILE),),
        references=tuple(replace(row, name=HOSTILE + row.name) for row in base.references),
        assumptions=tuple(
            replace(row, assumption=replace(row.assumption, path=HOSTILE + row.assumption.path, value=FORMULA))
            for row in base.assumptions
        ),
        warnings=("javascript:alert(1)", "url(http://evil.example/x)", HOSTILE),
        figures=dict(base.figures)
        | {HOSTILE: replace(base.figures["cost.hardware"], id=HOSTILE, label=HOSTILE, formula=FORMULA)},
    )


class Page(html.parser.HTMLParser):
    """Elements, attributes, ids and text of a page; unbalanced tags are found."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.heads: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if (
            self.open
            and self.open[-1] in {"h1", "h2", "h3", "h4", "th", "figcaption", "summary", "span"}
            and self.open[-1] != "caption"
        ):
            self.heads.append(data)


def page(plan: Plan, lang: str = "en") -> Page:
    return Page(render(plan, "html", lang).decode())


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("make", [full, infeasible])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_format_renders_and_repeats(form, make, lang):
    plan = make()
    assert render(plan, form, lang) == render(plan, form, lang)


def test_formats_are_found_by_folder():
    assert set(FORMATS) <= set(registry.names("flopwise.adapters.reports", "reports"))


@pytest.mark.parametrize("make", [plan_world.make_plan, full, infeasible, hostile])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_page_is_balanced_loads_nothing_and_every_link_arrives(make, lang):
    found = page(make(), lang)
    assert found.open == []
    assert not {"script", "link", "iframe", "object", "embed", "img", "image", "use", "base", "form"} & set(found.tags)
    ids = [value for name, value in found.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    links = [value for name, value in found.attributes if name in {"href", "src", "xlink:href"}]
    assert links
    assert all(value.startswith("#") and value[1:] in ids for value in links)
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    styles = " ".join(value for name, value in found.attributes if name == "style" or name.startswith("clip"))
    assert "http" not in styles


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_hostile_text_stays_text(lang):
    text = render(hostile(), "html", lang).decode()
    assert "<script" not in text
    assert "<img" not in text
    assert "&lt;script&gt;" in text


def test_chinese_page_has_no_english_heads():
    english = page(full()).heads
    chinese = page(full(), "zh").heads
    assert len(chinese) > 40
    known = {"HHI", "flopwise 0.1.0", "chat", "small"}
    same = {text.strip() for text in set(english) & set(chinese)} - known
    assert not [text for text in same if re.search(r"[A-Za-z]{4,}", text)], same


def test_chinese_dates_and_sentence():
    text = plain(sentence(full(), Words("zh")))
    assert text.startswith("2026年12月10日前向 oem 购买 2 台 dgx-h100")
    assert text.endswith("。")
    assert "2 个月共" in text
    assert "2027年1月" in render(full(), "html", "zh").decode()


def test_english_sentence_names_three_orders_and_the_cost():
    text = plain(sentence(full(), Words("en")))
    assert text.startswith("Buy 2 dgx-h100 from oem by 2026-12-10, buy 2")
    assert "and 6 more orders: 1.18 M USD over 2 months (80 %: 1.06 M USD to 1.3 M USD)" in text
    assert "below rent all" in text


def test_sentence_without_orders_and_with_unserved_work():
    plan = full(orders=(), demand=(replace(full().demand[0], unmet_share=0.4),))
    assert plain(sentence(plan, Words("en"))).startswith("Order nothing: ")
    assert "; 40 % of chat cannot be done" in plain(sentence(plan, Words("en")))
    assert "chat 的 40 % 无法完成" in plain(sentence(plan, Words("zh")))


def test_do_now_has_seven_rows_and_counts_the_rest():
    text = render(full(), "html").decode()
    body = text.split('id="do-now"')[1].split("</section>")[0]
    assert body.count("<tr>") == 8
    assert "2 more orders in orders.csv" in body


def test_infeasible_plan_says_first_what_cannot_be_met():
    text = render(infeasible(), "html").decode()
    assert text.index('id="cannot"') < text.index('id="do-now"')
    assert "ask for more" in text
    assert 'id="cannot"' not in render(full(), "html").decode()


def test_empty_states_are_written():
    bare = plan_world.make_plan(
        orders=(),
        pools=(),
        hours=(),
        costs=(),
        references=(),
        coverage=(),
        risk=(),
        fabric=(),
        assumptions=(),
        figures={},
        demand=(),
    )
    text = render(bare, "html").decode()
    for words in ("Nothing has to be ordered", "No accelerators are held", "nothing to wire", "No offers were considered"):
        assert words in text


def test_stale_prices_are_marked():
    plan = full(orders=(replace(plan_world.order(), stale=True),))
    assert "stale price" in render(plan, "html").decode()
    assert "stale price" in render(plan, "md").decode()
    assert b"stale price" not in render(replace(plan, orders=(plan_world.order(),)), "md")


def test_json_is_the_plan():
    plan = full()
    assert json.loads(render(plan, "json")) == json.loads(json.dumps(asdict(plan)))


def test_csv_has_field_names_and_numbers():
    rows = list(csv.DictReader(io.StringIO(render(full(), "orders").decode(), newline="")))
    assert len(rows) == 9
    assert float(rows[0]["amount"]) == 600e3
    assert rows[0]["until"] == ""
    assert rows[0]["stale"] == "false"
    bill = list(csv.DictReader(io.StringIO(render(full(), "bom").decode(), newline="")))
    assert bill[0]["item"] == "server"
    assert render(full(), "orders").count(b"\r\n") == 10


def test_csv_never_holds_a_formula():
    rows = list(csv.reader(io.StringIO(render(hostile(), "orders").decode(), newline="")))
    for cell in (cell for row in rows for cell in row):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert "'" + FORMULA in rows[1]


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "＝1", "\n=1"])
def test_dangerous_text_gets_an_apostrophe(text):
    assert _safe.text(text) == f"'{text}"


def test_negative_numbers_stay_numbers():
    assert _safe.cell(-5.0) == -5.0
    assert b",-5.0," in _safe.csv_rows(["a", "b", "c"], [[1, -5.0, "x"]])


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_workbook_holds_numbers_and_no_formula(lang):
    book = load_workbook(io.BytesIO(render(hostile(), "xlsx", lang)))
    assert len(book.sheetnames) == 10
    for sheet in book:
        assert sheet.freeze_panes == "B2"
        for cell in (cell for row in sheet.iter_rows() for cell in row):
            assert cell.data_type != "f"
            assert cell.hyperlink is None
            if cell.data_type == "s" and _safe.dangerous(str(cell.value)):
                assert cell.quotePrefix
    orders = book.worksheets[1]
    assert isinstance(orders.cell(row=2, column=13).value, (int, float))


def test_workbook_has_no_time_of_its_own():
    book = load_workbook(io.BytesIO(render(full(), "xlsx")))
    assert book.properties.created.isoformat().startswith("2026-12-01")


def test_markdown_escapes_markup():
    text = render(hostile(), "md").decode()
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_pictures_fit_page_and_phone():
    pictures = (_pictures.supply, _pictures.timeline, _pictures.references, _pictures.tornado, _pictures.costs)
    for wide, width in ((True, _theme.WIDE), (False, _theme.NARROW)):
        for drawn in _drawing.draw([draw(full(), Words("en"), wide=wide) for draw in pictures]):
            assert abs(float(re.search(r'width="([\d.]+)"', drawn)[1]) - width) < 12


def test_kinds_keep_their_hue():
    assert _theme.hue("purchase") == _theme.hue("purchased") == _theme.hue("hardware")
    assert _theme.hue("on-demand") == _theme.hue("on_demand")
    assert len(set(_theme.HUES.values())) == 7


def test_phrases_are_translated_only_where_known():
    words = Words("zh")
    assert phrase("chosen in a@b", words) == "选用于 a@b"
    assert phrase("something else entirely", words) == "something else entirely"
    assert phrase("chosen in a@b", Words("en")) == "chosen in a@b"
