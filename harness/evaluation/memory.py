"""How much memory there is, how much a log needs, and sizes as people write them."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.config import Config
from harness.core.errors import UsageError, counted
from harness.data.buckets import estimated_rows
from harness.data.layout import Layout
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.task import asked

BASE, AN_EVENT = 300_000_000, 42
"""Bytes that a run holds: at its start, and of every event while all are in memory."""
_A_USER, _A_VALUE = 400, 40
LEAST = 1_000_000_000  # bytes that a run on buckets needs, whatever the log
_GROUP = Path("/sys/fs/cgroup")  # where Linux says what a container may use
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT])(I?)B?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Limit:
    """Bytes of memory that there are, and what is said of them."""

    size: int
    says: str


def limit(text: str | None) -> Limit:
    """Return what is allowed, or without a text what is free."""
    if text is not None:
        return Limit(parse(text), f"--memory allows {shown(parse(text))}")
    available = free()
    return Limit(available, f"{shown(available)} is free")


def parse(text: str) -> int:
    """Return the bytes of a size as people write it; raise UsageError where a run needs more.

    Examples
    --------
    >>> parse("4GB"), parse("1.5 GiB")
    (4000000000, 1610612736)
    """
    match = _SIZE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise UsageError(
            f'memory is {text!r}; write a number and a unit (MB, GB, TB, or GiB), such as "4GB"'
        )
    number, unit, binary = match.groups()
    size = int(float(number) * (1024 if binary else 1000) ** (1 + "KMGT".index(unit.upper())))
    if size < LEAST:
        raise UsageError(
            f"memory is {text!r}, which is too little: buckets of users need {shown(LEAST)} or more"
        )
    return size


def needed(layout: Layout) -> int:
    """Return about how many bytes a run needs for all events, before `require_memory` for users."""
    return BASE + AN_EVENT * estimated_rows(layout)


def require_memory(
    config: Config, selected: EvaluationSet, held: int, events: int, limit: Limit
) -> None:
    """Raise UsageError where a run needs more memory than there is: the system would swap.

    Of `held` users of earlier folds and as many later ones as of this fold the values stay.
    """
    users, candidates = held + len(selected.users) * (config.fold + 1), len(selected.candidates)
    lists, n_metrics = sum(model.repeats for model in config.models), len(asked(config))
    a_list = 2 * 4 * min(config.evaluation.k, candidates) + _A_VALUE * n_metrics
    needed = BASE + AN_EVENT * events + users * (_A_USER + lists * a_list)
    if needed > limit.size:
        raise UsageError(
            f"{counted(users, 'evaluated user')} with {counted(lists, 'list')} each, and "
            f"{counted(events, 'event')}, need about {shown(needed)} of memory; {limit.says}. "
            "Use fewer repeats or metrics, choose some of the models (--model, in Python "
            "models=), or allow more memory (--memory, memory=)"
        )


def free(group: Path = _GROUP) -> int:
    """Return how many bytes there are for this process."""
    import psutil  # slow to import

    available: int = psutil.virtual_memory().available
    with suppress(OSError, ValueError):  # "max" is no number: a container has no limit
        most, held = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        # Files that wait in memory can go.
        return min(available, max(most - held + int(stat.get("inactive_file", 0)), 0))
    return available


def shown(size: int) -> str:
    """Return a size as readers are shown it.

    Examples
    --------
    >>> shown(4_000_000_000), shown(1_536_000_000)
    ('4 GB', '1.5 GB')
    """
    return f"{size / 1e9:,.1f}".removesuffix(".0") + " GB"
