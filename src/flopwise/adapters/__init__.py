"""Adapters: the outside world, one package per kind and one module per member. Kinds do not know each other."""
