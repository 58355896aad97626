"""Submissions scored against one solution, and compared pair by pair on each leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import polars as pl

from harness.comparison.runs import refuse_lists, refuse_twice
from harness.comparison.standings import Board, ComparedSubmissions, Standing, Submitted
from harness.config import Config
from harness.core.arrays import Floats
from harness.core.errors import HarnessError, UsageError, counted, quoted, suggest
from harness.core.exact_sum import of_one
from harness.core.random import id_hashes
from harness.metrics import Metric, parse
from harness.metrics.scores import ScoreTable, user_scores
from harness.results.folder import is_run
from harness.scoring.options import SubmissionOptions, flag_of, require_options
from harness.scoring.score import left_out_lines
from harness.scoring.submissions import Scorer, SubmissionError, brief
from harness.scoring.terms import Terms, path_or_frame, which_fold
from harness.stats.figures import figures_of
from harness.stats.folds import ScoredUsers
from harness.stats.paired import Rules
from harness.stats.pairwise import Comparison, Pair
from harness.stats.resampling import MOST_RESAMPLES
from harness.stats.tests import CORRECTIONS
from harness.submission.rules import RULES


class ComparisonOptions(TypedDict, total=False):
    """The metric of a comparison, and how its pairs are tested."""

    metric: str | Metric | None
    correction: str | None
    resamples: int | None
    seed: int | None


class RankOptions(ComparisonOptions, SubmissionOptions, total=False):
    """How submissions are scored and compared."""

    k: int | None
    strict: bool
    force: bool


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
    goes, form, other = "runs", of_submissions, "submissions"
    named = options.get("solution") is not None or options.get("config") is not None
    if not named:
        refuse_lists(inputs)
        goes, form, other = "submissions", of_runs, "runs"
    wrong = []
    for name, value in options.items():
        is_empty = isinstance(value, list | tuple) and not value
        if name not in form.__annotations__ and not (value is None or value is False or is_empty):
            wrong.append(name)
    if wrong:
        flags, keywords = " and ".join(map(flag_of, wrong)), "= and ".join(wrong)
        work, them = ("works", "it") if len(wrong) == 1 else ("work", "them")
        raise UsageError(
            f"{flags} (in Python, {keywords}=) {work} with {goes}, not with {other}: remove {them}"
        )
    return named


def rules_of(config: Config | None, baseline: str | None, options: ComparisonOptions) -> Rules:
    """Return the rules of a comparison; what is not named is the config's, or as without one."""
    rules = Rules(baseline)
    if config is not None:
        section = config.compare
        rules = Rules(baseline, section.correction, section.resamples, config.evaluation.seed)
    correction, resamples = options.get("correction"), options.get("resamples")
    seed = options.get("seed")
    correction = rules.correction if correction is None else correction
    resamples = rules.resamples if resamples is None else resamples
    seed = rules.seed if seed is None else seed
    if correction not in CORRECTIONS:
        raise UsageError(f'no correction "{correction}"; {suggest(correction, CORRECTIONS)}')
    if not isinstance(resamples, int) or not 100 <= resamples <= MOST_RESAMPLES:
        raise UsageError(f"resamples = {resamples!r}; expected from 100 to 1,000,000")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UsageError(f"seed = {seed!r}; expected a whole number, 0 or more")
    return Rules(baseline, correction, resamples, seed)


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
    baseline = baseline and files.get(baseline, baseline)
    rules = rules_of(terms.config, baseline, options)
    metric, k = options.get("metric"), options.get("k")
    strict, force = options.get("strict", False), options.get("force", False)
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
            validation, lists = scorer.lists(file, strict=strict, force=force)
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
            if is_run(path):
                raise UsageError(
                    f"{path}: a run folder, not a submission; first write the lists of a model: "
                    f"harness submit {path} --model NAME --out FILE"
                )
            raise UsageError(f"{path}: a folder; name the files in it, such as {path}/*.csv")
    if len(submissions) < 2:
        raise UsageError(_too_few(len(submissions)))
    return submissions


def _scorer(terms: Terms, metric: str | Metric | None, k: int | None) -> Scorer:
    """Return what scores submissions; its first metric is the one that they are compared by."""
    if isinstance(metric, str):
        metric = parse(metric, terms.folder)
    if metric is not None and not isinstance(metric, Metric):
        raise UsageError(f'metric: found {type(metric).__name__}; give a text, such as "MAP@12"')
    scorer = Scorer.of(terms, () if metric is None else (metric,), k)
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
    groups: list[dict[str, None]] = []
    for pair in comparison.pairs:
        if pair.wins == pair.losses == 0 and comparison.any_hit[pair.one] > 0:
            joined = {pair.one: None, pair.other: None}
            apart = [group for group in groups if not group.keys() & joined.keys()]
            for group in groups:
                joined = group | joined if group not in apart else joined
            groups = [*apart, joined]
    named = [[quoted(name) for name in group] for group in groups]
    return tuple(
        f"{', '.join(names)} and {last} have the same score for every user: is one a copy?"
        for *names, last in named
    )
