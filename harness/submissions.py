"""Submissions from Python: validated, and marked, as the commands of the same names do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.config import Config
from harness.config import read_for_submissions as read_config
from harness.errors import UsageError
from harness.frames.polars import as_polars
from harness.metrics import Metric, parse
from harness.scored import Scored
from harness.submission.examined import examine_on
from harness.submission.problems import Validation
from harness.submission.read import Named
from harness.submission.score import score as _score
from harness.submission.terms import Terms


def validate(
    submission: Any,
    *,
    config: Config | Path | str | None = None,
    sample: Path | str | None = None,
    items: Path | str | None = None,
    solution: Any = None,
    k: int | None = None,
    separator: str | None = None,
    strict: bool = False,
    rank_column: str | None = None,
    score_column: str | None = None,
    row_order: bool = False,
) -> Validation:
    """Return everything that is wrong with a submission.

    Parameters
    ----------
    submission : path or frame
        CSV (plain, .gz, .zip) or Parquet; or a pandas, Polars or Arrow frame.
    config : Config or path, optional
        The competition, which says it all; one with ``[submission]`` alone says what submissions
        look like, and goes with what follows.
    sample, items : path, optional
        a file with a row for each id that must be there, a table of all items (ids first), and
    solution : path or frame, optional
        the true items.
    k : int, optional
        The longest list; that of the config or of the competition by default.
    separator : str, optional
        What stands between the items of a list, where no config with data says it: a space, ``,``,
        ``;`` or ``|``; by default what is plain in the sample or the solution, else a space.
    strict : bool
        Whether warnings are errors.
    rank_column, score_column : str, optional
        The column that orders the rows of a user, the lowest rank or the highest score first;
        ``rank`` or ``score`` by default, if there is one.
    row_order : bool
        Whether the rows of a user stand in order, the best first, whatever columns there are.

    Returns
    -------
    Validation
        ``valid``, ``problems``, ``rows``; a problem has a code, a line, a count, a message, a hint.

    Raises
    ------
    HarnessError
        What the submission is checked against cannot be used.
    """
    named = Named(rank=rank_column, score=score_column, row_order=row_order)
    terms = _terms(config, sample, items, solution, named, separator=separator)
    return examine_on(_given(submission), terms, k, strict=strict).validation


def score(
    submission: Any,
    *,
    config: Config | Path | str | None = None,
    solution: Any = None,
    sample: Path | str | None = None,
    items: Path | str | None = None,
    metrics: Sequence[str | Metric] = (),
    k: int | None = None,
    conventions: bool = False,
    separator: str | None = None,
    strict: bool = False,
    force: bool = False,
    keep_users_without_items: bool = False,
    rank_column: str | None = None,
    score_column: str | None = None,
    row_order: bool = False,
) -> Scored:
    """Validate a submission and mark it.

    Parameters
    ----------
    submission, config, solution, sample, items, separator, strict, rank_column, score_column,
    row_order
        As for `validate`; a config or a solution is needed.
    metrics : sequence of text or Metric
        The config's, the competition's or the usual ones by default.
    k : int, optional
        The cut-off where no metric is named.
    conventions : bool
        Whether MAP@k is worked out under every convention.
    force : bool
        Whether a submission with errors is marked as it stands.
    keep_users_without_items : bool
        Whether users of the solution without true items are averaged, with 0; H&M on Kaggle leaves
        them out, and so do we by default.

    Returns
    -------
    Scored
        ``metrics["MAP@12"].mean``, ``boards["Public"]``, ``validation``, ``to_dict()``.

    Raises
    ------
    SubmissionError
        The submission has errors, and `force` is not given.
    HarnessError
        What it is checked against or marked by cannot be used.
    """
    named = Named(rank=rank_column, score=score_column, row_order=row_order)
    keep = keep_users_without_items
    terms = _terms(config, sample, items, solution, named, separator=separator, keep=keep)
    said = terms.config or terms.own
    folder = Path() if said is None else said.folder
    asked = tuple(m if isinstance(m, Metric) else parse(m, folder) for m in metrics)
    given = _given(submission)
    return _score(given, terms, asked, k, conventions=conventions, strict=strict, force=force)


def _terms(
    config: Config | Path | str | None,
    sample: Path | str | None,
    items: Path | str | None,
    solution: Any,
    named: Named,
    *,
    separator: str | None,
    keep: bool = False,
) -> Terms:
    path = None if isinstance(config, Config) else _path(config)
    read = config if isinstance(config, Config) else None if path is None else read_config(path)
    return Terms.of(
        read,
        sample=_path(sample),
        items=_path(items),
        solution=_given(solution, "solution"),
        named=named,
        separator=separator,
        keep_users_without_items=keep,
    )


def _path(path: Path | str | None) -> Path | None:
    if path is not None and not isinstance(path, (str, Path)):
        raise UsageError(f"found {type(path).__name__}; give the path of a file")
    return None if path is None else Path(path)


def _given(given: Any, role: str = "submission") -> Any:
    """Return a path, or a frame as Polars holds it."""
    if isinstance(given, (str, Path)) or (given is None and role == "solution"):
        return _path(given)
    return as_polars(given, role)
