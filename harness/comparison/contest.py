"""Submissions scored by one solution, and compared on the users that each leaderboard averages."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from harness.comparison.compare import compare_users
from harness.comparison.compare_plan import rules_of
from harness.comparison.standings import Board, ComparedSubmissions, Ranking, Standing, Submitted
from harness.core.arrays import Floats
from harness.core.errors import HarnessError, UsageError, counted
from harness.core.random import id_hashes
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable, user_scores
from harness.protocol.truth import Solution
from harness.scoring.score import left_out_lines
from harness.scoring.submissions import Scorer, SubmissionError
from harness.scoring.terms import Terms, which_fold
from harness.stats.paired import Rules
from harness.stats.slices import ProfiledUsers
from harness.submission.rules import RULES

_CHANCE_ENDS = 10
"""From so many users on a submission that is right for all of them is no accident."""
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
        given, notes = self._without_solution(given)
        rules, scorer = self._rules(given, notes), self._scorer()
        read, failed = self._read_all(scorer, given)
        if len(failed) > 1:
            raise UsageError("\n".join(_why(error, self.terms) for error in failed.values()))
        for error in failed.values():
            if isinstance(error, SubmissionError):
                raise SubmissionError(error.validation, _refusal(error, self.terms)) from error
            raise error
        return _compared(read, scorer, rules, {}, [*notes, *self._competition(scorer)])

    def ranked(self, given: Mapping[str, Path | pl.DataFrame]) -> Ranking:
        """Return the same with ranks; a submission that cannot be scored has none.

        Raises
        ------
        HarnessError
            What they are scored against cannot be used; fewer than two are left.
        """
        given, notes = self._without_solution(given)
        rules, scorer = self._rules(given, notes), self._scorer()
        read, failed = self._read_all(scorer, given)
        refused = {
            name: _why(error, self.terms).removeprefix(f"{given[name]}: ")
            for name, error in failed.items()
        }
        if len(read) < 2 and refused:
            reasons = "".join(f"\n{_why(error, self.terms)}" for error in failed.values())
            raise UsageError(f"{_fewer(len(read))}; others cannot be scored:{reasons}")
        notes += self._competition(scorer)
        return Ranking(**vars(_compared(read, scorer, rules, refused, notes)))

    def _without_solution(
        self, given: Mapping[str, Path | pl.DataFrame]
    ) -> tuple[dict[str, Path | pl.DataFrame], list[str]]:
        """Return the submissions but for the solution, which a shell's *.csv names too."""
        true = self.terms.solution
        own = [
            name
            for name, of in given.items()
            if isinstance(of, Path) and isinstance(true, Path) and of.resolve() == true.resolve()
        ]
        kept = {name: of for name, of in given.items() if name not in own}
        return kept, [f"{name}: is the solution itself, and left out" for name in own]

    def _competition(self, scorer: Scorer) -> list[str]:
        """Return a note where the columns of files alone say what they are scored by."""
        found = scorer.against.format
        if self.metric or self.k or self.terms.config or found is None or not found.source:
            return []
        metric = scorer.solution.metrics[0]
        return [f"by the columns as {found.source}: {metric}; --metric (metric=) names another"]

    def _rules(self, given: Mapping[str, Path | pl.DataFrame], notes: Sequence[str]) -> Rules:
        if len(given) < 2:
            raise UsageError("\n".join([*notes, f"{_fewer(len(given))}; name another"]))
        files = {str(of): name for name, of in given.items() if isinstance(of, Path)}
        baseline = self.baseline and files.get(self.baseline, self.baseline)
        return rules_of(self.terms.config, baseline, self.correction, self.resamples, self.seed)

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

    def _read_all(
        self, scorer: Scorer, given: Mapping[str, Path | pl.DataFrame]
    ) -> tuple[dict[str, _Read], dict[str, HarnessError]]:
        """Return what can be scored, and why the others cannot."""
        read, failed = dict[str, _Read](), dict[str, HarnessError]()
        for name, of in given.items():
            try:
                read[name] = self._read(scorer, of)
            except HarnessError as error:
                failed[name] = error
        return read, failed

    def _read(self, scorer: Scorer, given: Path | pl.DataFrame) -> _Read:
        found, of = scorer.lists(given, strict=self.strict, force=self.force)
        (metric,) = scorer.solution.metrics
        own = {n: count for n, count in of.left_out.items() if n not in scorer.solution.left_out}
        errors = len(found.errors)
        codes = tuple(problem.code for problem in found.problems)
        submitted = Submitted(of.title, own, len(found.problems) - errors, errors, codes)
        values = user_scores(of.lists, of.solution.judgments, [metric])[metric]
        return _Read(submitted, values, hashlib.sha256(of.lists.tobytes()).digest())


class _Read(NamedTuple):
    """A submission, the score of each user, and what its lists are known again by."""

    submitted: Submitted
    values: Floats
    digest: bytes


