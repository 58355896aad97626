"""Types of the compiled module of this name: arrays are checked when it is called."""

from typing import Any

from harness.core.arrays import Int64

PAD: int
EXAMPLES: int
FIELD: int
RECORD: int
SUBSTITUTE: int
NO_ROW: int
BLANK: int
TOO_FEW: int
TOO_MANY: int
SHAPES: int

class Tally:
    counts: Int64
    lines: Int64
    mended: Int64
    examples: Int64

    def __init__(self, faults: int = ...) -> None: ...
    def copy(self) -> Tally: ...

def find_byte(*given: Any) -> int: ...
def behind_last(*given: Any) -> int: ...
def keys(*given: Any) -> None: ...
def cut(*given: Any) -> None: ...
def mark(*given: Any) -> None: ...
def plain(*given: Any) -> tuple[int, int, int, int, int, int]: ...
def gather(*given: Any) -> int: ...
def parse(*given: Any) -> None: ...
