"""What a submission is checked against: ids that must be there, items that may, a solution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress, islice
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core import cache
from harness.core.arrays import Int64
from harness.core.errors import DataError, UsageError, counted, printable, suggest
from harness.core.io import exists
from harness.delimited import blocks
from harness.delimited.blocks import Block, Blocks, Reader
from harness.delimited.stream import Refused, is_parquet, opened
from harness.submission import header
from harness.submission.columns import item_column
from harness.submission.format import (
    Cells,
    Format,
    Named,
    Separators,
    of_competition,
    of_header,
    scored,
    shaped,
    width_of,
)
from harness.submission.keys import Known, Learning, nothing
from harness.submission.rules import OF_FAULT, RULES

if TYPE_CHECKING:
    import polars as pl

    from harness.protocol.truth import Solution

KEPT = "ids 5"
"""Changed whenever ids would be read or kept differently."""
_FIRST = 1000
"""So many lists of a sample tell what stands between items."""
_TELLING = 20
"""So many numbers tell that no id is anything else."""


@dataclass(frozen=True, eq=False)
class Against:
    """What is known beforehand: who must be there, what items there are, what the file looks like.

    Attributes
    ----------
    users : Known
        The first `required` must have a row. Where they are complete, there are no others.
    format : Format, optional
        Told by the file's own header where it is not known.
    k : int, optional
        The longest list, if not the format's.
    ids, user : Path and str, optional
        The file that asks for users, and its column of them; the first by default.
    long : bool
        Whether a row holds one item, though no column orders them.
    between, between_as : str
        What stands between items, if not what the format says, and who says so: ``as in
        sample.csv``.
    zeros : str
        Which ids of the config's table of items lost their leading zeros.
    guess : bool
        Whether nobody says what the file is: its header and first rows may show a competition's.
    allowed : int
        Lists of so many items are not too long, whatever the format says.
    true_columns, doubts, words, alike
        As in a `Solution`; words without those that are known items.
    """

    users: Known = field(default_factory=nothing)
    items: Known = field(default_factory=nothing)
    format: Format | None = None
    k: int | None = None
    ids: Path | None = None
    user: str | None = None
    required: int = 0
    named: Named = field(default_factory=Named)
    long: bool = False
    between: str | None = None
    between_as: str = ""
    zeros: str = ""
    guess: bool = False
    allowed: int = 0
    true_columns: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    words: Mapping[str, int] = field(default_factory=dict)
    alike: tuple[str, ...] = ()

    def asking(self, ids_of: Path, user: str | None = None) -> Against:
        """Return the same where a row is asked for of each user in a column of a file."""
        users = ids(ids_of, user)
        return replace(self, users=users, required=len(users), ids=ids_of, user=user)

    def scored_by(self, solution: Solution) -> Against:
        """Return the same where a solution's users and items are known too.

        No row is asked for of users that only the solution has.
        """
        items = self.items.more(solution.items)
        # Others are expected to look like those that are known.
        if not items.complete and not items.exact:
            zeros = bool(solution.items.str.starts_with("0").any())
            # Ids are numbers of so many digits only where zeros stand in front of some.
            fixed = items.digits and items.width > 0 and zeros
            telling = fixed or len(items) >= _TELLING
            items = replace(items, width=items.width if fixed else 0, telling=telling)
        users = self.users.more(solution.known_users)
        words = {word: n for word, n in solution.words.items() if not self.items.has([word])[0]}
        return replace(
            self.separated(solution.between, "as in the solution"),
            users=users,
            items=items,
            true_columns=solution.columns,
            doubts=solution.doubts,
            words=words,
            alike=() if self.items.exact else solution.alike,
        )

    def odd_in_solution(self, nothing: str = "") -> dict[str, list[str]]:
        """Return what is odd about the solution, by the code of its rule.

        `nothing` is an item that says that there is none, as in a `Format`.
        """
        words = [
            f'"{word}" ({counted(users, "user")})'
            for word, users in self.words.items()
            if word != nothing
        ]
        return {"SUB321": list(self.doubts), "SUB322": words, "SUB323": list(self.alike)}

    def exactly(self) -> Against:
        """Return the same where an id that is not known is another one, however alike."""
        return replace(self, users=self.users.exactly, items=self.items.exactly)

    def separated(self, between: str | None, as_: str = "") -> Against:
        """Return the same where it is known what stands between items, if it was not before."""
        if between is None or self.between is not None:
            return self
        return replace(self, between=between, between_as=as_)

    def items_of(self, wanted: Format) -> Known:
        """Return the items; where others may be, of the shape that the format asks for."""
        items = self.items
        if len(items) == 0 and wanted.catalogue:
            items = replace(items.more(wanted.catalogue), complete=True)
        if wanted.nothing:
            items = replace(items.more([wanted.nothing]), digits=items.digits)
        if items.complete or items.exact or wanted.width == 0 or len(self.items) > 0:
            return items  # those of a solution have told what items look like
        return replace(items, digits=True, width=wanted.width)

    def cut_at(self, k: int | None) -> Against:
        """Return the same with another longest list, if one is named; UsageError below 1."""
        if k is not None and (not isinstance(k, int) or k < 1):
            raise UsageError(f"k is {k}; expected 1 or more")
        return self if k is None else replace(self, k=k)

    def wanted(self, header: Sequence[str], first: Cells) -> Format:
        """Return the format of a file with this header; `first` returns a column's first cells.

        Refused where several columns may hold the users or the items, UsageError where one is named
        for both.
        """
        named, wanted = self.named, self.format
        if wanted is None and self.guess:
            with suppress(DataError):  # what cannot be read is found again, and told
                wanted = of_competition(header, first)
        if wanted is None:
            try:
                wanted = of_header(header, named)
            except Refused as error:
                ids = list(compress(header, self.users.has(header)))
                raise (Refused("header", ids[0]) if ids else error) from None
        wanted = replace(wanted, between=self.between or wanted.between)
        if len(self.users) > 0:  # they tell what ids look like
            wanted = replace(wanted, letters="", length=0)
        user, items = named.user or wanted.user, named.item or wanted.items
        if user == items:
            raise UsageError(
                f'column "{user}" cannot have both the users and the items; name two columns: '
                "--user-column, --item-column"
            )
        wanted = shaped(replace(wanted, user=user, items=items), header, named).cut_at(self.k)
        if wanted.order in (wanted.user, wanted.items):
            raise UsageError(
                f'column "{wanted.order}" cannot have both ids and their order; name another'
            )
        self._refuse_other_roles(wanted.user, wanted.items)
        if wanted.k is not None:
            wanted = wanted.cut_at(max(wanted.k, self.allowed))
        if self.long and not (wanted.order or wanted.prescribed or self.in_row_order):
            wanted = scored(wanted, header)
        return replace(wanted, long=wanted.long or self.long)

    def _refuse_other_roles(self, user: str, items: str) -> None:
        """Raise UsageError where a column of the lists holds something else in the solution."""
        true_user, true_item, *further = self.true_columns or (user, items)
        named = self.named
        for column, true, option, choice in (
            (user, true_user, "user", named.truth_user),
            (items, true_item, "item", named.truth_item),
        ):
            if choice is None and column != true and column in further:
                raise UsageError(
                    f'column "{column}" holds the {option}s of the lists, and "{true}" those of '
                    f'the solution, which has a column "{column}", too; choose: '
                    f"--truth-{option}-column {column}, or name the others with --user-column "
                    "and --item-column"
                )

    @property
    def may_be_long(self) -> bool:
        """Whether users may stand in several rows, though no column orders their items."""
        anyones = self.format is None and self.ids is None
        return (anyones or self.in_row_order) and not self.long

    @property
    def in_row_order(self) -> bool:
        """Whether a person has said that the rows of a user stand in order."""
        return self.named.row_order


def of_tables(sample: Path | None = None, items: Path | None = None) -> Against:
    """Return what a sample submission asks for, and a table of items allows.

    Items are in the column that is called as ids of items are, else in the first.
    """
    known = nothing() if items is None else ids(items, item_column(columns(items)))
    return with_sample(Against(items=known), sample)


def with_sample(
    against: Against, sample: Path | None, separator: str | None = None, as_: str = ""
) -> Against:
    """Return the same where a sample submission, if there is one, asks for a row for each id.

    A `separator` that is named goes before what stands between the items of the sample; `as_` says
    who named it. The format is the sample's where it is not known.
    """
    against = against.separated(separator, as_)
    if sample is None:
        return against
    wanted, head = against.format or of_sample(sample), columns(sample)
    lists = _first_lists(sample, wanted, head)
    against = against.separated(Separators.of(lists).plain, f"as in {sample.name}")
    return replace(against, format=wanted).asking(sample, spelt(wanted.user, head))


def of_sample(sample: Path) -> Format:
    """Return the format of a sample submission: a competition's, or what header and lists say."""
    head = columns(sample)
    known = of_competition(head, partial(first_cells, sample))
    if known is not None:
        return known
    with _readable(sample):
        wanted = of_header(head)
    lists = _first_lists(sample, wanted, head)
    return replace(wanted, prescribed=True, width=width_of(lists))


