"""Demand: how much work each workload is, per month and hour, and the legal ways (modes) to do it."""
