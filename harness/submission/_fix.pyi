"""Types of the compiled module of this name: arrays are checked when it is called."""

from typing import Any

FIELD: int
RECORD: int

def plain(*given: Any) -> tuple[int, int, int, int, int, int]: ...
def mend(*given: Any) -> int: ...
