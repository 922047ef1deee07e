"""How fast and how big: pure formulas over domain objects, one for a scalar and an array alike."""
