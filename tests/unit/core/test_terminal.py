"""What fits a terminal: names that stay distinct, lines that break no figure."""

import random

from rich.cells import cell_len

from harness.core.table import Sheet
from harness.core.terminal import fitted, shortened, wrapped


def test_both_ends_stay() -> None:
    assert shortened(["item kNN with shrinkage, BM25"], 16) == ["item kN…ge, BM25"]
    assert shortened(["short"], 5) == ["short"]


def test_texts_that_differ_look_different() -> None:
    draws = random.Random(1)  # noqa: S311
    for width in (4, 8, 16) * 20:
        drawn = {"".join(draws.choices("ab…", k=draws.randint(1, 30))) for _ in range(20)}
        texts = [*drawn, *(f"{'a' * 40}{i}{'b' * 40}" for i in range(30))]  # in the middle
        short = shortened([*texts, *texts], width)
        assert len(set(short)) == len(texts)
        assert short[: len(texts)] == short[len(texts) :]
        assert max(map(cell_len, short)) <= width


def test_letters_of_two_columns_count_twice() -> None:
    (short,) = shortened(["人気ランキング先週分"], 10)
    assert cell_len(short) <= 10
    assert (short[0], short[-1]) == ("人", "分")
    assert max(map(cell_len, wrapped("人気ランキング先週分" * 3, 9))) <= 9


def test_an_interval_ends_no_line() -> None:
    line = "BEST  repurchase: MAP@12 0.0502 (0.0409 … 0.0618), 12.9 × chance"
    for width in range(26, 60):
        first, *others = wrapped(line, width, indent=6)
        assert " ".join(" ".join([first, *others]).split()) == " ".join(line.split())
        assert any("12.9 × chance" in part for part in others)
        assert any("(0.0409 … 0.0618)," in part for part in [first, *others])
        assert all(part.startswith(" " * 6) for part in others)
        assert max(map(len, [first, *others])) <= width


def test_a_long_word_breaks_at_a_sign_and_not_within_a_number() -> None:
    assert wrapped("Popular(window_days=12.5)", 22) == ["Popular(window_days=", "12.5)"]
    assert wrapped("customer_id,prediction", 16) == ["customer_id,", "prediction"]
    assert wrapped("a" * 45, 20) == ["a" * 20, "a" * 20, "a" * 5]


def test_figures_have_all_of_their_width() -> None:
    titles = ["model", "MAP@12", "a metric with a title of many words", "verdict", "time"]
    row = ["x" * 40, "0.0502", "0.1027", "behind, no better than chance", "1.0 s"]
    sheet = Sheet(titles, [row], left=frozenset({0, 3}), kept=4, wrapped=frozenset({3}))
    for width in range(24, 140, 5):
        columns = fitted(sheet, width)
        assert {i: cells for i, (_, *cells) in columns.items() if i not in sheet.left} == {
            i: [[row[i]]] for i in columns if i not in sheet.left
        }


def test_the_first_of_those_that_go_first_goes_first() -> None:
    """Five columns of 5 and a gap of 2 take 33: in 20 there is room for three."""
    sheet = Sheet([*"abcde"], [["12345"] * 5], first_out=frozenset({1, 2, 3}))
    kept = [list(fitted(sheet, width)) for width in (33, 32, 20, 12, 6)]
    assert kept == [[0, 1, 2, 3, 4], [0, 2, 3, 4], [0, 3, 4], [0, 4], [0]]


def test_a_firm_column_stays_where_one_before_it_goes() -> None:
    sheet = Sheet(["a", "b", "c"], [["x" * 9, "1" * 20, "2" * 20]], firm=frozenset({2}))
    assert list(fitted(sheet, 53)) == [0, 1, 2]
    assert list(fitted(sheet, 40)) == [0, 2]
