"""The runs of a folder side by side: the best of each model, grouped by their evaluation set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from harness.config.diff import differing, settings
from harness.core.errors import DataError, HarnessError, UsageError, counted, printable, suggest
from harness.core.io import exists
from harness.core.table import Column, Sheet, Shown, digits_of, ends, lift, low_high, number
from harness.metrics import Better
from harness.results.record import ModelRecord
from harness.results.run import Run, read
from harness.stats.chance import Word
from harness.stats.pairwise import STYLES

Sort = Literal["score", "date", "model", "run"]


@dataclass(frozen=True)
class Entry:
    """A model's best run on an evaluation set.

    Attributes
    ----------
    runs : int
        How many runs on the evaluation set have a model of this name.
    date : str, ISO 8601
    mean, ci95
        As in the run's table, under the group's metric.
    lift : float, optional
        The mean over that of a random ranking, where it is known.
    verdict : str, optional
        Against chance; a run has it of its first metric alone.
    settings : str
        What the model is and its parameters.
    tuned : int
        From how many trials its parameters were chosen.
    folds : tuple of float
        The mean in each fold, where the evaluation set has several.
    differs : tuple of str
        Keys of the config, models and seed apart, that are not as in the run of the group's first.
    """

    model: str
    mean: float
    ci95: tuple[float, float] | None
    lift: float | None
    verdict: Word | None
    run: str
    runs: int
    date: str
    seed: int | None
    settings: str
    tuned: int
    folds: tuple[float, ...]
    differs: tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """All entries of one evaluation set.

    Attributes
    ----------
    better : str
        Which values of the metric are better: ``higher``, ``lower`` or ``neither``. Where neither
        end is, entries stand highest first, and of a model's runs the highest is shown.
    runs, without : int
        How many runs were scored by the metric, and how many were not.
    """

    fingerprint: str
    users: int
    k: int
    metric: str
    better: Better
    runs: int
    without: int
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
        if self.left_out:
            lines = [f"left out  {printable(reason)}" for reason in self.left_out]
            tables[-1].footing.extend(lines)
        return tables

    def records(self) -> list[dict[str, object]]:
        """Return one record an entry, in full precision."""
        return [
            {
                "fingerprint": group.fingerprint,
                "metric": group.metric,
                **{n: value for n, value in vars(entry).items() if n not in ("ci95", "folds")},
                **low_high(entry.ci95),
                **{f"fold {at}": mean for at, mean in enumerate(entry.folds, 1)},
                "differs": ", ".join(entry.differs),
            }
            for group in self.groups
            for entry in group.entries
        ]


def leaderboard(
    folder: Path | str,
    *,
    metric: str | None = None,
    sort: Sort = "score",
    model: str | None = None,
    evaluation_set: str | None = None,
) -> Leaderboard:
    """Return the best run of every model name, for every evaluation set.

    Parameters
    ----------
    folder : path
        Runs may lie in it at any depth.
    metric : str, optional
        One that runs were scored by; by default the first of most runs on a set.
    sort : str
        ``score``, best first; ``date``, latest first; ``model`` or ``run``, by name.
    model : str, optional
        Only names that hold this text, in whatever case.
    evaluation_set : str, optional
        Only the evaluation set whose fingerprint begins so.

    Raises
    ------
    UsageError
        No such folder, no run in it, or none left by what is asked for.
    """
    folder = Path(folder)
    found, left_out = _runs_in(folder)
    if not found:
        reasons = "".join(f"\n{reason}" for reason in left_out)
        raise UsageError(f"{folder}: holds no run; harness run makes one{reasons}")
    evaluation_sets = _by_evaluation_set(found, evaluation_set)
    unranked: list[str] = []
    groups = [
        _group(several, metric, sort, model, unranked) for several in evaluation_sets.values()
    ]
    kept = tuple(group for group in groups if group is not None and group.entries)
    if not kept:
        raise UsageError(f"{folder}: {_nothing_left(found, metric, model, unranked)}")
    return Leaderboard(kept, (*left_out, *unranked))


@dataclass(frozen=True)
class _Found:
    """What is looked at of a run."""

    run: Run
    date: str
    config: Mapping[str, Any]
    settings: Mapping[str, str]
    seed: int | None

    @property
    def metrics(self) -> dict[str, str]:
        """What the run calls its metrics, by name; a user's own by its file without the folder.

        The config of a run folder names the file with its folder, the user's config need not.
        """
        names: dict[str, str] = {}
        for name in self.run.record.models[0].metrics:
            short = name.rsplit("/", 1)[-1]
            names[name if short in names else short] = name
        return names


def _runs_in(folder: Path) -> tuple[list[_Found], list[str]]:
    """Return the runs under a folder, the latest first, and why others are left out."""
    if not (exists(folder) and folder.is_dir()):
        raise UsageError(f"{folder}: is no folder; name the one that runs are written to: runs")
    found, left_out = [], []
    for path in sorted(folder.rglob("result.json")):
        names = path.relative_to(folder).parts
        if any(name.startswith(".") or name.endswith(".part") for name in names):
            continue  # hidden, or not written whole yet
        try:
            found.append(_found(read(path.parent)))
        except HarnessError as error:
            left_out.append(str(error))
    return sorted(found, key=lambda one: one.date, reverse=True), left_out


def _found(run: Run) -> _Found:
    config = run.config
    try:
        own = {model.name: settings(config, model.name) for model in run.models}
        seed = config.get("evaluation", {}).get("seed")
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        path = run.folder / "config.toml"
        raise DataError(f"{path}: is no config of a run ({error})") from error
    changed = (run.folder / "result.json").stat().st_mtime  # runs of earlier versions have no date
    date = run.environment.get("written") or datetime.fromtimestamp(changed, UTC).isoformat(
        timespec="seconds"
    )
    return _Found(run, date, config, own, seed if isinstance(seed, int) else None)


def _by_evaluation_set(
    found: Sequence[_Found], evaluation_set: str | None
) -> dict[str, list[_Found]]:
    evaluation_sets: dict[str, list[_Found]] = {}
    for one in found:
        evaluation_sets.setdefault(one.run.record.evaluation.fingerprint, []).append(one)
    if evaluation_set is None:
        return evaluation_sets
    kept = {
        name: several
        for name, several in evaluation_sets.items()
        if name.startswith(evaluation_set)
    }
    if not kept:
        there = ", ".join(name[:6] for name in evaluation_sets)
        raise UsageError(f'no run has an evaluation set "{evaluation_set}…"; there are {there}')
    return kept


def _group(
    several: Sequence[_Found],
    metric: str | None,
    sort: Sort,
    model: str | None,
    unranked: list[str],
) -> Group | None:
    """Return one evaluation set's entries; None where no run was scored by the metric."""
    name = _usual(several) if metric is None else metric.rsplit("/", 1)[-1]
    asked = [one for one in several if name in one.metrics]
    better, scored = _one_way(asked, name, unranked)
    if better is None:
        return None
    sign = 1 if better == "lower" else -1

    def score(found: tuple[ModelRecord, _Found]) -> float:
        return sign * found[0].metrics[found[1].metrics[name]].mean

    evaluated = [(m, one) for one in scored for m in one.run.record.models]
    times = Counter(m.name for m, _ in evaluated)
    by_score = sorted(evaluated, key=score)  # of equal ones the latest run's stands first
    best = {m.name: (m, one) for m, one in reversed(by_score)}
    leader = min((best[own] for own in times), key=score)[1]
    entries = [
        _entry(m, name, one, times[m.name], leader)
        for m, one in best.values()
        if model is None or model.casefold() in m.name.casefold()
    ]
    evaluation = several[0].run.record.evaluation
    return Group(
        evaluation.fingerprint,
        evaluation.users,
        evaluation.k,
        name,
        better,
        len(scored),
        len(several) - len(asked),
        tuple(_sorted(entries, sort, sign)),
    )


