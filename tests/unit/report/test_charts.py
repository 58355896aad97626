"""How models look in charts: colours and symbols, short names, labels beside points."""

from harness.report.page.charts.base import COLOURS, SYMBOLS, label, look
from harness.report.page.charts.parts import labels
from harness.report.page.view import cut


def test_fifty_six_models_look_different() -> None:
    count = len(COLOURS) * len(SYMBOLS)
    assert len({look(i) for i in range(count)}) == count == 56


def test_short_names_keep_both_ends() -> None:
    assert cut("a" * 40 + "z", 9) == "aaaa…aaaz"
    assert label("<" * 40, 9) == "&lt;&lt;&lt;&lt;…&lt;&lt;&lt;&lt;"


def test_labels_stand_beside_their_points_and_above_one_another() -> None:
    assert labels([(100, 100)], ["model"], 900, 300) == [(11, 0)]
    assert labels([(880, 100)], ["model"], 900, 300) == [(-11, 0)]
    places = labels([(100, 100), (112, 100), (124, 100)], ["model"] * 3, 900, 300)
    assert places == [(-11, 0), (11, -19), (11, 0)]
