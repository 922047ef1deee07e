"""What costs are computed from: one line per pool and contract, with its quantities by month.

All quantities are arrays whose last axis is the month, so one plan is shape (months,) and a batch of
decisions (one server more in each month, say) is shape (batch, months). Components are linear in the
quantities: the optimiser's unit costs and the ledger's totals come from the same formulas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flopwise.ground.units import HOURS_PER_MONTH

Floats = NDArray[np.float64]
#: What is multiplied to a charge: value and its unit for people by name, "1" for a share, "" for a bare number.
Factors = dict[str, tuple[float, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRates:
    """Rates of the place where a server stands. Electricity USD/J, colocation USD/W/month of IT power."""

    electricity: float
    pue: float
    colocation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Rates that are the same everywhere in a plan, and the calendar.

    ``month_hours`` are the hours of the horizon's months, ``later_hours`` those of the months after it, as far as any
    contract reaches: what is owed after the horizon falls due there, and what is left of servers is sold in the first.
    ``residual`` maps age in years to the part of the purchase price that comes back; ``network_share`` is
    network capex over server price; ``storage`` is USD of storage per accelerator; ``power_overhead`` is
    network and storage power over server power; ``mean_power_share`` is mean over maximum server power.
    """

    month_hours: Floats
    wacc: float
    residual: Mapping[float, float]
    support_rate: float
    staff_cost: float
    accelerators_per_engineer: float
    network_share: float
    storage: float
    power_overhead: float
    mean_power_share: float
    later_hours: Floats = field(default_factory=lambda: np.full(1, HOURS_PER_MONTH))

    @property
    def months(self) -> int:
        """Months of the horizon."""
        return len(self.month_hours)

    @property
    def ledger_months(self) -> int:
        """Months of the horizon and those after it in which something may fall due."""
        return len(self.month_hours) + len(self.later_hours)


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplyLine:
    """Quantities of one contract.

    Attributes:
        kind: ``owned``, ``purchase``, ``reserved``, ``on-demand``, ``spot``, ``hosted`` or ``commitment``.
        unit_price: USD per server (owned, purchase), per server-hour (rented kinds), per mean request (hosted).
        accelerators: per server.
        power: maximum IT power of one server (W).
        arrivals: servers that arrive in each month (purchase), or reservations that start (reserved).
        held: servers held all month (owned, purchase, reserved).
        server_hours: hours rented by the hour (on-demand, spot).
        later_hours: reserved server-hours that the contract obliges to pay in the months after the horizon.
        upfront: part of a reservation that is paid when it starts; the rest is paid by the hour.
        term_hours: server-hours of a whole reservation, by the month in which it starts.
        requests: requests sent to a hosted API.
        usd: money stated directly by month (commitment).
        site: rates of the site; ``None`` where the provider bears power and space.
    """

    kind: str
    unit_price: float = 0.0
    accelerators: int = 0
    power: float = 0.0
    arrivals: Floats | float = 0.0
    held: Floats | float = 0.0
    server_hours: Floats | float = 0.0
    later_hours: Floats | float = 0.0
    upfront: float = 0.0
    term_hours: Floats | float = 0.0
    requests: Floats | float = 0.0
    usd: Floats | float = 0.0
    site: SiteRates | None = None
