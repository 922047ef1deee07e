"""Money: exact amounts with a currency for ledgers, prices with a per-what and a date, dated exchange rates.

The optimiser works in USD floats; every conversion to and from them happens here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from flopwise.ground.errors import FlopwiseError

_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True, order=True)
class Money:
    """An exact amount in one currency. Amounts of unlike currencies do not add.

    >>> Money.of(1.005, "USD") + Money.of(2, "USD")
    Money(amount=Decimal('3.005'), currency='USD')
    """

    amount: Decimal
    currency: str

    @classmethod
    def of(cls, amount: float | str | Decimal, currency: str) -> Money:
        """Build from a number by its shortest decimal text, so that 0.1 stays 0.1."""
        return cls(Decimal(str(amount)), currency)

    def __add__(self, other: Money) -> Money:
        """Add two amounts of the same currency."""
        if other.currency != self.currency:
            msg = f"cannot add {other.currency} to {self.currency}: convert first"
            raise FlopwiseError(msg)
        return Money(self.amount + other.amount, self.currency)

    def rounded(self) -> Money:
        """The amount to the cent, half to even."""
        return Money(self.amount.quantize(_CENT, rounding=ROUND_HALF_EVEN), self.currency)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeRate:
    """How many USD one unit of ``currency`` is worth, on a date, by a source."""

    currency: str
    usd: float
    as_of: str
    source: str


def to_usd(amount: float, currency: str, rates: Mapping[str, ExchangeRate]) -> float:
    """Convert an amount to USD by the dated table.

    Raises:
        FlopwiseError: the table has no rate for the currency.
    """
    if currency == "USD":
        return amount
    if currency not in rates:
        msg = f"no exchange rate for {currency}"
        raise FlopwiseError(msg, hint=f"known currencies: USD, {', '.join(sorted(rates))}")
    return amount * rates[currency].usd
