"""A property worked out once an object; other objects need not wait for it."""

from __future__ import annotations

from collections.abc import Callable
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
