"""The conformance suite for recommenders; tests/conformance has all baselines, and all faults."""

from typing import Any

import numpy as np
import pytest

from baselines.co_visitation import CoVisitation
from baselines.fill import Fill
from baselines.filter import Filter
from baselines.item_knn import ItemKNN
from baselines.popular import Popular
from baselines.random_items import RandomItems
from harness import testing
from harness.core.errors import RecommenderError

CHECKS = testing.recommender_checks()


def test_every_check_there_is_runs() -> None:
    names = {name for name in vars(testing) if name.startswith("check_")}
    assert {check.__name__ for check in CHECKS} == names - {"check_recommender", "check_layout"}
    assert all(check.__doc__ for check in CHECKS), "each says what it asks for"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_baselines_pass(check: Any) -> None:
    made = Fill([CoVisitation(), RandomItems()])
    for model in Filter([made], seen=True, out_of_stock_days=3), ItemKNN():
        check(model)


class Repeats(Popular):
    def recommend(self, users: Any, k: int, draws: Any, exclude: Any = None) -> Any:
        return np.zeros((len(users), k), np.int32)


def test_a_fault_is_named() -> None:
    message = "Repeats fails check_fit_forgets: .* rank 2: found 0; the item stands twice"
    with pytest.raises(RecommenderError, match=message):
        testing.check_recommender(Repeats())
