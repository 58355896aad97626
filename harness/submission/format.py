"""What a submission looks like: columns, one row a list or an item, what stands between items."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_lowercase, digits
from typing import TYPE_CHECKING, TypeAlias

from harness.core.column_names import is_index
from harness.submission.columns import users_and_items

if TYPE_CHECKING:
    import polars as pl

    from harness.config import SubmissionConfig

Cells: TypeAlias = Callable[[str, int | None], Sequence[str]]
"""Takes a column, and returns so many of its first cells, or all."""
_FIRST = 1000
"""So many rows show whether ids are those of a competition that has telling ones."""
NAMES: Mapping[str, str] = {" ": "one space", ",": "a comma", ";": "a semicolon", "|": "a bar"}
_DRESS = re.compile(r"[\[\](){}'\"]")


@dataclass(frozen=True)
class Separators:
    """What lists hold of `NAMES`: how many hold each that any holds, of so many with an item.

    `dressed`: whether any list has brackets or quotes.
    """

    held: Mapping[str, int]
    dressed: bool
    filled: int

    @classmethod
    def of(cls, lists: Iterable[str]) -> Separators:
        """Return what some lists hold.

        >>> Separators.of(["a,b", "c,a", "b"]).plain
        ','
        >>> Separators.of(["a, b", "c"]).plain is None
        True
        """
        texts = [text.strip() for text in lists]
        counts = {separator: sum(separator in text for text in texts) for separator in NAMES}
        dressed = any(_DRESS.search(text) for text in texts)
        return cls({s: n for s, n in counts.items() if n > 0}, dressed, sum(map(bool, texts)))

    @classmethod
    def of_column(cls, lists: pl.Series) -> Separators:
        """Return the same of a column of any length, null where there is no item."""
        texts = lists.drop_nulls().str.strip_chars()
        counts = {s: int(texts.str.contains(s, literal=True).sum()) for s in NAMES}
        dressed = bool(texts.str.contains(_DRESS.pattern).any())
        return cls({s: n for s, n in counts.items() if n > 0}, dressed, int((texts != "").sum()))

    @property
    def only(self) -> str | None:
        """The only one that any list holds; lists in brackets or quotes have none."""
        return next(iter(self.held)) if len(self.held) == 1 and not self.dressed else None

    @property
    def plain(self) -> str | None:
        """What plainly stands between items: the only one, and most lists hold it.

        Fewer would leave open whether it is a part of ids.
        """
        return self.only if 2 * sum(self.held.values()) >= self.filled else None


def width_of(lists: Iterable[str]) -> int:
    """Return how many digits each item of some lists has; 0 where none begins with a zero.

    >>> width_of(["0012 1234", "0007"]), width_of(["12 34"]), width_of(["007 12"]), width_of(["0"])
    (4, 0, 0, 0)
    """
    items = {item for text in lists for item in re.split(r"[\s,;|]+", text.strip())}
    widths = {len(item) if re.fullmatch("[0-9]{2,}", item) else 0 for item in items - {""}}
    return widths.pop() if len(widths) == 1 and any(item[:1] == "0" for item in items) else 0


SCORES = ("rating", "relevance")
"""Columns of scores by other names, where a row holds an item and nothing prescribes columns."""


def shaped(wanted: Format, columns: Sequence[str], named: Named) -> Format:
    """Return the format with the order of its items, where the header has a column for it.

    Such a file has a row an item. Its items stand in the format's column, or else in the only one
    that is left.
    """
    free = [name for name in columns if name not in (wanted.user, wanted.items)]
    plain = {name.strip().casefold(): name for name in free}
    order = next((order for order in ("rank", "score") if order in plain), None)
    if named.order:
        order = "rank" if named.rank else "score"
    column = named.order or (order and plain[order])
    if named.row_order or order is None or column is None:
        return replace(wanted, items=_items(wanted, columns)) if named.row_order else wanted
    return replace(
        wanted,
        items=_items(wanted, columns, column),
        order=named.order or order,
        descending=order == "score",
        long=True,
    )


def scored(wanted: Format, columns: Sequence[str]) -> Format:
    """Return the format of rows of one item with scores by another name, if the header has any."""
    plain = {column.strip().casefold(): column.strip() for column in columns}
    name = next((plain[name] for name in SCORES if name in plain), None)
    if name is None or name in (wanted.user, wanted.items):
        return wanted
    return replace(wanted, order=name, descending=True, long=True)


def _items(wanted: Format, columns: Sequence[str], order: str | None = None) -> str:
    """Return the column of items: the format's, or else the only one that is left."""
    free = [c for c in columns if c not in (wanted.user, order) and not is_index(c)]
    if wanted.items in free:
        return wanted.items
    likely = [c for c in free if c.strip().casefold() != "usage"]
    return likely[0].strip() if len(likely) == 1 else wanted.items


