"""A config for a log of unknown shape: what is guessed, said, written, and what is refused."""

import json
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import refusal

from harness import config as config_
from harness.core.errors import DataError, UsageError
from harness.experiment.guess import config_for
from harness.experiment.guess_columns import Columns
from harness.protocol.task import make_task

DAYS = range(1, 31)
ROW = "{user},{item},2020-01-{day:02}"


def log(head: str, row: str, separator: str = ",") -> str:
    """Return a log of 30 days, on which all of 12 users have an item each."""
    lines = [
        row.format(user=f"u{user}", item=f"i{(user + day) % 5}", day=day, rating=user % 5 + 1)
        for day in DAYS
        for user in range(12)
    ]
    return (
        "\n".join(line.replace(",", separator) for line in ([head] if head else []) + lines) + "\n"
    )


def guessed(folder: Path, name: str, text: str, **said: Any) -> tuple[Any, list[str]]:
    """Return the config that is written for a log, and what is said of it."""
    small.write(folder, {name: text})
    found = config_for(folder / name, folder / "new.toml", Columns(**said))
    assert found.fault == ""
    return tomllib.loads(found.text), found.told


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2020-01-{day:02}", None),
        ("2020-01-{day:02}T10:00:00Z", None),
        ("{day:02}.01.2020", "%d.%m.%Y"),
        ("{day:02}/01/2020 10:30", "%d/%m/%Y %H:%M"),
        ("01/{day:02}/2020", "%m/%d/%Y"),
        ("202001{day:02}", "%Y%m%d"),
        ("{day:02}.01.20", "%d.%m.%y"),
        ("01/{day:02}/20 10:30", "%m/%d/%y %H:%M"),
        ("20-01-{day:02}", "%y-%m-%d"),
        ("2020.01.{day:02}", "%Y.%m.%d"),
        ("15778368{day:02}", "epoch_s"),
        ("15778368{day:02}000", "epoch_ms"),
        ("15778368{day:02}000000", "epoch_us"),
        ("2020-01-{day:02} 10:30:00 UTC", "%Y-%m-%d %H:%M:%S UTC"),
    ],
)
def test_how_times_are_written(tmp_path: Path, written: str, expected: str | None) -> None:
    found, told = guessed(tmp_path, "log.csv", log("user,item,time", "{user},{item}," + written))
    assert found["data"].get("time_format") == expected
    (line,) = [line for line in told if line.startswith("time ")]
    assert f": {expected or 'iso'}, such as" in line


def test_days_that_may_be_years_are_said_to_be(tmp_path: Path) -> None:
    text = "user,item,date\n" + "".join(f"u,i,0{n}-02-2{n % 3}\n" for n in range(1, 9))
    _, told = guessed(tmp_path, "log.csv", text)
    (line,) = [line for line in told if line.startswith("ambiguous ")]
    assert "the order of day, month and year in" in line
    assert line.count("time_format = ") == 2


@pytest.mark.parametrize("last", ["25.11.99 {} 23.01.00", "99-11-25 {} 00-01-23"])
def test_a_new_century_comes_after_the_old(tmp_path: Path, last: str) -> None:
    """What is held out is of January 2000, and not of December 1999."""
    old, new = last.split(" {} ")
    text = "user,item,time\n" + "".join(f"u{n},i,{day}\n" for n in range(9) for day in (old, new))
    found = config_for(write(tmp_path, text), tmp_path / "new.toml")
    assert any("1999-11-25 … 2000-01-23" in line for line in found.told)


@pytest.mark.parametrize(
    ("rows", "expected", "other"),
    [
        (["01/02/2020", "01/03/2020", "01/04/2020"], "%m/%d/%Y", "%d/%m/%Y"),
        (["01/02/2020", "02/02/2020", "03/02/2020"], "%d/%m/%Y", "%m/%d/%Y"),
    ],
)
def test_of_two_readings_the_one_of_fewer_days(
    tmp_path: Path, rows: list[str], expected: str, other: str
) -> None:
    """Three days in a row; the other way these are the second or the first of three months."""
    text = "user,item,time\n" + "".join(f"u{n},i,{day}\n" for n in range(9) for day in rows)
    found = config_for(write(tmp_path, text), tmp_path / "new.toml")
    assert tomllib.loads(found.text)["data"]["time_format"] == expected
    assert (
        "ambiguous  the order of day and month in the first rows: the config has time_format = "
        f'"{expected}"; if that is wrong, write time_format = "{other}" in [data], '
        "or make the config anew with --time-format"
    ) in found.told


