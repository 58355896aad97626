"""What was given in Python and is in no file: the name that stands for it in a config."""

from __future__ import annotations

_PREFIX = "given:"


def given(what: str) -> str:
    """Return the name of an object or a frame.

    Examples
    --------
    >>> given("the events frame"), is_given(given("MyModel")), is_given("my_model:MyModel")
    ('given:the events frame', True, False)
    """
    return f"{_PREFIX}{what}"


def is_given(name: str) -> bool:
    """Return whether a name stands for an object or a frame."""
    return name.startswith(_PREFIX)


def what(name: str) -> str:
    """Return a name as a person reads it: of what was given, what it is; else as it is.

    Examples
    --------
    >>> what("given:the events frame"), what("log.csv")
    ('the events frame', 'log.csv')
    """
    return name.removeprefix(_PREFIX)
