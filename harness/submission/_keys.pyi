"""Types of the compiled module of this name: arrays are checked when it is called."""

from typing import Any

from harness.core.arrays import Int64, UInt64

class Ids:
    def __init__(self, *given: Any, **named: Any) -> None: ...

class Memo:
    rows: UInt64
    growth: int

    def __init__(self, *given: Any, forms: Any = None) -> None: ...
    def __len__(self) -> int: ...
    @classmethod
    def nothing(cls, forms: UInt64 | None = None) -> Memo: ...
    def more(self, *given: Any) -> Memo: ...

class Strangers:
    keys: UInt64
    spans: Int64

    def __len__(self) -> int: ...

def codes(*given: Any) -> None: ...
def looks(*given: Any) -> tuple[bool, int, bool, bool, bool, bool]: ...
