"""The runs of a folder side by side, by evaluation set; or submissions by their ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Unpack, overload

from harness.comparison.options import FolderOptions, LeaderboardOptions, RankOptions, Sort
from harness.comparison.submissions import (
    Ranking,
    are_submissions,
    compare_submissions,
)
from harness.config.diff import differing, settings
from harness.core.errors import DataError, HarnessError, UsageError, counted, printable, suggest
from harness.core.io import as_path, exists
from harness.core.progress import doing
from harness.core.table import Column, Sheet, Shown, digits_of, ends, lift, low_high, number
from harness.metrics import Better
from harness.results.record import over_chance
from harness.results.run import Run, read
from harness.stats.chance import Word
from harness.stats.pairwise import STYLES


@dataclass(frozen=True)
class Entry:
    """A model's best run on an evaluation set."""

    model: str
    mean: float
    ci95: tuple[float, float] | None
    lift: float | None
    """The mean over that of a random ranking, where it is known."""
    verdict: Word | None
    """Against chance; a run has it of its first metric alone."""
    run: str
    runs: int
    """How many runs on the evaluation set have a model of this name."""
    date: str
    seed: int | None
    settings: str
    """What the model is and its parameters."""
    tuned: int
    """From how many trials its parameters were chosen."""
    folds: tuple[float, ...]
    """The mean in each fold, where the evaluation set has several."""
    differs: tuple[str, ...]
    """Keys of the config, models and seed apart, that are not as in the run of the group's
    first."""


@dataclass(frozen=True)
class Group:
    """All entries of one evaluation set."""

    fingerprint: str
    users: int
    k: int
    metric: str
    better: Better
    """Which values of the metric are better: ``higher``, ``lower`` or ``neither``. Where
    neither end is, entries stand highest first, and of a model's runs the highest is shown."""
    runs: int
    """How many runs were scored by the metric."""
    without: int
    """How many runs were not scored by it."""
    entries: tuple[Entry, ...]


@dataclass(frozen=True, repr=False)
class Leaderboard(Shown):
    """The runs of a folder.

    Attributes
    ----------
    groups : tuple of Group
        One an evaluation set; that of the latest run first.
    left_out : tuple of str
        Why a folder with a result could not be read, or a run not be ranked.
    """

    groups: tuple[Group, ...]
    left_out: tuple[str, ...]

    def sheets(self) -> list[Sheet]:
        """Return a table an evaluation set."""
        tables = [_table(group) for group in self.groups]
        tables[-1].footing.extend(f"left out  {printable(reason)}" for reason in self.left_out)
        return tables

    def records(self) -> list[dict[str, object]]:
        """Return one record an entry, in full precision."""
        return [
            {
                "fingerprint": group.fingerprint,
                "metric": group.metric,
                **{n: value for n, value in vars(entry).items() if n not in ("ci95", "folds")},
                **low_high(entry.ci95),
                **{f"fold {number}": mean for number, mean in enumerate(entry.folds, 1)},
                "differs": ", ".join(entry.differs),
            }
            for group in self.groups
            for entry in group.entries
        ]


@overload
def leaderboard(*inputs: Path | str, **options: Unpack[FolderOptions]) -> Leaderboard: ...


@overload
def leaderboard(*inputs: Any, **options: Unpack[LeaderboardOptions]) -> Ranking: ...


def leaderboard(*inputs: Any, **options: Unpack[LeaderboardOptions]) -> Leaderboard | Ranking:
    """Rank the models of all runs in a folder, or several submissions.

    Parameters
    ----------
    *inputs : path, paths or a mapping
        A folder with runs, at any depth; ``runs`` by default. With `solution` or `config`: two or
        more submissions, as in `compare`. ``refused`` of the result has those that cannot be
        scored, with the reason.
    metric : str or Metric, optional
        A metric of the runs; by default the first metric of most runs on a set. For submissions,
        by default the first of the config, or the metric of the competition.
    sort : str
        For runs: ``score``, best first; ``date``, latest first; ``model`` or ``run``, by name.
    model : str, optional
        For runs: only models with this text in their name, in upper or lower case.
    evaluation_set : str, optional
        For runs: only the evaluation set whose fingerprint starts with this text.
    k, correction, resamples, seed, strict, force, solution, config, …
        For submissions: as in `compare`.

    Raises
    ------
    HarnessError
        The folder or file does not exist, no run is in it or left to show, or fewer than two
        submissions can be scored.
    """
    if are_submissions(leaderboard, inputs, options, FolderOptions, RankOptions):
        return Ranking(**vars(compare_submissions(inputs, options, skip_failed=True)))
    if len(inputs) > 1:
        raise UsageError(f"{len(inputs)} folders of runs; name one folder that has all of them")
    folder = as_path(inputs[0] if inputs else "runs", "a folder of runs")
    if not (exists(folder) and folder.is_dir()):
        raise UsageError(
            f"{folder}: not a folder; name the folder that has your runs, such as runs"
        )
    return _rank_runs(folder, options)


