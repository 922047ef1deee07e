"""Offers as CSV: the template, conversions, refusals by line, and what ships."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwise.catalog import load_catalogue
from flopwise.catalog.offers import COLUMNS, MOST_ROWS, Names, read_offers, read_shipped_offers
from flopwise.domain.offer import Offer, OfferKind
from flopwise.domain.provenance import Confidence
from flopwise.ground.errors import CatalogueError, InputFileError, UnknownNameError

DATA = files("flopwise") / "catalog" / "data"
SHIPPED = read_shipped_offers(DATA / "offers")
TEMPLATE = (DATA / "quote-template.csv").read_text(encoding="utf-8")
HEADER = "channel,kind,server,accelerator,accelerators,network,region,price,currency,per,low,high,term_months,upfront,as_of"
GOOD = "a,on-demand,x8,h100-sxm,8,,us,55.04,USD,server-hour,,,,,2026-11-20"


class World:
    """A catalogue with one server, one accelerator, one model and one currency beside USD."""

    exchange_rates: ClassVar = {"EUR": None}

    def server(self, name: str) -> Any:
        if name != "dgx-h100":
            raise UnknownNameError("server", name, ["dgx-h100"])
        bandwidth = SimpleNamespace(value=50e9)
        return SimpleNamespace(id="dgx-h100", accelerator="h100-sxm", accelerators=8, network_bandwidth=bandwidth)

    def accelerator(self, name: str) -> Any:
        if name.lower() not in {"h100-sxm", "h100"}:
            raise UnknownNameError("accelerator", name, ["h100-sxm"])
        return SimpleNamespace(id="h100-sxm")

    def model(self, name: str) -> Any:
        if name not in {"llama-3.1-8b", "meta-llama/Llama-3.1-8B"}:
            raise UnknownNameError("model", name, ["llama-3.1-8b"])
        return SimpleNamespace(id="llama-3.1-8b")


WORLD = cast("Names", World())


def read(*rows: str, header: str = HEADER, **more: Any) -> tuple[Offer, ...]:
    return read_offers("\n".join([header, *rows]), origin="quotes.csv", **more)


def row(**cells: str) -> str:
    columns = HEADER.split(",")
    assert set(cells) <= set(columns)
    return ",".join((dict(zip(columns, GOOD.split(","), strict=True)) | cells)[column] for column in columns)


def refusal(*rows: str, header: str = HEADER, **more: Any) -> str:
    with pytest.raises(InputFileError) as error:
        read(*rows, header=header, **more)
    return str(error.value)


def test_template_is_read_back() -> None:
    purchase, reserved, spot, hosted = read_offers(TEMPLATE, origin="quotes.csv", user_quote=True)
    assert purchase.price is not None
    assert (purchase.kind, purchase.price.amount, purchase.price.per) == (OfferKind.PURCHASE, 310000, "server")
    assert purchase.network_bandwidth == 50e9
    assert purchase.lead_time is not None
    assert (purchase.lead_time.p50_weeks, purchase.lead_time.p90_weeks, purchase.min_servers) == (12, 26, 4)
    assert reserved.price is not None
    assert (reserved.price.amount, reserved.term_months, reserved.upfront_share) == (8 * 2.10, 12, 0.25)
    assert spot.price is not None
    assert spot.price.low == pytest.approx(8 * 0.9)
    assert spot.price.high == pytest.approx(8 * 1.8)
    assert spot.interruptions_per_hour == 0.02
    assert hosted.tokens is not None
    assert (hosted.tokens.input, hosted.tokens.output, hosted.tokens.cached_input) == (0.60, 0.80, 0.30)
    assert all(offer.user_quote for offer in (purchase, reserved, spot, hosted))


def test_template_explains_every_column() -> None:
    header = next(line for line in TEMPLATE.splitlines() if not line.startswith("#"))
    assert tuple(header.split(",")) == COLUMNS
    comments = " ".join(line for line in TEMPLATE.splitlines() if line.startswith("#"))
    assert not [column for column in COLUMNS if column not in comments]


@pytest.mark.parametrize(
    ("price", "per", "hourly"),
    [
        ("55.04", "server-hour", 55.04), ("6.88", "accelerator-hour", 55.04),
        # 730 a month is 1 an hour: tools that divided by another number of hours were wrong by a factor of 20.
        ("730", "server-month", 1.0), ("1460", "server-month", 2.0), ("730", "accelerator-month", 8.0),
    ],
)  # fmt: skip
def test_price_is_per_server_hour(price: str, per: str, hourly: float) -> None:
    (offer,) = read(row(price=price, per=per))
    assert offer.price is not None
    assert offer.price.amount == pytest.approx(hourly)
    assert offer.price.per == "server-hour"


def test_eight_spot_accelerators_cost_eight_times_one() -> None:
    """A listing of 1.28 per accelerator and hour is 10.24 for the server of eight."""
    (offer,) = read(row(kind="spot", price="1.28", per="accelerator-hour"))
    assert offer.price is not None
    assert offer.price.amount == pytest.approx(10.24)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"price": ""}, "line 3, price: the price is missing, and a missing price is never taken as 0"),
        ({"price": "0"}, "line 3, price: the price is 0, and a missing price is never taken as 0"),
        ({"price": "-3"}, "'-3' is not a number of at least 0"),
        ({"price": "nan"}, "'nan' is not a number"),
        ({"price": "1e999"}, "'1e999' is not a number"),
        ({"price": "55.04 USD"}, "is not a number"),
        ({"price": "310k"}, "is not a number"),
        ({"currency": ""}, "'currency' is missing"),
        ({"currency": "$"}, "'$' is not a currency"),
        ({"per": ""}, "'per' is missing"),
        ({"per": "month"}, "'month' does not fit an offer of kind 'on-demand'"),
        ({"per": "server"}, "'server' does not fit an offer of kind 'on-demand'"),
        ({"kind": "purchase"}, "'server-hour' does not fit an offer of kind 'purchase'"),
        ({"kind": "on-demnad"}, "unknown kind 'on-demnad' (expected on-demand?)"),
        ({"kind": ""}, "'kind' is missing"),
        ({"kind": "reserved"}, "the length of the contract is missing"),
        ({"kind": "reserved", "term_months": "1.5"}, "'1.5' is not a whole number"),
        ({"channel": ""}, "'channel' is missing"),
        ({"accelerator": ""}, "'accelerator' is missing"),
        ({"accelerators": ""}, "how many accelerators one server has is missing"),
        ({"network": "400 Gb"}, "'Gb' is ambiguous"),
        ({"network": "400"}, "a unit is missing"),
        ({"low": "60"}, "does not lie between low and high"),
        ({"high": "50"}, "does not lie between low and high"),
        ({"upfront": "150 %"}, "is no share of the price"),
        ({"as_of": ""}, "'as_of' is missing"),
        ({"as_of": "2026-13-01"}, "'2026-13-01' is not a date"),
        ({"as_of": "20.11.2026"}, "is not a date"),
    ],
)
def test_what_is_wrong_is_named_by_line(cells: dict[str, str], words: str) -> None:
    text = refusal(GOOD, row(**({"server": "other"} | cells)))
    assert words in text
    assert "line 3" in text


def test_gigabits_and_gigabytes_are_told_apart() -> None:
    """400 Gbit/s and 50 GB/s are one rate; 50 GiB/s is another."""
    rates = [read(row(network=text))[0].network_bandwidth for text in ("400 Gbit/s", "50 GB/s", "50 GiB/s")]
    assert rates == [50e9, 50e9, 50 * 2**30]


def test_all_problems_are_reported_at_once() -> None:
    text = refusal(row(price=""), row(server="y", as_of="soon"), row(server="z", kind="reserved", per="month"))
    assert text.startswith("quotes.csv: 4 problems")
    assert [line.split(",")[0] for line in text.splitlines()[1:]] == ["  - line 2", "  - line 3", "  - line 4", "  - line 4"]


def test_comments_keep_line_numbers() -> None:
    assert "line 5, price" in refusal("# a comment, with commas", "", GOOD, row(server="y", price=""))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file holds no header"),
        ("# nothing\n\n", "the file holds no header"),
        (HEADER.replace("price", "prize") + "\n" + GOOD, "unknown column 'prize'; did you mean 'price'?"),
        ("channel,price\na,3", "missing columns kind, currency, as_of"),
        (
            HEADER.replace(",", ";") + "\n" + GOOD.replace(",", ";"),
            "1 problem\n  - line 1, header: the cells are not separated by commas",
        ),
        (HEADER.replace(",", "\t") + "\n", "the cells are not separated by commas"),
        (HEADER + ",price\n" + GOOD, "a column stands there twice"),
        (HEADER + "\n" + GOOD + ",,,", "18 cells under 15 columns"),
        (HEADER + '\n"' + GOOD, "not CSV"),
        (HEADER + "\n" + GOOD + "\n" + GOOD, "the contract of line 2 is stated again"),
        (HEADER + ("\n" + GOOD) * (MOST_ROWS + 1), f"more than {MOST_ROWS} rows"),
    ],
)
def test_files_that_are_no_price_list(text: str, words: str) -> None:
    with pytest.raises(InputFileError) as error:
        read_offers(text, origin="quotes.csv")
    assert words in str(error.value)


def test_a_currency_without_a_rate_is_refused_where_rates_are_known() -> None:
    assert "no exchange rate for GBP (expected USD, EUR)" in refusal(row(currency="GBP"), catalogue=WORLD)
    assert read(row(currency="EUR"), catalogue=WORLD)[0].price


CELL = st.sampled_from(
    ["", "0", "1", "1e999", "-1", "\u0663", "purchase", "hosted", "server", "USD", "2026-02-30", '"', "\0", "a" * 200_000]
)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.lists(CELL | st.text(max_size=4), max_size=len(COLUMNS) + 1), max_size=4))
def test_any_text_is_read_or_refused(cells: list[list[str]]) -> None:
    text = "\n".join([",".join(COLUMNS), *(",".join(line) for line in cells)])
    try:
        offers = read_offers(text, origin="any.csv")
    except InputFileError:
        return
    for offer in offers:
        assert (offer.price is not None and offer.price.amount > 0) or (offer.tokens is not None and offer.tokens.input > 0)


def test_mark_of_a_spreadsheet_and_spaces_do_not_matter() -> None:
    (offer,) = read_offers("\ufeff" + HEADER + "\r\n" + GOOD.replace(",", " , ") + "\r\n", origin="quotes.csv")
    assert offer.channel == "a"


def test_catalogue_resolves_names() -> None:
    (bought,) = read(
        row(kind="purchase", server="dgx-h100", accelerator="", accelerators="", per="server", price="250000"), catalogue=WORLD
    )
    assert (bought.accelerator, bought.accelerators, bought.network_bandwidth) == ("h100-sxm", 8, 50e9)
    (rented,) = read(row(server="gpu-8x", accelerator="H100"), catalogue=WORLD)
    assert (rented.server, rented.accelerator, rented.network_bandwidth) == ("gpu-8x", "h100-sxm", 0.0)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"kind": "purchase", "server": "dgx-h10", "per": "server"}, "unknown server 'dgx-h10'; did you mean 'dgx-h100'?"),
        ({"accelerator": "h100-smx"}, "did you mean 'h100-sxm'?"),
        ({"server": "dgx-h100", "accelerators": "4"}, "dgx-h100 has 8 accelerators, not 4"),
    ],
)
def test_names_that_the_catalogue_does_not_hold(cells: dict[str, str], words: str) -> None:
    assert words in refusal(row(**cells), catalogue=WORLD)


def test_hosted_rows() -> None:
    header = "channel,kind,model,input,output,cached_input,currency,as_of"
    (offer,) = read("api,hosted,meta-llama/Llama-3.1-8B,0.1,0.2,,USD,2026-11", header=header, catalogue=WORLD)
    assert offer.tokens is not None
    assert (offer.tokens.model, offer.tokens.cached_input, offer.price) == ("llama-3.1-8b", None, None)
    assert "the output price" in refusal("api,hosted,llama-3.1-8b,0.1,,,USD,2026-11", header=header)
    assert "the input price" in refusal("api,hosted,llama-3.1-8b,0,1,,USD,2026-11", header=header)
    assert "unknown model" in refusal("api,hosted,llama-9,0.1,1,,USD,2026-11", header=header, catalogue=WORLD)


def test_lead_times() -> None:
    header = HEADER + ",lead_p50_weeks,lead_p90_weeks"
    (offer,) = read(GOOD + ",12,", header=header)
    assert offer.lead_time is not None
    assert offer.lead_time.p90_weeks == 24
    assert "less than the median" in refusal(GOOD + ",12,10", header=header)
    assert "median of the lead time is missing" in refusal(GOOD + ",,10", header=header)


def test_confidence() -> None:
    assert read(GOOD)[0].confidence is Confidence.MEDIUM
    assert read(GOOD, user_quote=True)[0].confidence is Confidence.HIGH
    assert "is not a confidence" in refusal(GOOD + ",sure", header=HEADER + ",confidence")


def test_enough_ships_for_the_channels_that_scenarios_name() -> None:
    assert len(SHIPPED) >= 300
    channels = Counter(offer.channel for offer in SHIPPED)
    assert {"oem", "aws", "gcp", "nebius", "verda", "lambda", "runpod", "oci", "oem-cn", "alibaba-cloud"} <= set(channels)


def test_what_ships_is_dated_sourced_and_priced() -> None:
    for offer in SHIPPED:
        assert offer.price is not None
        assert offer.price.amount > 0
        assert offer.price.per == ("server" if offer.kind is OfferKind.PURCHASE else "server-hour")
        # Clouds are dated recently; a server that is no longer made has the price of its launch.
        assert offer.as_of >= ("2016" if offer.kind is OfferKind.PURCHASE else "2023")
        assert len(offer.source) > 8
        assert "shared" not in offer.source + offer.note
        assert offer.accelerators > 0
        assert not offer.user_quote
    assert len({offer.id for offer in SHIPPED}) == len(SHIPPED)


def test_every_shipped_name_is_in_the_catalogue() -> None:
    catalogue = load_catalogue()
    for offer in SHIPPED:
        accelerator = catalogue.accelerator(offer.accelerator)
        assert accelerator.id == offer.accelerator
        if offer.kind is OfferKind.PURCHASE:
            server = catalogue.server(offer.server)
            assert (server.id, server.accelerator, server.accelerators) == (offer.server, offer.accelerator, offer.accelerators)
            assert offer.network_bandwidth == pytest.approx(server.network_bandwidth.value)


def test_every_server_with_a_price_can_be_bought() -> None:
    """A server without a published price has no offer: a price is never made up."""
    priced = {server.id: server for server in load_catalogue().servers.values() if server.price}
    bought = {offer.server: offer for offer in SHIPPED if offer.kind is OfferKind.PURCHASE}
    assert set(priced) <= set(bought)
    for name, server in priced.items():
        offer = bought[name]
        assert offer.price is not None
        assert server.price is not None
        assert (offer.price.amount, offer.price.currency) == (server.price.value, server.price_currency)
        assert offer.channel == ("oem-cn" if server.price_currency == "CNY" else "oem")
        assert offer.as_of == server.price.as_of
        assert offer.lead_time is not None
        assert 0 < offer.lead_time.p50_weeks < offer.lead_time.p90_weeks <= 52


def test_prices_per_accelerator_are_plausible() -> None:
    """An hour of an accelerator costs 0.05 to 25 USD: a monthly price among hourly ones would stand out."""
    for offer in SHIPPED:
        if offer.price is not None and offer.kind is not OfferKind.PURCHASE and offer.price.currency == "USD":
            assert 0.05 < offer.price.amount / offer.accelerators < 25, offer.id


def find(channel: str, server: str, kind: OfferKind, region: str = "", term: int = 0) -> float:
    for offer in SHIPPED:
        if (offer.channel, offer.server, offer.kind, offer.term_months) == (
            channel,
            server,
            kind,
            term,
        ) and region in offer.region:
            assert offer.price is not None
            return offer.price.amount
    raise AssertionError((channel, server, kind, region, term))


def test_known_prices() -> None:
    assert find("aws", "p5.48xlarge", OfferKind.ON_DEMAND) == 55.04
    assert find("gcp", "a3-highgpu-8g", OfferKind.ON_DEMAND, "us-central1") == pytest.approx(88.49, abs=0.01)
    assert find("nebius", "gpu-h100-sxm_8gpu", OfferKind.ON_DEMAND) == 23.6


def test_break_even_of_shipped_commitments() -> None:
    """Price of a commitment over the price on demand: 0.69 for one year, 0.44 for three."""
    on_demand = find("gcp", "a3-highgpu-8g", OfferKind.ON_DEMAND, "us-central1")
    one = find("gcp", "a3-highgpu-8g", OfferKind.RESERVED, "us-central1", 12)
    three = find("gcp", "a3-highgpu-8g", OfferKind.RESERVED, "us-central1", 36)
    assert one / on_demand == pytest.approx(0.69, abs=0.005)
    assert three / on_demand == pytest.approx(0.44, abs=0.005)


def test_price_that_may_lack_a_part_says_so() -> None:
    """A tool listed a3-highgpu-8g without the local SSD that is forced on the buyer."""
    for offer in SHIPPED:
        if offer.server == "a3-highgpu-8g":
            assert "local SSD" in offer.note


def test_cluster_network_is_stated_where_there_is_one() -> None:
    rates = {offer.server: offer.network_bandwidth for offer in SHIPPED}
    assert rates["p5.48xlarge"] == 50e9
    assert rates["a3-megagpu-8g"] == 25e9
    assert rates["gpu-h100-sxm_8gpu"] == 50e9
    assert rates["g2-standard-4"] == 0.0
    assert rates["1x_H100-SXM_SECURE"] == 0.0


def test_chinese_channels_are_ranges_with_low_confidence() -> None:
    for offer in SHIPPED:
        if offer.channel in {"oem-cn", "alibaba-cloud"}:
            assert offer.price is not None
            assert offer.price.currency == "CNY"
            assert offer.confidence is Confidence.LOW
            assert offer.price.low is not None
            assert offer.price.high is not None
            assert offer.price.low < offer.price.amount < offer.price.high


def test_shipped_files_must_state_sources(tmp_path: Any) -> None:
    (tmp_path / "aws.csv").write_text(HEADER.removeprefix("channel,") + "\n" + GOOD.removeprefix("a,"), encoding="utf-8")
    with pytest.raises(CatalogueError, match=r"aws\.csv: 1 problem\n.*'source' is missing"):
        read_shipped_offers(tmp_path)
    (tmp_path / "aws.csv").write_text(HEADER + ",source\n" + GOOD + ",list", encoding="utf-8")
    with pytest.raises(CatalogueError, match="is not the channel that the file is named after"):
        read_shipped_offers(tmp_path)
