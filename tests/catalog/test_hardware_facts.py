"""Shipped hardware, regions and parameters: counts, origin of every fact, and slips that such tables often have."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path

import pytest

from flopwise.catalog import load_catalogue
from flopwise.catalog.catalogue import plain
from flopwise.domain.hardware import Accelerator, Server, Switch
from flopwise.domain.provenance import Confidence, Fact
from flopwise.domain.site import Region
from flopwise.ground.errors import UnknownNameError
from flopwise.ground.units import GIGA, TERA

CATALOGUE = load_catalogue()
ACCELERATORS = tuple(CATALOGUE.accelerators.values())
SERVERS = tuple(CATALOGUE.servers.values())
SWITCHES = tuple(CATALOGUE.switches.values())
SHARED = Path(__file__).parents[2].parent / "shared" / "data"
WITH_SHARED = pytest.mark.skipif(not SHARED.exists(), reason="shared data absent")
#: Every parameter that some part of flopwise falls back on.
PARAMETERS = (
    "finance.wacc", "finance.depreciation_years", "finance.residual.1y", "finance.residual.2y", "finance.residual.3y",
    "finance.residual.4y", "finance.residual.5y", "finance.support_rate", "finance.tax", "staff.cost",
    "staff.accelerators_per_engineer", "network.price_share", "storage.price_per_byte", "storage.bytes_per_accelerator",
    "facility.power_overhead", "reliability.failures_per_accelerator_day", "reliability.restart_time",
    "reliability.repair_time", "reliability.checkpoint_bandwidth", "spot.interruptions_per_hour", "spot.availability",
    "server.mean_power_share", "price.stale_after", "price.widening_per_year", "offers.on_demand_quota",
    "lead.oem.p50_weeks", "lead.oem.p90_weeks", "lead.cloud_reserved.p50_weeks", "lead.cloud_reserved.p90_weeks",
)  # fmt: skip
#: Parts in public tables that are not shipped: no rate is published, or only by a source that cannot be relied on.
NOT_SHIPPED = frozenset({"MI308X", "DCU Z100", "BI-V150", "T21", "PPU"})
#: A device of this name is half a chip.
HALF_A_CHIP = "TPU7x per TensorCore device"
#: Vendors that print rates with sparsity; generations whose 8-bit rate is twice the 16-bit one.
DOUBLING = frozenset({"Ampere", "Ada Lovelace", "Hopper", "Blackwell", "Blackwell Ultra"})


def accelerator(name: str) -> Accelerator:
    return CATALOGUE.accelerator(name)


def ids(item: Accelerator | Server | Switch | Region) -> str:
    return item.id


def facts() -> Iterator[tuple[str, Fact]]:
    for item in ACCELERATORS:
        stated = {
            "memory": item.memory, "memory_bandwidth": item.memory_bandwidth, "scale_up_bandwidth": item.scale_up_bandwidth,
            "power": item.power,
        }  # fmt: skip
        stated |= {f"peak.{key}": fact for key, fact in item.peak.items()}
        stated |= {f"achievable.{key}": fact for key, fact in item.achievable.items()}
        yield from named(item.id, stated)
    for server in SERVERS:
        stated = {
            "network_bandwidth": server.network_bandwidth, "memory": server.memory, "power": server.power,
            "weight": server.weight, "price": server.price,
        }  # fmt: skip
        yield from named(server.id, stated)
    for switch in SWITCHES:
        yield from named(switch.id, {"port_rate": switch.port_rate, "power": switch.power, "price": switch.price})
    for region in CATALOGUE.regions.values():
        stated = {"electricity": region.electricity, "pue": region.pue, "colocation": region.colocation}
        yield from named(region.id, stated)
    yield from named("parameters", CATALOGUE.parameters)


def named(item: str, stated: Mapping[str, Fact | None]) -> Iterator[tuple[str, Fact]]:
    for key, fact in stated.items():
        if fact is not None:
            yield f"{item}: {key}", fact


def rows(name: str) -> list[dict[str, str]]:
    with (SHARED / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_counts() -> None:
    assert len(ACCELERATORS) >= 70
    assert len(SERVERS) >= 45
    assert len(SWITCHES) >= 15
    assert len(CATALOGUE.regions) >= 20
    assert {"us", "eu", "cn", "jp", "in", "sg", "uk", "ca", "au"} <= CATALOGUE.regions.keys()
    assert {"CNY", "EUR"} <= CATALOGUE.exchange_rates.keys()


def test_every_fact_says_where_it_comes_from_and_lies_in_its_range() -> None:
    wrong: list[str] = []
    for where, fact in facts():
        low, high = fact.interval
        if not (fact.source and re.fullmatch(r"\d{4}-\d{2}-\d{2}", fact.as_of) and low <= fact.value <= high):
            wrong.append(where)
        date.fromisoformat(fact.as_of)
    assert not wrong


def test_what_is_merely_assumed_is_of_low_confidence() -> None:
    assumed = [(where, fact) for where, fact in facts() if re.search("assum|estimate|no published|no dated", fact.source)]
    assert assumed
    judged = [where for where, fact in assumed if fact.confidence is Confidence.HIGH]
    assert not judged


def test_no_source_is_a_place_that_a_reader_cannot_find() -> None:
    assert not [
        where for where, fact in facts() if re.search(r"shared/|\.csv|evokernel|/work|/tmp", f"{fact.source} {fact.note}")
    ]


@pytest.mark.parametrize("item", ACCELERATORS, ids=ids)
def test_eight_bit_rate_is_at_most_twice_the_dense_sixteen_bit_rate(item: Accelerator) -> None:
    if item.architecture not in DOUBLING:
        return
    geforce = item.id.startswith("rtx-") and "GeForce" in item.name
    half = item.peak["bf16"].value
    for precision, most in (("fp8", 2.1), ("mxfp8", 2.1), ("int8", 4.1 if geforce else 2.1), ("tf32", 0.55)):
        if precision in item.peak:
            assert item.peak[precision].value <= most * half, precision


@pytest.mark.parametrize("item", ACCELERATORS, ids=ids)
def test_fewer_bits_are_never_slower(item: Accelerator) -> None:
    rates = [item.peak[name].value for name in ("fp32", "tf32", "bf16", "fp8", "fp4") if name in item.peak]
    assert rates == sorted(rates)
    assert all(rate > 0 for rate in rates)


@pytest.mark.parametrize("item", ACCELERATORS, ids=ids)
def test_figures_have_the_size_of_an_accelerator(item: Accelerator) -> None:
    assert 8 * GIGA <= item.memory.value <= 512 * GIGA
    assert 0.1 * TERA <= item.memory_bandwidth.value <= 30 * TERA
    assert item.scale_up_bandwidth is None or 10 * GIGA <= item.scale_up_bandwidth.value <= 2 * TERA
    assert item.scale_up_bandwidth is not None or item.scale_up_domain in {1, 8}
    assert item.power is None or 50 <= item.power.value <= 3000
    assert all(0.3 <= fact.value <= 1.0 for fact in item.achievable.values())
    assert item.achievable.keys() <= item.peak.keys()
    assert re.fullmatch(r"20\d\d-\d\d", item.released)


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("v100-sxm-32gb", 150), ("a100-sxm-80gb", 300), ("a800-sxm-80gb", 200), ("h100-sxm", 450), ("h800-sxm", 200),
        ("h200-sxm", 450), ("b200", 900), ("gb200-nvl72", 900), ("mi300x", 448), ("gaudi-2", 262.5), ("gaudi-3", 525),
        ("tpu-v5p", 600), ("trainium2", 640),
    ],
)  # fmt: skip
def test_links_are_per_direction(name: str, rate: float) -> None:
    fact = accelerator(name).scale_up_bandwidth
    assert fact is not None
    assert fact.value == pytest.approx(rate * GIGA)


@pytest.mark.parametrize(
    ("name", "precision", "rate"),
    [
        ("h100-sxm", "bf16", 989), ("h100-sxm", "fp8", 1979), ("h100-pcie", "bf16", 756), ("a100-sxm-40gb", "bf16", 312),
        ("b200", "bf16", 2250), ("b200", "fp4", 9000), ("gb200-nvl72", "bf16", 2500), ("l40s", "bf16", 362),
        ("l4", "bf16", 121), ("mi300x", "bf16", 1307), ("mi300x", "fp8", 2615), ("v100-sxm-16gb", "fp16", 125),
        ("rtx-4090", "bf16", 165.2), ("tpu-v5e", "bf16", 197),
    ],
)  # fmt: skip
def test_rates_are_dense(name: str, precision: str, rate: float) -> None:
    assert accelerator(name).peak[precision].value == pytest.approx(rate * TERA)


def test_integer_units_cut_in_blackwell_ultra() -> None:
    assert accelerator("b300").peak["int8"].value < 0.05 * accelerator("b200").peak["int8"].value


def test_reached_rates_rank_differently_from_peaks() -> None:
    amd, nvidia = accelerator("mi300x"), accelerator("h100-sxm")
    assert amd.peak["bf16"].value > nvidia.peak["bf16"].value
    reached = [item.peak["bf16"].value * item.achievable["bf16"].value for item in (amd, nvidia)]
    assert reached[0] < reached[1]


@pytest.mark.parametrize("precision", ["bf16", "fp8"])
@pytest.mark.parametrize(("older", "newer"), [("h100-sxm", "h200-sxm"), ("b200", "b300")])
def test_a_later_part_with_the_same_product_units_reaches_no_less(older: str, newer: str, precision: str) -> None:
    first, second = accelerator(older), accelerator(newer)
    assert first.peak[precision].value == second.peak[precision].value
    assert second.achievable[precision].value >= first.achievable[precision].value


def test_what_another_part_reached_is_of_low_confidence() -> None:
    borrowed = [
        (item.id, key, fact)
        for item in ACCELERATORS
        for key, fact in item.achievable.items()
        if "same product units" in fact.source
    ]
    assert {(name, key) for name, key, _ in borrowed} == {("h200-sxm", "bf16"), ("b300", "fp8")}
    assert all(fact.confidence is Confidence.LOW for *_, fact in borrowed)


def test_early_parts_have_no_bf16() -> None:
    assert all("bf16" not in accelerator(name).peak for name in ("v100-sxm-16gb", "t4"))


def test_accelerators_known_by_short_names() -> None:
    known = {
        "h100": "h100-sxm", "H100 SXM": "h100-sxm", "h100_80gb": "h100-sxm", "a100": "a100-sxm-80gb",
        "a100-40gb": "a100-sxm-40gb", "H200": "h200-sxm", "gb200": "gb200-nvl72", "gb300": "gb300-nvl72",
        "v100": "v100-sxm-16gb", "v100-sxm2-32gb": "v100-sxm-32gb",
        "RTX PRO 6000": "rtx-pro-6000", "tpu v6e": "tpu-v6e", "910b": "ascend-910b", "Gaudi 2": "gaudi-2",
    }  # fmt: skip
    assert {name: accelerator(name).id for name in known} == known


def test_names_stand_for_one_accelerator() -> None:
    owner: dict[str, str] = {}
    for item in ACCELERATORS:
        for name in {plain(item.id), *map(plain, item.aliases)}:
            assert owner.setdefault(name, item.id) == item.id, name


@pytest.mark.parametrize(("name", "meant"), [("h100-smx", "h100-sxm"), ("gb20-nvl72", "gb200-nvl72"), ("h200sxn", "h200-sxm")])
def test_a_slip_in_a_name_is_answered_with_the_nearest(name: str, meant: str) -> None:
    with pytest.raises(UnknownNameError, match=meant):
        accelerator(name)


def test_export_rules_by_date() -> None:
    def barred(name: str, month: str) -> bool:
        rules = [rule for rule in accelerator(name).export if rule.region == "cn"]
        return any(rule.since[:7] <= month and (rule.until is None or month <= rule.until[:7]) for rule in rules)

    assert all(barred(name, "2026-11") for name in ("a100", "h100", "h800", "l40s", "b200", "gb300", "mi300x", "mi355x"))
    assert not any(barred(name, "2026-11") for name in ("t4", "a10", "l20", "ascend-910b"))
    # Parts below 4,800 are barred by performance density, and from the day on which the rule as a whole took effect.
    assert all(not barred(name, "2023-10") and barred(name, "2023-11") for name in ("l4", "l40", "mi210", "rtx-4090"))
    assert barred("l40s", "2023-10")
    assert (barred("gaudi-2", "2022-09"), barred("gaudi-2", "2022-10"), barred("gaudi-3", "2024-09")) == (False, True, True)
    assert not barred("h800", "2023-06")
    assert barred("h800", "2023-12")
    assert barred("h200", "2025-12")
    assert not barred("h200", "2026-02")
    assert (barred("h20", "2025-03"), barred("h20", "2025-06"), barred("h20", "2025-12")) == (False, True, False)
    for item in ACCELERATORS:
        for rule in item.export:
            assert rule.rule
            assert rule.source
            assert date.fromisoformat(rule.since) < date.fromisoformat(rule.until or "9999-12-31")


@pytest.mark.parametrize("server", SERVERS, ids=ids)
def test_servers_fit_together(server: Server) -> None:
    item = accelerator(server.accelerator)
    assert item.id == server.accelerator
    power = 0.0 if item.power is None else (item.power.low or item.power.value)
    assert power * server.accelerators <= (server.power.high or server.power.value)
    assert server.power.value <= 3000 * server.accelerators
    assert server.memory.value / server.accelerators >= 16 * GIGA
    assert server.nics == 0 or server.network_bandwidth.value > 0
    port = server.network_bandwidth.value * server.accelerators / max(server.nics, 1) * 8 / GIGA
    assert port in {0.0, 100.0, 200.0, 400.0, 800.0, 1600.0}
    assert server.rack_units >= 1
    assert server.cooling in {"air", "liquid"}


@pytest.mark.parametrize("server", [item for item in SERVERS if item.weight], ids=ids)
def test_weight_is_that_of_a_machine(server: Server) -> None:
    assert server.weight is not None
    assert 8 <= server.weight.value / server.rack_units <= 45


@pytest.mark.parametrize("server", [item for item in SERVERS if item.price], ids=ids)
def test_price_is_that_of_a_machine(server: Server) -> None:
    assert server.price is not None
    usd = 1.0 if server.price_currency == "USD" else CATALOGUE.exchange_rates[server.price_currency].usd
    assert 3_000 <= server.price.value * usd / server.accelerators <= 90_000
    assert server.price.low is not None
    assert server.price.high is not None


def test_rack_weight_and_power_as_published() -> None:
    rack = CATALOGUE.server("gb200-nvl72")
    assert rack.weight is not None
    assert rack.weight.value == pytest.approx(1360)
    assert rack.power.value == pytest.approx(120e3)
    assert CATALOGUE.server("dgx-h100").power.value == pytest.approx(10.2e3)
    assert CATALOGUE.server("dgx-b200").power.value == pytest.approx(14.3e3)
    assert CATALOGUE.server("dgx-h100").network_bandwidth.value == pytest.approx(50e9)


@pytest.mark.parametrize("switch", SWITCHES, ids=ids)
def test_switches(switch: Switch) -> None:
    assert switch.technology in {"infiniband", "ethernet"}
    total = switch.radix * switch.port_rate.value * 8 / TERA
    assert 8 <= total <= 120
    assert 5 <= switch.power.value / total <= 80
    assert switch.price is None or 100 <= switch.price.value / total <= 3000


@pytest.mark.parametrize("region", CATALOGUE.regions.values(), ids=ids)
def test_regions(region: Region) -> None:
    assert 0.02 <= region.electricity.value * 3.6e6 <= 0.5
    assert 1.0 < region.pue.value < 2.0
    assert 50 <= region.colocation.value * 1e3 <= 500


def test_parameters_are_complete_and_have_ranges() -> None:
    assert set(PARAMETERS) <= CATALOGUE.parameters.keys()
    assert not [name for name in PARAMETERS if None in (CATALOGUE.parameters[name].low, CATALOGUE.parameters[name].high)]


def test_parameters_agree_with_each_other_and_with_what_is_published() -> None:
    known = CATALOGUE.parameters
    kept = [known[f"finance.residual.{year}y"].value for year in range(1, 6)]
    assert kept == sorted(kept, reverse=True)
    assert known["reliability.failures_per_accelerator_day"].value == pytest.approx(419 / 54 / 16384, rel=0.01)
    for channel in ("oem", "cloud_reserved"):
        assert known[f"lead.{channel}.p50_weeks"].value < known[f"lead.{channel}.p90_weeks"].value
    assert known["price.stale_after"].value == 90 * 86400
    quota = known["offers.on_demand_quota"]
    assert (quota.value, quota.confidence) == (64, Confidence.LOW)
    assert "assumption" in quota.note
    assert known["finance.depreciation_years"].interval == (3, 6)


def test_exchange_rates_are_near_what_they_were_for_years() -> None:
    assert 0.12 < CATALOGUE.exchange_rates["CNY"].usd < 0.17
    assert 0.95 < CATALOGUE.exchange_rates["EUR"].usd < 1.35


@WITH_SHARED
@pytest.mark.parametrize(
    "name",
    [
        "train/measured_training.csv", "train/measured_memory.csv", "train/gemm_ceiling.csv", "infer/measured_inference.csv",
        "train/measured_training_vtrain_single_node.csv", "supply/cloud_offers.csv", "supply/price_history.csv",
    ],
)  # fmt: skip
def test_names_of_public_measurements_are_known(name: str) -> None:
    unknown: set[str] = set()
    for text in {row["accelerator"] for row in rows(name)} - {HALF_A_CHIP}:
        try:
            accelerator(text)
        except UnknownNameError:
            unknown.add(text)
    assert not unknown


@WITH_SHARED
def test_links_reach_over_the_servers_that_were_measured() -> None:
    """Tensor parallelism over a whole server is measured on it, so its links are one domain."""
    wrong = set[tuple[str, str]]()
    for row in rows("train/measured_training.csv"):
        if row["accelerator"] == HALF_A_CHIP or not row["accel_per_node"]:
            continue
        item = accelerator(row["accelerator"])
        if item.scale_up_bandwidth is not None and float(row["accel_per_node"]) > item.scale_up_domain:
            wrong.add((item.id, row["accel_per_node"]))
    assert not wrong


def first_number(text: str) -> float | None:
    match = re.match(r"\d+(\.\d+)?", text)
    return float(match[0]) if match else None


@WITH_SHARED
@pytest.mark.parametrize(
    ("column", "pick", "scale"),
    [
        ("memory_gb", lambda item: item.memory, GIGA),
        ("mem_bw_gbs", lambda item: item.memory_bandwidth, GIGA),
        ("bf16_dense_tflops", lambda item: item.peak.get("bf16"), TERA),
        ("fp8_dense_tflops", lambda item: item.peak.get("fp8"), TERA),
        ("fp4_dense_tflops", lambda item: item.peak.get("fp4"), TERA),
        ("scaleup_gbs_bidir", lambda item: item.scale_up_bandwidth, GIGA / 2),
    ],
)
def test_figures_agree_with_the_public_table(column: str, pick: Callable[[Accelerator], Fact | None], scale: float) -> None:
    compared, wrong = 0, list[str]()
    for row in rows("supply/accelerators.csv"):
        number = first_number(row[column])
        if row["name"] in NOT_SHIPPED or number is None or row["confidence"] == "low":
            continue
        fact = pick(accelerator(row["name"]))
        if fact is None:
            continue
        compared += 1
        low, high = fact.interval
        # A tenth covers rounding; links of Gaudi and TPU v4 count the ports inside a server only.
        if not low * 0.87 <= number * scale <= high * 1.15:
            wrong.append(f"{row['name']}: {row[column]}, here {fact.text}")
    assert compared >= 10
    assert not wrong


@WITH_SHARED
def test_later_part_is_not_slower_in_memory() -> None:
    case = next(row for row in rows("ops/bug_reports.csv") if row["area"] == "catalogue")
    assert "B200" in case["user_input"]
    assert "7.7 TB/s" in case["right_result"]
    older, newer = accelerator("b200").memory_bandwidth, accelerator("b300").memory_bandwidth
    assert older.value == pytest.approx(7.7e12)
    assert older.value <= newer.value


def test_memory_bandwidth_does_not_fall_from_one_generation_to_the_next() -> None:
    for order in (
        ("v100", "a100", "h100", "h200", "b200", "b300"),
        ("mi250x", "mi300x", "mi325x", "mi355x"),
        ("tpu-v4", "tpu-v5p", "tpu-v7"),
    ):
        rates = [accelerator(name).memory_bandwidth.value for name in order]
        assert rates == sorted(rates)


def test_a_missing_price_is_left_out_and_never_zero() -> None:
    assert all(item.price is None or item.price.value > 0 for item in (*SERVERS, *SWITCHES))
