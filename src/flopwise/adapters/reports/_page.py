"""What all sections of the page share: links to figures, pictures in two widths, legends, marks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flopwise.adapters.reports._drawing import Sketch, on_page
from flopwise.adapters.reports._markup import Markup, anchor, esc, join, tag
from flopwise.adapters.reports._phrases import phrase
from flopwise.adapters.reports._theme import Spec
from flopwise.adapters.reports._words import Words
from flopwise.domain.plan import Plan, PlanAssumption
from flopwise.domain.provenance import Figure
from flopwise.ground.units import show

Draw = Callable[..., Spec]


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of a legend: colour, text, and how it is drawn (``box``, ``line``, ``dash`` or ``open``)."""

    colour: str
    text: str
    form: str = "box"


@dataclass(slots=True)
class Page:
    """A plan in one language, being written."""

    plan: Plan
    words: Words
    sketches: list[Sketch] = field(default_factory=list[Sketch])

    def figure(self, name: str) -> Figure | None:
        """A figure by id."""
        return self.plan.figures.get(name)

    def link(self, name: str, text: object) -> Markup:
        """Text that leads to its figure; plain text where the plan has no such figure."""
        return tag("a", text, href=f"#{anchor(name)}") if name in self.plan.figures else esc(text)

    def shown(self, name: str) -> Markup:
        """A figure's value, linked; says so when the plan does not have it."""
        found = self.figure(name)
        return esc(self.words("not_known")) if found is None else self.link(name, value(found.value, found.unit))

    def interval(self, name: str) -> str:
        """A figure's 80 % interval in words; empty when there is none or it is a point."""
        found = self.figure(name)
        if found is None or found.interval[0] == found.interval[1]:
            return ""
        return self.words.interval(*(value(end, found.unit) for end in found.interval))

    def picture(self, draw: Draw, caption: str, keys: Sequence[Key] = (), *, table: Markup | None = None) -> Markup:
        """A picture in two widths, one of which the style sheet shows, with its caption, legend and rows as a table."""
        number = len(self.sketches)
        sizes: list[Markup] = []
        for name, wide in (("wide", True), ("narrow", False)):
            sketch = Sketch(name=f"{name}{number}", spec=draw(self.plan, self.words, wide=wide), label=esc(caption))
            self.sketches.append(sketch)
            sizes.append(tag("div", _place(sketch), class_=name))
        legend = tag("ul", *(tag("li", swatch(key), key.text) for key in keys), class_="keys") if keys else ""
        return tag("figure", tag("figcaption", caption), tag("div", legend, *sizes, class_="picture"), table or "")

    def drawn(self, markup: str) -> str:
        """The markup with all pictures in their places, drawn at once."""
        missing = esc(self.words("not_drawn"))
        for sketch, svg in zip(self.sketches, on_page(self.sketches), strict=True):
            markup = markup.replace(_place(sketch), svg or missing, 1)
        return markup


def _place(sketch: Sketch) -> Markup:
    """Where a picture will stand. No text of a plan can look like it, because text is escaped."""
    return Markup(f'<svg id="{sketch.name}"></svg>')


def swatch(key: Key) -> Markup:
    """The sample of colour of a legend's entry."""
    border = "1px dashed #1f2933" if key.form == "open" else f"3px {'dashed' if key.form == 'dash' else 'solid'} {key.colour}"
    style = (
        f"background:{key.colour}"
        if key.form == "box"
        else f"border:{border}"
        if key.form == "open"
        else f"border-top:{border};height:0"
    )
    return tag("i", style=style)


def value(number: float, unit: str) -> str:
    """A figure for readers; a factor above one is no share."""
    return f"{number:.3g}" if unit == "" else show(number, unit)


def money(amount: float | None) -> str:
    """An amount in a column whose head names the currency."""
    return "–" if amount is None else show(amount, "")


def paid_and_credited(cash: Mapping[str, float], npv: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """Components that are paid, dearest first, and those that come back, such as residual value."""
    paid = sorted((name for name in npv if cash[name] >= 0), key=lambda name: -npv[name])
    return paid, [name for name in npv if cash[name] < 0]


def weight(row: PlanAssumption, words: Words) -> str:
    """How much an assumption weighs: what it breaks, or how far it moves the total."""
    if row.breaks:
        return words("breaks_at", at=phrase(row.breaks, words))
    return words("not_varied") if row.swing is None else money(abs(row.swing))


def section(words: Words, name: str, *parts: object, breaks: bool = False) -> Markup:
    """A section with its head; ``breaks`` begins a new sheet in print."""
    return tag("section", tag("h2", words(name)), *parts, id=name.replace("_", "-"), class_="page" if breaks else None)


def mark(text: str, *, warn: bool = False) -> Markup:
    """A quiet mark beside a value."""
    return tag("span", text, class_="mark warn" if warn else "mark")


def stale(words: Words, *, is_stale: bool) -> Markup:
    """The mark of an old price."""
    return join((" ", mark(words("stale"), warn=True))) if is_stale else Markup("")


def meter(shares: Iterable[tuple[str, float, bool]], note: Callable[[float, bool], object]) -> Markup:
    """Bars from zero to one: name, share, and whether it is the marked one."""
    rows: list[Markup] = []
    for name, share, marked in shares:
        width = f"width:{100 * min(max(share, 0.0), 1.0):.1f}%"
        rows += [
            tag("span", name),
            tag("span", tag("i", style=width), class_="bar binds" if marked else "bar"),
            tag("span", note(share, marked), class_="n"),
        ]
    return tag("div", *rows, class_="bars")
