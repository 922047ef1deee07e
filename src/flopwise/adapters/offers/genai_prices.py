"""Hosted APIs per token, from the price list that the ``genai-prices`` package ships. No network, no update.

One offer per provider and catalogue model, channel ``hosted-<provider>``. Only models of the catalogue appear: what
cannot be served by oneself cannot be compared. A provider's name of a model is resolved through the catalogue's
aliases, after the spellings of the hosts are taken off (``us.meta.llama3-3-70b-instruct-v1:0`` is llama-3.3-70b).

Prices are those on the day of the list, in USD per million tokens. Of tiers by prompt length the lowest counts and the
note says so; batch and priority rates, and prices of 0 for trials, are left out. The package is loaded on the first
call: about 0.4 s of CPU once pydantic is there, most of it the list itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING

from flopwise.catalog import Catalogue
from flopwise.domain.offer import Offer, OfferKind, TokenPrice
from flopwise.domain.provenance import Confidence

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, Provider

CHANNEL = "hosted-"
#: Resells and routes the others. Its prices are read by a robot, day by day, while other start dates may be announcements.
_ROBOT = "openrouter"
#: What hosts write after the name of a model: tuned for chat, packed to a smaller precision, or served faster.
_SUFFIXES = ("-instruct", "-chat", "-hf", "-it", "-turbo", "-fp8", "-versatile", "-instant", "-maas", "-bf16")
_HOST_PREFIX = re.compile(r"^((us|eu|apac)\.)?(meta|mistral|deepseek|openai|qwen|google|nvidia|minimax|moonshotai|zai)\.")
_VERSION_SUFFIX = re.compile(r"-v\d+(:\d+)?$|-\d+:\d+$")
#: ``llama3-3-70b`` and ``llama-v3p3-70b`` are llama-3.3-70b.
_LLAMA = re.compile(r"^llama-?v?3[-p](\d)-")
_LATIN_POINT = re.compile(r"(?<=\d)p(?=\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """One price of a provider for one catalogue model. ``distance`` counts how much of the name had to be taken off."""

    model: str
    distance: int
    name: str
    tokens: TokenPrice
    note: str

    @property
    def rank(self) -> tuple[int, float, str]:
        """The plainest name first, then the cheaper, then by name."""
        return self.distance, self.tokens.input + self.tokens.output, self.name


def hosted_offers(catalogue: Catalogue) -> tuple[Offer, ...]:
    """Offers of hosted APIs for models of the catalogue, sorted by id.

    Args:
        catalogue: names and aliases of models.

    Returns:
        Offers of kind ``hosted``. ``as_of`` is the day of the list, whatever the clock says.

    Complexity: linear in the entries of the price list, some 2400.
    """
    # The list takes some tenths of a second to load, which only a plan with hosted channels should pay.
    import genai_prices  # noqa: PLC0415
    from genai_prices.data import providers  # noqa: PLC0415

    names = _names(catalogue)
    day = list_day(providers)
    offers: list[Offer] = []
    for provider in providers:
        best: dict[str, _Candidate] = {}
        for candidate in _candidates(provider, names, day):
            known = best.setdefault(candidate.model, candidate)
            if candidate.rank < known.rank:
                best[candidate.model] = candidate
        offers.extend(_offer(provider, candidate, day, genai_prices.__version__) for candidate in best.values())
    return tuple(sorted(offers, key=lambda offer: offer.id))


def list_day(providers: list[Provider]) -> date:
    """The day of the price list: the newest change that was observed, not announced."""
    starts = [start for provider in providers if provider.id == _ROBOT for start in _starts(provider)]
    starts = starts or [start for provider in providers for start in _starts(provider)]
    return max(starts)


def _starts(provider: Provider) -> Iterator[date]:
    for model in provider.models:
        for price in model.prices if isinstance(model.prices, list) else []:
            start = getattr(price.constraint, "start_date", None)
            if isinstance(start, date):
                yield start


def _names(catalogue: Catalogue) -> dict[str, str]:
    """Catalogue ids by every spelling: ids, aliases, and aliases without the publisher in front."""
    names: dict[str, str] = {}
    for model in catalogue.models.values():
        for name in (model.id, *model.aliases):
            spelled = _spelled(name)
            names.setdefault(spelled, model.id)
    # An id of one model wins over an alias of another.
    return names | {model: model for model in catalogue.models}


def _spelled(name: str) -> str:
    """The last part of a name in lower case, with hyphens only."""
    return re.sub(r"[\s_]+", "-", name.rsplit("/", maxsplit=1)[-1].lower())


def resolve(name: str, names: Mapping[str, str]) -> tuple[str, int] | None:
    """The catalogue model that a host's name stands for, and how many parts had to be taken off; or nothing.

    Args:
        name: as the host writes it, for example ``accounts/fireworks/models/llama-v3p1-8b-instruct``.
        names: catalogue ids by spelling.
    """
    text, distance = _spelled(name), 0
    if text in names:
        return names[text], 0 if text == names[text] else 1
    text = _VERSION_SUFFIX.sub("", _HOST_PREFIX.sub("", text))
    text = _LATIN_POINT.sub(".", _LLAMA.sub(r"llama-3.\1-", text).removeprefix("meta-"))
    while True:
        distance += 1
        for spelling in (text, f"meta-{text}"):
            if spelling in names:
                return names[spelling], distance
        suffix = next((suffix for suffix in _SUFFIXES if text.endswith(suffix)), None)
        if suffix is None:
            return None
        text = text.removesuffix(suffix)


def _candidates(provider: Provider, names: Mapping[str, str], day: date) -> Iterator[_Candidate]:
    for model in provider.models:
        found = resolve(model.id, names)
        if found is None or model.deprecated:
            continue
        tokens, note = _tokens(model, found[0], day)
        if tokens is not None:
            yield _Candidate(model=found[0], distance=found[1], name=model.id, tokens=tokens, note=note)


def _tokens(model: ModelInfo, catalogue_model: str, day: date) -> tuple[TokenPrice | None, str]:
    """Prices at noon (UTC) of the day of the list; nothing where a price is missing or 0."""
    price = model.get_prices(datetime.combine(day, time(12), tzinfo=UTC))
    read, written, cached = (_base(price, key) for key in ("input_mtok", "output_mtok", "cache_read_mtok"))
    if not read or not written:
        return None, ""
    tiered = [str(tier.start) for tier in getattr(getattr(price, "input_mtok", None), "tiers", [])]
    note = f"{model.id}" + (f"; dearer for prompts of more than {tiered[0]} tokens" if tiered else "")
    return TokenPrice(input=read, output=written, cached_input=cached, currency="USD", model=catalogue_model), note


def _base(price: ModelPrice, key: str) -> float | None:
    """One price per million tokens; of tiers the first."""
    value = getattr(price, key, None)
    value = getattr(value, "base", value)
    return None if value is None else float(value)


def _offer(provider: Provider, candidate: _Candidate, day: date, version: str) -> Offer:
    channel = CHANNEL + provider.id.replace("_", "-")
    page = provider.pricing_urls[0] if provider.pricing_urls else ""
    return Offer(
        id=f"{channel}/{candidate.model}",
        channel=channel,
        vendor=provider.name,
        kind=OfferKind.HOSTED,
        region="",
        as_of=day.isoformat(),
        source=f"genai-prices {version}" + (f", {page}" if page else ""),
        confidence=Confidence.MEDIUM,
        tokens=candidate.tokens,
        note=candidate.note,
    )
