"""The command line: one module per verb under ``verbs``, and a static table of them in ``table``."""
