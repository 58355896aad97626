"""Progress on standard error, for steps that take longer than a second."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm

_SECONDS_BEFORE_SHOWN = 1


@contextmanager
def steps(label: str, total: int | None, unit: str, shown: bool = True) -> Iterator[tqdm[Any]]:
    """Yield a bar to ``update``; it appears after a second, and leaves nothing behind."""
    from tqdm import tqdm

    with tqdm(
        desc=label,
        total=total,
        unit=unit,
        unit_scale=True,
        delay=_SECONDS_BEFORE_SHOWN,
        leave=False,
        file=sys.stderr,
        disable=not shown,
    ) as bar:
        yield bar
