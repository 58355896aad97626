"""The options of every command that takes submissions; light to import, as commands need them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from harness.core.errors import UsageError

if TYPE_CHECKING:
    from harness.config import Config, SubmissionOnly


class SubmissionOptions(TypedDict, total=False):
    """How submissions are read, and what they are checked and scored against.

    ``validate``, ``score``, ``compare``, ``leaderboard`` and ``explain`` take these keywords, and
    their commands the options of the same names.

    Attributes
    ----------
    config : Config or path, optional
        The competition, which says it all; one with ``[submission]`` alone says what submissions
        look like, and goes with what follows.
    overrides : sequence of str
        Keys of the config's file with other values, as ``evaluation.k=5``.
    solution : path or frame, optional
        The true items.
    sample, items : path, optional
        A file with a row for each id that must be there; a table of all items, ids first.
    separator : str, optional
        What stands between the items of a list, where no config with data says it: a space, ``,``,
        ``;`` or ``|``; by default what is plain in the sample or the solution, else a space.
    keep_users_without_items : bool
        Whether users of the solution without true items are averaged, with 0; H&M on Kaggle leaves
        them out, and so do we by default.
    user_column, item_column : str, optional
        The columns of users, and of items or lists, here and in the solution. By default names
        such as ``customer_id`` and ``article_id`` tell, or there are no others.
    rank_column, score_column : str, optional
        The column that orders the rows of a user, the lowest rank or the highest score first;
        ``rank`` or ``score`` by default, if there is one.
    row_order : bool
        Whether the rows of a user stand in order, the best first, whatever columns there are.
    truth_user_column, truth_item_column : str, optional
        The same columns of the solution, where they are called otherwise there.
    grade_column : str, optional
        The solution's column that says how relevant an item is; items of grade 0 are not true.
        ``grade`` by default, if there is one; ``none``: every row is a true item.
    ids : "exact", optional
        Compare ids letter by letter. By default an id that only looks like a known one is a fault.
    """

    config: Config | SubmissionOnly | Path | str | None
    overrides: Sequence[str]
    solution: Any
    sample: Path | str | None
    items: Path | str | None
    separator: str | None
    keep_users_without_items: bool
    user_column: str | None
    item_column: str | None
    rank_column: str | None
    score_column: str | None
    row_order: bool
    truth_user_column: str | None
    truth_item_column: str | None
    grade_column: str | None
    ids: Literal["exact"] | None


_OTHER = ("config", "overrides", "solution", "sample", "items", "ids", "separator")
"""Options that are no name of a column and no choice of True or False."""
_CHOICES = ("keep_users_without_items", "row_order")


def require_known(options: SubmissionOptions) -> None:
    """Raise TypeError where an option is none, as a mistyped one; UsageError for a wrong type."""
    unknown = options.keys() - SubmissionOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"unexpected keyword argument {', '.join(map(repr, sorted(unknown)))}")
    for name, value in options.items():
        if name in _CHOICES:
            require(bool, "True or False", **{name: value})
        elif name not in _OTHER:
            require(str, "the name of a column", **{name: value})
    list_of(str, "overrides", options.get("overrides") or (), 'texts, such as "evaluation.k=5"')


def require(kind: type, expected: str, **options: object) -> None:
    """Raise UsageError where the value of an option is of another type, and not None."""
    for name, value in options.items():
        if value is not None and not isinstance(value, kind):
            raise UsageError(f"{name} is {value!r}; expected {expected}")


def list_of(kind: type, name: str, values: object, expected: str) -> list[Any]:
    """Return the values of an option; raise UsageError where they are of another type, or one."""
    if isinstance(values, Iterable) and not isinstance(values, str):
        listed = list(values)
        if all(isinstance(value, kind) for value in listed):
            return listed
    raise UsageError(f"{name} is {values!r}; expected a list of {expected}")
