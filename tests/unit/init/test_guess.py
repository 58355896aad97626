"""A config for a log of unknown shape: what is guessed, said, written, and what is refused."""

import json
import sqlite3
import tomllib
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import refusal

from harness.core.errors import DataError, UsageError
from harness.init.guess import NewConfig, config_for

HEAD = "user,item,time"
ROW = "{user},{item},2020-01-{day:02}"


def log(head: str, row: str = ROW, separator: str = ",") -> str:
    """Return a log of 30 days, on which all of 12 users have an item each."""
    rows = [
        row.format(user=f"u{user}", item=f"i{(user + day) % 5}", day=day, rating=user % 5 + 1)
        for day in range(1, 31)
        for user in range(12)
    ]
    return "".join(f"{line}\n" for line in [head, *rows] if line).replace(",", separator)


def times(written: str) -> str:
    """Return a log whose times are written so."""
    return log(HEAD, "{user},{item}," + written)


def config_of(folder: Path, text: str | pl.DataFrame, **options: Any) -> NewConfig:
    """Return the config for a log of some text, or of a frame in Parquet."""
    path = folder / ("log.csv" if isinstance(text, str) else "log.parquet")
    if isinstance(text, str):
        path.write_text(text, encoding="utf-8")
    else:
        text.write_parquet(path)
    return config_for(path, folder / "new.toml", **options)


def guessed(folder: Path, text: str | pl.DataFrame, **options: Any) -> tuple[Any, list[str]]:
    """Return the config that is written for a log, and what is said of it."""
    new_config = config_of(folder, text, **options)
    assert new_config.fault == ""
    return tomllib.loads(new_config.text), new_config.lines


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2020-01-{day:02}", None),
        ("2020-01-{day:02}T10:00:00Z", None),
        ("{day:02}.01.2020", "%d.%m.%Y"),
        ("{day:02}/01/2020 10:30", "%d/%m/%Y %H:%M"),
        ("01/{day:02}/2020", "%m/%d/%Y"),
        ("202001{day:02}", "%Y%m%d"),
        ("{day:02}-Jan-2020", "%d-%b-%Y"),
        ("15778368{day:02}", "epoch_s"),
        ("15778368{day:02}000", "epoch_ms"),
        ("15778368{day:02}000000", "epoch_us"),
        ("2020-01-{day:02} 10:30:00 UTC", "%Y-%m-%d %H:%M:%S UTC"),
    ],
)
def test_how_times_are_written(tmp_path: Path, written: str, expected: str | None) -> None:
    values, lines = guessed(tmp_path, times(written))
    assert values["data"].get("time_format") == expected
    (line,) = [line for line in lines if line.startswith("time ")]
    assert f": {expected or 'iso'}, such as" in line


def test_dates_of_two_readings_are_refused_with_both(tmp_path: Path) -> None:
    text = f"{HEAD}\n" + "".join(f"u{n % 9},i,0{n % 3 + 1}/02/2020\n" for n in range(90))
    ways = '--time-format "%d/%m/%Y" or --time-format "%m/%d/%Y"'
    with refusal(
        UsageError, f"read in 2 ways, and no row decides which is right; choose one: {ways}"
    ):
        config_of(tmp_path, text)
    config = config_of(tmp_path, text, time_format="%m/%d/%Y")
    assert tomllib.loads(config.text)["data"]["time_format"] == "%m/%d/%Y"


def test_a_later_row_tells_the_order_of_day_and_month(tmp_path: Path) -> None:
    """The first thousand rows are of one day, which says nothing; one row has no time at all."""
    rows = "u1,i,05/06/2020\nu2,i,05/07/2020\n" * 600 + "u2,i,05/13/2020\nu2,i,soon\n"
    values, lines = guessed(tmp_path, f"{HEAD}\n{rows}")
    assert values["data"]["time_format"] == "%m/%d/%Y"
    assert 'where      1 row with "soon" in time: left out' in lines