_HEX = digits + "abcdef"
_LONGEST_NUMBER = 10
"""Digits of the highest id of a competition, and more."""


@dataclass(frozen=True)
class Format:
    """A file of lists, a row a user or, where it is `long`, a row an item."""

    user: str
    items: str
    k: int | None
    """The longest list; None: lists of any length."""
    metric: str
    source: str
    """What the competition scores by, and which it is."""
    between: str = " "
    width: int = 0
    """How many digits an item id has, where all have as many; else 0."""
    letters: str = ""
    length: int = 0
    """The letters that a user's id is written with, and how many it has; nothing and 0 where
    anything goes."""
    catalogue: tuple[str, ...] = ()
    nothing: str = ""
    """All items there are, where the competition says so, and one that says that there is none."""
    kinds: tuple[tuple[str, float], ...] = ()
    """Endings of users' ids, and what each kind of user weighs in the metric."""
    empty: bool = False
    """Whether an empty list is nothing to wonder at."""
    long: bool = False
    order: str = ""
    descending: bool = False
    """The column that orders such items, if any, and whether the highest stands first."""
    averages_everyone: bool = False
    """Whether the competition averages all ids of its sample; else those who have true items."""
    most: tuple[int, int] | None = None
    """The highest id of a user and of an item, where ids are numbers."""
    prescribed: bool = True
    """Whether somebody prescribes the columns; else the file's own header has named them."""

    def fits(self, users: Sequence[str], items: Sequence[str]) -> bool:
        """Return whether ids and lists are written as the competition's are: most of them, or all.

        All where its ids are plain numbers, as anyone's may be.
        """
        tokens = [token for text in items for token in text.split(self.between) if token]
        users_fit = [self._is_user(text) for text in users]
        items_fit = [self._is_item(token) for token in tokens]
        lengths = [len(text.split(self.between)) for text in items]
        short = [length <= (self.k or length) for length in lengths]
        if self.most is None:
            signs = [users_fit, items_fit, short if self.catalogue else []]
            return all(2 * sum(fit) >= len(fit) for fit in signs)
        # Ids that are plain numbers say little: all must fit, and no list be too long.
        return all((*users_fit, *items_fit, *short))

    def _is_user(self, text: str) -> bool:
        text = text.strip().lower() if self.length else text.strip()
        if self.length and len(text) != self.length:
            return False
        if self.kinds and not text.endswith(tuple(ending for ending, _ in self.kinds)):
            return False
        return set(text) <= set(self.letters) and self._is_below(text, 0)

    def _is_item(self, token: str) -> bool:
        if token == self.nothing:
            return True
        if self.catalogue:
            return token in self.catalogue
        return (token.isdecimal() or self.width == 0) and self._is_below(token, 1)

    def _is_below(self, text: str, which: int) -> bool:
        if self.most is None:
            return True
        return text.isdecimal() and len(text) <= _LONGEST_NUMBER and int(text) <= self.most[which]

    def cut_at(self, k: int | None) -> Format:
        """Return the format with another longest list, if one is named."""
        return self if k is None else replace(self, k=k)

    @property
    def columns(self) -> tuple[str, ...]:
        """The header."""
        return (self.user, self.items, self.order) if self.order else (self.user, self.items)