def write(folder: Path, text: str) -> Path:
    small.write(folder, {"log.csv": text})
    return folder / "log.csv"


@pytest.mark.parametrize(
    "head",
    [
        "customer_id,article_id,t_dat",
        "visitorid,itemid,timestamp",
        "userId,movieId,Date",
        "Session ID,SKU,event_time",
        "Kundennummer,Artikelnummer,Datum",
        "Käufer,Artikel,Datum",
        "cliente,producto,fecha",
        "client,article,date_achat",
        "session,aid,ts",
        "buyer,product_code,ordered_at",
        "user,item,written",
    ],
)
def test_columns_by_their_names(tmp_path: Path, head: str) -> None:
    found, _ = guessed(tmp_path, "log.csv", log(head, ROW))
    assert [found["data"][key] for key in ("user", "item", "time")] == head.split(",")


@pytest.mark.parametrize(
    ("head", "row", "columns"),
    [
        ("user,user_id,track,track_id,ts", "x,{user},y,{item},2020-01-{day:02}",
         "user_id,track_id,ts"),
        ("cust_id,prod_nr,date_of_birth,ts_created", "{user},{item},1980-05-05,2020-01-{day:02}",
         "cust_id,prod_nr,ts_created"),
        ("cust_id,ean,birthday,sent", "{user},{item},1980-05-{day:02},2020-01-{day:02}",
         "cust_id,ean,sent"),
        ("CustomerID,StockCode,date,InvoiceDate", "{user},{item},2020-01-01,2020-01-{day:02}",
         "CustomerID,StockCode,InvoiceDate"),
    ],
)  # fmt: skip
def test_ids_go_before_names_and_times_that_differ_before_others(
    tmp_path: Path, head: str, row: str, columns: str
) -> None:
    found, _ = guessed(tmp_path, "log.csv", log(head, row))
    assert [found["data"][key] for key in ("user", "item", "time")] == columns.split(",")


@pytest.mark.parametrize("separator", [";", "\t", "|", "::", " "])
def test_what_stands_between_fields(tmp_path: Path, separator: str) -> None:
    text = log("user,item,time", ROW, separator)
    found, told = guessed(tmp_path, "log.csv", text)
    assert found["data"]["separator"] == separator
    assert told[0].startswith("separator")


def test_what_is_guessed_by_values_or_stands_for_something_else_is_said(tmp_path: Path) -> None:
    head = "session_id,item,written,updated_at"
    text = log(head, "{user},{item},2020-01-{day:02},2020-02-{day:02}")
    _, told = guessed(tmp_path, "log.csv", text.replace("2020-02-30", "2020-02-29"))
    assert "user       column session_id: a session counts as a user" in told
    assert any(line.startswith("time       column updated_at") for line in told)
    text = log("user,item,written,sent", "{user},{item},2020-01-{day:02},2020-01-01")
    _, told = guessed(tmp_path, "other.csv", text)
    (line,) = [line for line in told if line.startswith("time ")]
    assert line.endswith(", by its values; sent may be one, too: --time-column")


def test_events_in_the_future_are_said(tmp_path: Path) -> None:
    text = log("user,item,time", ROW) + "u1,i1,2920-01-01\n"
    small.write(tmp_path, {"log.csv": text})
    found = config_for(tmp_path / "log.csv", tmp_path / "new.toml")
    (line,) = [line for line in found.told if line.startswith("note ")]
    assert "2920-01-01" in line
    assert "later than today" in line


def test_a_file_without_a_header_is_taken_with_names(tmp_path: Path) -> None:
    text = log("", "{user},{item},{rating},2020-01-{day:02}")
    names = ("user", "item", "rating", "time")
    found, told = guessed(tmp_path, "u.data", text, header=names)
    assert found["data"]["header"] == list(names)
    assert "value      column rating may be one; it is not used" in told


