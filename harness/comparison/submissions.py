"""Submissions scored against one solution, and compared pair by pair on each leaderboard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from harness.comparison.options import ComparisonOptions, RankOptions
from harness.config import Config
from harness.core.arrays import Floats
from harness.core.errors import (
    HarnessError,
    UsageError,
    counted,
    listed,
    printable,
    quoted,
)
from harness.core.exact_sum import of_one
from harness.core.io import exists
from harness.core.random import id_hashes
from harness.core.table import Column, Sheet, Shown, digits_of, ends, low_high, number
from harness.metrics import Metric
from harness.metrics.evaluate import metrics_of
from harness.metrics.scores import ScoreTable, user_scores
from harness.results.run import Run
from harness.results.wording import compared_headline
from harness.scoring.options import flag_of, require_options
from harness.scoring.submissions import Scorer, SubmissionError, brief, left_out_lines
from harness.scoring.terms import Terms, path_or_frame, which_fold
from harness.stats.figures import figures_of
from harness.stats.folds import ScoredUsers
from harness.stats.intervals import Interval
from harness.stats.paired import Rules
from harness.stats.pairwise import Comparison, Pair, verdict_sheets
from harness.stats.resampling import MOST_RESAMPLES
from harness.submission.rules import RULES

_SHOWN = 3
_RULES = ("correction", "resamples", "seed")


@dataclass(frozen=True)
class Standing:
    """A submission on one leaderboard."""

    submission: str
    rank: int
    """1 is the best, or the highest where the metric calls neither end better; submissions with
    equal means share one."""
    mean: float
    ci95: Interval | None
    tied: tuple[str, ...]
    """The submissions that the paired test cannot tell from it."""
    borderline: tuple[str, ...]
    """Those of whom other draws of the test could say otherwise, tied or not."""
    best_rank: int
    """The best that it could move to: behind those that are really better alone (really higher,
    where neither end is better)."""
    worst_rank: int
    """The worst that it could move to: before those that are really worse alone (really lower,
    where neither end is better)."""

    @property
    def reach(self) -> tuple[int, ...]:
        """The best and the worst rank, or the only one."""
        return tuple(sorted({self.best_rank, self.worst_rank}))


@dataclass(frozen=True)
class Board:
    """The submissions on one leaderboard."""

    name: str
    """``all``, ``Public`` or ``Private``."""
    users: int
    """Who are averaged."""
    standings: tuple[Standing, ...]
    """Best first."""
    comparison: Comparison
    """The pairs."""

    @property
    def digits(self) -> int:
        """Decimals of its means."""
        return digits_of(standing.mean for standing in self.standings)


@dataclass(frozen=True)
class Submitted:
    """What was read of a submission."""

    file: str
    left_out: Mapping[str, int]
    """Counts of what was left out, and of users without a list."""
    warnings: int
    """How many kinds of warnings the file has."""
    errors: int
    """How many kinds of errors, with which it was forced."""
    codes: tuple[str, ...] = ()
    """These kinds, errors first."""


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Shown):
    """Submissions ranked on each leaderboard; names are the keys of its JSON.

    Attributes
    ----------
    metric : str
    k : int, optional
        Positions that the evaluation set looks at.
    fingerprint : str, optional
        That of the evaluation set, where a config sets one.
    submissions : mapping of name to Submitted
    boards : tuple of Board
        All users, and where the solution says so those of the public and the private leaderboard.
    refused : mapping of name to text
        Submissions that are not ranked, and why.
    notes : tuple of str
    """

    metric: str
    k: int | None
    fingerprint: str | None
    submissions: dict[str, Submitted]
    boards: tuple[Board, ...]
    refused: dict[str, str]
    notes: tuple[str, ...]

    def sheets(self) -> list[Sheet]:
        """Return a table of the private leaderboard beside the public one, or of all users."""
        boards = {board.name: board for board in self.boards}
        sheet = _ranks(self, boards.get("Private", self.boards[0]), boards.get("Public"))
        sheet.footing.extend(_notes(self))
        return [sheet]

    def records(self) -> list[dict[str, object]]:
        """Return one record a leaderboard and submission, in full precision; and of the refused."""
        ranked: list[dict[str, object]] = [
            {
                "board": board.name,
                **{
                    n: v
                    for n, v in vars(standing).items()
                    if n not in ("ci95", "tied", "borderline")
                },
                "tied": ", ".join(standing.tied),
                "borderline": ", ".join(standing.borderline),
                **low_high(standing.ci95),
                "forced": bool(self.submissions[standing.submission].errors),
                "error": "",
            }
            for board in self.boards
            for standing in board.standings
        ]
        blank = dict.fromkeys(ranked[0])
        return ranked + [
            blank | {"submission": name, "error": why} for name, why in self.refused.items()
        ]


@dataclass(frozen=True, eq=False, repr=False)
class ComparedSubmissions(Ranking):
    """A `Ranking` that is shown pair by pair."""

    def sheets(self, pairs: bool = False) -> list[Sheet]:
        """Return the ranks and verdicts of every leaderboard; `pairs`: every difference as well."""
        sheets = list[Sheet]()
        for board in self.boards:
            ranks = _ranks(self, board)
            ranks.heading[:0] = compared_headline(board.comparison, board.standings[0].ci95)
            verdicts = verdict_sheets(board.comparison, pairs=pairs, noun="submission")
            for sheet in verdicts if len(self.boards) > 1 else ():
                sheet.heading[0] = sheet.heading[0].replace("  ", f"  {board.name} · ", 1)
            sheets += [ranks, *verdicts]
        sheets[-1].footing.extend(_notes(self))
        return sheets

    def records(self) -> list[dict[str, object]]:
        """Return one record a leaderboard and pair, in full precision."""
        return [
            {
                "board": board.name,
                **record,
                "mean": board.comparison.means[pair.one],
                "mean of other": board.comparison.means[pair.other],
                "forced": ", ".join(
                    n for n in (pair.one, pair.other) if self.submissions[n].errors
                ),
            }
            for board in self.boards
            for pair, record in zip(board.comparison.pairs, board.comparison.records(), strict=True)
        ]


def _ranks(compared: Ranking, board: Board, public: Board | None = None) -> Sheet:
    """Return the table of a leaderboard, and beside it the ranks on the public one."""
    comparison = board.comparison
    names = {
        name: printable(name) + (" (forced)" if submitted.errors else "")
        for name, submitted in compared.submissions.items()
    }
    columns: list[Column[Standing]] = [
        Column("rank", lambda standing: str(standing.rank)),
        Column("submission", lambda standing: names[standing.submission], "name"),
        Column(compared.metric, lambda standing: number(standing.mean, board.digits)),
        Column("could be", lambda standing: "–".join(map(str, standing.reach))),
        Column("95 % interval", lambda standing: ends(standing.ci95, board.digits)),
    ]
    if public is not None:
        ranks = {standing.submission: standing.rank for standing in public.standings}
        means, digits = public.comparison.means, public.digits

        def moved(standing: Standing) -> str:
            places = ranks[standing.submission] - standing.rank
            return f"{places:+d}" if places else ""

        columns += [
            Column("public rank", lambda standing: str(ranks[standing.submission])),
            Column("moved", moved),
            Column("public", lambda standing: number(means[standing.submission], digits)),
        ]
    columns.append(
        Column(
            "tied with",
            lambda standing: listed(list(map(printable, standing.tied)), _SHOWN),
            "words",
        )
    )
    parts = [counted(board.users, "user"), (compared.fingerprint or "")[:6], comparison.tested]
    heading = [f"{board.name}  {' · '.join(filter(None, parts))}"]
    if comparison.better == "neither":
        heading.append(
            f"rank 1 is the highest: for {compared.metric} neither high nor low is better"
        )
    ahead, behind = comparison.words
    footing = [
        f"could be   the ranks that the test allows: behind those that are really {ahead}, ahead "
        f"of those that are really {behind}",
        "tied with  the test finds no difference",
    ]
    near = [
        printable(f"{pair.one} and {pair.other} ({pair.verdict})")
        for pair in comparison.pairs
        if pair.borderline
    ]
    if near:
        footing.append(
            f"borderline  {listed(near, _SHOWN)}: other draws could change the verdict; use more "
            "--resamples"
        )
    return Sheet.of(board.standings, columns, heading=heading, footing=footing)


def _notes(compared: Ranking) -> list[str]:
    """Return the notes, what was left out of submissions, and which of them are not ranked."""
    lines = [f"note  {printable(note)}" for note in compared.notes]
    names: dict[str, list[str]] = {}
    for name, submitted in compared.submissions.items():
        parts = left_out_lines(submitted.left_out)
        faults = [f"{code} ({RULES[code].name})" for code in submitted.codes]
        errors, warnings = faults[: submitted.errors], faults[submitted.errors :]
        if errors:
            parts.append(f"scored with {counted(len(errors), 'error')}: {', '.join(errors)}")
        if warnings:
            parts.append(f"{counted(len(warnings), 'warning')}: {', '.join(warnings)}")
        if parts:
            names.setdefault("; ".join(parts), []).append(printable(name))
    lines += [f"note  {listed(same, _SHOWN)}: {text}" for text, same in names.items()]
    return lines + [f"not ranked  {printable(n)}: {why}" for n, why in compared.refused.items()]


def are_submissions(
    function: Callable[..., Any],
    inputs: Sequence[Any],
    options: Mapping[str, Any],
    of_runs: type,
    of_submissions: type,
) -> bool:
    """Return whether a solution or config is named; refuse options that do not go with it.

    `of_runs` and `of_submissions` are the TypedDicts of what `function` takes with either. Without
    a solution or config, lists among `inputs` are refused before their options.
    """
    require_options(function, options, of_runs, of_submissions)
    is_named = options.get("solution") is not None or options.get("config") is not None
    if not is_named:
        refuse_lists(inputs)
    form, goes, other = of_runs, "submissions", "runs"
    if is_named:
        form, goes, other = of_submissions, "runs", "submissions"
    wrong = []
    for name, value in options.items():
        is_empty = isinstance(value, list | tuple) and not value
        if name not in form.__annotations__ and not (value is None or value is False or is_empty):
            wrong.append(name)
    if wrong:
        flags = " and ".join(map(flag_of, wrong))
        raise UsageError(
            f"{flags} (in Python, {'= and '.join(wrong)}=): only with {goes}, not with {other}; "
            f"leave out {flags}"
        )
    return is_named


def rules_of(config: Config | None, baseline: str | None, options: ComparisonOptions) -> Rules:
    """Return the rules of a comparison; what is not named is the config's, or as without one."""
    rules = Rules(baseline)
    if config is not None:
        section = config.compare
        rules = Rules(baseline, section.correction, section.resamples, config.evaluation.seed)
    named: Mapping[str, Any] = {n: v for n, v in options.items() if n in _RULES and v is not None}
    rules = replace(rules, **named)
    if not isinstance(rules.resamples, int) or not 100 <= rules.resamples <= MOST_RESAMPLES:
        raise UsageError(f"resamples = {rules.resamples!r}; expected from 100 to 1,000,000")
    if isinstance(rules.seed, bool) or not isinstance(rules.seed, int) or rules.seed < 0:
        raise UsageError(f"seed = {rules.seed!r}; expected a whole number, 0 or more")
    return rules


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


