"""The best of a search: whether it lies at the edge, and how its parameters are shown."""

from typing import Any

import pytest
from optuna.distributions import CategoricalDistribution, IntDistribution
from optuna.trial import create_trial

from harness.config.space import Domain, Range
from harness.tuning.result import TunedModel, shown


@pytest.mark.parametrize(
    ("domain", "place", "end"),
    [
        *(((0, 1, 2), 2, "high"), ((2, 3, 5), 2, "low"), ((1, 2, 3), 2, ""), ((1, 2), 2, "")),
        *((Range(2, 3), 2, "low"), (Range(1, 3), 2, "")),
    ],
)
def test_the_best_at_the_edge_is_told(domain: Domain, place: int, end: str) -> None:
    """Of two values one is always at an end."""
    distribution: Any = IntDistribution(1, 3)
    drawn = place
    if isinstance(domain, tuple):
        distribution, drawn = CategoricalDistribution(range(len(domain))), domain.index(place)
    best = create_trial(value=1.0, params={"place": drawn}, distributions={"place": distribution})
    tuned = TunedModel("m", {}, {"place": domain}, (best,), 0, best)
    assert tuned.params(best) == {"place": place}
    assert tuned.at_the_edge == ({"place": end} if end else {})


def test_numbers_are_shown_with_four_figures() -> None:
    values = [0.00012346, 12345678.9, 7, True, "cosine", [1, 2]]
    assert list(map(shown, values)) == ["0.0001235", "12345679", "7", "true", "cosine", "[1, 2]"]
