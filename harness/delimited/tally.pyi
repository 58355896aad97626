"""Types of the compiled module of this name."""

from harness.core.arrays import Int64

BLANK: int
TOO_FEW: int
TOO_MANY: int
SHAPES: int
EXAMPLES: int

class Tally:
    counts: Int64
    lines: Int64
    mended: Int64
    examples: Int64

    def __init__(self, faults: int = ...) -> None: ...
    def copy(self) -> Tally: ...
