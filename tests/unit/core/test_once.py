"""A property worked out once an object; its docstring has an example."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from harness.core.once import once


def test_objects_do_not_wait_for_one_another() -> None:
    """Each waits within its own property until the other is there too."""
    both = Barrier(2)

    class Waits:
        @once
        def value(self) -> int:
            both.wait(timeout=120)
            return 1

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda one: one.value, [Waits(), Waits()])) == [1, 1]
