"""Models of runs on one evaluation set, or submissions by one solution: which is really better."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

import polars as pl

from harness.comparison.options import CompareOptions, PairOptions, RunOptions
from harness.comparison.submissions import (
    ComparedSubmissions,
    are_submissions,
    compare_submissions,
    copies,
    refuse_twice,
    rules_of,
)
from harness.core.errors import DataError, UsageError, counted, listed, printable, suggest
from harness.core.exact_sum import of_one
from harness.core.progress import doing, stopwatch
from harness.core.random import id_hashes
from harness.core.table import Column, Sheet, Shown, digits_of, ends, number, percent
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable
from harness.results.folder import PER_USER, USERS
from harness.results.record import Evaluation, over_chance
from harness.results.run import Run, read
from harness.results.tables import other_users
from harness.results.wording import compared_headline, set_line
from harness.stats.estimates import ModelEstimate
from harness.stats.figures import figures_of
from harness.stats.folds import Folds, ScoredFold, folded, folds_of
from harness.stats.pairwise import Comparison, verdict_sheets
from harness.stats.shakeup import ShakeUp
from harness.stats.slices import USER, ProfiledUsers, Slice, column_title

if TYPE_CHECKING:
    import pandas as pd

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ComparedModel:
    """A model that was compared."""

    name: str
    run: str
    """The folders of its runs."""
    metrics: dict[str, ModelEstimate]
    """Its estimate by the metric."""
    lift: float | None
    """Its mean over that of a random ranking, where that is known."""


@dataclass(frozen=True, eq=False, repr=False)
class Compared(Shown):
    """What a comparison of runs found; names are the keys of its JSON.

    Attributes
    ----------
    evaluation : Evaluation
        What the first run says of the evaluation set.
    metric : str
    models : tuple of ComparedModel
        Best first.
    comparison : Comparison
    shake_up : tuple of ShakeUp, one a public share
    slices : tuple of Slice
        Of the columns asked for.
    notes : tuple of str
    """

    evaluation: Evaluation
    metric: str
    models: tuple[ComparedModel, ...]
    comparison: Comparison
    shake_up: tuple[ShakeUp, ...]
    slices: tuple[Slice, ...]
    notes: tuple[str, ...] = ()

    def sheets(self, pairs: bool = False) -> list[Sheet]:
        """Return the tables that are printed; `pairs`: every difference as well."""
        columns = dict.fromkeys(part.by for part in self.slices)
        digits = digits_of(self.comparison.means.values())
        return [
            _models(self, digits),
            *verdict_sheets(self.comparison, self.shake_up, pairs=pairs),
            *(_sliced(self, column, digits) for column in columns),
        ]

    @property
    def pairs(self) -> pd.DataFrame:
        """One row a pair, in full precision."""
        return self.to_pandas()

    def records(self) -> list[dict[str, object]]:
        """Return one record a pair, in full precision."""
        return self.comparison.records(self.shake_up)


@overload
def compare(*inputs: Path | str | Run, **options: Unpack[RunOptions]) -> Compared: ...


@overload
def compare(*inputs: Any, **options: Unpack[CompareOptions]) -> ComparedSubmissions: ...


def compare(*inputs: Any, **options: Unpack[CompareOptions]) -> Compared | ComparedSubmissions:
    """Compare the models of runs on one evaluation set, or submissions by one solution.

    Defaults come from ``[compare]`` and the seed of the first run's config, or of `config`.

    Parameters
    ----------
    *inputs : paths, Runs, or a mapping
        One or more run folders. A model with the same scores in several runs counts once; with
        different scores, it is shown with its run. With `solution` or `config`: two or more
        submissions, or a mapping of names to files or frames (pandas, Polars, Arrow).
    metric : str or Metric, optional
        A metric of the runs; by default the first. For submissions, by default the first of the
        config, or the metric of the competition.
    models : sequence of str
        Compare only these models of the runs; all by default. p values are corrected for the pairs
        that remain.
    baseline : str, optional
        Compare every model or submission with this one only.
    all_pairs : bool
        Compare all pairs, even if the run has a baseline.
    correction : str
        How to correct p values for the number of pairs: ``holm`` (the chance of any error) or
        ``bh`` (the share of errors).
    resamples : int
        B, the draws of the bootstrap and of the randomization test.
    seed : int
        The same seed gives the same results.
    public_shares : sequence of float
        For runs: shares of the users on the public leaderboard.
    slices : sequence of str
        For runs: compare within slices of users by ``activity``, ``truth``, ``repeats``, or a
        column of ``[compare] slices`` of the run.
    k, strict, force, solution, config, …
        For submissions: as in `harness.score`.

    Raises
    ------
    SubmissionError
        A submission has errors, and `force` is false.
    HarnessError
        A run, file, metric or model does not exist; the evaluation sets differ; there are fewer
        than two models; or a run folder was changed or damaged.
    """
    if are_submissions(compare, inputs, options, RunOptions, PairOptions):
        return compare_submissions(inputs, options, baseline=options.get("baseline"))
    return _compare_runs(inputs, options)


def _compare_runs(inputs: Sequence[Any], options: RunOptions) -> Compared:
    baseline, all_pairs = options.get("baseline"), options.get("all_pairs", False)
    metric, shares = options.get("metric"), options.get("public_shares")
    names, columns = options.get("models") or (), options.get("slices") or ()
    if baseline is not None and all_pairs:
        raise UsageError(
            f'you cannot compare all pairs and set the baseline "{baseline}"; remove --all-pairs '
            "or --baseline (in Python, all_pairs= or baseline=)"
        )
    took, runs = stopwatch(), open_runs(inputs)
    run, by = runs[0], metric_of(runs, None if metric is None else str(metric))
    config, known = run.settings, models_of(runs, by)
    if baseline is None and not all_pairs and config.compare.baseline in known:
        baseline = config.compare.baseline
    rules = rules_of(config, baseline, options)
    for name in names:
        if name not in known:
            raise UsageError(f'no model "{name}"; {suggest(name, known)}')
    if names:
        known = {name: known[name] for name in known if name in (*names, baseline)}
    users, folds = users_of_runs(known, by, profile_of(run, columns))
    count = f"{counted(len(runs), 'run')}, {counted(run.evaluation.users, 'user')}"
    _log.info("read the scores of %s, %s", count, took())
    took = stopwatch()
    figures = figures_of(
        of_one(users),
        list(known),
        [by],
        rules,
        folds=folds,
        shares=config.compare.public_shares if shares is None else shares,
        columns=users.profile.columns,
    )
    comparison = figures.comparison
    assert comparison is not None, "pairs are asked for"  # noqa: S101
    _log.info("compared %s, %s", counted(len(comparison.pairs), "pair"), took())
    return Compared(
        evaluation=run.evaluation,
        metric=str(by),
        models=tuple(
            ComparedModel(
                name=name,
                run=", ".join(str(run.folder) for run in known[name][1]),
                metrics={str(by): figures.estimates[name, by]},
                lift=over_chance(mean, run.record.chance.get(run.name_of(by))),
            )
            for name, mean in comparison.means.items()
        ),
        comparison=comparison,
        shake_up=figures.shake_ups,
        slices=figures.slices,
        notes=copies(comparison),
    )


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
                counts = [
                    f"{each.folder} has {counted(len(each.folds), 'fold')}" for each in (first, run)
                ]
                difference = ", ".join(counts)
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
    users = run.users
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
                f'{run.folder / USERS}: column "{name}" holds {users[name].dtype}; expected text, '
                f"numbers or dates; {run.again}"
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
    for place, fold in enumerate(run.folds):
        tables = {
            name: ScoreTable({metric: same[0].folds[place].scores[model].values[metric]})
            for name, (model, same) in models.items()
        }
        folds.append(ScoredFold(id_hashes(fold.user_ids), tables, fold.user_ids))
    if len(folds) == 1:
        return ProfiledUsers(folds[0].hashes, folds[0].tables, profile), None
    common = folds_of(of_one(folds))
    users = folded(common, folds)
    return ProfiledUsers(users.hashes, users.tables, profile, there=users.there), common


def _models(compared: Compared, digits: int) -> Sheet:
    metric, hits = compared.metric, compared.comparison.any_hit
    columns: list[Column[ComparedModel]] = [
        Column("", lambda m: str(compared.models.index(m) + 1)),  # as in the matrix of verdicts
        Column("model", lambda m: printable(m.name), "name"),
        Column(metric, lambda m: number(m.metrics[metric].mean, digits)),
        Column("95 % interval", lambda m: ends(m.metrics[metric].ci95, digits)),
        Column("Student's", lambda m: ends(m.metrics[metric].ci95_t, digits)),
        Column("bootstrap", lambda m: ends(m.metrics[metric].ci95_bootstrap, digits)),
        Column("users above 0", lambda m: percent(hits[m.name])),
        Column("run", lambda m: printable(m.run), "whole", first_out=True),
    ]
    best = compared.models[0]
    heading = compared_headline(compared.comparison, best.metrics[metric].ci95, best.lift)
    heading.append(f"evaluation set  {set_line(compared.evaluation)}")
    heading += [f"note  {printable(note)}" for note in compared.notes]
    return Sheet.of(compared.models, columns, heading=heading)


def _sliced(compared: Compared, by: str, digits: int) -> Sheet:
    """Return the table of one column's slices, in each a row a model."""
    parts, first = [part for part in compared.slices if part.by == by], compared.models[0].name

    def once(text: Callable[[Slice], str], row: tuple[Slice, str]) -> str:
        return text(row[0]) if row[1] == first else ""

    columns: list[Column[tuple[Slice, str]]] = [
        Column(by, partial(once, lambda part: printable(part.label)), "words"),
        Column("users", partial(once, lambda part: f"{part.users:,}")),
        Column("", partial(once, lambda part: "few" if part.small else "")),
        Column("model", lambda row: printable(row[1]), "name"),
        Column(compared.metric, lambda row: number(row[0].models[row[1]].mean, digits)),
        Column("95 % interval", lambda row: ends(row[0].models[row[1]].ci95, digits)),
    ]
    heading = [f"slices  {compared.metric} by {printable(column_title(by))}"]
    few = ["few    under 100 users, or under 10 with a score above 0: too few to tell models apart"]
    footing = few if any(part.small for part in parts) else []
    rows = [(part, model.name) for part in parts for model in compared.models]
    return Sheet.of(rows, columns, heading=heading, footing=footing)
