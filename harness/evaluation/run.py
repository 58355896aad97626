"""The main job: a config in, every model evaluated on one set, a `Run` out."""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from harness.config import Config
from harness.core.errors import printable
from harness.core.io import scratch_folder
from harness.core.progress import Observer
from harness.core.steps import of_one
from harness.core.workers import Workers
from harness.evaluation import buckets as in_buckets
from harness.evaluation import memory as memory_
from harness.evaluation.assemble import assemble
from harness.evaluation.buckets import InBuckets
from harness.evaluation.build import only
from harness.evaluation.failures import Failures
from harness.evaluation.finished import Finished
from harness.evaluation.fold import Evaluator, Fold, InMemory, label
from harness.evaluation.folds import HeldOut, over_folds, require_files, require_windows
from harness.evaluation.inputs import config_of, refuse_with_frames
from harness.evaluation.part import EvaluatedPart, describing, evaluate_part
from harness.evaluation.workers import ModelWorkers, processes
from harness.metrics import Metric
from harness.protocol.task import asked
from harness.protocol.task import read as read_events
from harness.protocol.users import with_attributes
from harness.results.run import Run
from harness.results.tables import RunTables

_log = logging.getLogger(__name__)

Evaluators = Generator[Evaluator, None, None]


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
    """Evaluate every model of a config on the evaluation set that it makes, and compare them.

    On each of them, where its split has folds; estimates are then means over folds.

    Parameters
    ----------
    config : path of a TOML file, or mapping, optional
        A mapping has the sections of the file. Without it the keywords below say the same: each is
        a section, or a table of ``[data]``.
    events : frame or path
        The event log, with columns as `data` names them (``user``, ``item`` and ``time`` by
        default): a pandas or Polars frame, an Arrow table or a DuckDB relation, or a file. A frame
        is never changed; with frames nothing is kept in the cache.
    users, items : frame or path, optional
        A row a user or item, with their attributes.
    data, split, evaluation, compare : mapping
        The keys of these sections, such as ``{"strategy": "time", "valid_days": 7}``. `valid` of a
        given split may be a frame, too.
    models : mapping of name to model, or sequence of str
        A model is an import path ``"module:Class"``; a class, made without parameters; an object
        with ``fit`` and ``recommend``, of which every fit takes a copy as it was given; a frame or
        a file of lists (user, item and rank, or the order of rows); or a mapping as an entry of
        ``[[models]]``: ``{"use": MyModel, "params": {"days": 7}, "repeats": 5}``. With a config:
        names of its models; these, and what they are made of, alone are evaluated.
    memory : str, optional
        How much may be used, such as ``4GB``: where all events need more, they are read once into
        buckets of users on disk, and these are evaluated one after the other, with the same
        results. Models that must learn from all events at once are refused then. By default what
        the system has free.
    fail_fast : bool
        Raise what the first model raises that fails. By default the others are evaluated as if it
        were not there, and ``failed`` of the result says why it has no scores.
    fresh : bool
        Evaluate every model anew. By default those that an earlier run finished are taken from the
        cache, where all is the same that their lists follow from (``[data] cache = false`` keeps
        nothing).
    jobs : int
        How many processes may evaluate models side by side, this one among them, where memory
        allows; the results are the same. Each reads the events, so there must be a file of them;
        models that are classes or objects are evaluated by this one.
    progress : bool
        Show bars on standard error for steps that take longer than a second.

    Raises
    ------
    HarnessError
        Anything a person can mend: the config, a file, an empty evaluation set, a full disk; and
        a model that fails, where no other is left.

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
    >>> found = run(events=log, split={"strategy": "time"}, models={"always": Always()})
    >>> found.recommendations("always")
      user  rank item
    0    1     1    7
    1    1     2    8
    2    2     1    7
    3    2     2    8
    """
    keywords = {"events": events, "users": users, "items": items}
    keywords |= {"data": data, "split": split, "evaluation": evaluation, "compare": compare}
    config, names = config_of(config, keywords, models)
    refuse_with_frames(config, memory, jobs)
    config = only(config, names) if names else config
    with ThreadPoolExecutor(1) as keeping:  # leaving waits until finished models are kept
        finished = [Finished(fold, fresh=fresh, background=keeping) for fold in config.folds()]
        done = evaluate(
            config,
            asked(config),
            Failures(fail_fast),
            finished,
            memory=memory,
            jobs=jobs,
            progress=progress,
        )
    _say_unkept({name: why for each in finished for name, why in each.unkept.items()})
    return done


def _say_unkept(unkept: Mapping[str, str]) -> None:
    """Say which finished models are not kept, and why."""
    for why in dict.fromkeys(unkept.values()):
        names = [printable(name) for name, reason in unkept.items() if reason == why]
        _log.warning(
            "not kept for later runs, so that the same command evaluates anew: %s (%s)",
            ", ".join(names),
            printable(why),
        )


