"""Layouts that are built in: data sets as they are published, each a declaration.

One of your own is declared in the same way, in a file beside the config: docs/layouts.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from harness.core import plugins
from harness.core.errors import UsageError
from harness.core.table import Column, Sheet
from harness.data.layout import (
    AttributeTable,
    CandidateRule,
    EventTable,
    Layout,
    attributes,
    events,
    require_separator,
)
from harness.data.times import require_time_format

_GENRES = (
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime"),
    *("Documentary", "Drama", "Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance"),
    *("Sci-Fi", "Thriller", "War", "Western"),
)

HM = Layout(
    name="hm",
    events=(
        events(
            "transactions_train.csv",
            user="customer_id",
            item="article_id",
            time="t_dat",
            type="purchase",
        ),
    ),
    users=attributes("customers.csv", id="customer_id"),
    items=attributes("articles.csv", id="article_id"),
    candidates="catalogue",
    id_width=10,
)
"""H&M Personalized Fashion Recommendations (Kaggle 2022); every article may be recommended."""

KION = Layout(
    name="kion",
    events=(
        events(
            "interactions.csv",
            user="user_id",
            item="item_id",
            time="last_watch_dt",
            type="watch",
        ),
    ),
    users=attributes("users.csv", id="user_id"),
    items=attributes("items.csv", id="item_id"),
)
"""The films and series of KION (MTS 2021)."""

PONPARE = Layout(
    name="ponpare",
    events=(
        events(
            "coupon_detail_train.csv",
            user="USER_ID_hash",
            item="COUPON_ID_hash",
            time="I_DATE",
            type="purchase",
        ),
        events(
            "coupon_visit_train.csv",
            user="USER_ID_hash",
            item="VIEW_COUPON_ID_hash",
            time="I_DATE",
            type="visit",
        ),
    ),
    users=attributes("user_list.csv", id="USER_ID_hash", since="REG_DATE"),
    items=attributes("coupon_list_train.csv", id="COUPON_ID_hash", since="DISPFROM"),
    candidates="shown",
)
"""Coupon Purchase Prediction (Kaggle 2015); coupons shown in the window are candidates."""

RETAILROCKET = Layout(
    name="retailrocket",
    events=(
        events(
            "events.csv",
            user="visitorid",
            item="itemid",
            time="timestamp",
            time_format="epoch_ms",
            kind="event",
        ),
    ),
)
"""RetailRocket's views, additions to the cart and transactions (Kaggle 2017)."""

ML_100K = Layout(
    name="ml-100k",
    events=(
        events(
            "u.data",
            user="user",
            item="item",
            time="timestamp",
            time_format="epoch_s",
            value="rating",
            separator="\t",
            header=("user", "item", "rating", "timestamp"),
        ),
    ),
    users=attributes(
        "u.user",
        id="user",
        separator="|",
        header=("user", "age", "gender", "occupation", "zip"),
    ),
    items=attributes(
        "u.item",
        id="item",
        separator="|",
        header=("item", "title", "released", "video", "url", *_GENRES),
        encoding="latin-1",
    ),
)
"""MovieLens 100K: ratings from 1 to 5."""

ML_1M = Layout(
    name="ml-1m",
    events=(
        events(
            "ratings.dat",
            user="user",
            item="item",
            time="timestamp",
            time_format="epoch_s",
            value="rating",
            separator="::",
            header=("user", "item", "rating", "timestamp"),
        ),
    ),
    users=attributes(
        "users.dat",
        id="user",
        separator="::",
        header=("user", "gender", "age", "occupation", "zip"),
    ),
    items=attributes(
        "movies.dat",
        id="item",
        separator="::",
        header=("item", "title", "genres"),
        encoding="latin-1",
    ),
)
"""MovieLens 1M: ratings from 1 to 5."""

ML_10M = Layout(
    name="ml-10m",
    events=ML_1M.events,
    items=attributes("movies.dat", id="item", separator="::", header=("item", "title", "genres")),
)
"""MovieLens 10M: ratings from 0.5 to 5; of its users nothing is known."""

ML_20M = Layout(
    name="ml-20m",
    events=(
        events(
            "ratings.csv",
            user="userId",
            item="movieId",
            time="timestamp",
            time_format="epoch_s",
            value="rating",
        ),
    ),
    items=attributes("movies.csv", id="movieId"),
)
"""MovieLens 20M, and 25M, 32M and the latest ones, which are written alike."""

OTTO = Layout(
    name="otto",
    events=(
        events(
            "train.jsonl",
            user="session",
            item="aid",
            time="ts",
            time_format="epoch_ms",
            kind="type",
            rows=("events",),
        ),
    ),
)
"""OTTO's sessions as JSON lines: clicks, carts and orders (Kaggle 2022)."""

YAMBDA = Layout(
    name="yambda",
    events=(
        events(
            "multi_event.parquet",
            user="uid",
            item="item_id",
            time="timestamp",
            time_format="epoch_s",
            kind="event_type",
        ),
    ),
)
"""Yambda's flat files: listens, likes and dislikes of tracks (Yandex 2025)."""

