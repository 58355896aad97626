"""Several evaluation sets of one config: what their runs tell together.

Each fold is evaluated as a run of its own would be. Scores are means over folds; statistics count
each user once, in how many folds the user may be (`harness.stats.folds`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count, groupby
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from harness.config import Config, GivenSplit, TimeSplit
from harness.config.paths import paths_of
from harness.core import steps as steps_
from harness.core.errors import (
    DataError,
    EmptyEvaluationSetError,
    HarnessError,
    UsageError,
    counted,
)
from harness.core.progress import Clock
from harness.core.steps import of_one
from harness.data.dataset import DAY_US, Dataset
from harness.data.naming import parts_of
from harness.experiment.failures import Failures
from harness.experiment.figures import EvaluatedUsers, Figures, figure_steps
from harness.experiment.findings import few_users
from harness.experiment.held_out import HeldOut
from harness.experiment.list_table import frames_of
from harness.experiment.per_user import PerUser
from harness.experiment.record import Chance, Evaluation, ModelRecord
from harness.experiment.result import Findings, Result, write_run
from harness.experiment.run_folder import PER_USER, RECOMMENDATIONS, USERS
from harness.metrics import Metric
from harness.metrics.scores import mean
from harness.protocol.split import end_of
from harness.protocol.task import Task, log_evaluation_set, task_on
from harness.protocol.task import read as read_events
from harness.stats.chance_law import has_law
from harness.stats.estimates import ModelEstimate, of_set
from harness.stats.fold_means import FEWEST, Folds, ScoredFold, fold_steps
from harness.stats.folds import folded


@dataclass(frozen=True, eq=False)
class EvaluatedFold:
    """A run of one fold, and its users' scores."""

    result: Result
    users: EvaluatedUsers

    def scored(self, names: Sequence[str]) -> ScoredFold:
        """Return the users with their ids, and their scores under some models."""
        ids = self.result.evaluation_set.user_ids
        return ScoredFold(self.users.hashes, {n: self.users.tables[n] for n in names}, ids)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FoldedResult(Findings, PerUser):
    """A run of several folds; estimates are means over them.

    Attributes
    ----------
    folds : tuple of Result
        Each as a run of its own, the earliest first.
    """

    folds: tuple[Result, ...]

    def score_rows(self, names: Sequence[str] | None = None) -> pl.DataFrame:
        """Return what per_user.parquet holds: a row a user, model, repeat and fold."""
        return frames_of([fold.score_rows(names) for fold in self.folds])

    def list_rows(self, names: Sequence[str] | None = None) -> pl.DataFrame:
        """Return what recommendations.parquet holds."""
        return frames_of([fold.list_rows(names) for fold in self.folds])

    def write(self, folder: Path | str, *, recommendations: bool = True) -> None:
        """Write the run folder as `Result.write` does; its tables have a column ``fold``.

        Raises
        ------
        UsageError
            `folder` exists and is no run folder, or cannot be written.
        """
        tables: dict[str, Callable[[], pl.DataFrame]] = {}
        if recommendations:
            tables[RECOMMENDATIONS] = self.list_rows
        tables[PER_USER] = self.score_rows
        tables[USERS] = lambda: frames_of([fold.users for fold in self.folds])
        write_run(self, folder, tables, max(fold.group() for fold in self.folds))


def require_windows(config: Config, data: Dataset) -> None:
    """Raise UsageError where the events of a time split are too few days for its folds."""
    if isinstance(config.split, TimeSplit):
        require_room(config.split, data, end_of(data, config.split), f"{config.file}: [split]")


