"""Built-in layouts on small files of the shapes that are published, and layouts of one's own."""

import re
import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import refusal
from event_files import SALES, SHOP, log, rows, typed

from harness import config as config_
from harness.config import Config
from harness.core.errors import DataError, UsageError
from harness.data.conditions import condition
from harness.data.loading import load
from harness.data.table_files import sources
from harness.layouts import BUILT_IN, Layout, attributes, events
from harness.testing import check_layout

PUBLISHED = Path(__file__).parents[2] / "files" / "published"
"""Small files of the shape that each data set is published in."""
EVENTS = {
    "retailrocket": "111016 318965 view, 111016 318965 transaction, 257597 355908 view, "
    "992329 248676 addtocart",
    "ml-100k": "186 302 event 3.0, 196 242 event 3.0",
    "ml-1m": "1 1193 event 5.0, 1 661 event 3.0",
    "ml-10m": "1 185 event 3.5, 1 122 event 5.0",
    "ml-20m": "1 29 event 4.0, 1 2 event 3.5",
    "otto": "12899779 59625 clicks, 12899779 59625 carts, 12899780 1142000 orders",
    "yambda": "100 3 like, 100 7 listen, 200 3 listen",
    "hm": "c1 0706016001 purchase, c1 0706016002 purchase",
    "ponpare": "u1 k1 purchase, u1 k2 visit, u2 unknown visit",
    "kion": "1 10 watch, 1 11 watch",
}
"""User, item, type and value of the events in those, where there is one."""


def published(folder: Path, name: str, **changes: str) -> Layout:
    """Copy the files of a data set, with other contents for some; return the layout."""
    for file in (PUBLISHED / name).glob("*"):
        content = changes[file.stem].encode() if file.stem in changes else file.read_bytes()
        (folder / file.name).write_bytes(content)
    if name == "yambda":
        columns = {
            "uid": pl.Series([100, 100, 200], dtype=pl.UInt32),
            "timestamp": pl.Series([10, 5, 15], dtype=pl.UInt32),
            "item_id": [7, 3, 3],
            "is_organic": [0, 1, 1],
            "played_ratio_pct": [80, None, 100],
            "track_length_seconds": [180, 195, 195],
            "event_type": pl.Series(["listen", "like", "listen"], dtype=pl.Categorical),
        }
        pl.DataFrame(columns).write_parquet(folder / "multi_event.parquet")
    return BUILT_IN[name].within(folder)


@pytest.mark.parametrize("name", BUILT_IN)
def test_files_as_they_are_published(tmp_path: Path, name: str) -> None:
    events = typed(load(published(tmp_path, name)))
    shown = (" ".join(str(part) for part in event if part is not None) for event in events)
    assert ", ".join(shown) == EVENTS[name]
    for folder in (tmp_path, str(tmp_path)):
        check_layout(BUILT_IN[name], folder)
    if name in ("ml-100k", "ml-1m"):
        table: Any = BUILT_IN[name].within(tmp_path).items
        (source,) = sources(table)
        assert "Misérables, Les (1995)" in source.whole()["title"].to_list()


def test_candidates_are_those_of_the_competition(tmp_path: Path) -> None:
    """All articles of H&M, the listed coupons of Ponpare, and of Kion what stands in train."""
    hm, ponpare = (load(published(tmp_path, name)) for name in ("hm", "ponpare"))
    assert hm.item_ids.to_list() == ["0706016001", "0706016002", "0900000000"]
    assert (hm.candidates, ponpare.candidates, hm.notes) == ("catalogue", "shown", ())
    assert ponpare.item_ids.to_list() == ["k1", "k2", "unknown"]
    catalogues: list[Any] = [hm.catalogue, ponpare.catalogue]
    assert [catalogue.tolist() for catalogue in catalogues] == [[0, 1, 2], [0, 1]]
    kion = published(tmp_path, "kion").with_events(where=(condition("watched_pct", {"min": 10}),))
    assert (load(kion).item_ids.to_list(), load(kion).candidates) == (["10"], "train")


TRANSACTIONS, ARTICLES = (
    (PUBLISHED / "hm" / f"{name}.csv").read_text() for name in ("transactions_train", "articles")
)
SHORT = TRANSACTIONS.replace(",07", ",7")
BOTH_FORMS = TRANSACTIONS.replace("0706016002", "706016001")


def test_hm_zeros_are_restored(tmp_path: Path) -> None:
    for transactions, items, note in (
        (SHORT, [0, 1], "2 item ids padded to 10 digits"),
        (BOTH_FORMS, [0, 0], "1 item id padded to 10 digits"),  # one item, not two
    ):
        layout = published(tmp_path, "hm", transactions_train=transactions)
        data = load(replace(layout, restore_zeros=True))
        assert data.item_ids.to_list() == ["0706016001", "0706016002", "0900000000"]
        assert (data.events.item.tolist(), data.notes) == (items, (note,))


SOON = "DISPFROM,COUPON_ID_hash\n2012-05-30 12:00:00,k1\nsoon,k2\n"


