"""The solution in a file or a frame of true items, long or wide."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl

from harness.core.alike import AT, FORM, Forms
from harness.core.arrays import Bool
from harness.core.column_names import column_of, has_role, is_index, plain
from harness.core.errors import DataError, counted, listed, printable, row_text, suggest
from harness.data import layout
from harness.data.conditions import BOOLEANS
from harness.data.oddities import words_of
from harness.data.table_files import sources
from harness.delimited.stream import Refused, opened
from harness.metrics import Judgments
from harness.metrics.inputs.cells import number_text
from harness.metrics.inputs.codes import Coders
from harness.metrics.inputs.frame import Table, accept
from harness.metrics.inputs.lists import read_truth
from harness.metrics.inputs.order import doubtful_grade, kinds_in
from harness.protocol.truth import Solution
from harness.submission import json_lists
from harness.submission.columns import users_and_items
from harness.submission.expected import unreadable
from harness.submission.format import NAMES, NO_GRADE, Separators, TrueColumns

USAGES = ("Public", "Private", "Ignored")
_WRITTEN = r"^[\[(\{'\"]|[,;|]|[\])\}'\"]$"


def of_file(
    path: Path | pl.DataFrame,
    columns: TrueColumns | None = None,
    *,
    keep_users_without_items: bool = False,
    between: str | None = None,
) -> Solution:
    """Return the solution in a file or frame of true items.

    Users whose Usage is Ignored are left out. If `keep_users_without_items`, users without true
    items are averaged, with 0, and not left out as in H&M. `between` stands between items, where
    any list holds it; by default what is plain. DataError over a file that cannot be used, or that
    evaluates nobody.
    """
    columns = columns or TrueColumns()
    file = read(path, columns, between=between)
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


@dataclass(frozen=True)
class File:
    """A file as a table of lists, and all its columns as they stand.

    `between` stands between items, where a list is one text. `negative` grades are below 0, which
    are read as 0: such items are not true.
    """

    path: Path
    table: Table
    frame: pl.DataFrame
    between: str = " "
    negative: int = 0

    def leaderboards(self, users: pl.Series) -> dict[str, Bool]:
        """Return which of `users` belong to which ``Usage``; empty where the file has none.

        DataError over a Usage that is none, or a user with two.
        """
        if "Usage" not in self.frame.columns:
            for name in self.frame.columns:  # in other letters it would be passed over
                if name.strip().lower() == "usage":
                    raise DataError(
                        f'{self.path}: column "{printable(name)}": the column of leaderboards '
                        'must have the name "Usage"; rename it, or drop it'
                    )
            return {}
        user_column = pl.col(self.table.names["user"]).cast(pl.String)
        if self.frame["Usage"].dtype not in (pl.String, pl.Null):
            raise DataError(
                f'{self.path}: column "Usage" is not text; expected one of {", ".join(USAGES)}'
            )
        rows = self.frame.select(user=user_column, usage=pl.col("Usage").cast(pl.String))
        wrong = rows.filter(~pl.col("usage").is_in(USAGES).fill_null(False))
        if len(wrong) > 0:
            user, value = wrong.row(0)
            shown = "an empty value" if value is None else f'"{printable(value)}"'
            raise DataError(
                f'{self.path}: column "Usage", user {user}: found {shown}, expected one of '
                f"{', '.join(USAGES)}"
            )
        rows = rows.unique()
        if rows["user"].n_unique() < len(rows):
            user = rows.filter(pl.col("user").is_duplicated())["user"].sort()[0]
            raise DataError(f"{self.path}: user {user} has two values of Usage; give it one")
        held = pl.DataFrame({"user": users}).join(
            rows, on="user", how="left", maintain_order="left"
        )
        return {
            name: (held["usage"] == name).to_numpy() for name in USAGES if name in held["usage"]
        }


def read(file: Path | pl.DataFrame, columns: TrueColumns, *, between: str | None = None) -> File:
    """Return a file or a frame of true items as a table, long or wide; see `of_file`."""
    path = file if isinstance(file, Path) else Path("solution")
    rows = _json(file, columns) or _frame(file) if isinstance(file, Path) else (file, row_text)
    frame, place = _usable(path, rows[0]), rows[1]
    graded = columns.grade not in (None, NO_GRADE)
    ids = [name for name in frame.columns if not graded or name != columns.grade]
    user, item = _ids(path, ids, columns)
    frame = frame.with_columns(_texts(frame[user]), _texts(frame[item]))
    grade, negative = _grade(path, frame, columns.grade, (user, item)), 0
    if grade is not None:
        grades = _numbers(path, frame[grade], place)
        if grades.dtype.is_numeric():
            is_negative = grades.is_finite() & (grades < 0)
            negative = int(is_negative.sum())
            grades = grades.set(is_negative, 0) if negative > 0 else grades
        frame = frame.with_columns(grades)
        is_list = frame[item].dtype == pl.String and not _again(frame[user])
        if is_list and _are_several(frame[item], " ").any():
            raise DataError(
                f'{path}: column "{grade}" has one value per row, but column "{item}" has lists; '
                "drop it, or write one row per item"
            )
        between = " "
    else:
        between = _between(path, frame, user, item, between)
        if between is not None or frame[item].dtype.is_nested():
            frame = _listed(path, frame, user, item, between or " ")
    numbers = {} if grade is None else {"grade": grade}
    table = replace(accept(frame, str(path), user=user, item=item, numbers=numbers), place=place)
    return File(path, table, frame, between or " ", negative)


def _ids(path: Path, names: Sequence[str], columns: TrueColumns) -> tuple[str, str]:
    """Return the columns of users and items."""
    options = "--truth-user-column and --truth-item-column"
    try:
        user, item = users_and_items(names, user=columns.user, item=columns.item)
    except Refused as error:
        raise DataError(
            f"{path}: several columns may hold the users or the items: {printable(error.value)}; "
            f"name them with {options}"
        ) from error
    spelled = {name.strip(): name for name in reversed(names)}
    user, item = (name if name in names else spelled.get(name, name) for name in (user, item))
    for name in (user, item):
        if name not in names:
            raise DataError(
                f'{path}: no column "{name}"; {suggest(name, names)} (to use others: {options})'
            )
    return user, item


def _grade(path: Path, frame: pl.DataFrame, named: str | None, ids: tuple[str, str]) -> str | None:
    """Return the column of grades; refuse one that may be meant where nobody says so."""
    if named == NO_GRADE:
        return None
    if named is not None:
        if named not in frame.columns:
            raise DataError(f'{path}: no column "{named}"; {suggest(named, frame.columns)}')
        return named
    further = [name for name in frame.columns if name not in ids and not is_index(name)]
    further = [name for name in further if plain(name) != "usage"]
    usual = "grade" if "grade" in further else None
    for name in further:
        lowest = None if name == usual else doubtful_grade(frame[name], flags=usual is None)
        if lowest is not None:
            instead = "count every row with --grade-column none"
            instead = instead if usual is None else 'take "grade" with --grade-column grade'
            raise DataError(
                f'{path}: column "{printable(name)}" holds {number_text(lowest)}, which may mean '
                f"that an item is not relevant; read it with --grade-column {shlex.quote(name)} "
                f"(grade 0 or less is not relevant), or {instead} (Python: grade_column=)"
            )
    return usual


def _frame(path: Path) -> tuple[pl.DataFrame, Callable[[int], str]]:
    """Return all columns of all parts of a file, empty fields missing, and how a row is named."""
    parts = []
    for source in sources(layout.Table(str(path), key=layout.LISTS)):
        parts.append(source.whole())
        if source.names != parts[0].columns:
            raise DataError(
                f"{source.shown}: its columns are {', '.join(source.names)}; the files before it "
                f"have {', '.join(parts[0].columns)}"
            )
    try:
        frame = pl.concat(parts)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path}: its files hold columns of different types ({error})") from error
    of_text = not source.kinds and len(parts) == 1
    return frame, partial(_line, path) if of_text else row_text


def _json(path: Path, columns: TrueColumns) -> tuple[pl.DataFrame, Callable[[int], str]] | None:
    """Return the same of a file of JSON; None where it is none, or is told by `_frame`."""
    with suppress(Refused), opened(path) as file:
        if not file.is_json:
            return None
        try:
            table = json_lists.table(file.stream, columns.user, columns.item, truth=True)
            parts = [pl.DataFrame(schema=table.kinds), *table.batches([pl.all()])]
        except Refused as refused:
            raise unreadable(path, refused) from refused
        return pl.concat(parts), lambda row: f"line {table.line_of(row + 1):,}"
    return None


def _line(path: Path, row: int) -> str:
    """Return how messages name a row of a text file: by its first line, read once more."""
    (frame,) = (source.whole() for source in sources(layout.Table(str(path), key=layout.LISTS)))
    ends = pl.all().str.count_matches("\n", literal=True).sum()  # within quotes
    within = sum(frame.head(row).select(ends).row(0)) + "".join(frame.columns).count("\n")
    return f"line {row + 2 + within:,}"


def _usable(path: Path, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame in which empty texts are missing; it has rows, and two columns."""
    if len(frame) == 0:
        raise DataError(f"{path}: there are no rows after the header")
    frame = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String)).with_columns(
        pl.when(pl.col(pl.String) != "").then(pl.col(pl.String)).name.keep()
    )
    if len(frame.columns) < 2:
        only = frame.columns[0]
        cut = next((s for s in ";\t|" if s in only), None)
        hint = "" if cut is None else f"; the separator seems to be {cut!r}: save it with commas"
        raise DataError(
            f'{path}: there is one column, "{printable(only)}"; a file of lists has two, the user '
            f"and the items{hint}"
        )
    return frame