def test_types_are_those_of_the_whole_log(tmp_path: Path) -> None:
    """The first thousand rows are views; the others are rare, and not to be lost."""
    views = log("user,item,time,event", "{user},{item},2020-01-{day:02},view")
    more = "".join(f"u{n % 12},i1,2020-01-30,view\n" for n in range(1200))
    found, told = guessed(tmp_path, "log.csv", views + more + "u1,i2,2020-01-30,buy\n")
    assert found["data"]["kind"] == "event"
    assert found["evaluation"]["hits"] == ["view", "buy"]
    assert "kind       column event, with view, buy: all count as hits" in told


def test_a_column_of_many_words_is_no_type(tmp_path: Path) -> None:
    """There are 30 in all, one in the first thousand rows."""
    head = log("user,item,time,type", "{user},{item},2020-01-{day:02},a")
    more = "".join(f"u{n % 12},i1,2020-01-30,a\n" for n in range(1000))
    rare = "".join(f"u1,i1,2020-01-30,t{n}\n" for n in range(30))
    found, _ = guessed(tmp_path, "log.csv", head + more + rare)
    assert "kind" not in found["data"]
    assert "hits" not in found["evaluation"]


def test_a_later_row_that_is_written_otherwise_is_named(tmp_path: Path) -> None:
    """The first thousand rows are of one day, which says nothing."""
    rows = ["u1,i,05/06/2020"] * 1200 + ["u2,i,05/13/2020"]
    log = write(tmp_path, "\n".join(["user,item,time", *rows]) + "\n")
    found = config_for(log, tmp_path / "new.toml")
    assert 'if that is wrong, write time_format = "%m/%d/%Y" in' in "\n".join(found.told)
    assert 'line 1202, column "time": found "05/13/2020"' in found.fault


def test_other_ways_of_the_same_reading_are_not_named(tmp_path: Path) -> None:
    _, told = guessed(tmp_path, "log.csv", log("user,item,time", ROW))
    assert not any(line.startswith("ambiguous ") for line in told)


@pytest.mark.parametrize(
    ("row", "note"),
    [
        ("{user},a,2020-01-{day:02}", "there is one item: is that the column? --item-column"),
        ("NA,{item},2020-01-{day:02}", 'the user "NA" has 360 of 372 events'),
    ],
)
def test_what_looks_like_a_mistake_is_noted(tmp_path: Path, row: str, note: str) -> None:
    some = "".join(f"u{n},{'a' if 'item' in note else f'i{n}'},2020-01-30\n" for n in range(12))
    small.write(tmp_path, {"log.csv": log("user,item,time", row) + some})
    told = config_for(tmp_path / "log.csv", tmp_path / "new.toml").told
    assert any(line.startswith("note ") and note in line for line in told)


def test_times_that_are_missing_and_written_as_0_are_noted(tmp_path: Path) -> None:
    text = log("user,item,time", "{user},{item},15778368{day:02}") + "u1,i1,0\n"
    _, told = guessed(tmp_path, "log.csv", text)
    assert any("events from 1970-01-01 on are earlier than any log" in line for line in told)


def test_lists_side_by_side_are_rows(tmp_path: Path) -> None:
    days = [[f"2020-01-{day:02}" for day in DAYS]] * 12
    items = [[f"i{(n + day) % 5}" for day in DAYS] for n in range(12)]
    users = [f"u{n}" for n in range(12)]
    frame = pl.DataFrame({"uid": users, "timestamp": days, "item_id": items})
    frame.write_parquet(tmp_path / "log.parquet")
    found = tomllib.loads(config_for(tmp_path / "log.parquet", tmp_path / "new.toml").text)
    assert found["data"]["rows"] == ["timestamp", "item_id"]


def test_lists_beside_columns_that_are_named_are_no_rows(tmp_path: Path) -> None:
    """Tags of an item, say."""
    rows = {"who": [f"u{n % 12}" for n in range(360)], "what": [f"i{n % 5}" for n in range(360)]}
    days = [f"2020-01-{n // 12 + 1:02}" for n in range(360)]
    frame = pl.DataFrame(rows | {"day": days, "tags": [["x", "y"]] * 360})
    frame.write_parquet(tmp_path / "log.parquet")
    said = Columns(user="who", item="what")
    found = tomllib.loads(config_for(tmp_path / "log.parquet", tmp_path / "new.toml", said).text)
    assert "rows" not in found["data"]


