"""Sourcing: buy, reserve, rent by the hour, spot or hosted, over time."""
