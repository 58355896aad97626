"""What fits a terminal: names that stay distinct, lines that break no figure."""

import random
import string

import pytest
from rich.cells import cell_len

from harness.core.table import Sheet
from harness.core.terminal import fitted, shortened, wrapped


def test_both_ends_stay() -> None:
    assert shortened(["item kNN with shrinkage, BM25"], 16) == ["item kN…ge, BM25"]
    assert shortened(["short"], 5) == ["short"]


@pytest.mark.parametrize(
    "texts",
    [
        ["popular, 7 days of train", "popular, 14 days of train"],  # differ in the middle
        ["a" * 50 + "X" + "b" * 50, "a" * 50 + "Y" + "b" * 50],
        ["aaaaaaa…bbbbbbb", "aaaaaaaXXXXbbbbbbb", "aaaaaaaYYYYbbbbbbb"],
        [f"{'a' * 40}{i}{'b' * 40}" for i in range(120)],
    ],
)
@pytest.mark.parametrize("width", [6, 12, 15, 20])
def test_texts_that_differ_look_different(texts: list[str], width: int) -> None:
    found = shortened([*texts, *texts], width)
    assert len(set(found)) == len(texts)
    assert found[: len(texts)] == found[len(texts) :]
    assert max(map(cell_len, found)) <= width


def test_texts_at_random_stay_distinct() -> None:
    draws = random.Random(1)  # noqa: S311
    for _ in range(50):
        texts = {"".join(draws.choices("ab…", k=draws.randint(1, 30))) for _ in range(20)}
        for width in (4, 8, 16):
            found = shortened(sorted(texts), width)
            assert len(set(found)) == len(texts)


def test_letters_of_two_columns_count_twice() -> None:
    (found,) = shortened(["人気ランキング先週分"], 10)
    assert cell_len(found) <= 10
    assert (found[0], found[-1]) == ("人", "分")
    assert max(map(cell_len, wrapped("人気ランキング先週分" * 3, 9))) <= 9


@pytest.mark.parametrize("width", range(26, 60))
def test_an_interval_ends_no_line(width: int) -> None:
    line = "BEST  repurchase: MAP@12 0.0502 (0.0409 … 0.0618), 12.9 × chance"
    found = wrapped(line, width, indent=6)
    assert " ".join(" ".join(found).split()) == " ".join(line.split())
    assert any("12.9 × chance" in part for part in found)
    assert all(part.startswith(" " * 6) for part in found[1:])
    assert any("(0.0409 … 0.0618)," in part for part in found)
    assert max(map(len, found)) <= width


def test_a_long_word_breaks_at_a_sign_and_not_within_a_number() -> None:
    assert wrapped("Popular(window_days=12.5)", 22) == ["Popular(window_days=", "12.5)"]
    assert wrapped("customer_id,prediction", 16) == ["customer_id,", "prediction"]
    assert "".join(wrapped(string.ascii_letters, 20)) == string.ascii_letters


FIGURES = Sheet(
    ["model", "MAP@12", "a metric with a title of many words", "verdict", "time"],
    [["x" * 40, "0.0502", "0.1027", "behind, no better than chance", "1.0 s"]],
    left=frozenset({0, 3}),
    kept=4,
    wrapped=frozenset({3}),
)


@pytest.mark.parametrize("width", range(24, 140, 5))
def test_figures_have_all_of_their_width(width: int) -> None:
    for i, (_, *cells) in fitted(FIGURES, width).items():
        if i not in FIGURES.left:
            assert cells == [[FIGURES.rows[0][i]]]


def test_the_first_of_those_that_go_first_goes_first() -> None:
    """Five columns of 5 and a gap of 2 take 33: in 20 there is room for three."""
    sheet = Sheet([*"abcde"], [["12345"] * 5], first_out=frozenset({1, 2, 3}))
    assert [list(fitted(sheet, width)) for width in (33, 32, 20, 12, 6)] == [
        [0, 1, 2, 3, 4],
        [0, 2, 3, 4],
        [0, 3, 4],
        [0, 4],
        [0],
    ]


def test_a_firm_column_stays_where_one_before_it_goes() -> None:
    sheet = Sheet(["a", "b", "c"], [["x" * 9, "1" * 20, "2" * 20]], firm=frozenset({2}))
    assert list(fitted(sheet, 53)) == [0, 1, 2]
    assert list(fitted(sheet, 40)) == [0, 2]
