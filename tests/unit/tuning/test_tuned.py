"""The best of a search: whether it lies at the edge, and how its parameters are shown."""

import pytest

from harness.config.space import Domain, Range
from harness.tuning.result import at_the_edge, shown


@pytest.mark.parametrize(
    ("domain", "place", "end"),
    [
        *(((0, 1, 2), 2, "high"), ((2, 3, 5), 2, "low"), ((1, 2, 3), 2, ""), ((1, 2), 2, "")),
        *((Range(low=2, high=3), 2, "low"), (Range(low=1, high=3), 2, "")),
    ],
)
def test_the_best_at_the_edge_is_told(domain: Domain, place: int, end: str) -> None:
    """Of two values one is always at an end."""
    assert at_the_edge({"place": domain}, {"place": place}) == ({"place": end} if end else {})


def test_numbers_are_shown_with_four_figures() -> None:
    values = [0.00012346, 12345678.9, 7, True, "cosine", [1, 2]]
    assert list(map(shown, values)) == ["0.0001235", "12345679", "7", "true", "cosine", "[1, 2]"]
