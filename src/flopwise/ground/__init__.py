"""Ground: units, money, errors and plugin lookup. Nothing here knows what an accelerator is."""
