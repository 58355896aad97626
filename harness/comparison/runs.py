"""Runs on one evaluation set: opened, and the scores of their users under one metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import polars as pl

from harness.core.errors import DataError, UsageError, counted, listed, suggest
from harness.core.exact_sum import of_one
from harness.core.io import exists
from harness.core.progress import doing
from harness.core.random import id_hashes
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable
from harness.results.folder import PER_USER, USERS
from harness.results.run import Run, read
from harness.results.tables import other_users
from harness.stats.folds import Folds, ScoredFold, folded, folds_of
from harness.stats.slices import USER, ProfiledUsers


def refuse_lists(inputs: Sequence[Any]) -> None:
    """Raise UsageError on a file or frame of lists, where nothing says what is true."""
    for run in inputs:
        path = Path(run) if isinstance(run, str | Path) else None
        if isinstance(run, Run) or (path is not None and not (exists(path) and path.is_file())):
            continue
        raise UsageError(
            f"{path or f'a {type(run).__name__}'}: not a run. To compare submissions, name what "
            "to score them against: --solution SOLUTION or --config CONFIG (in Python, solution= "
            "or config=)"
        )


def refuse_twice(inputs: Iterable[Any], what: str) -> None:
    """Raise UsageError where a path is named twice."""
    paths = [Path(each) for each in inputs if isinstance(each, str | Path)]
    times = Counter(path.resolve() for path in paths)
    for path in paths:
        if times[path.resolve()] > 1:
            raise UsageError(f"{path}: named twice; name each {what} once")


def open_runs(inputs: Sequence[Any]) -> list[Run]:
    """Return runs on one evaluation set."""
    refuse_twice(inputs, "run")
    runs = [run if isinstance(run, Run) else read(run) for run in inputs]
    if not runs:
        raise UsageError("no run to compare; name a run folder, such as runs/2020-09-16-hm-…")
    first = runs[0]
    for run in runs[1:]:
        ours, theirs = first.evaluation, run.evaluation
        names = dict.fromkeys([*ours.fields, *theirs.fields])
        differ = [name for name in names if ours.fields.get(name) != theirs.fields.get(name)]
        if differ:
            difference = f"they differ in {', '.join(differ)}"
            if len(first.folds) != len(run.folds):
                difference = ", ".join(
                    f"{each.folder} has {len(each.folds) if len(each.folds) > 1 else 'no'} folds"
                    for each in (first, run)
                )
            step = "run both with the same data, [split] and [evaluation]"
            if ours.fingerprint_format != theirs.fingerprint_format:
                older = min(first, run, key=lambda it: it.evaluation.fingerprint_format)
                step = f"{older.folder} has a fingerprint of an earlier version; {older.again}"
            raise UsageError(
                f"{run.folder}: has another evaluation set than {first.folder}: "
                f"{difference}; harness compares models on one evaluation set only: {step}"
            )
        for known, fold in zip(first.folds, run.folds, strict=True):
            if not fold.user_ids.equals(known.user_ids):
                raise other_users(fold.folder / PER_USER)
    return runs


def metric_of(runs: Sequence[Run], name: str | None) -> Metric:
    """Return a metric that all runs have scores under, from one source; the first by default."""
    known: dict[str, Metric] = {}
    for shown, metric in runs[0].user_metrics.items():
        if all(metric in run.user_metrics.values() for run in runs):
            known |= {shown: metric, metric.text: metric}  # a file beside the config, or anywhere
    if name is None and not known:
        raise UsageError(
            "no metric of these runs has scores per user; run again with one, such as MAP@12"
        )
    name = next(iter(known)) if name is None else name
    if name not in known:
        hint = suggest(name, known) if known else "run them with the same metrics"
        functions = {run.user_metrics[name].text for run in runs if name in run.user_metrics}
        if len(functions) > 1:
            hint = f"its runs use different functions, {listed(sorted(functions))}; rename a file"
        raise UsageError(f'"{name}" is not a metric with scores per user in all runs; {hint}')
    metric = known[name]
    digests = [run.record.digest_of(run.name_of(metric)) for run in runs]
    if len({*digests}) > 1:
        now = metric.definition.digest
        stale = [run for run, digest in zip(runs, digests, strict=True) if digest != now]
        raise UsageError(
            f'metric "{runs[0].name_of(metric)}": its code has changed since '
            f"{' and '.join(str(run.folder) for run in stale)}, so their scores cannot be "
            f"compared; {'; '.join(run.again for run in stale)}"
        )
    return metric


def models_of(runs: Sequence[Run], metric: Metric) -> dict[str, tuple[str, list[Run]]]:
    """Return each model's name and the runs in which it has the same scores.

    The key is the name, with the run where the model has other scores in another run.
    """
    versions: dict[str, dict[bytes, list[Run]]] = {}
    for run in runs:
        for model in run.models:
            digest = blake2b()
            for fold in run.folds:
                digest.update(fold.scores[model.name].values[metric].tobytes())
            versions.setdefault(model.name, {}).setdefault(digest.digest(), []).append(run)
    return {
        name if len(known) == 1 else f"{name} ({same[0].folder})": (name, same)
        for name, known in versions.items()
        for same in known.values()
    }


def profile_of(run: Run, columns: Sequence[str]) -> pl.DataFrame:
    """Return the columns of a run's users by which they are sliced."""
    if not columns:
        return pl.DataFrame()
    if len(run.folds) > 1:
        raise UsageError(
            f"{run.folder}: has {counted(len(run.folds), 'fold')}, and slices are per fold; see "
            "the slices of every fold in its result.json"
        )
    path, users = run.folder / USERS, run.users
    for name in columns:
        if name == USER or name not in users.columns:
            known = [column for column in users.columns if column != USER]
            raise UsageError(
                f'{run.folder}: has no column "{name}" for slices of users; '
                f"{suggest(name, known)}; to use another column of the table of users, add it to "
                "[compare] slices in the config and run again"
            )
        if users[name].dtype.is_nested() or users[name].dtype == pl.Binary:
            raise DataError(
                f'{path}: column "{name}" holds {users[name].dtype}; expected text, numbers or '
                f"dates; {run.again}"
            )
    return users.select(list(dict.fromkeys(columns)))


@doing("reading scores")
def users_of_runs(
    models: Mapping[str, tuple[str, list[Run]]], metric: Metric, profile: pl.DataFrame
) -> tuple[ProfiledUsers, Folds | None]:
    """Return the users of an evaluation set with the scores of models, or those of several folds.

    They have a `profile` where they are sliced by its columns.
    """
    (_, (run, *_)), *_ = models.values()
    folds = []
    for number, fold in enumerate(run.folds):
        tables = {
            name: ScoreTable({metric: same[0].folds[number].scores[model].values[metric]})
            for name, (model, same) in models.items()
        }
        folds.append(ScoredFold(id_hashes(fold.user_ids), tables, fold.user_ids))
    if len(folds) == 1:
        return ProfiledUsers(folds[0].hashes, folds[0].tables, profile), None
    common = folds_of(of_one(folds))
    users = folded(common, folds)
    return ProfiledUsers(users.hashes, users.tables, profile, there=users.there), common
