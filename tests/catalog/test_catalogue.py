"""Reading of the catalogue: files that are wrong are refused by file and key, names stand for one thing, reading is quick."""

from __future__ import annotations

import datetime as dt
import math
import re
import shutil
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from flopwise.catalog import load_catalogue
from flopwise.catalog.catalogue import Catalogue, plain, read_catalogue
from flopwise.catalog.facilities import read_exchange_rates, read_parameters, read_region
from flopwise.catalog.hardware import read_accelerator, read_server, read_switch
from flopwise.ground.errors import CatalogueError, UnknownNameError

DATA = Path(str(files("flopwise.catalog") / "data"))
#: CPU seconds that reading may take on the slowest machine that tests run on; a usual one needs a fifth of a second.
SLOWEST_READ = 1.5
#: Keys that take any text.
TEXTS = {"name", "vendor", "architecture", "released", "notes", "source", "accelerator"}


def changed(tmp_path: Path, name: str, old: str, new: str) -> Path:
    """A copy of a shipped file with one change."""
    text = (DATA / name).read_text(encoding="utf-8")
    assert old in text, "the shipped file has changed: choose another text to replace"
    copy = tmp_path / Path(name).name
    copy.write_text(text.replace(old, new, 1), encoding="utf-8")
    return copy


@pytest.mark.parametrize(
    ("name", "read", "old", "new", "key", "words"),
    [
        ("accelerators/h100-sxm.toml", read_accelerator, 'memory = "80 GB"', 'memory = "80 Gb"', "memory", "Gb"),
        ("accelerators/h100-sxm.toml", read_accelerator, 'memory = "80 GB"', "", "memory", "missing"),
        ("accelerators/h100-sxm.toml", read_accelerator, 'memory = "80 GB"', 'memory = "700 W"', "memory", "W"),
        ("accelerators/h100-sxm.toml", read_accelerator, 'power = "700 W"', 'powr = "700 W"', "powr", "did you mean 'power'"),
        ("accelerators/h100-sxm.toml", read_accelerator, "bf16 = ", "bf61 = ", "bf61", "unknown precision"),
        ("accelerators/h100-sxm.toml", read_accelerator, 'status = "released"', 'status = "sold"', "status", "announced"),
        ("accelerators/h100-sxm.toml", read_accelerator, "value = 0.803\n", "", "achievable.bf16", "missing"),
        ("accelerators/h100-sxm.toml", read_accelerator, 'confidence = "high"', 'confidence = "sure"', "peak.bf16", "sure"),
        ("accelerators/h100-sxm.toml", read_accelerator, 'as_of = "2026-08-22"', "", "peak.bf16", "as_of"),
        ("accelerators/h100-sxm.toml", read_accelerator, 'as_of = "2026-08-22"', 'as_of = "August"', "peak.bf16", "August"),
        ("accelerators/h100-sxm.toml", read_accelerator, 'since = "2022-10-07"', "", "export: since", "missing"),
        ("accelerators/h100-sxm.toml", read_accelerator, 'memory = "80 GB"', "memory = 80", "memory", "80"),
        ("accelerators/h100-sxm.toml", read_accelerator, 'power = "700 W"', 'power = "0 W"', "power", "left out"),
        ("accelerators/h100-sxm.toml", read_accelerator, "value = 0.803", "value = 8.03", "achievable.bf16", "no fraction"),
        ("accelerators/h100-sxm.toml", read_accelerator, "value = 0.803", "value = nan", "achievable.bf16", "nan"),
        ("accelerators/h100-sxm.toml", read_accelerator, "scale_up_domain = 8", "scale_up_domain = 0", "scale_up_domain", "1"),
        ("accelerators/b300.toml", read_accelerator, 'low = "262 GB"', 'low = "280 GB"', "memory", "outside its own range"),
        ("accelerators/b300.toml", read_accelerator, 'low = "262 GB"', 'lo = "262 GB"', "memory.lo", "unknown key"),
        ("servers/dgx-h100.toml", read_server, "accelerators = 8", "accelerators = 8.5", "accelerators", "whole number"),
        ("servers/dgx-h100.toml", read_server, 'cooling = "air"', 'cooling = "water"', "cooling", "liquid"),
        ("servers/dgx-h100.toml", read_server, 'value = "310k USD"', 'value = "310k"', "price", "310k"),
        ("servers/dgx-h100.toml", read_server, 'high = "400k USD"', 'high = "400k EUR"', "price", "more than one currency"),
        ("servers/dgx-h100.toml", read_server, "nics = 8", "nics = -8", "nics", "at least 0"),
        ("switches/spectrum-4-sn5600.toml", read_switch, 'port_rate = "800 Gbit/s"', "", "port_rate", "missing"),
        ("switches/spectrum-4-sn5600.toml", read_switch, "radix = 64", "", "radix", "missing"),
        ("regions/us.toml", read_region, '"0.083 USD/kWh"', '"0.083 USD"', "electricity", "kWh"),
        ("regions/us.toml", read_region, "value = 1.3\n", "", "pue", "missing"),
        ("exchange_rates.toml", read_exchange_rates, "usd = 0.1413", "usd = true", "usd", "True"),
        ("parameters.toml", read_parameters, 'unit = "1"', "", "unit", "missing"),
        ("parameters.toml", read_parameters, 'low = "6 %"', 'low = "12 %"', "finance.wacc", "outside its own range"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(
    name: str, read: Callable[[Path], object], old: str, new: str, key: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(CatalogueError) as refusal:
        read(changed(tmp_path, name, old, new))
    message = str(refusal.value)
    assert message.startswith(Path(name).name)
    assert f": {key}: " in message
    assert words in message


#: What stands where something else was meant.
NONSENSE: tuple[object, ...] = (
    -1,
    True,
    math.nan,
    math.inf,
    [3],
    [{}],
    {"value": []},
    {"x": 1},
    "-5 GB",
    dt.date(2026, 8, 22),
)


@dataclass(frozen=True)
class Stated:
    """A file with the content that a test gives it."""

    name: str
    text: str

    def read_text(self, encoding: str) -> str:
        assert encoding == "utf-8"
        return self.text


@pytest.mark.parametrize(
    ("name", "read", "free"),
    [
        ("accelerators/b200.toml", read_accelerator, TEXTS), ("servers/dgx-h100.toml", read_server, TEXTS),
        ("switches/spectrum-4-sn5600.toml", read_switch, TEXTS), ("regions/us.toml", read_region, TEXTS),
        ("exchange_rates.toml", read_exchange_rates, set()), ("parameters.toml", read_parameters, set()),
    ],
)  # fmt: skip
def test_nonsense_is_refused_and_never_breaks_the_reader(
    name: str, read: Callable[[Any], object], free: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tomllib.loads((DATA / name).read_text(encoding="utf-8"))
    for key in table:
        for value in NONSENSE:
            monkeypatch.setattr(tomllib, "loads", lambda _, key=key, value=value: table | {key: value})
            if key in free and isinstance(value, str):
                continue
            with pytest.raises(CatalogueError) as refusal:
                read(Stated("x.toml", ""))
            assert str(refusal.value).startswith("x.toml: ")


@pytest.mark.parametrize("content", [b"name = ", b"name = '\xff'"])
def test_a_file_that_is_no_toml_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(content)
    with pytest.raises(CatalogueError, match=r"x\.toml"):
        read_accelerator(tmp_path / "x.toml")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A copy of the shipped folder that a test may change."""
    return Path(shutil.copytree(DATA, tmp_path / "data"))


def test_two_accelerators_of_one_name_are_refused(data: Path) -> None:
    shutil.copy(data / "accelerators" / "h100-sxm.toml", data / "accelerators" / "other.toml")
    with pytest.raises(CatalogueError, match=r"stands for both h100-sxm and other"):
        read_catalogue(data)


def test_a_server_of_an_unknown_accelerator_is_refused(data: Path) -> None:
    (data / "accelerators" / "gaudi-3.toml").unlink()
    with pytest.raises(CatalogueError, match=r"gaudi3-8\.toml: accelerator: 'gaudi-3'"):
        read_catalogue(data)


def test_a_new_file_is_found_without_an_index_and_changes_the_digest(data: Path) -> None:
    before = read_catalogue(data)
    assert before.digest == load_catalogue().digest
    text = (data / "accelerators" / "h100-sxm.toml").read_text(encoding="utf-8")
    text = re.sub("aliases = .*", 'aliases = ["mine"]', text)
    (data / "accelerators" / "my-part.toml").write_text(text, encoding="utf-8")
    after = read_catalogue(data)
    assert after.accelerator("MINE").id == "my-part"
    assert after.digest != before.digest


def named(catalogue: Catalogue) -> dict[str, list[tuple[str, str]]]:
    """Kind and id by plain name."""
    kinds = {
        "accelerator": {item.id: item.aliases for item in catalogue.accelerators.values()},
        "server": {item.id: item.aliases for item in catalogue.servers.values()},
        "switch": dict.fromkeys(catalogue.switches, ()),
        "model": {item.id: item.aliases for item in catalogue.models.values()},
        "region": dict.fromkeys(catalogue.regions, ()),
    }
    found: dict[str, list[tuple[str, str]]] = {}
    for kind, items in kinds.items():
        for item, aliases in items.items():
            for name in {plain(text) for text in (item, *aliases)}:
                found.setdefault(name, []).append((kind, item))
    return found


def test_a_name_stands_for_one_thing_of_all_kinds_or_for_a_rack_and_what_it_carries() -> None:
    catalogue = load_catalogue()
    for name, meant in named(catalogue).items():
        if len(meant) > 1:
            (first, accelerator), (second, server) = sorted(meant)
            assert (first, second) == ("accelerator", "server"), name
            assert catalogue.servers[server].accelerator == accelerator, name


def test_names_are_found_however_they_are_written() -> None:
    catalogue = load_catalogue()
    assert catalogue.server("DGX H100").id == "dgx-h100"
    assert catalogue.server("dgx_h100") is catalogue.server("dgxh100")
    assert catalogue.switch("Quantum 2 QM9700").id == "quantum-2-qm9700"
    assert catalogue.region("US East").id == "us-east"
    assert catalogue.model("Llama-3.1-70B").id == "llama-3.1-70b"


@pytest.mark.parametrize(
    ("kind", "name", "meant"),
    [
        ("server", "dgx-h10", "dgx-h100"), ("switch", "spectrum-4-sn560", "spectrum-4-sn5600"),
        ("region", "us-eats", "us-east"), ("model", "llama-3.1-70", "llama-3.1-70b"),
    ],
)  # fmt: skip
def test_a_slip_is_answered_with_the_nearest_name_and_where_to_look(kind: str, name: str, meant: str) -> None:
    with pytest.raises(UnknownNameError, match=meant) as refusal:
        getattr(load_catalogue(), kind)(name)
    assert f"catalog list {'switches' if kind == 'switch' else kind + 's'}" in refusal.value.hint


def test_read_once_and_quickly() -> None:
    assert load_catalogue() is load_catalogue()
    start = time.process_time()
    read_catalogue(DATA)
    assert time.process_time() - start < SLOWEST_READ
