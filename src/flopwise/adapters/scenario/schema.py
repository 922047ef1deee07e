"""The scenario file as pydantic reads it: which keys there are, what each means, which are needed.

The shipped ``scenario.schema.json`` is made from these classes. They know nothing of the catalogue: names are
looked up, and defaults filled in, by ``resolve``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from flopwise.adapters.scenario import fields as f
from flopwise.domain.hardware import PRECISION_BYTES

#: Kinds of work that this version plans, and those that the file format names but this version refuses.
PLANNED_KINDS = ("training", "fine-tune", "serving", "experiment")
UNPLANNED_KINDS = ("rl", "interactive", "embedding", "batch-inference", "measured")
PROFILES = ("flat", "office-hours", "consumer", "global")
ENGINES = ("vllm", "sglang", "tensorrt-llm")
COMMITMENT_KINDS = ("savings-plan", "committed-use")
OFFER_KINDS = ("purchase", "lease", "reserved", "on-demand", "spot", "capacity-block", "hosted")
COOLING = ("air", "liquid")
SERVING_AMOUNTS = ("peak", "concurrency", "users", "trace")

Precision = Annotated[str, *f.choice("precision", tuple(PRECISION_BYTES))]
TrainingPrecision = Annotated[str, *f.choice("training precision", ("bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32"))]
CachePrecision = Annotated[str, *f.choice("KV-cache precision", ("bf16", "fp16", "fp8", "int8", "fp4", "nvfp4"))]
Profile = Annotated[str, *f.choice("profile", PROFILES)]
Engine = Annotated[str, *f.choice("engine", ENGINES)]
CommitmentKind = Annotated[str, *f.choice("kind of commitment", COMMITMENT_KINDS)]
OfferWord = Annotated[str, *f.choice("kind of offer", OFFER_KINDS)]
Cooling = Annotated[str, *f.choice("cooling", COOLING)]


class Part(BaseModel):
    """Any mapping of the file: unknown keys are refused, nothing is changed after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class HorizonPart(Part):
    """The months that are planned."""

    start: f.Month = Field(description="First month of the plan, for example 2027-01.")
    months: f.Months = Field(description="How many months are planned, 1 to 120.")


class ExpertsPart(Part):
    """Mixture of experts of an inline architecture."""

    count: f.Count = Field(description="Routed experts per layer.")
    top_k: f.Count = Field(description="Routed experts that each token visits.")
    ffn: f.Count = Field(description="Width of one routed expert's MLP.")
    shared: f.CountOrZero = Field(default=0, description="Shared experts per layer.")
    shared_ffn: f.CountOrZero = Field(default=0, description="Width of one shared expert's MLP.")
    layers: f.Count = Field(description="Layers that are mixtures; the others are dense.")


class LatentPart(Part):
    """Multi-head latent attention (MLA) of an inline architecture."""

    kv_rank: f.Count = Field(description="Rank of the compressed KV vector.")
    q_rank: f.Count | None = Field(default=None, description="Rank of the compressed query, where there is one.")
    rope_head_dim: f.Count = Field(description="Head dimensions with rotary positions.")
    nope_head_dim: f.Count = Field(description="Head dimensions without positions.")
    value_head_dim: f.Count = Field(description="Value dimensions per head.")


class ModelPart(Part):
    """An architecture written into the scenario. Sizes are elements, not bytes."""

    name: f.Name = Field(description="Name that reports use.")
    layers: f.Count = Field(description="Transformer layers.")
    hidden: f.Count = Field(description="Hidden size.")
    heads: f.Count = Field(description="Attention (query) heads.")
    kv_heads: f.Count | None = Field(default=None, description="KV heads; as many as attention heads when not given.")
    head_dim: f.Count | None = Field(default=None, description="Dimensions per head; hidden / heads when not given.")
    ffn: f.Count = Field(description="Width of the dense MLP.")
    vocab: f.Count = Field(description="Vocabulary size.")
    max_position: f.Count = Field(description="Longest context in tokens.")
    gated: f.Flag = Field(default=True, description="Whether the MLP is gated (three matrices).")
    tied_embeddings: f.Flag = Field(default=False, description="Whether input and output embeddings are one matrix.")
    window: f.Count | None = Field(default=None, description="Sliding attention window in tokens.")
    sliding_layers: f.CountOrZero = Field(default=0, description="Layers that attend within the window only.")
    experts: ExpertsPart | None = Field(default=None, description="Mixture of experts.")
    latent: LatentPart | None = Field(default=None, description="Multi-head latent attention.")


