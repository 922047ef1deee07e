"""One specification per picture, for a page and for a phone. What is drawn is in ``_series``; how it looks in ``_theme``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flopwise.adapters.reports import _series as series
from flopwise.adapters.reports._theme import DASHES, GREY, INK, LINES, NARROW, QUIET, TEXT, WIDE, Spec, hue, mix, picture
from flopwise.adapters.reports._words import Words
from flopwise.domain.plan import Plan

#: Bars and rows that one picture shows at most.
SHOWN_ROWS = 12
_ROW = 46
_SHORT = "replace(format(datum.value, '~s'), 'G', 'B')"


def _months(plan: Plan, words: Words, *, wide: bool, title: bool = True) -> Spec:
    """Axis of months: labels thin out so that they never touch."""
    room = (12 if wide else 4) if words.lang == "en" else (8 if wide else 3)
    step = next(step for step in (1, 2, 3, 6, 12, 24, 60) if len(plan.months) / step <= room)
    shown = [month for number, month in enumerate(plan.months) if number % step == 0]
    label = "datum.value" if words.lang == "en" else "slice(datum.value, 0, 4) + '年' + (+slice(datum.value, 5, 7)) + '月'"
    axis: Spec = {"values": shown, "labelExpr": label, "labelAngle": 0, "title": words("axis_month") if title else None}
    return {"field": "month", "type": "ordinal", "sort": list(plan.months), "axis": axis | {"labelOverlap": False, "grid": False}}


def _dot(plan: Plan, colour: str) -> bool | Spec:
    """A line over one month has no length: a dot stands for it."""
    return {"color": colour, "size": 60} if len(plan.months) == 1 else False


def supply(plan: Plan, words: Words, *, wide: bool) -> Spec:
    """Accelerators by month and source, base below and elastic above, with what is in use as lines."""
    rows = series.supply(plan)
    kinds = list(dict.fromkeys((row["source"], row["part"]) for row in rows))
    names = [f"{source}/{part}" for source, part in kinds]
    colours = [mix(hue(source), 0.55) if part == "peak" else hue(source) for source, part in kinds]
    x = _months(plan, words, wide=wide)
    y: Spec = {"field": "count", "type": "quantitative", "axis": {"title": words("axis_accelerators"), "tickCount": 5}}
    bars: Spec = {
        "data": {"values": [row | {"key": f"{row['source']}/{row['part']}"} for row in rows]},
        "mark": {"type": "bar", "width": {"band": 0.9}},
        "encoding": {
            "x": x,
            "y": y,
            "order": {"field": "order", "type": "quantitative"},
            "color": {"field": "key", "type": "nominal", "scale": {"domain": names, "range": colours}},
        },
    }
    lines = [
        {
            "data": {"values": series.used(plan, which)},
            "mark": {
                "type": "line",
                "color": INK,
                "strokeWidth": 2,
                "strokeDash": dash,
                "interpolate": "step",
                "point": _dot(plan, INK),
            },
            "encoding": {"x": x, "y": y},
        }
        for which, dash in (("mean", [4, 3]), ("peak", [1, 0]))
    ]
    return picture(
        wide, 300 if wide else 240, {"padding": {"top": 26, "left": 4, "right": 8, "bottom": 4}, "layer": [bars, *lines]}
    )


def demand(plan: Plan, words: Words, *, wide: bool) -> Spec:
    """Need of each workload by month, in its own unit: peak as line, mean as band from zero."""
    panels: list[Spec] = []
    shown = series.demand(plan)
    for number, (name, unit, rows) in enumerate(shown):
        last = number == len(shown) - 1
        y: Spec = {"type": "quantitative", "axis": {"title": None, "tickCount": 3, "labelExpr": _SHORT, "minExtent": 46}}
        x = _months(plan, words, wide=wide, title=last)
        if not last:
            x = x | {"axis": x["axis"] | {"labels": False, "ticks": False}}
        base: Spec = {"data": {"values": rows}}
        mean: Spec = {
            "mark": {"type": "bar", "color": mix(LINES[1], 0.65), "width": {"band": 0.9}},
            "encoding": {"x": x, "y": {"field": "mean"} | y},
        }
        peak: Spec = {
            "mark": {"type": "line", "color": LINES[1], "strokeWidth": 2, "interpolate": "step", "point": _dot(plan, LINES[1])},
            "encoding": {"x": x, "y": {"field": "peak"} | y},
        }
        title = f"{name}, {unit}"
        panels.append(
            base
            | {"width": (WIDE if wide else NARROW) - 70, "height": 84, "title": _cut(title, wide=wide), "layer": [mean, peak]}
        )
    return picture(wide, 0, {"vconcat": panels, "spacing": 14})


def week(plan: Plan, words: Words, *, wide: bool) -> Spec:
    """A representative weekday and weekend day: what runs in each pool, and what each workload asks for."""
    width = (WIDE if wide else NARROW) - 70
    hours = series.hours(plan)
    x: Spec = {
        "field": "at",
        "type": "quantitative",
        "scale": {"domain": [0, 24 * hours.days], "nice": False},
        "axis": {
            "values": list(range(0, 24 * hours.days + 1, 6 if wide else 12)),
            "labelExpr": "(datum.value % 24) + ':00'",
            "grid": False,
            "title": words("axis_hour"),
            "labelFlush": True,
        },
    }
    height: Spec = {"type": "quantitative", "axis": {"title": words("axis_in_use"), "tickCount": 4, "minExtent": 46}}
    used: Spec = {
        "data": {"values": hours.used},
        "mark": {"type": "rect"},
        "encoding": {
            "x": x | {"field": "at", "axis": x["axis"] | {"labels": False, "title": None}},
            "x2": {"field": "end"},
            "y": {"field": "floor"} | height,
            "y2": {"field": "top"},
            "color": {"field": "colour", "type": "nominal", "scale": None},
            "stroke": {"field": "colour", "type": "nominal", "scale": None},
        },
    }
    names = list(hours.workloads)
    need: Spec = {
        "data": {"values": hours.need},
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
        "encoding": {
            "x": x,
            "y": {
                "field": "share",
                "type": "quantitative",
                "scale": {"domain": [0, 1]},
                "axis": {"title": words("axis_need"), "format": ".0%", "values": [0, 0.5, 1], "minExtent": 46},
            },
            "detail": {"field": "day", "type": "nominal"},
            "color": {"field": "workload", "type": "nominal", "scale": {"domain": names, "range": _cycle(LINES, len(names))}},
            "strokeDash": {
                "field": "workload",
                "type": "nominal",
                "scale": {"domain": names, "range": _cycle(DASHES, len(names))},
            },
        },
    }
    heads = [{"at": 24 * number, "text": words(day)} for number, day in enumerate(hours.names)]
    head: Spec = {
        "data": {"values": heads},
        "layer": [
            {"mark": {"type": "rule", "color": GREY}, "encoding": {"x": {"field": "at", "type": "quantitative"}}},
            {
                "mark": {"type": "text", "align": "left", "dx": 5, "baseline": "bottom", "fontWeight": 600},
                "encoding": {"x": {"field": "at", "type": "quantitative"}, "y": {"value": -2}, "text": {"field": "text"}},
            },
        ],
    }
    top: Spec = {"width": width, "height": 150, "layer": [used, head]}
    both: Spec = {
        "vconcat": [top, {"width": width, "height": 90} | need] if hours.need else [top | {"layer": [_labelled(used, x), head]}]
    }
    return picture(
        wide, 0, both | {"spacing": 26, "padding": {"top": 12, "left": 4, "right": 12, "bottom": 4}, "config": _two_titles()}
    )


def _labelled(chart: Spec, x: Spec) -> Spec:
    return chart | {"encoding": chart["encoding"] | {"x": x}}


def _two_titles() -> Spec:
    whole = picture(True, 0, {"vconcat": []})["config"]  # noqa: FBT003 - page or phone
    return whole | {"axisY": whole["axisY"] | {"titleY": -20}}


def timeline(plan: Plan, words: Words, *, wide: bool) -> Spec:
    """Orders from the day they must be placed, over the wait, to the end of what they bring."""
    rows = series.timeline(plan, words)[:SHOWN_ROWS]
    order = [row["id"] for row in rows]
    y: Spec = {"field": "id", "type": "ordinal", "sort": order, "axis": None, "scale": {"paddingInner": 0.1}}
    layers = [
        _bar(rows, y, ("order_by", "arrives"), colour=None),
        _bar([row for row in rows if row["until"] > row["arrives"]], y, ("arrives", "until"), colour="colour"),
        {
            "data": {"values": rows},
            "mark": {"type": "tick", "thickness": 3, "size": 20, "yOffset": 10, "color": INK},
            "encoding": {"y": y, "x": {"field": "order_by", "type": "temporal"}},
        },
        _above(rows, y, wide=wide),
        {
            "data": {"values": [{"day": plan.as_of}]},
            "mark": {"type": "rule", "color": QUIET, "strokeDash": [3, 3]},
            "encoding": {"x": {"field": "day", "type": "temporal"}},
        },
    ]
    return picture(
        wide, _ROW * len(rows), {"layer": layers, "encoding": {"x": {"axis": _days(words, wide=wide), "type": "temporal"}}}
    )


def _days(words: Words, *, wide: bool) -> Spec:
    pattern = "%Y年%-m月" if words.lang == "zh" else "%Y-%m"
    return {
        "format": pattern,
        "tickCount": 8 if wide else 3,
        "title": words("axis_date"),
        "labelFlush": True,
        "labelOverlap": True,
    }


def _bar(rows: Sequence[Mapping[str, object]], y: Spec, ends: tuple[str, str], colour: str | None) -> Spec:
    mark: Spec = {"type": "bar", "height": 14, "yOffset": 10}
    if colour is None:
        mark |= {"color": "#ffffff", "stroke": INK, "strokeDash": [3, 2], "strokeWidth": 1}
    encoding: Spec = {"y": y, "x": {"field": ends[0], "type": "temporal"}, "x2": {"field": ends[1]}}
    if colour is not None:
        encoding["color"] = {"field": colour, "type": "nominal", "scale": None}
    return {"data": {"values": list(rows)}, "mark": mark, "encoding": encoding}


def _above(rows: Sequence[Mapping[str, object]], y: Spec, *, wide: bool) -> Spec:
    """Text above each bar, from the left edge."""
    return {
        "data": {"values": [dict(row) | {"text": _cut(str(row["text"]), wide=wide)} for row in rows]},
        "mark": {"type": "text", "align": "left", "baseline": "middle", "yOffset": -9, "fontSize": TEXT},
        "encoding": {"x": {"value": 2}, "y": y, "text": {"field": "text", "type": "nominal"}},
    }


def references(plan: Plan, words: Words, *, wide: bool) -> Spec:
    """Net present cost of the plan and of the plans beside it; the plan's interval as a whisker."""
    rows = series.references(plan, words)
    whisker = [row for row in rows if row["low"] is not None]
    return _ranked(rows, words("axis_npv"), wide=wide, whisker=whisker)


