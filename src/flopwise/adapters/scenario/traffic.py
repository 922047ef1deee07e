"""Traffic: from what a user can count (users, requests in flight, a trace) to a peak rate, with the arithmetic printed."""

from __future__ import annotations

from dataclasses import dataclass

from flopwise.adapters.scenario.document import Path_
from flopwise.adapters.scenario.gather import Gather
from flopwise.adapters.scenario.schema import GrowthPart, TrafficPart, UsersPart
from flopwise.domain.trace import RequestTrace
from flopwise.domain.workload import Growth, Lengths, TrafficProfile
from flopwise.ground.units import HOUR, RequestsPerSecond, Seconds, show
from flopwise.planning.demand.blocks import least_mean_load

#: Where growth is stated as one number, the slow and the fast case are that number; where only the middle is, these parts of it.
SLOW_GROWTH, FAST_GROWTH = 0.5, 2.0
#: Busiest hour over the mean of a week when users are counted and nothing else is known, and the shape of their week.
PEAK_FACTOR, USERS_PROFILE = 2.5, "office-hours"
#: The profile without a busiest hour.
FLAT = "flat"
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A peak rate (req/s), what it came from, and the arithmetic in words; profile and mean over peak where they follow."""

    peak: RequestsPerSecond
    name: str
    derivation: str
    profile: str | None = None
    mean_share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What one request asks for: token counts, and the promised latencies (s)."""

    input: Lengths
    output: Lengths
    ttft: Seconds
    tpot: Seconds

    @property
    def service_time(self) -> Seconds:
        """Time in the service when both promises are just kept: TTFT + (output - 1) x TPOT."""
        return self.ttft + self.later_tokens * self.tpot

    @property
    def later_tokens(self) -> float:
        """Output tokens after the first."""
        return max(self.output.mean - 1.0, 0.0)


def users_rate(users: UsersPart, peak_factor: float) -> tuple[RequestsPerSecond, str]:
    """Peak rate from users: the mean over a week, count x active share x requests per hour, times the peak factor.

    >>> users = UsersPart(count=20000, active_share=0.08, requests_per_hour=12)
    >>> users_rate(users, 2.5)[1]
    '20 k users x 8 % active x 12 requests/h = 5.33 req/s on average over a week; x 2.5 in the busiest hour = 13.3 req/s'
    """
    mean = users.count * users.active_share * users.requests_per_hour / HOUR
    peak = mean * peak_factor
    words = (
        f"{show(users.count, '')} users x {show(users.active_share, '1')} active x {users.requests_per_hour:g} requests/h = "
        f"{show(mean, 'req/s')} on average over a week; x {peak_factor:g} in the busiest hour = {show(peak, 'req/s')}"
    )
    return peak, words


def _from_users(part: TrafficPart, users: UsersPart, request: Request, gather: Gather, path: Path_, key: str) -> Origin:
    """Users are counted on average, so the profile is sharpened or smoothed until its mean fits below the peak."""
    profile = gather.chosen(f"{key}.profile", part.profile, USERS_PROFILE, "people are counted, and people sleep")
    default = 1.0 if profile == FLAT else PEAK_FACTOR
    factor = gather.chosen(f"{key}.users.peak_factor", users.peak_factor, default, "busiest hour over the mean of a week")
    most = 1 / least_mean_load(profile)
    if factor > most * (1 + _TOLERANCE):
        message = f"no week of profile {profile!r} has an hour {factor:g} times as busy as its mean"
        gather.refuse((*path, "users", "peak_factor"), message, f"at most {most:.3g}, or another profile")
    rate, words = users_rate(users, factor)
    words += in_flight(rate, request)
    return Origin(peak=rate, name="users", derivation=words, profile=profile, mean_share=max(1 / factor, 1 / most))


def concurrency_rate(concurrency: float, request: Request) -> tuple[RequestsPerSecond, str]:
    """Rate from requests in flight by Little's law: rate = in flight / time in service."""
    rate = concurrency / request.service_time
    parts = f"{show(request.ttft, 's')} + {request.later_tokens:g} x {show(request.tpot, 's')}"
    time = show(request.service_time, "s")
    return rate, f"{concurrency:,.0f} in flight / ({parts} = {time}) = {show(rate, 'req/s')} (Little's law)"


def in_flight(rate: RequestsPerSecond, request: Request) -> str:
    """Concurrency that a rate means when the promises are just kept, as the end of a sentence."""
    time = request.service_time
    return f"; x {show(time, 's')} in service (promises just kept) = {rate * time:,.{0 if rate * time >= 10 else 2}f} in flight"


def origin_of(
    part: TrafficPart, request: Request, trace: RequestTrace | None, gather: Gather, path: Path_, key: str
) -> Origin | None:
    """Peak rate by whichever way the file states it; ``None`` where only ``mix`` can tell.

    Args:
        part: traffic as written.
        request: what one request asks for.
        trace: the trace, when ``traffic.trace`` names one.
        gather: takes problems and assumptions.
        path: path of the traffic in the file.
        key: path of the traffic for assumptions.
    """
    if part.peak is not None:
        words = f"{show(part.peak, 'req/s')} stated"
        return Origin(peak=part.peak, name="peak", derivation=words + in_flight(part.peak, request))
    if part.users is not None:
        return _from_users(part, part.users, request, gather, path, key)
    if trace is not None:
        return Origin(peak=trace.peak_rate, name="trace", derivation=trace.derivation)
    if part.concurrency is not None:
        return _from_concurrency(part.concurrency, request, gather, key)
    return None


def _from_concurrency(concurrency: float, request: Request, gather: Gather, key: str) -> Origin:
    rate, words = concurrency_rate(concurrency, request)
    reason = "time in service when the promises are just kept; a faster service means more requests for the same number in flight"
    gather.assume(f"{key}.concurrency", words, reason)
    return Origin(peak=rate, name="concurrency", derivation=words)


def profile_of(part: TrafficPart, origin: Origin, gather: Gather, key: str) -> TrafficProfile:
    """The whole traffic of a workload."""
    reason = "no shape of the day is stated: the peak lasts all day"
    shape = origin.profile or gather.chosen(f"{key}.profile", part.profile, FLAT, reason)
    reason = "no time zone is stated"
    zone = part.timezone or ("UTC" if shape == FLAT else gather.chosen(f"{key}.timezone", None, "UTC", reason))
    growth = growth_of(part, gather, key)
    return TrafficProfile(
        peak=origin.peak, profile=shape, mean_share=origin.mean_share, timezone=zone, growth=growth, origin=origin.name,
        derivation=origin.derivation,
    )  # fmt: skip


def growth_of(part: TrafficPart, gather: Gather, key: str) -> Growth:
    """Growth quantiles (fractions per month)."""
    if part.growth is None:
        gather.assume(f"{key}.growth", "0 %/month", "no growth is stated")
        return Growth(p10=0.0, p50=0.0, p90=0.0)
    if not isinstance(part.growth, GrowthPart):
        return Growth(p10=part.growth, p50=part.growth, p90=part.growth)
    middle = part.growth.p50
    slow, fast = sorted((middle * SLOW_GROWTH, middle * FAST_GROWTH))
    return Growth(
        p10=part.growth.p10 if part.growth.p10 is not None else _assumed(gather, f"{key}.growth.p10", slow),
        p50=middle,
        p90=part.growth.p90 if part.growth.p90 is not None else _assumed(gather, f"{key}.growth.p90", fast),
    )


def _assumed(gather: Gather, key: str, growth: float) -> float:
    gather.assume(key, f"{show(growth, '1')}/month", "half and twice the middle case")
    return growth
