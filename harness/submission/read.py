"""A file of lists or truth, long or wide, in CSV or Parquet, plain or packed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import polars as pl

from harness.core.arrays import Bool
from harness.core.errors import DataError, printable, row_text, suggest
from harness.data import layout
from harness.data.table_files import sources
from harness.data.text_source import TextSource
from harness.metrics.inputs.frame import Table, accept
from harness.submission.format import NAMES, Named, Separators

USAGES = ("Public", "Private", "Ignored")


@dataclass(frozen=True)
class File:
    """A file as a table of lists, and all its columns as they stand.

    Attributes
    ----------
    between : str
        What stands between items, where a list is one text.
    """

    path: Path
    table: Table
    frame: pl.DataFrame
    between: str = " "

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
                        f'{self.path}: column "{printable(name)}": leaderboards are said by a '
                        'column "Usage"; call it so, or drop it'
                    )
            return {}
        user_column = pl.col(self.table.names["user"]).cast(pl.String)
        if self.frame["Usage"].dtype not in (pl.String, pl.Null):
            raise DataError(f'{self.path}: column "Usage" holds no text')
        rows = self.frame.select(user=user_column, usage=pl.col("Usage").cast(pl.String))
        wrong = rows.filter(~pl.col("usage").is_in(USAGES).fill_null(False))
        if len(wrong) > 0:
            user, found = wrong.row(0)
            shown = "an empty value" if found is None else f'"{printable(found)}"'
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
    given: Path | pl.DataFrame,
    named: Named | None = None,
    *,
    true: bool = False,
    between: str | None = None,
) -> File:
    """Return a file or a frame as a table of lists.

    Parameters
    ----------
    true : bool
        Whether it holds true items, which have grades or none, instead of ranks or scores.
    between : str, optional
        What stands between items, where a list is one text; true items are read so where any list
        holds it. By default what is plain of true items, and spaces of others.

    The user column is ``user``, or else the first; the item column ``item``, or else the next. A
    file is long where it has a column ``rank`` or ``score`` or a user stands in several rows;
    otherwise the items of a user are one text.

    Raises
    ------
    DataError
        No such file or column, a row that is not whole, a rank or score that is no number.
    """
    named = named or Named()
    place: Callable[[int], str] = row_text
    if isinstance(given, pl.DataFrame):
        path, frame = Path("solution" if true else "submission"), given
    else:
        path, (frame, place) = given, _frame(given)
    frame = _usable(path, frame)
    user = named.user or ("user" if "user" in frame.columns else frame.columns[0])
    others = [name for name in frame.columns if name not in (user, "Usage")] or [user]
    item = named.item or ("item" if "item" in others else others[0])
    for option, name in (("user", user), ("item", item)):
        if name not in frame.columns:
            raise DataError(
                f'{path}: no column "{name}"; {suggest(name, frame.columns)} (another is named '
                f"with --{option}-column)"
            )
    if item == user:
        raise DataError(
            f'{path}: column "{printable(user)}" holds the users, and no other the items; name the '
            "items' with --item-column"
        )
    frame = frame.with_columns(_texts(frame[user]), _texts(frame[item]))
    orders = {} if named.row_order else {"rank": named.rank, "score": named.score}
    numbers: dict[str, str | None] = {"grade": None} if true else orders
    used = [n for n in numbers.values() if n] or [n for n in numbers if n in others][:1]
    for name in set(used) & set(frame.columns):
        frame = frame.with_columns(_numbers(path, frame[name], place))
    if not used:
        between = _between(path, frame, user, item, between) if true else between or " "
        frame = _listed(path, frame, user, item, between)
    table = replace(accept(frame, str(path), user=user, item=item, numbers=numbers), place=place)
    row_each = frame[item].dtype == pl.String and used and not table.wide
    if row_each and not _again(frame[user]) and _several(frame[item], between or " ").any():
        raise DataError(
            f'{path}: column "{used[0]}" says nothing of the items of the lists in column '
            f'"{item}"; drop it, or give one row an item'
        )
    return File(path, table, frame, between or " ")


def _frame(path: Path) -> tuple[pl.DataFrame, Callable[[int], str]]:
    """Return all columns of all parts of a file, empty fields missing, and how a row is named."""
    parts = []
    for source in sources(layout.Table(path)):
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
    of_text = isinstance(source, TextSource) and len(parts) == 1
    return frame, partial(_line, path) if of_text else row_text


def _line(path: Path, row: int) -> str:
    """Return how messages name a row of a text file: by its first line, read once more."""
    (frame,) = (source.whole() for source in sources(layout.Table(path)))
    ends = pl.all().str.count_matches("\n", literal=True).sum()  # within quotes
    within = sum(frame.head(row).select(ends).row(0)) + "".join(frame.columns).count("\n")
    return f"line {row + 2 + within:,}"


def _usable(path: Path, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame in which empty texts are missing; it has rows, and two columns."""
    if len(frame) == 0:
        raise DataError(f"{path}: there are no rows behind the header")
    frame = frame.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String)).with_columns(
        pl.when(pl.col(pl.String) != "").then(pl.col(pl.String)).name.keep()
    )
    if len(frame.columns) < 2:
        only = frame.columns[0]
        cut = next((s for s in ";\t|" if s in only), None)
        hint = "" if cut is None else f"; fields seem to be apart by {cut!r}: save it with commas"
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


def _between(path: Path, frame: pl.DataFrame, user: str, item: str, named: str | None) -> str:
    """Return what stands between true items."""
    texts = frame[item]
    if texts.dtype != pl.String or named == " " or _again(frame[user]):
        return " "
    separators = Separators.of_column(texts)
    found = named if named in separators.held else separators.plain
    if found is not None or named is not None:
        return found or " "
    odd = separators.only or " "
    if odd == " ":
        return " "
    first = texts.filter(texts.str.contains(odd, literal=True))[0]
    raise DataError(
        f'{path}: column "{item}": found "{printable(first)}" among the true items: one id, or '
        f"several, with {NAMES[odd]} between them? say --separator '{odd}', or "
        "--separator ' ' where ids hold it (Python: separator=)"
    )


def _listed(path: Path, frame: pl.DataFrame, user: str, item: str, between: str) -> pl.DataFrame:
    """Return the frame with texts of many items split, where every user has one row."""
    if frame[item].dtype != pl.String:
        return frame
    if not _again(frame[user]):
        return frame.with_columns(_split(frame[item], between))
    several = frame[user].is_duplicated() & _several(frame[item], between)
    if several.any():
        raise DataError(
            f'{path}: column "{user}": user {frame[user].filter(several)[0]} has two rows, and a '
            "list in one of them; give each user one row, or each item one"
        )
    return frame


def _numbers(path: Path, column: pl.Series, place: Callable[[int], str]) -> pl.Series:
    """Return ranks or scores as numbers."""
    if column.dtype != pl.String:
        return column
    text = column.str.strip_chars()
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