def test_what_is_held_out_follows_from_who_is_there(tmp_path: Path) -> None:
    """All 12 users are there on the last 7 of 30 days, and on the last 1 of 10."""
    text = log("user,item,time", ROW)
    found, told = guessed(tmp_path, "long.csv", text)
    assert found["split"] == {"strategy": "time", "valid_days": 7}
    assert (
        "found      360 events of 12 users and 5 items, 2020-01-01 … 2020-01-30, days of UTC"
        in told
    )
    assert "split      the last 7 days: 12 of their users had events before" in told
    short = "".join(text.splitlines(keepends=True)[:121])
    assert guessed(tmp_path, "short.csv", short)[0]["split"]["valid_days"] == 1
    apart = (
        "user,item,time\n"
        + "".join(
            f"u{n},i{(n + m) % 3},2020-0{1 + n // 3}-0{1 + m}\n" for n in range(9) for m in range(2)
        )
        + "new,i1,2020-05-01\nnew,i2,2020-05-01\n"
    )
    found, told = guessed(tmp_path, "apart.csv", apart)
    assert found["split"] == {"strategy": "last_n", "n": 1}
    assert "split      each user's last event: of the last 7 days 0 users had events before" in told


def test_parquet_has_types(tmp_path: Path) -> None:
    text = log("user,item,when", ROW)
    pl.read_csv(text.encode(), try_parse_dates=True).write_parquet(tmp_path / "log.parquet")
    found = config_for(tmp_path / "log.parquet", tmp_path / "new.toml")
    assert "time       column when: a date or time" in found.told
    assert "time_format" not in tomllib.loads(found.text)["data"]


def test_the_events_of_a_session_are_rows(tmp_path: Path) -> None:
    def events(user: int) -> list[dict[str, Any]]:
        day = 86_400_000
        return [{"aid": f"a{(user + n) % 5}", "ts": (18_262 + n) * day} for n in range(10)]

    sessions = [{"session": f"s{n}", "events": events(n)} for n in range(12)]
    text = "".join(json.dumps(session) + "\n" for session in sessions)
    found, told = guessed(tmp_path, "log.jsonl", text)
    assert "rows       the elements of events" in told
    assert any(line.startswith("found      120 events of 12 users and 5 items") for line in told)
    data = found["data"]
    assert (data["rows"], data["item"], data["time"]) == ("events", "aid", "ts")


def test_letters_of_another_encoding(tmp_path: Path) -> None:
    text = log("user,item,time,größe", "{user},é{item},2020-01-{day:02},1")
    path = tmp_path / "log.csv"
    path.write_bytes(text.encode("latin-1"))
    with refusal(DataError, "is not UTF-8 text"):
        config_for(path, tmp_path / "new.toml")
    found = config_for(path, tmp_path / "new.toml", Columns(encoding="latin-1"))
    assert (found.fault, tomllib.loads(found.text)["data"]["encoding"]) == ("", "latin-1")


def test_signs_of_a_shell_in_the_name_of_a_log(tmp_path: Path) -> None:
    found, _ = guessed(tmp_path, "a $HOME [1].csv", log("user,item,time", ROW))
    assert found["data"]["events"] == "a $$HOME [1].csv"
    make_task(config_.parse(found, tmp_path))


def test_a_tab_file_without_a_header_needs_no_separator(tmp_path: Path) -> None:
    """Nor is one refused that is typed as a shell has it."""
    text = log("", "{user},{item},{rating},2020-01-{day:02}", "\t")
    header = ("user", "item", "rating", "time")
    found = [
        guessed(tmp_path, "u.data", text, header=header, separator=separator)[0]
        for separator in (None, "\\t")
    ]
    assert found[0] == found[1]
    assert found[0]["data"]["separator"] == "\t"


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (
            "".join(f"u{n},i{n % 3},2020-01-{n % 30 + 1:02}\n" for n in range(90)),
            ["nobody can be evaluated so: ", "train event"],
        ),
        (
            log("", ROW) + "u1,i1,2020-13-01\n",
            ["the log cannot be read so: ", 'log.csv: line 362, column "time"'],
        ),
        (
            log("", ROW) + ",i1,2020-01-30\n",
            ["where = { user = { empty = false } } under [data] leaves such rows out"],
        ),
    ],
)
def test_a_config_is_there_though_no_run_can_begin(
    tmp_path: Path, rows: str, fault: list[str]
) -> None:
    """The hints of what is wrong are keys of it."""
    found = config_for(write(tmp_path, "user,item,time\n" + rows), tmp_path / "new.toml")
    assert [words for words in fault if words not in found.fault] == []
    assert tomllib.loads(found.text)["data"]["events"] == "log.csv"


