"""Types of the compiled module of this name: arrays are checked when it is called."""

from typing import Any

PAD: int
"""Bytes behind the last of a buffer that may be read."""

def find_byte(*given: Any) -> int: ...
def behind_last(*given: Any) -> int: ...
def keys(*given: Any) -> None: ...