def test_rows_that_cannot_be_read_are_left_out_and_counted(tmp_path: Path) -> None:
    """All at once: a run can begin on what is left."""
    good = log("", "{user},{item},2020-01-{day:02},5")
    bad = ",i1,2020-01-02,5\nu1,,2020-01-02,5\nu1,i1,n/a,5\nu1,i1,n/a,5\nu1,i1,2037-01-01,5\n"
    raw = 'u1,i1,2020-01-02,"5" screen\nu1,i1,2020-01-02\n\n'
    config = config_of(tmp_path, f"user,item,time,note\n{bad}{good}{raw}")
    data = tomllib.loads(config.text)["data"]
    assert (config.fault, data["quote"], data["bad_lines"]) == ("", False, "drop")
    assert data["where"] == {
        "user": {"empty": False},
        "item": {"empty": False},
        "time": {"not": ["n/a"], "max": date(2020, 1, 30)},
    }
    assert (
        '# leaves out 1 row with nothing in user; 1 row with nothing in item; 2 rows with "n/a" '
        "in time; 1 event from 2037-01-01 on, after a long gap\n"
    ) in config.text
    assert "# leaves out 1 line with damaged quotes, too few or too many fields\n" in config.text
    (note,) = (line for line in config.lines if line.startswith("note"))
    assert "log.csv: 6 of 367 rows left out (kept: whole lines, item = { empty = false }, " in note


@pytest.mark.parametrize(
    ("cell", "quoting"),
    [
        ('"a, b"', {}),
        ('"a ""b"" c"', {}),
        ('"a \\"b\\" c"', {"escape": "\\"}),
        ('"a" b', {"quote": False}),
        ('"a', {"quote": False}),
    ],
)
def test_how_quotes_are_read(tmp_path: Path, cell: str, quoting: dict[str, Any]) -> None:
    row = "{user},{item},2020-01-{day:02}," + cell
    data = guessed(tmp_path, log("user,item,time,note", row))[0]["data"]
    assert {key: data[key] for key in ("quote", "escape", "bad_lines") if key in data} == quoting
    rows = row.format(user="u", item="i", day=1) + "\n" + log("", row)
    names = ["user", "item", "time", "note"]
    assert guessed(tmp_path, rows, header=names)[0]["data"].get("quote") == quoting.get("quote")


@pytest.mark.parametrize("separator", [",", "\t", "::"])
def test_a_first_row_of_equal_cells(tmp_path: Path, separator: str) -> None:
    """Of ids that were numbered anew, without a header."""
    row = "0,0,5,1577836800\n".replace(",", separator)
    config = config_of(tmp_path, row, header=["user", "item", "rating", "time"])
    assert tomllib.loads(config.text)["data"].get("separator", ",") == separator


@pytest.mark.parametrize(
    ("head", "row", "columns"),
    [
        ("customer_id,article_id,t_dat", ROW, "customer_id,article_id,t_dat"),
        ("Session ID,SKU,event_time", ROW, "Session ID,SKU,event_time"),
        ("Kundennummer,Artikelnummer,Datum", ROW, "Kundennummer,Artikelnummer,Datum"),
        # Ids go before names, and dates by their values are times.
        ("user,user_id,track,track_id,ts", "x,{user},y,{item},2020-01-{day:02}",
         "user_id,track_id,ts"),
        ("cust_id,ean,sent", ROW, "cust_id,ean,sent"),
        ("cliente,articulo,data", ROW, "cliente,articulo,data"),
        ("user,data,when,item", "{user},x{day},2020-01-{day:02},{item}", "user,item,when"),
    ],
)  # fmt: skip
def test_what_columns_are(tmp_path: Path, head: str, row: str, columns: str) -> None:
    values, _ = guessed(tmp_path, log(head, row))
    assert [values["data"][key] for key in ("user", "item", "time")] == columns.split(",")


@pytest.mark.parametrize("separator", [";", "\t", "|", "::", " "])
def test_what_stands_between_fields(tmp_path: Path, separator: str) -> None:
    values, lines = guessed(tmp_path, log(HEAD, ROW, separator))
    assert values["data"]["separator"] == separator
    assert lines[0].startswith("separator")


