"""What of a person's own files goes to Spark's workers, which do not have these files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from harness.core.plugins import BESIDE


@contextmanager
def travelling() -> Iterator[None]:
    """Let classes and functions of files beside configs, as far as loaded, travel to workers."""
    from pyspark import cloudpickle

    own = [module for name, module in sys.modules.items() if name.startswith(BESIDE)]
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)
