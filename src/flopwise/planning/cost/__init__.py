"""Cost: components that turn quantities into money by month, a ledger that sums them, and closed-form checks."""
