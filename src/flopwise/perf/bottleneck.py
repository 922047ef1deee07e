"""Names of the four resources of which one binds, as they appear in ``Mode.load`` and ``Mode.bottleneck``."""

MEMORY_CAPACITY = "memory capacity"
COMPUTE = "compute"
MEMORY_BANDWIDTH = "memory bandwidth"
INTERCONNECT = "interconnect"
