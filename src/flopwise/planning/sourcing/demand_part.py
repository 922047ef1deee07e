"""The rows that ask for work: what is wanted is served, run, hosted or missing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from flopwise.engines.solve import LinearModel
from flopwise.ground.units import HOUR
from flopwise.planning.demand.needs import ServingNeed, TrainingNeed
from flopwise.planning.sourcing.problem import Problem
from flopwise.planning.sourcing.supply_part import SupplyPart
from flopwise.planning.sourcing.work_part import WorkPart

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
#: Services are planned for at least this many requests/s (nine a day).
LEAST_RATE = 1e-4
#: Ratios this near to a whole number count as whole.
_WHOLE = 1e-6
#: Right sides nearer to a whole number than this give no cut: its coefficients would drown in the tolerance.
_LEAST_FRACTION = 1e-3


class DemandPart:
    """Rows of demand.

    Attributes:
        unmet: by workload, the columns of what is missing, and the share of its work that one unit of each is.

    Size: services x months x blocks rows, and a cut for each distinct rate of a server.
    """

    def __init__(self, linear: LinearModel, problem: Problem, supply: SupplyPart, work: WorkPart) -> None:
        self.linear, self.problem, self.supply, self.work = linear, problem, supply, work
        self.hours = problem.needs.blocks.hours
        self.months, self.blocks = self.hours.shape
        self.unmet: dict[str, tuple[Indices, Floats]] = {}
        for serving in problem.needs.serving:
            self._serving_demand(serving)
        for training in problem.needs.training:
            self._training_demand(training)

    def _serving_demand(self, need: ServingNeed) -> None:
        name = need.workload.name
        # A rate far below this drowns in the solver's tolerance.
        wanted = np.where(need.rate > 0, np.maximum(need.rate, LEAST_RATE), 0.0)
        total = float((wanted * self.hours).sum())
        rows = self.linear.add_rows(wanted.size, lower=wanted.ravel())
        missing = self.linear.add_variables(f"{name} unmet", wanted.shape, upper=wanted)
        self.linear.add_entries(rows, missing.ravel(), 1.0)
        self.unmet[name] = (missing, self.hours / total if total else np.zeros_like(self.hours))
        uses = self.work.uses_of(name)
        for index in uses:
            each = self.problem.uses[index].rate / (1 + self.problem.headroom)
            self.linear.add_entries(rows, self.work.serving[index].ravel(), each)
        for number, use in enumerate(self.problem.hosted):
            if use.workload == name and number in self.work.hosted:
                self.linear.add_entries(rows, self.work.hosted[number].ravel(), 1.0)
        if uses:
            self._smallest_deployment(need, uses)
            self._whole_server_cuts(need, wanted, missing)

    def _whole_server_cuts(self, need: ServingNeed, wanted: Floats, missing: Indices) -> None:
        """What counting servers whole implies even where they are counted in parts: the bound is nearer to the answer.

        Servers z of pools with rates a carry a service with what is hosted or missing, y: sum a z + y >= demand. With
        both sides over the rate of one pool, f the fraction of the right side and g those of the coefficients, mixed
        integer rounding gives sum (f floor(a) + min(f, g)) z + y >= f ceil(demand) (Nemhauser and Wolsey, 1990).
        """
        rates = self._server_rates(need)
        hosted = [n for n, use in enumerate(self.problem.hosted) if use.workload == need.workload.name and n in self.work.hosted]
        for unit in sorted(set(rates.values())):
            right = (wanted / unit).ravel()
            fraction = right - np.floor(right + _WHOLE)
            cells = np.flatnonzero(fraction > _LEAST_FRACTION)
            part = fraction[cells]
            rows = self.linear.add_rows(
                cells.size, lower=part * np.ceil(right[cells]) - self._owned_part(rates, unit, cells, part)
            )
            self.linear.add_entries(rows, missing.ravel()[cells], 1.0 / unit)
            for number in hosted:
                self.linear.add_entries(rows, self.work.hosted[number].ravel()[cells], 1.0 / unit)
            for number, rate in rates.items():
                weight = _rounded(rate / unit, part)
                if number in self.supply.elastic:
                    self.linear.add_entries(rows, self.supply.elastic[number].ravel()[cells], weight)
                if number in self.supply.held:
                    self.linear.add_entries(rows, self.supply.held[number][cells // self.blocks], weight)

    def _server_rates(self, need: ServingNeed) -> dict[int, float]:
        """Requests/s that one whole server of each pool carries at most, headroom taken off."""
        rates: dict[int, float] = {}
        for index in self.work.uses_of(need.workload.name):
            use = self.problem.uses[index]
            rates[use.pool] = max(rates.get(use.pool, 0.0), use.rate / use.servers / (1 + self.problem.headroom))
        return rates

    def _owned_part(self, rates: Mapping[int, float], unit: float, cells: Indices, part: Floats) -> Floats:
        """What owned servers add to the left side of the cuts, (cells,)."""
        return np.sum(
            [
                _rounded(rate / unit, part) * self.problem.pools[number].owned[cells // self.blocks]
                for number, rate in rates.items()
            ],
            axis=0,
        )

    def _smallest_deployment(self, need: ServingNeed, uses: list[int]) -> None:
        """A service that runs on own or rented capacity in a month holds one replica per zone in every hour of it."""
        runs = self.linear.add_variables(f"{need.workload.name} self-hosted", (self.months,), upper=need.active, integer=True)
        every = np.repeat(runs, self.blocks)
        least = self.linear.add_rows(need.rate.size, lower=0.0)
        most = self.linear.add_rows(need.rate.size, upper=0.0)
        slowest = min(self.problem.uses[index].rate for index in uses) / (1 + self.problem.headroom)
        enough = np.repeat(np.ceil(need.peak / slowest) + need.workload.zones, self.blocks)
        self.linear.add_entries(least, every, -float(need.workload.zones))
        self.linear.add_entries(most, every, -enough)
        for index in uses:
            self.linear.add_entries(least, self.work.serving[index].ravel(), 1.0)
            self.linear.add_entries(most, self.work.serving[index].ravel(), 1.0)

    def _training_demand(self, need: TrainingNeed) -> None:
        name, uses = need.workload.name, self.work.uses_of(need.workload.name)
        wanted = np.array([need.tokens]) if need.monthly is None else need.monthly[need.active]
        groups = [np.flatnonzero(need.active)] if need.monthly is None else [np.array([m]) for m in np.flatnonzero(need.active)]
        rows = self.linear.add_rows(len(groups), lower=1.0, upper=1.0)
        missing = self.linear.add_variables(f"{name} unmet", (len(groups),), upper=1.0)
        self.linear.add_entries(rows, missing, 1.0)
        self.unmet[name] = (missing, wanted / wanted.sum())
        for index in uses:
            rate = self.problem.uses[index].rate / (1 + self.problem.headroom)
            for row, members, tokens in zip(rows, groups, wanted, strict=True):
                work = rate * HOUR * self.hours[members] / tokens
                self.linear.add_entries(row, self.work.training[index][members], work)
            self._gang_rows(index, need)
        if uses:
            one = self.linear.add_rows(1, upper=1.0)
            for index in uses:
                self.linear.add_entries(one, self.work.chosen[index], 1.0)

    def _gang_rows(self, index: int, need: TrainingNeed) -> None:
        """A gang runs in a block only while it holds its servers there, and holds them only if its mode is chosen."""
        active = np.flatnonzero(need.active)
        share = self.work.share(need)[active]
        rows = self.linear.add_rows(len(active) * self.blocks, upper=0.0).reshape(len(active), self.blocks)
        self.linear.add_entries(rows, self.work.training[index][active], 1.0)
        self.linear.add_entries(rows, self.work.holds[index], -share[:, np.newaxis])
        chosen = self.linear.add_rows(self.blocks, upper=0.0)
        self.linear.add_entries(chosen, self.work.open[index], 1.0)
        self.linear.add_entries(chosen, self.work.chosen[index], -1.0)


def _rounded(coefficient: float, fraction: Floats) -> Floats:
    """Coefficient of mixed integer rounding for a right side with the given fractions."""
    whole = np.floor(coefficient + _WHOLE)
    return fraction * whole + np.minimum(np.maximum(coefficient - whole, 0.0), fraction)
