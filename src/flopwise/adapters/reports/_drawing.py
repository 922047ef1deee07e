"""Pictures from specifications, drawn by processes beside this one.

The library that draws holds a JavaScript engine: it is slow to start and ends the process that it runs in when
memory is short. Beside us it starts while the plan is solved, and a page without pictures is the worst that happens.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flopwise.adapters.reports._theme import Spec

#: Two processes draw a report in half the time; more would wait for cores.
_ARTISTS = 2
#: Seconds after which a process that draws is given up.
_PATIENCE = 120.0
_FILE = Path(__file__).with_name("_draw.py")
_ready: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """A picture to be drawn. ``name`` makes the ids inside unique on the page; ``label`` (escaped) is read aloud."""

    name: str
    spec: Spec
    label: str


def prepare() -> None:
    """Start the processes that draw, so that they are ready when pictures are wanted. Cheap; safe to call again."""
    while len(_ready) < _ARTISTS:
        try:
            _ready.append(_start())
        except OSError:
            return


def on_page(sketches: Sequence[Sketch]) -> list[str | None]:
    """Each sketch as an element of one page, drawn by ``draw``; ``None`` where it could not be drawn."""
    drawn = draw([sketch.spec for sketch in sketches])
    return [svg and _placed(svg, sketch) for svg, sketch in zip(drawn, sketches, strict=True)]


def draw(specs: Sequence[Spec]) -> list[str | None]:
    """SVG of each specification; ``None`` where it could not be drawn (no memory, no process, no library)."""
    artists = min(_ARTISTS, len(specs))
    drawn: list[str | None] = [None] * len(specs)
    shares = [range(number, len(specs), artists) for number in range(artists)]

    def work(share: range) -> None:
        for index, svg in zip(share, _drawn([specs[index] for index in share]), strict=True):
            drawn[index] = svg

    threads = [threading.Thread(target=work, args=(share,)) for share in shares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return drawn


def _drawn(specs: Sequence[Spec]) -> Sequence[str | None]:
    failed = [None] * len(specs)
    try:
        artist = _ready.pop() if _ready else _start()
    except OSError:
        return failed
    with artist:
        try:
            out, _ = artist.communicate(json.dumps(specs).encode(), timeout=_PATIENCE)
        except (OSError, subprocess.TimeoutExpired):
            artist.kill()
            return failed
    return json.loads(out) if artist.returncode == 0 else failed


def _start() -> subprocess.Popen[bytes]:
    # -P keeps this folder, whose json.py is not the library's, off the path.
    command = [sys.executable, "-P", str(_FILE)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # noqa: S603 - our own file


def _placed(svg: str, sketch: Sketch) -> str:
    found = re.sub(r"<[^>]*>", lambda element: _own(element[0], sketch.name), svg)
    return found.replace("<svg ", f'<svg role="img" aria-label="{sketch.label}" ', 1)


def _own(element: str, name: str) -> str:
    """One element with ids that no other picture of the page has, and without the drawing's own roles. Text is not touched."""
    found = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', element)
    found = re.sub(r"url\(['\"]?#([^)'\"]+)['\"]?\)", rf"url(#{name}-\1)", found)
    return re.sub(r' (?:aria-roledescription|aria-hidden|role|aria-label)="[^"]*"', "", found)
