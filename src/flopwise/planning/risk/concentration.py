"""Concentration of a plan by tier: shares, Herfindahl-Hirschman index, effective number of names."""

from __future__ import annotations

from collections.abc import Mapping

from flopwise.domain.plan import Concentration

#: The index of one name alone.
_HHI_OF_ONE = 10_000.0


def concentration(tier: str, amounts: Mapping[str, float], limit: float | None = None) -> Concentration:
    """Shares of a quantity by name.

    HHI = 10,000 x sum of squared shares; effective number = 10,000 / HHI. Above 1,800 a market counts as highly
    concentrated (US merger guidelines 2023).

    Args:
        tier: what the names are (vendor, channel, place).
        amounts: quantity by name, accelerator-hours for instance; names without any are left out.
        limit: largest share that the user allows, if any.

    >>> found = concentration("vendor", {"a": 3.0, "b": 1.0}, limit=0.7)
    >>> found.hhi, round(found.effective_number, 2), found.exceeded
    (6250.0, 1.6, True)
    """
    total = sum(amounts.values())
    shares = {name: amount / total for name, amount in sorted(amounts.items(), key=lambda item: -item[1]) if amount > 0}
    hhi = _HHI_OF_ONE * sum(share**2 for share in shares.values())
    exceeded = limit is not None and any(share > limit + 1e-9 for share in shares.values())
    return Concentration(
        tier=tier, shares=shares, hhi=hhi, effective_number=_HHI_OF_ONE / hhi if hhi else 0.0, limit=limit, exceeded=exceeded
    )
