"""Which values of a metric of one's own are better, and how it is known to be one."""

from pathlib import Path

from conftest import refusal

from harness.core.errors import UsageError
from harness.metrics import is_own, parse


def test_a_word_that_is_no_direction_is_refused(tmp_path: Path) -> None:
    odd = "def odd(hits, n_relevant, k):\n    return 0\n\nodd.better = 'less'\n"
    (tmp_path / "mine.py").write_text(odd)
    with refusal(UsageError, '"mine:odd": ', "better", '"less"', "allowed: higher, lower"):
        parse("mine:odd@1", tmp_path)


def test_a_metric_of_ones_own_is_known_by_its_text() -> None:
    paths = [f"{place}/mine.py:found@1" for place in ("Gini(x)", "Gini@1", "my data (new) @home")]
    texts = ("none:f@3", "no/such (file)@x.py:f@3", *paths, "MAP(divisor=trec)@10", "Gini@1")
    assert [is_own(text) for text in texts] == [True] * 5 + [False] * 2
