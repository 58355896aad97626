"""What a recommender is given: the events of `example_train` in every form."""

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import small
from conftest import refusal

from harness.core.params import ParameterError
from harness.data.layout import AttributeTable
from harness.models.base import Train
from harness.protocol.task import make_task
from harness.testing import example_train

# ann: a on day 0, b on 1, a and gone on 9; bob: b and c on 3, b on 8; cid: d on 9;
# dee: gone on 2; eve: a on 7, e on 8; nobody: nothing. The cut-off is day 10.
DAY_US = 86_400_000_000


def test_the_matrix_counts_events() -> None:
    train = example_train()
    matrix = train.matrix
    assert train.item_ids.to_list() == ["a", "b", "c", "d", "e", "gone", "new1", "new2"]
    assert matrix.toarray()[[0, 1, 5]].tolist() == [
        [2, 1, 0, 0, 0, 1, 0, 0], [0, 2, 1, 0, 0, 0, 0, 0], [0] * 8,
    ]  # fmt: skip
    assert matrix.has_sorted_indices
    assert matrix.sum() == len(train.events)
    assert train.events.item[:4].tolist() == [0, 1, 0, 5], "the events stay in their order"


def test_a_file_may_have_its_ids_anywhere(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("genre,id,price\nspa,a,1\n,b,2\n", encoding="utf-8")
    table = AttributeTable(tmp_path / "items.csv", id="id")
    train = example_train()
    items = replace(train, dataset=replace(train.dataset, items_table=table)).items_table
    assert items.columns == ["id", "genre", "price"]
    assert items.rows() == [("a", "spa", "1"), ("b", None, "2")]


def test_items_have_counts() -> None:
    """Of the last 2.5 days: a, gone, b, d and e once; events of half the weight are half."""
    train = example_train()
    recent = train.last_days(2.5)
    assert train.item_sums().tolist() == [3, 3, 1, 1, 1, 2, 0, 0]
    assert train.item_sums(recent).tolist() == [1, 1, 0, 1, 1, 1, 0, 0]
    half = np.full(len(train.events), 0.5)
    assert train.item_sums(recent, half).tolist() == [0.5, 0.5, 0, 0.5, 0.5, 0.5, 0, 0]


def test_the_frame_has_ids_and_times() -> None:
    frame = example_train().frame
    assert frame.columns == ["user", "item", "time", "kind"]
    assert frame.row(0) == ("ann", "a", dt.datetime(1970, 1, 1), "event")
    assert frame.filter(pl.col("user") == "bob")["item"].to_list() == ["b", "c", "b"]


def test_users_have_histories_and_candidates_positions() -> None:
    train = example_train(("b", "new1"))
    assert train.user_starts.tolist() == [0, 4, 7, 8, 9, 11, 11]
    assert train.age_days().tolist() == [10, 9, 1, 1, 7, 7, 2, 1, 8, 3, 2]
    assert train.candidate_ids.to_list() == ["b", "new1"]
    assert train.candidate_of_item.tolist() == [-1, 0, -1, -1, -1, -1, 1, -1]


def test_events_behind_the_cut_off_are_out_of_reach() -> None:
    """A data set holds the held-out events too; the one that a model gets does not."""
    whole = example_train()
    early = whole.events.where(whole.events.time < 5 * DAY_US)
    train = Train(whole.dataset, early, whole.candidates, 5 * DAY_US)
    assert len(whole.events) == 11
    assert len(train.dataset.events) == len(early) == 5


def test_candidates_by_last_event() -> None:
    """a and d on day 9, b and e on day 8, c on day 3."""
    assert example_train().candidates_by_last_event().tolist() == [0, 3, 1, 4, 2]
    with pytest.raises(ParameterError, match="have no times"):
        replace(example_train(), cutoff=None).candidates_by_last_event()


@pytest.mark.parametrize(
    ("params", "ann"),
    [
        ({}, [1, 1, 0, 0, 0, 1, 0, 0]),
        ({"counts": True}, [2, 1, 0, 0, 0, 1, 0, 0]),
        ({"counts": True, "window_days": 2}, [1, 0, 0, 0, 0, 1, 0, 0]),
        ({"window_days": 0.5}, [0] * 8),
        # a ten days and one day before the cut-off, b nine days
        (
            {"half_life_days": 1, "counts": True},
            [1 / 2 + 2**-10, 2**-9, 0, 0, 0, 1 / 2, 0, 0],
        ),
        ({"weights": {"event": 0.25}, "counts": True}, [0.5, 0.25, 0, 0, 0, 0.25, 0, 0]),
    ],
)
def test_interactions_by_hand(params: dict[str, Any], ann: list[float]) -> None:
    train = example_train()
    interactions = train.interactions(**params)
    assert interactions.toarray()[0].tolist() == ann
    assert 0 not in interactions.data
    assert train.matrix.data.max() == 2, "the matrix itself stays as it is"


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"counts": "false"}, "counts is 'false'; expected true or false"),
        ({"weights": {"event": -1}}, "the weight of event is -1; expected a number, 0 or more"),
        ({"weights": {"event": 10**400}}, "the weight of event is 1000"),
        ({"weights": 3}, "weights is 3; expected a table"),
        ({"weights": {"visit": 1}}, 'no event type "visit"; there are event'),
        ({"window_days": 0}, "window_days is 0; expected a number above 0"),
        ({"half_life_days": float("inf")}, "half_life_days is inf; expected a number above 0"),
    ],
)
def test_what_events_cannot_be_weighed_by(params: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        example_train().interactions(**params)


def test_a_column_of_users_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "users.csv"
    file.write_text("user,sex\nann,f\nbob,m\n", encoding="utf-8")
    train = example_train()
    table = AttributeTable(file, id="user")
    train = replace(train, dataset=replace(train.dataset, users_table=table))
    sexes = ["f", "m", None, None, None, None]
    assert train.user_attribute("sex").to_list() == sexes
    file.unlink()
    assert train.user_attribute("sex").to_list() == sexes


def spoil(train: Train) -> None:
    train.matrix.data = np.zeros_like(train.matrix.data)
    train.matrix.indices = train.matrix.indices[::-1].copy()
    train.matrix.indptr = np.zeros_like(train.matrix.indptr)
    for ids in (train.user_ids, train.item_ids, train.candidate_ids, train.user_attribute("sex")):
        ids[0] = "other"
    train.dataset.user_ids[0] = train.dataset.item_ids[0] = "other"
    train.frame[0, "item"] = "other"
    train.frame.drop_in_place("kind")
    train.items_table.drop_in_place("genre")
    train.users_table.drop_in_place("sex")
    train.dataset.items_table.drop_in_place("genre")


def everything(train: Train) -> list[object]:
    ids = train.user_ids, train.item_ids, train.candidate_ids, train.user_attribute("sex")
    frames = train.frame, train.items_table, train.users_table
    return [
        train.matrix.toarray().tolist(),
        *(frame.to_dict(as_series=False) for frame in frames),
        *(series.to_list() for series in ids),
    ]


@pytest.mark.parametrize("read_before", [False, True])
def test_what_a_model_changes_is_its_own(read_before: bool) -> None:
    """The next model of a run gets what this one got."""
    original = example_train()
    train = Train(original.dataset, original.events, original.candidates, original.cutoff)
    if read_before:
        everything(train)
    spoil(train)
    assert everything(train) == everything(example_train())
    assert original.dataset.user_ids.to_list() == example_train().user_ids.to_list()


def test_arrays_cannot_be_changed(tmp_path: Path) -> None:
    train = make_task(small.config(tmp_path)).train
    moments = {"shown_from": np.zeros(4, np.int64), "registered": np.zeros(3, np.int64)}
    dataset = replace(train.dataset, catalogue=np.arange(4, dtype=np.int32), **moments)
    train = replace(train, dataset=dataset)
    events = train.events
    arrays = [
        *(events.user, events.item, events.time, events.kind, events.user_starts(3)),
        *(train.candidates, train.candidate_of_item, train.user_starts),
        *(train.matrix.data, train.matrix.indices, train.interactions().indices),
        *(dataset.shown_from, dataset.registered, dataset.catalogue),
    ]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


LOG = """user,item,time,event,stars
ann,a,2020-01-01,view,1
ann,a,2020-01-02,sale,4
ann,b,2020-01-03,view,2.5
bob,b,2020-01-03,sale,0
ann,a,2020-01-09,view,1
"""


def valued(folder: Path, log: str = LOG) -> Train:
    data = {"kind": "event", "value": "stars"}
    return make_task(small.config(folder, log=log, data=data)).train


def test_an_event_weighs_its_value_times_all_else(tmp_path: Path) -> None:
    train = valued(tmp_path)
    assert train.values().tolist() == train.frame["value"].to_list() == [1, 4, 2.5, 0]
    assert train.frame["kind"].to_list() == ["view", "sale", "view", "sale"]
    counted, weight = train.event_weights(weights={"sale": 0.5}, values=True)
    assert counted is None
    assert weight.tolist() == [1, 2, 2.5, 0]
    assert train.item_sums(None, weight).tolist() == [3, 2.5]
    # The highest value of a pair, or their sum.
    assert train.interactions(values=True).toarray().tolist() == [[4, 2.5], [0, 0]]
    assert train.interactions(values=True, counts=True).toarray().tolist() == [[5, 2.5], [0, 0]]


def test_values_below_0_weigh_nothing_that_means_anything(tmp_path: Path) -> None:
    train = valued(tmp_path, LOG.replace("bob,b,2020-01-03,sale,0", "bob,b,2020-01-03,sale,-2"))
    hint = (
        'leave out such events: with value = "rating", where = { rating = { min = 0 } } under '
        "[data]"
    )
    with refusal(
        ParameterError, "one is -2, and a weight must be 0 or more. Remove values = true", hint
    ):
        train.event_weights(values=True)
