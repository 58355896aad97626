"""What is compared: models of runs or submissions in, the scores of the same users out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import polars as pl

from harness.comparison.standings import Submitted
from harness.config import Config
from harness.core.arrays import Floats
from harness.core.errors import HarnessError, UsageError, counted, suggest
from harness.core.io import exists
from harness.core.random import id_hashes
from harness.core.steps import of_one
from harness.metrics import Metric, parse
from harness.metrics.scores import ScoreTable, user_scores
from harness.protocol.truth import Solution
from harness.results.folder import PER_USER, is_run
from harness.results.run import Run, read
from harness.results.tables import other_users
from harness.scoring.options import require_known
from harness.scoring.score import left_out_lines
from harness.scoring.submissions import Scorer
from harness.scoring.terms import Terms, path_or_frame, which_fold
from harness.stats.folds import Folds, ScoredFold, folded, folds_of
from harness.stats.paired import Rules
from harness.stats.resampling import MOST_RESAMPLES
from harness.stats.slices import ProfiledUsers
from harness.stats.tests import CORRECTIONS
from harness.submission.rules import RULES


def are_submissions(options: Any, **further: object) -> bool:
    """Return whether a solution or config is named; refuse options of submissions without one."""
    require_known(options)
    if options.get("solution") is not None or options.get("config") is not None:
        return True
    refuse_options("submissions: name solution= or config= with them", **options, **further)
    return False


def refuse_options(whose: str, **options: object) -> None:
    """Raise UsageError where an option has a value that goes with something else."""
    for name, value in options.items():
        empty = isinstance(value, (list, tuple)) and not value
        if value is not None and value is not False and not empty:
            raise UsageError(f"{name} goes with {whose}")


def rules_of(
    config: Config | None,
    baseline: str | None,
    correction: str | None,
    resamples: int | None,
    seed: int | None,
) -> Rules:
    """Return the rules of a comparison; what is None is the config's, or as without one."""
    rules = Rules(baseline)
    if config is not None:
        section = config.compare
        rules = Rules(baseline, section.correction, section.resamples, config.evaluation.seed)
    correction = correction or rules.correction
    resamples = rules.resamples if resamples is None else resamples
    seed = rules.seed if seed is None else seed
    if correction not in CORRECTIONS:
        raise UsageError(f'no correction "{correction}"; {suggest(correction, CORRECTIONS)}')
    if not isinstance(resamples, int) or not 100 <= resamples <= MOST_RESAMPLES:
        raise UsageError(f"resamples = {resamples!r}; expected from 100 to 1,000,000")
    if not isinstance(seed, int) or seed < 0:
        raise UsageError(f"seed = {seed!r}; expected a whole number from 0")
    return Rules(baseline, correction, resamples, seed)


# Runs.


def refuse_lists(of: Sequence[Any]) -> None:
    """Raise UsageError on a file or frame of lists, where nothing says what is true."""
    for run in of:
        path = Path(run) if isinstance(run, str | Path) else None
        if isinstance(run, Run) or (path is not None and not (exists(path) and path.is_file())):
            continue
        raise UsageError(
            f"{path or f'a {type(run).__name__}'}: is no run; submissions are compared by what "
            "they are scored against: name --solution SOLUTION or --config CONFIG (in Python, "
            "solution= or config=)"
        )


def _refuse_twice(of: Iterable[Any], what: str) -> None:
    """Raise UsageError where a path is named twice."""
    paths = [Path(each) for each in of if isinstance(each, str | Path)]
    for path, count in Counter(path.resolve() for path in paths).items():
        if count > 1:
            named = next(each for each in paths if each.resolve() == path)
            raise UsageError(f"{named}: is named twice; name each {what} once")


def open_runs(of: Sequence[Any]) -> list[Run]:
    """Return runs on one evaluation set."""
    refuse_lists(of)
    _refuse_twice(of, "run")
    runs = [run if isinstance(run, Run) else read(run) for run in of]
    if not runs:
        raise UsageError("no run to compare; name the folder of one, such as runs/2020-09-16-hm-…")
    for run in runs[1:]:
        _refuse_other_set(runs[0], run)
        for first, fold in zip(runs[0].folds, run.folds, strict=True):
            if not fold.user_ids.equals(first.user_ids):
                raise other_users(fold.folder / PER_USER)
    return runs


