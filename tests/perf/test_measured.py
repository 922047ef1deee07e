"""The step model with catalogue devices against public measurements: a guard against drift, not a fit.

The bounds are wider than the errors that were measured when the constants were fitted (median 10.7 % on held-out dense
rows): a change of a catalogue figure or of a formula that doubles the error fails here.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from flopwise.catalog import load_catalogue
from flopwise.domain.hardware import Platform
from flopwise.domain.mode import Layout
from flopwise.domain.model_arch import ModelArch
from flopwise.domain.workload import TrainingWorkload
from flopwise.ground.errors import UnknownNameError
from flopwise.perf.search import training_mode

#: Scale-out rate per accelerator and direction of the usual server of each device (B/s).
NETWORK = {"a100-sxm-80gb": 25e9, "a100-sxm-40gb": 25e9, "v100-sxm-32gb": 12.5e9}
NEEDED = ("layers", "hidden", "heads", "ffn_hidden", "vocab", "tp", "pp", "dp", "micro_batch", "global_batch", "seq_len")


def rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            stated = all(row[name] for name in NEEDED) and row["measured_tokens_per_s_per_gpu"] and not row["n_experts"]
            if stated and row["precision"] == "bf16" and row["recompute"] in {"none", "full", "selective"}:
                yield row


def predicted(row: dict[str, str]) -> float | None:
    """Tokens/s per accelerator, or nothing where a device or layout is not known."""
    try:
        device = load_catalogue().accelerator(row["accelerator"])
    except UnknownNameError:
        return None
    number = {name: int(float(row[name])) for name in NEEDED}
    layout = Layout(
        tp=number["tp"], pp=number["pp"], dp=number["dp"], cp=int(float(row["cp"] or 1)), vpp=int(float(row["vpp"] or 1)),
        micro_batch=number["micro_batch"], zero_stage=int(float(row["zero_stage"] or 1)), recompute=row["recompute"],
    )  # fmt: skip
    if layout.accelerators != int(float(row["n_accel"])) or not set(device.peak) & {"bf16", "fp16"}:
        return None
    arch = ModelArch(
        id="row", name=row["model"], family="row", layers=number["layers"], hidden=number["hidden"], heads=number["heads"],
        kv_heads=int(float(row["kv_heads"] or row["heads"])), head_dim=number["hidden"] // number["heads"],
        ffn=number["ffn_hidden"], vocab=number["vocab"], max_position=number["seq_len"],
        gated=number["ffn_hidden"] < 3.6 * number["hidden"],
    )  # fmt: skip
    workload = TrainingWorkload(
        name="row", kind="training", model=arch, tokens=1e9, epochs=1.0, precision="bf16", sequence=number["seq_len"],
        global_batch=float(number["global_batch"] * number["seq_len"]), window=None,
    )  # fmt: skip
    network = NETWORK.get(device.id, 50e9)
    platform = Platform(
        id="row", accelerator=device, accelerators=int(float(row["accel_per_node"] or 8)), network_bandwidth=network
    )
    return training_mode(workload, platform, layout).detail["tokens_per_s_per_accelerator"]


def test_dense_training_rates_stay_near_public_measurements(shared: Callable[[str], Path], record_property):
    errors: dict[str, list[float]] = defaultdict(list)
    for row in rows(shared("data/train/measured_training.csv")):
        rate = predicted(row)
        if rate is not None and load_catalogue().accelerator(row["accelerator"]).vendor == "NVIDIA":
            errors[row["source"]].append(abs(rate / float(row["measured_tokens_per_s_per_gpu"]) - 1))
    pooled = np.concatenate([np.array(values) for values in errors.values()])
    record_property("median_by_source", {source: float(np.median(values)) for source, values in errors.items()})
    assert len(pooled) > 100
    assert np.median(pooled) < 0.20
    assert np.quantile(pooled, 0.9) < 0.60
    assert all(np.median(values) < 0.5 for values in errors.values() if len(values) >= 10)


def test_predictions_of_unknown_devices_are_refused():
    with pytest.raises(UnknownNameError):
        load_catalogue().accelerator("h100-smx9")
