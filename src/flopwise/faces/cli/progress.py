"""Progress of long work on standard error, only where somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

#: Stage in words, steps done, steps in all (0: not known).
Progress = Callable[[str, int, int], None]


@contextmanager
def progress() -> Generator[Progress | None]:
    """A function that shows a stage and its steps, or nothing when standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    # rich is imported for output only.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def show(stage: str, done: int = 0, total: int = 0) -> None:
            bar.update(task, description=stage, completed=done, total=total or None)

        yield show
