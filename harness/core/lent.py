"""Attributes of which every reader gets a shallow copy, so that no reader changes another's."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

T = TypeVar("T")


class lent(cached_property[T]):  # noqa: N801 - used as a decorator
    """A property worked out once, of which every reader has a shallow copy."""

    def __set_name__(self, owner: type[Any], name: str) -> None:
        """Keep the value under another name, so that each reading comes here."""
        super().__set_name__(owner, f"_{name}")

    if not TYPE_CHECKING:

        def __get__(self, owner: Any, kind: Any = None) -> Any:
            """Return a copy of the value."""
            value = super().__get__(owner, kind)
            return value if owner is None else copy(value)


class Lent(Generic[T]):
    """A field of a dataclass, of which every reader has a shallow copy."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, _class: type) -> T:
        """Return a copy of the value."""
        if owner is None:
            raise AttributeError(self.name)  # the field has no default
        value: T = copy(owner.__dict__[self.name])
        return value

    def __set__(self, owner: Any, value: T) -> None:
        """Keep the value."""
        owner.__dict__[self.name] = value
