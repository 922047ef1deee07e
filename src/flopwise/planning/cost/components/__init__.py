"""Cost components, one module each, found by folder.

A component states ``LABEL``, ``CATEGORY`` (FOCUS service category), ``BEARER`` (who pays it first),
``FORMULA`` (for people) and ``charge(line, rates)``: USD by month, linear in the line's quantities, zero for
kinds of line that it does not concern. ``factors(line, rates)`` names what is multiplied, for one line with a charge:
the product is the sum of its charge over the months. ``ASSUMED`` names the assumptions that it rests on (paths, ``*``
for any part), ``PRICED`` says that it moves with the price of the offer.
"""