def _refuse_other_set(first: Run, run: Run) -> None:
    ours, theirs = first.evaluation, run.evaluation
    names = dict.fromkeys([*ours.fields, *theirs.fields])
    differ = [name for name in names if ours.fields.get(name) != theirs.fields.get(name)]
    if not differ:
        return
    step = "run both with the same data, [split] and [evaluation]"
    if ours.fingerprint_format != theirs.fingerprint_format:
        older = min(first, run, key=lambda it: it.evaluation.fingerprint_format)
        step = f"{older.folder} has fingerprints of an earlier version, {older.again}"
    raise UsageError(
        f"{run.folder}: has another evaluation set than {first.folder}: they differ in "
        f"{', '.join(differ)}; only models on one evaluation set can be compared: {step}"
    )


def metric_of(runs: Sequence[Run], name: str | None) -> Metric:
    """Return a metric that all runs have scores under, from one source."""
    known: dict[str, Metric] = {}
    for shown, metric in runs[0].user_metrics.items():
        if all(metric in run.user_metrics.values() for run in runs):
            known |= {shown: metric, str(metric): metric}  # a file beside the config, or anywhere
    if name is None and known:
        name = next(iter(known))
    if name not in known:
        raise UsageError(
            f'"{name or ""}" is no metric with scores of each user in all runs; '
            f"{suggest(name or '', known) if known else 'run them with the same metrics'}"
        )
    metric = known[name]
    digests = [run.record.digest_of(run.name_of(metric)) for run in runs]
    if len({*digests}) > 1:
        now = metric.definition.digest
        stale = [run for run, digest in zip(runs, digests, strict=True) if digest != now]
        raise UsageError(
            f'metric "{runs[0].name_of(metric)}": its source has changed since '
            f"{' and '.join(str(run.folder) for run in stale)}, so figures of these runs are not "
            f"of one metric; {'; '.join(run.again for run in stale)}"
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


def users_of_runs(
    models: Mapping[str, tuple[str, list[Run]]], metric: Metric, columns: Sequence[str]
) -> tuple[ProfiledUsers, Folds | None]:
    """Return the users of an evaluation set with the scores of models, or those of several folds.

    `columns` are what users are sliced by.
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
        profile = run.users.select(columns) if columns else pl.DataFrame()
        return ProfiledUsers(folds[0].hashes, folds[0].tables, profile), None
    common = folds_of(of_one(folds))
    users = folded(common, folds)
    return ProfiledUsers(users.hashes, users.tables, pl.DataFrame(), there=users.there), common


# Submissions.

ALL = "all"
"""The users of all leaderboards."""


@dataclass(frozen=True, eq=False)
class ScoredSubmissions:
    """Submissions scored by one metric.

    Attributes
    ----------
    users : mapping of name to ProfiledUsers
        Of each leaderboard: all, and where the solution says so the public and the private one.
    failed : mapping of name to HarnessError
        Why a submission cannot be scored.
    """

    config: Config | None
    metric: Metric
    solution: Solution
    users: Mapping[str, ProfiledUsers]
    submitted: dict[str, Submitted]
    failed: dict[str, HarnessError]
    notes: Sequence[str]


def score_submissions(
    of: Sequence[Any],
    options: Mapping[str, Any],
    *,
    metric: str | Metric | None,
    k: int | None,
    strict: bool,
    force: bool,
) -> ScoredSubmissions:
    """Return the scores of submissions by one metric, and why some cannot be scored."""
    terms, files = Terms(**options), _named(of)
    if len(files) < 2:
        raise too_few(len(files))
    scorer = _scorer(terms, metric, k)
    solution = scorer.solution
    (chosen,) = solution.metrics
    notes, scores = list[str](), dict[str, Floats]()
    submitted, failed = dict[str, Submitted](), dict[str, HarnessError]()
    for name, file in files.items():
        if _is_solution(file, terms):  # which a shell's *.csv names too
            notes.append(f"{name}: is the solution itself, and left out")
            continue
        try:
            validation, lists = scorer.lists(file, strict=strict, force=force)
        except HarnessError as error:
            failed[name] = error
            continue
        scores[name] = user_scores(lists.lists, lists.solution.judgments, [chosen])[chosen]
        submitted[name] = Submitted(
            file=lists.title,
            left_out={n: c for n, c in lists.left_out.items() if n not in solution.left_out},
            warnings=len(validation.problems) - len(validation.errors),
            errors=len(validation.errors),
            codes=tuple(problem.code for problem in validation.problems),
        )
    form = scorer.against.format
    if form is not None and form.source and not (metric or k or terms.config):
        notes.append(f"by the columns as {form.source}: {chosen}; --metric (metric=) names another")
    notes += _notes_on(solution, scorer.against.odd_in_solution(form.nothing if form else ""))
    users = _groups(solution, chosen, scores, notes)
    return ScoredSubmissions(terms.config, chosen, solution, users, submitted, failed, notes)


def _notes_on(solution: Solution, odd: Mapping[str, Sequence[str]]) -> list[str]:
    """Return how the solution was read, and what is odd about it, by the code of a rule."""
    notes = [f"truth: {solution.shape}"] if solution.shape else []
    notes += [RULES[code].says.format(values=", ".join(odd[code])) for code in odd if odd[code]]
    notes += left_out_lines(solution.left_out)
    return notes + ([which_fold(solution.folds, solution.folds)] if solution.folds > 1 else [])


def _groups(
    solution: Solution, metric: Metric, scores: Mapping[str, Floats], notes: list[str]
) -> dict[str, ProfiledUsers]:
    """Return the scored users of each leaderboard; note one of fewer than two."""
    groups, hashes = {}, id_hashes(solution.users)
    for name, users in [(ALL, solution.counted), *solution.leaderboards.items()]:
        there = users & solution.counted
        if there.sum() < 2:
            notes.append(f"{name}: {counted(int(there.sum()), 'user')}, and two are needed")
            continue
        tables = {n: ScoreTable({metric: values[there][None, :]}) for n, values in scores.items()}
        groups[name] = ProfiledUsers(hashes[there], tables, pl.DataFrame())
    if not groups:
        raise UsageError("; ".join(notes))
    return groups


def too_few(count: int) -> UsageError:
    """Return the error of a comparison of less than two submissions."""
    return UsageError(
        f"{counted(count, 'submission')}: two are needed for a comparison; name another (harness "
        "score scores one)"
    )


def _is_solution(file: Path | pl.DataFrame, terms: Terms) -> bool:
    paths = [path.resolve() for path in (file, terms.solution) if isinstance(path, Path)]
    return len(paths) == 2 and paths[0] == paths[1]


def _named(of: Sequence[Any]) -> dict[str, Path | pl.DataFrame]:
    """Return submissions by name; a file's is without folder and ending where that is clear."""
    if len(of) == 1 and isinstance(of[0], Mapping):
        named = of[0]
    else:
        of = of[0] if len(of) == 1 and isinstance(of[0], list | tuple) else of
        _refuse_twice(of, "file")
        files = [
            Path(lists if isinstance(lists, str | Path) else f"submission {number}")
            for number, lists in enumerate(of, 1)
        ]
        stems = [file.name.partition(".")[0] or file.name for file in files]
        named = {
            stem if stems.count(stem) == 1 else str(file): lists
            for stem, file, lists in zip(stems, files, of, strict=True)
        }
    submissions = {
        str(name): path_or_frame(lists, f'submission "{name}"') for name, lists in named.items()
    }
    for path in submissions.values():
        if isinstance(path, Path) and path.is_dir() and is_run(path):
            raise UsageError(
                f"{path}: is a run, which knows its own evaluation set; harness submit {path} "
                "--model NAME --out FILE writes the lists of a model"
            )
        if isinstance(path, Path) and path.is_dir():
            raise UsageError(f"{path}: is a folder; name the files in it, such as {path}/*.csv")
    return submissions


def _scorer(terms: Terms, metric: str | Metric | None, k: int | None) -> Scorer:
    """Return what scores submissions by a single metric."""
    if isinstance(metric, str):
        metric = parse(metric, terms.folder)
    if metric is not None and not isinstance(metric, Metric):
        raise UsageError(f'metric: found {type(metric).__name__}; give a text, such as "MAP@12"')
    scorer = Scorer.of(terms, () if metric is None else (metric,), k)
    first = scorer.solution.metrics[0]
    if first.definition.of == "set":
        raise UsageError(
            f"metric {first} has one value for all lists: no users to compare by; name another "
            "with --metric (in Python, metric=)"
        )
    scorer.solution.require(first)
    return replace(scorer, solution=replace(scorer.solution, metrics=(first,)))
