"""Events that weigh as much as their values."""

from pathlib import Path

import pytest
import small
from conftest import refusal
from shops import listed

from baselines.popular import Popular
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


def train(folder: Path, log: str = LOG) -> Train:
    data = {"kind": "event", "value": "stars"}
    return make_task(small.config(folder, log=log, data=data)).train


def test_an_event_weighs_its_value_times_all_else(tmp_path: Path) -> None:
    given = train(tmp_path)
    assert given.values().tolist() == [1, 4, 2.5, 0]
    counted, weight = given.event_weights(weights={"sale": 0.5}, values=True)
    assert counted is None
    assert weight.tolist() == [1, 2, 2.5, 0]
    assert given.item_sums(None, weight).tolist() == [3, 2.5]


def test_interactions_take_the_highest_value_or_their_sum(tmp_path: Path) -> None:
    given = train(tmp_path)
    assert given.interactions(values=True).toarray().tolist() == [[4, 2.5], [0, 0]]
    assert given.interactions(values=True, counts=True).toarray().tolist() == [[5, 2.5], [0, 0]]


def test_the_frame_has_types_and_values(tmp_path: Path) -> None:
    frame = train(tmp_path).frame
    assert frame.columns == ["user", "item", "time", "kind", "value"]
    assert frame["kind"].to_list() == ["view", "sale", "view", "sale"]
    assert frame["value"].to_list() == [1, 4, 2.5, 0]
    assert "value" not in example_train().frame.columns


def test_values_below_0_weigh_nothing_that_means_anything(tmp_path: Path) -> None:
    given = train(tmp_path, LOG.replace("bob,b,2020-01-03,sale,0", "bob,b,2020-01-03,sale,-2"))
    said = 'out of the data: with value = "rating", where = { rating = { min = 0 } } under [data]'
    with refusal(ParameterError, "one is -2: no weight is below 0. Leave values = true", said):
        given.event_weights(values=True)


@pytest.mark.parametrize(("value", "expected"), [("2.5", "ab"), ("9", "ba")])
def test_a_model_follows_the_values(tmp_path: Path, value: str, expected: str) -> None:
    """Item a has two events of 1 and 4, b has one of the value and one of 0."""
    shop = train(tmp_path, LOG.replace("2.5", value))
    assert listed(Popular(values=True), shop, "ann", 2) == [expected]
