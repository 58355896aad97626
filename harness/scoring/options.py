"""The options of every command that takes submissions; light to import, as commands need them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import getfullargspec
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypedDict,
    get_type_hints,
)

from harness.core.errors import UsageError, suggest

if TYPE_CHECKING:
    from harness.config import Config, SubmissionOnly


class SubmissionOptions(TypedDict, total=False):
    """How submissions are read, and what they are checked and scored against.

    ``validate``, ``score``, ``compare``, ``leaderboard`` and ``explain`` take these keywords, and
    their commands the options of the same names, in this order; each has its help beside it.

    `solution` may be a frame, too. A config with ``[submission]`` alone says what submissions look
    like, and goes with a solution.
    """

    solution: Annotated[Path | str | Any | None, "A file with the true items of each user.", "FILE"]
    config: Annotated[
        Config | SubmissionOnly | Path | str | None,
        "A config: use its evaluation set.",
    ]
    overrides: Annotated[Sequence[str], "Keys of the config with other values: evaluation.k=5."]
    sample: Annotated[
        Path | str | None, "A sample submission: a file with one row for each required user."
    ]
    items: Annotated[
        Path | str | None,
        "A table of all items. Ids are in a column such as item_id, else in the first column.",
    ]
    separator: Annotated[
        str | None,
        "The separator of items in a list: ' ', ',', ';' or '|'. Default: that of the sample or "
        "the solution if it is clear, else a space.",
    ]
    user_column: Annotated[
        str | None, "The user column of the submission and the solution. Default: found by name."
    ]
    item_column: Annotated[
        str | None, "The item column of the submission and the solution. Default: found by name."
    ]
    rank_column: Annotated[str | None, "The rank column. Default: rank, if there is one."]
    score_column: Annotated[str | None, "The score column. Default: score, if there is one."]
    row_order: Annotated[bool, "Rank each user's items by the order of the rows, best first."]
    truth_user_column: Annotated[
        str | None, "The user column of the solution, if its name is different there."
    ]
    truth_item_column: Annotated[
        str | None, "The item column of the solution, if its name is different there."
    ]
    grade_column: Annotated[
        str | None,
        "The column of relevance grades in the solution; grade 0 is not relevant. 'none': every "
        "row is relevant. Default: grade, if there is one.",
        "NAME",
    ]
    keep_users_without_items: Annotated[
        bool, "Score users without true items as 0. Default: leave them out, as H&M does."
    ]
    ids: Annotated[
        Literal["exact"] | None,
        "exact: ids that differ only in case, spaces, zeros or .0 are different. Default: such an "
        "id is a damaged form of a known id.",
    ]


_FLAGS = {"models": "--model", "public_shares": "--public-share", "overrides": "--set"}


def flag_of(name: str) -> str:
    """Return how commands call the option that a keyword is."""
    return _FLAGS.get(name, f"--{name.replace('_', '-')}")


@cache
def types_of(options: type) -> dict[str, Any]:
    """Return the types of a TypedDict of options, each with its help."""
    slow = dict.fromkeys(("Config", "SubmissionOnly", "Metric"), object)  # to import
    return get_type_hints(options, localns=slow, include_extras=True)


def require_options(function: Callable[..., Any], options: Mapping[str, Any], *kinds: type) -> None:
    """Refuse keywords that `function` and TypedDicts do not have, and values of another type.

    TypeError for a keyword that nobody has, as Python itself; UsageError for a value.
    """
    from pydantic import ConfigDict, TypeAdapter, ValidationError  # slow to import

    hints = {name: hint for kind in kinds for name, hint in types_of(kind).items()}
    known = [*getfullargspec(function).kwonlyargs, *hints]
    for name, value in options.items():
        if name not in known:
            raise TypeError(
                f"{function.__name__}() got an unexpected keyword argument {name!r}; "
                f"{suggest(name, known)}"
            )
        try:
            adapter = TypeAdapter(hints[name] | None, config=ConfigDict(strict=True))
            adapter.validate_python(value)
        except ValidationError as error:
            reason = error.errors()[0]["msg"].replace("Input should be", "expected")
            raise UsageError(f"{name} is {value!r}; {reason}") from None


def require(kind: type, expected: str, **options: Any) -> None:
    """Raise UsageError where the value of an option is of another type, and not None."""
    for name, value in options.items():
        if value is not None and not isinstance(value, kind):
            raise UsageError(f"{name} is {value!r}; expected {expected}")