def test_a_tab_file_without_a_header_needs_no_separator(tmp_path: Path) -> None:
    """Nor is one refused that is typed as a shell has it."""
    text = log("", "{user},{item},{rating},2020-01-{day:02}", "\t")
    names = ["user", "item", "rating", "time"]
    values, lines = guessed(tmp_path, text, header=names)
    assert (values["data"]["header"], values["data"]["separator"]) == (names, "\t")
    assert "value      column rating may be a value; init does not use it" in lines
    assert guessed(tmp_path, text, header=names, separator="\\t")[0] == values


ODD = {
    log(HEAD, "u,{item},2020-01-{day:02}"): (
        "note       there is only one user: is this the right column? --user-column names another"
    ),
    log("session_id,item,written"): "user       column session_id: each session counts as a user",
    log("user,item,written,sent", f"{ROW},2020-01-01"): ("; sent may also be times: --time-column"),
    times("15778368{day:02}") + "u1,i1,0\n": (
        "note       360 events run from 2020-01-01 to 2020-01-01, and 1 event is on 1970-01-01, "
        "before 18,261 days without any. If a missing time was written as 0 or as a default, "
        "where = { time = { min = 2020-01-01 } } under [data] leaves it out"
    ),
    log(HEAD, "NA,{item},2020-01-{day:02}") + "u1,i1,2020-01-30\n": (
        'note       of 361 events the user "NA" has 360. If these are missing values, where = '
    ),
}


@pytest.mark.parametrize(("text", "words"), ODD.items())
def test_what_is_odd_or_guessed_by_values_is_said(tmp_path: Path, text: str, words: str) -> None:
    assert any(words in line for line in config_of(tmp_path, text).lines)


def test_types_are_those_of_the_whole_log(tmp_path: Path) -> None:
    """The first thousand rows are plays; the other is rare, and not to be lost."""
    views = log("user,item,time,event", f"{ROW},play") + "u1,i1,2020-01-30,play\n" * 1200
    values, lines = guessed(tmp_path, views + "u1,i2,2020-01-30,like\n")
    assert values["data"]["kind"] == "event"
    assert values["evaluation"]["hits"] == ["play", "like"]
    types = "kind       column event, with play, like"
    assert f"{types}: all count as hits; [evaluation] hits can choose fewer" in lines
    rare = "".join(f"u1,i1,2020-01-30,t{n}\n" for n in range(30))  # words of all sorts are no types
    values, _ = guessed(tmp_path, views + rare)
    assert "kind" not in values["data"]
    assert "hits" not in values["evaluation"]


@pytest.mark.parametrize(
    ("column", "types", "hits"),
    [
        ("event", "view view addtocart transaction", "transaction"),
        ("event_type", "view cart remove_from_cart purchase", "purchase"),
        ("behavior", "pv fav cart buy", "buy"),
        ("type", "clicks carts orders", "orders"),
        ("event_name", "view_item add_to_cart begin_checkout", "begin_checkout"),
        ("PURCHASE_FLG", "0 0 1", "1"),
        ("behavior_type", "1 2 3 4", "4"),
        ("action_type", "0 1 2 3", "2"),
        ("action", "click order sale", "order sale"),
        ("Vorgang", "view purchase", "purchase"),
        # One step, words of another kind, and codes of no column that is known are no funnel.
        ("event", "purchase save", "purchase save"),
        ("event", "play like", "play like"),
        # What nobody took, or gave back, is none.
        ("event", "purchase return Refund", "purchase"),
        ("action", "like dislike play", "like play"),
        ("action", "skip impression click", "click"),
        ("event", "impression view remove_from_cart cart", "cart"),
        ("type", "1 2 3", "1 2 3"),
    ],
)
def test_only_the_last_step_of_a_funnel_is_truth(
    tmp_path: Path, column: str, types: str, hits: str
) -> None:
    every = types.split()
    rows = log(f"{HEAD},{column}").splitlines()
    text = "".join(f"{row},{every[n % len(every)]}\n" for n, row in enumerate(rows[1:]))
    config = config_of(tmp_path, f"{rows[0]}\n{text}")
    values = tomllib.loads(config.text)
    assert (config.fault, set(values["evaluation"]["hits"])) == ("", set(hits.split()))
    (line,) = (line for line in config.text.splitlines() if line.startswith("hits"))
    (kind,) = (line for line in config.lines if line.startswith("kind"))
    never = {"return", "Refund", "dislike", "skip", "impression", "remove_from_cart"} & set(every)
    if set(hits.split()) == set(every) - never:
        assert ("no truth" if never else "all are true items") in line
        assert (": all but " if never else ": all count as hits") in kind
    else:
        assert "  # only the last step of " in line
        whole = tomllib.loads("hits" + line.partition("; for all")[2].replace(":", " =", 1))
        assert set(whole["hits"]) == set(every) - never
        assert " truth; [evaluation] hits can add others" in kind