def evaluate(
    config: Config,
    metrics: tuple[Metric, ...],
    failures: Failures,
    finished: Sequence[Finished],
    *,
    memory: str | None = None,
    jobs: int = 1,
    progress: bool = False,
) -> Run:
    """Return what the models of a config score under some metrics.

    Parameters
    ----------
    finished : sequence of Finished
        Of each fold, the models that need not be asked.
    """
    require_files(config)
    limit, n_folds = memory_.limit(memory), len(finished)
    observers = [Observer(bars=progress, label=label(n, n_folds)) for n in range(1, n_folds + 1)]
    folds = [
        Fold(fold, metrics, failures, observer, known, n_folds=n_folds)
        for fold, observer, known in zip(config.folds(), observers, finished, strict=True)
    ]
    runs, users, held_out = list[Run](), list[EvaluatedPart](), HeldOut(config)
    count = processes(jobs, (fold.config.layout() for fold in folds), limit)
    with Workers(count - 1) as workers:
        beside = ModelWorkers(config, workers)
        with closing(_evaluators(config, folds, limit, beside)) as evaluators:
            for evaluator in evaluators:
                with evaluator.fold.named():
                    held_out.add(evaluator.task.evaluation_set)
                    run, part = _fold(evaluator, beside)
                    runs.append(run)
                    users.append(part)
                del evaluator  # its events are let go before those of the next are at hand
    if len(folds) == 1:
        return runs[0]
    return over_folds(config, metrics, runs, users, failures, held_out)


def _fold(evaluator: Evaluator, beside: ModelWorkers) -> tuple[Run, EvaluatedPart]:
    """Return the run on one evaluation set, and its users' scores."""
    part, fold = _evaluated(evaluator, beside), evaluator.fold
    task = evaluator.task = evaluator.task.without_events()  # statistics need memory, too
    ids = task.evaluation_set.candidate_ids
    run = assemble(fold, task.data, task.split, ids, of_one(part))
    tables = RunTables(users=part.profile, item_ids=ids, scores=part.tables, lists=part.lists)
    return replace(run, tables=tables, changed=fold.finished.changed), part


def _evaluated(evaluator: Evaluator, beside: ModelWorkers) -> EvaluatedPart:
    fold, task = evaluator.fold, evaluator.task
    with fold.observer.step("users"):
        slices = fold.config.compare.slices
        users = with_attributes(evaluator.profile, task, slices, whole=True)
        catalogue = evaluator.catalogue((*fold.metrics, *describing(task.evaluation_set.k)))
    with closing(beside.answers(evaluator)) as models:  # workers stop where one raises
        return evaluate_part(
            task,
            users,
            models,
            fold.metrics,
            catalogue,
            fold.failures,
            fold.clocks,
        )


def _evaluators(
    config: Config,
    folds: Sequence[Fold],
    limit: memory_.Limit | None,
    beside: ModelWorkers,
) -> Evaluators:
    """Yield what asks the models of each fold: with all events in memory, or a bucket at a time.

    Events that several folds have in common are read once.
    """
    for layout, same in groupby(folds, key=lambda fold: fold.config.layout()):
        if limit is None or layout.has_frames or memory_.needed(layout) <= limit.size:
            evaluators: Evaluators = _in_memory(config, list(same), beside)
        else:
            evaluators = _in_buckets(config, list(same), limit)
        with closing(evaluators):
            for evaluator in evaluators:
                evaluation_set, n_folds = evaluator.task.evaluation_set, evaluator.fold.n_folds
                memory_.require_memory(
                    config,
                    users=len(evaluation_set.users) * n_folds,  # values of all folds are held
                    events=evaluator.events,
                    candidates=len(evaluation_set.candidates),
                    limit=limit,
                )
                yield evaluator
                del evaluator, evaluation_set


def _in_memory(config: Config, folds: Sequence[Fold], beside: ModelWorkers) -> Evaluators:
    with ThreadPoolExecutor(1) as background:  # leaving waits until the cache is written
        data = read_events(folds[0].config, background, folds[0].observer)
        beside.ready = background.submit(int).result  # behind what writes the cache
        require_windows(config, data)
        for fold in folds:
            with fold.named():
                evaluator = InMemory(fold, data)
            if fold is folds[-1]:
                del data  # so that the evaluator alone has it, which lets it go early
            # Its fingerprint is asked for last, when nothing is left to do beside.
            background.submit(lambda selected: selected.leaves, evaluator.task.evaluation_set)
            yield evaluator
            del evaluator


def _in_buckets(config: Config, folds: Sequence[Fold], limit: memory_.Limit) -> Evaluators:
    first, models = folds[0], [made for fold in folds for made in fold.models]
    with in_buckets.opened(first.config, models, limit, first.observer) as buckets:
        require_windows(config, buckets.empty())
        for fold in folds:
            with scratch_folder(buckets.folder.with_name("lists")) as folder:
                with fold.named():
                    evaluator = InBuckets(fold, buckets, folder)
                yield evaluator
                del evaluator