def test_faults_of_tables(tmp_path: Path) -> None:
    for name, changes, words in (
        ("hm", {"transactions_train": SHORT},
         ["2 of 2 item ids in transactions_train.csv", "9 digits"]),
        # Two names for one article would be two items: one is bought, the other recommended.
        ("hm", {"transactions_train": BOTH_FORMS, "articles": ARTICLES + "706016001,1\n"},
         ['such as "706016001"', "restore_zeros"]),
        ("hm", {"articles": ARTICLES + "0706016001,1\n"},
         ['the id "0706016001" is in more than one row']),
        ("ponpare", {"coupon_list_train": SOON},
         ['coupon_list_train.csv: line 3, column "DISPFROM"', "soon"]),
    ):  # fmt: skip
        with refusal(DataError, words):
            load(published(tmp_path, name, **changes))


def test_times_may_be_written_otherwise_in_every_layout(tmp_path: Path) -> None:
    """What the error on times recommends, time_format, is there in each."""
    files = {path.stem: path.read_text() for path in (PUBLISHED / "ponpare").iterdir()}
    day = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
    turned = {stem: day.sub(r"\3.\2.\1", text) for stem, text in files.items()}
    published(tmp_path, "ponpare", **turned)
    data = {"layout": "ponpare", "path": ".", "time_format": "%d.%m.%Y %H:%M:%S"}
    shown_from = load(config_.parse(small.values() | {"data": data}, tmp_path).layout()).shown_from
    assert shown_from is not None
    # From noon of 2012-05-30 and of 2012-06-02.
    assert shown_from.tolist()[:2] == [1_338_379_200_000_000, 1_338_638_400_000_000]
    for name in ("hm", "ponpare", "kion"):
        config_.DataConfig(layout=name, path=".", time_format="%d.%m.%Y")


def plugged(folder: Path, module: str = SHOP, **data: Any) -> Config:
    """Write a module of a layout beside its sales; return the config that names it."""
    small.write(folder, {"shops.py": module, "sales.txt": SALES})
    return config_.parse(small.values() | {"data": SHOPS | data}, folder)


def test_a_layout_of_ones_own_is_found_from_anywhere(tmp_path: Path) -> None:
    config = plugged(tmp_path / "shop")
    small.write(tmp_path, {"log.csv": small.LOG})
    for each in (config, config_.parse(config.resolved(), tmp_path / "other")):
        assert rows(each.layout()) == rows(log(tmp_path))


SHOPS = {"layout": "shops:Shop", "path": "."}
EMPTY = "from harness.layouts import Layout\nShop = Layout('shop', {})"


def but(old: str, new: str) -> str:
    """Return `SHOP` with one of its lines changed."""
    assert old in SHOP
    return SHOP.replace(old, new)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("shop = 3", 'shops has no layout "Shop"; did you mean "shop"?'),
        ("Shop = 3", "is int; expected a harness.layouts.Layout"),
        ("def Shop():\n    raise ValueError('no shop')", "cannot be made: ValueError: no shop"),
        (but('user="who"', 'users="who"'), "sales.txt: user is missing"),
        (EMPTY.format("()"), "shop: events is []; expected at least 1 item"),
        (EMPTY.format("('sales.txt',)"), "shop: events[0] is 'sales.txt'; expected events(…)"),
        (but("%d.%m.%Y", "german"), "sales.txt: time_format is 'german'; allowed: "
                                    "iso"),
        (but('"what"', '"who"'), 'sales.txt: user and item are both the column "who"'),
        (but('"shop"', '"shop", candidates="catalogue"'),
         'candidates is "catalogue", which needs items=attributes(…)'),
        (but('time="at"', "time=None"), "sales.txt: time is None; expected a column"),
        (but('";"', '""'), "sales.txt: separator is ''; expected one character"),
        (but('"sale"', '"sale", where="paid"'), "where is 'paid'; expected columns and their v"),
        (but('"shop"', '"shop", items="items.csv"'), "items is 'items.csv'; expected attributes("),
    ],
)  # fmt: skip
def test_what_breaks_the_contract(tmp_path: Path, module: str, words: str) -> None:
    with refusal(UsageError, '[data] layout "shops:Shop"', words):
        plugged(tmp_path, module).layout()


LOG: dict[str, Any] = {"file": "log.csv", "user": "u", "item": "i", "time": "t"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"quote": "no"}, "log.csv: quote is 'no'; expected a valid boolean"),
        ({"file": 5}, "events(…): file is 5; expected a valid string"),
        ({"file": ""}, "events(…): file is ''; expected at least 1 character"),
        ({"where": []}, "log.csv: where is []; expected columns and their values"),
        ({"where": ({"column": "x", "low": "3"},)},
         "log.csv: where is [{ column = 'x', low = '3' }]; expected columns and their values"),
        ({"header": ["a", 5]}, "log.csv: header[1] is 5; expected a valid string"),
        ({"kinds": "x"}, 'log.csv: no argument "kinds"; did you mean "kind"?'),
        ({"colour": 3}, 'log.csv: no argument "colour"; allowed: file, separator, header'),
    ],
)  # fmt: skip
def test_what_a_table_may_not_be(arguments: dict[str, Any], words: str) -> None:
    with refusal(UsageError, words):
        events(**{"user": "u"} | LOG | arguments)


