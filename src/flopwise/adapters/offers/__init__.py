"""Sources of offers: one module per source, each with a function that takes the catalogue and returns offers."""
