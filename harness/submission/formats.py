"""The files that competitions ask for: columns, separators, how long lists are, what is marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase, digits

_HEX = digits + "abcdef"


@dataclass(frozen=True)
class Format:
    """A file of lists, a row a user or a row an item.

    Attributes
    ----------
    user, items : str
        Columns.
    k : int, optional
        The longest list; None: lists of any length.
    metric : str
        What the competition marks.
    between : str
        Between items.
    width : int
        How many digits an item id has, where all have as many; else 0.
    letters, length : str and int
        The letters that a user's id is written with, and how many it has; nothing and 0 where
        anything goes.
    catalogue : tuple of str
        All items there are, where the competition says so.
    nothing : str
        An item that says that there is none.
    kinds : tuple of (str, float)
        Endings of users' ids, and what each kind of user weighs in the metric.
    empty : bool
        Whether an empty list is nothing to wonder at.
    source : str
        The competition.
    long : bool
        Whether a row holds one item of a list.
    averages_everyone : bool
        Whether the competition averages all ids of its sample; else those who have true items.
    order, descending : str and bool
        The column that orders such items, if any, and whether the highest stands first.
    """

    user: str
    items: str
    k: int | None
    metric: str
    source: str
    between: str = " "
    width: int = 0
    letters: str = ""
    length: int = 0
    catalogue: tuple[str, ...] = ()
    nothing: str = ""
    kinds: tuple[tuple[str, float], ...] = ()
    empty: bool = False
    long: bool = False
    order: str = ""
    descending: bool = False
    averages_everyone: bool = False

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
    "kion": Format("user_id", "item_ids", 10, "MAP@10", "MTS KION, ODS 2021", letters=digits),
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


INDEX = ("", "Unnamed: 0", "index", "__index_level_0__")
"""What a column with a frame's index is called."""
_NEITHER = ("usage", "rank", "score")
"""Columns of a file of anyone's that hold neither users nor items."""


def of_competition(columns: Sequence[str]) -> Format | None:
    """Return the competition's format that a header speaks of, whatever its case and padding."""
    plain = {column.strip().casefold() for column in columns}
    for known in FORMATS.values():
        if {column.casefold() for column in known.columns} <= plain:
            return known
    return None


def generic(user: str, items: str) -> Format:
    """Return the format of a file of anyone's."""
    return Format(user, items, None, "MAP@12", "a file of users and items")


def recognised(columns: Sequence[str]) -> Format:
    """Return the format that a header speaks of; any other is that of a generic file.

    There the user is the column ``user``, or else the first, and the list ``item``, or else the
    next.
    """
    known = of_competition(columns)
    if known is not None:
        return known
    plain = [column.strip() for column in columns]
    own = [column for column in plain if column.casefold() not in _NEITHER]
    if len(own) > 2 and own[0] in INDEX and own[0] != "index":
        own = own[1:]
    if len(own) < 2:
        return generic("user", "items")
    user = "user" if "user" in own else own[0]
    others = [column for column in own if column != user] or [user]
    return generic(user, "item" if "item" in others else others[0])
