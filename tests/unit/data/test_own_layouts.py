"""Layouts of one's own: a declaration is checked when it is named, and on its files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal
from event_files import OWN, SALES

from harness import config as config_
from harness.config import Config
from harness.core.errors import DataError, UsageError
from harness.data.loading import load
from harness.layouts import Layout, attributes, events
from harness.testing import check_layout


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
def test_what_breaks_the_contract(tmp_path: Path, own: str, name: str, said: list[str]) -> None:
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
def test_conditions_are_added(tmp_path: Path, where: dict[str, Any], items: list[str]) -> None:
    own = but('type="sale",', 'type="sale", where={"what": ["a", "b"]},')
    assert load(plugged(tmp_path, own, where=where).layout()).item_ids.to_list() == items