@doing("reading runs")
def _rank_runs(folder: Path, options: FolderOptions) -> Leaderboard:
    sort, by = options.get("sort") or "score", options.get("metric")
    metric = None if by is None else str(by).rsplit("/", 1)[-1]
    model, evaluation_set = options.get("model") or "", options.get("evaluation_set") or ""
    runs, left_out = _runs_in(folder)
    if not runs:
        reasons = [f"{folder}: no run in this folder; harness run makes one", *left_out]
        raise UsageError("\n".join(reasons))
    sets: dict[str, list[Run]] = {}
    for run in runs:
        sets.setdefault(run.evaluation.fingerprint, []).append(run)
    names = [name for name in sets if name.startswith(evaluation_set)]
    if not names:
        known = ", ".join(name[:_SHORT] for name in sets)
        raise UsageError(f'no run has the evaluation set "{evaluation_set}…"; allowed: {known}')
    groups = [_group(sets[name], metric, sort, model, left_out) for name in names]
    kept = tuple(group for group in groups if group is not None and group.entries)
    if not kept:
        metrics = dict.fromkeys(name for run in runs for name in _metrics(run))
        models = dict.fromkeys(known.name for run in runs for known in run.models)
        reasons = left_out
        if metric is not None and metric not in metrics:
            reasons = [f'no run has the metric "{metric}"; {suggest(metric, metrics)}']
        elif model:
            hint = suggest(model, models)
            reasons.append(f'no model has this text in its name: "{model}"; {hint}')
        raise UsageError("\n".join([f"{folder}: no run is left to show", *reasons]))
    return Leaderboard(kept, tuple(left_out))


def _runs_in(folder: Path) -> tuple[list[Run], list[str]]:
    """Return the runs at any depth, the latest first, and why others cannot be read."""
    runs, left_out = list[Run](), list[str]()
    for path in sorted(folder.rglob("result.json")):
        parts = path.relative_to(folder).parts
        if any(part.startswith(".") or part.endswith(".part") for part in parts):
            continue  # hidden, or not written whole yet
        try:
            run = read(path.parent)
            _entries(run, next(iter(_metrics(run))))  # it raises if the config is damaged
            runs.append(run)
        except HarnessError as error:
            left_out.append(str(error))
    runs.sort(key=lambda run: run.environment.get("written", ""), reverse=True)
    return runs, left_out


def _metrics(run: Run) -> dict[str, str]:
    """Return what the run calls its metrics, by name; a user's own by its file's name alone."""
    # A run's config names the file with its folder; the user's config need not.
    names: dict[str, str] = {}
    for name in run.record.models[0].metrics:
        short = name.rsplit("/", 1)[-1]
        names[name if short in names else short] = name
    return names


