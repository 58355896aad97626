"""Submissions scored by one solution, and compared on the users that each leaderboard averages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from harness.core import steps as steps_
from harness.core.arrays import Bool, Floats
from harness.core.errors import HarnessError, UsageError, counted
from harness.core.random import id_hashes
from harness.core.steps import of_one
from harness.experiment.compare import compared_steps
from harness.experiment.compare_plan import rules_of
from harness.experiment.score import left_out_lines
from harness.experiment.standings import Board, ComparedSubmissions, Ranking, Standing, Submitted
from harness.experiment.submissions import Scorer, SubmissionError
from harness.experiment.terms import Terms, last_of
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable, user_scores
from harness.protocol.truth import Solution
from harness.stats.paired import Rules
from harness.stats.slices import ProfiledUsers

ALL = "all"
"""The users of all leaderboards."""


@dataclass(frozen=True, eq=False)
class Contest:
    """How submissions are scored and compared.

    Attributes
    ----------
    metric : Metric, optional
        By default the config's first, or the competition's.
    k : int, optional
        The cut-off where no metric is named.
    baseline : str, optional
        The submission that all others are compared with; by default every two are.
    correction, resamples, seed : optional
        As of `harness.compare`; by default the config's.
    strict, force : bool
        Whether warnings are errors; whether submissions with errors are scored as they stand.
    """

    terms: Terms
    metric: Metric | None = None
    k: int | None = None
    baseline: str | None = None
    correction: str | None = None
    resamples: int | None = None
    seed: int | None = None
    strict: bool = False
    force: bool = False

    def compared(self, given: Mapping[str, Path | pl.DataFrame]) -> ComparedSubmissions:
        """Return every two of some submissions, compared by the paired test.

        Parameters
        ----------
        given : mapping of name to path or frame
            Two or more.

        Raises
        ------
        SubmissionError
            One has errors, and is not forced.
        HarnessError
            A file that cannot be used; fewer than two submissions or users.
        """
        rules, scorer = self._rules(given), self._scorer()
        return _compared({n: self._read(scorer, of) for n, of in given.items()}, scorer, rules, {})

    def ranked(self, given: Mapping[str, Path | pl.DataFrame]) -> Ranking:
        """Return the same with ranks; a submission that cannot be scored has none.

        Raises
        ------
        HarnessError
            What they are scored against cannot be used; fewer than two are left.
        """
        rules, scorer = self._rules(given), self._scorer()
        read, refused = dict[str, _Read](), dict[str, str]()
        for name, of in given.items():
            try:
                read[name] = self._read(scorer, of)
            except HarnessError as error:
                refused[name] = _why(error, self.terms)
        if len(read) < 2 and refused:
            reasons = "".join(f"\n{reason}" for reason in refused.values())
            raise UsageError(f"{_fewer(len(read))}; others cannot be scored:{reasons}")
        return Ranking(**vars(_compared(read, scorer, rules, refused)))

    def _rules(self, given: Collection[str]) -> Rules:
        if len(given) < 2:
            raise UsageError(f"{_fewer(len(given))}; name another")
        chosen = self.baseline, self.correction, self.resamples, self.seed
        return rules_of(self.terms.config, *chosen)

    def _scorer(self) -> Scorer:
        """Return what scores submissions by a single metric."""
        found = Scorer.of(self.terms, () if self.metric is None else (self.metric,), self.k)
        first = found.solution.metrics[0]
        if first.definition.of == "set":
            raise UsageError(
                f"metric {first} has one value for all lists: no users to compare by; name another "
                "with --metric (in Python, metric=)"
            )
        found.solution.require(first)
        return replace(found, solution=replace(found.solution, metrics=(first,)))

    def _read(self, scorer: Scorer, given: Path | pl.DataFrame) -> _Read:
        found, of = scorer.lists(given, strict=self.strict, force=self.force)
        (metric,) = scorer.solution.metrics
        own = {n: count for n, count in of.left_out.items() if n not in scorer.solution.left_out}
        errors = len(found.errors)
        submitted = Submitted(of.title, own, len(found.problems) - errors, errors)
        return _Read(submitted, user_scores(of.lists, of.solution.judgments, [metric])[metric])


class _Read(NamedTuple):
    """A submission, and the score of each user."""

    submitted: Submitted
    values: Floats


def _why(error: HarnessError, terms: Terms) -> str:
    """Return why a submission is not ranked, of several errors the first, and how to see all."""
    if not isinstance(error, SubmissionError):
        return str(error)
    first, *more = error.validation.errors
    line = "" if first.line is None else f"line {first.line:,}: "
    told = f"{error.validation.path}: {first.code} {line}{first.message}; {first.hint}"
    if not more:
        return told
    told += f"; {counted(len(more), 'more kind of error', 'more kinds of errors')}"
    if terms.config is None and not isinstance(terms.solution, Path):
        return told  # a frame has no name to type
    by = f"--config {terms.config.file}" if terms.config else f"--solution {terms.solution}"
    return f"{told}: harness validate {error.validation.path} {by}"


def _fewer(count: int) -> str:
    return f"{counted(count, 'submission')}: two are needed for a comparison"


def _compared(
    read: Mapping[str, _Read], scorer: Scorer, rules: Rules, refused: dict[str, str]
) -> ComparedSubmissions:
    solution = scorer.solution
    (metric,) = solution.metrics
    hashes = id_hashes(solution.users)
    boards, notes = list[Board](), left_out_lines(solution.left_out)
    for name, users in _groups(solution).items():
        if users.sum() < 2:
            few = counted(int(users.sum()), "user")
            notes.append(f"{name}: {few}, and at least two are needed for a comparison")
            continue
        tables = {own: ScoreTable({metric: of.values[users][None, :]}) for own, of in read.items()}
        part = ProfiledUsers(hashes[users], tables, pl.DataFrame())
        boards.append(_board(name, part, metric, rules))
    if not boards:
        raise UsageError("; ".join(notes))
    notes += [last_of(solution.folds)] if solution.folds > 1 else []
    return ComparedSubmissions(
        str(metric),
        solution.k,
        solution.fingerprint,
        {name: of.submitted for name, of in read.items()},
        tuple(boards),
        refused,
        tuple(notes),
    )


def _groups(solution: Solution) -> dict[str, Bool]:
    boards = {n: users & solution.counted for n, users in solution.leaderboards.items()}
    return {ALL: solution.counted, **boards}


def _board(name: str, part: ProfiledUsers, metric: Metric, rules: Rules) -> Board:
    steps = compared_steps(list(part.tables), metric, rules, (), ())
    means, comparison, _, _ = steps_.found(steps, of_one(part))
    tied, near = ({one: list[str]() for one in part.tables} for _ in range(2))
    better, worse = dict.fromkeys(tied, 0), dict.fromkeys(tied, 0)
    for pair in comparison.pairs:
        if pair.borderline:
            near[pair.one].append(pair.other)
            near[pair.other].append(pair.one)
        if pair.verdict == "tied":
            tied[pair.one].append(pair.other)
            tied[pair.other].append(pair.one)
        else:
            first, last = pair.one, pair.other
            if pair.verdict == "worse":
                first, last = last, first
            better[last] += 1
            worse[first] += 1
    order = list(comparison.means)
    ranks = {one: 1 + _before(comparison.means, one, metric) for one in order}
    standings = (
        Standing(
            one,
            ranks[one],
            means[one].mean,
            means[one].ci95,
            tuple(sorted(tied[one], key=order.index)),
            tuple(sorted(near[one], key=order.index)),
            1 + better[one],
            len(order) - worse[one],
        )
        for one in order
    )
    return Board(name, len(part.hashes), tuple(standings), comparison)


def _before(means: Mapping[str, float], name: str, metric: Metric) -> int:
    """Return how many have a better mean."""
    sign = metric.definition.sign
    return sum(sign * mean < sign * means[name] for mean in means.values())


def named(files: Sequence[Path]) -> dict[str, Path]:
    """Return files by names of their own: without folders and endings where these differ.

    Raises
    ------
    UsageError
        A file is named twice.

    Examples
    --------
    >>> list(named([Path("mon/a.csv"), Path("tue/a.csv"), Path("tue/b.csv")]))
    ['mon/a.csv', 'tue/a.csv', 'b']
    """
    for at, file in enumerate(files):
        if file.resolve() in {other.resolve() for other in files[:at]}:
            raise UsageError(f"{file}: is named twice; name each file once")
    stems = [file.name.partition(".")[0] or file.name for file in files]
    return {
        stem if stems.count(stem) == 1 else str(file): file
        for stem, file in zip(stems, files, strict=True)
    }
