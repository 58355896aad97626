"""The evaluation set that parameters are tuned on, made from train's own last events alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from harness.config import Config, GivenSplit, InnerSplit, TimeSplit
from harness.core.errors import DataError, EmptyEvaluationSetError, UsageError
from harness.core.progress import Observer
from harness.data.dataset import Dataset, Events
from harness.evaluation.fold import require_room, require_windows
from harness.metrics import Metric, parse
from harness.metrics.grades import refuse_grades
from harness.protocol import strays
from harness.protocol.evaluation_set import highest_grade
from harness.protocol.split import by_time, end_of, refuse_empty, split
from harness.protocol.task import VALUES, Task, asked, log_evaluation_set, read_events, task_of


def metric_of(config: Config) -> Metric:
    """Return what parameters are searched by; UsageError where no value of it is better."""
    name = config.tune.metric
    metric = asked(config)[0] if name is None else parse(name, config.folder)
    if metric.definition.better == "neither":
        raise UsageError(
            f"{metric} describes lists and is neither better high nor low; name another "
            "[tune] metric"
        )
    return metric


def inner_tasks(config: Config) -> list[Task]:
    """Return tasks within the config's training events, one a fold of the inner split.

    Of a time split they are the days just before the earliest outer cut-off. What lies behind it
    is dropped before anything is asked of it: events, and users and items of those alone.
    """
    rule, first, metric = inner_split(config), config.folds()[0], metric_of(config)
    known, end = _known(config, rule)
    tasks = list[Task]()
    for fold in first.model_copy(update={"split": rule, "fold": 0}).folds():
        observer = Observer("inner ")
        try:
            with observer.step("evaluation set", "evaluation set"):
                if isinstance(fold.split, TimeSplit) and end is not None:
                    parts = by_time(known, fold.split, end)
                    refuse_empty(parts, known)
                else:
                    parts = split(known, fold.split)
                task = task_of(fold, known, parts)
        except (DataError, EmptyEvaluationSetError) as error:
            again = f"the inner split of train: {error}\n[tune] split sets another split"
            raise type(error)(again) from None
        log_evaluation_set(task.evaluation_set, observer)
        if config.graded:
            highest = highest_grade(task.data, task.split, task.config.evaluation)
            refuse_grades([metric], highest, VALUES)
        tasks.append(task)
    return tasks


def inner_split(config: Config) -> InnerSplit:
    """Return how train is split again: as ``[tune] split`` says, or as the data was."""
    if isinstance(config.split, GivenSplit) and config.n_folds > 1:
        raise UsageError(
            f"[split] valid names {config.n_folds} files: the training events of one fold can be "
            "held out in another, so tuned parameters would know the answers; tune a config with "
            "one file"
        )
    if config.tune.split is not None:
        return config.tune.split
    match config.split:
        case GivenSplit():
            raise UsageError(
                '[split] strategy "given" does not say how train is split for tuning; write '
                '[tune] split = { strategy = "time", valid_days = 7 }, "last_n" or "fraction"'
                if config.data.time
                else "events without times cannot be split for tuning; name their column under "
                "[data] time"
            )
        case TimeSplit():  # the test days were held back already
            rules = {"test_days": 0, "window": "valid", "folds": 1}
            return config.split.model_copy(update=rules)
        case rule:
            return rule


def _known(config: Config, rule: InnerSplit) -> tuple[Dataset, int | None]:
    """Return what was known at the earliest outer cut-off, and when that is, if a time says it."""
    first = config.folds()[0]
    with ThreadPoolExecutor(1) as background:
        data = read_events(first, background, Observer(), rule)
    require_windows(config, data)
    strays.checked(first, data)
    outer = split(data, first.split)
    known = past(data, outer.train)
    end = outer.cutoff if isinstance(first.split, TimeSplit) else None
    if isinstance(rule, TimeSplit):
        if end is None:
            strays.checked(first.model_copy(update={"split": rule}), known)
        key = f"{config.file}: the inner split of train, [tune] split"
        require_room(rule, known, end_of(known, rule) if end is None else end, key)
    return known, end


def past(data: Dataset, events: Events) -> Dataset:
    """Return a data set as if it had these events alone: no other user, and no other item.

    Items that the table of items describes stay.
    """
    users = np.bincount(events.user, minlength=len(data.user_ids)) > 0
    items = np.bincount(events.item, minlength=len(data.item_ids)) > 0
    if data.catalogue is not None:
        items[data.catalogue] = True
    new_user = np.cumsum(users, dtype=np.int32) - np.int32(1)
    new_item = np.cumsum(items, dtype=np.int32) - np.int32(1)
    return replace(
        data,
        user_ids=data.user_ids.filter(users),
        item_ids=data.item_ids.filter(items),
        events=events.placed(new_user, new_item),
        catalogue=None if data.catalogue is None else new_item[data.catalogue],
        shown_from=None if data.shown_from is None else data.shown_from[items],
        registered=None if data.registered is None else data.registered[users],
        notes=(),
        span=None,  # what is known of the log behind these events is not theirs
        steps=(),
    )
