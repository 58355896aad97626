"""Types of the compiled module of this name: arrays are checked when it is called."""

from typing import Any

from harness.core.arrays import Int64

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
ALIKE: int
COUNT: int
USER: int
LIST: int
ORDER: int
STRANGER: int
NOBODY: int
ASKED: int
OTHER: int
ALONE: int
BESIDE: int

class Ids:
    def __init__(self, *arguments: Any, **named: Any) -> None: ...

class Strangers:
    rows: Int64

    def __len__(self) -> int: ...

def codes(*arguments: Any) -> None: ...
def looks(*arguments: Any) -> tuple[bool, int, bool, bool, bool, bool]: ...
def mark_repeats(*arguments: Any) -> None: ...
def read_items(*arguments: Any) -> tuple[int, int, int, int]: ...
def read_users(*arguments: Any) -> None: ...
def write_rows(*arguments: Any) -> None: ...
