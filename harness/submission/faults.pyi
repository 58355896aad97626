"""Types of the compiled module of this name."""

from harness.core.arrays import Int64

BLANK: int
TOO_FEW: int
TOO_MANY: int
NO_ID: int
PADDED_ID: int
MANGLED_ID: int
UNKNOWN_ID: int
ODD_ID: int
EMPTY: int
ONE_ITEM: int
LONG: int
REPEATED: int
SPACES: int
UNKNOWN_ITEM: int
MISSHAPEN: int
ZEROS_LOST: int
DECIMAL: int
EXPONENT: int
LITERAL: int
SEPARATOR: int
BRACKETS: int
RESPELLED: int
COUNT: int
EXAMPLES: int

class Tally:
    counts: Int64
    lines: Int64
    examples: Int64

    def __init__(self) -> None: ...