def test_a_type_may_be_written_in_two_ways(tmp_path: Path) -> None:
    """A last line of totals, which has no type, changes nothing."""
    rows = log(f"{HEAD},event", f"{ROW},view") + "u1,i1,2020-01-30,purchase\n" * 9
    config = config_of(tmp_path, f"{rows}u2,i1,2020-01-30,Purchase\nTotal,,,\n")
    values = tomllib.loads(config.text)
    assert (config.fault, values["evaluation"]["hits"]) == ("", ["purchase", "Purchase"])


def test_events_that_a_long_gap_cuts_off_are_left_out_and_said(tmp_path: Path) -> None:
    values, lines = guessed(tmp_path, log(HEAD) + "u1,i1,2037-01-01\n")
    assert values["data"]["where"] == {"time": {"max": date(2020, 1, 30)}}
    assert values["split"] == {"strategy": "time", "valid_days": 7}
    assert "where      1 event from 2037-01-01 on, after a long gap: left out" in lines
    assert "note       log.csv: 1 of 361 rows left out (kept: time = { max = 2020-01-30 })" in lines


def test_a_season_behind_a_long_gap_is_yours_to_keep_or_leave_out(tmp_path: Path) -> None:
    """One in nine events, a year later: a config says neither, and no run begins."""
    season = log(HEAD).replace("2020-01-", "2021-03-").splitlines(keepends=True)[1:45]
    new_config = config_of(tmp_path, log(HEAD) + "".join(season))
    assert "where" not in tomllib.loads(new_config.text)["data"]
    assert new_config.fault.startswith(
        "no run can start with this config: 360 events run from 2020-01-01 to"
    )
    assert (
        "right, where = { time = { max = 2021-03-04 } } under [data] confirms it"
        in new_config.fault
    )


HITS = {"above": 0, "empty": True}


RETURNS = "0 or less: left out"


@pytest.mark.parametrize(
    ("column", "values", "where", "counted"),
    [
        ("Quantity", "2 -1 3", HITS, f"rows with Quantity of {RETURNS}"),
        ("is_click", "0 1", HITS, f"rows with is_click of {RETURNS}"),
        ("label", "True False", HITS, f"rows with label of {RETURNS}"),
        # Views have none; a text among them is no number, and bounds would be refused.
        ("Quantity", "2,-1,", HITS, "note       log.csv: 120 of 360 rows left out"),
        ("label", "1 0 x", None, 'have 0 or less in column "label", and each counts'),
        # Zeros among other numbers may be ratings that were not given: they are noted.
        ("rating", "0 3 4", None, 'have 0 or less in column "rating", and each counts'),
        ("price", "-1 1", None, ""),
    ],
)
def test_rows_that_a_column_says_to_be_no_hits(
    tmp_path: Path, column: str, values: str, where: dict[str, Any] | None, counted: str
) -> None:
    every = values.split(None if " " in values else ",")
    rows = log(f"{HEAD},{column}").splitlines()
    text = "".join(f"{row},{every[n % len(every)]}\n" for n, row in enumerate(rows[1:]))
    config, lines = guessed(tmp_path, f"{rows[0]}\n{text}")
    assert config["data"].get("where") == (None if where is None else {column: where})
    assert counted in "\n".join(lines)
    kept = len(every) - 1 if where else len(every)
    assert f"{360 * kept // len(every)} events of" in "\n".join(lines)


