"""Closed forms beside the optimum, for people: they explain what the solver chose."""

from __future__ import annotations

from flopwise.ground.units import MILLION_TOKENS


def annuity_factor(rate: float, years: float) -> float:
    """Yearly payment that repays 1 over ``years`` at ``rate``: r / (1 - (1+r)^-n), or 1/n at rate 0.

    >>> round(annuity_factor(0.10, 5), 4)
    0.2638
    """
    return 1 / years if rate == 0 else rate / (1 - (1 + rate) ** -years)


def owning_cost_per_hour(
    price: float, *, rate: float, years: float, residual: float, running_per_hour: float, hours_per_year: float
) -> float:
    """Levelised cost of owning one unit for one hour, at full use.

    (price - residual x price x (1+r)^-n) x annuity / hours per year + running cost.

    Args:
        price: purchase price with everything that is bought beside it (USD).
        rate: cost of capital.
        years: years of use.
        residual: part of the price that comes back at the end.
        running_per_hour: power, space, support and staff (USD/h).
        hours_per_year: hours that the year has.
    """
    financed = price * (1 - residual * (1 + rate) ** -years)
    return financed * annuity_factor(rate, years) / hours_per_year + running_per_hour


def break_even_utilisation(committed_per_hour: float, elastic_per_hour: float) -> float:
    """Use above which a commitment (or owning) beats paying by the hour: committed price / elastic price.

    >>> round(break_even_utilisation(38.65, 88.49), 2)
    0.44
    """
    return committed_per_hour / elastic_per_hour


def hosted_break_even_tokens(replica_cost_per_hour: float, *, price_per_million: float, hours_per_day: float) -> float:
    """Tokens a day above which running the smallest deployment costs less than a hosted API.

    replica cost per day / hosted price per token; the deployment must be able to serve that many tokens.
    """
    return replica_cost_per_hour * hours_per_day / (price_per_million / MILLION_TOKENS)
