"""Reports: one module per format, found by folder. Each offers ``render(plan, *, lang) -> bytes``."""