def test_names_for_what_has_names_are_refused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"user": ["a"], "item": ["b"], "time": ["2020"]})
    frame.write_parquet(tmp_path / "log.parquet")
    with refusal(UsageError, "its columns have names, user, item, time; leave --header out"):
        config_for(tmp_path / "log.parquet", tmp_path / "new.toml", Columns(header=("a", "b", "c")))


def test_no_such_log(tmp_path: Path) -> None:
    with refusal(DataError, "gone.csv"):
        config_for(tmp_path / "gone.csv", tmp_path / "new.toml")


def times(written: str) -> str:
    return log("user,item,time", "{user},{item}," + written)


@pytest.mark.parametrize(
    ("text", "said", "words"),
    [
        (
            "a,b,c\nx,y,2020-01-01\n",
            {},
            [
                "no column looks like the user's id or the item's id",
                "of a, b",
                "--user-column --item-",
            ],
        ),
        ("user,b,c\nx,y,2020-01-01\n", {}, ["the item's id", "of b name one", "--item-column"]),
        (
            "user,item\nx,y\n",
            {},
            ["has the columns user, item", "a time are needed", "docs/config.md"],
        ),
        (
            "user,item,b\nx,y,z\n",
            {},
            ["no column looks like a time", "--time-column", "docs/config.md"],
        ),
        ("user\nx\n", {}, ["has the columns user; a user, an item and a time are needed"]),
        ("user,item,time\n", {"user": "who"}, ['has no column "who"', "user, item, time"]),
        ('{"user": 1, "item": 2}\n', {}, ["line 1 looks like JSON", ".jsonl"]),
        ("2024-04-01,c3,p1\n", {}, ["looks like data", "--header time,user,item"]),
        ("1\t2\t2020-01-05\n", {}, ["line 1 looks like data", "--header user,item,time"]),
        ("1\t2\t5\t2020-01-05\n", {}, ["--header user,item,rating,time"]),
        ("1\t2\n", {}, ["--header user,item"]),
        ("1\t2\t5\t2020-01-05\t7\n", {}, ["--header user,item,rating,time,column5"]),
        ("97,9,44,cart,1709251288\n", {}, ["--header user,item,rating,time,column5"]),
        (
            "1\t2\t5\t2020-01-05\n",
            {"header": ("user", "item", "time")},
            ["log.csv: line 1 has 4 fields, and --header names 3"],
        ),
        ("user,item,time\n", {}, ['"time"', "no time in its first rows"]),
        ("user,item,time\nx,y,soon\n", {}, ['"time"', '"soon"', '--time-format "%d.%m.%Y"']),
        # Days since 1899 and counters of rows would all be seconds of January 1970.
        (times("438{day:02}"), {}, ["438", "1970-01-01", "Excel", "--time-format epoch_s"]),
        (times("438{day:02}.5"), {}, ["Excel"]),
        (times("{day}"), {}, ["1970-01-01", "only number the events", "--time-format epoch_s"]),
        (
            times("15778368{day:02}000000000"),
            {},
            ["nanoseconds", "divide them by 1,000", "epoch_us"],
        ),
    ],
)
def test_what_cannot_be_guessed_is_asked_for(
    tmp_path: Path, text: str, said: dict[str, Any], words: list[str]
) -> None:
    with refusal(UsageError, "log.csv", *words):
        config_for(write(tmp_path, text), tmp_path / "new.toml", Columns(**said))


def test_numbers_that_are_hardly_times_are_times_where_it_is_said(tmp_path: Path) -> None:
    found, _ = guessed(tmp_path, "log.csv", times("438{day:02}"), time_format="epoch_s")
    assert found["data"]["time_format"] == "epoch_s"