def tornado(plan: Plan, words: Words, *, wide: bool) -> Spec:
    """How far the total moves over the range of each assumption."""
    return _ranked(series.tornado(plan)[:SHOWN_ROWS], words("axis_swing"), wide=wide)


def _ranked(
    rows: Sequence[Mapping[str, object]], title: str, *, wide: bool, whisker: Sequence[Mapping[str, object]] = ()
) -> Spec:
    y: Spec = {"field": "id", "type": "ordinal", "sort": [row["id"] for row in rows], "axis": None}
    axis: Spec = {"title": title, "labelExpr": _SHORT, "tickCount": 6 if wide else 3}
    x: Spec = {"field": "value", "type": "quantitative", "axis": axis, "scale": {"zero": True}}
    bars: Spec = {
        "data": {"values": list(rows)},
        "mark": {"type": "bar", "height": 14, "yOffset": 10},
        "encoding": {"y": y, "x": x, "color": {"field": "colour", "type": "nominal", "scale": None}},
    }
    ends: Spec = {
        "data": {"values": list(whisker)},
        "mark": {"type": "rule", "yOffset": 10, "strokeWidth": 2, "color": INK},
        "encoding": {"y": y, "x": x | {"field": "low"}, "x2": {"field": "high"}},
    }
    return picture(wide, _ROW * len(rows), {"layer": [bars, *([ends] if whisker else []), _above(rows, y, wide=wide)]})