def _one_way(
    scored: Sequence[_Found], metric: str, unranked: list[str]
) -> tuple[Better | None, list[_Found]]:
    """Return which values are better by the latest run that says so, and the runs that agree."""
    ways = [one.run.record.better(one.metrics[metric]) for one in scored]
    better = next((way for way in ways if way is not None), None)
    for one, way in zip(scored, ways, strict=True):
        if way is None:
            said = f"does not say whether higher or lower is better by {metric}"
            unranked.append(f"{one.run.folder}: {said}; {one.run.again}")
        elif way != better:
            said = f"was made when {way} was better by {metric}, and a later run says {better}"
            unranked.append(f"{one.run.folder}: {said}; {one.run.again}")
    agree = [one for one, way in zip(scored, ways, strict=True) if way == better]
    return better, _one_source(agree, metric, unranked)


def _one_source(scored: Sequence[_Found], metric: str, unranked: list[str]) -> list[_Found]:
    """Return the runs that were scored by the source of a metric of the latest that says it."""
    digests = [one.run.record.digest_of(one.metrics[metric]) for one in scored]
    latest = next((at for at, digest in enumerate(digests) if digest is not None), None)
    if latest is None:
        return list(scored)
    same = [digest in (None, digests[latest]) for digest in digests]
    for one in (one for one, own in zip(scored, same, strict=True) if not own):
        said = f"was scored by another source of {metric} than {scored[latest].run.folder}"
        unranked.append(f"{one.run.folder}: {said}; {one.run.again}")
    return [one for one, own in zip(scored, same, strict=True) if own]


