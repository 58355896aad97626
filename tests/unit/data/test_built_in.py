"""Built-in layouts on small files of the shapes that are published; and layouts of one's own."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import refusal

from harness import config as config_
from harness.config import Config
from harness.core.errors import DataError, UsageError
from harness.data.dataset import Dataset
from harness.data.loading import load
from harness.data.table_files import sources
from harness.layouts import BUILT_IN, Layout, attributes, events
from harness.protocol.task import make_task
from harness.testing import check_layout

DAY = 86_400_000
GENRES = "|".join("0" * 19)
RETAILROCKET = """timestamp,visitorid,event,itemid,transactionid
1433221332117,257597,view,355908,
1433224214164,992329,addtocart,248676,
1433221999827,111016,transaction,318965,4000
1433221955914,111016,view,318965,
"""
OTTO = [
    {
        "session": 12899779,
        "events": [
            {"aid": 59625, "ts": 1661724000278, "type": "clicks"},
            {"aid": 59625, "ts": 1661724058352, "type": "carts"},
        ],
    },
    {"session": 12899780, "events": [{"aid": 1142000, "ts": 1661724000378, "type": "orders"}]},
]
FILES: dict[str, dict[str, str]] = {
    "retailrocket": {"events.csv": RETAILROCKET},
    "ml-100k": {
        "u.data": "196\t242\t3\t881250949\n186\t302\t3\t891717742\n",
        "u.user": "196|49|M|writer|55105\n186|39|F|executive|00000\n",
        "u.item": (
            f"242|Kolya (1996)|24-Jan-1997||http://us.imdb.com/M/title-exact?Kolya|{GENRES}\n"
            f"302|Misérables, Les (1995)|01-Jan-1995||http://us.imdb.com/M|{GENRES}\n"
        ),
    },
    "ml-1m": {
        "ratings.dat": "1::1193::5::978300760\n1::661::3::978302109\n",
        "users.dat": "1::F::1::10::48067\n",
        "movies.dat": '661::James and the "Giant" Peach (1996)::Animation\n'
        "1193::Misérables, Les (1995)::Drama\n",
    },
    "ml-10m": {
        "ratings.dat": "1::122::5::838985046\n1::185::3.5::838983525\n",
        "movies.dat": '122::"Great" Boomerang (1992)::Comedy\n185::Net, The (1995)::Action\n',
    },
    "ml-20m": {
        "ratings.csv": "userId,movieId,rating,timestamp\n1,2,3.5,1112486027\n1,29,4.0,1112484676\n",
        "movies.csv": 'movieId,title,genres\n2,"City, The (1995)",Adventure\n29,Lost,Drama\n',
    },
    "otto": {"train.jsonl": "".join(json.dumps(line) + "\n" for line in OTTO)},
}
EVENTS: dict[str, list[tuple[Any, ...]]] = {
    "retailrocket": [
        ("111016", "318965", "view", None),
        ("111016", "318965", "transaction", None),
        ("257597", "355908", "view", None),
        ("992329", "248676", "addtocart", None),
    ],
    "ml-100k": [("186", "302", "event", 3.0), ("196", "242", "event", 3.0)],
    "ml-1m": [("1", "1193", "event", 5.0), ("1", "661", "event", 3.0)],
    "ml-10m": [("1", "185", "event", 3.5), ("1", "122", "event", 5.0)],
    "ml-20m": [("1", "29", "event", 4.0), ("1", "2", "event", 3.5)],
    "otto": [
        ("12899779", "59625", "clicks", None),
        ("12899779", "59625", "carts", None),
        ("12899780", "1142000", "orders", None),
    ],
    "yambda": [
        ("100", "3", "like", None),
        ("100", "7", "listen", None),
        ("200", "3", "listen", None),
    ],
}


def typed(data: Dataset) -> list[tuple[str, str, str, float | None]]:
    """Return the events of a data set in its order: user, item, type, value."""
    users, items, e = data.user_ids.to_list(), data.item_ids.to_list(), data.events
    values = [None] * len(e) if e.value is None else e.value.tolist()
    columns = zip(e.user, e.item, e.kind, values, strict=True)
    return [(users[u], items[i], data.kinds[k], v) for u, i, k, v in columns]


def published(folder: Path, name: str) -> Path:
    """Write files of the shape that a data set is published in."""
    for file, text in FILES.get(name, {}).items():
        encoding = "latin-1" if file in ("u.item", "movies.dat") and name != "ml-10m" else "utf-8"
        (folder / file).write_text(text, encoding=encoding)
    if name == "yambda":
        pl.DataFrame(
            {
                "uid": [100, 100, 200],
                "timestamp": [10, 5, 15],
                "item_id": [7, 3, 3],
                "is_organic": [0, 1, 1],
                "played_ratio_pct": [80, None, 100],
                "track_length_seconds": [180, 195, 195],
                "event_type": ["listen", "like", "listen"],
            },
            schema_overrides={
                "uid": pl.UInt32,
                "timestamp": pl.UInt32,
                "event_type": pl.Categorical,
            },
        ).write_parquet(folder / "multi_event.parquet")
    return folder


@pytest.mark.parametrize("name", EVENTS)
def test_files_as_they_are_published(tmp_path: Path, name: str) -> None:
    layout = BUILT_IN[name]
    assert typed(load(layout.within(published(tmp_path, name)))) == EVENTS[name]
    check_layout(layout, tmp_path)
    check_layout(layout, str(tmp_path))


@pytest.mark.parametrize("name", ["ml-100k", "ml-1m"])
def test_titles_are_latin_1(tmp_path: Path, name: str) -> None:
    items = BUILT_IN[name].within(published(tmp_path, name)).items
    assert items is not None
    (source,) = sources(items.table)
    assert "Misérables, Les (1995)" in source.whole()["title"].to_list()


def test_every_built_in_layout_is_tried_here_or_with_its_competition() -> None:
    assert set(BUILT_IN) - set(EVENTS) == {"hm", "ponpare", "kion"}


def test_transactions_are_truth_and_views_weigh_a_tenth(tmp_path: Path) -> None:
    """Ann views a and b and buys b; on the last day bob, who has only viewed, buys b."""
    log = "timestamp,visitorid,event,itemid,transactionid\n" + "".join(
        f"{1_433_000_000_000 + day * DAY},{user},{event},{item},\n"
        for user, item, event, day in [
            *(("1", "7", "view", 0), ("1", "8", "view", 0), ("1", "8", "transaction", 1)),
            *(("2", "7", "view", 1), ("2", "8", "transaction", 9), ("1", "7", "view", 9)),
        ]
    )
    small.write(tmp_path, {"events.csv": log})
    config = config_.parse(
        {
            "data": {"layout": "retailrocket", "path": ".", "cache": False},
            "split": {"strategy": "time", "valid_days": 1},
            "evaluation": {"k": 1, "hits": ["transaction"]},
            "models": [small.POPULAR],
        },
        tmp_path,
    )
    task = make_task(config)
    assert task.evaluation_set.user_ids.to_list() == ["2"]  # user 1 only views that day
    _, weights = task.train.event_weights(weights={"view": 0.1})
    assert weights is not None
    assert task.train.item_sums(None, weights).tolist() == pytest.approx([0.2, 1.1])


OWN = """
from harness.layouts import Layout, events

