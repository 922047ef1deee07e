"""Render a plan in a format: one module of ``adapters.reports`` per format."""

from __future__ import annotations

from pathlib import Path

from flopwise.app.files import write_whole
from flopwise.domain.plan import Plan
from flopwise.ground import registry
from flopwise.ground.errors import PlanFileError, UnknownNameError

LANGUAGES = ("en", "zh")


def prepare() -> None:
    """Get ready to render while the plan is still being made: what draws pictures takes a second to start."""
    registry.load("flopwise.adapters.reports", "reports", "html").prepare()


def report(made: Plan, *, format: str, lang: str = "en", out: str | Path) -> Path:  # noqa: A002 - the word users know
    """Write one report.

    Args:
        made: the plan.
        format: ``html``, ``xlsx``, ``md``, ``json``, ``orders`` or ``bom`` (CSV).
        lang: ``en`` or ``zh``.
        out: the file to write, whole or not at all.

    Raises:
        UnknownNameError: an unknown format or language.
        PlanFileError: the file cannot be written.
    """
    if lang not in LANGUAGES:
        raise UnknownNameError("language", lang, LANGUAGES)
    module = registry.load("flopwise.adapters.reports", "reports", format)
    path = Path(out)
    content: bytes = module.render(made, lang=lang)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        msg = f"{path}: cannot be written: {error.strerror or error}"
        raise PlanFileError(msg, hint="name another file with -o") from error
    return path
