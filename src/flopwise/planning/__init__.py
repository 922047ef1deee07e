"""The planning wing: how much, from where, how fragile, how wired, how dear, joined into one plan."""
