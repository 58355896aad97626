"""The main job: a config in, every model evaluated on one set, a `Run` out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from harness.config import Config
from harness.core.errors import printable
from harness.core.exact_sum import of_one
from harness.core.progress import Observer, shown
from harness.core.workers import Workers
from harness.evaluation import memory
from harness.evaluation.assemble import assemble, over_folds
from harness.evaluation.build import only
from harness.evaluation.finished import Finished
from harness.evaluation.fold import (
    Failures,
    Fold,
    HeldOut,
    Users,
    ask_in_memory,
    label,
    named,
    require_files,
    require_windows,
)
from harness.evaluation.inputs import config_of, refuse_with_frames
from harness.evaluation.part import EvaluatedPart, describing, evaluate_part
from harness.evaluation.parts import in_buckets
from harness.evaluation.workers import ModelWorkers, processes
from harness.metrics import Metric, needs
from harness.models.item_stats import of_train
from harness.protocol.task import Task, asked, read_events, task_on
from harness.protocol.users import of_events, with_attributes
from harness.results.run import Run

_log = logging.getLogger(__name__)


def run(
    config: Config | Mapping[str, Any] | str | Path | None = None,
    *,
    events: Any = None,
    users: Any = None,
    items: Any = None,
    data: Mapping[str, Any] | None = None,
    split: Mapping[str, Any] | None = None,
    evaluation: Mapping[str, Any] | None = None,
    compare: Mapping[str, Any] | None = None,
    models: Sequence[str] | Mapping[str, Any] = (),
    memory: str | None = None,
    fail_fast: bool = False,
    fresh: bool = False,
    jobs: int = 1,
    progress: bool = False,
) -> Run:
    """Evaluate the models of a config on one evaluation set, and compare them.

    With folds, it evaluates them on each fold; estimates are means over folds.

    Parameters
    ----------
    config : path of a TOML file, or mapping, optional
        A mapping has the sections of the file. Or use the keywords below instead: each is a
        section, or a table of ``[data]``.
    events : frame or path
        The event log, with columns as `data` names them (``user``, ``item`` and ``time`` by
        default): a pandas or Polars frame, an Arrow table or a DuckDB relation, or a file. A frame
        is never changed, and its events are not cached.
    users, items : frame or path, optional
        Attributes: one row per user, or per item.
    data, split, evaluation, compare : mapping
        The keys of these sections, such as ``{"strategy": "time", "valid_days": 7}``. `valid` of a
        given split may be a frame, too.
    models : mapping of name to model, or sequence of str
        A model is one of these: an import path ``"module:Class"``; a class, made without
        parameters; an object with ``fit`` and ``recommend`` (each fit uses a fresh copy); a frame
        or a file of lists (user, item and rank, or the order of rows); or a mapping like an entry
        of ``[[models]]``: ``{"use": MyModel, "params": {"days": 7}, "repeats": 5}``. With a
        config: names of its models; only these and their base models are evaluated.
    memory : str, optional
        The memory to use, such as ``4GB``; by default the free memory. If all events need more,
        the run splits users into buckets on disk, with the same results. Then it refuses models
        that learn from all events at once.
    fail_fast : bool
        Raise the error of the first model that fails. By default the others are evaluated, and
        ``failed`` of the result has the error.
    fresh : bool
        Evaluate every model again. By default a model comes from the cache if an earlier run
        evaluated it with the same data, settings, code and packages (``[data] cache = false``
        turns the cache off).
    jobs : int
        Use up to this many processes, this one included, if memory allows; the results do not
        change. Each process reads the events, so they must be in a file. This process evaluates
        models that are classes or objects.
    progress : bool
        Show the progress on standard error.

    Raises
    ------
    HarnessError
        A mistake that you can fix: in the config or a file, an empty evaluation set, a full disk.
        Also if all models fail.

    Examples
    --------
    >>> import polars as pl
    >>> days = ["2020-01-01"] * 3 + ["2020-01-09"] * 2
    >>> log = pl.DataFrame({"user": [1, 1, 2, 1, 2], "item": [7, 8, 8, 7, 8], "time": days})
    >>> class Always:
    ...     def fit(self, train):
    ...         return self
    ...
    ...     def recommend(self, users, k, draws, exclude=None):
    ...         return [[0, 1]] * len(users)
    >>> result = run(events=log, split={"strategy": "time"}, models={"always": Always()})
    >>> result.recommendations("always")
      user  rank item
    0    1     1    7
    1    1     2    8
    2    2     1    7
    3    2     2    8
    """
    keywords = {
        "events": events,
        "users": users,
        "items": items,
        "data": data,
        "split": split,
        "evaluation": evaluation,
        "compare": compare,
    }
    config, names = config_of(config, keywords, models)
    refuse_with_frames(config, memory, jobs)
    config = only(config, names) if names else config
    # Leaving waits until finished models are kept.
    with shown(progress), ThreadPoolExecutor(1) as keeping:
        finished = [Finished(fold, fresh=fresh, background=keeping) for fold in config.folds()]
        run = evaluate(
            config, asked(config), finished, fail_fast=fail_fast, allowed=memory, jobs=jobs
        )
    unkept = {name: why for fold in finished for name, why in fold.unkept.items()}
    for why in dict.fromkeys(unkept.values()):
        _log.info(
            "not kept for later runs, so the same command evaluates it again: %s (%s)",
            ", ".join(printable(name) for name, reason in unkept.items() if reason == why),
            printable(why),
        )
    return run


def evaluate(
    config: Config,
    metrics: tuple[Metric, ...],
    finished: Sequence[Finished],
    *,
    fail_fast: bool = False,
    allowed: str | None = None,
    jobs: int = 1,
) -> Run:
    """Return what a config's models score; each fold's `finished` ones need not be asked.

    `allowed` is the memory to use, as `run` takes it.
    """
    require_files(config)
    limit, held_out, failures = memory.limit(allowed), HeldOut(config), Failures(fail_fast)
    n_folds, runs = len(finished), list[Run]()
    folds = [
        Fold(fold, metrics, failures, Observer(label(number, n_folds)), models, n_folds=n_folds)
        for number, (fold, models) in enumerate(zip(config.folds(), finished, strict=True), 1)
    ]
    count = processes(jobs, (fold.config.layout() for fold in folds), limit)
    with Workers(count - 1) as workers:
        model_workers = ModelWorkers(config, workers)
        for layout, alike in groupby(folds, key=lambda fold: fold.config.layout()):
            same_log = list(alike)
            if layout.has_frames or memory.needed(layout) <= limit.size:
                opened = _in_memory(config, same_log, model_workers, limit)
            else:
                opened = in_buckets(config, same_log, limit)
            with opened as users_of:
                for fold in same_log:
                    held = sum(len(run.user_ids) for run in runs)
                    with named(fold.number, n_folds):
                        # Events go with its users: statistics need memory, too.
                        part, task = _evaluate_users(
                            fold, users_of(fold, held), model_workers, held_out
                        )
                        run = assemble(fold, task.data, task.split, part.item_ids, of_one(part))
                    runs.append(replace(run, tables=part))
    return runs[0] if n_folds == 1 else over_folds(config, metrics, runs, failures, held_out)


@contextmanager
def _in_memory(
    config: Config, folds: Sequence[Fold], workers: ModelWorkers, limit: memory.Limit
) -> Iterator[Callable[[Fold, int], Users]]:
    """Yield what returns the users of a fold, with all events and `held` users in memory."""
    with ThreadPoolExecutor(1) as background:  # leaving waits until the cache is written
        data = read_events(folds[0].config, background, folds[0].observer)
        # What is submitted now is done once the cache is written.
        workers.ready = background.submit(lambda: None).result
        require_windows(config, data)
        logs = [data] * len(folds)  # each fold takes its own, and the last one lets it go early
        del data

        def users_of(fold: Fold, held: int) -> Users:
            task = task_on(fold.config, logs.pop(), fold.observer)
            evaluation_set = task.evaluation_set
            n_events = len(task.data.events)
            memory.require_memory(fold.config, evaluation_set, held, n_events, limit)
            # Its fingerprint is asked for last, when nothing is left to do beside.
            background.submit(lambda: evaluation_set.leaves)
            with fold.observer.step("users"):
                asked_for = (*fold.metrics, *describing(evaluation_set.k))
                catalogue = of_train(task.train, needs(asked_for))
                profile = of_events(task)
            ask = partial(ask_in_memory, fold, task)
            return Users(task, profile, catalogue, ask)

        yield users_of


def _evaluate_users(
    fold: Fold, users: Users, workers: ModelWorkers, held_out: HeldOut
) -> tuple[EvaluatedPart, Task]:
    """Return what all models score on one evaluation set, and its task without events."""
    task, columns = users.task, fold.config.compare.slices
    held_out.add(task.evaluation_set)
    with fold.observer.step("users"):
        profile = with_attributes(users.profile, task, columns, whole=True)
    with closing(workers.answers(fold, users)) as models:  # workers stop where one raises
        part = evaluate_part(
            task, profile, models, fold.metrics, users.catalogue, fold.failures, fold.clocks
        )
    return part, task.without_events()
