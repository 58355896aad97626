"""Types of the compiled module of this name: arrays are checked when it is called."""

from typing import Any

USER: int
LIST: int
ORDER: int
STRANGER: int
NO_ID: int
ASKED: int

def read_users(*given: Any) -> None: ...
def note(*given: Any) -> None: ...
def admit(*given: Any) -> tuple[int, int]: ...
