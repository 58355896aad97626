"""Tables in several files: patterns, and folders whose names are columns."""

import os
from pathlib import Path

import polars as pl
import pytest
from conftest import refusal
from event_files import log, refused, rows
from small import write

from harness.core.errors import DataError
from harness.data import attributes
from harness.data.layout import AttributeTable, Table
from harness.data.naming import parts_of

HEADER = "user,item,time\n"


def names(folder: Path, pattern: str) -> list[str]:
    return [part.path.relative_to(folder).as_posix() for part in parts_of(Table(folder / pattern))]


TREE = (
    "2019-12.csv 2020-01.csv 2020-02.csv.gz deep/2020-03.csv deep/er/2020-04.csv "
    "deep/_temporary/2020-05.csv .hidden/2020-06.csv _SUCCESS x[1].csv x1.csv"
)


def test_what_a_pattern_fits(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(TREE.split(), HEADER))
    for pattern, fits in (
        ("2020-*.csv", ["2020-01.csv"]),
        ("2020-0?.csv*", ["2020-01.csv", "2020-02.csv.gz"]),
        ("20[12]9-*.csv", ["2019-12.csv"]),
        ("**/2020-*.csv", ["2020-01.csv", "deep/2020-03.csv", "deep/er/2020-04.csv"]),
        ("deep/**/*.csv", ["deep/2020-03.csv", "deep/er/2020-04.csv"]),
        ("*/*.csv", ["deep/2020-03.csv"]),
        ("x[1].csv", ["x[1].csv"]),
        ("deep", ["deep/2020-03.csv", "deep/er/2020-04.csv"]),
    ):
        assert names(tmp_path, pattern) == fits


def test_a_folder_with_the_signs_of_patterns_is_itself(tmp_path: Path) -> None:
    folder = write(tmp_path / "[ab]*", {"log-1.csv": HEADER, "log-2.csv": HEADER})
    assert names(folder, "log-*.csv") == ["log-1.csv", "log-2.csv"]
    assert names(folder, "log-1.csv") == ["log-1.csv"]


def test_patterns_that_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {"a.csv": HEADER, "a.csv.gz": ""})
    for pattern, words in (
        (
            "2021-*.csv",
            ["2021-*.csv", "no file matches this pattern", " has: ", "a.csv", "** any"],
        ),
        ("none/*.csv", ["the folder ", "none does not exist"]),
        ("a*", ["a.csv.gz: is next to a.csv; keep one of the two"]),
    ):
        with refusal(DataError, words):
            parts_of(Table(tmp_path / pattern))


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_links_in_circles_out_of_a_folder_and_to_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"logs/a.csv": HEADER, "logs/deep/b.csv": HEADER, "other/c.csv": HEADER})
    (tmp_path / "other" / "a.csv").symlink_to("gone.csv")  # does not go missing
    assert names(tmp_path, "*/a.csv") == ["logs/a.csv", "other/a.csv"]
    (tmp_path / "logs" / "again").symlink_to(tmp_path / "logs")
    (tmp_path / "logs" / "deep" / "out").symlink_to("/")
    (tmp_path / "logs" / "d.csv").symlink_to(tmp_path / "other" / "c.csv")
    assert names(tmp_path, "logs") == ["logs/a.csv", "logs/d.csv", "logs/deep/b.csv"]
    assert names(tmp_path, "logs/**/*.csv") == names(tmp_path, "logs")


JANUARY = 18262
"""Days from 1970 to 2020-01-01."""


def test_text_has_the_columns_of_its_folders_below_the_one_that_is_named(tmp_path: Path) -> None:
    files = {
        "log/time=2020-01-01/item=a%20%2F1/0.csv": 'user,note\nann,"1\n2"\nbob,\n',
        "log/time=2020-01-01/item=b/0.csv": "user,note\nann,\n",
    }
    result = rows(log(write(tmp_path, files), events="log"))
    assert result == [("ann", "a /1", JANUARY), ("ann", "b", JANUARY), ("bob", "a /1", JANUARY)]
    refused(tmp_path, '0.csv: no column "time"', events="log/time=2020-01-01")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("item=x/0.csv", 'user,time\n"a\n",2020-01-01\n,2020-01-01\n',
         '0.csv: line 4, column "user": found an empty value'),
        ("item=x/0.csv", "user,time\na,2020-01-01\na\n",
         "0.csv: line 3 has 1 field, expected 2"),
        ("item=__HIVE_DEFAULT_PARTITION__/0.csv", "user,time\na,2020-01-01\n",
         '0.csv: line 2, column "item": found an empty value'),
        ("user=a/0.parquet", "user,item\na,x\n",
         'the column "user" is in the file and in the name of its folder'),
        ("time=2020-01-01/time=2020-01-02/0.parquet", "user,item\na,x\n",
         '0.parquet: two of its folders name "time"'),
    ],
)  # fmt: skip
def test_faults_in_such_folders(tmp_path: Path, name: str, content: str, words: str) -> None:
    write(tmp_path, {f"log/{name}": content})
    if name.endswith(".parquet"):
        pl.read_csv(content.encode()).write_parquet(tmp_path / "log" / name)
    refused(tmp_path, words, events="log")


def test_tables_of_users_lie_in_such_folders(tmp_path: Path) -> None:
    write(tmp_path, {"users/town=here/0.csv": "user\na\n", "users/town=there/0.csv": "user\nb\n"})
    table = AttributeTable(tmp_path / "users", id="user")
    assert attributes.read(table).rows() == [("a", "here"), ("b", "there")]


def test_it_is_the_same_log(tmp_path: Path) -> None:
    """However it is written; each user has each of the ids."""
    ids = ["a", "b c", "d/e", "f=g", "%41", "é", '"']
    events = [(user, item, 1 + n % 3) for user in ids for n, item in enumerate(ids)]
    frame = pl.DataFrame(events, schema=["user", "item", "day"], orient="row")
    frame = frame.select("user", "item", time=pl.format("2020-01-0{}", "day"))
    frame.write_csv(tmp_path / "log.csv")
    frame.write_parquet(pl.PartitionBy(tmp_path / "hive", key=["item", "time"], include_key=False))
    frame.write_csv(tmp_path / "log.tsv", separator="\t")
    expected = rows(log(tmp_path))
    assert len(expected) == len(events)
    for name in ("hive", "hive/**/*.parquet", "hive/item=*", "lo*.tsv"):
        assert rows(log(tmp_path, events=name)) == expected