Model = Annotated[Annotated[f.Text, f.SCALAR] | Annotated[ModelPart, f.MAPPING], f.EITHER]
_MODEL = "Catalogue name such as llama-3.1-70b, path of a Hugging Face config.json, or an inline architecture."


class LaunchPart(Part):
    """Work that may start later, or not at all."""

    date: f.Month = Field(description="Month of the start, for example 2027-09.")
    probability: f.Share = Field(default=1.0, description="How likely it starts at all, for example 60%.")


class WindowPart(Part):
    """When a training run may start and must be finished."""

    start: f.Month = Field(description="First month of the run, for example 2027-04.")
    finish_within: f.Duration = Field(description="Time from the start until it must be finished, for example 75 d.")


class CheckpointPart(Part):
    """How often training state is written, and where."""

    interval: Annotated[
        Annotated[Literal["auto"], Tag("<auto>")] | Annotated[f.Duration, f.SCALAR],
        Discriminator(lambda value: "<auto>" if value == "auto" else "<scalar>"),
    ] = Field(default="auto", description="Time between checkpoints, or auto (Young/Daly).")
    storage: f.Text | None = Field(default=None, description="Where checkpoints go, for example shared.")


class TrainingPart(Part):
    """Pre-training."""

    name: f.Name = Field(description="Name of the workload, unique in the file.")
    kind: Literal["training"] = Field(description="Kind of work.")
    model: Model = Field(description=_MODEL)
    tokens: f.Tokens | None = Field(default=None, description="Tokens of one epoch, for example 2T; optional beside 'mix'.")
    epochs: f.Positive | None = Field(default=None, description="Passes over the tokens; 1 when not given.")
    precision: TrainingPrecision | None = Field(default=None, description="Precision of matrix products; bf16 when not given.")
    sequence: f.Count | None = Field(default=None, description="Sequence length in tokens, for example 8192.")
    global_batch: f.Tokens | None = Field(default=None, description="Tokens per optimizer step, for example 4M tokens.")
    window: WindowPart | None = Field(default=None, description="When the run may start and must be finished.")
    checkpoint: CheckpointPart | None = Field(default=None, description="Checkpoints.")
    launch: LaunchPart | None = Field(default=None, description="A run that may start later, or not at all.")


class FineTunePart(Part):
    """Fine-tuning, once or again and again."""

    name: f.Name = Field(description="Name of the workload, unique in the file.")
    kind: Literal["fine-tune"] = Field(description="Kind of work.")
    model: Model = Field(description=_MODEL)
    tokens: f.Tokens = Field(description="Tokens of one epoch of one run, for example 500M.")
    epochs: f.Positive | None = Field(default=None, description="Passes over the tokens; 1 when not given.")
    every: f.Duration | None = Field(default=None, description="Time between starts of a recurring run, for example 1 week.")
    finish_within: f.Duration | None = Field(default=None, description="Time a run may take, for example 2 d.")
    precision: TrainingPrecision | None = Field(default=None, description="Precision of matrix products; bf16 when not given.")
    sequence: f.Count | None = Field(default=None, description="Sequence length in tokens, for example 4096.")
    global_batch: f.Tokens | None = Field(default=None, description="Tokens per optimizer step, for example 500k tokens.")
    lora_rank: f.Count | None = Field(default=None, description="Rank of low-rank adapters; without it all weights train.")
    window: WindowPart | None = Field(default=None, description="For a single run: when it may start and must be finished.")
    checkpoint: CheckpointPart | None = Field(default=None, description="Checkpoints.")
    launch: LaunchPart | None = Field(default=None, description="Runs that may start later, or not at all.")

    @model_validator(mode="after")
    def _once_or_recurring(self) -> FineTunePart:
        if self.every is not None and self.window is not None:
            msg = "'every' and 'window' exclude each other; expected 'every' for recurring runs or 'window' for a single one"
            raise ValueError(msg)
        if self.window is not None and self.finish_within is not None:
            msg = "'finish_within' is given beside 'window'; expected it inside 'window' only"
            raise ValueError(msg)
        return self


