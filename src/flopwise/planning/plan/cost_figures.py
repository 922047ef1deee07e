"""Figures of money: totals, years, components line by line, cost of an accelerator-hour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType

import numpy as np

from flopwise.domain.plan import PlanAssumption
from flopwise.domain.provenance import Figure
from flopwise.ground.units import show
from flopwise.planning.cost.ledger import CREDIT, components
from flopwise.planning.plan.backing import backing
from flopwise.planning.plan.demand_rows import main_mode
from flopwise.planning.plan.uncertainty import Uncertainty, around, relative, rests_on
from flopwise.planning.plan.world import STANDING, World
from flopwise.planning.sourcing.lines import PlanLine

#: Lines of a component that are printed each; the rest are summed.
_SHOWN_LINES = 10


def cost_figures(world: World, uncertainty: Uncertainty, assumptions: Sequence[PlanAssumption]) -> list[Figure]:
    """Figures by the ids ``cost.*`` and ``use.*``."""
    spread = relative(world.ledger.npv, uncertainty.total())
    return [
        *_totals(world, uncertainty, spread),
        *_components(world, uncertainty, assumptions),
        *_unit_costs(world, spread),
    ]


def _totals(world: World, uncertainty: Uncertainty, spread: tuple[float, float]) -> list[Figure]:
    parts = {name: f"cost.{name}" for name, cash in world.ledger.cash.items() if cash.any()}
    years = sorted({month[:4] for month in world.ledger_months if _due(world, month[:4])})
    sources = _price_sources(world.lines, world)
    npv = Figure(
        id="cost.total_npv",
        value=world.ledger.npv,
        unit="USD",
        interval=uncertainty.total(),
        evidence=backing(world.problem, world.sourced, world.lines),
        label="Net present cost over the horizon",
        formula="sum over components and months of cash x (1 + wacc)^(-month/12)",
        inputs={**parts, "wacc": show(world.scenario.finance.wacc, "1"), "months": str(len(world.months))},
        sources=sources,
    )
    cash = Figure(
        id="cost.total_cash",
        value=world.ledger.total,
        unit="USD",
        interval=around(world.ledger.total, spread),
        evidence=npv.evidence,
        label="Cash, with what is owed after the horizon, residual value credited",
        formula="sum of cost.year.*",
        inputs={year: f"cost.year.{year}" for year in years},
        sources=sources,
    )
    rest = (*_paid(world, spread), *_owed_later(world, spread), *(_year(world, year, spread) for year in years))
    return [npv, *_standing(world, uncertainty), cash, *rest]


def _due(world: World, year: str) -> bool:
    """Whether anything is paid or credited in a calendar year."""
    inside = np.array([month[:4] == year for month in world.ledger_months])
    return any(bool(cash[inside].any()) for cash in world.ledger.cash.values())


def _owed_later(world: World, spread: tuple[float, float]) -> list[Figure]:
    """What reservations oblige to pay when the plan is over, where there are some."""
    value = world.ledger.owed_later
    if value <= 0:
        return []
    return [
        Figure(
            id="cost.owed_later",
            value=value,
            unit="USD",
            interval=around(value, spread),
            evidence=backing(world.problem, world.sourced, world.lines),
            label="Of it owed after the horizon, for terms that outlast it",
            formula="sum over reservations of hours after the horizon x price x (1 - upfront)",
            inputs={"horizon ends with": world.months[-1]},
        )
    ]


def _paid(world: World, spread: tuple[float, float]) -> list[Figure]:
    """What leaves the account before the sale of what is left, where there is such a credit."""
    credit = float(world.ledger.cash[CREDIT].sum())
    if not credit:
        return []
    value = world.ledger.total - credit
    return [
        Figure(
            id="cost.paid",
            value=value,
            unit="USD",
            interval=around(value, spread),
            evidence=backing(world.problem, world.sourced, world.lines),
            label="Paid out, with what is owed after the horizon, residual value not credited",
            formula="cost.total_cash + residual value",
            inputs={"cost.total_cash": show(world.ledger.total, "USD"), "residual value": show(-credit, "USD")},
        )
    ]


def _standing(world: World, uncertainty: Uncertainty) -> list[Figure]:
    """Fees are contracts and exact; what owned servers cost moves with assumed rates alone."""
    value = world.standing.npv
    if value <= 0:
        return []
    parts = {name: show(float(cash @ world.standing.discount), "USD") for name, cash in world.standing.cash.items() if cash.any()}
    return [
        Figure(
            id="cost.standing",
            value=value,
            unit="USD",
            interval=uncertainty.standing(),
            evidence=backing(world.problem, world.sourced, (item for item in world.lines if item.line.kind in STANDING)),
            label="Of it for what stands and is committed already, under any plan",
            formula="net present cost of owned servers and of commitments held",
            inputs=parts,
        )
    ]


def _year(world: World, year: str, spread: tuple[float, float]) -> Figure:
    inside = np.array([month[:4] == year for month in world.ledger_months])
    parts = {name: float(cash[inside].sum()) for name, cash in world.ledger.cash.items() if cash[inside].any()}
    value = float(sum(parts.values()))
    return Figure(
        id=f"cost.year.{year}",
        value=value,
        unit="USD",
        interval=around(value, spread),
        evidence=backing(world.problem, world.sourced, world.lines),
        label=f"Cash in {year}",
        formula=" + ".join(parts) or "0",
        inputs={name: show(usd, "USD") for name, usd in parts.items()},
    )


def _components(world: World, uncertainty: Uncertainty, assumptions: Sequence[PlanAssumption]) -> list[Figure]:
    figures: list[Figure] = []
    for name, part in components().items():
        if not world.ledger.cash[name].any():
            continue
        behind = [row.assumption for row in assumptions if rests_on(part, row.assumption.path)]
        lines = [item for item, charged in zip(world.lines, world.line_charges, strict=True) if charged[name].any()]
        figures.append(
            Figure(
                id=f"cost.{name}",
                value=float(world.component_npv[name].sum()),
                unit="USD",
                interval=uncertainty.component(name),
                evidence=backing(world.problem, world.sourced, lines),
                label=f"{part.LABEL}, net present",
                formula=f"{part.FORMULA}; each month x (1 + wacc)^(-month/12)",
                inputs={**_lines(world, name, part), **{item.path: f"{item.value} (assumed)" for item in behind}},
                sources=(*(_price_sources(lines, world) if part.PRICED else ()), *sorted({item.source for item in behind})),
            )
        )
    return figures


def _lines(world: World, name: str, part: ModuleType) -> dict[str, str]:
    """The largest lines of a component: factors, cash, and what it is worth today."""
    cash = [float(charged[name].sum()) for charged in world.line_charges]
    rows = sorted((number for number, usd in enumerate(cash) if usd), key=lambda number: -abs(cash[number]))
    shown: dict[str, str] = {}
    for number in rows[:_SHOWN_LINES]:
        factors = part.factors(world.lines[number].line, world.problem.rates)
        product = " x ".join(_factor(key, *value) for key, value in factors.items())
        today = float(world.component_npv[name][number])
        shown[_label(world, world.lines[number])] = f"{product} = {show(cash[number], 'USD')}; {show(today, 'USD')} today"
    rest = float(sum(world.component_npv[name][number] for number in rows[_SHOWN_LINES:]))
    return shown if len(rows) <= _SHOWN_LINES else {**shown, f"{len(rows) - _SHOWN_LINES} more": f"{show(rest, 'USD')} today"}


def _factor(name: str, value: float, unit: str) -> str:
    """One factor in figures that a reader can multiply again."""
    if unit == "1":
        return f"{value:.1%} ({name})"
    return f"{value:,.6g} {unit} ({name})" if unit else f"{value:,.4g} ({name})"


def _label(world: World, item: PlanLine) -> str:
    """A line by its contract, or what stands already."""
    if item.contract is not None:
        return item.contract.offer.id
    if item.pool is not None:
        return f"{item.line.kind} {world.problem.pools[item.pool].id}"
    if item.hosted is not None:
        use = world.problem.hosted[item.hosted]
        return f"{use.workload} on {use.priced.offer.id}"
    return f"{item.line.kind} {item.channel}"


def _price_sources(lines: Iterable[PlanLine], world: World) -> tuple[str, ...]:
    priced = [item.contract or (world.problem.hosted[item.hosted].priced if item.hosted is not None else None) for item in lines]
    return tuple(sorted({f"{item.offer.id}: {item.offer.source}, {item.offer.as_of}" for item in priced if item is not None}))


def _unit_costs(world: World, spread: tuple[float, float]) -> list[Figure]:
    hours = float(world.accelerator_hours.sum())
    figures: list[Figure] = []
    pools_cost = world.pool_cash
    if hours > 0:
        value = pools_cost / hours
        figures.append(
            Figure(
                id="cost.per_accelerator_hour",
                value=value,
                unit="USD/h",
                interval=around(value, spread),
                evidence=backing(world.problem, world.sourced, (item for item in world.lines if item.pool is not None)),
                label="Cost per accelerator-hour held or rented",
                formula="cash for pools in the horizon / accelerator-hours; fees of commitments that no use covers are not in it",
                inputs={"cash for pools": show(pools_cost, "USD"), "accelerator-hours": f"{hours:,.0f}"},
            )
        )
        headroom = world.problem.headroom
        used = sum(world.used_hours.values()) / (1 + headroom)
        figures.append(
            Figure(
                id="use.allocation",
                value=used / hours,
                unit="1",
                interval=_use_interval(world, used / hours),
                evidence=backing(world.problem, world.sourced, (item for item in world.lines if item.pool is not None)),
                label="Share of accelerator-hours with work on them",
                formula="planned hours / (1 + headroom) / hours held or rented",
                inputs={
                    "planned hours": f"{used * (1 + headroom):,.0f}",
                    "headroom": show(headroom, "1"),
                    "hours held or rented": f"{hours:,.0f}",
                },
            )
        )
    return figures


def _use_interval(world: World, share: float) -> tuple[float, float]:
    """Share of the hours with work on them if all modes are as fast, or as slow, as their intervals say."""
    hours: dict[str, float] = {}
    for (name, _), used in world.used_hours.items():
        hours[name] = hours.get(name, 0.0) + used
    whole = sum(hours.values()) or 1.0
    modes = {name: main_mode(world, name) for name in hours}
    low, high = (
        sum(used * (mode.rate / mode.interval[side] if (mode := modes[name]) else 1.0) for name, used in hours.items()) / whole
        for side in (1, 0)
    )
    return (share * low, min(share * high, 1.0))
