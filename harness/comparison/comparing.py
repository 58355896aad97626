"""Runs or submissions compared and ranked, as a person names them in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from harness.comparison.compare import Compared
from harness.comparison.compare import compare as compare_runs
from harness.comparison.compare_plan import Asked
from harness.comparison.contest import Contest, named
from harness.comparison.leaderboard import Leaderboard, Sort
from harness.comparison.leaderboard import leaderboard as leaderboard_of_runs
from harness.comparison.standings import ComparedSubmissions, Ranking
from harness.core.errors import UsageError
from harness.core.io import as_path, exists
from harness.metrics import Metric, parse
from harness.results.run import Run
from harness.scoring.options import SubmissionOptions, require_known
from harness.scoring.terms import Terms, path_or_frame

if TYPE_CHECKING:
    import polars as pl


class _Ranked(SubmissionOptions, total=False):
    """What is asked for of submissions, beside how they are read."""

    metric: str | Metric | None
    k: int | None
    correction: str | None
    resamples: int | None
    seed: int | None
    strict: bool
    force: bool


class _Compared(_Ranked, total=False):
    baseline: str | None


@overload
def compare(
    *of: Path | str | Run, slices: Sequence[str] = (), **options: Unpack[Asked]
) -> Compared: ...


@overload
def compare(*of: Any, **options: Unpack[_Compared]) -> ComparedSubmissions: ...


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
    **options: Unpack[SubmissionOptions],
) -> Compared | ComparedSubmissions:
    """Compare the models of runs on one evaluation set, or submissions by one solution.

    Parameters
    ----------
    *of : paths, Runs, or a mapping
        The folders of one or more runs. With `solution` or `config`: two or more files of lists,
        or a mapping of names to files or frames (pandas, Polars, Arrow).
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
        No such run, file, metric or model; other evaluation sets; fewer than two to compare.
    """
    if not _are_submissions(options, k=k, strict=strict, force=force):
        return compare_runs(
            *require_runs(of),
            metric=_text(metric),
            models=models,
            baseline=baseline,
            all_pairs=all_pairs,
            correction=correction,
            resamples=resamples,
            seed=seed,
            public_shares=public_shares,
            slices=slices,
        )
    refuse_beside(
        "runs; leave it out",
        models=models,
        all_pairs=all_pairs,
        public_shares=public_shares,
        slices=slices,
    )
    terms = Terms(**options)
    contest = Contest(
        terms,
        metric=_metric(metric, terms),
        k=k,
        baseline=baseline,
        correction=correction,
        resamples=resamples,
        seed=seed,
        strict=strict,
        force=force,
    )
    return contest.compared(submissions(of))


@overload
def leaderboard(
    *of: Path | str,
    metric: str | None = None,
    sort: Sort = "score",
    model: str | None = None,
    evaluation_set: str | None = None,
) -> Leaderboard: ...


@overload
def leaderboard(*of: Any, **options: Unpack[_Ranked]) -> Ranking: ...


def leaderboard(
    *of: Any,
    metric: str | Metric | None = None,
    k: int | None = None,
    sort: Sort = "score",
    model: str | None = None,
    evaluation_set: str | None = None,
    correction: str | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    strict: bool = False,
    force: bool = False,
    **options: Unpack[SubmissionOptions],
) -> Leaderboard | Ranking:
    """Rank the runs of a folder by evaluation set, or submissions by one solution.

    Parameters
    ----------
    *of : path, paths or a mapping
        A folder, in which runs may lie at any depth; ``runs`` by default. With `solution` or
        `config`: two or more submissions, as of `compare`. One that cannot be scored is in
        ``refused`` of the result, with the reason.
    metric : str or Metric, optional
        One that runs were scored by, by default the first of most runs on a set; of submissions the
        config's first, or the competition's.
    sort : str
        Of runs: ``score``, best first; ``date``, latest first; ``model`` or ``run``, by name.
    model : str, optional
        Of runs, only names that hold this text, in whatever case.
    evaluation_set : str, optional
        Of runs, only the evaluation set whose fingerprint begins so.
    k, correction, resamples, seed, strict, force, **options
        Of submissions, as of `compare`.

    Raises
    ------
    HarnessError
        No such folder or file, no run in it, none left by what is asked for; fewer than two
        submissions that can be scored.
    """
    rules: dict[str, Any] = {"correction": correction, "resamples": resamples, "seed": seed}
    if not _are_submissions(options, k=k, strict=strict, force=force, **rules):
        return leaderboard_of_runs(
            _folder_of_runs(of),
            metric=_text(metric),
            sort=sort,
            model=model,
            evaluation_set=evaluation_set,
        )
    refuse_beside(
        "runs; leave it out",
        sort=sort != "score" and sort,
        model=model,
        evaluation_set=evaluation_set,
    )
    terms = Terms(**options)
    contest = Contest(
        terms,
        metric=_metric(metric, terms),
        k=k,
        correction=correction,
        resamples=resamples,
        seed=seed,
        strict=strict,
        force=force,
    )
    return contest.ranked(submissions(of))


def _are_submissions(options: SubmissionOptions, **more: object) -> bool:
    """Return whether a solution or config is named; refuse other options of theirs without one."""
    require_known(options)
    if options.get("solution") is not None or options.get("config") is not None:
        return True
    refuse_beside("submissions: name solution= or config= with them", **options, **more)
    return False


def _folder_of_runs(of: Sequence[Any]) -> Path:
    for folder in of:
        if not isinstance(folder, (str, Path)) or (exists(Path(folder)) and Path(folder).is_file()):
            raise UsageError(_submission_alone(folder))
    if len(of) > 1:
        raise UsageError(f"{len(of)} folders of runs; name one in which all of them lie")
    return as_path(of[0] if of else "runs", "a folder of runs")


def _metric(metric: str | Metric | None, terms: Terms) -> Metric | None:
    asked = parse(metric, terms.folder) if isinstance(metric, str) else metric
    if asked is not None and not isinstance(asked, Metric):
        raise UsageError(f'metric: found {type(metric).__name__}; give a text, such as "MAP@12"')
    return asked


def refuse_beside(whose: str, **options: object) -> None:
    """Raise UsageError where an option is named that goes with something else."""
    for name, value in options.items():
        empty = isinstance(value, (list, tuple)) and not value
        if value is not None and value is not False and not empty:
            raise UsageError(f"{name} goes with {whose}")


def submissions(of: Sequence[Any]) -> dict[str, Path | pl.DataFrame]:
    """Return files, or what a mapping names, by their names.

    Raises
    ------
    UsageError
        A run's folder, a folder, or a frame without a name.
    """
    if len(of) == 1 and isinstance(of[0], list | tuple):
        of = of[0]
    if len(of) == 1 and isinstance(of[0], Mapping):
        given = {
            str(name): path_or_frame(one, f'submission "{name}"') for name, one in of[0].items()
        }
    else:
        for path in of:
            if not isinstance(path, (str, Path)):
                raise UsageError(
                    f"found {type(path).__name__} where a submission is named by its path; a frame "
                    'needs a name: {"mine": frame, "theirs": "theirs.csv"}'
                )
        given = dict(named([Path(path) for path in of]))
    for one in given.values():
        if isinstance(one, Path) and (one / "result.json").is_file():
            raise UsageError(
                f"{one}: is a run, which knows its evaluation set, and no submission; "
                "harness submit RUN --model NAME --out FILE writes the lists of a model"
            )
        if isinstance(one, Path) and one.is_dir():
            raise UsageError(f"{one}: is a folder; name the files in it, such as {one}/*.csv")
    return given


def require_runs(of: Sequence[Any]) -> Sequence[Path | Run]:
    """Return runs and paths of runs.

    Raises
    ------
    UsageError
        A file of lists or a frame; it is told what it needs.
    """
    for given in of:
        path = isinstance(given, (str, Path))
        if not isinstance(given, Run) and (not path or Path(given).is_file()):
            raise UsageError(_submission_alone(given))
    return [given if isinstance(given, Run) else Path(given) for given in of]


def _submission_alone(given: Any) -> str:
    """Return what is said of a file or frame of lists, for which nothing says what is true."""
    named = given if isinstance(given, (str, Path)) else f"a {type(given).__name__}"
    return (
        f"{named}: is no run; submissions are compared by what they are scored against: name "
        "--solution SOLUTION or --config CONFIG (in Python, solution= or config=)"
    )


def _text(metric: str | Metric | None) -> str | None:
    return None if metric is None else str(metric)