class UsersPart(Part):
    """Traffic from the number of users."""

    count: f.Users = Field(description="Registered users, for example 20000 or 20k.")
    active_share: f.Share = Field(description="Share of them that are active, on average over a week, for example 8%.")
    requests_per_hour: f.Positive = Field(description="Requests of an active user per hour, for example 12.")
    peak_factor: f.Factor | None = Field(default=None, description="Busiest hour over the mean of a week, for example 2.5.")


class GrowthPart(Part):
    """Monthly growth as quantiles."""

    p10: f.Growing | None = Field(default=None, description="Slow case, for example 3 %/month.")
    p50: f.Growing = Field(description="Middle case, for example 6 %/month.")
    p90: f.Growing | None = Field(default=None, description="Fast case, for example 12 %/month.")

    @model_validator(mode="after")
    def _ordered(self) -> GrowthPart:
        slow, fast = self.p10, self.p90
        if (slow is not None and slow > self.p50) or (fast is not None and fast < self.p50):
            msg = "the quantiles are out of order; expected p10 <= p50 <= p90"
            raise ValueError(msg)
        return self


class TrafficPart(Part):
    """How many requests arrive: exactly one of peak, concurrency, users and trace (none of them only beside ``mix``)."""

    peak: f.Rate | None = Field(default=None, description="Requests per second at the busiest time, for example 40 req/s.")
    concurrency: f.Positive | None = Field(default=None, description="Requests in flight at the busiest time, for example 300.")
    users: UsersPart | None = Field(default=None, description="Traffic from the number of users.")
    trace: f.Text | None = Field(default=None, description="CSV of arrivals and token counts, relative to this file.")
    profile: Profile | None = Field(default=None, description="Shape of a day: flat, office-hours, consumer or global.")
    timezone: f.TimeZone | None = Field(default=None, description="Where the users are, for example America/New_York.")
    growth: Annotated[Annotated[f.Growing, f.SCALAR] | Annotated[GrowthPart, f.MAPPING], f.EITHER] | None = Field(
        default=None, description="Growth per month, for example 6 %/month or {p10: 3 %/month, p50: 6 %/month, p90: 12 %/month}."
    )

    @model_validator(mode="after")
    def _one_origin(self) -> TrafficPart:
        given = [name for name in SERVING_AMOUNTS if getattr(self, name) is not None]
        if len(given) > 1:
            msg = f"{' and '.join(given)} are given; expected exactly one of {', '.join(SERVING_AMOUNTS)}"
            raise ValueError(msg)
        return self


class LengthPart(Part):
    """Token counts of one direction."""

    mean: f.Positive = Field(description="Mean tokens per request, for example 1200.")
    p95: f.Positive | None = Field(default=None, description="95th percentile in tokens, for example 4000.")

    @model_validator(mode="after")
    def _ordered(self) -> LengthPart:
        if self.p95 is not None and self.p95 < self.mean:
            msg = f"p95 ({self.p95:g}) is below the mean ({self.mean:g}); expected the larger number as p95"
            raise ValueError(msg)
        return self


Length = Annotated[Annotated[f.Positive, f.SCALAR] | Annotated[LengthPart, f.MAPPING], f.EITHER]


class LengthsPart(Part):
    """Token counts of requests."""

    input: Length = Field(description="Prompt tokens, for example {mean: 1200, p95: 4000}.")
    output: Length = Field(description="Generated tokens, for example {mean: 250, p95: 800}.")


class SloPart(Part):
    """Promises to users."""

    ttft_p95: f.Duration | None = Field(default=None, description="Time to first token, 95th percentile, for example 800 ms.")
    tpot_p95: f.Duration | None = Field(default=None, description="Time per output token, 95th percentile, for example 45 ms.")
    availability: f.Share | None = Field(default=None, description="Share of time in service, for example 99.9 %.")