def costs(plan: Plan, words: Words, *, wide: bool) -> Spec:
    """Cash by calendar year, stacked by component, the total beside it."""
    rows, totals, components = series.costs(plan, words)
    years = [row["id"] for row in totals]
    y: Spec = {"field": "id", "type": "ordinal", "sort": years, "axis": None}
    x: Spec = {
        "field": "amount",
        "type": "quantitative",
        "axis": {"title": words("axis_cash"), "labelExpr": _SHORT, "tickCount": 6 if wide else 3},
    }
    bars: Spec = {
        "data": {"values": rows},
        "mark": {"type": "bar", "height": 16, "yOffset": 10, "stroke": "#ffffff", "strokeWidth": 0.5},
        "encoding": {
            "y": y,
            "x": x,
            "order": {"field": "order", "type": "quantitative"},
            "color": {
                "field": "component",
                "type": "nominal",
                "scale": {"domain": [name for name, _ in components], "range": [colour for _, colour in components]},
            },
        },
    }
    return picture(wide, _ROW * len(years), {"layer": [bars, _above(totals, y, wide=wide)]})


def _cycle(items: Sequence[object], count: int) -> list[object]:
    return [items[number % len(items)] for number in range(count)]


def _cut(text: str, *, wide: bool) -> str:
    """Text that fits the picture: a wide character counts twice."""
    room = 128 if wide else 44
    taken = 0
    for number, letter in enumerate(text):
        taken += 2 if ord(letter) > 0x2E80 else 1
        if taken > room:
            return text[: number - 1] + "…"
    return text