BUILT_IN: Mapping[str, Layout] = {
    layout.name: layout
    for layout in (
        *(HM, PONPARE, KION, RETAILROCKET),
        *(ML_100K, ML_1M, ML_10M, ML_20M, OTTO, YAMBDA),
    )
}
_ABOUT: Mapping[str, str] = {
    "hm": "H&M Personalized Fashion Recommendations (Kaggle 2022)",
    "ponpare": "Coupon Purchase Prediction (Kaggle 2015)",
    "kion": "films and series of KION (MTS 2021)",
    "retailrocket": "views, additions to the cart, transactions (Kaggle 2017)",
    "ml-100k": "MovieLens 100K",
    "ml-1m": "MovieLens 1M",
    "ml-10m": "MovieLens 10M",
    "ml-20m": "MovieLens 20M, 25M, 32M, latest",
    "otto": "sessions of clicks, carts, orders (Kaggle 2022)",
    "yambda": "Yambda, flat: listens, likes, dislikes (Yandex 2025)",
}


def sheet() -> Sheet:
    """Return the built-in layouts as a table."""
    columns: list[Column[Layout]] = [
        Column("layout", lambda of: of.name, "name"),
        Column("data", lambda of: _ABOUT[of.name], "words"),
        Column("events", lambda of: ", ".join(str(t.table.path) for t in of.events), "words"),
        Column("event types and values", lambda of: ", ".join(_columns(of)), "words"),
    ]
    footing = ['any other log: layout = "table", or one of your own: docs/layouts.md']
    return Sheet.of(BUILT_IN.values(), columns, footing=footing)


def document() -> dict[str, Any]:
    """Return them as the JSON document of ``harness list layouts``."""
    facts = [
        {
            "name": name,
            "data": _ABOUT[name],
            "events": [str(table.table.path) for table in layout.events],
            "columns": list(_columns(layout)),
        }
        for name, layout in BUILT_IN.items()
    ]
    return {"schema": 1, "layouts": facts}


def _columns(layout: Layout) -> Iterator[str]:
    for table in layout.events:
        yield table.type if table.kind is None else f"{table.kind} (column)"
        if table.value is not None:
            yield f"{table.value} (value)"


def plugged_in(name: str, folder: Path) -> Layout:
    """Return the layout that ``module:name`` names: a `Layout`, or what returns one.

    Parameters
    ----------
    folder : Path
        The config's own, where the module is looked for first.

    Raises
    ------
    UsageError
        No such module or name, or one that is no layout.
    """
    owner = f'[data] layout "{name}"'
    found = plugins.load(owner, name, folder, "layout")
    if callable(found):
        try:
            found = found()
        except BaseException as error:  # a stranger's code may raise anything
            plugins.raise_interrupt(error)
            raise UsageError(f"{owner}: cannot be made: {plugins.told(error)}") from error
    for fault in faults(found):
        raise UsageError(f"{owner}: {fault}")
    layout: Layout = found
    return layout


def faults(found: Any) -> Iterator[str]:
    """Yield what is wrong with what should be a layout."""
    if not isinstance(found, Layout):
        yield f"is {type(found).__name__}; expected a harness.layouts.Layout"
        return
    if not isinstance(found.name, str) or not found.name:
        yield f"name is {found.name!r}; expected a text"
    if not isinstance(found.events, tuple) or not found.events:
        shown = "()" if found.events == () else type(found.events).__name__
        yield f"events is {shown}; expected a tuple of events(…), one or more"
        return
    for table in found.events:
        yield from _faults_of_events(table)
    for role in ("users", "items"):
        table = getattr(found, role)
        if table is not None and not isinstance(table, AttributeTable):
            yield f"{role} is {table!r}; expected attributes(…)"
        elif table is not None:
            yield from _faults_of_text(table.table.path, table)
    yield from _faults_of_candidates(found)
    if found.id_width is not None and not isinstance(found.id_width, int):
        yield f"id_width is {found.id_width!r}; expected a whole number"


def _faults_of_candidates(found: Layout) -> Iterator[str]:
    items = found.items
    if found.candidates not in get_args(CandidateRule):
        allowed = ", ".join(get_args(CandidateRule))
        yield f"candidates is {found.candidates!r}; allowed: {allowed}"
    elif found.candidates != "train" and items is None:
        yield f'candidates is "{found.candidates}", which needs items=attributes(…)'
    elif found.candidates == "shown" and isinstance(items, AttributeTable) and items.since is None:
        yield 'candidates is "shown", which needs items=attributes(…, since="…")'


def _faults_of_events(table: Any) -> Iterator[str]:
    if not isinstance(table, EventTable):
        yield f"events holds {table!r}; expected events(…)"
        return
    path = table.table.path
    for role in ("user", "item", "time"):
        if not isinstance(getattr(table, role), str) or not getattr(table, role):
            yield f"{path}: {role} is {getattr(table, role)!r}; expected a column"
    if table.user == table.item:
        yield f'{path}: user and item are both the column "{table.user}"'
    if not isinstance(table.type, str) or not table.type:
        yield f"{path}: type is {table.type!r}; expected a text"
    yield from _faults_of_text(path, table)


def _faults_of_text(path: Path, table: EventTable | AttributeTable) -> Iterator[str]:
    try:
        require_time_format(table.time_format)
    except (TypeError, ValueError) as error:
        yield f"{path}: {error}"
    try:
        require_separator(table.table.separator)
    except (AttributeError, ValueError) as error:
        yield f"{path}: separator: {error}"
