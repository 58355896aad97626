"""Properties worked out once an object, and attributes of which every reader has a copy."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 - used as a decorator
    """`functools.cached_property` without its lock.

    In Python 3.11 that lock is one for all objects of a class: threads that each work on an object
    of their own would take turns.

    Examples
    --------
    >>> class Square:
    ...     side = 3
    ...     @once
    ...     def area(self):
    ...         print("worked out")
    ...         return self.side**2
    >>> square = Square()
    >>> square.area, square.area
    worked out
    (9, 9)
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, owner: None, _class: type) -> once[T]: ...
    @overload
    def __get__(self, owner: object, _class: type) -> T: ...
    def __get__(self, owner: Any, _class: type) -> Any:
        """Return the value; it then stands in the object, and is found there first."""
        if owner is None:
            return self
        value = self.function(owner)
        owner.__dict__[self.function.__name__] = value
        return value


class lent(once[T]):  # noqa: N801 - used as a decorator
    """A property worked out once, of which every reader has a shallow copy.

    Examples
    --------
    >>> class Week:
    ...     @lent
    ...     def days(self):
    ...         return ["Monday"]
    >>> week = Week()
    >>> week.days.clear()
    >>> week.days
    ['Monday']
    """

    @overload
    def __get__(self, owner: None, _class: type) -> lent[T]: ...
    @overload
    def __get__(self, owner: object, _class: type) -> T: ...
    def __get__(self, owner: Any, _class: type) -> Any:
        """Return a copy of the value."""
        if owner is None:
            return self
        kept, name = owner.__dict__, f"_{self.function.__name__}"
        if name not in kept:
            kept[name] = self.function(owner)
        return copy(kept[name])


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
