"""Separators of several bytes, as the older MovieLens archives have them."""

from pathlib import Path

import pytest
from conftest import refusal
from hypothesis import given
from hypothesis import strategies as st
from test_text_source import FOLDER, events

from harness.core.errors import DataError
from harness.delimited import blocks

COLUMNS = {"header": ["user", "item", "stars", "time"], "time_format": "epoch_s"}
DOUBLE = COLUMNS | {"separator": "::"}
SECOND = 1_000_000


def test_two_colons_separate_fields(tmp_path: Path) -> None:
    found = events(tmp_path, "1::1193::5::978300760\n1::661::3::978302109\n", **DOUBLE)
    expected = [("1", "1193", 978300760 * SECOND), ("1", "661", 978302109 * SECOND)]
    assert found == expected


def test_quotes_and_single_colons_are_letters(tmp_path: Path) -> None:
    content = 'user::item::time\r\n"a::b:c::1\r\n"a::"""::2'
    given_ = {"separator": "::", "time_format": "epoch_s"}
    assert events(tmp_path, content, **given_) == [('"a', "b:c", SECOND), ('"a', '"""', 2 * SECOND)]


def test_a_separator_begins_where_the_one_before_ends(tmp_path: Path) -> None:
    """As str.split does: of three colons the last is data."""
    assert events(tmp_path, "a:::b::4::1\n", **DOUBLE) == [("a", ":b", SECOND)]


LETTERS = st.sampled_from([*':|a"\t é\u2028,', "\x1e", "\x1a"])
FIELD = st.lists(LETTERS, max_size=5).map("".join)


@FOLDER
@given(
    lines=st.lists(st.lists(FIELD, min_size=3, max_size=5), min_size=1, max_size=12),
    separator=st.sampled_from(["::", "::|", "||", "é", "a::"]),
    size=st.sampled_from([64, 1 << 22]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_fields_are_those_of_split(
    tmp_path: Path, lines: list[list[str]], separator: str, size: int, end: str
) -> None:
    texts = [separator.join(fields) for fields in lines]
    rows = [text.split(separator) for text in texts]
    given_ = {"separator": separator, "header": ["user", "item", "note", "time"]}
    bad = next((n for n, row in enumerate(rows, 1) if not is_row(row)), None)
    content = end.join([*texts, ""]).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SIZE", size)
        if bad is None:
            found = events(tmp_path, content, **given_, time_format="epoch_s")
            assert sorted(found) == sorted((u, i, int(t) * SECOND) for u, i, _, t in rows)
        else:
            with refusal(DataError, f"log.csv: line {bad}"):
                events(tmp_path, content, **given_, time_format="epoch_s")


def is_row(row: list[str]) -> bool:
    return len(row) == 4 and bool(row[0]) and bool(row[1]) and row[3].isdigit()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a::x::4", "line 2 has 3 fields, expected 4 (user, item, stars, time)"),
        ("a::x::4::5::1", "line 2 has 5 fields, expected 4 (user, item, stars, time)"),
        ("a::x\x1f::4::5", "line 2 holds a control character (0x1A, 0x1E or 0x1F); remove it"),
        ("a::x::4::5 :: 6", "line 2 has 5 fields, expected 4"),
        ("a::x::4::never", 'line 2, column "time": found "never", expected a number of seconds'),
        ("::x::4::5", 'line 2, column "user": found an empty value, expected an id'),
        ("", "line 2 is blank; remove it"),
    ],
)
def test_the_line_of_a_fault(tmp_path: Path, row: str, said: str) -> None:
    with refusal(DataError, f"log.csv: {said}"):
        events(tmp_path, f"a::x::4::1\n{row}\n", **DOUBLE)


def test_a_header_holds_no_control_character(tmp_path: Path) -> None:
    with refusal(DataError, "log.csv: line 1 holds a control character (0x1A, 0x1E or 0x1F)"):
        events(tmp_path, "\x1fuser::item::time\n::a::x::1\n", separator="::")


def test_a_separator_that_is_another_is_suggested(tmp_path: Path) -> None:
    said = 'fields seem to be separated otherwise: set separator = "::" under [data]'
    with refusal(DataError, 'log.csv: line 1: no column "user"; the file has: ', said):
        events(tmp_path, "user::item::time\na::x::1\n")
    said = 'separated by "::" they are 4: set separator = "::" under [data] (or --set \'data.sep'
    with refusal(DataError, "line 1 has 1 field, but [data] header names 4 (user, item,", said):
        events(tmp_path, "a::x::4::1\n", **COLUMNS)


@pytest.mark.parametrize(
    ("line", "separator", "said"),
    [
        ("a|x|4|1", ",", 'separated by "|" they are 4: set separator = "|" under [data]'),
        ("a;x, y;4;1", ",", 'separated by ";" they are 4: set separator = ";" under [data]'),
        ("a\tx\t4\t1", ",", 'separated by "\\t" they are 4: set separator = "\\t" under [data]'),
        ("a x 4 1", ",", 'look at what stands between fields, which is no ","'),
        ("a,x|b|c|d,4,1,5", ",", "line 1 has 5 fields, but [data] header names 4 (user, "),
        ("a,x|b|c|d,4,1,5", ",", "time); name every column, in file order"),
    ],
)
def test_other_separators_that_fit_the_header_are_named(
    tmp_path: Path, line: str, separator: str, said: str
) -> None:
    with refusal(DataError, said):
        events(tmp_path, f"{line}\n", **COLUMNS, separator=separator)
