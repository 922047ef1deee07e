"""The one theme of all pictures: hues that mean the same everywhere, text, and the way to SVG.

Hues are those of Okabe and Ito (2008), safe for colour-blind readers. Supply that is held as a base is cool, supply
that is paid by use is warm; operating costs are grey.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Spec = dict[str, Any]

#: Hue of each kind of supply, in the order in which it is stacked.
HUES: Mapping[str, str] = {
    "owned": "#0072b2",
    "purchased": "#56b4e9",
    "reserved": "#009e73",
    "on_demand": "#e69f00",
    "spot": "#d55e00",
    "hosted": "#cc79a7",
    "own_chip": "#7a7a00",
}
#: Kinds of contract and cost components that share the hue of a kind of supply.
_SAME: Mapping[str, str] = {
    "purchase": "purchased",
    "hardware": "purchased",
    "lease": "reserved",
    "capacity-block": "reserved",
    "commitment": "owned",
    "on-demand": "on_demand",
    "custom-silicon": "own_chip",
}
INK, QUIET, LINE, GREY = "#1f2933", "#52606d", "#d9dee4", "#9aa5b1"
#: Lines of workloads; dashes tell them apart where hues are not seen.
LINES = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (4, 2), (1, 3), (10, 4))
#: Total width of a picture in pixels, on a page and on a phone.
WIDE, NARROW = 980, 330
_FONT = "system-ui, -apple-system, Segoe UI, Roboto, Noto Sans CJK SC, PingFang SC, Microsoft YaHei, sans-serif"
#: Largest picture text and smallest, in pixels: the same on page and phone because pictures re-flow.
TEXT = 13


def hue(kind: str) -> str:
    """Colour of a kind of supply, contract or cost component; grey where it is none of them."""
    return HUES.get(_SAME.get(kind, kind), GREY)


def mix(colour: str, white: float) -> str:
    """A lighter shade: ``white`` is the share of white mixed in.

    >>> mix("#000000", 0.5)
    '#808080'
    """
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * white):02x}" for part in parts)


def picture(wide: bool, height: float, body: Spec) -> Spec:  # noqa: FBT001 - page or phone
    """A whole specification: body with size, theme and background."""
    size: Spec = {} if "vconcat" in body else {"width": WIDE if wide else NARROW, "height": height}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "background": "transparent",
        "padding": 4,
        **size,
        "autosize": {"type": "fit-x" if size else "pad", "contains": "padding"},
        "config": {
            "font": _FONT,
            "view": {"stroke": None},
            "axis": {
                "labelFontSize": TEXT,
                "titleFontSize": TEXT,
                "titleFontWeight": "normal",
                "labelColor": QUIET,
                "titleColor": QUIET,
                "gridColor": LINE,
                "domainColor": GREY,
                "tickColor": GREY,
            },
            "axisY": {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "start", "titleY": -14, "titleX": 0, "domain": False},
            "text": {"fontSize": TEXT, "color": INK},
            "title": {"fontSize": TEXT, "color": INK, "anchor": "start", "fontWeight": 600},
            "legend": {"disable": True},
        },
        **body,
    }
