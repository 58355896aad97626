"""Events that weigh as much as their values."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small
from conftest import refusal
from test_contract import BASELINES

from harness.core.params import ParameterError
from harness.models.base import Train
from harness.protocol.task import make_task
from harness.testing import example_train

LOG = """user,item,time,event,stars
ann,a,2020-01-01,view,1
ann,a,2020-01-02,sale,4
ann,b,2020-01-03,view,2.5
bob,b,2020-01-03,sale,0
ann,a,2020-01-09,view,1
"""
VALUED: dict[str, Any] = {
    name: model for name, model in BASELINES.items() if hasattr(model, "values")
}


def train(folder: Path, log: str = LOG) -> Train:
    data = {"kind": "event", "value": "stars"}
    return make_task(small.config(folder, log=log, data=data)).train


def test_an_event_weighs_its_value_times_all_else(tmp_path: Path) -> None:
    given = train(tmp_path)
    assert given.values().tolist() == [1, 4, 2.5, 0]
    counted, weight = given.event_weights(weights={"sale": 0.5}, values=True)
    assert counted is None
    assert weight is not None
    assert weight.tolist() == [1, 2, 2.5, 0]
    assert given.item_sums(None, weight).tolist() == [3, 2.5]


def test_interactions_take_the_highest_value_or_their_sum(tmp_path: Path) -> None:
    given = train(tmp_path)
    assert given.interactions(values=True).toarray().tolist() == [[4, 2.5], [0, 0]]
    assert given.interactions(values=True, counts=True).toarray().tolist() == [[5, 2.5], [0, 0]]


def test_the_frame_has_types_and_values(tmp_path: Path) -> None:
    frame = train(tmp_path).frame
    assert frame.columns == ["user", "item", "time", "kind", "value"]
    assert frame.select("kind", "value").rows() == [
        ("view", 1.0),
        ("sale", 4.0),
        ("view", 2.5),
        ("sale", 0.0),
    ]
    assert "value" not in example_train().frame.columns


def test_values_below_0_weigh_nothing_that_means_anything(tmp_path: Path) -> None:
    given = train(tmp_path, LOG.replace("bob,b,2020-01-03,sale,0", "bob,b,2020-01-03,sale,-2"))
    said = 'out of the data: with value = "rating", where = { rating = { min = 0 } } under [data]'
    with refusal(ParameterError, "one is -2: no weight is below 0. Leave values = true", said):
        given.event_weights(values=True)


def test_there_are_models_of_every_kind() -> None:
    assert {type(model).__name__ for model in VALUED.values()} >= {
        *("Popular", "Trending", "ItemKNN", "UserKNN", "RP3beta", "EASE", "PureSVD", "NMF"),
        *("PopularBySegment", "ContentPopular", "ContentKNN", "UserProfile", "Ranker"),
    }


@pytest.mark.parametrize(
    ("values", "told"),
    [(True, "values = true weighs events by their values"), ("yes", "values is 'yes'")],
)
@pytest.mark.parametrize("name", VALUED)
def test_every_model_says_that_it_needs_values(name: str, values: Any, told: str) -> None:
    model = type(VALUED[name])(**{**vars(VALUED[name]), "values": values})
    with pytest.raises(ParameterError, match=told):
        model.fit(example_train())


def test_a_model_follows_the_values(tmp_path: Path) -> None:
    """Item b has two events and a two; their values are 2.5 and 5."""
    from baselines.popular import Popular
    from harness.core.random import Draws

    given = train(tmp_path)
    draws = Draws(1, 0, np.zeros(2, np.uint64))
    lists = Popular(values=True).fit(given).recommend(np.arange(2, dtype=np.int32), 2, draws)
    assert given.candidate_ids.gather(lists[0]).to_list() == ["a", "b"]
    swapped = train(tmp_path, LOG.replace("view,2.5", "view,9"))
    lists = Popular(values=True).fit(swapped).recommend(np.arange(2, dtype=np.int32), 2, draws)
    assert swapped.candidate_ids.gather(lists[0]).to_list() == ["b", "a"]
