"""Tables as text, Markdown and on a terminal, records as CSV: what lines up and does no harm."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.core.table import Column, Sheet, as_csv, html, latex, markdown, plain
from harness.core.terminal import print_rich

SHEET = Sheet(
    ["name", "figure", "word"],
    [["a", "1.5", "one"], ["longer", "12.25", ""]],
    left=frozenset({0, 2}),
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
    assert plain(Sheet(["name", "figure"], [])) == "name  figure"


def test_columns_say_what_of_a_record_they_show_and_how() -> None:
    columns: list[Column[str]] = [
        Column("name", lambda record: record, "name"),
        Column("hits", lambda record: "1", firm=True),
        Column("verdict", lambda record: "tied", "words", first_out=True),
    ]
    one, two = frozenset({1}), frozenset({2})
    assert Sheet.of(["a"], columns, kept=2) == Sheet(
        *(["name", "hits", "verdict"], [["a", "1", "tied"]], frozenset({0, 2})),
        **{"kept": 2, "firm": one, "first_out": two, "wrapped": two},
    )


def test_markdown_by_hand() -> None:
    lines = ["| name | figure | word |", "| :-- | --: | :-- |", "| a | 1.5 | one |"]
    lines = ["task   small  ", "", *lines, "| longer | 12.25 |  |"]
    assert markdown(replace(SHEET, footing=[])).splitlines() == lines


def test_names_do_no_harm() -> None:
    row = ["a|b <i>&_%#", "0.5"]
    sheet = Sheet(["model", "mean"], [row], heading=["<script>"], footing=["a & 100 %"])
    text = markdown(sheet).splitlines()
    assert text[::4] == ["&lt;script&gt;  ", r"| a\|b &lt;i&gt;&_%# | 0.5 |"]
    assert text[-1] == "a & 100 %  "
    for escaped in ("a|b &lt;i&gt;&amp;_%#", "&lt;script&gt;"):
        assert escaped in html(sheet)
    lines = latex(sheet).splitlines()
    assert lines[:2] == ["% <script>", "% a & 100 %"]
    assert "\\begin{tabular}{lr}" in lines
    assert r"a\textbar{}b \textless{}i\textgreater{}\&\_\%\# & 0.5 \\" in lines


@pytest.mark.parametrize(("cell", "escaped"), [("a\\", r"a\\"), (r"a\|b", r"a\\\|b"), ("|", r"\|")])
def test_a_bar_ends_no_markdown_column(cell: str, escaped: str) -> None:
    titles, _, row = markdown(Sheet([cell, "x"], [[cell, "1"]])).splitlines()
    assert (titles, row) == (f"| {escaped} | x |", f"| {escaped} | 1 |")
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3


def test_a_terminal_shows_what_a_file_has(terminal: Terminal) -> None:
    assert [line.split() for line in terminal(SHEET, 80)] == [
        line.split() for line in plain(SHEET).splitlines()
    ]


NINE = Sheet([f"column {i}" for i in range(9)], [[f"cell {i}" for i in range(9)]] * 2, kept=3)


# Nine columns of eight letters and two between each: all of them fit from 88.
@pytest.mark.parametrize("width", [40, 64, 87, 88, 100])
def test_a_narrow_terminal_names_the_columns_it_hides(terminal: Terminal, width: int) -> None:
    lines = terminal(NINE, width)
    assert not [line for line in lines if "…" in line or len(line) > width]
    text = " ".join(" ".join(lines).split())
    shown, told, hidden = text.partition("this terminal is too narrow for: ")
    n = sum(title in shown for title in NINE.titles)
    assert n >= 3
    titles = ", ".join(NINE.titles[n:])
    assert hidden == (f"{titles} (--format markdown has all)" if titles else "")
    assert bool(told) == (n < 9) == (width < 88)


@pytest.mark.parametrize("name", ["[link=http://a.b]x[/link]", "[/]", ":cat:"])
def test_a_name_is_no_markup(terminal: Terminal, name: str) -> None:
    named = Sheet([name], [[name]], heading=[f"task   {name}", name], footing=[f"time   {name}"])
    assert sum(name in line for line in terminal(named, 100)) == 5
    hidden = Sheet(["a", name], [["x" * 60, "y" * 60]], kept=1)
    assert name in " ".join(terminal(hidden, 80))


def test_colour_is_for_cells_that_begin_with_the_word(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    styled = Sheet(["name"], [["hit"], ["no hit"]], styles={"hit": "green"})
    assert "\x1b" not in "".join(terminal(styled, 80))  # this is no terminal
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", "NO_COLOR": ""}.items():
        monkeypatch.setenv(name, value)
    hit, other = (line for line in terminal(styled, 80) if "hit" in line)
    assert "\x1b[32m" in hit
    assert "\x1b[32m" not in other


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
