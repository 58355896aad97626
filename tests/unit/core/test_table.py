"""Tables as text, Markdown and on a terminal, records as CSV: what lines up and does no harm."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len

from harness.core.table import (
    Column,
    Sheet,
    as_csv,
    fitted,
    html,
    latex,
    markdown,
    plain,
    print_rich,
    shortened,
    wrapped,
)


def columns(*titles: str, **keys: str) -> list[Column[str]]:
    """Return a column of names and others of numbers; `keys` says of what else they are."""
    kinds: dict[str, Any] = {titles[0]: "name", **keys}
    return [Column(title, str, kinds.get(title, "number")) for title in titles]


SHEET = Sheet(
    columns("name", "figure", "word", word="name"),
    [["a", "1.5", "one"], ["longer", "12.25", ""]],
    heading=["task   small"],
    footing=["time   1 s"],
)
Terminal = Callable[[Sheet, int], list[str]]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """Return a function: a sheet and a width in, the lines that such a terminal shows out."""

    def shown(sheet: Sheet, width: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        print_rich(sheet)
        return capsys.readouterr().out.splitlines()

    return shown


def test_words_stand_left_and_figures_right_between_lines() -> None:
    assert plain(SHEET).splitlines() == [
        "task   small",
        "",
        "name    figure  word",
        "a          1.5  one",
        "longer   12.25",
        "",
        "time   1 s",
    ]
    assert plain(Sheet(columns("name", "figure"), [])) == "name  figure"


def test_letters_of_two_columns_line_up_in_a_file() -> None:
    lines = plain(Sheet(columns("name", "x"), [["人気", "1"], ["popular", "2"]])).splitlines()
    assert lines == ["name     x", "人気     1", "popular  2"]


def test_columns_say_what_of_a_record_they_show() -> None:
    both = [Column("name", str.upper, "name"), Column("letters", lambda name: str(len(name)))]
    sheet = Sheet.of(["ann", "bo"], both, heading=["x"])
    assert (sheet.titles, sheet.heading) == (["name", "letters"], ["x"])
    assert sheet.rows == [["ANN", "3"], ["BO", "2"]]


def test_markdown_by_hand() -> None:
    lines = ["| name | figure | word |", "| :-- | --: | :-- |", "| a | 1.5 | one |"]
    lines = ["task   small  ", "", *lines, "| longer | 12.25 |  |"]
    assert markdown(replace(SHEET, footing=[])).splitlines() == lines


def test_names_do_no_harm() -> None:
    row = ["a|b <i>&_%#", "0.5"]
    two = columns("model", "mean")
    sheet = Sheet(two, [row], heading=["<script>"], footing=["a & 100 %"])
    text = markdown(sheet).splitlines()
    assert text[::4] == ["&lt;script&gt;  ", r"| a\|b &lt;i&gt;&\_%# | 0.5 |"]
    assert text[-1] == "a & 100 %  "
    for escaped in ("a|b &lt;i&gt;&amp;_%#", "&lt;script&gt;"):
        assert escaped in html(sheet)
    lines = latex(sheet).splitlines()
    assert lines[:2] == ["% <script>", "% a & 100 %"]
    assert "\\begin{tabular}{lr}" in lines
    assert r"a\textbar{}b \textless{}i\textgreater{}\&\_\%\# & 0.5 \\" in lines


@pytest.mark.parametrize(
    ("cell", "escaped"),
    [
        ("a\\", r"a\\"),
        (r"a\|b", r"a\\\|b"),
        ("|", r"\|"),
        ("![x](https://a.b/c)", r"!\[x\](https://a.b/c)"),
        ("`a` user_id _b_", r"\`a\` user_id \_b\_"),
        ("**a** <!--", r"\*\*a\*\* &lt;!--"),
    ],
)
def test_a_bar_ends_no_markdown_column(cell: str, escaped: str) -> None:
    titles, _, row = markdown(Sheet(columns(cell, "x"), [[cell, "1"]])).splitlines()
    assert (titles, row) == (f"| {escaped} | x |", f"| {escaped} | 1 |")
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3


def test_a_terminal_shows_what_a_file_has(terminal: Terminal) -> None:
    assert [line.split() for line in terminal(SHEET, 80)] == [
        line.split() for line in plain(SHEET).splitlines()
    ]


TITLES = [f"column {i}" for i in range(9)]
NINE = Sheet(columns(*TITLES), [[f"cell {i}" for i in range(9)]] * 2)


# Nine columns of eight letters and two between each: all of them fit from 88.
@pytest.mark.parametrize("width", [40, 64, 87, 88, 100])
def test_a_narrow_terminal_names_the_columns_it_hides(terminal: Terminal, width: int) -> None:
    lines = terminal(NINE, width)
    assert not [line for line in lines if "…" in line or len(line) > width]
    text = " ".join(" ".join(lines).split())
    shown, sentence, hidden = text.partition("this terminal is too narrow for: ")
    n = sum(title in shown for title in NINE.titles)
    assert 3 <= n <= 9
    assert bool(sentence) == (n < 9) == (width < 88)
    assert not sentence or hidden == f"{', '.join(NINE.titles[n:])} (--format markdown has all)"


@pytest.mark.parametrize("name", ["[link=http://a.b]x[/link]", "[/]", ":cat:"])
def test_a_name_is_no_markup(terminal: Terminal, name: str) -> None:
    heading, footing = [f"task   {name}", name], [f"time   {name}"]
    named = Sheet(columns(name), [[name]], heading=heading, footing=footing)
    assert sum(name in line for line in terminal(named, 100)) == 5
    hidden = Sheet(columns("a", name), [["x" * 60, "y" * 60]])
    assert name in " ".join(terminal(hidden, 80))


def test_colour_is_for_cells_that_begin_with_the_word(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    styled = Sheet(columns("name"), [["hit"], ["no hit"]], styles={"hit": "green"})
    assert "\x1b" not in "".join(terminal(styled, 80))  # this is no terminal
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", "NO_COLOR": ""}.items():
        monkeypatch.setenv(name, value)
    hit, other = (line for line in terminal(styled, 80) if "hit" in line)
    assert "\x1b[32m" in hit
    assert "\x1b[32m" not in other


def test_a_terminal_without_colours_is_as_wide_as_it_says(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"FORCE_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    assert terminal(NINE, 100)[0].split("  ") == TITLES


def test_records_are_a_header_and_a_line_each() -> None:
    """Values that are no text stand as Python writes them; no text breaks a line."""
    records = [{"name": "a", "x": 0.1 + 0.2}, {"name": "b", "x": None}, {"name": True, "x": -1}]
    assert as_csv(records) == "name,x\na,0.30000000000000004\nb,\nTrue,-1"
    assert as_csv([]) == ""
    text = as_csv([{"name": "a\nb\x1b[2J"}])
    assert (text.count("\n"), "\x1b" in text) == (1, False)


def test_no_text_is_a_formula_in_a_spreadsheet_and_other_text_stands_as_it_is() -> None:
    formulas = ["=cmd()", "+1", "-1", "@SUM(A1)"]
    cells = ["a,b", 'a"b', "a=b", "", "0706016001"]
    records = [{"name": cell, "x": 1} for cell in [*formulas, *cells]]
    _, *rows = csv.reader(io.StringIO(as_csv(records)))
    assert [name for name, _ in rows] == [*(f"'{formula}" for formula in formulas), *cells]
    for blank in ("\tx", "\r=1"):
        assert as_csv([{"name": blank}]).splitlines()[1].lstrip('"')[0] not in "=\t\r"


def test_texts_that_differ_look_different() -> None:
    """They show both ends, or where they differ, and whole numbers."""
    texts = ["popular, 7 days", "popular, 30 days", "popular"]
    assert shortened(texts, 12) == ["popul…7 days", "popul…days", "popular"]
    texts = [f"{'a' * 9}{n}{'b' * 30}" for n in range(10)]
    assert shortened(texts, 12) == [f"aaaaa…aaa{n}b…" for n in range(10)]
    texts = [f"nearest, {n} of all neighbours, {m} days of train" for n in (1, 2) for m in (7, 8)]
    assert shortened(texts[:3], 13) == ["neares…7 day…", "neares…8 day…", "neares…2 of…"]


def test_names_that_any_cut_makes_alike_stay_whole() -> None:
    texts = [f"nearest, {n} of all neighbours, {m} days of train" for n in (1, 2) for m in (7, 8)]
    assert shortened([*texts, "popular, 7 days"], 13) == [*texts, "popula…7 days"]


def test_letters_of_two_columns_count_twice() -> None:
    (short,) = shortened(["人気ランキング先週分"], 10)
    assert cell_len(short) <= 10
    assert (short[0], short[-1]) == ("人", "分")
    assert max(map(cell_len, wrapped("人気ランキング先週分" * 3, 9))) <= 9


def test_an_interval_ends_no_line() -> None:
    line = "BEST  repurchase: MAP@12 0.0502 (0.0409 … 0.0618), 12.9 × chance"
    for width in range(26, 60):
        first, *rest = wrapped(line, width, indent=6)
        assert " ".join(" ".join([first, *rest]).split()) == " ".join(line.split())
        assert any("12.9 × chance" in part for part in rest)
        assert any("(0.0409 … 0.0618)," in part for part in [first, *rest])
        assert all(part.startswith(" " * 6) for part in rest)
        assert max(map(len, [first, *rest])) <= width


def test_a_number_stays_beside_what_it_counts() -> None:
    assert wrapped("k = 12 · 27 of 40 users · 1 day", 10) == [
        "k = 12 ·",
        "27 of",
        "40 users ·",
        "1 day",
    ]


def test_a_long_word_breaks_at_a_sign_and_not_within_a_number() -> None:
    assert wrapped("Popular(window_days=12.5)", 22) == ["Popular(window_days=", "12.5)"]
    assert wrapped("customer_id,prediction", 16) == ["customer_id,", "prediction"]
    assert wrapped("meanAveragePrecisionAt", 17) == ["meanAverage", "PrecisionAt"]
    assert wrapped("a" * 45, 20) == ["a" * 20, "a" * 20, "a" * 5]


def test_the_first_of_those_that_go_first_goes_first() -> None:
    """Five columns of 5 and a gap of 2 take 33: in 20 there is room for three."""
    five = [Column(title, str, first_out=title in "bcd") for title in "abcde"]
    sheet = Sheet([Column("a", str, "name"), *five[1:]], [["12345"] * 5])
    kept = [list(fitted(sheet, width)) for width in (33, 32, 20, 12, 6)]
    assert kept == [[0, 1, 2, 3, 4], [0, 2, 3, 4], [0, 3, 4], [0, 4], [0]]


def test_a_firm_column_stays_where_one_before_it_goes() -> None:
    three = [*columns("a", "b"), Column("c", str, firm=True)]
    sheet = Sheet(three, [["x" * 9, "1" * 20, "2" * 20]])
    assert list(fitted(sheet, 53)) == [0, 1, 2]
    assert list(fitted(sheet, 40)) == [0, 2]