def test_arguments_by_position() -> None:
    log = events(**LOG)
    with refusal(UsageError, "log.csv: user is 'u'; Got multiple values for argument"):
        events("log.csv", "x", user="u", item="i", time="t")
    with refusal(UsageError, "a.csv: 'x' is one argument too many; allowed: file, separator"):
        attributes("a.csv", "id", "since", "iso", "x")
    with refusal(UsageError, "attributes(…): file is missing"):
        attributes(id="id")
    assert events(Path("log.csv"), "u", "i", "t", where=None, header=[]) == replace(log, header=())


def test_what_a_layout_may_not_be() -> None:
    log = events(**LOG)
    with refusal(UsageError, "shop: id_width is '10'; expected a valid integer"):
        Layout("shop", (log,), id_width="10")  # type: ignore[arg-type]
    with refusal(UsageError, 'shop: no argument "item"; did you mean "items"?'):
        Layout("shop", (log,), item=None)  # type: ignore[call-arg]
    with pytest.raises(UsageError) as error:
        Layout("shop", [log, LOG | {"type": "x" * 300}])  # type: ignore[arg-type]
    shown = "{ file = 'log.csv', user = 'u', item = 'i', time = 't', type = '"
    assert str(error.value) == f"shop: events[1] is {shown}{'x' * 16}…; expected events(…)"
    assert Layout("shop", [log]) == Layout("shop", (log,))  # type: ignore[arg-type]


def test_the_check_looks_at_tables_that_describe_nobody(tmp_path: Path) -> None:
    small.write(tmp_path, {"log.csv": small.LOG, "items.csv": "no,item\n1,a\n2,b\n"})
    log = events("log.csv", user="user", item="item", time="time")
    shop = Layout("shop", (log,), items=attributes("items.csv", id="no"))
    ids = 'events have "a", "b", "c", …, the table has "1", "2"'
    with refusal(DataError, 'items.csv: column "no" describes none of the items', ids):
        check_layout(shop, tmp_path)
    with refusal(UsageError, "layout: is str; expected a harness.layouts.Layout"):
        check_layout("shop", tmp_path)  # type: ignore[arg-type]


def test_a_table_that_lost_its_zeros_is_told_from_another_column(tmp_path: Path) -> None:
    log = "user,item,time\nann,07,2020-01-01\n"
    small.write(tmp_path, {"log.csv": log, "items.csv": "item,kind\n7,x\n"})
    tables = events("log.csv", user="user", item="item", time="time")
    shop = Layout("shop", (tables,), items=attributes("items.csv", id="item"))
    with refusal(DataError, 'events have "07", the table has "7"; they differ by leading zeros'):
        check_layout(shop, tmp_path)


def test_ids_of_a_table_that_lost_zeros_are_noted_where_others_match(tmp_path: Path) -> None:
    """Of 0100 and 1000 the table has 100 and 1000; 300 and a1 are other items."""
    log = "user,item,time\nann,0100,2020-01-01\nann,1000,2020-01-02\nbob,0a1,2020-01-02\n"
    small.write(tmp_path, {"items.csv": "item\n100\n1000\n300\na1\n"})
    config = small.config(tmp_path, log=log, data={"items": "items.csv"})
    assert load(config.layout()).notes == (
        'items.csv: 1 of 4 ids in column "item" is that of an event without leading zeros, such '
        'as "100", but the events have "0100": leading zeros are lost if ids are saved as '
        "numbers: write ids as text in both files",
    )


@pytest.mark.parametrize(("where", "items"), [({}, ["a", "b"]), ({"what": "d"}, ["d"])])
def test_conditions_are_added(tmp_path: Path, where: dict[str, Any], items: list[str]) -> None:
    module = but('type="sale",', 'type="sale", where={"what": ["a", "b"]},')
    assert load(plugged(tmp_path, module, where=where).layout()).item_ids.to_list() == items


DAY = date(1970, 1, 1)


@pytest.mark.parametrize(
    ("column", "where", "more", "written"),
    [
        ("time", None, {"min": DAY}, {"min": DAY}),
        ("time", {"above": 0}, {"min": DAY}, {"min": DAY}),
        ("time", {"min": 5, "empty": True}, {"max": DAY}, {"min": 5, "max": DAY}),
        ("user", ["0", "1"], {"not": "0"}, ["1"]),
        ("user", {"empty": False, "not": ["nan"]}, {"not": "0"}, {"not": ["nan", "0"]}),
        ("time", {"empty": False}, {"min": DAY}, {"empty": False, "min": DAY}),
    ],
)
def test_a_further_condition_on_a_column_is_one_that_a_config_has(
    column: str, where: Any, more: Any, written: Any
) -> None:
    held = {} if where is None else {column: where}
    layout = Layout("shop", [events("log.csv", user="user", item="item", time="time", where=held)])
    text = layout.where_with([condition(column, more)]).partition(" under [data]")[0]
    assert tomllib.loads(text)["where"] == {column: written}
