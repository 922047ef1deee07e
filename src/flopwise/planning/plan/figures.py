"""Every figure of a plan that can be asked: value, interval, formula, inputs, sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from flopwise.domain.plan import BreakEven, DemandRow, Headroom, PlanAssumption, PlanOrder, Reference
from flopwise.domain.provenance import Evidence, Figure
from flopwise.ground.units import show
from flopwise.planning.plan.backing import backing
from flopwise.planning.plan.cost_figures import cost_figures
from flopwise.planning.plan.uncertainty import Uncertainty, around, exact, relative
from flopwise.planning.plan.work_figures import workload_figures
from flopwise.planning.plan.world import World


def make_figures(
    world: World,
    *,
    uncertainty: Uncertainty,
    assumptions: Sequence[PlanAssumption],
    demand: Iterable[DemandRow],
    orders: Iterable[PlanOrder],
    references: Iterable[Reference],
    break_even: Iterable[BreakEven],
    headroom: Headroom,
) -> Mapping[str, Figure]:
    """All figures by id, in the order in which a reader meets them."""
    spread = relative(world.ledger.npv, uncertainty.total())
    figures = [
        *cost_figures(world, uncertainty, assumptions),
        *(figure for row in demand for figure in workload_figures(world, row, uncertainty)),
        *(_order(order, world) for order in orders),
        *(_reference(item, spread) for item in references if not item.chosen),
        *(_break_even(item) for item in break_even),
        _headroom(headroom),
    ]
    return {figure.id: figure for figure in figures}


def slug(text: str) -> str:
    """A name as part of a figure id."""
    return text.replace(" ", "_")


def _order(order: PlanOrder, world: World) -> Figure:
    """What one order commits."""
    lines = [item for item in world.lines if item.contract is not None and item.contract.offer.id == order.offer]
    lines = lines or [item for item in world.lines if item.hosted is not None and item.channel == order.channel]
    contract = lines[0].contract if lines else None
    spread = contract.spread if contract else _hosted_spread(world, order)
    formulas = {
        "purchase": "servers x price per server",
        "hosted": "requests x price of a mean request",
        "on-demand": "server-hours x price per server-hour",
        "spot": "server-hours x price per server-hour",
    }
    inputs = {"servers": str(order.servers)} if order.servers else {}
    if contract is not None and order.kind != "purchase":
        inputs["server-hours"] = f"{order.amount / contract.usd:,.0f}"
    return Figure(
        id=f"orders.{order.id}.amount",
        value=order.amount,
        unit="USD",
        interval=around(order.amount, spread),
        evidence=backing(world.problem, world.sourced, lines),
        label=f"{order.kind} of {order.server or order.channel} from {order.channel}",
        formula=formulas.get(order.kind, "server-hours of the whole terms x price per server-hour"),
        inputs={**inputs, "price": f"{show(order.unit_price, f'USD/{order.price_per}')}", "from": order.arrives},
        sources=(order.source,),
    )


def _hosted_spread(world: World, order: PlanOrder) -> tuple[float, float]:
    """Price interval of a hosted API over its price."""
    found = (use.priced.spread for use in world.problem.hosted if use.priced.offer.id == order.offer)
    return next(found, (1.0, 1.0))


def _reference(item: Reference, spread: tuple[float, float]) -> Figure:
    unmet = {name: f"{share:.1%} not served" for name, share in item.unmet.items()}
    return Figure(
        id=f"references.{slug(item.name)}.npv",
        value=item.npv,
        unit="USD",
        interval=around(item.npv, spread),
        evidence=item.evidence,
        label=f"Reference plan: {item.name} ({item.description})",
        formula="the same model, solved with fewer kinds of supply",
        inputs=unmet,
    )


def _break_even(item: BreakEven) -> Figure:
    formula = (
        "levelised cost of owning per unit of work / price by the hour per unit of work"
        if item.unit == "1"
        else "cost of the smallest deployment per day / hosted price per token"
    )
    return Figure(
        id=f"break_even.{item.name}",
        value=item.value,
        unit=item.unit,
        interval=item.interval,
        evidence=item.evidence,
        label=item.sentence,
        formula=formula,
        inputs={},
    )


def _headroom(item: Headroom) -> Figure:
    lines = {line.name: f"{line.share:.1%} ({line.reason})" for line in item.lines}
    return Figure(
        id="headroom.budget",
        value=item.budget,
        unit="1",
        interval=exact(item.budget),
        evidence=Evidence.COMPUTED,
        label="Headroom over the need, one budget",
        formula="spares + zones + growth + experiments + unallocated",
        inputs={**lines, "unallocated": f"{item.unallocated:.1%}"},
    )
