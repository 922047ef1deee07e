"""Size, look up, and write a first scenario, on the shipped catalogue."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from adapters.scenario_world import shipped
from flopwise.app.catalog import KINDS, counts, coverage, entry, is_stale, listing, quote_template
from flopwise.app.day import checked_day
from flopwise.app.init import QUESTIONS, TIMEZONES, applies, with_defaults, write
from flopwise.app.size import Market, ServingQuestion, TrainingQuestion, cheapest_steady, platform_of, size_serving, size_training
from flopwise.catalog import load_catalogue
from flopwise.catalog.offers import read_offers
from flopwise.domain.workload import ServingWorkload, TrainingWorkload
from flopwise.ground.errors import FlopwiseError, ScenarioError, UnknownNameError
from flopwise.ground.units import DAY, HOUR, MEGA
from flopwise.perf.flops import training_flops

DAY_OF_TESTS = "2026-12-01"
TRAIN = TrainingQuestion(model="llama-3.1-8b", accelerator="h100-sxm", tokens=1e12, count=256)
SERVE = ServingQuestion(model="llama-3.3-70b", accelerator="h100-sxm", rate=40.0, input=1200, output=250)


def test_time_money_and_work_of_a_run_hang_together():
    found = size_training(TRAIN, as_of=DAY_OF_TESTS)
    assert found.fits
    row = found.training[0]
    assert row.mode.accelerators == 256
    assert row.time == pytest.approx(1e12 / (row.mode.rate * row.goodput))
    assert row.accelerator_hours == pytest.approx(256 * row.time / HOUR)
    price = next(price for price in found.prices if price.kind == "on-demand")
    assert row.cost == pytest.approx(row.accelerator_hours * price.usd_per_accelerator_hour)
    model = shipped().model("llama-3.1-8b")
    flops = float(training_flops(model, 8192.0))
    mfu = row.mode.rate * flops / (256 * shipped().accelerator("h100-sxm").peak["bf16"].value)
    assert mfu == pytest.approx(row.mode.detail["mfu_causal"], rel=1e-6)
    assert 0.2 < mfu < 0.6
    assert [item.time for item in found.training] == sorted(item.time for item in found.training)
    parts = [value for key, value in row.mode.detail.items() if key.startswith("memory.")]
    assert sum(parts) == pytest.approx(row.mode.memory, rel=1e-6)


def test_twice_the_tokens_are_twice_the_time():
    one, two = (size_training(replace(TRAIN, tokens=tokens), as_of=DAY_OF_TESTS).training[0] for tokens in (1e12, 2e12))
    assert two.time == pytest.approx(2 * one.time)
    assert two.cost == pytest.approx(2 * (one.cost or 0))


def test_without_a_count_the_smallest_gangs_in_time_are_shown():
    found = size_training(replace(TRAIN, count=None, within=30 * DAY), as_of=DAY_OF_TESTS)
    sizes = [row.mode.accelerators for row in found.training]
    assert sizes == sorted(sizes)
    assert all(row.in_time and row.time <= 30 * DAY for row in found.training)
    smaller = size_training(replace(TRAIN, count=sizes[0] // 2, within=30 * DAY), as_of=DAY_OF_TESTS)
    assert not smaller.fits
    assert not any(row.in_time for row in smaller.training)


def test_what_does_not_fit_says_what_would():
    found = size_training(
        TrainingQuestion(model="llama-3.1-70b", accelerator="h100-sxm", tokens=1e12, count=8), as_of=DAY_OF_TESTS
    )
    assert not found.fits
    assert found.training == ()
    refusal = found.refusals[0]
    assert refusal.constraint == "memory"
    assert refusal.shortfall > 0
    assert "at least" in refusal.remedy


def test_a_service_holds_its_rate_with_headroom():
    found = size_serving(SERVE, as_of=DAY_OF_TESTS)
    assert found.fits
    for row in found.serving:
        assert row.replicas * row.mode.rate >= 40 * 1.2 - 1e-9
        assert (row.replicas - 1) * row.mode.rate < 40 * 1.2
        assert row.accelerators == row.replicas * row.mode.accelerators
        assert row.mode.detail["ttft_p95"] <= 1.0 + 1e-9
        assert row.mode.detail["tpot_p95"] <= 0.05 + 1e-9
        assert row.cost_per_hour is not None
        assert row.cost_per_month == pytest.approx(row.cost_per_hour * 730)
        assert row.cost_per_million_output_tokens == pytest.approx(row.cost_per_hour / (40 * 250 * 3600) * MEGA)


def test_concurrency_stands_for_a_rate():
    found = size_serving(replace(SERVE, rate=None, concurrency=300), as_of=DAY_OF_TESTS)
    assert "Little" in found.question
    with pytest.raises(FlopwiseError, match="exactly one"):
        size_serving(replace(SERVE, concurrency=3), as_of=DAY_OF_TESTS)
    with pytest.raises(FlopwiseError, match="exactly one"):
        size_serving(replace(SERVE, rate=None), as_of=DAY_OF_TESTS)


def test_a_promise_nothing_keeps():
    found = size_serving(replace(SERVE, tpot=1e-5), as_of=DAY_OF_TESTS)
    assert not found.fits
    assert found.refusals[0].constraint == "latency"


def test_unknown_names_come_with_near_ones():
    with pytest.raises(UnknownNameError, match="h100-sxm"):
        size_training(replace(TRAIN, accelerator="h100-smx"))
    with pytest.raises(UnknownNameError, match=r"llama-3\.1-8b"):
        size_training(replace(TRAIN, model="lama-3.1-8b"))


def test_prices_are_per_accelerator_and_never_zero():
    for name in shipped().accelerators:
        for price in Market(accelerator=name, catalogue=shipped(), as_of=DAY_OF_TESTS).prices(1):
            assert 0.01 < price.usd_per_accelerator_hour < 200, price


def test_a_gang_is_not_priced_at_offers_without_a_cluster_network():
    market = Market(accelerator="h100-sxm", catalogue=shipped(), as_of=DAY_OF_TESTS)
    offers = {offer.id: offer for offer in shipped().offers}
    assert all(offers[price.offer].network_bandwidth > 0 for price in market.prices(512))
    one, many = market.prices(1)[0], market.prices(512)[0]
    assert one.usd_per_accelerator_hour <= many.usd_per_accelerator_hour


def test_every_accelerator_has_a_platform():
    for name in shipped().accelerators:
        assert platform_of(name, shipped()).accelerators >= 1


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_listed(kind):
    found = listing(kind, as_of=DAY_OF_TESTS)
    assert found.rows
    assert all(len(row) == len(found.columns) for row in found.rows)
    assert counts()[kind] > 0


def test_unknown_kind():
    with pytest.raises(UnknownNameError, match="did you mean 'models'"):
        listing("modles")


def test_entries_say_where_each_figure_is_from():
    found = entry("h100-sxm", as_of=DAY_OF_TESTS)
    assert found.kind == "accelerators"
    figures = {row.figure: row for row in found.facts}
    assert figures["peak.bf16"].value == pytest.approx(989e12, rel=0.01)
    assert all(row.source and row.as_of and row.confidence for row in found.facts)
    assert found.offers
    assert entry("H100 SXM").id == "h100-sxm"
    assert entry("llama-3.1-70b").kind == "models"
    assert entry("aws").kind == "offers"
    assert entry("price.stale_after").kind == "parameters"
    with pytest.raises(UnknownNameError, match="did you mean"):
        entry("h100-smx")


def test_coverage_counts_every_offer_once_and_marks_stale_ones():
    facts = shipped()
    assert sum(row.offers for row in coverage(facts, DAY_OF_TESTS)) == len(facts.offers)
    assert sum(row.stale for row in coverage(facts, DAY_OF_TESTS)) == sum(
        is_stale(offer, facts, DAY_OF_TESTS) for offer in facts.offers
    )
    assert all(row.stale == row.offers for row in coverage(facts, "2036-12-01"))


@pytest.mark.parametrize("text", ["2026-13-01", "yesterday", "", "2026"])
def test_days_that_are_none(text):
    with pytest.raises(FlopwiseError, match="not a day"):
        checked_day(text)


@pytest.mark.parametrize("work", ["training", "serving", "both"])
def test_a_first_scenario_loads(work, tmp_path):
    scenario = write(tmp_path / "s.yaml", {"work": work}, as_of=DAY_OF_TESTS)
    kinds = {type(item) for item in scenario.workloads}
    expected = {"training": {TrainingWorkload}, "serving": {ServingWorkload}, "both": {TrainingWorkload, ServingWorkload}}
    assert kinds == expected[work]
    assert "#" in (tmp_path / "s.yaml").read_text(encoding="utf-8")
    assert len(QUESTIONS) <= 8


def test_answers_arrive(tmp_path):
    answers = {"name": "mine", "traffic": "20k users", "owned": "8 dgx-h100", "region": "eu", "tokens": "2T", "within": "75 d"}
    scenario = write(tmp_path / "deep" / "s.yaml", answers, as_of=DAY_OF_TESTS)
    assert scenario.name == "mine"
    assert scenario.supply.owned[0].count == 8
    assert scenario.supply.region == "eu"
    serve = next(item for item in scenario.workloads if isinstance(item, ServingWorkload))
    assert serve.traffic.origin == "users"


def test_an_existing_file_is_not_replaced(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(FlopwiseError, match="exists already"):
        write(path, {})
    assert path.read_text(encoding="utf-8") == "precious"
    write(path, {}, force=True)
    assert path.read_text(encoding="utf-8") != "precious"


@pytest.mark.parametrize(
    "answers",
    [
        {"tokens": "2 Gb"},
        {"model": "lama"},
        {"name": "x: y"},
        {"region": "mars"},
        {"owned": "8 dgx-h1000"},
        {"traffic": "a lot"},
    ],
)
def test_wrong_answers_write_nothing(answers, tmp_path):
    with pytest.raises(ScenarioError, match="not written"):
        write(tmp_path / "s.yaml", answers)
    assert list(tmp_path.iterdir()) == []


def test_questions_follow_the_work():
    asked = [question.key for question in QUESTIONS if applies(question, {"work": "serving"})]
    assert "tokens" not in asked
    assert "traffic" in asked
    with pytest.raises(UnknownNameError, match="did you mean 'training'"):
        with_defaults({"work": "trainin"})


def test_a_model_from_a_file(tmp_path):
    config = {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
        "max_position_embeddings": 131072, "tie_word_embeddings": False, "hidden_act": "silu", "rms_norm_eps": 1e-5,
    }  # fmt: skip
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    own, named = (size_training(replace(TRAIN, model=name), as_of=DAY_OF_TESTS) for name in (str(path), "llama-3.1-8b"))
    assert own.training[0].mode.rate == pytest.approx(named.training[0].mode.rate)


def test_the_template_of_quotes_is_read_back():
    offers = read_offers(quote_template(), origin="template", user_quote=True, catalogue=load_catalogue())
    assert {offer.kind.value for offer in offers} == {"purchase", "reserved", "spot", "hosted"}


def test_init_takes_the_hours_of_the_region(tmp_path):
    known = set(load_catalogue().regions)
    assert set(TIMEZONES) == known
    made = write(tmp_path / "s.yaml", {"region": "de", "work": "serving"})
    (service,) = made.workloads
    assert service.traffic.timezone == "Europe/Berlin"


@pytest.mark.parametrize("text", ["8 dgx-h100", "8x dgx-h100", "8 x dgx-h100"])
def test_init_reads_owned_servers_as_people_write_them(tmp_path, text):
    (owned,) = write(tmp_path / "s.yaml", {"owned": text}).supply.owned
    assert (owned.server, owned.count) == ("dgx-h100", 8)


def test_init_refuses_owned_servers_that_are_not_told(tmp_path):
    with pytest.raises(FlopwiseError, match="does not say which servers"):
        write(tmp_path / "s.yaml", {"owned": "dgx-h100 8"})
    assert list(tmp_path.iterdir()) == []


def test_small_adapters_train_with_the_batch_of_a_plan():
    sized = size_training(TrainingQuestion(model="llama-3.1-8b", accelerator="h100-sxm", tokens=1e9, lora_rank=16))
    assert any("global batch 500 k tokens" in text for text in sized.assumptions)
    assert sized.prices
    row = sized.training[0]
    steady = cheapest_steady(sized.prices)
    assert row.cost == pytest.approx(row.accelerator_hours * steady.usd_per_accelerator_hour)


def test_serving_rows_stand_by_cost_and_say_who_sells_them():
    rows = size_serving(ServingQuestion(model="llama-3.1-8b", accelerator="h100-sxm", rate=2.0)).serving
    costs = [row.cost_per_month for row in rows]
    assert costs == sorted(costs)
    assert all(row.channel for row in rows)