def test_of_several_flags_none_is_chosen(tmp_path: Path) -> None:
    text = log(f"{HEAD},is_click,is_purchase", f"{ROW},1,0") + "u1,i1,2020-01-30,0,1\n"
    values, lines = guessed(tmp_path, text)
    assert "where" not in values["data"]
    assert 'have 0 or less in column "is_purchase", and each counts' in "\n".join(lines)


def test_a_log_of_what_nobody_took_has_no_truth(tmp_path: Path) -> None:
    config = config_of(tmp_path, log(f"{HEAD},event", f"{ROW},impression"))
    assert "hits" not in tomllib.loads(config.text)["evaluation"]
    assert config.fault == (
        "column event: impression is no truth: name the true ones in [evaluation] hits"
    )


def test_what_is_held_out_follows_from_who_is_there(tmp_path: Path) -> None:
    """All 12 users are there on the last 7 of 30 days, and on the last 1 of 10."""
    values, lines = guessed(tmp_path, log(HEAD))
    assert values["split"] == {"strategy": "time", "valid_days": 7}
    summary = "found      360 events of 12 users and 5 items, 2020-01-01 … 2020-01-30, days of UTC"
    assert summary in lines
    assert "split      the last 7 days: 12 of their users had events before" in lines
    short = "".join(log(HEAD).splitlines(keepends=True)[:121])
    assert guessed(tmp_path, short)[0]["split"]["valid_days"] == 1
    apart = "".join(
        f"u{n},i{(n + m) % 3},2020-0{1 + n // 3}-0{1 + m}\n" for n in range(9) for m in range(2)
    )
    late = "new,i1,2020-05-01\nnew,i2,2020-05-01\n"
    values, lines = guessed(tmp_path, f"{HEAD}\n{apart}{late}")
    assert values["split"] == {"strategy": "last_n", "n": 1}
    assert (
        "split      each user's last event: of the last 7 days 0 users had events before" in lines
    )


def test_parquet_has_types_and_lists(tmp_path: Path) -> None:
    """Lists side by side are rows; beside columns that are named they are tags, say."""
    typed = pl.read_csv(log("user,item,when").encode(), try_parse_dates=True)
    values, lines = guessed(tmp_path, typed)
    assert "time       column when: a date or time" in lines
    assert "time_format" not in values["data"]
    lists = typed.group_by("user", maintain_order=True).agg("when", "item")
    assert guessed(tmp_path, lists)[0]["data"]["rows"] == ["when", "item"]
    tagged = typed.rename({"item": "what"}).with_columns(tags=pl.lit(["x", "y"]))
    assert "rows" not in guessed(tmp_path, tagged, item="what")[0]["data"]


def test_the_events_of_a_session_are_rows(tmp_path: Path) -> None:
    events = [{"aid": f"a{n % 5}", "ts": (18_262 + n) * 86_400_000} for n in range(10)]
    sessions = [json.dumps({"session": f"s{n}", "events": events}) + "\n" for n in range(12)]
    (tmp_path / "log.jsonl").write_text("".join(sessions))
    config = config_for(tmp_path / "log.jsonl", tmp_path / "new.toml")
    assert "rows       the elements of events" in config.lines
    data = tomllib.loads(config.text)["data"]
    assert (config.fault, data["rows"], data["item"], data["time"]) == ("", "events", "aid", "ts")


