"""A file of lists or truth, long or wide, in CSV or Parquet, plain or packed."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import polars as pl

from harness.core.arrays import Bool
from harness.core.column_names import column_of, has_role, is_index, plain
from harness.core.errors import DataError, printable, row_text, suggest
from harness.data import layout
from harness.data.conditions import BOOLEANS
from harness.data.table_files import sources
from harness.delimited.stream import Refused, opened
from harness.metrics.inputs.cells import number_text
from harness.metrics.inputs.frame import Table, accept
from harness.metrics.inputs.order import doubtful_grade
from harness.submission import json_lists
from harness.submission.columns import users_and_items
from harness.submission.expected import unreadable
from harness.submission.format import NAMES, NO_GRADE, Named, Separators, TrueColumns

_NONE = pl.Series(dtype=pl.Boolean)
USAGES = ("Public", "Private", "Ignored")


@dataclass(frozen=True)
class File:
    """A file as a table of lists, and all its columns as they stand.

    Attributes
    ----------
    between : str
        What stands between items, where a list is one text.
    negative : int
        Grades below 0, which are read as 0: such items are not true.
    """

    path: Path
    table: Table
    frame: pl.DataFrame
    between: str = " "
    negative: int = 0

    def leaderboards(self, users: pl.Series) -> dict[str, Bool]:
        """Return which of `users` belong to which ``Usage``; empty where the file has none.

        Raises
        ------
        DataError
            A Usage that is none, or a user with two.
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


def read(
    file: Path | pl.DataFrame, named: Named | None = None, *, between: str | None = None
) -> File:
    """Return a file or a frame as a table of lists.

    A file is long where it has a column ``rank`` or ``score`` or a user stands in several rows;
    otherwise the items of a user are one text.

    Parameters
    ----------
    between : str, optional
        What stands between items, where a list is one text; a space by default.

    Raises
    ------
    DataError
        No such file or column, a row that is not whole, a rank or score that is no number.
    """
    named, between = named or Named(), between or " "
    path, frame, place = _rows(file, "submission", named.user, named.item)
    ids = [name for name in frame.columns if name not in (named.rank, named.score)]
    user, item = _ids(path, ids, named.user, named.item)
    orders = {} if named.row_order else {"rank": named.rank, "score": named.score}
    present = [name for name in orders if name in frame.columns and name not in (user, item)]
    used = [name for name in orders.values() if name] or present[:1]
    frame = frame.with_columns(_texts(frame[user]), _texts(frame[item]))
    if not used:
        frame = _listed(path, frame, user, item, between)
    return _file(path, frame, user, item, orders, used, between, place)


def read_truth_file(
    file: Path | pl.DataFrame, columns: TrueColumns, *, between: str | None = None
) -> File:
    """Return a file or a frame of true items as a table, long or wide.

    Parameters
    ----------
    between : str, optional
        What stands between true items, where any list holds it; by default what is plain.

    Raises
    ------
    DataError
        No such file or column, a row that is not whole, a grade that is no number, a column that
        may hold grades.
    """
    path, frame, place = _rows(file, "solution", columns.user, columns.item)
    graded = columns.grade not in (None, NO_GRADE)
    ids = [name for name in frame.columns if not graded or name != columns.grade]
    user, item = _ids(path, ids, columns.user, columns.item, "truth-")
    frame = frame.with_columns(_texts(frame[user]), _texts(frame[item]))
    grade = _grade(path, frame, columns.grade, (user, item))
    if grade is None:
        between = _between(path, frame, user, item, between)
        if between is not None or frame[item].dtype.is_nested():
            frame = _listed(path, frame, user, item, between or " ")
        return _file(path, frame, user, item, {}, [], between or " ", place)
    grades = _numbers(path, frame[grade], place)
    negative = grades.is_finite() & (grades < 0) if grades.dtype.is_numeric() else _NONE
    frame = frame.with_columns(grades.set(negative, 0) if negative.any() else grades)
    table = _file(path, frame, user, item, {"grade": grade}, [grade], " ", place)
    return replace(table, negative=int(negative.sum()))


def _rows(
    file: Path | pl.DataFrame, role: str, user: str | None, item: str | None
) -> tuple[Path, pl.DataFrame, Callable[[int], str]]:
    """Return the name of a table, its rows, and how messages name one of them."""
    if isinstance(file, pl.DataFrame):
        return Path(role), _usable(Path(role), file), row_text
    frame, place = _json(file, user, item, truth=role == "solution") or _frame(file)
    return file, _usable(file, frame), place


def _ids(
    path: Path, columns: Sequence[str], user: str | None, item: str | None, whose: str = ""
) -> tuple[str, str]:
    """Return the columns of users and items; `whose` begins the options that name them."""
    options = f"--{whose}user-column and --{whose}item-column"
    try:
        user, item = users_and_items(columns, user=user, item=item)
    except Refused as error:
        raise DataError(
            f"{path}: several columns may hold the users or the items: {printable(error.value)}; "
            f"name them with {options}"
        ) from error
    spelled = {name.strip(): name for name in reversed(columns)}
    user, item = (name if name in columns else spelled.get(name, name) for name in (user, item))
    for name in (user, item):
        if name not in columns:
            raise DataError(
                f'{path}: no column "{name}"; {suggest(name, columns)} (to use others: {options})'
            )
    return user, item


def _file(
    path: Path,
    frame: pl.DataFrame,
    user: str,
    item: str,
    numbers: Mapping[str, str | None],
    used: Sequence[str],
    between: str,
    place: Callable[[int], str],
) -> File:
    """Return a table; `used` has the column of numbers, if there is one."""
    for name in set(used) & set(frame.columns):
        frame = frame.with_columns(_numbers(path, frame[name], place))
    table = replace(accept(frame, str(path), user=user, item=item, numbers=numbers), place=place)
    row_each = frame[item].dtype == pl.String and used and not table.wide
    if row_each and not _again(frame[user]) and _several(frame[item], between).any():
        raise DataError(
            f'{path}: column "{used[0]}" has one value per row, but column "{item}" has lists; '
            "drop it, or write one row per item"
        )
    return File(path, table, frame, between)


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


def _json(
    path: Path, user: str | None, item: str | None, *, truth: bool
) -> tuple[pl.DataFrame, Callable[[int], str]] | None:
    """Return the same of a file of JSON; None where it is none, or is told by `_frame`."""
    with suppress(Refused), opened(path) as file:
        if not file.is_json:
            return None
        try:
            table = json_lists.table(file.stream, user, item, truth=truth)
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


def _several(texts: pl.Series, between: str) -> pl.Series:
    """Return whether each text holds several items."""
    return _split(texts, between).list.len().fill_null(0) > 1


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
    several = _several(frame[item], between)
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
