"""From a file to a scenario: arithmetic that is printed, names, defaults that are noted, and problems with their lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.scenario_world import SMALL, bent, line_of, load_text, problems, shipped
from flopwise.adapters.scenario.schema import UsersPart
from flopwise.adapters.scenario.traffic import users_rate
from flopwise.domain.workload import ExperimentWorkload, ServingWorkload, TrainingWorkload
from flopwise.ground.units import DAY, GIBI, HOUR, KILO, parse
from flopwise.planning.demand.blocks import hourly_shape

TRAFFIC = "traffic: {peak: 5 req/s, profile: office-hours, timezone: UTC, growth: 3 %/month}"


BARE = """\
flopwise: 1
name: bare
horizon: {start: 2027-01, months: 6}
workloads:
  - {name: t, kind: training, model: llama-3.1-8b, tokens: 1B}
  - {name: s, kind: serving, model: llama-3.1-8b, traffic: {peak: 1 req/s}, lengths: {input: 500, output: 100}}
"""


def chat(text, folder):
    found = next(item for item in load_text(text, folder).workloads if isinstance(item, ServingWorkload))
    assert isinstance(found, ServingWorkload)
    return found


def assumed(scenario):
    return {item.path: item for item in scenario.assumptions}


def test_what_is_stated_arrives_in_base_units(tmp_path):
    scenario = load_text(SMALL, tmp_path)
    train, serve = scenario.workloads
    assert isinstance(train, TrainingWorkload)
    assert isinstance(serve, ServingWorkload)
    assert train.tokens == 200e9
    assert train.window is not None
    assert train.window.finish_within == 60 * DAY
    assert serve.slo.tpot_p95 == pytest.approx(0.05)
    site = scenario.supply.sites[0]
    assert site.electricity.value == pytest.approx(0.08 / 3.6e6)
    assert site.colocation.value == pytest.approx(0.18)
    assert site.power == 1e6
    assert scenario.supply.owned[0].server == "dgx-h100"
    assert scenario.headroom == pytest.approx(0.2)


def test_users_become_a_rate_through_share_requests_and_peak_factor(tmp_path):
    users = "traffic: {users: {count: 20k, active_share: 8%, requests_per_hour: 12, peak_factor: 2.5}}"
    traffic = chat(bent(TRAFFIC, users), tmp_path).traffic
    typical = 20_000 * 0.08 * 12 / 3600
    assert traffic.peak == pytest.approx(typical * 2.5)
    assert traffic.origin == "users"
    for part in ("20 k users", "8 % active", "12 requests/h", "5.33 req/s", "x 2.5", "13.3 req/s", "in flight"):
        assert part in traffic.derivation


def test_a_missing_peak_factor_is_noted(tmp_path):
    users = "traffic: {users: {count: 20k, active_share: 8%, requests_per_hour: 12}}"
    scenario = load_text(bent(TRAFFIC, users), tmp_path)
    assert "workloads.chat.traffic.users.peak_factor" in assumed(scenario)


def test_the_peak_factor_moves_the_peak_and_not_the_volume(tmp_path):
    """A year of 20,000 users is the same work whether they come at once or spread out."""
    means = {}
    for factor in (1.5, 2.5, 6.0):
        users = f"traffic: {{users: {{count: 20k, active_share: 8%, requests_per_hour: 12, peak_factor: {factor}}}}}"
        traffic = chat(bent(TRAFFIC, users), tmp_path).traffic
        shape = hourly_shape(traffic.profile, traffic.timezone, "2026-12-01", traffic.mean_share)
        assert shape.max() == pytest.approx(1.0)
        means[factor] = traffic.peak * (5 * shape[0].mean() + 2 * shape[1].mean()) / 7
    assert list(means.values()) == pytest.approx([20_000 * 0.08 * 12 / 3600] * 3, rel=1e-6)


def test_counted_users_without_a_profile_do_not_peak_all_day(tmp_path):
    users = "traffic: {users: {count: 20k, active_share: 8%, requests_per_hour: 12}}"
    scenario = load_text(bent(TRAFFIC, users), tmp_path)
    assert "workloads.chat.traffic.profile" in assumed(scenario)
    assert chat(bent(TRAFFIC, users), tmp_path).traffic.profile == "office-hours"


def test_users_of_a_flat_day_have_no_busiest_hour(tmp_path):
    users = "traffic: {users: {count: 20k, active_share: 8%, requests_per_hour: 12}, profile: flat}"
    assert chat(bent(TRAFFIC, users), tmp_path).traffic.peak == pytest.approx(20_000 * 0.08 * 12 / 3600)


def test_rates_of_exchange_in_use_are_noted(tmp_path):
    noted = assumed(load_text(bent("0.08 USD/kWh", "0.08 EUR/kWh"), tmp_path))
    assert "European Central Bank" in noted["exchange_rates.EUR"].source
    assert "exchange_rates.CNY" not in noted


def test_a_short_run_takes_a_smaller_step(tmp_path):
    text = BARE.replace("tokens: 1B", "tokens: 30k")
    train = next(item for item in load_text(text, tmp_path).workloads if isinstance(item, TrainingWorkload))
    assert train.global_batch == 30e3


def test_concurrency_becomes_a_rate_by_littles_law(tmp_path):
    scenario = load_text(bent(TRAFFIC, "traffic: {concurrency: 300, profile: flat}"), tmp_path)
    traffic = next(item for item in scenario.workloads if isinstance(item, ServingWorkload)).traffic
    assert traffic.peak == pytest.approx(300 / (1.0 + 199 * 0.05))
    assert "Little" in traffic.derivation
    assert "Little" in assumed(scenario)["workloads.chat.traffic.concurrency"].value


@given(count=st.floats(1, 1e9), share=st.floats(0.001, 1.0), hourly=st.floats(0.01, 1e3), factor=st.floats(1.0, 10.0))
def test_twice_the_users_are_twice_the_rate(count, share, hourly, factor):
    one = UsersPart(count=count, active_share=share, requests_per_hour=hourly)
    two = UsersPart(count=2 * count, active_share=share, requests_per_hour=hourly)
    assert users_rate(two, factor)[0] == pytest.approx(2 * users_rate(one, factor)[0])


def test_trace_gives_peak_and_lengths(tmp_path):
    rows = "\n".join(f"{second},{100 + second % 3},{20}" for second in range(3600))
    (tmp_path / "requests.csv").write_text("time,input_tokens,output_tokens\n" + rows + "\n", encoding="utf-8")
    text = bent(TRAFFIC, "traffic: {trace: requests.csv}").replace(
        "    lengths: {input: {mean: 1000, p95: 3000}, output: {mean: 200, p95: 600}}\n", ""
    )
    found = chat(text, tmp_path)
    assert found.traffic.peak == pytest.approx(1.0, rel=0.01)
    assert found.input.mean == pytest.approx(101.0)
    assert found.traffic.origin == "trace"
    assert "requests.csv" in found.traffic.derivation


def test_730_dollars_a_month_is_one_dollar_an_hour(tmp_path):
    """A custom monthly price of 730 is 1.0 an hour, of 1460 is 2.0: not divided by anything else."""
    for monthly, hourly in ((730, 1.0), (1460, 2.0), (2190, 3.0)):
        quote = (
            f"{{name: q, kind: on-demand, accelerator: h100-sxm, accelerators: 1, price: {monthly} USD/month, as_of: 2026-11-01}}"
        )
        scenario = load_text(bent("channels: [oem, aws]", f"channels: [oem, {quote}]"), tmp_path)
        price = scenario.supply.inline_offers[0].price
        assert price is not None
        assert price.amount == pytest.approx(hourly)
        assert price.per == "server-hour"


def test_a_price_per_gpu_counts_every_gpu(tmp_path):
    """Eight accelerators at 1.28 each cost 10.24 an hour: the price shown is the price paid."""
    quote = "{name: q, kind: spot, accelerator: h100-sxm, accelerators: 8, price: 1.28 USD/GPU/h, as_of: 2026-11-01}"
    scenario = load_text(bent("channels: [oem, aws]", f"channels: [oem, {quote}]"), tmp_path)
    price = scenario.supply.inline_offers[0].price
    assert price is not None
    assert price.amount == pytest.approx(10.24)


def test_a_missing_price_is_never_zero(tmp_path):
    for price in ("", "price: 0 USD/h, "):
        quote = f"{{name: q, kind: on-demand, accelerator: h100-sxm, accelerators: 8, {price}as_of: 2026-11-01}}"
        error = problems(bent("channels: [oem, aws]", f"channels: [{quote}]"), tmp_path)
        assert "never taken as 0" in str(error)


def test_commitments_by_month_and_by_hour_are_the_same(tmp_path):
    for amount in ("87600 USD/month", "120 USD/h"):
        text = bent(
            "  channels:", f"  commitments: [{{channel: aws, kind: savings-plan, amount: {amount}, until: 2027-11}}]\n  channels:"
        )
        assert load_text(text, tmp_path).supply.commitments[0].amount == pytest.approx(120.0)


def test_money_is_converted_by_dated_rates(tmp_path):
    text = bent("electricity: 0.08 USD/kWh", "electricity: 0.64 CNY/kWh")
    value = load_text(text, tmp_path).supply.sites[0].electricity.value
    assert value == pytest.approx(0.64 * shipped().exchange_rates["CNY"].usd / (KILO * HOUR))


def test_every_default_is_noted_with_a_source(tmp_path):
    scenario = load_text(BARE, tmp_path, as_of="2026-12-01")
    found = assumed(scenario)
    for path in (
        "headroom", "currency", "workloads.t.sequence", "workloads.t.global_batch", "workloads.t.precision", "workloads.t.window",
        "workloads.s.precision", "workloads.s.kv_precision", "workloads.s.engine", "workloads.s.slo.ttft_p95",
        "workloads.s.slo.tpot_p95", "workloads.s.lengths.input.p95", "workloads.s.traffic.profile", "workloads.s.traffic.growth",
        "workloads.s.prefix_cache_hit", "workloads.s.zones", "supply.region", "supply.sites", "supply.channels", "finance.wacc",
        "finance.depreciation", "finance.tax", "finance.support_rate", "finance.staff_cost", "finance.accelerators_per_engineer",
        "risk.max_share", "risk.min_channels",
    ):  # fmt: skip
        assert path in found, path
        assert found[path].source
        assert found[path].reason
    assert len(found) == len(scenario.assumptions)
    assert scenario.finance.residual


def test_the_cache_precision_is_not_that_of_the_weights(tmp_path):
    assert chat(SMALL, tmp_path).kv_precision == "bf16"
    assert chat(SMALL, tmp_path).precision == "fp8"


def test_every_problem_at_once_each_with_its_line(tmp_path):
    text = (
        SMALL.replace("headroom: 20%", "headrom: 20%")
        .replace("model: llama-3.1-8b", "model: lama-3.1-8b", 1)
        .replace("tokens: 200B", "tokens: 200 Gb")
        .replace("profile: office-hours", "profile: office-hrs")
        .replace("server: dgx-h100", "server: dgx-h10")
        .replace("site: here", "site: her")
        .replace("channels: [oem, aws]", "channels: [oem, awz]")
        .replace("region: us", "region: uss")
    )
    found = problems(text, tmp_path)
    by_path = {problem.path: problem for problem in found.problems}
    expected = {
        "headrom": ("headrom:", "headroom"),
        "workloads[0].model": ("lama-3.1-8b", "llama-3.1-8b"),
        "workloads[0].tokens": ("200 Gb", "bits or bytes"),
        "workloads[1].traffic.profile": ("office-hrs", "office-hours"),
        "supply.owned[0].server": ("dgx-h10", "dgx-h100"),
        "supply.owned[0].site": ("site: her", "here"),
        "supply.channels[1]": ("awz", "aws"),
        "supply.region": ("region: uss", "us"),
    }
    assert set(expected) <= set(by_path)
    for path, (part, said) in expected.items():
        assert by_path[path].line == line_of(text, part), path
        assert said in str(by_path[path])
    assert found.problems == tuple(sorted(found.problems, key=lambda problem: (problem.line or 0, problem.path)))


@pytest.mark.parametrize(
    ("old", "new", "path", "said"),
    [
        ("flopwise: 1", "flopwise: 2", "flopwise", "expected 1"),
        ("flopwise: 1", "flopwise: true", "flopwise", "expected 1"),
        ("months: 12", "months: 0", "horizon.months", "out of range"),
        ("months: 12", "months: 12.5", "horizon.months", "whole number"),
        ("months: 12", "months: 1e3", "horizon.months", "whole number"),
        ("start: 2027-01,", "start: 2027-13,", "horizon.start", "not a month"),
        ("headroom: 20%", "headroom: .nan", "headroom", "not a number|finite"),
        ("headroom: 20%", "headroom: .inf", "headroom", "not a number|finite|out of range"),
        ("headroom: 20%", "headroom: -5%", "headroom", "out of range"),
        ("headroom: 20%", "headroom: true", "headroom", "not a quantity"),
        ("headroom: 20%", "headroom: [20%]", "headroom", "not a quantity"),
        ("tokens: 200B", "tokens: 1e999", "workloads[0].tokens", "finite"),
        ("tokens: 200B", "tokens: -1", "workloads[0].tokens", "out of range"),
        ("tokens: 200B", "tokens: 0", "workloads[0].tokens", "out of range"),
        ("tokens: 200B", "tokens: many", "workloads[0].tokens", "not a number"),
        ("tokens: 200B", "tokens: 200 GB", "workloads[0].tokens", "not a unit"),
        ("finish_within: 60 d", "finish_within: 60", "workloads[0].window.finish_within", "unit is missing"),
        ("power: 1 MW", "power: 1 MWh", "supply.sites[0].power", "not a unit"),
        ("pue: 1.3", "pue: 0.9", "supply.sites[0].pue", "at least 1"),
        ("0.08 USD/kWh", "0.08 USD", "supply.sites[0].electricity", "per-what"),
        ("0.08 USD/kWh", "0.08 XXX/kWh", "supply.sites[0].electricity", "XXX"),
        ("count: 1,", "count: yes,", "supply.owned[0].count", "whole number"),
        ("kind: training", "kind: rl", "workloads[0]", "not planned by this version"),
        ("kind: training", "kind: trainig", "workloads[0]", "training"),
        ("name: chat", "name: train", "workloads[1].name", "given twice"),
        ("timezone: UTC", "timezone: Mars/Olympus", "workloads[1].traffic.timezone", "IANA"),
        ("peak: 5 req/s,", "peak: 5 req/s, concurrency: 3,", "workloads[1].traffic", "exactly one of"),
        ("peak: 5 req/s, ", "", "workloads[1].traffic", "no amount of traffic"),
        ("p95: 3000", "p95: 30", "workloads[1].lengths.input", "below the mean"),
        ("tokens: 200B", "tokens: 300", "workloads[0].tokens", "less than one sequence"),
        ("tokens: 200B", "tokens: 200B\n    global_batch: 300B", "workloads[0].global_batch", "more than the"),
        ("tokens: 200B", "tokens: 200B\n    global_batch: 10", "workloads[0].global_batch", "less than one sequence"),
        (
            TRAFFIC,
            "traffic: {users: {count: 20k, active_share: 8%, requests_per_hour: 12, peak_factor: 90}, profile: consumer}",
            "workloads[1].traffic.users.peak_factor",
            "at most",
        ),
        (
            TRAFFIC,
            "traffic: {users: {count: 20k, active_share: 8%, requests_per_hour: 12, peak_factor: 2}, profile: flat}",
            "workloads[1].traffic.users.peak_factor",
            "at most 1,",
        ),
        (
            TRAFFIC,
            "traffic: {users: {count: 20k, active_share: 8%, requests_per_hour: 12, peak_factor: 0.5}}",
            "workloads[1].traffic.users.peak_factor",
            "at least 1",
        ),
        ("workloads:", "currency: EUR\nworkloads:", "currency", "expected USD"),
        ("workloads:", "calibration: [x]\nworkloads:", "calibration", "not read yet"),
    ],
)
def test_one_wrong_value(old, new, path, said, tmp_path):
    text = bent(old, new)
    found = problems(text, tmp_path)
    mine = [problem for problem in found.problems if problem.path == path]
    assert mine, str(found)
    assert any(part in str(mine[0]) for part in said.split("|")), str(mine[0])
    assert mine[0].line is not None


def test_units_are_strict():
    assert parse("80 GB", "B") == 80e9
    assert parse("80 GiB", "B") == 80 * GIBI


def test_warnings_do_not_stop(tmp_path):
    keys = "precision: fp8\n    launch: {date: 2031-01, probability: 60%}\n    quality: {max_drop: 1 %}\n    engine: sglang"
    text = SMALL.replace("    precision: fp8", f"    {keys}") + "risk: {scenarios: 24}\n"
    text = text.replace("    window:", "    checkpoint: {storage: shared}\n    window:")
    said = " ".join(load_text(text, tmp_path).warnings)
    assert "engine sglang is planned at the rates of vllm" in said
    assert "risk.scenarios is noted" in said
    assert "checkpoint.storage" in said
    assert "after the horizon" in said
    assert "quality" in said


def test_an_impossible_deadline_is_no_problem_of_the_file(tmp_path):
    assert load_text(bent("finish_within: 60 d", "finish_within: 1 s"), tmp_path)


def test_digest_ignores_comments_order_and_spelling(tmp_path):
    digest = load_text(SMALL, tmp_path).digest
    assert load_text("# hello\n" + SMALL.replace("headroom: 20%", "headroom: 0.2  # a fifth"), tmp_path).digest == digest
    assert load_text(SMALL.replace("60 d", "60 days"), tmp_path).digest == digest
    assert load_text(SMALL.replace("[oem, aws]", "[aws, oem]"), tmp_path).digest == digest
    swapped = SMALL.replace("name: small\n", "").replace("headroom: 20%\n", "headroom: 20%\nname: small\n")
    assert load_text(swapped, tmp_path).digest == digest
    assert load_text(SMALL.replace("60 d", "61 d"), tmp_path).digest != digest


def test_digest_sees_inside_the_trace(tmp_path):
    text = bent(TRAFFIC, "traffic: {trace: requests.csv}")
    digests = set()
    for tokens in (10, 20):
        rows = "\n".join(f"{second},100,{tokens}" for second in range(600))
        (tmp_path / "requests.csv").write_text("time,input_tokens,output_tokens\n" + rows, encoding="utf-8")
        digests.add(load_text(text, tmp_path).digest)
    assert len(digests) == 2


def test_mix_tells_the_serving_side(tmp_path):
    text = "mix: {training: 70 %, serving: 30 %}\n" + bent("peak: 5 req/s, ", "")
    found = chat(text, tmp_path)
    assert found.traffic.origin == "mix"
    assert found.traffic.peak > 0
    richer = chat(text.replace("training: 70 %, serving: 30 %", "training: 40 %, serving: 60 %"), tmp_path)
    assert richer.traffic.peak / found.traffic.peak == pytest.approx((60 / 40) / (30 / 70))


def test_mix_tells_the_training_side(tmp_path):
    text = "mix: {training: 70 %, serving: 30 %}\n" + bent("    tokens: 200B\n", "")
    train = load_text(text, tmp_path).workloads[0]
    assert isinstance(train, TrainingWorkload)
    assert train.tokens > 0


def test_mix_of_two_unknowns_is_refused(tmp_path):
    text = "mix: {training: 70 %, serving: 30 %}\n" + bent("peak: 5 req/s, ", "").replace("    tokens: 200B\n", "")
    assert "cannot tell" in str(problems(text, tmp_path))


def test_mix_must_be_whole(tmp_path):
    assert "100 %" in str(problems("mix: {training: 70 %, serving: 20 %}\n" + SMALL, tmp_path))


def test_inline_model_and_its_contradictions(tmp_path):
    inline = "model: {name: mine, layers: 24, hidden: 2048, heads: 16, kv_heads: 4, ffn: 8192, vocab: 32000, max_position: 4096}"
    text = bent("model: llama-3.1-8b", inline)
    train = load_text(text, tmp_path).workloads[0]
    assert isinstance(train, TrainingWorkload)
    assert train.model.head_dim == 128
    assert train.sequence == 4096
    assert "evenly" in str(problems(text.replace("kv_heads: 4", "kv_heads: 5"), tmp_path))


def test_model_from_a_file_relative_to_the_scenario(tmp_path):
    config = {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
        "max_position_embeddings": 8192, "tie_word_embeddings": False, "hidden_act": "silu", "rms_norm_eps": 1e-5,
    }  # fmt: skip
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    train = load_text(bent("model: llama-3.1-8b", "model: mine/config.json"), tmp_path).workloads[0]
    assert isinstance(train, TrainingWorkload)
    assert train.model.layers == 32
    missing = problems(bent("model: llama-3.1-8b", "model: other/config.json"), tmp_path)
    assert missing.problems[0].path == "workloads[0].model"


def test_recurring_fine_tuning(tmp_path):
    text = SMALL.replace("kind: training", "kind: fine-tune").replace(
        "window: {start: 2027-03, finish_within: 60 d}", "every: 1 week"
    )
    scenario = load_text(text, tmp_path)
    train = scenario.workloads[0]
    assert isinstance(train, TrainingWorkload)
    assert train.repeat_every == 7 * DAY == train.finish_within
    assert "workloads.train.finish_within" in assumed(scenario)


def test_experiments(tmp_path):
    text = bent("supply:", "  - {name: research, kind: experiment, share_of_training: 15%}\nsupply:")
    assert isinstance(load_text(text, tmp_path).workloads[2], ExperimentWorkload)


def test_quotes_inside_the_file(tmp_path):
    quote = "{name: oem-b, kind: purchase, server: dgx-h200, price: 310k USD, lead_time: {p50: 12 weeks}, as_of: 2026-11-20}"
    scenario = load_text(bent("[oem, aws]", f"[oem, {quote}]"), tmp_path)
    offer = scenario.supply.inline_offers[0]
    assert scenario.supply.channels == ("oem",)
    assert offer.channel == "oem-b"
    assert offer.accelerators == 8
    assert offer.user_quote
    assert offer.lead_time is not None
    assert offer.lead_time.p90_weeks == pytest.approx(24)
    for wrong in ("price: 310k USD/h", "price: 310k"):
        assert problems(bent("[oem, aws]", f"[oem, {quote.replace('price: 310k USD', wrong)}]"), tmp_path)


def test_hosted_channels_are_asked_for_only_when_named(tmp_path):
    text = bent("[oem, aws]", "[oem, hosted-x]")
    assert load_text(text, tmp_path, hosted=("hosted-x",)).supply.channels == ("oem", "hosted-x")
    assert "hosted-x" in str(problems(text, tmp_path))


def test_as_of_by_flag_file_and_clock(tmp_path):
    assert load_text(SMALL, tmp_path).as_of == "2026-12-01"
    assert load_text(SMALL, tmp_path, as_of="2026-12-24").as_of == "2026-12-24"
    today = load_text(bent("as_of: 2026-12-01\n", ""), tmp_path)
    assert "as_of" in assumed(today)


def test_what_the_file_states_is_kept_by_path(tmp_path):
    made = load_text(BARE, tmp_path)
    assert made.stated == {
        "flopwise": "1", "name": "bare", "horizon.start": "2027-01", "horizon.months": "6",
        "workloads.t.name": "t", "workloads.t.kind": "training", "workloads.t.model": "llama-3.1-8b", "workloads.t.tokens": "1B",
        "workloads.s.name": "s", "workloads.s.kind": "serving", "workloads.s.model": "llama-3.1-8b",
        "workloads.s.traffic.peak": "1 req/s", "workloads.s.lengths.input": "500", "workloads.s.lengths.output": "100",
    }  # fmt: skip


def test_quotes_and_lists_are_kept_by_their_names(tmp_path):
    rows = "channel,kind,server,price,currency,per,as_of\nmine,purchase,dgx-h100,250000,USD,server,2026-11-20\n"
    (tmp_path / "q.csv").write_text(rows)
    supply = (
        "supply: {quotes: q.csv, channels: [oem, aws], owned: [{server: dgx-h100, count: 2}, {server: dgx-h100, count: 3}]}\n"
    )
    found = load_text(BARE + supply, tmp_path).stated
    assert found["supply.channels"] == "oem, aws"
    assert (found["supply.owned.dgx-h100.count"], found["supply.owned.dgx-h100 (2).count"]) == ("2", "3")
    assert "250000 USD per server" in found.values()
    assert found["files.q.csv"].startswith("content ")


# Files of quotes ------------------------------------------------------------------------------------------------------

QUOTE_HEAD = "channel,kind,accelerator,accelerators,price,currency,per,as_of\n"


def with_quotes(rows: bytes | str, folder: Path) -> str:
    """The small scenario with a channel that only the file of quotes knows."""
    data = rows if isinstance(rows, bytes) else (QUOTE_HEAD + rows).encode()
    (folder / "q.csv").write_bytes(data)
    return bent("channels: [oem, aws]", "channels: [oem, aws, mine]\n  quotes: q.csv")


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_file_of_quotes_in_another_encoding_is_said_once(tmp_path, encoding):
    rows = (QUOTE_HEAD + "min\u00e9,on-demand,h100,8,20,USD,server-hour,2026-11-20\n").encode(encoding)
    (problem,) = problems(with_quotes(rows, tmp_path), tmp_path).problems
    assert "q.csv: not UTF-8 text" in problem.message


def test_a_wrong_file_of_quotes_makes_no_channel_unknown(tmp_path):
    (problem,) = problems(with_quotes("mine,on-demand,h100,8,x,USD,server-hour,2026-11-20\n", tmp_path), tmp_path).problems
    assert "'x' is not a number" in problem.message
    assert not problem.expected


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("mine,on-demand,h100,99999999,20,USD,server-hour,2026-11-20\n", "at most 1024"),
        ("mi\x1b[31mne,on-demand,h100,8,20,USD,server-hour,2026-11-20\n", "cannot be printed"),
    ],
)
def test_absurd_and_unprintable_cells_of_quotes_are_refused(tmp_path, row, said):
    assert said in str(problems(with_quotes(row, tmp_path), tmp_path))


def test_no_service_has_more_zones_than_any_region(tmp_path):
    text = bent("slo: {ttft_p95: 1 s, tpot_p95: 50 ms}", "slo: {ttft_p95: 1 s, tpot_p95: 50 ms}\n    zones: 1000")
    assert "16" in str(problems(text, tmp_path))


def test_old_exchange_rates_and_past_horizons_are_said(tmp_path):
    later = bent("as_of: 2026-12-01", "as_of: 2027-11-01").replace("0.08 USD/kWh", "0.6 CNY/kWh")
    warnings = "\n".join(load_text(later, tmp_path).warnings)
    assert "the exchange rate of CNY is of" in warnings
    assert "the horizon starts in 2027-01, before the day of the plan, 2027-11-01" in warnings
    assert not load_text(SMALL, tmp_path).warnings


def test_the_name_of_a_country_finds_its_region(tmp_path):
    assert "did you mean de" in str(problems(bent("region: us", "region: germany"), tmp_path))


@pytest.mark.parametrize(
    ("kind", "keys", "said"),
    [
        ("on-demand", "least: 5", "'least' means nothing in a quote of kind 'on-demand'"),
        ("on-demand", "term: 1 y", "'term' means nothing"),
        ("reserved", "term: 1 y, interruptions: 0.1", "'interruptions' means nothing"),
        ("reserved", "term: 45 d", "no whole number of months"),
        ("capacity-block", "most: 2", "'term' is missing"),
    ],
)
def test_keys_that_mean_nothing_in_a_quote_are_refused(tmp_path, kind, keys, said):
    quote = f"{{name: mine, kind: {kind}, accelerator: h100-sxm, accelerators: 8, price: 20 USD/h, as_of: 2026-11-20, {keys}}}"
    assert said in str(problems(bent("channels: [oem, aws]", f"channels: [{quote}]"), tmp_path))


def test_terms_near_a_whole_month_count_as_such(tmp_path):
    quote = (
        "{name: mine, kind: reserved, accelerator: h100-sxm, accelerators: 8, price: 20 USD/h, as_of: 2026-11-20, term: 360 d}"
    )
    (offer,) = load_text(bent("channels: [oem, aws]", f"channels: [{quote}]"), tmp_path).supply.inline_offers
    assert offer.term_months == 12


def test_columns_that_mean_nothing_in_a_row_are_refused(tmp_path):
    head = QUOTE_HEAD.replace("as_of", "as_of,term_months")
    rows = (head + "mine,on-demand,h100-sxm,8,20,USD,server-hour,2026-11-20,12\n").encode()
    assert "'term_months' means nothing in a row of kind 'on-demand'" in str(problems(with_quotes(rows, tmp_path), tmp_path))
