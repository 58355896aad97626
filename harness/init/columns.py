"""What the columns of a log of unknown shape mean: by their names, and by their first values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from harness.core.column_names import DATA, bare, column_of, has_role, plain
from harness.core.errors import UsageError, printable
from harness.data import times
from harness.data.conditions import as_number, key
from harness.data.source import Source
from harness.data.watched import HITS
from harness.metrics.inputs.cells import number_text

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
_NO_EVENT = re.compile(r"birth|dob|geburt")
"""In the names of columns whose dates are of users."""
_SESSIONS = "session", "sid"
_COMPACT = r"^(?:19|20)\d{6}(?:\d{6})?(?: |$)"
_DATUM = re.compile(
    r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\d{1,4}([-./])\d{1,2}\1\d{1,4}(?:[ T].*)?"
)
"""A number or a date, which no column is called."""
_DATE_LIKE = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}")
_ROWS, _MOST = 1_000, 0.9
"""Rows that are looked at; the share of times that must fit, and of rows that have a type."""
_FEW, _FAR = 20, 10
"""Values of which one is a date where a column holds dates; a span that is so much longer."""
_MANY_ROWS = 100_000
"""Rows in which returns are looked for."""
_SMALL, _MOST_RETURNS = 10, 0.5
"""So many of an item are mostly bought at once; the share of rows below 0 that is no longer few."""
MOST_TYPES = 20
"""Event types of a column of them."""
_LATEST = {"epoch_s": 1e11, "epoch_ms": 1e14, "epoch_us": 1e17}
"""From which numbers on times are hardly in a unit: they would be in the year 5138."""
_EARLIEST = 1e8
"""Seconds until March 1973, before which there are no logs."""


@dataclass(frozen=True)
class Columns:
    """What a person says of a log; the rest is guessed."""

    user: str | None = None
    item: str | None = None
    time: str | None = None
    time_format: str | None = None
    header: tuple[str, ...] | None = None
    separator: str | None = None
    encoding: str | None = None


@dataclass
class Guessed:
    """What was found of a log.

    Attributes
    ----------
    data : dict
        The keys of ``[data]``, but for ``path``.
    told : list of str
        What was guessed, and by what, a line each.
    types : list of str
        The event types of the first rows, most first; then those of the whole log.
    hits : list of str, optional
        Those that are truth, where not all are.
    about_hits : str
        Why, for a person.
    left_out : list of str
        What ``where`` leaves out, for a person.
    value : str, optional
        A column that may be meant as a value an event.
    formats : list of str
        How times may be written, where several ways fit; `data` has the first.
    comments : dict of key to str
        What is said beside a key of ``[data]`` in place of what always is.
    """

    data: dict[str, Any] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    hits: list[str] | None = None
    about_hits: str = ""
    left_out: list[str] = field(default_factory=list)
    value: str | None = None
    formats: list[str] = field(default_factory=list)
    comments: dict[str, str] = field(default_factory=dict)

    def leave_out(self, column: str, kept: dict[str, Any], what: str) -> None:
        """Take in a condition of ``where``, and what it leaves out."""
        self.data.setdefault("where", {}).setdefault(column, {}).update(kept)
        self.left_out.append(what)


def guess(source: Source, said: Columns, found: Guessed) -> None:
    """Find what the columns of a log mean; what a person says goes before.

    Raises
    ------
    UsageError
        It has no column that looks like a user or an item, or its times are not understood.
    """
    names = source.names
    _require_header(source, said)
    roles = ("user", said.user), ("item", said.item), ("time", said.time)
    rest = [name for name in names if name not in (said.user, said.item, said.time)]
    missed = list[str]()
    for role, named in roles:
        column = named or _column(role, rest, source)
        if column is None:
            missed.append(role)
            continue
        if column not in names:
            raise UsageError(
                f'{source.shown}: has no column "{printable(column)}"; it has {_shown(names)}'
            )
        found.data[role] = column
        rest = [name for name in rest if name != column]
    _refuse_missed(source, missed, rest)
    user, item, time = (found.data[role] for role, _ in roles)
    session = ": a session counts as a user" * plain(user).startswith(_SESSIONS)
    found.told.append(f"user       column {printable(user)}{session}")
    found.told.append(f"item       column {printable(item)}")
    _guess_time(source, time, rest, said, found)
    _guess_types(source, rest, found)
    _leave_out_no_hits(source, rest, found)


def lists_of(source: Source, said: Columns) -> list[str]:
    """Return the columns of lists whose elements are to be rows, where others are no log.

    Examples are the events of a session in JSON lines, and a user's items and times in Parquet.
    """
    lists = [name for name, kind in source.kinds.items() if isinstance(kind, pl.List)]
    single = [name for name in source.names if name not in lists]
    named = {"user": said.user, "item": said.item, "time": said.time}
    known = [own in single if own else column_of(role, single) for role, own in named.items()]
    return [] if all(known) else lists


def _require_header(source: Source, said: Columns) -> None:
    """Raise UsageError where line 1 is no header."""
    names = source.names
    if said.header is not None or source.kinds:
        return
    if names[0].lstrip().startswith(("{", "[")):
        raise UsageError(
            f"{source.shown}: line 1 looks like JSON; name a file of JSON lines .jsonl"
        )
    if any(map(_DATUM.fullmatch, names)) or all(re.search(r"\d", name) for name in names):
        raise UsageError(
            f"{source.shown}: line 1 looks like data, not like a header ({_shown(names[:5])}); "
            f"name the columns as they stand there, for example --header {_as_many(names)}"
        )


def _shown(names: Sequence[str]) -> str:
    return ", ".join(map(printable, names))


def _refuse_missed(source: Source, missed: Sequence[str], rest: Sequence[str]) -> None:
    """Raise UsageError where no column looks like what a log needs; all of them are told."""
    if not missed:
        return
    if len(rest) < len(missed):
        raise UsageError(
            f"{source.shown}: has the columns {_shown(source.names)}; a user, an item and a time "
            "are needed (events without times need a split that is given: docs/config.md)"
        )
    what = [f"the {role}'s id" if role != "time" else "a time" for role in missed]
    how = " ".join(f"--{role}-column" for role in missed)
    given = "; events without times need a split that is given: docs/config.md"
    raise UsageError(
        f"{source.shown}: no column looks like {' or '.join(what)}; of {_shown(rest)} name "
        f"{'one' if len(missed) == 1 else 'them'} with {how}{given * ('time' in missed)}"
    )


def _as_many(first: Sequence[str]) -> str:
    """Return names for the fields of a row, as ``--header`` takes them.

    Examples
    --------
    >>> _as_many(["7", "8", "2020-01-02"]), _as_many(["7", "2020-01-02", "8", "3", "x"])
    ('user,item,time', 'user,time,item,rating,column5')
    """
    dates = [n for n, value in enumerate(first) if _DATE_LIKE.match(value)]
    others = ["user", "item", "rating"] if len(first) > 3 else ["user", "item"]
    if not dates:  # as 1709251288, which may be anything
        others.append("time")
    names = [
        "time" if n in dates[:1] else others.pop(0) if others else "" for n in range(len(first))
    ]
    return ",".join(name or f"column{n}" for n, name in enumerate(names, 1))


def _column(role: str, names: Sequence[str], source: Source) -> str | None:
    if role != "time":
        return column_of(role, names)
    dates = [name for name in names if _looks_like_times(source, name)]
    dates.sort(key=lambda name: _NO_EVENT.search(plain(name)) is not None)
    said = column_of(role, [n for n in names if plain(n) != DATA or _holds_times(source, n)])
    columns = ([said] if said else []) + dates
    # A column with one value alone tells no events apart.
    several = [name for name in columns if source.first(name, _ROWS).n_unique() > 1]
    return next(iter([*several, *columns]), None)


def _texts(source: Source, column: str) -> pl.Series:
    return source.first(column, _ROWS).cast(pl.String).drop_nulls()


def _is_typed(source: Source, column: str) -> bool:
    return column in source.kinds and source.kinds[column].is_temporal()


def _looks_like_times(source: Source, column: str) -> bool:
    """Return whether the first values of a column are dates, in whatever way they are written."""
    if _is_typed(source, column):
        return True
    texts = _texts(source, column)
    return any(map(_DATE_LIKE.match, texts.head(_FEW))) and bool(_formats(texts))


def _holds_times(source: Source, column: str) -> bool:
    """Return whether the first values of a column are dates, or numbers of some unit since 1970."""
    if _looks_like_times(source, column):
        return True
    texts = _texts(source, column)
    return len(texts) > 0 and bool(_formats(texts)) and _middle(texts) >= _EARLIEST


def _guess_time(
    source: Source, time: str, rest: Sequence[str], said: Columns, found: Guessed
) -> None:
    by = "" if said.time or column_of("time", [time]) else ", by its values"
    others = [name for name in rest if _looks_like_times(source, name)]
    also = f"; {', '.join(map(printable, others))} may be one, too: --time-column" if others else ""
    label = f"time       column {printable(time)}"
    if _is_typed(source, time):
        found.told.append(f"{label}: a date or time{by}{also}")
        return
    texts = _texts(source, time)
    if texts.is_empty():
        raise UsageError(
            f'{source.shown}: column "{time}": no time in its first rows; name another column with '
            "--time-column, or a file that has events"
        )
    formats = [said.time_format] if said.time_format else _formats(texts)
    _require_times(source, time, texts, formats, said)
    if formats[0] != "iso":
        found.data["time_format"] = formats[0]
    read = times.from_text(time, formats[0], source.pattern(time, formats[0]))
    fitting = texts.to_frame(time).filter(read.is_not_null()).to_series()
    sample = printable(str(fitting[0] if len(fitting) > 0 else texts[0]))
    found.told.append(f'{label}: {formats[0]}, such as "{sample}"{by}{also}')
    found.formats = formats if len(formats) > 1 else []


def _require_times(
    source: Source, time: str, texts: pl.Series, formats: Sequence[str], said: Columns
) -> None:
    """Raise UsageError where a column is not understood, or holds what is hardly a time."""
    where, first = f'{source.shown}: column "{time}": ', f'"{printable(texts[0])}"'
    middle = _middle(texts)
    if not said.time_format and middle >= _LATEST["epoch_us"]:
        raise UsageError(
            f"{where}numbers such as {first} look like nanoseconds since 1970; divide them by "
            "1,000, and they are --time-format epoch_us"
        )
    if not formats:
        raise UsageError(
            f"{where}times such as {first} are not understood; say how they are written: "
            '--time-format "%d.%m.%Y" (or iso, epoch_s, epoch_ms, epoch_us), or name another '
            "column: --time-column"
        )
    if said.time_format or formats[0] not in times.EPOCH_UNITS_US:
        return
    if middle < _EARLIEST:
        day = np.datetime64(int(middle), "s").astype("datetime64[D]")
        raise UsageError(
            f"{where}numbers such as {first} are hardly times: as seconds since 1970 they are of "
            f"{day}; write days since 1899, as Excel counts them, as dates; where they are such "
            "seconds, or only number the events in their order: --time-format epoch_s"
        )


def _middle(texts: pl.Series) -> float:
    return float(texts.cast(pl.Float64, strict=False).median() or 0)  # type: ignore[arg-type]


def _formats(texts: pl.Series) -> list[str]:
    """Return the ways of writing times that most of some texts fit, and none fits more.

    Of ways that read all alike only the first is there. They stand in the order of how close
    together the times then lie, as the events of a log do.
    """
    read = dict[str, pl.Series]()
    for name, pattern in _ways(texts):
        column = texts.to_frame().select(times.from_text(texts.name, name, pattern))
        read[name] = column.to_series().drop_nulls()
    most = max((len(found) for found in read.values()), default=0)
    if most <= _MOST * len(texts):
        return []
    fit = list[str]()
    for name, found in read.items():
        if len(found) == most and not any(found.equals(read[other]) for other in fit):
            fit.append(name)
    spans = {name: int(np.ptp(read[name].to_numpy())) for name in fit}
    fit.sort(key=lambda name: spans[name])
    # Years that are read as days spread a log over decades.
    begin = [name.startswith("%y") for name in fit]
    near = [spans[name] <= _FAR * spans[fit[0]] for name in fit]
    return [name for n, name in enumerate(fit) if begin[n] == begin[0] or near[n]]


def _ways(texts: pl.Series) -> list[tuple[str, str | None]]:
    """Return how times may be written, each with its pattern."""
    iso = next(filter(None, (times.pattern_of("iso", text) for text in texts)), None)
    days = int(texts.str.contains(_COMPACT).sum()) > _MOST * len(texts)
    tried: list[tuple[str, str | None]] = [("iso", iso)] if iso else []
    tried += [(one, one) for one in times.PATTERNS if days or "%Y%m" not in one]
    if days:
        return tried
    middle = _middle(texts)
    return [*tried, (next((u for u, most in _LATEST.items() if middle < most), "epoch_us"), None)]


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
    funnel = [[one for one in types if plain(one) in step] for step in steps]
    return funnel if sum(map(bool, funnel)) > 1 else []


def is_never_truth(event_type: str) -> bool:
    """Return whether events of a type say that nobody wanted, or kept, an item.

    Examples
    --------
    >>> [is_never_truth(name) for name in ("remove_from_cart", "Refund", "purchase")]
    [True, True, False]
    """
    return plain(event_type) in _NEVER.split()


def names_a_step(event_type: str) -> bool:
    """Return whether a type is called as a step of some funnel is."""
    return any(plain(event_type) in names.split() for names in _STEPS)


def _leave_out_no_hits(source: Source, names: Sequence[str], found: Guessed) -> None:
    """Leave out rows that a column says to be no hits: below 0, as returns, or 0 of 0 and 1."""
    flags = list[str]()
    for name in names:
        if name == found.data.get("kind"):
            continue
        if not has_role(name, ("grade",)):
            _note_returns(source, name, found)
            continue
        numbers = _numbers(source, name, _MANY_ROWS)
        if numbers is None:
            continue  # bounds are refused there
        lowest = numbers.min()
        if set(numbers.unique()) == {0, 1}:
            flags.append(name)
        elif isinstance(lowest, float) and lowest < 0:
            why = f"rows with {printable(name)} of 0 or less, such as returns"
            found.leave_out(name, HITS, why)
            found.told.append(f"where      {why} ({number_text(lowest)}), are left out")
    shown = " and ".join(map(printable, flags))
    if len(flags) == 1:
        why = f"rows with 0 in {shown}, which says that nothing happened"
        found.leave_out(flags[0], HITS, why)
        found.told.append(f"where      {why}, are left out")
    elif flags:
        found.told.append(
            f"where      {shown} each hold 0 and 1, and every row counts; {key(flags[0])} = "
            "{ above = 0, empty = true } in where under [data] leaves out those with 0 there"
        )


def _numbers(source: Source, column: str, rows: int) -> pl.Series | None:
    """Return the numbers in the first rows of a column, None where other texts are among them."""
    texts = source.first(column, rows).cast(pl.String).to_frame("text")
    numbers = texts.select(as_number(pl.col("text"), is_text=True)).to_series().drop_nulls()
    return None if len(numbers) < texts.filter(pl.col("text") != "").height else numbers.drop_nans()


def _note_returns(source: Source, column: str, found: Guessed) -> None:
    """Note a column that no name explains where it may hold quantities, some of them returned."""
    if bare(column).endswith("id") or bare(column) != plain(column):
        return  # ids and codes
    for rows in (_ROWS, _MANY_ROWS):  # most columns show in a few that they hold no such
        numbers = _numbers(source, column, rows)
        if numbers is None or numbers.is_empty():
            return
        values = numbers.to_numpy()
        small, below = np.abs(values) <= _SMALL, values < 0
        whole = bool((np.floor(values) == values).all())
        if not whole or small.mean() < _MOST or below.mean() >= _MOST_RETURNS:
            return
    if below.any():
        lowest, highest = number_text(float(values.min())), number_text(float(values.max()))
        found.told.append(
            f"note       column {printable(column)} holds {lowest} to {highest} and is not used: "
            f"if rows below 0 are returns, {key(column)} = {{ above = 0, empty = true }} in where "
            "under [data] leaves out those of 0 or less"
        )


def _guess_types(source: Source, names: Sequence[str], found: Guessed) -> None:
    kind, value = column_of("kind", names), column_of("value", names)
    for column in names if kind is None else (kind,):
        texts = source.first(column, _ROWS).cast(pl.String).alias(column)
        filled = texts.filter(texts != "")
        types = filled.value_counts(sort=True)[column].to_list()
        words = sum(names_a_step(text) or is_never_truth(text) for text in types[:MOST_TYPES])
        few = 0 < len(types) <= MOST_TYPES and len(filled) >= _MOST * len(texts)
        if few and (column == kind or words > 1):
            found.data["kind"], found.types = column, types
            break
    if value is not None:
        first = source.first(value, _ROWS).cast(pl.String)
        if first.cast(pl.Float64, strict=False).null_count() == 0:
            found.value = value
            found.told.append(f"value      column {printable(value)} may be one; it is not used")