FORMATS: Mapping[str, Format] = {
    "hm": Format(
        "customer_id",
        "prediction",
        12,
        "MAP@12",
        "H&M Personalized Fashion Recommendations, Kaggle 2022",
        width=10,
        letters=_HEX,
        length=64,
    ),
    "ponpare": Format(
        "USER_ID_hash",
        "PURCHASED_COUPONS",
        10,
        "MAP@10",
        "Coupon Purchase Prediction, Kaggle 2015",
        letters=_HEX,
        length=32,
        empty=True,
        averages_everyone=True,
    ),
    "kion": Format(
        "user_id",
        "item_ids",
        10,
        "MAP@10",
        "MTS KION, ODS 2021",
        letters=digits,
        most=(1_097_557, 16_519),
    ),
    "santander": Format(
        "ncodpers",
        "added_products",
        7,
        "MAP@7",
        "Santander Product Recommendation, Kaggle 2016",
        letters=digits,
        empty=True,
        averages_everyone=True,
    ),
    "expedia": Format(
        "id",
        "hotel_cluster",
        5,
        "MAP@5",
        "Expedia Hotel Recommendations, Kaggle 2016",
        letters=digits,
        catalogue=tuple(map(str, range(100))),
    ),
    "outbrain": Format(
        "display_id",
        "ad_id",
        12,
        "MAP@12",
        "Outbrain Click Prediction, Kaggle 2016",
        letters=digits,
    ),
    "eedi": Format(
        "QuestionId_Answer",
        "MisconceptionId",
        25,
        "MAP@25",
        "Eedi Misconceptions, Kaggle 2024",
        letters=digits + "_ABCD",
    ),
    "llm-exam": Format(
        "id",
        "prediction",
        3,
        "MAP@3",
        "LLM Science Exam, Kaggle 2023",
        letters=digits,
        catalogue=tuple("ABCDE"),
    ),
    "instacart": Format(
        "order_id",
        "products",
        None,
        "SetF1",
        "Instacart Market Basket Analysis, Kaggle 2017",
        letters=digits,
        nothing="None",
        most=(3_421_083, 49_688),
    ),
    "otto": Format(
        "session_type",
        "labels",
        20,
        "TotalRecall@20",
        "OTTO Multi-Objective Recommender System, Kaggle 2022",
        letters=digits + "_" + ascii_lowercase,
        kinds=(("_clicks", 0.1), ("_carts", 0.3), ("_orders", 0.6)),
    ),
}
"""The files of competitions; the source of each is the competition's own page of rules."""


def of_competition(columns: Sequence[str], first: Cells) -> Format | None:
    """Return the competition's format that a file has, by its header and its first cells.

    Case and padding of names do not matter. A header alone says little: ``id,prediction`` is
    anyone's.
    """
    spelled = {column.strip().casefold(): column for column in columns}
    for known in FORMATS.values():
        user, items = (spelled.get(column.casefold()) for column in known.columns)
        if user is None or items is None:
            continue
        most = _FIRST if known.most is None else None
        if known.fits(first(user, most), first(items, most)):
            return known
    return None


def generic(user: str, items: str, *, prescribed: bool = True) -> Format:
    """Return the format of a file of anyone's."""
    return Format(user, items, None, "MAP@12", "a file of users and items", prescribed=prescribed)


def of_header(columns: Sequence[str], named: Named | None = None) -> Format:
    """Return the format of a file of anyone's with this header.

    Refused where several columns may hold the users or the items.
    """
    named = named or Named()
    ids = [column for column in columns if column not in (named.rank, named.score)]
    user, items = users_and_items(ids, user=named.user, item=named.item)
    return generic(user, items, prescribed=False)


def as_said(section: SubmissionConfig, wanted: Format) -> Format:
    """Return a format with what a config changes."""
    return replace(
        wanted,
        user=section.user or wanted.user,
        items=section.items or wanted.items,
        width=section.item_digits or wanted.width,
    )


@dataclass(frozen=True)
class Named:
    """What the columns are called, where they are not to be found by themselves.

    `row_order`: the rows of a user stand in order, the best first, whatever columns there are. The
    solution has grades, and users and items if they are called otherwise there.
    """

    user: str | None = None
    item: str | None = None
    rank: str | None = None
    score: str | None = None
    row_order: bool = field(default=False, kw_only=True)
    truth_user: str | None = field(default=None, kw_only=True)
    truth_item: str | None = field(default=None, kw_only=True)
    grade: str | None = field(default=None, kw_only=True)

    @property
    def order(self) -> str | None:
        """The column of ranks or scores."""
        return self.rank or self.score

    @property
    def columns(self) -> dict[str, str]:
        """The columns that are named, by what they hold."""
        columns = {"user": self.user, "item": self.item, "rank": self.rank, "score": self.score}
        return {meaning: column for meaning, column in columns.items() if column}


@dataclass(frozen=True)
class TrueColumns:
    """What the columns of true items are called, where they are not to be found by themselves.

    Items of grade 0 are not true. `NO_GRADE`: no column holds grades.
    """

    user: str | None = None
    item: str | None = None
    grade: str | None = None


NO_GRADE = "none"