def _texts(ids: pl.Series) -> pl.Series:
    """Return whole numbers as text, which ids are."""
    if ids.dtype.is_integer():
        return ids.cast(pl.String)
    if isinstance(ids.dtype, pl.List) and ids.dtype.inner.is_integer():
        return ids.cast(pl.List(pl.String))
    return ids


def _again(users: pl.Series) -> bool:
    """Return whether a user stands in several rows."""
    return users.n_unique() < len(users)


def _split(lists: pl.Series, between: str) -> pl.Series:
    """Return the items of each list."""
    if between == " ":
        return lists.str.extract_all(r"\S+")
    items = lists.str.split(between)
    return items.list.eval(pl.element().str.strip_chars()).list.eval(
        pl.element().filter(pl.element() != "")
    )


def _between(
    path: Path, frame: pl.DataFrame, user: str, item: str, named: str | None
) -> str | None:
    """Return what stands between true items; None where a row holds one, whatever its id holds."""
    texts = frame[item]
    if texts.dtype != pl.String:
        return None
    separators = Separators.of_column(texts)
    if named in separators.held or not separators.held:
        return named or " "
    between = separators.plain or " "
    # A host's solution, with leaderboards, has a list for each user.
    are_lists = "Usage" in frame.columns or has_role(item, ("list",))
    if named is not None:
        return between if are_lists else None
    if are_lists or _are_ids(_split(texts, between)):
        if separators.plain is None and separators.only not in (" ", None):
            raise _unclear(path, texts, item, separators.only)
        return between
    if _again(frame[user]) or column_of("item", [item]):
        return None
    raise _unclear(path, texts, item, next(iter(separators.held)))


