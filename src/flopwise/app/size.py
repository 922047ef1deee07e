"""Size one workload from one line of flags: layouts, memory, time, money, and what would make a refused one fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flopwise.adapters.models.hf_config import read_model
from flopwise.adapters.scenario.checks import is_file_name
from flopwise.adapters.scenario.traffic import Request, concurrency_rate
from flopwise.app.catalog import is_stale
from flopwise.app.day import checked_day, today
from flopwise.catalog import Catalogue, load_catalogue
from flopwise.domain.hardware import Platform, Server
from flopwise.domain.mode import Mode, Refusal
from flopwise.domain.model_arch import ModelArch
from flopwise.domain.offer import Offer, OfferKind
from flopwise.domain.scenario import HEADROOM
from flopwise.domain.workload import (
    LENGTH_TAIL,
    Growth,
    Lengths,
    ServingWorkload,
    Slo,
    TrafficProfile,
    TrainingWorkload,
    step_problem,
    usual_batch,
)
from flopwise.ground.errors import FlopwiseError
from flopwise.ground.money import to_usd
from flopwise.ground.units import HOUR, MEGA, MONTH, Seconds, show
from flopwise.perf.search import search_serving, search_training
from flopwise.planning.demand.modes import Reliability, recovery

#: Contracts by the hour whose prices are shown; purchases need a plan to be fairly priced.
HOURLY_KINDS = (OfferKind.ON_DEMAND, OfferKind.RESERVED, OfferKind.SPOT, OfferKind.CAPACITY_BLOCK)
#: Gang sizes are doubled up to this when no count is given.
LARGEST_GANG = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class HourPrice:
    """The cheapest offer of one kind of contract: USD per accelerator-hour."""

    kind: str
    channel: str
    offer: str
    region: str
    usd_per_accelerator_hour: float
    as_of: str
    stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedTraining:
    """One layout: the mode, progress left by failures, time (s), accelerator-hours and money (USD) for all tokens."""

    mode: Mode
    goodput: float
    time: Seconds
    accelerator_hours: float
    cost: float | None
    in_time: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedServing:
    """One replica layout: how many of it carry the rate with headroom, and what an hour and 1M output tokens cost (USD).

    ``channel`` sells the hours at that cost: a replica of many servers needs an offer with a network.
    """

    mode: Mode
    replicas: int
    accelerators: int
    channel: str | None
    cost_per_hour: float | None
    cost_per_month: float | None
    cost_per_million_output_tokens: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """The answer: ranked rows, refusals, the prices used, and every value that was not given.

    ``fits`` is false when nothing runs, or nothing within the time.
    """

    kind: str
    model: str
    accelerator: str
    server: str
    question: str
    training: tuple[SizedTraining, ...]
    serving: tuple[SizedServing, ...]
    refusals: tuple[Refusal, ...]
    prices: tuple[HourPrice, ...]
    assumptions: tuple[str, ...]
    as_of: str
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingQuestion:
    """A run: ``tokens`` over all epochs, gang of ``count`` or any, ``within`` seconds or any time.

    ``global_batch`` are the tokens of a step: by default 4M, 500k with ``lora_rank``, less for a run that is shorter.
    """

    model: str
    accelerator: str
    tokens: float
    count: int | None = None
    within: Seconds | None = None
    precision: str = "bf16"
    sequence: int | None = None
    global_batch: float | None = None
    lora_rank: int | None = None
    top: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingQuestion:
    """A service: exactly one of ``rate`` (req/s) and ``concurrency``, mean token counts, promises at the 95th percentile."""

    model: str
    accelerator: str
    rate: float | None = None
    concurrency: float | None = None
    input: float = 1000.0
    output: float = 250.0
    input_p95: float | None = None
    output_p95: float | None = None
    ttft: Seconds = 1.0
    tpot: Seconds = 0.05
    precision: str = "fp8"
    kv_precision: str = "bf16"
    prefix_cache_hit: float = 0.0
    headroom: float = HEADROOM
    top: int = 5


def size_training(question: TrainingQuestion, *, catalogue: Catalogue | None = None, as_of: str | None = None) -> Sizing:
    """Layouts, time and money of one training run.

    Args:
        question: what is trained on what.
        catalogue: the shipped one by default.
        as_of: day (ISO) against which ages of prices are measured, today by default.

    Raises:
        UnknownNameError: the model or the accelerator is not known.
        ModelFormatError: a model description that is not understood.
    """
    facts, day = catalogue or load_catalogue(), checked_day(as_of) or today()
    model, platform = model_named(question.model, facts), platform_of(question.accelerator, facts)
    workload = _training(question, model)
    sizes = (question.count,) if question.count else _doublings(platform)
    found = search_training(workload, platform, sizes, top=question.top)
    market = Market(accelerator=platform.accelerator.id, catalogue=facts, as_of=day)
    reliability = Reliability.of(facts.parameters)
    rows = [_sized_training(mode, question, workload, reliability, market) for mode in found.modes]
    in_time = [row for row in rows if row.in_time]
    return Sizing(
        kind="training",
        model=model.name,
        accelerator=platform.accelerator.id,
        server=platform.id,
        question=_training_words(question, model, platform),
        training=tuple(_shown_rows(rows, in_time, question)),
        serving=(),
        refusals=found.refusals,
        prices=market.prices(min(mode.accelerators for mode in found.modes) if found.modes else 1),
        assumptions=_training_assumptions(question, workload, platform),
        as_of=day,
        fits=bool(in_time),
    )


def size_serving(question: ServingQuestion, *, catalogue: Catalogue | None = None, as_of: str | None = None) -> Sizing:
    """Replicas, accelerators and money of one service within its promises.

    Raises:
        FlopwiseError: not exactly one of ``rate`` and ``concurrency`` is given.
        UnknownNameError: the model or the accelerator is not known.
        ModelFormatError: a model description that is not understood.
    """
    facts, day = catalogue or load_catalogue(), checked_day(as_of) or today()
    model, platform = model_named(question.model, facts), platform_of(question.accelerator, facts)
    workload, derivation = _serving(question, model)
    found = search_serving(workload, platform, top=question.top)
    market = Market(accelerator=platform.accelerator.id, catalogue=facts, as_of=day)
    rate = workload.traffic.peak
    return Sizing(
        kind="serving",
        model=model.name,
        accelerator=platform.accelerator.id,
        server=platform.id,
        question=f"{model.name} on {platform.accelerator.name} at {derivation}",
        training=(),
        serving=tuple(sorted((_sized_serving(mode, question, rate, market) for mode in found.modes), key=_dearness)),
        refusals=found.refusals,
        prices=market.prices(min(mode.accelerators for mode in found.modes) if found.modes else 1),
        assumptions=_serving_assumptions(question, workload, platform),
        as_of=day,
        fits=bool(found.modes),
    )


def model_named(name: str, catalogue: Catalogue) -> ModelArch:
    """A model by its catalogue name, or by the path of its Hugging Face ``config.json``."""
    path = Path(name).expanduser()
    return read_model(path) if is_file_name(name) or path.is_file() else catalogue.model(name)


def platform_of(name: str, catalogue: Catalogue) -> Platform:
    """An accelerator in the catalogue server that carries it, the one with the fastest cluster network."""
    accelerator = catalogue.accelerator(name)
    servers: list[Server] = [item for item in catalogue.servers.values() if item.accelerator == accelerator.id]
    if not servers:
        return Platform(id=f"1 x {accelerator.id}", accelerator=accelerator, accelerators=1, network_bandwidth=0.0)
    best = max(servers, key=lambda item: (item.network_bandwidth.value, item.accelerators))
    return Platform(
        id=best.id, accelerator=accelerator, accelerators=best.accelerators, network_bandwidth=best.network_bandwidth.value
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """What an accelerator costs by the hour."""

    accelerator: str
    catalogue: Catalogue
    as_of: str

    def prices(self, gang: int) -> tuple[HourPrice, ...]:
        """The cheapest offer of each kind of contract that can hold ``gang`` accelerators at work together.

        Offers without a cluster network hold no more than one server.
        """
        best: dict[str, HourPrice] = {}
        for offer in self.catalogue.offers:
            if not self._fits(offer, gang):
                continue
            price = _hour_price(offer, self.catalogue, self.as_of)
            if price.kind not in best or price.usd_per_accelerator_hour < best[price.kind].usd_per_accelerator_hour:
                best[price.kind] = price
        return tuple(sorted(best.values(), key=lambda price: (price.kind != OfferKind.ON_DEMAND.value, price.kind)))

    def _fits(self, offer: Offer, gang: int) -> bool:
        priced = offer.accelerator == self.accelerator and offer.kind in HOURLY_KINDS and offer.price is not None
        return priced and offer.accelerators > 0 and (gang <= offer.accelerators or offer.network_bandwidth > 0.0)


def _hour_price(offer: Offer, catalogue: Catalogue, as_of: str) -> HourPrice:
    assert offer.price is not None  # noqa: S101 - the caller checked
    term = f" {offer.term_months} months" if offer.term_months else ""
    usd = to_usd(offer.price.amount, offer.price.currency, dict(catalogue.exchange_rates)) / offer.accelerators
    return HourPrice(
        kind=f"{offer.kind.value}{term}",
        channel=offer.channel,
        offer=offer.id,
        region=offer.region,
        usd_per_accelerator_hour=usd,
        as_of=offer.as_of,
        stale=is_stale(offer, catalogue, as_of),
    )


def _training(question: TrainingQuestion, model: ModelArch) -> TrainingWorkload:
    sequence = question.sequence or min(8192, model.max_position)
    batch = question.global_batch or usual_batch(question.tokens, sequence, tuned=question.lora_rank is not None)
    wrong = step_problem(question.tokens, sequence, batch)
    if wrong:
        raise FlopwiseError(wrong[0], hint=wrong[1])
    return TrainingWorkload(
        name="size",
        kind="training",
        model=model,
        tokens=question.tokens,
        epochs=1.0,
        precision=question.precision,
        sequence=sequence,
        global_batch=batch,
        window=None,
        lora_rank=question.lora_rank,
    )


def _doublings(platform: Platform) -> tuple[int, ...]:
    """One accelerator, doubled up to one server; then servers doubled where a network joins them."""
    sizes = [size for size in (1, 2, 4) if size < platform.accelerators] + [platform.accelerators]
    while platform.network_bandwidth > 0.0 and sizes[-1] < LARGEST_GANG:
        sizes.append(sizes[-1] * 2)
    return tuple(sizes)


def _sized_training(
    mode: Mode,
    question: TrainingQuestion,
    workload: TrainingWorkload,
    reliability: Reliability,
    market: Market,
) -> SizedTraining:
    share = recovery(workload, mode.accelerators, reliability).share()
    time = question.tokens / (mode.rate * share) if share > 0.0 else math.inf
    hours = mode.accelerators * time / HOUR
    each = cheapest_steady(market.prices(mode.accelerators))
    return SizedTraining(
        mode=mode,
        goodput=share,
        time=time,
        accelerator_hours=hours,
        cost=hours * each.usd_per_accelerator_hour if each else None,
        in_time=time <= question.within if question.within else math.isfinite(time),
    )


def cheapest_steady(prices: Sequence[HourPrice]) -> HourPrice | None:
    """The price that costs are shown at: on demand, else the cheapest contract that is not interrupted."""
    steady = [price for price in prices if price.kind != OfferKind.SPOT.value]
    on_demand = [price for price in steady if price.kind == OfferKind.ON_DEMAND.value]
    return next(iter(on_demand), min(steady, key=lambda price: price.usd_per_accelerator_hour, default=None))


def _shown_rows(rows: list[SizedTraining], in_time: list[SizedTraining], question: TrainingQuestion) -> list[SizedTraining]:
    """With a count, its layouts, fastest first; without, the smallest sizes in time, or the fastest when none is."""
    if question.count:
        return sorted(rows, key=lambda row: row.time)[: question.top]
    if not in_time:
        return sorted(rows, key=lambda row: row.time)[: question.top]
    best: dict[int, SizedTraining] = {}
    for row in sorted(in_time, key=lambda row: row.time):
        best.setdefault(row.mode.accelerators, row)
    return [best[size] for size in sorted(best)][: question.top]


def _training_words(question: TrainingQuestion, model: ModelArch, platform: Platform) -> str:
    count = f"{question.count} x " if question.count else ""
    limit = f" within {show(question.within, 's')}" if question.within else ""
    return f"{model.name}, {show(question.tokens, 'tokens')} on {count}{platform.accelerator.name}{limit}"


def _training_assumptions(question: TrainingQuestion, workload: TrainingWorkload, platform: Platform) -> tuple[str, ...]:
    return (
        f"server {platform.id}: {_server_words(platform)}",
        f"{question.precision}, sequence {workload.sequence}, global batch {show(workload.global_batch, 'tokens')}",
        "checkpoints at Young's interval; failures at the catalogue's rate",
        "costs are accelerator-hours at the on-demand price, without network, storage or staff",
    )


def _server_words(platform: Platform) -> str:
    network = show(platform.network_bandwidth, "B/s") if platform.network_bandwidth else "no cluster network"
    return f"{platform.accelerators} accelerators, {network} each"


def _serving(question: ServingQuestion, model: ModelArch) -> tuple[ServingWorkload, str]:
    given = Lengths(mean=question.input, p95=question.input_p95 or question.input * LENGTH_TAIL)
    made = Lengths(mean=question.output, p95=question.output_p95 or question.output * LENGTH_TAIL)
    rate, words = _rate(question, Request(input=given, output=made, ttft=question.ttft, tpot=question.tpot))
    traffic = TrafficProfile(
        peak=rate, profile="flat", timezone="UTC", growth=Growth(p10=0.0, p50=0.0, p90=0.0), origin="peak", derivation=words
    )
    workload = ServingWorkload(
        name="size",
        kind="serving",
        model=model,
        precision=question.precision,
        kv_precision=question.kv_precision,
        engine="vllm",
        traffic=traffic,
        input=given,
        output=made,
        prefix_cache_hit=question.prefix_cache_hit,
        slo=Slo(ttft_p95=question.ttft, tpot_p95=question.tpot),
        zones=1,
    )
    return workload, words


def _rate(question: ServingQuestion, request: Request) -> tuple[float, str]:
    if (question.rate is None) == (question.concurrency is None):
        msg = "exactly one of rate and concurrency is needed"
        raise FlopwiseError(msg, hint="for example --rate '40 req/s', or --concurrency 300")
    if question.concurrency is not None:
        return concurrency_rate(question.concurrency, request)
    rate = question.rate or 0.0
    return rate, show(rate, "req/s")


def _sized_serving(mode: Mode, question: ServingQuestion, rate: float, market: Market) -> SizedServing:
    replicas = max(1, math.ceil(rate * (1.0 + question.headroom) / mode.rate))
    accelerators = replicas * mode.accelerators
    each = cheapest_steady(market.prices(mode.accelerators))
    hourly = accelerators * each.usd_per_accelerator_hour if each else None
    return SizedServing(
        mode=mode,
        replicas=replicas,
        accelerators=accelerators,
        channel=each.channel if each else None,
        cost_per_hour=hourly,
        cost_per_month=hourly * MONTH / HOUR if hourly is not None else None,
        cost_per_million_output_tokens=hourly / (rate * question.output * HOUR) * MEGA if hourly is not None else None,
    )


def _dearness(row: SizedServing) -> tuple[float, int]:
    """Cheapest first, those without a price last; of equals, the one with fewer accelerators."""
    return (math.inf if row.cost_per_hour is None else row.cost_per_hour, row.accelerators)


def _serving_assumptions(question: ServingQuestion, workload: ServingWorkload, platform: Platform) -> tuple[str, ...]:
    tails = f"input p95 {workload.input.p95:g}, output p95 {workload.output.p95:g} tokens"
    return (
        f"server {platform.id}: {_server_words(platform)}",
        f"weights {question.precision}, cache {question.kv_precision}, prefix cache hit {show(question.prefix_cache_hit, '1')}",
        f"{tails}; headroom {show(question.headroom, '1')} on the number of replicas",
        "the rate lasts all day; costs are accelerator-hours at the on-demand price, without network, storage or staff",
    )
