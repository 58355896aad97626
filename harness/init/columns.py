"""What the columns of a log of unknown shape mean: by their names, and by their first values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from harness.core.column_names import column_of, has_role, plain
from harness.core.errors import UsageError, printable
from harness.data import times
from harness.data.conditions import as_number
from harness.data.oddities import HITS
from harness.data.source import Source

_STEPS = (
    "view views viewed viewitem pageview pageviews pv productview detail click clicks clicked "
    "browse visit visits ansicht klick",
    "fav favorite favorites favourite favourites wishlist addtowishlist collect bookmark",
    "cart carts addtocart addcart cartadd basket addtobasket warenkorb",
    "checkout begincheckout initiatecheckout startcheckout",
    "transaction transactions purchase purchases purchased buy buys bought order orders ordered "
    "sale sales sold payment paid conversion kauf käufe bestellung",
)
"""What the steps of a funnel are called, in the same letters; the last is a sale."""
_NEVER = (
    "impression impressions show shown exposure exposures skip skips skipped dismiss dismissed "
    "hide hidden bounce dislike dislikes disliked thumbsdown downvote downvotes notinterested "
    "unlike unlikes unfavorite unfavourite remove removed removefromcart removedfromcart "
    "removefromwishlist removefrombasket refund refunds refunded return returns returned cancel "
    "canceled cancelled cancellation cancellations chargeback retoure retouren storno stornierung"
)
"""What happens to items that nobody took, or gave back, in the same letters: no truth."""
_CODES = {
    "behaviortype": "1234",  # Alibaba: browse, collect, cart, buy
    "behaviourtype": "1234",
    "actiontype": "0312",  # Tmall: click, favourite, cart, purchase
    "purchaseflg": "01",  # Ponpare
    "purchaseflag": "01",
}
"""The steps of columns of codes."""
_DATUM = re.compile(
    r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\d{1,4}([-./])\d{1,2}\1\d{1,4}(?:[ T].*)?"
)
"""A number or a date, which no column is called."""
_DATE = r"^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}"
_ROWS, _MANY_ROWS = 1_000, 100_000
"""Rows that are looked at, and rows where these leave something open."""
_MOST = 0.9
"""The share of times that must fit, and of rows that have an event type."""
MOST_TYPES = 20
"""Event types of a column of them."""
_UNITS = (("epoch_s", 1e8, 1e11), ("epoch_ms", 1e11, 1e14), ("epoch_us", 1e14, 1e17))
"""Numbers since 1970 by their size: of the years from 1973 on."""


@dataclass
class Draft:
    """A config in the making.

    `data` has the keys of ``[data]``, at first those that you name; `comments` stand beside them.
    `lines` say what was guessed. `types` are the event types, most first; `hits` those that are
    truth, where not all are. `value` is a column that may be meant as a value an event.
    """

    data: dict[str, Any]
    lines: list[str] = field(default_factory=list)
    comments: dict[str, str] = field(default_factory=dict)
    types: list[str] = field(default_factory=list)
    hits: list[str] = field(default_factory=list)
    about_hits: str = ""
    value: str | None = None

    def leave_out(self, column: str, kept: dict[str, Any], rows: str) -> None:
        """Add a condition to ``where``; `rows` are those that it leaves out."""
        self.data.setdefault("where", {}).setdefault(column, {}).update(kept)
        before = self.comments.get("where")
        self.comments["where"] = f"{before}; {rows}" if before else f"leaves out {rows}"
        self.lines.append(f"where      {rows}: left out")


_ROLES = ("user", "item", "time")


def guess_columns(source: Source, draft: Draft) -> None:
    """Add what the columns of a log mean to a draft; columns that it names already stay."""
    data, names = draft.data, source.names
    _require_header(source, data)
    for role in _ROLES:
        rest = [name for name in names if name not in map(data.get, _ROLES)]
        column = data.get(role) or column_of(role, rest)
        if column is None and role == "time":
            column = next((name for name in rest if _is_date(source, name)), None)
        if column is not None:
            data[role] = column
    for name in map(data.get, _ROLES):
        if name is not None and name not in names:
            has = names_of(names)
            raise UsageError(f'{source.shown}: has no column "{printable(name)}"; it has {has}')
    missing = [role for role in _ROLES if role not in data]
    if missing:
        untimed = '; for events without times, see split "given" in docs/config.md'
        raise UsageError(
            f"{source.shown}: no column looks like the {' or the '.join(missing)}; of "
            f"{names_of(names)} name {'one' if len(missing) == 1 else 'them'} with "
            f"{' '.join(f'--{role}-column' for role in missing)}"
            f"{untimed if 'time' in missing else ''}"
        )
    is_session = plain(data["user"]).startswith(("session", "sid"))
    session = ": each session counts as a user" if is_session else ""
    draft.lines.append(f"user       column {printable(data['user'])}{session}")
    draft.lines.append(f"item       column {printable(data['item'])}")
    rest = [name for name in names if name not in map(data.get, _ROLES)]
    _guess_time(source, rest, draft)
    _guess_types(source, rest, draft)
    _leave_out_returns(source, rest, draft)


def names_of(names: Iterable[str]) -> str:
    """Return names as a message shows them."""
    return ", ".join(map(printable, names))


def list_columns(source: Source, draft: Draft) -> list[str]:
    """Return the columns of lists whose elements are to be rows, where others are no log.

    Examples are the events of a session in JSON lines, and a user's items and times in Parquet.
    """
    lists = [name for name, kind in source.kinds.items() if isinstance(kind, pl.List)]
    single = [name for name in source.names if name not in lists]
    columns = [draft.data.get(role) or column_of(role, single) for role in _ROLES]
    return [] if all(column in single for column in columns) else lists


def _require_header(source: Source, data: dict[str, Any]) -> None:
    """Raise UsageError where line 1 is no header."""
    names = source.names
    if "header" in data or source.kinds:
        return
    if names[0].lstrip().startswith(("{", "[")):
        raise UsageError(
            f"{source.shown}: line 1 looks like JSON; name a file of JSON lines .jsonl"
        )
    if any(map(_DATUM.fullmatch, names)) or all(re.search(r"\d", name) for name in names):
        usual = ["user", "item", "time", *(f"column{n}" for n in range(4, len(names) + 1))]
        raise UsageError(
            f"{source.shown}: line 1 looks like data, not like a header ({names_of(names[:5])}); "
            "name its columns in the order of these values, such as --header "
            f"{','.join(usual[: len(names)])}"
        )


def _texts(source: Source, column: str, rows: int = _ROWS) -> pl.Series:
    texts = source.first(column, rows).cast(pl.String).alias(column)
    return texts.filter(texts != "")


def _is_typed(source: Source, column: str) -> bool:
    return column in source.kinds and source.kinds[column].is_temporal()


def _is_date(source: Source, column: str) -> bool:
    """Return whether first values look like dates, in whatever way they are written."""
    texts = _texts(source, column)
    return _is_typed(source, column) or int(texts.str.contains(_DATE).sum()) > _MOST * len(texts)


def _guess_time(source: Source, rest: Sequence[str], draft: Draft) -> None:
    """Say how times are written; refuse what is not understood, or may be read in two ways."""
    time = draft.data["time"]
    other_times = names_of(name for name in rest if _is_date(source, name))
    also = f"; {other_times} may also be times: --time-column" if other_times else ""
    line, where = f"time       column {printable(time)}", f'{source.shown}: column "{time}": '
    if _is_typed(source, time):
        draft.lines.append(f"{line}: a date or time{also}")
        return
    texts = _texts(source, time)
    if texts.is_empty():
        raise UsageError(
            f"{where}no time in its first rows; name another column with --time-column, or "
            "another file"
        )
    known = draft.data.get("time_format")
    formats = [known] if known else _formats(texts)
    if len(formats) > 1:
        formats = _formats(_texts(source, time, _MANY_ROWS))
    sample = f'"{printable(texts[0])}"'
    if not formats:
        raise UsageError(
            f"{where}times such as {sample} have an unknown format; name it with --time-format "
            '"%d.%m.%Y" (or iso, epoch_s, epoch_ms, epoch_us), or name another column with '
            "--time-column"
        )
    if len(formats) > 1:
        ways = " or ".join(f'--time-format "{name}"' for name in formats)
        raise UsageError(
            f"{where}times such as {sample} can be read in {len(formats)} ways, and no row "
            f"decides which is right; choose one: {ways}"
        )
    if formats[0] != "iso":
        draft.data["time_format"] = formats[0]
    draft.lines.append(f"{line}: {formats[0]}, such as {sample}{also}")


def _formats(texts: pl.Series) -> list[str]:
    """Return the ways of writing times that most texts fit; of ways that read alike the first."""
    iso = next(filter(None, (times.pattern_of("iso", text) for text in texts)), None)
    ways: list[tuple[str, str | None]] = [("iso", iso)] if iso is not None else []
    ways += [(name, name) for name in times.PATTERNS]
    number = texts.cast(pl.Float64, strict=False).median()
    if isinstance(number, float):
        ways += [(unit, None) for unit, low, high in _UNITS if low <= number < high]
    read = dict[str, pl.Series]()
    for name, pattern in ways:
        column = texts.to_frame().select(times.from_text(texts.name, name, pattern)).to_series()
        if name in times.EPOCH_UNITS_US and read:
            break  # 20200115103000 is a date
        if len(texts) - column.null_count() > _MOST * len(texts):
            read[name] = column
    fewest = min((column.null_count() for column in read.values()), default=0)
    best = [name for name, column in read.items() if column.null_count() == fewest]
    return [
        name
        for place, name in enumerate(best)
        if not any(read[name].equals(read[other]) for other in best[:place])
    ]


def _guess_types(source: Source, rest: Sequence[str], draft: Draft) -> None:
    kind, value = column_of("kind", rest), column_of("value", rest)
    if kind is not None:
        texts, rows = _texts(source, kind), len(source.first(kind, _ROWS))
        types = texts.value_counts(sort=True)[kind].to_list()
        if 0 < len(types) <= MOST_TYPES and len(texts) >= _MOST * rows:
            draft.data["kind"], draft.types = kind, types
    if value is not None and _numbers(source, value) is not None:
        draft.value = value
        draft.lines.append(
            f"value      column {printable(value)} may be a value; init does not use it"
        )


def _numbers(source: Source, column: str) -> pl.Series | None:
    """Return the first numbers of a column, None where other texts are among them."""
    texts = _texts(source, column, _MANY_ROWS)
    numbers = texts.to_frame("text").select(as_number(pl.col("text"), is_text=True)).to_series()
    return None if numbers.has_nulls() else numbers.drop_nans()


def _leave_out_returns(source: Source, rest: Sequence[str], draft: Draft) -> None:
    """Leave out rows that a column says to be no hits: below 0, as returns, or 0 of 0 and 1."""
    # Of several such columns none is chosen: a run notes each.
    grades = [
        name for name in rest if has_role(name, ("grade",)) and name != draft.data.get("kind")
    ]
    numbers = {name: _numbers(source, name) for name in grades}
    values = {name: set(column) for name, column in numbers.items() if column is not None}
    columns = [name for name, each in values.items() if each == {0, 1} or min(each, default=0) < 0]
    if len(columns) == 1:
        draft.leave_out(columns[0], HITS, f"rows with {printable(columns[0])} of 0 or less")


def funnel_of(column: str, types: Sequence[str]) -> list[list[str]]:
    """Return the event types of each step of a funnel, a sale last; none where it has one step.

    Types that are no step are left out.

    Examples
    --------
    >>> funnel_of("event", ["view", "purchase", "remove_from_cart", "cart"])
    [['view'], [], ['cart'], [], ['purchase']]
    >>> funnel_of("behavior_type", ["1", "4", "3"]), funnel_of("event", ["play", "view"])
    ([['1'], [], ['3'], ['4']], [])
    """
    steps = [names.split() for names in _STEPS]
    codes = _CODES.get(plain(column), "")
    if set(types) <= set(codes):
        steps = [[code] for code in codes]
    funnel = [[name for name in types if plain(name) in step] for step in steps]
    return funnel if sum(map(bool, funnel)) > 1 else []


def is_never_truth(event_type: str) -> bool:
    """Return whether events of a type say that nobody wanted, or kept, an item.

    Examples
    --------
    >>> [is_never_truth(name) for name in ("remove_from_cart", "Refund", "purchase")]
    [True, True, False]
    """
    return plain(event_type) in _NEVER.split()