def require_room(rule: TimeSplit, data: Dataset, end: int, key: str) -> None:
    """Raise UsageError where events are too few days for the folds of a time split.

    Parameters
    ----------
    end : int
        Where days are counted back from, in microseconds since 1970.
    key : str
        Of the split, for messages.
    """
    days, held_back = rule.valid_days * DAY_US, rule.test_days * DAY_US
    most = max((end - held_back - data.times[0] - 1) // days, 0)
    if rule.folds == 1 or rule.folds <= most:
        return
    start, last = (str(np.datetime64(t, "us").astype("datetime64[D]")) for t in data.times)
    them, n = "it" if most == 1 else "them", counted(rule.test_days, "test day")
    behind = f" and {n} behind {them}" if rule.test_days else ""
    fewer = ["fewer folds"] if most else []
    fewer += ["shorter ones with valid_days"] if rule.valid_days > 1 else []
    fewer += ["fewer test_days"] if rule.test_days else []
    raise UsageError(
        f"{key} folds = {rule.folds}: the events run from {start} to {last}, with room for "
        f"{counted(most, 'window')} of {counted(rule.valid_days, 'day')}, events before {them}"
        f"{behind}; " + (f"ask for {' or '.join(fewer)}" if fewer else "there must be more days")
    )


def require_files(config: Config) -> None:
    """Raise DataError where a file of a fold is not there, before the first of them is read."""
    given = config.folds() if isinstance(config.split, GivenSplit) and config.n_folds > 1 else ()
    for number, fold in enumerate(given, 1):
        tables = zip(("[data] events", "[split] valid"), fold.layout().events, strict=True)
        for key, events in tables:
            try:
                _ = events.table.remote or parts_of(events.table)
            except DataError as error:
                where = f"{config.file}: {key}, fold {number} of {len(given)}"
                raise DataError(f"{where}: {error}") from error


def tasks(config: Config) -> Iterator[Task]:
    """Yield the task of every fold; events that several have in common are read once."""
    folds, number = config.folds(), count(1)
    for _, own in groupby(folds, key=lambda fold: fold.layout()):
        first, *others = own
        with ThreadPoolExecutor(1) as background:  # leaving waits until the cache is written
            data = read_events(first, background, progress=False)
        require_windows(config, data)
        for fold in (first, *others):
            at, clock = next(number), Clock()
            with named(at, len(folds)):
                task = task_on(fold, data, clock)
            log_evaluation_set(task.evaluation_set, clock, label(at, len(folds)))
            yield task


def label(number: int, folds: int) -> str:
    """Return what words of one fold begin with, nothing where there are no others."""
    return f"fold {number} of {folds}: " if folds > 1 else ""


@contextmanager
def named(number: int, folds: int) -> Iterator[None]:
    """Say of what is raised in which fold it was, where there are several."""
    try:
        yield
    except HarnessError as error:
        if folds > 1:  # in place: an error may hold more than its words
            told, *more = str(error).split("\n")
            if isinstance(error, EmptyEvaluationSetError) and number < folds:
                told += ", or ask for fewer folds"
            error.args = ("\n".join([f"{label(number, folds)}{told}", *more]),)
        raise


def over_folds(
    config: Config,
    metrics: tuple[Metric, ...],
    folds: Sequence[EvaluatedFold],
    failures: Failures,
    held_out: HeldOut,
    clock: Clock,
) -> FoldedResult:
    """Return what the runs of all folds tell together of the models that failed in none."""
    results, left = [fold.result for fold in folds], failures.without(config)
    sets = [fold.evaluation_set for fold in results]
    names = [model.name for model in left.models]
    with clock.step("compare"):
        part = [fold.scored(names) for fold in folds]
        of = steps_.found(fold_steps(), of_one(part))
        told = _not_judged(of, held_out)
        lawful = not told and has_law(metrics[0], graded=config.graded)
        laws = [fold.users.law for fold in folds] if lawful else None
        steps = figure_steps(left, metrics, (), of.users, of, against_chance=lawful)
        figures = steps_.found(steps, of_one(folded(of, part, laws)))
    last = results[-1]
    notes = [  # of folds with few users more is told
        [note for note in fold.notes if note not in few_users(fold.evaluation.users)]
        for fold in results
    ]
    resolved = config.resolved() | {"evaluation": last.config["evaluation"]}
    models = _models(config, metrics, results, of, figures)
    means = [
        of.means_of(names, metrics[0], fold)
        for fold in range(len(folds) if figures.comparison else 0)
    ]
    seconds = [fold.seconds for fold in results] + [clock.seconds]
    return FoldedResult(
        config=resolved,
        start=last.start,
        evaluation=Evaluation.of_folds([fold.evaluation for fold in results], of.users),
        with_items=pl.concat([fold.user_ids.filter(fold.relevant > 0) for fold in sets]).n_unique(),
        metrics=metrics,
        models=models,
        chance=_chance([fold.chance for fold in results], independent=not held_out.overlaps),
        comparison=figures.comparison and figures.comparison.over_folds(means, metrics[0]),
        shake_ups=figures.shake_ups,
        slices=(),
        leaderboard_estimates=None,
        notes=(
            *notes_of(held_out, notes),
            *_same_lists(left),
            *told,
        ),
        seconds=_added(seconds),
        failed=failures.told,
        changed={name: file for fold in results for name, file in fold.changed.items()},
        folds=tuple(results),
    )


def _models(
    config: Config,
    metrics: Sequence[Metric],
    folds: Sequence[Result],
    of: Folds,
    figures: Figures,
) -> tuple[ModelRecord, ...]:
    """Return what is known of every model, best first by the mean of the first metric."""
    by_fold = [{model.name: model for model in fold.models} for fold in folds]
    records = []
    for name, one in by_fold[-1].items():
        own = [models[name] for models in by_fold]
        records.append(
            ModelRecord(
                name=name,
                use=one.use,
                lists=tuple(config.lists_of(name)),
                of=one.of,
                params=one.params,
                repeats=one.repeats,
                metrics={str(m): _estimate(name, m, folds, of, figures) for m in metrics},
                vs_random=figures.verdicts.get(name),
                curve=_means([model.curve for model in own]),
                described=_means([model.described for model in own]),
                seconds=_added([model.seconds for model in own]),
                tuned=one.tuned,
                reused=all(model.reused for model in own),
            )
        )
    first, sign = str(metrics[0]), metrics[0].definition.sign
    return tuple(sorted(records, key=lambda model: sign * model.metrics[first].mean))


def _estimate(
    name: str, metric: Metric, folds: Sequence[Result], of: Folds, figures: Figures
) -> ModelEstimate:
    models = [next(m for m in fold.models if m.name == name) for fold in folds]
    if metric.definition.of == "set":
        repeats = np.mean([model.scores.of_repeats(metric) for model in models], axis=0)
        found = of_set(repeats.tolist())
    else:
        found = replace(figures.estimates[name, metric], mean=of.mean((name, metric)))
    # Where no fold has a spread over repeats, they are all the same.
    random = any(model.metrics[str(metric)].sd_repeats is not None for model in models)
    return found if random else replace(found, sd_repeats=None)


def _means(several: Sequence[Mapping[Any, float]]) -> dict[Any, float]:
    """Return the means over folds, by key."""
    return {key: mean(np.array([of[key] for of in several])) for key in several[0]}


def _added(several: Sequence[Mapping[str, float]]) -> dict[str, float]:
    keys = dict.fromkeys(key for of in several for key in of)
    return {key: sum(of.get(key, 0.0) for of in several) for key in keys}


def _chance(folds: Sequence[Mapping[str, Chance]], *, independent: bool) -> dict[str, Chance]:
    """Return the chance of the means; its spread is known where folds are independent."""
    found = {}
    for name in folds[0]:
        own = [chance[name] for chance in folds]
        sd = math.sqrt(math.fsum((chance.sd or 0) ** 2 for chance in own)) / len(own)
        means = np.array([chance.mean for chance in own])
        found[name] = Chance(mean(means), sd if independent else None)
    return found


def notes_of(held_out: HeldOut, folds: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return what is odd about folds together, what all say once, other notes with their fold.

    Parameters
    ----------
    folds : sequence of sequence of str
        The notes of each.
    """
    common = [note for note in folds[0] if all(note in notes for notes in folds)]
    own = [
        f"fold {number}: {note}"
        for number, notes in enumerate(folds, 1)
        for note in notes
        if note not in common
    ]
    return (*held_out.notes, *common, *own)


def _same_lists(config: Config) -> list[str]:
    """Return notes on models with the same file of lists in several folds."""
    told = []
    for model in config.models:
        names, folds = paths_of(model.lists or []), dict[Path, list[int]]()
        for number, name in enumerate(names, 1):
            folds.setdefault((config.folder / name).resolve(), []).append(number)
        told += [
            f'model "{model.name}": its lists are {names[own[0] - 1]} in folds '
            f"{', '.join(map(str, own[:-1]))} and {own[-1]}; if they were made for one of these, "
            "name the file of each fold"
            for own in folds.values()
            if len(own) > 1
        ]
    return told


def _not_judged(of: Folds, held_out: HeldOut) -> list[str]:
    """Return why no model is judged against chance; nothing where models are."""
    overlap = (
        "folds overlap, so no model is judged against chance, which takes them for independent"
    )
    return [*([overlap] if held_out.overlaps else []), *([_few(of)] if of.few else [])]


def _few(of: Folds) -> str:
    """Return what folds of few users do to all figures: their mean counts as that of any other."""
    few, most = of.few, max(of.sizes)
    number, least = min(few.items(), key=lambda fold: fold[1])
    who = f"fold {number} has {counted(least, 'user')}"
    if len(few) > 1:
        who = f"{len(few)} of {len(of.sizes)} folds have fewer than {FEWEST} users, such as fold "
        who += f"{number} with {least}"
    if most >= FEWEST:
        weigh = "weighs" if least == 1 else "weigh"
        who += f", who {weigh} as much as the {most:,} of fold {of.sizes.index(most) + 1}"
    rest = "intervals and tests rest on these few"
    if least == 1:
        rest = "a fold of a single user leaves no intervals"
    return f"{who}: no model is judged against chance, and {rest}; take fewer folds"
