"""The solution in a file or a frame of true items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl

from harness.core.alike import AT, FORM, Forms
from harness.core.column_names import is_index
from harness.core.errors import DataError, counted, listed, printable
from harness.data.oddities import words_of
from harness.metrics import Judgments
from harness.metrics.inputs.codes import Coders
from harness.metrics.inputs.lists import read_truth
from harness.metrics.inputs.order import kinds_in
from harness.protocol.truth import Solution
from harness.submission.format import NAMES, TrueColumns
from harness.submission.read import File, read_truth_file

_WRITTEN = r"^[\[(\{'\"]|[,;|]|[\])\}'\"]$"


def of_file(
    path: Path | pl.DataFrame,
    columns: TrueColumns | None = None,
    *,
    keep_users_without_items: bool = False,
    between: str | None = None,
) -> Solution:
    """Return the solution in a file or frame of true items.

    Users whose Usage is Ignored are left out.

    Parameters
    ----------
    keep_users_without_items : bool
        Whether users without true items are averaged, with 0, and not left out as in H&M.
    between : str, optional
        What stands between items, where lists hold it; by default what is plain.

    Raises
    ------
    DataError
        A file that cannot be used, or one that evaluates nobody.
    """
    columns = columns or TrueColumns()
    file = read_truth_file(path, columns, between=between)
    coders = Coders()
    judgments, repeated = read_truth(file.table, coders)
    users, items = coders.users.ids.cast(pl.String), coders.items.ids.cast(pl.String)
    _refuse_written_lists(file, items)
    user, item = file.table.names["user"], file.table.names["item"]
    for column, ids in ((user, users), (item, items)):
        _refuse_padded(file, column, ids)
    is_named = (columns.user and columns.item) or "Usage" in file.frame.columns
    if isinstance(path, Path) and not is_named:
        _refuse_no_header(file, users, items)
    leaderboards = dict(file.leaderboards(users))
    keep = ~leaderboards.pop("Ignored", np.zeros(len(users), np.bool_))
    if not keep.any():
        raise DataError(f"{file.path}: every user is Ignored, so there are no users to evaluate")
    judgments = judgments.pick(keep)
    averaged = None if keep_users_without_items else np.asarray(judgments.relevant) > 0
    if averaged is not None and not averaged.any():
        raise DataError(
            f"{file.path}: no user has a true item, so there is no mean; to score such users as "
            "0: --keep-users-without-items (Python: keep_users_without_items=True)"
        )
    return Solution(
        users=users.filter(pl.Series(keep)),
        items=items,
        judgments=judgments,
        averaged=averaged,
        leaderboards={name: rows[keep] for name, rows in leaderboards.items()},
        ignored=users.filter(pl.Series(~keep)),
        repeated=repeated,
        between=file.between,
        shape=_shape(file, judgments),
        columns=(user, item, *file.frame.columns),
        words=_words(items, judgments),
        alike=tuple(chain(_alike(users, "user"), _alike(items, "item"))),
        doubts=tuple(f"{name} ({_some(values)})" for name, values in kinds_in(file.table)),
    )


def _words(items: pl.Series, judgments: Judgments) -> dict[str, int]:
    """Return the true items that are words for a missing value, and how many users have each."""
    counts = {
        word: int(np.count_nonzero(judgments.truth.indices == n))
        for n, word in words_of(items).items()
    }
    return {word: users for word, users in counts.items() if users > 0}


_MAY_BE_ALIKE = r"^0[0-9]|\.0+$|^['\"`]|[^!-~]"


def _alike(ids: pl.Series, role: str) -> Iterator[str]:
    """Yield how many ids are another one, written otherwise, and the first such pair."""
    if ids.str.len_bytes().n_unique() == 1:  # written otherwise, one would be longer
        return
    odd = ids.filter(ids.str.contains(_MAY_BE_ALIKE))
    forms = Forms.of(odd, joined=False).plain
    pairs = forms.with_columns(id=odd.gather(forms[AT])).filter(pl.col("id") != pl.col(FORM))
    pairs = pairs.filter(pairs[FORM].is_in(ids.implode())) if len(pairs) > 0 else pairs
    if len(pairs) > 0:
        pair = pairs.sort(AT).row(0, named=True)
        yield f'{counted(len(pairs), role)}, such as "{pair["id"]}" beside "{pair[FORM]}"'


def _some(names: Sequence[str]) -> str:
    """Return the first of some names, and how many there are beside."""
    return listed([*map(printable, names)], _SHOWN)


def _shape(file: File, judgments: Judgments) -> str:
    """Return how true items were read, of how many users they are, and what was not read."""
    lists = file.table.wide and bool((np.asarray(judgments.truth.sizes) > 1).any())
    form = f"lists with {NAMES[file.between]} between items" if lists else "one row per item"
    number = file.table.names.get("number")
    graded = f', grades in column "{printable(number)}"' if number else ""
    graded += f" ({file.negative:,} below 0: not relevant)" if file.negative else ""
    users = counted(len(judgments.truth.sizes), "user")
    used = (*file.table.names.values(), "Usage")
    further = [name for name in file.frame.columns if name not in used and not is_index(name)]
    return f"{form}{graded}, {users}" + (f"; not read: {_some(further)}" if further else "")


_SHOWN = 4
_LOOKED_AT = 100
_WITH_DIGIT = re.compile("[0-9A-Za-z]*[0-9][0-9A-Za-z]*")


def _refuse_no_header(file: File, users: pl.Series, items: pl.Series) -> None:
    """Raise DataError where the names of the columns are a user and true items: a row is lost."""
    user, item = file.table.names["user"], file.table.names["item"]
    held = set(item.split(None if file.between == " " else file.between))
    met = int(items.is_in(list(held)).sum()) == len(held) > 0
    alike = _look(user) in _looks(users) and {_look(text) for text in held} <= _looks(items)
    if met or alike:
        row = printable(f"{user},{item}")
        raise DataError(
            f'{file.path}: line 1: found "{row}", which looks like a user with true items, not '
            "like a header; add a header line, such as user,items (if it is a header, name both "
            "columns: --user-column and --item-column)"
        )


def _looks(ids: pl.Series) -> set[str]:
    """Return what the first ids look like, if all do and have digits."""
    looks = {_look(text) for text in ids.head(_LOOKED_AT)}
    return looks if len(looks) == 1 and "0" in "".join(looks) else set()


def _look(text: str) -> str:
    """Return a text in which words with digits are one digit."""
    return _WITH_DIGIT.sub("0", text)


def _refuse_padded(file: File, column: str, ids: pl.Series) -> None:
    """Raise DataError where spaces stand around ids, which no list could name."""
    padded = ids.filter(ids.str.contains(r"^[ \t\r]|[ \t\r]$"))
    if len(padded) > 0:
        raise DataError(
            f'{file.path}: column "{printable(column)}": there are spaces around '
            f'{counted(len(padded), "id")}, first "{printable(padded[0])}"; remove them (pandas: '
            f'frame["{printable(column)}"].str.strip())'
        )


def _refuse_written_lists(file: File, items: pl.Series) -> None:
    """Raise DataError where most true items hold what separates items elsewhere, or any a NUL."""
    broken = items.filter(items.str.contains("\0", literal=True))
    if len(broken) > 0:
        raise DataError(
            f'{file.path}: column "{file.table.names["item"]}": found "{printable(broken[0])}", a '
            "true item with a NUL byte, which no list can hit; save the file as UTF-8 text"
        )
    odd = items.filter(items.str.contains(_WRITTEN))
    if file.table.wide and 2 * len(odd) >= len(items) > 0:
        raise DataError(
            f'{file.path}: column "{file.table.names["item"]}": found "{printable(odd[0])}" '
            "among the true items; write them with one space between, without brackets, quotes "
            "and commas, or name the separator with --separator"
        )
