"""Draws pictures in a process of its own: a list of Vega-Lite specifications comes in, their SVG goes out, both as JSON.

Run as a file, without this package: the parent starts it early, because the library takes most of a second to get
ready, and two at once, because it draws on one core. It ends when its input ends.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import vl_convert

_SMALL = {"data": {"values": [{"x": "ready"}]}, "mark": "text", "encoding": {"text": {"field": "x"}}}


def main() -> None:
    """Get ready, read all of the input, answer once."""
    _svg(_SMALL)
    specs = json.loads(sys.stdin.buffer.read() or b"[]")
    sys.stdout.buffer.write(json.dumps([_svg(spec) for spec in specs]).encode())


def _svg(spec: Any) -> str:  # noqa: ANN401 - JSON
    # No base address is allowed and no data is named by address: a picture loads nothing.
    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


if __name__ == "__main__":
    main()