def first_cells(file: Path | pl.DataFrame, column: str, most: int | None = _FIRST) -> list[str]:
    """Return the first cells of a column that hold anything, or all for None."""
    if not isinstance(file, Path):
        import polars as pl  # slow to import

        texts = file[column].drop_nulls().head(len(file) if most is None else most)
        is_text = not (texts.dtype.is_nested() or texts.dtype == pl.Binary)
        return texts.cast(pl.String).to_list() if is_text else []
    cells = (text for texts in texts_of(file, column) for text in texts)
    return [text.decode("utf-8", "replace") for text in islice(cells, most)]


def _first_lists(sample: Path, wanted: Format, head: Sequence[str]) -> list[str]:
    """Return the first lists of a sample; none where it has no column of them as text."""
    column = spelt(wanted.items, head)
    if column is None:
        return []
    if is_parquet(sample):  # in it a column may be lists, or anything
        from harness.submission.frame_rows import is_text, parquet  # they take Polars

        with parquet(sample) as frame:
            if not is_text(frame.collect_schema()[column]):
                return []
    return first_cells(sample, column)


def spelt(name: str, head: Sequence[str]) -> str | None:
    """Return how a header spells a column, None where it has none."""
    by_name = {column.strip().casefold(): column for column in head}
    return by_name.get(name.casefold())