class QualityPart(Part):
    """How much worse an answer may get by a lower precision or another model."""

    max_drop: f.Share = Field(description="Largest drop of quality, for example 1 %.")


class ServingPart(Part):
    """Online inference of one model."""

    name: f.Name = Field(description="Name of the workload, unique in the file.")
    kind: Literal["serving"] = Field(description="Kind of work.")
    model: Model = Field(description=_MODEL)
    precision: Precision | None = Field(default=None, description="Precision of weights and products, for example fp8.")
    kv_precision: CachePrecision | None = Field(default=None, description="Precision of the KV cache, for example fp8.")
    engine: Engine | None = Field(default=None, description="Inference engine, for example vllm.")
    traffic: TrafficPart = Field(description="How many requests arrive.")
    lengths: LengthsPart | None = Field(default=None, description="Token counts; taken from the trace when there is one.")
    prefix_cache_hit: f.Share | None = Field(default=None, description="Share of prompt tokens found in a cache: 30%.")
    slo: SloPart | None = Field(default=None, description="Promises to users.")
    zones: f.Zones | None = Field(default=None, description="Failure zones that share the replicas, for example 2.")
    quality: QualityPart | None = Field(default=None, description="How much worse an answer may get.")
    launch: LaunchPart | None = Field(default=None, description="A service that may start later, or not at all.")


class ExperimentPart(Part):
    """Research work beside training. It draws on the headroom."""

    name: f.Name = Field(description="Name of the workload, unique in the file.")
    kind: Literal["experiment"] = Field(description="Kind of work.")
    share_of_training: f.Share = Field(description="Size as a share of all training, for example 15%.")


def kind_tag(value: object) -> str:
    """Tag of a workload: its kind in angle brackets, which are dropped from paths in messages."""
    kind = value.get("kind") if isinstance(value, Mapping) else getattr(value, "kind", None)
    return f"<{kind}>"


WorkloadPart = Annotated[
    Annotated[TrainingPart, Tag("<training>")]
    | Annotated[FineTunePart, Tag("<fine-tune>")]
    | Annotated[ServingPart, Tag("<serving>")]
    | Annotated[ExperimentPart, Tag("<experiment>")],
    Discriminator(kind_tag),
]


class SitePart(Part):
    """A place for bought servers."""

    name: f.Name = Field(description="Name of the site, unique in the file.")
    electricity: f.Electricity | None = Field(default=None, description="Price of electricity, for example 0.08 USD/kWh.")
    pue: f.Factor | None = Field(default=None, description="Facility power over IT power, for example 1.25.")
    power: f.Power | None = Field(default=None, description="IT power that the site can feed, for example 2 MW.")
    colocation: f.Colocation | None = Field(default=None, description="Rent of space and power, for example 180 USD/kW/month.")
    cooling: Cooling | None = Field(default=None, description="air or liquid.")
    available: f.Month | None = Field(default=None, description="Month from which it can take servers, for example 2027-03.")


class OwnedPart(Part):
    """Servers that stand already."""

    server: f.Text = Field(description="Catalogue name of the server, for example dgx-h100.")
    count: f.Count = Field(description="How many servers.")
    site: f.Text | None = Field(default=None, description="Name of a site of this file.")
    since: f.Month | None = Field(default=None, description="Month in which they were bought, for example 2025-06.")


class CommitmentPart(Part):
    """A contract that is already held: it is filled first."""

    channel: f.Text = Field(description="Channel of the contract, for example aws.")
    kind: CommitmentKind = Field(description="savings-plan or committed-use.")
    amount: f.Hourly = Field(description="What is paid whether used or not, for example 120 USD/h.")
    until: f.Month = Field(description="Last month of the contract, for example 2027-11.")


class LeadTimePart(Part):
    """From order to use."""

    p50: f.Duration = Field(description="Half of the orders arrive within, for example 12 weeks.")
    p90: f.Duration | None = Field(default=None, description="Nine of ten arrive within, for example 26 weeks.")

    @model_validator(mode="after")
    def _ordered(self) -> LeadTimePart:
        if self.p90 is not None and self.p90 < self.p50:
            msg = "p90 is shorter than p50; expected p50 <= p90"
            raise ValueError(msg)
        return self