def compare_submissions(
    inputs: Sequence[Any],
    options: RankOptions,
    *,
    baseline: str | None = None,
    skip_failed: bool = False,
) -> ComparedSubmissions:
    """Return every two submissions compared by one metric, on each leaderboard.

    One that cannot be scored is an error; with `skip_failed` it is left out, with the reason.
    """
    terms, submissions = Terms(options), _named(inputs)
    files = {str(file): name for name, file in submissions.items() if isinstance(file, Path)}
    rules = rules_of(terms.config, baseline and files.get(baseline, baseline), options)
    metric, k = options.get("metric"), options.get("k")
    scorer = _scorer(terms, metric, k)
    solution, by = scorer.solution, scorer.solution.metrics[0]
    scores, submitted, notes = dict[str, Floats](), dict[str, Submitted](), list[str]()
    failed = dict[str, HarnessError]()
    for name, file in submissions.items():
        paths = [path.resolve() for path in (file, terms.solution) if isinstance(path, Path)]
        if len(paths) == 2 and paths[0] == paths[1]:  # which a shell's *.csv names too
            notes.append(f"{name}: left out, as it is the solution itself")
            continue
        try:
            validation, lists = scorer.lists(
                file, strict=options.get("strict", False), force=options.get("force", False)
            )
        except HarnessError as error:
            failed[name] = error
            continue
        scores[name] = user_scores(lists.lists, lists.solution.judgments, [by])[by]
        submitted[name] = Submitted(
            file=lists.title,
            left_out={n: c for n, c in lists.left_out.items() if n not in solution.left_out},
            warnings=len(validation.problems) - len(validation.errors),
            errors=len(validation.errors),
            codes=tuple(problem.code for problem in validation.problems),
        )
    notes += _notes_on(scorer, is_named=bool(metric or k or terms.config))
    refused = {name: _refusal(error) for name, error in failed.items()}
    reasons = [f"{name}: {reason}" for name, reason in refused.items()]
    if failed and not skip_failed:
        raise next(iter(failed.values())) if len(failed) == 1 else UsageError("\n".join(reasons))
    if len(submitted) < 2:
        raise UsageError("\n".join([*notes, _too_few(len(submitted)), *reasons]))
    boards, hashes = [], id_hashes(solution.users)
    for name, users in [("all", solution.counted), *solution.leaderboards.items()]:
        there = users & solution.counted
        if there.sum() < 2:
            notes.append(f"{name}: {counted(int(there.sum()), 'user')}; a comparison needs two")
            continue
        tables = {n: ScoreTable({by: values[there][None, :]}) for n, values in scores.items()}
        boards.append(_board(name, ScoredUsers(hashes[there], tables), by, rules))
    if not boards:
        raise UsageError("; ".join(notes))
    return ComparedSubmissions(
        metric=str(by),
        k=solution.k,
        fingerprint=solution.fingerprint,
        submissions=submitted,
        boards=tuple(boards),
        refused=refused,
        notes=(*notes, *copies(boards[0].comparison)),
    )