def _are_ids(lists: pl.Series) -> bool:
    """Return whether parts of texts look like ids: with digits, or of one length; words do not."""
    parts = lists.explode().drop_nulls()
    with_digit = int(parts.str.contains(r"\d").sum())
    return parts.str.len_chars().n_unique() == 1 or with_digit > _MOST * len(parts)


_MOST = 0.9
"""Of the parts of true items have a digit, where these are lists of ids."""


def _unclear(path: Path, texts: pl.Series, item: str, between: str) -> DataError:
    """Return what to say of true items that may be ids or lists."""
    first = texts.filter(texts.str.contains(between, literal=True))[0]
    free = [name for name in NAMES if not texts.str.contains(name, literal=True).any()]
    other = free[0] if free else "|"
    return DataError(
        f'{path}: column "{item}": found "{printable(first)}" among the true items: is it one '
        f"id, or several ids with {NAMES[between]} between them? several: --separator "
        f"'{between}'; one: --separator '{other}', a character that no id has (Python: "
        "separator=)"
    )


def _are_several(texts: pl.Series, between: str) -> pl.Series:
    """Return whether each text holds several items."""
    return _split(texts, between).list.len().fill_null(0) > 1


def _listed(path: Path, frame: pl.DataFrame, user: str, item: str, between: str) -> pl.DataFrame:
    """Return the frame with texts of many items split, where every user has one row."""
    if frame[item].dtype.is_nested() and _again(frame[user]):
        again = frame[user].filter(frame[user].is_duplicated())[0]
        raise DataError(
            f'{path}: column "{user}": user {again} has two rows with a list; write one row'
        )
    if frame[item].dtype != pl.String:
        return frame
    if not _again(frame[user]):
        return frame.with_columns(_split(frame[item], between))
    several = _are_several(frame[item], between)
    if several.any():
        again = frame[user].filter(frame[user].is_duplicated())[0]
        raise DataError(
            f'{path}: column "{user}": user {again} has two rows, and user '
            f"{frame[user].filter(several)[0]} has a list in one row; use one row per user, or "
            "one row per item (for true items, --separator ';' or another character that no id "
            "has means one row per item)"
        )
    return frame


def _numbers(path: Path, column: pl.Series, place: Callable[[int], str]) -> pl.Series:
    """Return ranks or scores as numbers."""
    if column.dtype == pl.Boolean:
        return column.cast(pl.Int64)
    if column.dtype != pl.String:
        return column
    text = column.str.strip_chars().replace(BOOLEANS)
    numbers = text.cast(pl.Int64, strict=False)
    if numbers.null_count() > column.null_count():
        numbers = text.cast(pl.Float64, strict=False)
    wrong = numbers.is_null() & column.is_not_null()
    if wrong.any():
        row = int(wrong.arg_true()[0])
        raise DataError(
            f'{path}: column "{column.name}", {place(row)}: found "{column[row]}", expected a '
            "number; write one, or drop the row"
        )
    return numbers


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