def _usual(several: Sequence[_Found]) -> str:
    """Return the metric that most runs have first, of equally many the latest run's."""
    firsts = [next(iter(one.metrics)) for one in several]
    return max(firsts, key=lambda name: (firsts.count(name), -firsts.index(name)))


def _entry(model: ModelRecord, metric: str, one: _Found, times: int, leader: _Found) -> Entry:
    name = one.metrics[metric]
    estimate, chance = model.metrics[name], one.run.record.chance.get(name)
    verdict = model.vs_random if metric == next(iter(one.metrics)) else None
    return Entry(
        model=model.name,
        mean=estimate.mean,
        ci95=estimate.ci95,
        lift=estimate.mean / chance.mean if chance and chance.mean > 0 else None,
        verdict=None if verdict is None else verdict.verdict,
        run=str(one.run.folder),
        runs=times,
        date=one.date,
        seed=one.seed,
        settings=one.settings.get(model.name, ""),
        tuned=0 if model.tuned is None else model.tuned.trials,
        folds=tuple(fold.metric_of(model.name, name) for fold in one.run.record.folds),
        differs=differing(one.config, leader.config),
    )


def _sorted(entries: Sequence[Entry], sort: Sort, sign: int) -> list[Entry]:
    by_name = sorted(entries, key=lambda entry: entry.model)
    match sort:
        case "score":
            return sorted(by_name, key=lambda entry: sign * entry.mean)
        case "date":
            return sorted(by_name, key=lambda entry: entry.date, reverse=True)
        case "run":
            return sorted(by_name, key=lambda entry: entry.run)
        case _:
            return by_name


def _nothing_left(
    found: Sequence[_Found], metric: str | None, model: str | None, unranked: Sequence[str]
) -> str:
    if unranked:
        return "no run is left:" + "".join(f"\n{reason}" for reason in unranked)
    known = list(dict.fromkeys(name for one in found for name in one.metrics))
    if metric is not None and metric not in known:
        return f'no run was scored by "{metric}"; {suggest(metric, known)}'
    names = list(dict.fromkeys(m.name for one in found for m in one.run.record.models))
    return f'no model\'s name holds "{model}"; {suggest(model or "", names)}'


_SHORT = 6
_BETTER = {
    "higher": "",
    "lower": " · lower is better",
    "neither": " · neither end is better, highest first",
}


def _table(group: Group) -> Sheet:
    digits = digits_of(entry.mean for entry in group.entries)
    metric = printable(group.metric)
    runs = counted(group.runs, "run")
    if group.without:
        runs += f", {group.without:,} without {metric} left out"
    heading = (
        f"evaluation set  {printable(group.fingerprint[:_SHORT])} · k = {group.k} · "
        f"{counted(group.users, 'user')} · {runs}{_BETTER[group.better]}"
    )
    columns: list[Column[Entry]] = [
        Column("model", _name, "name"),
        Column(metric, lambda e: number(e.mean, digits), firm=True),
        Column("95 % interval", lambda e: ends(e.ci95, digits), firm=True),
        *(
            Column(f"fold {at + 1}", partial(_in_fold, at, digits), first_out=True)
            for at in range(max(len(entry.folds) for entry in group.entries))
        ),
        Column("run", lambda e: printable(e.run), "words"),
        Column("lift", lambda e: "" if e.lift is None else lift(e.lift), firm=True),
        Column("against chance", lambda e: e.verdict or "", "words"),
        Column("date", lambda e: printable(e.date[:16].replace("T", " ")), "words"),
        Column("settings", lambda e: printable(e.settings), "words"),
        Column("seed", lambda e: "" if e.seed is None else str(e.seed)),
        Column("runs", lambda e: str(e.runs)),
        Column("not as the first's config", lambda e: printable(", ".join(e.differs)), "words"),
    ]
    return Sheet.of(group.entries, columns, heading=[heading], styles=STYLES)


def _in_fold(at: int, digits: int, entry: Entry) -> str:
    return number(entry.folds[at], digits)


def _name(entry: Entry) -> str:
    return printable(entry.model) + (f" · tuned × {entry.tuned:,}" if entry.tuned else "")
