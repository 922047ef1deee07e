"""The nouns: frozen, slotted, keyword-only values. No I/O, no arithmetic beyond what a noun says of itself."""