class TokenPricePart(Part):
    """Prices of a hosted API."""

    model: f.Text = Field(description="Catalogue name of the model that is served.")
    input: f.TokenAmount = Field(description="Prompt tokens, for example 0.90 USD/1M tokens.")
    output: f.TokenAmount = Field(description="Generated tokens, for example 2.70 USD/1M tokens.")
    cached_input: f.TokenAmount | None = Field(default=None, description="Prompt tokens found in the cache.")

    @model_validator(mode="after")
    def _one_currency(self) -> TokenPricePart:
        given = {price.currency for price in (self.input, self.output, self.cached_input) if price}
        if len(given) > 1:
            msg = f"prices in {' and '.join(sorted(given))}; expected one currency"
            raise ValueError(msg)
        return self


class OfferPart(Part):
    """A quote of the user's own. It stands for shipped offers of the same channel, size and contract."""

    name: f.Name = Field(description="Name of the channel, for example oem-b.")
    kind: OfferWord = Field(description="Kind of contract, for example purchase.")
    server: f.Text | None = Field(default=None, description="Catalogue server, for example dgx-h200 (purchases and leases).")
    accelerator: f.Text | None = Field(default=None, description="Catalogue accelerator, for example h100-sxm (rented kinds).")
    accelerators: f.PerServer | None = Field(default=None, description="Accelerators per server, for example 8.")
    network: f.Bandwidth | None = Field(default=None, description="Cluster network per accelerator: 400 Gbit/s; none: 0 Gbit/s.")
    price: f.ServerPrice | None = Field(default=None, description="Per server 310k USD, per hour 55.04 USD/h or 2.40 USD/GPU/h.")
    tokens: TokenPricePart | None = Field(default=None, description="Prices of a hosted API.")
    vendor: f.Text | None = Field(default=None, description="Who sells it; the channel's name when not given.")
    term: f.Duration | None = Field(default=None, description="Length of the contract, for example 1 y (lease and reserved).")
    upfront: f.Share | None = Field(default=None, description="Share paid at the start, for example 20%.")
    most: f.Count | None = Field(default=None, description="Most servers that can be had at once.")
    least: f.CountOrZero | None = Field(default=None, description="Smallest order in servers.")
    lead_time: LeadTimePart | None = Field(default=None, description="From order to use.")
    interruptions: f.Weight | None = Field(default=None, description="Spot: interruptions per server and hour, for example 0.02.")
    as_of: f.Day = Field(description="Date of the quote, for example 2026-11-20.")
    source: f.Text | None = Field(default=None, description="Where the quote is filed.")


Channel = Annotated[Annotated[f.Text, f.SCALAR] | Annotated[OfferPart, f.MAPPING], f.EITHER]


class BudgetPart(Part):
    """Limits on money."""

    capex: f.Capital | None = Field(default=None, description="For purchases over the whole horizon, for example 40M USD.")
    monthly: f.Monthly | None = Field(
        default=None,
        description="For what a month costs beside purchases (rent, power, space, support, staff), for example 2.5M USD.",
    )


class SupplyPart(Part):
    """What the plan may draw on."""

    sites: tuple[SitePart, ...] = Field(default=(), description="Places for bought servers.")
    owned: tuple[OwnedPart, ...] = Field(default=(), description="Servers that stand already.")
    commitments: tuple[CommitmentPart, ...] = Field(default=(), description="Contracts that are already held.")
    channels: tuple[Channel, ...] | None = Field(default=None, description="Catalogue channels by name, or inline quotes.")
    quotes: f.Text | None = Field(default=None, description="CSV of quotes, relative to this file.")
    region: f.Text | None = Field(default=None, description="Region that decides eligibility and facility facts, for example us.")
    budget: BudgetPart | None = Field(default=None, description="Limits on money.")


