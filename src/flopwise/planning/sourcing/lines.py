"""What a solved plan holds and rents, as lines for the ledger, whole servers counted whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flopwise.domain.calendar import months_between
from flopwise.ground.units import HOUR
from flopwise.planning.cost.supply_line import SupplyLine
from flopwise.planning.sourcing.model import Sourced
from flopwise.planning.sourcing.pools import Contract
from flopwise.planning.sourcing.problem import Problem, elastic_line, held_window, owned_line, purchase_line, reserved_line

Floats = NDArray[np.float64]
_EPSILON = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolUse:
    """Servers of one pool: held (months,) by origin; rented and used (months, blocks), on average and at once."""

    owned: Floats
    purchased: Floats
    reserved: Floats
    rented_mean: Floats
    rented_peak: Floats
    used_mean: Floats
    used_peak: Floats


def pool_use(problem: Problem, sourced: Sourced, number: int) -> PoolUse:
    """Quantities of one pool. Replicas by the hour are rounded up to whole servers; gangs count as a whole while they run."""
    pool = problem.pools[number]
    months, blocks = problem.needs.blocks.hours.shape
    purchased, reserved = np.zeros(months), np.zeros(months)
    for (index, _), starts in sourced.buys.items():
        if index == number:
            purchased += np.cumsum(starts)
    for (index, contract), starts in sourced.reserves.items():
        if index == number:
            reserved += starts @ held_window(months, pool.reservations[contract].term)
    serving, running, standing = np.zeros((months, blocks)), np.zeros((months, blocks)), np.zeros((months, blocks))
    for index, use in enumerate(problem.uses):
        if use.pool == number:
            serving += use.servers * sourced.serving.get(index, 0.0)
            running += use.servers * sourced.training.get(index, 0.0)
            standing += use.servers * sourced.open_gangs.get(index, 0.0)
    held = (pool.owned + purchased + reserved)[:, np.newaxis]
    over = serving - held
    whole = np.where(over > _EPSILON, np.ceil(over - _EPSILON), 0.0)
    by_hour = number in sourced.elastic
    rented, at_once = (_rented(whole, serving - held, gangs, alone=pool.only_by_hour) * by_hour for gangs in (running, standing))
    return PoolUse(
        owned=pool.owned,
        purchased=purchased,
        reserved=reserved,
        rented_mean=np.where(rented > _EPSILON, rented, 0.0),
        rented_peak=np.where(at_once > _EPSILON, at_once, 0.0),
        used_mean=serving + running,
        used_peak=serving + standing,
    )


def _rented(whole: Floats, over: Floats, gangs: Floats, *, alone: bool) -> Floats:
    """Servers by the hour: whole ones for services, and gangs beside them.

    Where servers are held too, gangs may use what services leave of them, and of the last one rented.
    """
    return whole + gangs if alone else np.maximum(np.maximum(over + gangs, whole), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLine:
    """One ledger line and where it comes from: pool index and contract, or hosted use, or commitment channel."""

    line: SupplyLine
    pool: int | None = None
    contract: Contract | None = None
    hosted: int | None = None
    channel: str = ""


def plan_lines(problem: Problem, sourced: Sourced) -> list[PlanLine]:
    """All lines of a plan: owned, bought, reserved, by the hour, hosted, commitments."""
    lines = [PlanLine(line=owned_line(pool), pool=number) for number, pool in enumerate(problem.pools) if pool.owned.any()]
    for (number, index), starts in sourced.buys.items():
        pool = problem.pools[number]
        if starts.any():
            line = purchase_line(pool, pool.purchases[index], starts)
            lines.append(PlanLine(line=line, pool=number, contract=pool.purchases[index]))
    for (number, index), starts in sourced.reserves.items():
        pool = problem.pools[number]
        if starts.any():
            line = reserved_line(pool, pool.reservations[index], starts, problem.rates)
            lines.append(PlanLine(line=line, pool=number, contract=pool.reservations[index]))
    lines.extend(_elastic_lines(problem, sourced))
    lines.extend(_usage_lines(problem, sourced))
    return lines


def _elastic_lines(problem: Problem, sourced: Sourced) -> list[PlanLine]:
    lines: list[PlanLine] = []
    for number in sourced.elastic:
        pool = problem.pools[number]
        rented = (pool_use(problem, sourced, number).rented_mean * problem.needs.blocks.hours).sum(axis=1)
        if pool.elastic is not None and rented.any():
            lines.append(PlanLine(line=elastic_line(pool, pool.elastic, rented), pool=number, contract=pool.elastic))
    return lines


def _usage_lines(problem: Problem, sourced: Sourced) -> list[PlanLine]:
    lines: list[PlanLine] = []
    for number, rate in sourced.hosted.items():
        use, requests = problem.hosted[number], (rate * problem.needs.blocks.hours).sum(axis=1) * HOUR
        if requests.any():
            line = SupplyLine(kind="hosted", unit_price=use.usd_per_request, requests=requests)
            lines.append(PlanLine(line=line, hosted=number, channel=use.priced.offer.channel))
    for commitment, covered in zip(problem.commitments, sourced.covered, strict=True):
        live = np.arange(problem.months) < months_between(problem.needs.months[0], commitment.until) + 1
        usd = commitment.amount * problem.rates.month_hours * live - covered
        lines.append(PlanLine(line=SupplyLine(kind="commitment", usd=usd), channel=commitment.channel))
    return lines
