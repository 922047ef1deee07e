"""Traces of requests: one module per format. ``requests`` reads CSV files of arrivals and token counts."""
