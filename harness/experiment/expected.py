"""What a run will take, told before its models are asked: memory and time.

Memory follows from what is held; time from what the same models took in earlier runs, whose answers
are kept: fits by the number of events, lists by users times candidates.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any

from harness.config import Config, ModelConfig
from harness.core.errors import UsageError, counted
from harness.experiment import memory
from harness.experiment.finished import kept_notes
from harness.experiment.identity import described
from harness.experiment.memory import Limit
from harness.protocol.task import Task, asked

_log = logging.getLogger(__name__)

_LONG = 60
"""Seconds from which a run is long enough to say so before."""


def require_memory(config: Config, users: int, events: int, limit: Limit | None) -> int:
    """Return how many bytes a run needs, more or less.

    Parameters
    ----------
    users, events : int
        How many are evaluated, and held at once.

    Raises
    ------
    UsageError
        There are fewer: the system would swap.
    """
    lists, n_metrics = sum(model.repeats for model in config.models), len(asked(config))
    every = memory.of_users(users, lists, config.evaluation.k, n_metrics)
    needed = memory.BASE + memory.AN_EVENT * events + every
    if limit is not None and needed > limit.size:
        raise UsageError(
            f"{counted(users, 'evaluated user')} with {counted(lists, 'list')} each, and "
            f"{counted(events, 'event')}, need about {memory.shown(needed)} of memory; "
            f"{limit.says}: ask for fewer repeats or metrics, evaluate some of the models "
            "(--model, in Python models=), or allow more (--memory, memory=)"
        )
    return needed


def say_expected(
    models: Sequence[ModelConfig], task: Task, needed: int, processes: int, folds: int
) -> None:
    """Say how long models that are to be asked will take, and with what memory, if that is long.

    Parameters
    ----------
    task : Task
        Of the first of so many folds.
    """
    kept = list(kept_notes())
    each = [_seconds(model, task, kept) for model in models]
    known = [seconds for seconds in each if seconds is not None]
    # Models side by side share the time, but none is divided.
    total = folds * max(sum(known) / processes, *known, 0.0)
    if total < _LONG:
        return
    unknown = len(each) - len(known)
    new = f"; {unknown} not evaluated here before" if unknown else ""
    _log.warning(
        "about %s for %s, by what they took in earlier runs%s; about %s of memory",
        _shown(total),
        counted(len(known), "model"),
        new,
        memory.shown(needed),
    )


def _seconds(model: ModelConfig, task: Task, kept: Sequence[dict[str, Any]]) -> float | None:
    """Return what a model took on the most similar data, scaled to a task's; None of a new one."""
    events, what = len(task.split.train.user), described(task.config, model.name)
    found = [notes for notes in kept if notes["described"] == what and notes["events"]]
    if not found or events == 0:
        return None
    near = min(found, key=lambda notes: abs(math.log(notes["events"] / events)))
    own = task.evaluation_set
    cells = len(own.users) * len(own.candidates) / (near["users"] * near["candidates"])
    fit, lists = (near["seconds"].get(step, 0.0) for step in ("fit", "recommend"))
    return float(fit * events / near["events"] + lists * cells)


def _shown(seconds: float) -> str:
    """Return a time as readers are shown it.

    Examples
    --------
    >>> _shown(61), _shown(150), _shown(5400)
    ('1 min', '2 min', '1.5 h')
    """
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