Shop = Layout(
    name="shop",
    events=(
        events(
            "sales.txt",
            user="who",
            item="what",
            time="at",
            time_format="%d.%m.%Y",
            type="sale",
            separator=";",
        ),
    ),
)
"""
SALES = "who;what;at\n" + "".join(
    f"{user};{item};{int(time[-2:])}.1.2020\n"
    for user, item, time in (line.split(",") for line in small.LOG.splitlines()[1:])
)


def plugged(folder: Path, own: str = OWN, name: str = "shops:Shop", **data: Any) -> Config:
    """Write a module of a layout beside its sales; return the config that names it."""
    small.write(folder, {"shops.py": own, "sales.txt": SALES})
    values = small.values()
    values["data"] = {"layout": name, "path": ".", **data}
    return config_.parse(values, folder)


EMPTY = "from harness.layouts import Layout\nShop = Layout('shop', {})"


def but(old: str, new: str) -> str:
    """Return `OWN` with one of its lines changed."""
    assert old in OWN
    return OWN.replace(old, new)


@pytest.mark.parametrize(
    ("own", "name", "said"),
    [
        ("", "shps:Shop", ['no module "shps"', '"shops"?']),
        (OWN, "shops:Shp", ['shops has no layout "Shp"', 'did you mean "Shop"?']),
        (OWN, "shops:", ['"module:name"']),
        ("Shop = 3", "shops:Shop", ["is int; expected a harness.layouts.Layout"]),
        ("def Shop():\n    raise ValueError('no shop')", "shops:Shop",
         ["cannot be made: ValueError: no shop", "shops.py, line 2"]),
        (EMPTY.format("()"), "shops:Shop", ["events is (); expected a tuple of events(…)"]),
        (EMPTY.format("('sales.txt',)"), "shops:Shop",
         ["events holds 'sales.txt'; expected events(…)"]),
        (but('"%d.%m.%Y"', '"german"'), "shops:Shop",
         ["sales.txt: time_format = 'german' is no format; allowed: iso, epoch_s"]),
        (but('item="what"', 'item="who"'), "shops:Shop",
         ['sales.txt: user and item are both the column "who"']),
        (but('name="shop",', 'name="shop", candidates="all",'), "shops:Shop",
         ["candidates is 'all'; allowed: catalogue, shown, train"]),
        (but('name="shop",', 'name="shop", candidates="catalogue",'), "shops:Shop",
         ['candidates is "catalogue", which needs items=attributes(…)']),
        (but('time="at"', "time=None"), "shops:Shop",
         ["sales.txt: time is None; expected a column"]),
        (but('separator=";"', 'separator=""'), "shops:Shop",
         ["sales.txt: separator: found '', expected one character"]),
        (but('type="sale",', 'type="sale", where="paid",'), "shops:Shop",
         ["where is 'paid'; expected columns and what they hold"]),
        (but('name="shop",', 'name="shop", items="items.csv",'), "shops:Shop",
         ["items is 'items.csv'; expected attributes(…)"]),
    ],
)  # fmt: skip
def test_a_layout_that_breaks_its_contract_is_refused(
    tmp_path: Path, own: str, name: str, said: list[str]
) -> None:
    with refusal(UsageError, f'[data] layout "{name}"', *said):
        plugged(tmp_path, own, name).layout()


def test_keys_and_columns_that_are_not_there_are_named(tmp_path: Path) -> None:
    with refusal(UsageError, 'layout "shops:Shop" has no key "user"; allowed: '):
        plugged(tmp_path, user="who").layout()
    layout = plugged(tmp_path, but('"what"', '"thing"')).layout()
    with refusal(DataError, 'sales.txt: line 1: no column "thing"; the file has: who, what, at'):
        load(layout)


def test_the_check_looks_at_tables_that_describe_nobody(tmp_path: Path) -> None:
    small.write(tmp_path, {"log.csv": small.LOG, "items.csv": "no,item\n1,a\n2,b\n"})
    shop = Layout(
        "shop",
        (events("log.csv", user="user", item="item", time="time"),),
        items=attributes("items.csv", id="no"),
    )
    with refusal(
        DataError,
        'items.csv: column "no" describes none of the items',
        'events have "a", "b", "c", …, the table has "1", "2"',
    ):
        check_layout(shop, tmp_path)
    small.write(tmp_path, {"users.csv": "user\nANN\nBOB\n"})
    with refusal(DataError, 'users.csv: column "user" describes none of the users'):
        check_layout(replace(shop, items=None, users=attributes("users.csv", id="user")), tmp_path)
    with refusal(UsageError, "layout: is str; expected a harness.layouts.Layout"):
        check_layout("shop", tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("where", "items"), [({}, ["a", "b"]), ({"who": "ann"}, ["a", "b"]), ({"what": "d"}, ["d"])]
)
def test_conditions_of_a_layout_hold_and_those_of_the_config_are_added(
    tmp_path: Path, where: dict[str, Any], items: list[str]
) -> None:
    own = but('type="sale",', 'type="sale", where={"what": ["a", "b"]},')
    assert load(plugged(tmp_path, own, where=where).layout()).item_ids.to_list() == items
