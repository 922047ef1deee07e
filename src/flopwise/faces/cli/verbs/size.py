"""``flopwise size``: one workload, one line of flags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from flopwise.faces.cli.lazy import lazy
from flopwise.faces.cli.options import AsOf, Json, verb
from flopwise.faces.cli.output import print_json, print_table, say
from flopwise.faces.cli.table import FAMILIES
from flopwise.ground.errors import UnitError

if TYPE_CHECKING:
    from flopwise.app import size as sizes
    from flopwise.app.size import SizedServing, SizedTraining, Sizing
    from flopwise.domain.mode import Layout, Mode
    from flopwise.ground import units
else:
    sizes, units = lazy("flopwise.app.size"), lazy("flopwise.ground.units")

ANSWERED, NO = 0, 2

#: Parts of memory that make up the total, as they are headed.
PARTS = {
    "memory.weights": "weights",
    "memory.gradients": "gradients",
    "memory.optimizer": "optimizer",
    "memory.activations": "activations",
    "memory.kv_cache": "KV cache",
    "memory.other": "other",
}

Model = Annotated[str, typer.Argument(help="Catalogue name of a model, or path of a Hugging Face config.json.")]
AcceleratorOption = Annotated[str, typer.Option("--accelerator", "-a", help="Catalogue name, for example h100-sxm.")]
Top = Annotated[int, typer.Option(min=1, max=50, help="How many layouts are shown.")]


TRAINING = verb()


@TRAINING.command(help=f"{FAMILIES['size']['training']} Exit status 2 when nothing fits.")
def training(  # noqa: PLR0913 - one argument per flag
    model: Model,
    *,
    tokens: Annotated[str, typer.Option(help="Tokens over all epochs, for example 2T.")],
    accelerator: AcceleratorOption,
    count: Annotated[int | None, typer.Option(min=1, help="Accelerators; every size is tried when not given.")] = None,
    within: Annotated[str | None, typer.Option(help="Time until it must be finished, for example 75d.")] = None,
    precision: Annotated[str, typer.Option(help="bf16, fp8 ...")] = "bf16",
    sequence: Annotated[int | None, typer.Option(min=1, help="Sequence length in tokens; 8192 or the model's limit.")] = None,
    global_batch: Annotated[str | None, typer.Option(help="Tokens per optimizer step; 4M, or less for a short run.")] = None,
    lora_rank: Annotated[int | None, typer.Option(min=1, help="Rank of low-rank adapters; without it all weights train.")] = None,
    top: Top = 5,
    as_of: AsOf = None,
    as_json: Json = False,
) -> int:
    """Size a training run."""
    question = sizes.TrainingQuestion(
        model=model,
        accelerator=accelerator,
        tokens=quantity("--tokens", tokens, "tokens"),
        count=count,
        within=quantity("--within", within, "s") if within is not None else None,
        precision=precision,
        sequence=sequence,
        global_batch=quantity("--global-batch", global_batch, "tokens") if global_batch else None,
        lora_rank=lora_rank,
        top=top,
    )
    return _answer(sizes.size_training(question, as_of=as_of), as_json=as_json)


SERVING = verb()


@SERVING.command(help=f"{FAMILIES['size']['serving']} Exit status 2 when nothing fits.")
def serving(  # noqa: PLR0913 - one argument per flag
    model: Model,
    *,
    accelerator: AcceleratorOption,
    rate: Annotated[str | None, typer.Option(help="Requests per second at the busiest time, for example '40 req/s'.")] = None,
    concurrency: Annotated[float | None, typer.Option(min=0.001, help="Requests in flight, instead of --rate.")] = None,
    input_tokens: Annotated[float, typer.Option("--input", min=1, help="Mean prompt tokens.")] = 1000,
    output_tokens: Annotated[float, typer.Option("--output", min=1, help="Mean generated tokens.")] = 250,
    input_p95: Annotated[float | None, typer.Option(min=1, help="95th percentile of prompt tokens; 3 x the mean.")] = None,
    output_p95: Annotated[float | None, typer.Option(min=1, help="95th percentile of generated tokens; 3 x the mean.")] = None,
    ttft: Annotated[str, typer.Option(help="Promised time to first token, 95th percentile.")] = "1s",
    tpot: Annotated[str, typer.Option(help="Promised time per output token, 95th percentile.")] = "50ms",
    precision: Annotated[str, typer.Option(help="Precision of weights: bf16, fp8 ...")] = "fp8",
    kv_precision: Annotated[str, typer.Option(help="Precision of the KV cache: bf16, fp8 ...")] = "bf16",
    prefix_cache_hit: Annotated[str, typer.Option(help="Share of prompt tokens found in the prefix cache.")] = "0%",
    headroom: Annotated[str, typer.Option(help="Room on the number of replicas.")] = "20%",
    top: Top = 5,
    as_of: AsOf = None,
    as_json: Json = False,
) -> int:
    """Size a service."""
    question = sizes.ServingQuestion(
        model=model,
        accelerator=accelerator,
        rate=quantity("--rate", rate, "req/s") if rate is not None else None,
        concurrency=concurrency,
        input=input_tokens,
        output=output_tokens,
        input_p95=input_p95,
        output_p95=output_p95,
        ttft=quantity("--ttft", ttft, "s"),
        tpot=quantity("--tpot", tpot, "s"),
        precision=precision,
        kv_precision=kv_precision,
        prefix_cache_hit=quantity("--prefix-cache-hit", prefix_cache_hit, "1"),
        headroom=quantity("--headroom", headroom, "1"),
        top=top,
    )
    return _answer(sizes.size_serving(question, as_of=as_of), as_json=as_json)


def quantity(flag: str, text: str, unit: str) -> float:
    """A quantity as typed; what is wrong with it names the flag."""
    try:
        return units.parse(text, unit)
    except UnitError as error:
        msg = f"{flag}: {error}"
        raise UnitError(msg) from None


def _answer(found: Sizing, *, as_json: bool) -> int:
    if as_json:
        print_json(found)
    else:
        _print(found)
    return ANSWERED if found.fits else NO


def _print(found: Sizing) -> None:
    say(found.question)
    if found.training:
        _print_training(found.training)
    if found.serving:
        _print_serving(found.serving)
    modes = [row.mode for row in (*found.training, *found.serving)]
    if modes:
        _print_memory(modes)
    for refusal in found.refusals:
        say(f"refused: {refusal.message}")
        say(f"  try: {refusal.remedy}")
    if not found.fits and found.training:
        say("none of these ends in time: more accelerators, fewer tokens or a later end are needed")
    _print_prices(found)
    for line in found.assumptions:
        say(f"assumed: {line}")


def _print_training(rows: tuple[SizedTraining, ...]) -> None:
    columns = ("", "layout", "accel.", "tokens/s", "MFU", "goodput", "time", "accel.-h", "USD", "")
    body = [
        (
            str(number),
            layout_words(row.mode.layout),
            str(row.mode.accelerators),
            units.show(row.mode.rate, ""),
            units.show(row.mode.detail["mfu_causal"], "1"),
            units.show(row.goodput, "1"),
            units.show(row.time, "s"),
            units.show(row.accelerator_hours, ""),
            _money(row.cost),
            "" if row.in_time else "late",
        )
        for number, row in enumerate(rows, 1)
    ]
    print_table(
        columns, body, title="Layouts (MFU: causal attention, no recompute counted)", right=columns[2:9], fold=("layout",)
    )
    _print_interval(rows[0].mode)


def _print_serving(rows: tuple[SizedServing, ...]) -> None:
    columns = ("", "replica", "accel.", "req/s", "TTFT p95", "TPOT p95", "replicas", "all", "USD/mo.", "USD/1M out", "from")
    body = [
        (
            str(number),
            layout_words(row.mode.layout),
            str(row.mode.accelerators),
            units.show(row.mode.rate, ""),
            units.show(row.mode.detail["ttft_p95"], "s"),
            units.show(row.mode.detail["tpot_p95"], "s"),
            str(row.replicas),
            str(row.accelerators),
            _money(row.cost_per_month),
            _money(row.cost_per_million_output_tokens),
            row.channel or "no price",
        )
        for number, row in enumerate(rows, 1)
    ]
    print_table(columns, body, title="Replicas (accelerators and rate of one, then of all)", right=columns[2:], fold=("replica",))
    _print_interval(rows[0].mode)


def _print_memory(modes: list[Mode]) -> None:
    """Memory per accelerator by part: the same parts for all rows of one answer."""
    parts = [key for key in PARTS if key in modes[0].detail]
    columns = ("", *(PARTS[part] for part in parts), "total", "of", "bound by")
    body = [
        (
            str(number),
            *(units.show(mode.detail[part], "B") for part in parts),
            units.show(mode.memory, "B"),
            units.show(mode.memory_available, "B"),
            mode.bottleneck,
        )
        for number, mode in enumerate(modes, 1)
    ]
    print_table(columns, body, title="Memory per accelerator", right=columns[1:-1])


def _money(amount: float | None) -> str:
    return units.show(amount, "") if amount is not None else "-"


def _print_prices(found: Sizing) -> None:
    if not found.prices:
        say(f"no price: the catalogue has no offer by the hour of {found.accelerator}")
        return
    rows = [
        (
            price.kind,
            price.channel,
            price.region,
            units.show(price.usd_per_accelerator_hour, ""),
            price.as_of,
            "stale" if price.stale else "",
        )
        for price in found.prices
    ]
    columns = ("contract", "channel", "region", "USD/accel.-hour", "as of", "")
    print_table(columns, rows, title=f"Cheapest offers of {found.accelerator} as of {found.as_of}", right=(columns[3],))


def layout_words(layout: Layout) -> str:
    """A layout in one line: degrees above 1, micro-batch, ZeRO stage, recompute."""
    degrees = (("tp", layout.tp), ("pp", layout.pp), ("dp", layout.dp), ("cp", layout.cp), ("ep", layout.ep), ("vpp", layout.vpp))
    words = [f"{name}{degree}" for name, degree in degrees if degree > 1] or ["one"]
    if layout.micro_batch > 1:
        words.append(f"mb{layout.micro_batch}")
    if layout.zero_stage:
        words.append(f"zero{layout.zero_stage}")
    if layout.recompute != "none":
        words.append(layout.recompute)
    return " ".join(words)


def _print_interval(mode: Mode) -> None:
    low, high = (units.show(rate, mode.rate_unit) for rate in mode.interval)
    say(f"80 % interval of the rate of row 1: {low} to {high} (evidence: {mode.evidence.value})")


APPS = {"size training": TRAINING, "size serving": SERVING}
