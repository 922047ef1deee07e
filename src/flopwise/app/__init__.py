"""Use cases: one module per verb, typed request to typed answer. Here the rooms below are joined with the outside world."""