def _named(inputs: Sequence[Any]) -> dict[str, Path | pl.DataFrame]:
    """Return submissions by name; a file's is without folder and ending where that is clear."""
    if len(inputs) == 1 and isinstance(inputs[0], Mapping):
        named = inputs[0]
    else:
        inputs = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], list | tuple) else inputs
        refuse_twice(inputs, "file")
        files = [
            Path(lists if isinstance(lists, str | Path) else f"submission {number}")
            for number, lists in enumerate(inputs, 1)
        ]
        stems = [file.name.partition(".")[0] or file.name for file in files]
        named = {
            stem if stems.count(stem) == 1 else str(file): lists
            for stem, file, lists in zip(stems, files, inputs, strict=True)
        }
    submissions = {
        str(name): path_or_frame(lists, f'submission "{name}"') for name, lists in named.items()
    }
    for path in submissions.values():
        if isinstance(path, Path) and path.is_dir():
            raise UsageError(
                f"{path}: a folder, not a submission; name the files in it, such as {path}/*.csv; "
                f"of a run, first write lists: harness submit {path} --model NAME --out FILE"
            )
    if len(submissions) < 2:
        raise UsageError(_too_few(len(submissions)))
    return submissions


def _scorer(terms: Terms, metric: str | Metric | None, k: int | None) -> Scorer:
    """Return what scores submissions; its first metric is the one that they are compared by."""
    asked = () if metric is None else metrics_of([metric], folder=terms.folder)
    scorer = Scorer.of(terms, asked, k)
    first = scorer.solution.metrics[0]
    if first.definition.of == "set":
        raise UsageError(
            f"metric {first} has one value for all lists, none per user; name another with "
            "--metric (in Python, metric=)"
        )
    scorer.solution.require(first)
    return scorer


