"""Cost components, one module each, found by folder.

A component states ``LABEL``, ``CATEGORY`` (FOCUS service category), ``BEARER`` (who pays it first),
``FORMULA`` (for people) and ``charge(line, rates)``: USD by month, linear in the line's quantities, zero for
kinds of line that it does not concern.
"""
