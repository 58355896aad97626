"""Models of runs on one evaluation set, or submissions by one solution: which is really better."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, overload

from harness.comparison.scores import (
    ScoredSubmissions,
    are_submissions,
    metric_of,
    models_of,
    open_runs,
    refuse_options,
    rules_of,
    score_submissions,
    too_few,
    users_of_runs,
)
from harness.comparison.standings import Board, ComparedSubmissions, Standing
from harness.core.errors import HarnessError, UsageError, counted, printable, suggest
from harness.core.progress import stopwatch
from harness.core.steps import of_one
from harness.core.table import Column, Sheet, Shown, digits_of, ends, number, percent
from harness.metrics import Metric
from harness.results.record import Evaluation
from harness.results.run import Run
from harness.scoring.submissions import SubmissionError
from harness.stats.estimates import ModelEstimate
from harness.stats.figures import figures_of
from harness.stats.folds import Folds
from harness.stats.paired import Rules
from harness.stats.pairwise import Comparison, Pair, pair_table
from harness.stats.shakeup import ShakeUp
from harness.stats.slices import USER, ProfiledUsers, Slice, column_title

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ComparedModel:
    """A model that was compared: the folders of its runs, and its estimate by the metric."""

    name: str
    run: str
    metrics: dict[str, ModelEstimate]


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

    def sheets(self) -> list[Sheet]:
        """Return the tables that are printed."""
        columns = dict.fromkeys(part.by for part in self.slices)
        return [
            _models(self),
            pair_table(self.comparison, self.shake_up),
            *(_sliced(self, column) for column in columns),
        ]

    def records(self) -> list[dict[str, object]]:
        """Return one record a pair, in full precision."""
        return self.comparison.records(self.shake_up)


@overload
def compare(
    *of: Path | str | Run, solution: None = None, config: None = None, **options: Any
) -> Compared: ...


@overload
def compare(*of: Any, **options: Any) -> ComparedSubmissions: ...


def compare(
    *of: Any,
    metric: str | Metric | None = None,
    k: int | None = None,
    models: Sequence[str] = (),
    baseline: str | None = None,
    all_pairs: bool = False,
    correction: str | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    public_shares: Sequence[float] | None = None,
    slices: Sequence[str] = (),
    strict: bool = False,
    force: bool = False,
    **options: Any,
) -> Compared | ComparedSubmissions:
    """Compare the models of runs on one evaluation set, or submissions by one solution.

    What is not named is as ``[compare]`` of the first run or of `config` has it, and its seed.

    Parameters
    ----------
    *of : paths, Runs, or a mapping
        The folders of one or more runs. A model that several of them have, with the same scores,
        counts once; where the scores differ, it is shown with its run. With `solution` or `config`:
        two or more files of lists, or a mapping of names to files or frames (pandas, Polars,
        Arrow).
    metric : str or Metric, optional
        One of the runs' metrics, by default the first; of submissions the config's first, or the
        competition's.
    models : sequence of str
        Of runs, only these; all by default. p values are corrected for the pairs that there are.
    baseline : str, optional
        The model, or submission, that all others are compared with.
    all_pairs : bool
        Compare every two models, whatever baseline the run has.
    correction : str
        ``holm`` (any error at all) or ``bh`` (the share of errors), over all pairs.
    resamples : int
        B, of the bootstrap and of the randomization test.
    seed : int
        Equal seeds, equal results.
    public_shares : sequence of float
        Of runs, shares of the users on the public leaderboard.
    slices : sequence of str
        Of runs, columns to slice the users by: ``activity``, ``truth``, ``repeats``, or what
        ``[compare] slices`` of the run named.
    k, strict, force, **options
        Of submissions, as of `harness.score`.

    Raises
    ------
    SubmissionError
        A submission has errors, and `force` is not given.
    HarnessError
        No such run, file, metric or model; other evaluation sets; fewer than two to compare; a run
        folder that was changed or damaged.
    """
    if are_submissions(options, k=k, strict=strict, force=force):
        refuse_options(
            "runs; leave it out",
            models=models,
            all_pairs=all_pairs,
            public_shares=public_shares,
            slices=slices,
        )
        rules_of(None, baseline, correction, resamples, seed)  # refused before anything is read
        scored = score_submissions(of, options, metric=metric, k=k, strict=strict, force=force)
        if len(scored.failed) == 1:
            raise next(iter(scored.failed.values()))
        if scored.failed:
            reasons = [f"{name}: {refusal(error)}" for name, error in scored.failed.items()]
            raise UsageError("\n".join(reasons))
        files = {submitted.file: name for name, submitted in scored.submitted.items()}
        baseline = baseline and files.get(baseline, baseline)
        rules = rules_of(scored.config, baseline, correction, resamples, seed)
        return compare_submissions(ComparedSubmissions, scored, rules)
    if baseline is not None and all_pairs:
        raise UsageError(
            f'every two models, or all with the baseline "{baseline}": leave --all-pairs or '
            "--baseline out (in Python, all_pairs= or baseline=)"
        )
    runs = open_runs(of)
    by = metric_of(runs, None if metric is None else str(metric))
    config, known = runs[0].settings, models_of(runs, by)
    if baseline is None and not all_pairs and config.compare.baseline in known:
        baseline = config.compare.baseline
    rules = rules_of(config, baseline, correction, resamples, seed)
    for name in models:
        if name not in known:
            raise UsageError(f'no model "{name}"; {suggest(name, known)}')
    if models:
        known = {name: known[name] for name in known if name in (*models, baseline)}
    shares = config.compare.public_shares if public_shares is None else list(public_shares)
    return _compare_runs(runs, known, by, rules, shares, _columns(runs[0], slices))


def _compare_runs(
    runs: Sequence[Run],
    models: Mapping[str, tuple[str, list[Run]]],
    metric: Metric,
    rules: Rules,
    shares: Sequence[float],
    columns: Sequence[str],
) -> Compared:
    took = stopwatch()
    users, folds = users_of_runs(models, metric, columns)
    evaluation = runs[0].evaluation
    count = f"{counted(len(runs), 'run')}, {counted(evaluation.users, 'user')}"
    _log.info("read the scores of %s, %s", count, took())
    took = stopwatch()
    estimates, comparison, shaken, slices = compare_users(
        users, list(models), metric, rules, shares, columns, folds
    )
    if folds is not None:
        means = [folds.means_of(models, metric, fold) for fold in range(len(folds.sizes))]
        comparison = comparison.over_folds(means, metric)
        estimates = {
            name: replace(estimates[name], mean=folds.mean((name, metric))) for name in estimates
        }
    _log.info("compared %s, %s", counted(len(comparison.pairs), "pair"), took())
    return Compared(
        evaluation=evaluation,
        metric=str(metric),
        models=tuple(
            ComparedModel(
                name=name,
                run=", ".join(str(run.folder) for run in models[name][1]),
                metrics={str(metric): estimates[name]},
            )
            for name in comparison.means
        ),
        comparison=comparison,
        shake_up=shaken,
        slices=slices,
        notes=_copies(comparison),
    )


def _columns(run: Run, by: Sequence[str]) -> list[str]:
    """Return the columns that users are sliced by."""
    if by and len(run.folds) > 1:
        raise UsageError(
            f"{run.folder}: has {counted(len(run.folds), 'fold')}, and users are in other slices "
            "in each; its result.json has the slices of every fold"
        )
    known = [name for name in run.users.columns if name != USER] if by else []
    for name in by:
        if name not in known:
            raise UsageError(
                f'{run.folder}: knows no "{name}" of its users; {suggest(name, known)}; a column '
                f'of the table of users is there after a run with [compare] slices = ["{name}"]'
            )
    return list(dict.fromkeys(by))


def _copies(comparison: Comparison) -> tuple[str, ...]:
    """Return notes on models that are equal for every user; without a hit many are."""
    return tuple(
        f"{pair.one} and {pair.other} have the same value for every user: is one a copy?"
        for pair in comparison.pairs
        if pair.wins == pair.losses == 0 and comparison.any_hit[pair.one] > 0
    )


Result = TypeVar("Result", bound=ComparedSubmissions)


def compare_submissions(result: type[Result], scored: ScoredSubmissions, rules: Rules) -> Result:
    """Return every two submissions compared on each leaderboard; those that failed are refused."""
    refusals = {name: refusal(error) for name, error in scored.failed.items()}
    if len(scored.submitted) < 2:
        reasons = [f"{name}: {reason}" for name, reason in refusals.items()]
        needed = str(too_few(len(scored.submitted)))
        raise UsageError("\n".join([*scored.notes, needed, *reasons]))
    boards = tuple(
        _board(name, users, scored.metric, rules) for name, users in scored.users.items()
    )
    return result(
        metric=str(scored.metric),
        k=scored.solution.k,
        fingerprint=scored.solution.fingerprint,
        submissions=scored.submitted,
        boards=boards,
        refused=refusals,
        notes=(*scored.notes, *_copies(boards[0].comparison)),
    )


def refusal(error: HarnessError) -> str:
    """Return why a submission cannot be scored: its first error, and the codes of others."""
    if not isinstance(error, SubmissionError):
        return str(error)
    first, *more = error.validation.errors
    line = "" if first.line is None else f"line {first.line:,}: "
    also = f"; also {', '.join(problem.code for problem in more)}" if more else ""
    return f"{first.code} {line}{first.message}; {first.hint}{also}"


def _board(leaderboard: str, users: ProfiledUsers, metric: Metric, rules: Rules) -> Board:
    estimates, comparison, _, _ = compare_users(users, list(users.tables), metric, rules)
    rivals: dict[str, list[tuple[str, Pair]]] = {name: [] for name in comparison.means}
    for pair in comparison.pairs:
        rivals[pair.one].append((pair.other, pair))
        rivals[pair.other].append((pair.one, pair))
    costs = [metric.definition.sign * mean for mean in comparison.means.values()]
    standings = tuple(
        Standing(
            submission=name,
            rank=1 + sum(cost < metric.definition.sign * mean for cost in costs),
            mean=estimates[name].mean,
            ci95=estimates[name].ci95,
            tied=tuple(rival for rival, pair in rivals[name] if pair.ahead is None),
            borderline=tuple(rival for rival, pair in rivals[name] if pair.borderline),
            best_rank=1 + sum(pair.ahead == rival for rival, pair in rivals[name]),
            worst_rank=len(rivals) - sum(pair.ahead == name for _, pair in rivals[name]),
        )
        for name, mean in comparison.means.items()
    )
    return Board(leaderboard, len(users.hashes), standings, comparison)


def compare_users(
    users: ProfiledUsers,
    names: Sequence[str],
    metric: Metric,
    rules: Rules,
    shares: Sequence[float] = (),
    columns: Sequence[str] = (),
    folds: Folds | None = None,
) -> tuple[dict[str, ModelEstimate], Comparison, tuple[ShakeUp, ...], tuple[Slice, ...]]:
    """Return estimates by model, all pairs, a shake-up for each share, and slices by columns."""
    figures = figures_of(
        of_one(users), names, [metric], rules, folds=folds, shares=shares, columns=columns
    )
    assert figures.comparison is not None, "pairs are asked for"  # noqa: S101
    estimates = {name: figures.estimates[name, metric] for name in names}
    return estimates, figures.comparison, figures.shake_ups, figures.slices


def _models(compared: Compared) -> Sheet:
    digits, hits = _digits(compared), compared.comparison.any_hit
    evaluation, metric = compared.evaluation, compared.metric
    columns: list[Column[ComparedModel]] = [
        Column("model", lambda m: printable(m.name), "name"),
        Column(metric, lambda m: number(m.metrics[metric].mean, digits)),
        Column("95 % interval", lambda m: ends(m.metrics[metric].ci95, digits)),
        Column("Student's", lambda m: ends(m.metrics[metric].ci95_t, digits)),
        Column("bootstrap", lambda m: ends(m.metrics[metric].ci95_bootstrap, digits)),
        Column("users above 0", lambda m: percent(hits[m.name])),
        Column("run", lambda m: printable(m.run), "words"),
    ]
    which = [part for part in (evaluation.layout, evaluation.window) if part]
    parts = [*which, f"k = {evaluation.k}", counted(compared.comparison.users, "user")]
    heading = [f"evaluation set  {' · '.join(parts)} · {evaluation.fingerprint[:6]}"]
    heading += [f"note  {printable(note)}" for note in compared.notes]
    return Sheet.of(compared.models, columns, heading=heading, kept=3)


def _digits(compared: Compared) -> int:
    return digits_of(model.metrics[compared.metric].mean for model in compared.models)


def _sliced(compared: Compared, by: str) -> Sheet:
    """Return the table of one column's slices, a column a model."""
    digits, parts = _digits(compared), [part for part in compared.slices if part.by == by]

    def mean(name: str, part: Slice) -> str:
        estimate = part.models[name]
        bounds = "" if estimate.ci95 is None else f" ({ends(estimate.ci95, digits)})"
        return number(estimate.mean, digits) + bounds

    columns: list[Column[Slice]] = [
        Column(by, lambda part: printable(part.label), "words"),
        Column("users", lambda part: f"{part.users:,}"),
        Column("", lambda part: "few" if part.small else ""),
        *(Column(printable(m.name), partial(mean, m.name)) for m in compared.models),
    ]
    heading = [f"slices  {compared.metric} by {printable(column_title(by))}"]
    few = ["few    under 100 users, or under 10 with any: too few to tell models apart"]
    footing = few if any(part.small for part in parts) else []
    return Sheet.of(parts, columns, heading=heading, footing=footing, kept=4)
