"""Costs by component and year, reference plans, break-even marks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import numpy as np

from flopwise.domain.offer import OfferKind
from flopwise.domain.plan import BreakEven, CostLine, Reference
from flopwise.domain.provenance import Evidence
from flopwise.domain.workload import ServingWorkload
from flopwise.ground.errors import SolverError
from flopwise.ground.units import HOUR, HOURS_PER_DAY, HOURS_PER_YEAR, MILLION_TOKENS, MONTHS_PER_YEAR, show
from flopwise.planning.cost.checks import break_even_utilisation, hosted_break_even_tokens, owning_cost_per_hour
from flopwise.planning.cost.components.residual import share_left
from flopwise.planning.cost.ledger import CAPITAL, CREDIT, charges, components, make_ledger
from flopwise.planning.cost.supply_line import Rates
from flopwise.planning.market import PricedOffer
from flopwise.planning.plan.backing import backing, weakest
from flopwise.planning.plan.world import World
from flopwise.planning.sourcing.choose import Candidate, hourly_cost
from flopwise.planning.sourcing.lines import plan_lines
from flopwise.planning.sourcing.model import Sourced
from flopwise.planning.sourcing.pools import Contract, Pool
from flopwise.planning.sourcing.problem import Allowed, Problem, purchase_line
from flopwise.planning.sourcing.solve import solve

#: Name of the optimum among the answers.
PLAN = "plan"
#: Amounts below this are rounding.
_NOTHING = 1e-6
#: Solves at once: more gain nothing on two cores and hold one model each in memory.
_WORKERS = 2
#: Seconds that a solve of a reference plan may take: it is only compared with.
_REFERENCE_LIMIT = 20.0
#: Reference plans: name, what may be used, what it means.
REFERENCES: Mapping[str, tuple[Allowed, str]] = {
    "buy only": (Allowed(reserved=False, elastic=False, hosted=False), "servers bought, nothing rented"),
    "rent only": (Allowed(purchase=False, hosted=False), "reserved, by the hour and spot, nothing bought"),
    "hybrid": (Allowed(hosted=False), "bought and rented, no hosted API"),
    "nothing new": (Allowed(purchase=False, reserved=False, elastic=False, hosted=False), "only what is owned and held already"),
}


def cost_lines(world: World) -> tuple[CostLine, ...]:
    """Cash and net present value by component and calendar year; components that cost nothing are left out."""
    years = np.array([int(month[:4]) for month in world.ledger_months])
    lines: list[CostLine] = []
    for name, part in components().items():
        cash = world.ledger.cash[name]
        for year in dict.fromkeys(years.tolist()):
            inside = years == year
            amount = float(cash[inside].sum())
            if amount:
                npv = float((cash * world.ledger.discount)[inside].sum())
                lines.append(
                    CostLine(
                        component=name,
                        label=part.LABEL,
                        focus_category=part.CATEGORY,
                        year=int(year),
                        amount=amount,
                        npv=npv,
                        formula=part.FORMULA,
                    )
                )
    return tuple(lines)


def solve_all(problem: Problem, *, gap: float, time_limit: float) -> dict[str, Sourced]:
    """The plan and its reference plans, solved side by side (the solver releases the interpreter).

    A reference plan that turns out cheaper is allowed as a plan too: within the gap it takes the plan's place, so that
    no reference ever undercuts the plan.
    """

    def task(allowed: Allowed) -> Sourced:
        limit = time_limit if allowed == Allowed() else min(time_limit, _REFERENCE_LIMIT)
        return solve(problem, allowed, gap=gap, time_limit=limit)

    with ThreadPoolExecutor(max_workers=_WORKERS) as workers:
        plan = workers.submit(task, Allowed())
        # Plans that buy nothing new rarely equal the plan, so they need not wait for it.
        early = {name: workers.submit(task, REFERENCES[name][0]) for name in ("buy only", "nothing new")}
        best = plan.result()
        late = {
            name: workers.submit(task, kinds)
            for name, (kinds, _) in REFERENCES.items()
            if name not in early and not _within(best, kinds)
        }
        answers = {name: best for name in REFERENCES if name not in early and name not in late}
        for name, future in (early | late).items():
            with suppress(SolverError):  # A reference that is not solved in time is left out.
                answers[name] = future.result()
    # Whichever answer is taken, no plan can cost less than the bound of the problem that allows everything.
    answers[PLAN] = replace(min((best, *answers.values()), key=lambda answer: _order(problem, answer)), bound=best.bound)
    return answers


def _within(answer: Sourced, allowed: Allowed) -> bool:
    """Whether an answer uses nothing that is forbidden: then it is the answer of the smaller problem as well."""
    parts = (
        (allowed.purchase, answer.buys),
        (allowed.reserved, answer.reserves),
        (allowed.elastic, answer.elastic),
        (allowed.hosted, answer.hosted),
    )
    return all(permitted or not any((amount > _NOTHING).any() for amount in amounts.values()) for permitted, amounts in parts)


def _order(problem: Problem, answer: Sourced) -> tuple[float, float]:
    """Less unmet demand first (to a hundred-thousandth), then less cost."""
    ledger = make_ledger([item.line for item in plan_lines(problem, answer)], problem.rates)
    return (round(sum(answer.unmet.values()), 5), ledger.npv)


def references(world: World, answers: Mapping[str, Sourced]) -> tuple[Reference, ...]:
    """The plan itself and the reference plans solved beside it."""
    rows = [_reference(world, "this plan", "the cheapest mix of all that is allowed", world.sourced, chosen=True)]
    for name, (allowed, words) in REFERENCES.items():
        if name not in answers:
            continue
        rows.append(_reference(world, name, words, answers[name], note=_missing_kinds(world.problem, allowed)))
    return tuple(rows)


def _reference(world: World, name: str, words: str, sourced: Sourced, *, chosen: bool = False, note: str = "") -> Reference:
    lines = plan_lines(world.problem, sourced)
    ledger = make_ledger([item.line for item in lines], world.problem.rates)
    unmet = {workload: share for workload, share in sourced.unmet.items() if share > 0}
    comparable = unmet.keys() == {workload for workload, share in world.sourced.unmet.items() if share > 0} and not unmet
    return Reference(
        name=name,
        description=words,
        feasible=not unmet,
        npv=ledger.npv,
        total=ledger.total,
        unmet=unmet,
        regret=ledger.npv - world.ledger.npv if comparable and not chosen else None,
        chosen=chosen,
        note=note,
        evidence=backing(world.problem, sourced, lines),
    )


def _missing_kinds(problem: Problem, allowed: Allowed) -> str:
    """Kinds of contract that a comparison lacks because no offer of the scenario has them."""
    missing: list[str] = []
    if allowed.purchase and not any(pool.purchases for pool in problem.pools):
        missing.append("purchase")
    if allowed.reserved and not any(pool.reservations for pool in problem.pools):
        missing.append("reserved")
    if allowed.elastic and not any(pool.elastic for pool in problem.pools):
        missing.append("on-demand")
    return f"no offers of kind {', '.join(missing)} that suit the work: not a full comparison" if missing else ""


def break_evens(world: World) -> tuple[BreakEven, ...]:
    """Utilisation above which owning beats renting by the hour, and tokens a day above which self-hosting beats an API."""
    marks: list[BreakEven] = []
    for name, workload in world.workloads.items():
        marks.extend(_owning(world, name))
        if isinstance(workload, ServingWorkload):
            marks.extend(_hosting(world, workload))
    return tuple(marks)


def _best(world: World, name: str, kind: OfferKind) -> Candidate | None:
    fitting = [
        item
        for item in world.considered.candidates
        if item.workload == name and item.contract and item.contract.offer.kind is kind
    ]
    return min(fitting, key=lambda item: (item.unit_cost, item.pool.id), default=None)


def _owning(world: World, name: str) -> list[BreakEven]:
    """The cheapest server to buy for this work against the cheapest by the hour, per unit of work."""
    bought, rented = _best(world, name, OfferKind.PURCHASE), _best(world, name, OfferKind.ON_DEMAND)
    if bought is None or rented is None or bought.contract is None or rented.contract is None:
        return []
    life, planned = world.scenario.finance.depreciation_years, len(world.months) / MONTHS_PER_YEAR
    share = _owned_share(world, bought, rented, life)
    verdict = "never pays within its life" if share > 1 else f"pays above {show(share, '1')} use"
    sentence = (
        f"{name}: owning {bought.pool.server} at {show(owning_per_hour(world, bought.pool, bought.contract, life), 'USD/h')} "
        f"per server, all in over {life:g} years, {verdict} "
        f"against {rented.pool.id} at {show(rented.contract.usd, 'USD/h')}, per unit of work{_caveat(bought, rented)}"
    )
    if planned < life:
        sold = _owned_share(world, bought, rented, planned)
        within = "it does not pay" if sold > 1 else f"it pays above {show(sold, '1')} use"
        sentence += f"; sold when this plan ends, after {len(world.months)} months, {within}"
    errors = [*_price_errors(bought.contract), *_price_errors(rented.contract)]
    if bought.pool.platform.accelerator != rented.pool.platform.accelerator:
        errors += [*_rate_errors(bought), *_rate_errors(rented)]
    return [
        BreakEven(
            name=f"{name}.owning",
            value=share,
            unit="1",
            interval=_widened(share, errors),
            evidence=weakest(item.choice.mode.evidence for item in (bought, rented)),
            sentence=sentence,
        )
    ]


def _owned_share(world: World, bought: Candidate, rented: Candidate, years: float) -> float:
    """Use above which a server kept for ``years`` costs less per unit of work than the rented one."""
    assert bought.contract is not None  # noqa: S101 - filtered by the caller
    owning = owning_per_hour(world, bought.pool, bought.contract, years)
    # Both per unit of work: a faster server may cost more an hour and less a token.
    return break_even_utilisation(owning * bought.servers / (bought.rate * HOUR), rented.unit_cost)


def _caveat(*items: Candidate) -> str:
    """Names the modes of a comparison that nobody has measured."""
    names = sorted({item.choice.mode.accelerator for item in items if item.choice.mode.evidence is Evidence.DATASHEET})
    return f" (the rate of {' and '.join(names)} rests on datasheets alone)" if names else ""


def _price_errors(priced: Contract | PricedOffer) -> list[float]:
    """Relative error of a price, the wider side."""
    low, high = priced.spread
    return [max(1 / low, high) - 1]


def _rate_errors(item: Candidate) -> list[float]:
    """Relative error of a rate; on one kind of accelerator it moves both sides of a comparison alike."""
    return [item.choice.mode.interval[1] / item.choice.mode.rate - 1]


def _widened(value: float, errors: Sequence[float]) -> tuple[float, float]:
    """80 % interval from independent relative errors: value times and over 1 + their root sum of squares."""
    factor = 1 + math.hypot(*errors)
    return value / factor, value * factor


def owning_per_hour(world: World, pool: Pool, contract: Contract, years: float) -> float:
    """Levelised USD per hour of one owned server that is kept for ``years`` and then sold."""
    finance, rates = world.scenario.finance, world.problem.rates
    start = np.zeros(rates.months)
    start[0] = 1.0
    parts = {name: float(cash.sum()) for name, cash in charges(purchase_line(pool, contract, start), rates).items()}
    capital = sum(parts[name] for name in CAPITAL)
    running = sum(cash for name, cash in parts.items() if name not in {*CAPITAL, CREDIT}) / float(rates.month_hours.sum())
    return owning_cost_per_hour(
        capital,
        rate=finance.wacc,
        years=years,
        residual=float(share_left(rates, years)) * contract.usd / capital,
        running_per_hour=running,
        hours_per_year=HOURS_PER_YEAR,
    )


def _hosting(world: World, workload: ServingWorkload) -> list[BreakEven]:
    """The smallest deployment at its cheapest contract against the cheapest hosted API."""
    hosted = [use for use in world.problem.hosted if use.workload == workload.name]
    own = [item for item in world.considered.candidates if item.workload == workload.name and item.contract]
    if not hosted or not own:
        return []
    api = min(hosted, key=lambda use: use.usd_per_request)
    costs = {id(item): _deployment_per_hour(item, workload.zones, world.problem.rates) for item in own}
    smallest = min(own, key=lambda item: costs[id(item)])
    tokens = workload.input.mean + workload.output.mean
    per_million = api.usd_per_request / tokens * MILLION_TOKENS
    deployment = costs[id(smallest)]
    value = hosted_break_even_tokens(deployment, price_per_million=per_million, hours_per_day=HOURS_PER_DAY)
    able = smallest.rate * tokens * workload.zones * HOUR * HOURS_PER_DAY
    limit = "" if able >= value else f"; that deployment serves {show(able, 'tokens')} a day, so it never gets there"
    sentence = (
        f"{workload.name}: {workload.zones} x {smallest.choice.mode.accelerators} {smallest.pool.platform.accelerator.name} on "
        f"{smallest.pool.id} at {show(deployment, 'USD/h')} cost less than {api.priced.offer.channel} at "
        f"{per_million:.2f} USD per million tokens above {show(value, 'tokens')} a day{limit}"
        f"{_caveat(smallest)}"
    )
    assert smallest.contract is not None  # noqa: S101 - filtered above
    return [
        BreakEven(
            name=f"{workload.name}.hosted",
            value=value,
            unit="tokens/day",
            interval=_widened(value, [*_price_errors(smallest.contract), *_price_errors(api.priced)]),
            evidence=smallest.choice.mode.evidence,
            sentence=sentence,
        )
    ]


def _deployment_per_hour(item: Candidate, zones: int, rates: Rates) -> float:
    """USD per hour of the whole servers that one replica in each zone takes."""
    assert item.contract is not None  # noqa: S101 - filtered by the caller
    return hourly_cost(item.pool, item.contract, rates) * math.ceil(item.servers * zones - _NOTHING)