def _refusal(error: SubmissionError, terms: Terms) -> str:
    """Return what is said above the errors of a submission, with the next step."""
    path, errors = error.validation.path, error.validation.errors
    if any(problem.code == "SUB001" for problem in errors):
        return "cannot be read"
    by = _validated_by(terms)
    step = f"; all of them: harness validate {shlex.quote(str(path))} {by}" if by else ""
    return f"has errors and is not scored; mend it, or force it{step}"


def _validated_by(terms: Terms) -> str:
    """Return the options that a submission is validated by; frames have no name to type."""
    config = None if terms.config is None else terms.config.file
    solution = terms.solution if isinstance(terms.solution, Path) and config is None else None
    own = {"config": config, "solution": solution, "sample": terms.sample, "items": terms.items}
    if config is None and solution is None:
        return ""
    own["ids"] = terms.ids
    return shlex.join(w for n, path in own.items() if path for w in (f"--{n}", str(path)))


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
    by = _validated_by(terms)
    path = shlex.quote(str(error.validation.path))
    return f"{told}: harness validate {path} {by}" if by else told


def _fewer(count: int) -> str:
    found = counted(count, "submission")
    return f"{found}: two are needed for a comparison (harness score scores one)"


def _same(read: Mapping[str, _Read]) -> Iterator[str]:
    """Yield which submissions have the same lists, as far as the solution knows their items."""
    groups: dict[bytes, list[str]] = {}
    for name, of in read.items():
        if of.values.any():  # without a hit there may be no known item
            groups.setdefault(of.digest, []).append(name)
    for *others, last in groups.values():
        if others:
            names = f"{', '.join(others)} and {last}"
            yield f"{names} have the same known items at the same ranks: copies?"


def _perfect(read: Mapping[str, _Read], solution: Solution) -> Iterator[str]:
    """Yield which submissions have all that there is to have, as the solution itself does."""
    if solution.metrics[0].definition.better != "higher":  # else 1 is not the best
        return
    for name, of in read.items():
        values = of.values[solution.counted]
        if len(values) >= _CHANCE_ENDS and values.min() == 1:
            yield f"{name}: every user has the value 1: is it the solution?"


def _compared(
    read: Mapping[str, _Read],
    scorer: Scorer,
    rules: Rules,
    refused: dict[str, str],
    told: Sequence[str],
) -> ComparedSubmissions:
    solution = scorer.solution
    (metric,) = solution.metrics
    hashes = id_hashes(solution.users)
    boards, notes = list[Board](), [*told, *_perfect(read, solution), *_same(read)]
    notes += [f"truth: {solution.shape}"] if solution.shape else []
    nothing = scorer.against.format.nothing if scorer.against.format else ""
    for code, odd in scorer.against.odd_in_solution(nothing).items():
        notes += [RULES[code].says.format(values=", ".join(odd))] if odd else []
    notes += left_out_lines(solution.left_out)
    groups = {ALL: solution.counted}
    groups |= {name: users & solution.counted for name, users in solution.leaderboards.items()}
    for name, users in groups.items():
        if users.sum() < 2:
            few = counted(int(users.sum()), "user")
            notes.append(f"{name}: {few}, and at least two are needed for a comparison")
            continue
        tables = {own: ScoreTable({metric: of.values[users][None, :]}) for own, of in read.items()}
        part = ProfiledUsers(hashes[users], tables, pl.DataFrame())
        boards.append(_board(name, part, metric, rules))
    if not boards:
        raise UsageError("; ".join(notes))
    notes += [which_fold(solution.folds, solution.folds)] if solution.folds > 1 else []
    return ComparedSubmissions(
        str(metric),
        solution.k,
        solution.fingerprint,
        {name: of.submitted for name, of in read.items()},
        tuple(boards),
        refused,
        tuple(notes),
    )


def _board(name: str, part: ProfiledUsers, metric: Metric, rules: Rules) -> Board:
    means, comparison, _, _ = compare_users(part, list(part.tables), metric, rules)
    tied, near = ({one: list[str]() for one in part.tables} for _ in range(2))
    better, worse = dict.fromkeys(tied, 0), dict.fromkeys(tied, 0)
    for pair in comparison.pairs:
        if pair.borderline:
            near[pair.one].append(pair.other)
            near[pair.other].append(pair.one)
        if pair.ahead is None:
            tied[pair.one].append(pair.other)
            tied[pair.other].append(pair.one)
        else:
            better[pair.other if pair.ahead == pair.one else pair.one] += 1
            worse[pair.ahead] += 1
    order = list(comparison.means)
    costs = {one: metric.definition.sign * mean for one, mean in comparison.means.items()}
    ranks = {one: 1 + sum(cost < costs[one] for cost in costs.values()) for one in order}
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
