"""Headroom: one budget that spares, failure zones, growth and experiments draw from, never added twice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from flopwise.domain.plan import Headroom, HeadroomLine
from flopwise.domain.provenance import Fact
from flopwise.domain.scenario import USUAL_HEADROOM
from flopwise.ground.units import DAY
from flopwise.planning.demand.needs import Needs

#: Months between reviews of the plan: growth beyond the middle case must be borne that long.
REVIEW_MONTHS = 3


def reconcile(
    budget: float,
    needs: Needs,
    parameters: Mapping[str, Fact],
    *,
    replicas: Mapping[str, float],
    weights: Mapping[str, float],
    servers: Sequence[int],
) -> tuple[Headroom, tuple[str, ...]]:
    """Draws on the budget, what is left, and warnings.

    Args:
        budget: fraction by which planned capacity exceeds the need.
        needs: workloads, with growth quantiles and experiments.
        parameters: repair time and failure rates.
        replicas: replicas at the busiest time by service, 0 where it is not self-run.
        weights: share of the accelerator-hours by workload: a draw of one workload counts as much as it is of the whole.
        servers: accelerators per server of the pools in use.
    """
    lines = [
        _spares(parameters, servers),
        *_zones(needs, replicas, weights),
        *_growth(needs, weights),
        *_experiments(needs, weights),
    ]
    lines = [line for line in lines if line.share > 0]
    left = budget - sum(line.share for line in lines)
    warnings: list[str] = []
    low, high = USUAL_HEADROOM
    if not low <= budget <= high:
        warnings.append(f"headroom of {budget:.0%} is outside the usual {low:.0%} to {high:.0%}")
    if left < -1e-9:
        names = ", ".join(f"{line.name} {line.share:.1%}" for line in lines)
        warnings.append(f"headroom of {budget:.0%} is overdrawn by {-left:.1%}: {names}; raise it or accept the shortfall")
    return Headroom(budget=budget, lines=tuple(lines), unallocated=left), tuple(warnings)


def _spares(parameters: Mapping[str, Fact], servers: Sequence[int]) -> HeadroomLine:
    """Share of servers in repair on average: failures x accelerators per server x repair time."""
    failures = parameters["reliability.failures_per_accelerator_day"].value
    repair = parameters["reliability.repair_time"].value / DAY
    share = min(failures * max(servers, default=8) * repair, 1.0)
    reason = f"{failures:.2g} failures per accelerator and day, {repair:.1f} days of repair, the whole server is out"
    return HeadroomLine(name="spares", share=share, reason=reason)


def _zones(needs: Needs, replicas: Mapping[str, float], weights: Mapping[str, float]) -> list[HeadroomLine]:
    """One replica more than needed where a service promises availability: 1/n of n replicas."""
    lines: list[HeadroomLine] = []
    for need in needs.serving:
        name, promised = need.workload.name, need.workload.slo.availability
        count = math.ceil(replicas.get(name, 0.0) - 1e-6)
        if count > 0 and promised:
            reason = f"one replica of {count} may fail while {promised:.4g} availability is promised"
            lines.append(HeadroomLine(name=f"{name}: one replica", share=weights.get(name, 0.0) / count, reason=reason))
    return lines


def _growth(needs: Needs, weights: Mapping[str, float]) -> list[HeadroomLine]:
    """Growth of the fast case over the middle one, until a review can order more."""
    lines: list[HeadroomLine] = []
    for need in needs.serving:
        growth = need.workload.traffic.growth
        share = ((1 + growth.p90) / (1 + growth.p50)) ** REVIEW_MONTHS - 1
        reason = f"{growth.p90:.1%} instead of {growth.p50:.1%} a month, for {REVIEW_MONTHS} months until more can be ordered"
        name = need.workload.name
        lines.append(HeadroomLine(name=f"{name}: growth", share=share * weights.get(name, 0.0), reason=reason))
    return lines


def _experiments(needs: Needs, weights: Mapping[str, float]) -> list[HeadroomLine]:
    """Experiments are stated as a share of training, and weigh as much as training does."""
    weight = sum(weights.get(need.workload.name, 0.0) for need in needs.training)
    return [
        HeadroomLine(name=item.name, share=item.share_of_training * weight, reason=f"{item.share_of_training:.0%} of training")
        for item in needs.experiments
    ]