class FinancePart(Part):
    """Rates for money over time."""

    wacc: f.Share | None = Field(default=None, description="Cost of capital per year, for example 10 %.")
    depreciation: f.Duration | None = Field(default=None, description="Life in the books, for example 5 y.")
    residual: f.Ages | None = Field(default=None, description="Sale value over price by age: {1 y: 62%, 3 y: 30%}.")
    tax: f.Share | None = Field(default=None, description="Tax on profit, for example 0 %.")
    support_rate: f.Share | None = Field(default=None, description="Vendor support per year over the price, for example 5 %.")
    staff_cost: f.Yearly | None = Field(default=None, description="One operations engineer for a year, for example 220k USD/y.")
    accelerators_per_engineer: f.Positive | None = Field(default=None, description="Accelerators per engineer, for example 500.")


class CvarPart(Part):
    """Weight of bad outcomes."""

    alpha: f.Share = Field(description="Quantile beyond which outcomes count as bad, for example 95 %.")
    weight: f.Share = Field(description="Weight of their mean against the plain mean, 0 to 1, for example 0.3.")


class MaxSharePart(Part):
    """Largest share of capacity by name on one tier."""

    vendor: f.Share | None = Field(default=None, description="Of one accelerator vendor, for example 70 %.")
    channel: f.Share | None = Field(default=None, description="Of one channel, for example 80 %.")
    region: f.Share | None = Field(default=None, description="In one region, for example 100 %.")


class RiskPart(Part):
    """Limits on concentration, and how uncertainty is weighed."""

    scenarios: f.Count | None = Field(default=None, description="Sampled futures, for example 24.")
    cvar: CvarPart | None = Field(default=None, description="Weight of bad outcomes.")
    max_share: MaxSharePart | None = Field(default=None, description="Largest share of capacity by name.")
    min_channels: f.Count | None = Field(default=None, description="Channels that the plan must use at least, for example 2.")
    seed: f.CountOrZero | None = Field(default=None, description="Seed of everything random, for example 7.")


class MixPart(Part):
    """Share of training and serving where absolute work is unknown."""

    training: f.Share = Field(description="Share of accelerator time, for example 70 %.")
    serving: f.Share = Field(description="Share of accelerator time, for example 30 %.")

    @model_validator(mode="after")
    def _whole(self) -> MixPart:
        if abs(self.training + self.serving - 1.0) > 0.005:
            msg = f"the shares add up to {self.training + self.serving:.0%}; expected 100 %"
            raise ValueError(msg)
        return self


def _version(value: object) -> int:
    if isinstance(value, bool) or value != 1:
        msg = f"file format {value!r} is not known; expected 1"
        raise ValueError(msg)
    return 1


class ScenarioPart(Part):
    """A flopwise scenario: what is wanted, what is there, what it may cost."""

    flopwise: Annotated[Literal[1], BeforeValidator(_version)] = Field(description="Version of the file format: 1.")
    name: f.Name = Field(description="Name of the scenario; the plan's folder is called after it.")
    currency: f.Currency | None = Field(
        default=None, description="Currency of amounts in reports: USD. Prices in EUR and CNY are converted by dated rates."
    )
    as_of: f.Day | None = Field(
        default=None, description="Day of the plan, against which ages are measured. Today when not given."
    )
    horizon: HorizonPart = Field(description="The months that are planned.")
    headroom: f.Share | None = Field(
        default=None, description="Room for failures, growth, experiments: 15-30 %, for example 20%."
    )
    mix: MixPart | None = Field(default=None, description="Share of training and serving where absolute work is unknown.")
    workloads: tuple[WorkloadPart, ...] = Field(min_length=1, description="The work.")
    supply: SupplyPart | None = Field(default=None, description="What the plan may draw on.")
    finance: FinancePart | None = Field(default=None, description="Rates for money over time.")
    risk: RiskPart | None = Field(default=None, description="Limits on concentration, and how uncertainty is weighed.")


#: Keys that the format names and this version does not read: said plainly instead of "unknown key".
NOT_YET: Mapping[str, str] = {
    "calibration": "measurements do not recalibrate the model in this version",
    "history": "history is not read by this version; state 'tokens' or 'traffic'",
    "evidence": "evidence of quality is not read by this version",
}