def _group(
    runs: Sequence[Run], metric: str | None, sort: Sort, model: str, left_out: list[str]
) -> Group | None:
    """Return one evaluation set's entries; None where no run was scored by the metric."""
    # Values are better as the latest run says; runs by another source are left out.
    if metric is None:  # that most runs have first, of equally many the latest run's
        firsts = Counter(next(iter(_metrics(run))) for run in runs)
        metric = firsts.most_common(1)[0][0]
    names = {run: _metrics(run)[metric] for run in runs if metric in _metrics(run)}
    sources = {run: (run.record.better(n), run.record.digest_of(n)) for run, n in names.items()}
    latest = next((source for source in sources.values() if source[0] is not None), None)
    scored = [run for run, source in sources.items() if source == latest]
    left_out += [
        f"{run.folder}: was scored by another version of the code of {metric} than the latest "
        f"run, or the metric does not say which values are better; {run.again}"
        for run, source in sources.items()
        if source != latest
    ]
    if latest is None or latest[0] is None:
        return None
    sign = 1 if latest[0] == "lower" else -1
    entries = [entry for run in scored for entry in _entries(run, metric)]
    entries.sort(key=lambda entry: (sign * entry.mean, entry.model))  # latest first of equal ones
    times = Counter(entry.model for entry in entries)
    best = {entry.model: entry for entry in reversed(entries)}
    configs = {str(run.folder): run.config for run in scored}
    shown = [
        replace(
            entry,
            runs=times[name],
            differs=differing(configs[entry.run], configs[entries[0].run]),
        )
        for name, entry in sorted(best.items())
        if model.casefold() in name.casefold()
    ]
    rank = attrgetter("mean" if sort == "score" else sort)
    shown.sort(key=rank, reverse=sort == "date" or (sort == "score" and sign < 0))
    return Group(
        fingerprint=runs[0].evaluation.fingerprint,
        users=runs[0].evaluation.users,
        k=runs[0].evaluation.k,
        metric=metric,
        better=latest[0],
        runs=len(scored),
        without=len(runs) - len(names),
        entries=tuple(shown),
    )


def _entries(run: Run, metric: str) -> list[Entry]:
    """Return the models of a run under a metric."""
    name, first = _metrics(run)[metric], next(iter(_metrics(run)))
    try:
        seed = run.config.get("evaluation", {}).get("seed")
        descriptions = {model.name: settings(run.config, model.name) for model in run.models}
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        path = run.folder / "config.toml"
        raise DataError(f"{path}: not the config of a run ({error})") from error
    return [
        Entry(
            model=model.name,
            mean=model.metrics[name].mean,
            ci95=model.metrics[name].ci95,
            lift=over_chance(model.metrics[name].mean, run.record.chance.get(name)),
            verdict=model.vs_random.verdict if model.vs_random and metric == first else None,
            run=str(run.folder),
            runs=1,
            date=run.environment.get("written", ""),
            seed=seed if isinstance(seed, int) else None,
            settings=descriptions[model.name],
            tuned=0 if model.tuned is None else model.tuned.trials,
            folds=tuple(fold.metric_of(model.name, name) for fold in run.record.folds),
            differs=(),
        )
        for model in run.models
    ]


_SHORT = 6
_BETTER = {
    "higher": "",
    "lower": " · lower is better",
    "neither": " · neither end is better, highest first",
}


def _table(group: Group) -> Sheet:
    digits, metric = digits_of(entry.mean for entry in group.entries), printable(group.metric)

    def name(entry: Entry) -> str:
        return printable(entry.model) + (f" · tuned × {entry.tuned:,}" if entry.tuned else "")

    def in_fold(fold: int, entry: Entry) -> str:
        return number(entry.folds[fold], digits)

    without = f", {group.without:,} without {metric} left out" if group.without else ""
    heading = (
        f"evaluation set  {printable(group.fingerprint[:_SHORT])} · k = {group.k} · "
        f"{counted(group.users, 'user')} · {counted(group.runs, 'run')}{without}"
        f"{_BETTER[group.better]}"
    )
    columns: list[Column[Entry]] = [
        Column("model", name, "name"),
        Column(metric, lambda e: number(e.mean, digits), firm=True),
        Column("95 % interval", lambda e: ends(e.ci95, digits), firm=True),
        Column("run", lambda e: printable(e.run), "whole", first_out=True),
        *(
            Column(f"fold {fold + 1}", partial(in_fold, fold), first_out=True)
            for fold in range(max(len(entry.folds) for entry in group.entries))
        ),
        Column("lift", lambda e: "" if e.lift is None else lift(e.lift), firm=True),
        Column("against chance", lambda e: e.verdict or "", "words"),
        Column("date", lambda e: printable(e.date[:16].replace("T", " ")), "words"),
        Column("settings", lambda e: printable(e.settings), "words"),
        Column("seed", lambda e: "" if e.seed is None else str(e.seed)),
        Column("runs", lambda e: str(e.runs)),
        Column("differs from the first in", lambda e: printable(", ".join(e.differs)), "words"),
    ]
    return Sheet.of(group.entries, columns, heading=[heading], styles=STYLES)