def test_a_table_of_a_database_is_a_log(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    path = tmp_path / "shop" / "x.sqlite"
    rows = [line.split(",") for line in log("").splitlines()]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE sold (user, item, time)")
        connection.executemany("INSERT INTO sold VALUES (?, ?, ?)", rows)
        connection.commit()
        config = config_for(Path(f"{path}::sold"), tmp_path / "new.toml")
        assert (config.fault, tomllib.loads(config.text)["data"]["events"]) == (
            "",
            "x.sqlite::sold",
        )
        with refusal(DataError, "the database has: sold", f'name one: "{path}::sold"'):
            config_for(path, tmp_path / "new.toml")


def test_letters_of_another_encoding(tmp_path: Path) -> None:
    text = log("user,item,time,größe", "{user},é{item},2020-01-{day:02},1")
    path = tmp_path / "log.csv"
    path.write_bytes(text.encode("latin-1"))
    with refusal(DataError, "is not UTF-8 text"):
        config_for(path, tmp_path / "new.toml")
    config = config_for(path, tmp_path / "new.toml", encoding="latin-1")
    assert (config.fault, tomllib.loads(config.text)["data"]["encoding"]) == ("", "latin-1")
    rows = log("") + "ü,i1,2020-01-01\n"
    path.write_bytes(f"{HEAD}\n{rows}".encode("latin-1"))
    fault = config_for(path, tmp_path / "new.toml").fault
    assert f"line {rows.count(chr(10)) + 1} is not UTF-8 text; " in fault
    assert fault.endswith('or set encoding = "latin-1" or "cp1252" under [data]')


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            "".join(f"u{n},i,2020-01-{n % 30 + 1:02}\n" for n in range(90)),
            "no run can start with this config: ",
        ),
        (
            log("") * 3 + "".join(f"u1,i1,{n}\n" for n in range(51)),
            'config; of 1,131 rows:\n51 rows with "0", "1", "2", … in time, expected an ISO time',
        ),
        (log("") + "u1\n" * 60, "of 420 rows:\n60 lines with damaged quotes, too few or too many"),
    ],
)
def test_a_config_is_there_though_no_run_can_begin(tmp_path: Path, rows: str, words: str) -> None:
    config = config_of(tmp_path, f"{HEAD}\n{rows}")
    assert words in config.fault
    assert tomllib.loads(config.text)["data"]["events"] == "log.csv"


NO_TIME = "have an unknown format; name it with --time-format"
ASKED = {
    "a,b,c\nx,y,2020-01-01\n": "looks like the user or the item; of a, b, c name them with --user",
    "user,item,b\nx,y,z\n": "no column looks like the time; of user, item, b name one with --time",
    "user\nx\n": "no column looks like the item or the time; of user name them",
    '{"user": 1, "item": 2}\n': "line 1 looks like JSON; name a file of JSON lines .jsonl",
    "2024-04-01,c3,p1\n": "line 1 looks like data, not like a header (2024-04-01, c3, p1); name",
    "97,9,44,cart,1709251288\n": "--header user,item,time,column4,column5",
    "user,item,time\n": 'column "time": no time in its first rows',
    "user,item,time\nx,y,soon\n": f'times such as "soon" {NO_TIME}',
    # Days since 1899, counters of rows and nanoseconds are no seconds since 1970.
    times("438{day:02}"): NO_TIME,
    times("438{day:02}.5"): NO_TIME,
    times("{day}"): NO_TIME,
    times("15778368{day:02}000000000"): NO_TIME,
}


@pytest.mark.parametrize(("text", "words"), ASKED.items())
def test_what_cannot_be_guessed_is_asked_for(tmp_path: Path, text: str, words: str) -> None:
    with refusal(UsageError, "log.csv", words):
        config_of(tmp_path, text)


def test_what_is_said_of_a_log_is_in_it(tmp_path: Path) -> None:
    with refusal(UsageError, 'has no column "who"; it has user, item, time'):
        config_of(tmp_path, f"{HEAD}\n", user="who")
    with refusal(DataError, "log.csv: line 1 has 4 fields"):
        config_of(tmp_path, "1,2,5,2020-01-05\n", header=["user", "item", "time"])
    frame = pl.DataFrame({"user": ["a"], "item": ["b"], "time": ["2020"]})
    for options in ({"header": ["a", "b", "c"]}, {"separator": ";"}, {"encoding": "latin-1"}):
        with refusal(DataError, f"[data] {next(iter(options))} is for text", "this is Parquet"):
            config_of(tmp_path, frame, **options)
    with refusal(DataError, "gone.csv"):
        config_for(tmp_path / "gone.csv", tmp_path / "new.toml")


def test_numbers_that_are_hardly_times_are_times_where_it_is_said(tmp_path: Path) -> None:
    values, _ = guessed(tmp_path, times("438{day:02}"), time_format="epoch_s")
    assert values["data"]["time_format"] == "epoch_s"
