"""Money over time and risk: what is stated, and facts or choices for the rest."""

from __future__ import annotations

from collections.abc import Mapping

from flopwise.adapters.scenario.gather import Gather
from flopwise.adapters.scenario.schema import FinancePart, RiskPart
from flopwise.adapters.scenario.supply import usd
from flopwise.domain.scenario import Finance, RiskAppetite
from flopwise.ground.units import YEAR

#: Sampled futures, weight of bad outcomes and seed where nothing is stated.
SCENARIOS, ALPHA, WEIGHT, SEED = 24, 0.95, 0.0, 0


def finance_of(part: FinancePart | None, gather: Gather) -> Finance:
    """Rates for money over time, in USD and years."""
    given = part or FinancePart()
    if given.tax:
        gather.warnings.append("finance.tax is not in the costs of this version: all amounts are before tax")
    life = given.depreciation / YEAR if given.depreciation else None
    staff = usd(given.staff_cost, gather) if given.staff_cost else None
    return Finance(
        wacc=gather.stated("finance.wacc", given.wacc, "finance.wacc"),
        depreciation_years=gather.stated("finance.depreciation", life, "finance.depreciation_years"),
        residual=given.residual if given.residual is not None else _residual(gather),
        tax=gather.stated("finance.tax", given.tax, "finance.tax"),
        support_rate=gather.stated("finance.support_rate", given.support_rate, "finance.support_rate"),
        staff_cost=gather.stated("finance.staff_cost", staff, "staff.cost"),
        accelerators_per_engineer=gather.stated(
            "finance.accelerators_per_engineer", given.accelerators_per_engineer, "staff.accelerators_per_engineer"
        ),
    )


def _residual(gather: Gather) -> Mapping[float, float]:
    """Sale value by age from the catalogue's facts."""
    prefix = "finance.residual."
    facts = {key: fact for key, fact in gather.catalogue.parameters.items() if key.startswith(prefix)}
    for key, fact in facts.items():
        gather.assume_fact(key, fact)
    return {float(key.removeprefix(prefix).removesuffix("y")): fact.value for key, fact in facts.items()}


def risk_of(part: RiskPart | None, gather: Gather) -> RiskAppetite:
    """Limits on concentration and the treatment of uncertainty."""
    given = part or RiskPart()
    shares = given.max_share.model_dump(exclude_none=True) if given.max_share else {}
    alpha = given.cvar.alpha if given.cvar else None
    weight = given.cvar.weight if given.cvar else None
    if given.scenarios is not None:
        gather.warnings.append("risk.scenarios is noted: this version plans one future and shows how wrong it may be")
    if weight:
        gather.warnings.append("risk.cvar is not weighed by this version: uncertainty is shown and not optimised over")
    if not shares:
        gather.assume("risk.max_share", "none", "no limit on the share of one vendor or channel is stated")
    return RiskAppetite(
        # Nothing rests on these yet, so what is not stated is no assumption of the plan.
        scenarios=given.scenarios or SCENARIOS,
        cvar_alpha=ALPHA if alpha is None else alpha,
        cvar_weight=WEIGHT if weight is None else weight,
        max_share=shares,
        min_channels=gather.chosen("risk.min_channels", given.min_channels, 1, "no number of channels is asked for"),
        seed=SEED if given.seed is None else given.seed,
    )