def columns(path: Path) -> tuple[str, ...]:
    """Return the header of a file."""
    with _opened(path) as (names, _):
        return names


def ids(path: Path, column: str | None = None, *, kept_from: int = 1 << 22) -> Known:
    """Return the ids of a column of a file, the first by default, as all that there are.

    Those of a file of at least `kept_from` bytes are kept for the next command.
    """
    large = exists(path) and path.is_file() and path.stat().st_size >= kept_from
    entry = cache.entry((KEPT, str(path.resolve()), column), [path]) if large else None
    texts = partial(texts_of, path, column)
    kept = None if entry is None else entry.read(Known.read)
    if kept is not None:
        return replace(kept, texts=(texts,))
    learning = Learning()
    for block, starts, stops in rows_of(path, [column]):
        learning.add(block.buffer, starts[:, 0], stops[:, 0])
    known = learning.known(complete=True)
    if entry is not None:
        entry.keep(known.write)
    return replace(known, texts=(texts,))


def texts_of(path: Path, column: str | None = None) -> Iterator[list[bytes]]:
    """Yield the ids of a column of a file, the first by default, as they stand, some at a time."""
    for block, starts, stops in rows_of(path, [column]):
        yield block.texts(starts[:, 0], stops[:, 0])


def unreadable(path: Path, error: Refused) -> DataError:
    """Return what to say of a file that is needed, and cannot be read."""
    rule = RULES[OF_FAULT[error.fault]]
    where = "" if error.line is None else f"line {error.line:,}: "
    return DataError(f"{path}: {where}{rule.says.format(value=error.value)}; {rule.hint.format()}")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except Refused as error:
        raise unreadable(path, error) from error


@contextmanager
def _opened(
    path: Path, read: Sequence[str | None] = (None,)
) -> Iterator[tuple[tuple[str, ...], Blocks]]:
    """Open a file that is needed: its header, and what reads columns; None: the first."""
    with _readable(path), ExitStack() as files:
        file = None if is_parquet(path) else files.enter_context(opened(path))
        if file is not None and not file.is_json:
            head = header.read(file.stream)
            _refuse_names(path, head.columns, of_text=True)
            reader = Reader(file.stream, head.separator.encode(), returns=head.returns)
            yield head.columns, reader
            return
        from harness.submission import frame_rows, json_lists  # they take Polars

        if file is None:
            frame = files.enter_context(frame_rows.parquet(path))
            batches, kinds = frame_rows.batches_of(frame), dict(frame.collect_schema())
        else:
            table = json_lists.table(file.stream)
            batches, kinds = table.batches, table.kinds
        names = tuple(kinds)
        _refuse_names(path, names, of_text=file is not None)
        wanted = {column or names[0] for column in read}
        yield names, frame_rows.Rows(batches, kinds, wanted, path.stat().st_size)


def _refuse_names(path: Path, names: Sequence[str], *, of_text: bool) -> None:
    if not names:
        raise DataError(f"{path}: has no columns; write their names in the first line")
    if of_text and not all(map(str.isprintable, names)):
        raise DataError(f"{path}: not a text table: its first line is {printable(names[0])[:60]}")


def rows_of(path: Path, read: Sequence[str | None]) -> Iterator[tuple[Block, Int64, Int64]]:
    """Yield the blocks of a file, and where some columns begin and end in each of their rows.

    Rows without a value in the first of these columns are passed over. None: the first column.
    DataError where the file cannot be read, or has no such column.
    """
    with _opened(path, read) as (names, reader):
        for column in read:
            if column is not None and column not in names:
                raise DataError(f'{path}: no column "{column}"; {suggest(column, names)}')
        places = [0 if column is None else names.index(column) for column in read]
        for block in reader.blocks():
            starts, stops = blocks.spans(block, len(names), places)
            some = starts[:, 0] < stops[:, 0]
            yield block, starts[some], stops[some]
            reader.give_back(block)
