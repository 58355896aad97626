"""Several evaluation sets of one config: means over folds, and statistics of each user once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from harness.config import Config, GivenSplit, TimeSplit
from harness.config.paths import paths_of
from harness.core.errors import DataError, UsageError, counted
from harness.core.exact_sum import of_one
from harness.core.progress import Observer
from harness.data.dataset import DAY_US, Dataset
from harness.data.naming import parts_of
from harness.evaluation.assemble import best_first, few_users, figures_by
from harness.evaluation.fold import Failures, label, named
from harness.evaluation.part import EvaluatedPart
from harness.metrics import Metric
from harness.metrics.scores import mean
from harness.protocol.evaluation_set import EvaluationSet
from harness.protocol.split import end_of
from harness.protocol.task import Task, task_on
from harness.protocol.task import read as read_events
from harness.results.record import Chance, Evaluation, ModelRecord, RunRecord
from harness.results.run import Run
from harness.stats.chance_law import Law, has_law
from harness.stats.estimates import ModelEstimate, of_set
from harness.stats.figures import Figures
from harness.stats.folds import FEWEST, Folds, ScoredFold, folded, folds_of


def require_windows(config: Config, data: Dataset) -> None:
    """Raise UsageError where the events of a time split are too few days for its folds."""
    if isinstance(config.split, TimeSplit):
        require_room(config.split, data, end_of(data, config.split), f"{config.file}: [split]")


def require_room(rule: TimeSplit, data: Dataset, end: int, key: str) -> None:
    """Raise UsageError where the days up to `end` are too few for the folds of the split `key`."""
    days, held_back = rule.valid_days * DAY_US, rule.test_days * DAY_US
    most = max((end - held_back - data.times[0] - 1) // days, 0)
    if rule.folds == 1 or rule.folds <= most:
        return
    start, last = (str(np.datetime64(t, "us").astype("datetime64[D]")) for t in data.times)
    windows = f"{counted(most, 'window')} of {counted(rule.valid_days, 'day')}"
    behind = f" and with {counted(rule.test_days, 'test day')} after them" if rule.test_days else ""
    raise UsageError(
        f"{key} folds = {rule.folds}: the events run from {start} to {last}, with room for "
        f"{windows} after other events{behind}; use fewer folds or days, or more events"
    )


def require_files(config: Config) -> None:
    """Raise DataError where a file of a fold is not there, before the first of them is read."""
    folds = config.folds() if isinstance(config.split, GivenSplit) and config.n_folds > 1 else ()
    for number, fold in enumerate(folds, 1):
        tables = zip(("[data] events", "[split] valid"), fold.layout().events, strict=True)
        for key, events in tables:
            try:
                _ = events.remote or parts_of(events)
            except DataError as error:
                where = f"{config.file}: {key}, fold {number} of {len(folds)}"
                raise DataError(f"{where}: {error}") from error


def tasks(config: Config) -> Iterator[Task]:
    """Yield the task of every fold; events that several have in common are read once."""
    folds = config.folds()
    for _, same in groupby(enumerate(folds, 1), key=lambda pair: pair[1].layout()):
        alike = list(same)
        with ThreadPoolExecutor(1) as background:  # leaving waits until the cache is written
            data = read_events(alike[0][1], background, Observer())
        require_windows(config, data)
        for number, fold in alike:
            with named(number, len(folds)):
                task = task_on(fold, data, Observer(label(number, len(folds))))
            yield task


def over_folds(
    config: Config,
    metrics: tuple[Metric, ...],
    runs: Sequence[Run],
    users: Sequence[EvaluatedPart],
    failures: Failures,
    held_out: HeldOut,
) -> Run:
    """Return what the runs of all folds say together of the models that failed in none."""
    config_left, last, clock = failures.without(config), runs[-1], Observer()
    names = [model.name for model in config_left.models]
    with clock.step("compare"):
        part = [
            ScoredFold(fold.hashes, {name: fold.tables[name] for name in names}, run.user_ids)
            for run, fold in zip(runs, users, strict=True)
        ]
        folds = folds_of(of_one(part))
        not_judged = _not_judged(folds, held_out)
        lawful = not not_judged and has_law(metrics[0], graded=config.graded)
        laws = [cast(Law, fold.law) for fold in users] if lawful else None
        total = of_one(folded(folds, part, laws))
        figures = figures_by(
            config_left, metrics, total, users=folds.users, folds=folds, against_chance=lawful
        )
    models = []
    for model in last.models:
        by_fold = [run.record.model(model.name) for run in runs]
        estimates = {str(metric): _estimate(metric, by_fold, part, figures) for metric in metrics}
        update = {
            "lists": tuple(config.list_files(model.name)),
            "metrics": estimates,
            "vs_random": figures.verdicts.get(model.name),
            "curve": _means([record.curve for record in by_fold]),
            "described": _means([record.described for record in by_fold]),
            "seconds": _added([record.seconds for record in by_fold]),
            "reused": all(record.reused for record in by_fold),
        }
        models.append(model.model_copy(update=update))
    records = tuple(run.record for run in runs)
    notes = [  # of folds with few users more is said
        [note for note in run.notes if note not in few_users(run.evaluation.users)] for run in runs
    ]
    record = RunRecord(
        evaluation=Evaluation.of_folds([run.evaluation for run in runs], folds.users),
        metrics=last.record.metrics,
        models=best_first(models, metrics[0]),
        failed=failures.records(config),
        chance=_chance([fold.chance for fold in records], independent=not held_out.overlaps),
        comparison=figures.comparison,
        shake_up=figures.shake_ups,
        slices=(),
        bridge=None,
        notes=(*held_out.notes(notes), *_same_lists(config_left), *not_judged),
        seconds=_added([*(fold.seconds for fold in records), clock.seconds]),
        folds=records,
    )
    return Run(
        record=record,
        resolved=config.resolved() | {"evaluation": last.config["evaluation"]},
        parts=tuple(runs),
        start=last.start,
    )


def _estimate(
    metric: Metric, by_fold: Sequence[ModelRecord], part: Sequence[ScoredFold], figures: Figures
) -> ModelEstimate:
    name = by_fold[0].name
    if metric.definition.of == "set":
        repeats = [fold.tables[name].of_repeats(metric) for fold in part]
        estimate = of_set(np.mean(repeats, axis=0).tolist())
    else:
        estimate = figures.estimates[name, metric]
    # Where no fold has a spread over repeats, they are all the same.
    random = any(model.metrics[str(metric)].sd_repeats is not None for model in by_fold)
    return estimate if random else replace(estimate, sd_repeats=None)


def _means(by_fold: Sequence[Mapping[Any, float]]) -> dict[Any, float]:
    return {key: mean(np.array([values[key] for values in by_fold])) for key in by_fold[0]}


def _added(by_fold: Sequence[Mapping[str, float]]) -> dict[str, float]:
    keys = dict.fromkeys(key for values in by_fold for key in values)
    return {key: sum(values.get(key, 0.0) for values in by_fold) for key in keys}


def _chance(folds: Sequence[Mapping[str, Chance]], *, independent: bool) -> dict[str, Chance]:
    """Return the chance of the means; its spread is known where folds are independent."""
    means = _means([{name: value.mean for name, value in fold.items()} for fold in folds])
    chance = {}
    for name, mean_of_folds in means.items():
        sd = math.sqrt(math.fsum((fold[name].sd or 0) ** 2 for fold in folds)) / len(folds)
        chance[name] = Chance(mean_of_folds, sd if independent else None)
    return chance


def _same_lists(config: Config) -> list[str]:
    """Return notes on models with one file of lists in several folds."""
    notes = []
    for model in config.models:
        names = paths_of(model.lists or [])
        folds = dict[Path, list[int]]()
        for number, name in enumerate(names, 1):
            folds.setdefault((config.folder / name).resolve(), []).append(number)
        for same in folds.values():
            if len(same) > 1:
                notes.append(
                    f'model "{model.name}": its lists are {names[same[0] - 1]} in folds '
                    f"{', '.join(map(str, same))}; if the file was made for one of these folds, "
                    "name one file per fold"
                )
    return notes


def _not_judged(folds: Folds, held_out: HeldOut) -> list[str]:
    """Return why no model is judged against chance; nothing where models are."""
    notes = []
    if held_out.overlaps:
        notes.append(
            "folds overlap, so there is no comparison with chance, which needs independent folds"
        )
    least = min(folds.sizes)
    if least < FEWEST:
        users = counted(least, "user")
        notes.append(
            f"fold {folds.sizes.index(least) + 1} has {users}, fewer than {FEWEST}, so there is "
            "no comparison with chance, and intervals and tests rest on few users (with a single "
            "user there are no intervals); use fewer folds"
        )
    return notes


class HeldOut:
    """What the folds of a given split hold out; `overlaps` are notes on folds that share some."""

    def __init__(self, config: Config) -> None:
        self._given = isinstance(config.split, GivenSplit) and config.n_folds > 1
        self._pairs: list[pl.DataFrame] = []
        self.overlaps: list[str] = []

    def add(self, fold: EvaluationSet) -> None:
        """Add the next fold; raise UsageError where it holds out just what an earlier one does."""
        if not self._given:
            return
        users = fold.user_ids.gather(np.repeat(np.arange(len(fold.users)), fold.truth.sizes))
        items = fold.candidate_ids.gather(fold.truth.indices)
        pairs = pl.DataFrame({"user": users, "item": items})
        for number, earlier in enumerate(self._pairs, 1):
            both = len(earlier.join(pairs, on=pairs.columns, how="semi"))
            if both == len(earlier) == len(pairs) > 0:
                raise UsageError(
                    "[split] valid: its file holds out the same items of the same users as that "
                    f"of fold {number}; name files with different events, or remove one"
                )
            if both:
                self.overlaps.append(
                    f"folds {number} and {len(self._pairs) + 1} overlap: {both:,} of the "
                    f"{counted(len(earlier), 'true item')} of fold {number} "
                    f"{'is' if both == 1 else 'are'} true in both"
                )
        self._pairs.append(pairs)

    def notes(self, folds: Sequence[Sequence[str]]) -> list[str]:
        """Return what is odd about folds together, what all say once, other notes with a fold."""
        common = [note for note in folds[0] if all(note in notes for notes in folds)]
        single = [
            f"fold {number}: {note}"
            for number, notes in enumerate(folds, 1)
            for note in notes
            if note not in common
        ]
        return [*self.overlaps, *common, *single]
