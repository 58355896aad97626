"""validate finds errors exactly where score refuses the file, whatever both of them know."""

from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
import small
from hypothesis import HealthCheck, given, settings

import harness
from harness.core.errors import HarnessError

LOG = """user,item,time
100001,0700,2020-01-01
100001,0701,2020-01-01
100002,0701,2020-01-02
100003,0702,2020-01-02
100001,0702,2020-01-09
100002,0700,2020-01-09
100003,0701,2020-01-09
"""
TRUE = "user,item\n100001,0702\n100002,0700\n100003,0701\n"
USAGE = "user,item,Usage\n100001,0702,Public\n100002,0700,Private\n100003,0701,Ignored\n"
GRADED = "user,item,grade\n100001,0702,2\n100002,0700,0\n100003,0701,1\n"
SPACES = "user,item\nann x,0702\nbob y,0700 a\n100003,0701\n"
KNOWS = {
    "events": {"config": "events.toml"},
    "events and tables": {"config": "tables.toml"},
    "a table of all users and one of some items": {"config": "some.toml"},
    "columns and a solution": {"config": "columns.toml", "solution": "true.csv"},
    "other keys and a solution": {"config": "comma.toml", "solution": "true.csv"},
    "a solution": {"solution": "true.csv"},
    "a solution and a sample": {"solution": "true.csv", "sample": "sample.csv"},
    "a solution and items": {"solution": "true.csv", "items": "items.csv"},
    "all three": {"solution": "true.csv", "sample": "sample.csv", "items": "items.csv"},
    "a solution with leaderboards": {"solution": "usage.csv"},
    "a solution with grades": {"solution": "graded.csv"},
    "a solution with ids of several words": {"solution": "spaces.csv"},
}
HEADERS = [*["user,items"] * 3, "user,item", "customer_id,prediction", "id,prediction", "item,user",
           "user_id,item_ids", "user,item,rank", "user,item,score", "a,b,c", ",user,item",
           "order_id,products"]  # fmt: skip
USERS = ["100001", "100002", "100003", "100001.0", "100004", " 100002", "1E+05", "", "ann", "ann x",
         "bob y", "0100003"]  # fmt: skip
ITEMS = ["0700", "0701", "0702", "700", "0701.0", "0799", "", "x", "0700 0701", "0702 0702", "nan",
         '"[\'0700\', \'0701\']"', "0700;0701", "0700 a", '"0700,0701"']  # fmt: skip
OPTIONS: dict[str, list[Any]] = {
    "strict": [True],
    "row_order": [True],
    "user_column": ["user", "item"],
    "item_column": ["item", "items"],
    "rank_column": ["rank", "item"],
    "score_column": ["score", "user"],
    "separator": [";", ",", " "],
    "ids": ["exact"],
    "truth_user_column": ["user"],
    "grade_column": ["none", "item", "grade"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checks")
    sections = {"evaluation": {"k": 2, "metrics": ["MAP@2"]}}
    tables = {"users": "users.csv", "items": "items.csv"}
    files = {
        "log.csv": LOG,
        "true.csv": TRUE,
        "usage.csv": USAGE,
        "graded.csv": GRADED,
        "spaces.csv": SPACES,
        "sample.csv": "user,items\n100001,\n100002,\n100003,\n100004,\n",
        "users.csv": "user\n100001\n100002\n100003\n100004\n",
        "items.csv": "item,name\n0700,a\n0701,b\n0702,c\n",
        "few.csv": "item,name\n0700,a\n",
        "events.toml": small.toml(data={"events": "log.csv"}, **sections),
        "tables.toml": small.toml(data={"events": "log.csv"} | tables, **sections),
        "some.toml": small.toml(data={"events": "log.csv", "items": "few.csv"}, **sections),
        "columns.toml": '[submission]\nuser = "user"\nitems = "items"\n',
        "comma.toml": '[submission]\nseparator = ","\nids = "exact"\nitem_digits = 4\n',
    }
    return small.write(folder, files)


def refused(folder: Path, knows: dict[str, str], options: dict[str, Any]) -> tuple[bool, ...]:
    """Return whether validate finds errors, and whether score refuses the file."""
    named = {name: folder / file for name, file in knows.items()}
    path = folder / "lists.csv"
    try:
        invalid = not harness.validate(path, **named, **options).valid
    except HarnessError:
        invalid = True
    try:
        harness.score(path, **named, **options)
    except HarnessError:
        return invalid, True
    return invalid, False


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_both_say_the_same(folder: Path, data: st.DataObject) -> None:
    header = data.draw(st.sampled_from(HEADERS))
    columns = header.count(",") + 1
    pairs = [row.split(",") for row in f"{TRUE}100004,0700".split()[1:]]  # whom tables may have
    for _ in range(data.draw(st.integers(0, 2))):  # rows that are put between, or instead
        n, instead = data.draw(st.integers(0, len(pairs))), data.draw(st.integers(0, 1))
        user, item = data.draw(st.sampled_from(USERS)), data.draw(st.sampled_from(ITEMS))
        pairs[n : n + instead] = [[user, item]]
    rows = []
    for n, pair in enumerate(pairs, 1):
        cells = pair[::-1] if header == "item,user" else pair
        rows.append(",".join(["0", *cells] if header[0] == "," else [*cells, str(n)][:columns]))
    (folder / "lists.csv").write_text("\n".join([header, *rows]) + "\n")
    names = data.draw(st.lists(st.sampled_from(sorted(OPTIONS)), max_size=2, unique=True))
    options = {name: data.draw(st.sampled_from(OPTIONS[name])) for name in names}
    knows = data.draw(st.sampled_from(sorted(KNOWS)))
    invalid, score_refuses = refused(folder, KNOWS[knows], options)
    assert invalid == score_refuses
