"""Property tests of this room time the formulas nowhere: no deadline, so that a busy machine does not fail them."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
