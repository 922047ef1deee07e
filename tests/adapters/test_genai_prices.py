"""Hosted prices per token: names of hosts to catalogue models, dates, tiers, and what is left out."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from decimal import Decimal
from importlib.resources import files
from types import SimpleNamespace
from typing import Any, cast

import pytest
from genai_prices.data import providers
from genai_prices.types import (
    ClauseEquals,
    ConditionalPrice,
    ModelInfo,
    ModelPrice,
    Provider,
    StartDateConstraint,
    Tier,
    TieredPrices,
)

from flopwise.adapters.offers import genai_prices as source
from flopwise.adapters.offers.genai_prices import hosted_offers, list_day, resolve
from flopwise.catalog import Catalogue
from flopwise.catalog.models import read_models
from flopwise.domain.offer import Offer, OfferKind
from flopwise.ground import registry

MODELS = {model.id: model for model in read_models(files("flopwise") / "catalog" / "data" / "models")}
WORLD = cast("Catalogue", SimpleNamespace(models=MODELS))
NAMES = source._names(WORLD)


@pytest.fixture(scope="module")
def offers() -> tuple[Offer, ...]:
    return hosted_offers(WORLD)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("openai/gpt-oss-120b", "gpt-oss-120b"),
        ("openai.gpt-oss-120b-1:0", "gpt-oss-120b"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b"),
        ("meta-llama/Llama-3.3-70B-Instruct-Turbo", "llama-3.3-70b"),
        ("us.meta.llama3-3-70b-instruct-v1:0", "llama-3.3-70b"),
        ("accounts/fireworks/models/llama-v3p1-8b-instruct", "llama-3.1-8b"),
        ("llama-3.1-8b-instant", "llama-3.1-8b"),
        ("deepseek-v3p2", "deepseek-v3.2"),
        ("deepseek/deepseek-r1-0528", "deepseek-r1"),
        ("@cf/qwen/qwen3-30b-a3b-fp8", "qwen3-30b-a3b"),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b"),
        ("z-ai/glm-4.6", "glm-4.5"),
    ],
)
def test_spellings_of_hosts(name: str, model: str) -> None:
    found = resolve(name, NAMES)
    assert found is not None
    assert found[0] == model


@pytest.mark.parametrize(
    "name",
    ["gpt-5", "claude-opus-5", "llama-3.2-11b-vision-instruct", "deepseek-r1-distill-llama-70b", "qwen2.5-vl-72b-instruct", ""],
)
def test_other_models_are_not_taken_for_known_ones(name: str) -> None:
    assert resolve(name, NAMES) is None


def test_offers_are_whole(offers: tuple[Offer, ...]) -> None:
    assert len(offers) > 100
    assert len({offer.id for offer in offers}) == len(offers)
    for offer in offers:
        assert offer.kind is OfferKind.HOSTED
        assert offer.channel.startswith("hosted-")
        assert offer.tokens is not None
        assert offer.tokens.model in MODELS
        assert 0 < offer.tokens.input <= offer.tokens.output * 10
        # A price per million tokens: a mistake by 1000 or by 1e6 would fall outside.
        assert 0.001 < offer.tokens.output < 100
        assert offer.tokens.currency == "USD"
        assert offer.tokens.cached_input is None or offer.tokens.cached_input <= offer.tokens.input
        assert offer.source.startswith("genai-prices ")


def test_channel_of_the_design_exists(offers: tuple[Offer, ...]) -> None:
    """``hosted-openai`` sells the open models of its publisher."""
    models = {offer.tokens.model for offer in offers if offer.channel == "hosted-openai" and offer.tokens}
    assert {"gpt-oss-120b", "gpt-oss-20b"} <= models


def test_dates_are_of_the_list_and_not_of_the_clock(offers: tuple[Offer, ...]) -> None:
    day = list_day(providers)
    assert {offer.as_of for offer in offers} == {day.isoformat()}
    starts = [start for provider in providers for start in source._starts(provider)]
    # Announced prices lie after the day of the list.
    assert date(2026, 1, 1) < day <= max(starts)
    assert hosted_offers(WORLD) == offers


def price(**values: Any) -> ModelPrice:
    return ModelPrice(**{key: Decimal(value) if isinstance(value, str) else value for key, value in values.items()})


def provider(*models: ModelInfo, name: str = "p_q") -> Provider:
    return Provider(id=name, name="P", api_pattern="x", pricing_urls=["https://example.com/pricing"], models=list(models))


def model(name: str, prices: Any, **more: Any) -> ModelInfo:
    return ModelInfo(id=name, match=ClauseEquals(equals=name), prices=prices, **more)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(*entries: Provider) -> tuple[Offer, ...]:
        dated = [
            ConditionalPrice(prices=price(input_mtok="9", output_mtok="9")),
            ConditionalPrice(StartDateConstraint(date(2026, 5, 1)), prices=price(input_mtok="1", output_mtok="2")),
        ]
        robot = provider(model("llama-2-7b", dated), name="openrouter")
        monkeypatch.setattr("genai_prices.data.providers", [robot, *entries])
        return hosted_offers(WORLD)

    return run


def of(offers: tuple[Offer, ...], channel: str) -> list[Offer]:
    return [offer for offer in offers if offer.channel == channel]


def test_price_that_holds_on_the_day_of_the_list(small: Any) -> None:
    announced = [
        ConditionalPrice(prices=price(input_mtok="1", output_mtok="2", cache_read_mtok="0.1")),
        ConditionalPrice(StartDateConstraint(date(2027, 1, 1)), prices=price(input_mtok="5", output_mtok="6")),
    ]
    found = small(provider(model("qwen3-32b", announced)))
    (offer,) = of(found, "hosted-p-q")
    assert (offer.tokens.input, offer.tokens.output, offer.tokens.cached_input) == (1.0, 2.0, 0.1)
    assert offer.as_of == "2026-05-01"
    assert "https://example.com/pricing" in offer.source
    (robot,) = of(found, "hosted-openrouter")
    assert robot.tokens.input == 1.0


def test_missing_and_zero_prices_are_no_offers(small: Any) -> None:
    found = small(
        provider(
            model("qwen3-32b", price(input_mtok="0", output_mtok="0")),
            model("qwen3-8b", price(input_mtok="1")),
            model("qwen3-14b", price(output_mtok="1")),
            model("gpt-9", price(input_mtok="1", output_mtok="1")),
            model("qwen3-4b", price(input_mtok="1", output_mtok="1"), deprecated=True),
        )
    )
    assert of(found, "hosted-p-q") == []


def test_lowest_tier_counts_and_is_noted(small: Any) -> None:
    tiers = TieredPrices(base=Decimal("0.5"), tiers=[Tier(start=128000, price=Decimal(2))])
    (offer,) = of(small(provider(model("qwen3-32b", price(input_mtok=tiers, output_mtok="3")))), "hosted-p-q")
    assert offer.tokens.input == 0.5
    assert "more than 128000 tokens" in offer.note


def test_one_offer_per_provider_and_model_by_the_plainest_name(small: Any) -> None:
    entries = (
        model("meta-llama/Llama-3.3-70B-Instruct-Turbo", price(input_mtok="0.1", output_mtok="0.1")),
        model("llama-3.3-70b", price(input_mtok="1", output_mtok="1")),
        model("meta-llama/Llama-3.3-70B-Instruct", price(input_mtok="0.5", output_mtok="0.5")),
    )
    (offer,) = of(small(provider(*entries)), "hosted-p-q")
    assert (offer.note, offer.tokens.input) == ("llama-3.3-70b", 1.0)


def test_found_by_name_and_loaded_on_demand() -> None:
    assert "genai_prices" in registry.names("flopwise.adapters.offers", "offers")
    code = (
        "import sys; from flopwise.ground import registry;"
        "registry.load('flopwise.adapters.offers', 'offers', 'genai_prices'); sys.exit('genai_prices' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