def _notes_on(scorer: Scorer, *, is_named: bool) -> list[str]:
    """Return by which metric and truth files are scored, and what is odd about the solution."""
    solution, form = scorer.solution, scorer.against.format
    odd = scorer.against.odd_in_solution(form.nothing if form else "")
    notes = []
    if form is not None and form.source and not is_named:
        by = f"metric {solution.metrics[0]}, as the solution has the columns of {form.source}"
        notes.append(f"{by}; --metric (metric=) sets another")
    notes += [f"truth: {solution.shape}"] if solution.shape else []
    notes += [RULES[code].says.format(values=", ".join(odd[code])) for code in odd if odd[code]]
    notes += left_out_lines(solution.left_out)
    return notes + ([which_fold(solution.folds, solution.folds)] if solution.folds > 1 else [])


def _refusal(error: HarnessError) -> str:
    """Return why a submission cannot be scored: its first error, and the codes of others."""
    if not isinstance(error, SubmissionError):
        return str(error)
    first, *more = error.validation.errors
    also = f"; also {', '.join(problem.code for problem in more)}" if more else ""
    return brief(first) + also


def _too_few(count: int) -> str:
    return (
        f"{counted(count, 'submission')}; a comparison needs two: name another (harness score "
        "scores one file)"
    )


def _board(leaderboard: str, users: ScoredUsers, metric: Metric, rules: Rules) -> Board:
    figures = figures_of(of_one(users), list(users.tables), [metric], rules)
    comparison = figures.comparison
    assert comparison is not None, "pairs are asked for"  # noqa: S101
    rivals: dict[str, list[tuple[str, Pair]]] = {name: [] for name in comparison.means}
    for pair in comparison.pairs:
        rivals[pair.one].append((pair.other, pair))
        rivals[pair.other].append((pair.one, pair))
    costs = [metric.definition.sign * mean for mean in comparison.means.values()]
    standings = tuple(
        Standing(
            submission=name,
            rank=1 + sum(cost < metric.definition.sign * mean for cost in costs),
            mean=figures.estimates[name, metric].mean,
            ci95=figures.estimates[name, metric].ci95,
            tied=tuple(rival for rival, pair in rivals[name] if pair.ahead is None),
            borderline=tuple(rival for rival, pair in rivals[name] if pair.borderline),
            best_rank=1 + sum(pair.ahead == rival for rival, pair in rivals[name]),
            worst_rank=len(rivals) - sum(pair.ahead == name for _, pair in rivals[name]),
        )
        for name, mean in comparison.means.items()
    )
    return Board(leaderboard, len(users.hashes), standings, comparison)


def copies(comparison: Comparison) -> tuple[str, ...]:
    """Return a note on each group of models that are equal for every user.

    Without a hit many are, and nothing is said of them.
    """
    group_of: dict[str, dict[str, None]] = {}
    for pair in comparison.pairs:  # the first model of a group is compared with all others
        if pair.wins == pair.losses == 0 and comparison.any_hit[pair.one] > 0:
            group = group_of.get(pair.one) or group_of.get(pair.other) or {}
            group |= dict.fromkeys((pair.one, pair.other))
            group_of |= {pair.one: group, pair.other: group}
    groups = {id(group): group for group in group_of.values()}.values()
    named = [[quoted(name) for name in group] for group in groups]
    return tuple(
        f"{', '.join(names)} and {last} have the same score for every user: is one a copy?"
        for *names, last in named
    )
