"""What a run found: its estimates, their tables, its record and its folder."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from pydantic import ConfigDict

from harness.core.errors import counted, printable
from harness.core.io import as_path, whole_folder, written
from harness.core.progress import stopwatch
from harness.core.table import Column, Sheet, Shown, digits_of, lift, low_high, number
from harness.experiment import answer
from harness.experiment.list_table import lists_by_row
from harness.experiment.per_user import PerUser, scores_by_row
from harness.experiment.record import (
    Chance,
    Direction,
    Evaluation,
    FailedModel,
    ModelRecord,
    RunRecord,
    lift_of,
)
from harness.experiment.run_folder import (
    PER_USER,
    RECOMMENDATIONS,
    USERS,
    check_out,
    environment_of,
)
from harness.metrics.scores import ScoreTable
from harness.models.recommendations import Recommendations
from harness.stats.pairwise import STYLES, in_folds, pair_table

if TYPE_CHECKING:
    import pandas as pd

    from harness.protocol.evaluation_set import EvaluationSet
    from harness.protocol.leaderboard_estimate import LeaderboardEstimates
    from harness.stats.chance import Verdict
    from harness.stats.shakeup import ShakeUp
    from harness.stats.slices import Slice


_log = logging.getLogger(__name__)

_LISTS, _ROWS = 16, 1 << 22
"""A group of rows in per_user.parquet: so many scores of each user, or so many rows."""


class ModelResult(ModelRecord):
    """What is known of a model, and each repeat's scores and lists, of which no record is kept."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    scores: ScoreTable
    recommendations: tuple[Recommendations, ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Findings(answer.Ranking, Shown):
    """What a run found, wherever its users' scores are; models stand best first.

    Attributes
    ----------
    config : mapping
        The resolved config.
    start : str
        The date the window starts, for the run's name.
    evaluation : Evaluation
        What the models were evaluated on.
    with_items : int
        How many of the evaluated users have a true item.
    comparison : Comparison, optional
        Every pair of models, on the first metric; None for a single model or user.
    shake_ups : tuple of ShakeUp, one a public share
    slices : tuple of Slice
    leaderboard_estimates : LeaderboardEstimates, optional
        The first metric as a leaderboard would count it; each fold has its own.
    notes : tuple of str
        What was left out or looked odd.
    seconds : mapping of step to float
    failed : tuple of FailedModel
        Models without scores; the others are compared as if these were not there.
    changed : mapping of model to text
        Why a model that was finished before is evaluated anew, such as ``own.py has changed``.
    folds : tuple of Findings
        What was found in each fold, the earliest first; estimates are then means over them.
    """

    config: Mapping[str, Any]
    start: str
    evaluation: Evaluation
    with_items: int
    models: Sequence[ModelRecord]
    chance: Mapping[str, Chance]
    shake_ups: tuple[ShakeUp, ...]
    slices: tuple[Slice, ...]
    leaderboard_estimates: LeaderboardEstimates | None
    notes: tuple[str, ...]
    seconds: Mapping[str, float]
    failed: tuple[FailedModel, ...] = ()
    changed: Mapping[str, str] = field(default_factory=dict)
    folds: tuple[Findings, ...] = ()

    def sheets(self, verbose: bool = False) -> list[Sheet]:
        """Return the tables that are printed: the models, and their scores in each fold.

        `verbose`: times and pairs as well.
        """
        found, comparison = [sheet(self, verbose)], self.comparison
        found += [fold_sheet(self)] if self.folds else []
        if comparison is None or not verbose:
            return found
        shown = comparison.pairs
        if comparison.baseline is None and len(shown) > _PAIRS:
            names = list(comparison.means)
            next_to = set(pairwise(names))
            shown = tuple(pair for pair in shown if (pair.one, pair.other) in next_to)
        compared = pair_table(comparison, self.shake_ups, shown)
        if len(shown) < len(comparison.pairs):
            more = f"more   harness compare prints all {len(comparison.pairs)} pairs"
            compared = replace(compared, footing=[*compared.footing, more])
        return [*found, compared]

    def records(self) -> list[dict[str, object]]:
        """Return one record a model in full precision; of one that failed its error alone."""
        found = [_record(self, model) for model in self.models]
        nothing = dict.fromkeys(found[0])
        return found + [nothing | {"model": m.name, "error": m.says} for m in self.failed]

    def record(self) -> RunRecord:
        """Return what result.json holds."""
        return RunRecord(
            evaluation=self.evaluation,
            metrics={str(m): Direction.of(m) for m in self.metrics},
            models=tuple(self.models),
            failed=self.failed,
            chance=dict(self.chance),
            comparison=self.comparison,
            shake_up=self.shake_ups,
            slices=self.slices,
            bridge=self.leaderboard_estimates,
            notes=self.notes,
            seconds=dict(self.seconds),
            folds=tuple(fold.record() for fold in self.folds),
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return one row a model: repeats, metrics with intervals, lift, p, verdict.

        A model that failed has no row (`failed` has it).
        ``tuned`` is the number of trials that its parameters were chosen from, 0 for none.
        """
        names = [str(metric) for metric in self.metrics]
        ends = [f"{name} {end}" for name in names for end in ("low", "high", "sd_repeats")]
        order = ["repeats", "tuned", *names, *ends, "lift", "p", "verdict"]
        found = super().to_pandas().set_index("model").iloc[: len(self.models)]
        found = found.rename(columns={f"{name} mean": name for name in names})
        return found[order].astype({"lift": float, "p": float})

    def write_records(self, folder: Path, tables: str | None = None) -> None:
        """Write result.json, config.toml and environment.json into a folder.

        Parameters
        ----------
        tables : str, optional
            Where the tables are, if they are not beside them.
        """
        import tomli_w

        (folder / "result.json").write_text(self.to_json() + "\n", encoding="utf-8")
        (folder / "config.toml").write_text(tomli_w.dumps(self.config), encoding="utf-8")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        where = {} if tables is None else {"tables": tables}
        environment = json.dumps(environment_of() | {"written": now} | where, indent=2)
        (folder / "environment.json").write_text(environment + "\n", encoding="utf-8")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(Findings, PerUser):
    """A whole run whose users' scores are at hand.

    Attributes
    ----------
    evaluation_set : EvaluationSet
    models : tuple of ModelResult
        With their scores.
    users : polars.DataFrame
        Who the evaluated users are (`harness.protocol.users`).
    """

    evaluation_set: EvaluationSet
    models: tuple[ModelResult, ...]
    users: pl.DataFrame

    def score_rows(self, names: Sequence[str] | None = None) -> pl.DataFrame:
        """Return what per_user.parquet holds: a row a user, model and repeat."""
        users = self.evaluation_set.user_ids.cast(pl.Categorical)
        return scores_by_row(users, {model.name: model.scores for model in self._of(names)})

    def list_rows(self, names: Sequence[str] | None = None) -> pl.DataFrame:
        """Return what recommendations.parquet holds."""
        of = self.evaluation_set
        users, items = (ids.cast(pl.Categorical) for ids in (of.user_ids, of.candidate_ids))
        models = {model.name: model.recommendations for model in self._of(names)}
        return lists_by_row(users, items, models)

    def _of(self, names: Sequence[str] | None) -> list[ModelResult]:
        return [model for model in self.models if names is None or model.name in names]

    def group(self) -> int:
        """Return how many rows are packed together, their ids once: few groups, none too large."""
        users = len(self.evaluation_set.users)
        return min(_LISTS * users, max(users, _ROWS))

    def write(self, folder: Path | str, *, recommendations: bool = True) -> None:
        """Write the run folder whole, or nothing.

        It holds result.json, per_user.parquet (per-user values), users.parquet (who the users are),
        recommendations.parquet (their lists), config.toml and environment.json (versions, and when
        it was written).

        Parameters
        ----------
        recommendations : bool
            Whether to write the lists, by which `harness explain`, `harness score` and
            `harness submit` need no model to learn again.

        Raises
        ------
        UsageError
            `folder` exists and is no run folder, or cannot be written.
        """
        tables: dict[str, Callable[[], pl.DataFrame]] = {}
        if recommendations:
            tables[RECOMMENDATIONS] = self.list_rows
        tables |= {PER_USER: self.score_rows, USERS: lambda: self.users}
        write_run(self, folder, tables, self.group())


def write_run(
    found: Findings,
    folder: Path | str,
    tables: Mapping[str, Callable[[], pl.DataFrame]],
    group: int,
) -> None:
    """Write a run folder whole, or nothing.

    Parameters
    ----------
    tables : mapping of file to function
        Returns what it holds; one is made while another is written.
    group : int
        How many rows are packed together.
    """
    folder, took = as_path(folder, "a folder"), stopwatch()
    check_out(folder)
    with written(folder, "; choose another --out"), whole_folder(folder) as target:
        found.write_records(target)
        with ThreadPoolExecutor() as pool:  # Polars lets go of Python's lock
            list(pool.map(partial(_write_table, target, group), *zip(*tables.items(), strict=True)))
    _log.info("wrote the run folder, %s", took())


def _write_table(folder: Path, group: int, name: str, made: Callable[[], pl.DataFrame]) -> None:
    own: dict[str, Any] = {} if name == USERS else {"row_group_size": group}
    if name == RECOMMENDATIONS:  # each group by a thread
        own = {"row_group_size": -(-group // 4), "statistics": False}
    made().write_parquet(folder / name, compression_level=1, **own)


def _lift(verdict: Verdict) -> float:
    """Return the lift, no number where chance has a mean of 0."""
    return np.nan if verdict.lift is None else verdict.lift


_SHORT = 6
_PAIRS = 10


def _footing(result: Findings, verbose: bool = False) -> list[str]:
    """Return the lines below the table: evaluation set, tuned models, leaderboard estimate."""
    of = result.evaluation
    lines = [_set_line(of), *_leaderboard_line(result), *_tuned(result), *_reused(result)]
    if not verbose:
        return lines
    steps = " → ".join(f"{step.users:,} {step.step}" for step in of.funnel)
    seconds = [f"{name} {seconds:.1f} s" for name, seconds in result.seconds.items()]
    models = sum(sum(m.seconds.values()) for m in result.models)
    time = " · ".join([*seconds, f"models {models:.1f} s"])
    return [*lines, *([f"users  {steps}"] if steps else []), f"time   {time}"]


def _set_line(of: Evaluation, *, short: bool = False) -> str:
    """Return an evaluation set in a line; `short`: without what all folds have in common."""
    users = counted(of.users, "user" if of.funnel else "different user")
    if of.funnel and of.in_window != of.users:
        users = f"{of.users:,} of {counted(of.in_window, 'user')}"
    candidates = [] if of.candidates is None else [counted(of.candidates, "candidate")]
    k, layout = ([], []) if short else ([f"k = {of.k}"], [of.layout])
    truth = [] if short or not of.hits else [f"truth: {of.truth}"]
    return " · ".join([users, *candidates, *truth, *k, of.fingerprint[:_SHORT], *layout, of.window])


def _tuned(result: Findings) -> list[str]:
    """Return which models had their parameters chosen, and from how many trials."""
    tuned = {printable(m.name): m.tuned.trials for m in result.models if m.tuned}
    told = [f"{name} ({counted(n, 'trial')})" for name, n in tuned.items()]
    return [f"tuned  on an inner split of train: {', '.join(told)}"] if told else []


def _reused(result: Findings) -> list[str]:
    """Return which models an earlier run finished, and which of them had to be evaluated anew."""
    reused = [model for model in result.models if model.reused]
    there = {model.name for model in result.models if not model.reused}
    changed = {name: why for name, why in result.changed.items() if name in there}
    anew = [f"{printable(name)} ({printable(why)})" for name, why in changed.items()]
    if not reused and not anew:
        return []
    said = [f"{answer.listed(reused)}, of an earlier run"] if reused else []
    said += [f"evaluated anew: {', '.join(anew)}"] if anew else []
    said += ["--fresh evaluates all anew"] if reused else []
    return [f"reused  {'; '.join(said)}" if reused else said[0]]


def _leaderboard_line(result: Findings) -> list[str]:
    """Return the best model's score as a leaderboard would count it."""
    people, best = result.leaderboard_estimates, result.models[0].name
    if people is None or best not in people.models:
        return []
    if people.sample is None and people.examined == result.with_items == people.with_items:
        return []  # a leaderboard would average just those who are evaluated
    found = people.models[best]
    ids = counted(people.sample or 0, "id")
    over = {
        f"over the {counted(people.with_items or 0, 'user')} with true items": found.window,
        f"over all {ids} of the sample submission": found.sample,
    }
    least = "at least " if found.at_least else ""
    told = (
        f"{least}{number(v, digits_of([v]))} {users}" for users, v in over.items() if v is not None
    )
    return [f"leaderboard estimate  {printable(best)}: {' · '.join(told)}"]


def sheet(result: Findings, verbose: bool = False) -> Sheet:
    """Return the table of the models between its lines, and last the exact chance value.

    `verbose`: with times and the funnel.
    """
    first, *others = [str(m) for m in result.metrics]
    digits = answer.digits(result)
    columns: list[Column[ModelRecord]] = [
        Column("model", answer.name_of, "name"),
        Column(first, lambda m: number(m.metrics[first].mean, digits)),
        Column("95 % interval", lambda m: answer.spread(m, first, digits)),
        Column("lift", partial(_times, result)),
        Column(answer.title(result), partial(answer.standing, result), "words"),
        *(Column(name, partial(_mean, name)) for name in others),
    ]
    if verbose:
        columns.append(Column("time", lambda m: f"{sum(m.seconds.values()):.1f} s"))
    notes = [f"note  {printable(note)}" for note in result.notes]
    found = Sheet.of(
        result.models,
        columns,
        heading=[*answer.lines(result), *_failures(result), *notes],
        footing=_footing(result, verbose),
        styles=STYLES | {"failed": "red"},
    )
    for failed in result.failed:
        blank = [""] * (len(columns) - 5)
        found.rows.append([printable(failed.name), "", "", "", "failed", *blank])
    if result.chance:
        exact = {name: number(chance.mean, 4) for name, chance in result.chance.items()}
        own = number(result.chance[first].mean, digits) if first in result.chance else ""
        floor = ["chance (exact)", own, "", "1.0" if own else "", ""]
        floor += [exact.get(name, "") for name in others]
        found.rows.append([*floor, ""] if verbose else floor)
    return found


def _times(result: Findings, model: ModelRecord) -> str:
    times = lift_of(model, result.chance)
    return "" if times is None and model.vs_random is None else lift(times)


def _failures(result: Findings) -> list[str]:
    """Return a line a model; what an error has lines of, such as problems, stands apart in it."""
    said = [[" ".join(line.split()) for line in m.says.splitlines()] for m in result.failed]
    return [f"failed  {printable(' · '.join(filter(None, lines)))}" for lines in said]


def fold_sheet(result: Findings) -> Sheet:
    """Return the table of the models' scores in each fold."""
    first, digits = str(result.metrics[0]), answer.digits(result)
    compared = result.comparison is not None and result.comparison.baseline is not None
    ahead = "better" if result.comparison is None else result.comparison.words[0]
    columns: list[Column[ModelRecord]] = [
        Column("model", answer.name_of, "name"),
        *(
            Column(f"fold {number}", partial(_in_fold, fold, first, digits), first_out=True)
            for number, fold in enumerate(result.folds, 1)
        ),
        Column(
            f"{ahead} in" if compared else f"{answer.extreme(result)} is {ahead} in",
            partial(_better_in, result),
        ),
    ]
    heading = [
        f"fold {number:<{len(str(len(result.folds)))}}  {_set_line(fold.evaluation, short=True)}"
        for number, fold in enumerate(result.folds, 1)
    ]
    found = Sheet.of(result.models, columns, heading=heading, kept=len(columns))
    if first in result.chance:
        exact = [number(fold.chance[first].mean, digits) for fold in result.folds]
        found.rows.append(["chance (exact)", *exact, ""])
    return found


def _better_in(result: Findings, model: ModelRecord) -> str:
    better = answer.better_folds(result.models[0].name, model.name, result.comparison)
    return in_folds(better, len(result.folds))


def _in_fold(fold: Findings, metric: str, digits: int, model: ModelRecord) -> str:
    return number(_of_fold(fold, model, metric), digits)


def _of_fold(fold: Findings, model: ModelRecord, metric: str) -> float:
    return next(one for one in fold.models if one.name == model.name).metrics[metric].mean


def _mean(metric: str, model: ModelRecord) -> str:
    return number(model.metrics[metric].mean, 4)


def _record(result: Findings, model: ModelRecord) -> dict[str, object]:
    v = model.vs_random
    record: dict[str, object] = {
        "model": model.name,
        "repeats": model.repeats,
        "tuned": 0 if model.tuned is None else model.tuned.trials,
        "lift": lift_of(model, result.chance) if v is None else _lift(v),
        "p": None if v is None else v.p,
        "verdict": None if v is None else v.verdict,
        "error": None,
    }
    for name in map(str, result.metrics):
        f = model.metrics[name]
        record |= {f"{name} mean": f.mean, **low_high(f.ci95, f"{name} ")}
        record[f"{name} sd_repeats"] = f.sd_repeats
        for at, fold in enumerate(result.folds, 1):
            record[f"{name} fold {at}"] = _of_fold(fold, model, name)
    return record
