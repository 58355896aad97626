"""What a recommender is given: the events of `example_train` in every form."""

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import small

from harness.core.params import ParameterError
from harness.data.layout import AttributeTable, Table
from harness.models.base import Train
from harness.protocol.task import make_task
from harness.testing import example_train

# ann: a on day 0, b on 1, a and gone on 9; bob: b and c on 3, b on 8; cid: d on 9;
# dee: gone on 2; eve: a on 7, e on 8; nobody: nothing. The cut-off is day 10.
DAY_US = 86_400_000_000


def test_the_matrix_counts_events() -> None:
    train = example_train()
    items = train.item_ids.to_list()
    matrix = train.matrix.toarray()
    assert items == ["a", "b", "c", "d", "e", "gone", "new1", "new2"]
    assert matrix[0].tolist() == [2, 1, 0, 0, 0, 1, 0, 0]
    assert matrix[1].tolist() == [0, 2, 1, 0, 0, 0, 0, 0]
    assert matrix[5].tolist() == [0] * 8
    assert matrix.sum() == len(train.events)


def test_the_matrix_leaves_the_events_as_they_are() -> None:
    train = example_train()
    before = train.events.item.tolist()
    assert train.matrix.has_sorted_indices
    assert train.events.item.tolist() == before


def test_tables_have_their_ids_first() -> None:
    assert example_train().items_table is not None
    assert example_train().users_table.columns == ["user", "sex", "age"]  # type: ignore[union-attr]


def test_a_file_may_have_its_ids_anywhere(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("genre,id,price\nspa,a,1\n,b,2\n", encoding="utf-8")
    table = AttributeTable(Table(tmp_path / "items.csv"), id="id")
    train = example_train()
    found = replace(train, dataset=replace(train.dataset, items_table=table)).items_table
    assert found is not None
    assert found.columns == ["id", "genre", "price"]
    assert found.rows() == [("a", "spa", "1"), ("b", None, "2")]


def test_items_have_counts() -> None:
    """Of the last 2.5 days: a, gone, b, d and e once; events of half the weight are half."""
    train = example_train()
    recent = train.last_days(2.5)
    assert train.item_sums().tolist() == [3, 3, 1, 1, 1, 2, 0, 0]
    assert train.item_sums(recent).tolist() == [1, 1, 0, 1, 1, 1, 0, 0]
    half = np.full(len(train.events), 0.5)
    assert train.item_sums(recent, half).tolist() == [0.5, 0.5, 0, 0.5, 0.5, 0.5, 0, 0]


def test_user_starts_cut_the_events_into_histories() -> None:
    train = example_train()
    assert train.user_starts.tolist() == [0, 4, 7, 8, 9, 11, 11]


def test_the_frame_has_ids_and_times() -> None:
    frame = example_train().frame
    assert frame.columns == ["user", "item", "time", "kind"]
    assert frame.row(0) == ("ann", "a", dt.datetime(1970, 1, 1), "event")
    assert frame.filter(pl.col("user") == "bob")["item"].to_list() == ["b", "c", "b"]


def test_positions_of_candidates() -> None:
    train = example_train(("b", "new1"))
    assert train.candidate_ids.to_list() == ["b", "new1"]
    assert train.candidate_of_item.tolist() == [-1, 0, -1, -1, -1, -1, 1, -1]


def test_candidates_by_count() -> None:
    train = example_train()
    # a 3, b 3, c 1, d 1, e 1; gone is no candidate; the new ones have no event.
    assert train.candidates_by_count().tolist() == [0, 1, 2, 3, 4]
    # The last two days hold a, d (day 9) and b, e (day 8).
    assert train.candidates_by_count(train.last_days(2)).tolist() == [0, 1, 3, 4]


def test_candidates_by_last_event() -> None:
    # a and d on day 9, b and e on day 8, c on day 3.
    assert example_train().candidates_by_last_event().tolist() == [0, 3, 1, 4, 2]


def test_without_times_no_candidate_is_the_latest() -> None:
    train = example_train()
    without = Train(train.dataset, train.events, train.candidates, None)
    with pytest.raises(ParameterError, match="carry no time"):
        without.candidates_by_last_event()


def test_ages_in_days() -> None:
    assert example_train().age_days().tolist() == [10, 9, 1, 1, 7, 7, 2, 1, 8, 3, 2]


def test_what_lies_behind_the_cut_off_is_out_of_reach() -> None:
    """A data set holds the held-out events too; the one that a model is given does not."""
    whole = example_train()
    early = whole.events.where(whole.events.time < 5 * DAY_US)
    given = Train(whole.dataset, early, whole.candidates, 5 * DAY_US)
    assert len(whole.events) == 11
    assert len(given.dataset.events) == len(early) == 5


def test_interactions_count_a_pair_once_or_add_it_up() -> None:
    train = example_train()
    assert train.interactions().toarray()[0].tolist() == [1, 1, 0, 0, 0, 1, 0, 0]
    assert train.interactions(counts=True).toarray()[0].tolist() == [2, 1, 0, 0, 0, 1, 0, 0]
    assert train.matrix.data.max() == 2, "the matrix itself is left alone"


def test_interactions_of_a_window() -> None:
    recent = example_train().interactions(window_days=2, counts=True)
    # day 8: bob b, eve e; day 9: ann a and gone, cid d
    assert recent.sum() == 5
    assert recent.toarray()[0].tolist() == [1, 0, 0, 0, 0, 1, 0, 0]
    assert example_train().interactions(window_days=0.5).nnz == 0


def test_interactions_that_fade() -> None:
    train = example_train()
    # ann has a on days 0 and 9: ten days and one day before the cut-off.
    latest = train.interactions(half_life_days=1).toarray()[0]
    assert latest[:2].tolist() == [0.5, 2**-9]
    assert train.interactions(half_life_days=1, counts=True).toarray()[0][0] == 0.5 + 2**-10


def test_interactions_weighed_by_kind() -> None:
    train = example_train()
    assert train.interactions(weights={"event": 0.25}, counts=True).toarray()[0][0] == 0.5
    assert train.interactions(weights={"event": 0.0}).nnz == 0


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"counts": "false"}, "counts is 'false'; expected true or false"),
        ({"weights": {"event": -1}}, "the weight of event is -1; expected a number from 0 up"),
        ({"weights": {"event": float("nan")}}, "the weight of event is nan; expected a number"),
        ({"weights": {"event": "x"}}, "the weight of event is 'x'; expected a number from 0 up"),
        ({"weights": {"event": 10**400}}, "the weight of event is 1000"),
        ({"weights": 3}, "weights is 3; expected a table"),
        ({"weights": ["event"]}, r"weights is \['event'\]; expected a table"),
        ({"weights": {"visit": 1}}, 'no event type "visit"; there are event'),
        ({"window_days": 0}, "window_days is 0; expected a number above 0"),
        ({"half_life_days": 0}, "half_life_days is 0; expected a number above 0"),
        ({"window_days": float("inf")}, "window_days is inf; expected a number above 0"),
    ],
)
def test_what_events_cannot_be_weighed_by(params: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        example_train().interactions(**params)


def test_a_column_of_users_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "users.csv"
    file.write_text("user,sex\nann,f\nbob,m\n", encoding="utf-8")
    train = example_train()
    table = AttributeTable(Table(file), id="user")
    train = replace(train, dataset=replace(train.dataset, users_table=table))
    sexes = ["f", "m", None, None, None, None]
    assert train.user_attribute("sex").to_list() == sexes
    file.unlink()
    assert train.user_attribute("sex").to_list() == sexes


def _other_counts(train: Train) -> None:
    matrix = train.matrix
    matrix.data = np.zeros_like(matrix.data)


def _other_items(train: Train) -> None:
    matrix = train.matrix
    matrix.indices = matrix.indices[::-1].copy()


def _fewer_rows(train: Train) -> None:
    matrix = train.matrix
    matrix.indptr = np.zeros_like(matrix.indptr)


def _other_frame(train: Train) -> None:
    train.frame[0, "item"] = "other"


def _fewer_columns(train: Train) -> None:
    train.frame.drop_in_place("kind")


def _fewer_attributes(train: Train) -> None:
    assert train.items_table is not None
    assert train.users_table is not None
    train.items_table.drop_in_place("genre")
    train.users_table.drop_in_place("sex")


def _fewer_attributes_of_the_data(train: Train) -> None:
    table = train.dataset.items_table
    assert isinstance(table, pl.DataFrame)
    table.drop_in_place("genre")


def _other_ids(train: Train) -> None:
    train.user_ids[0] = "other"
    train.item_ids[0] = "other"
    train.candidate_ids[0] = "other"


def _other_ids_of_the_data(train: Train) -> None:
    train.dataset.user_ids[0] = "other"
    train.dataset.item_ids[0] = "other"


def _other_attribute(train: Train) -> None:
    train.user_attribute("sex")[0] = "other"


def _everything(train: Train) -> list[object]:
    assert train.items_table is not None
    assert train.users_table is not None
    ids = train.user_ids, train.item_ids, train.candidate_ids, train.user_attribute("sex")
    return [
        train.matrix.toarray().tolist(),
        *(frame.to_dict(as_series=False) for frame in (train.frame, train.items_table)),
        train.users_table.to_dict(as_series=False),
        *(series.to_list() for series in ids),
    ]


@pytest.mark.parametrize(
    "change",
    [
        _other_counts,
        _other_items,
        _fewer_rows,
        _other_frame,
        _fewer_columns,
        _fewer_attributes,
        _fewer_attributes_of_the_data,
        _other_ids,
        _other_ids_of_the_data,
        _other_attribute,
    ],
)
@pytest.mark.parametrize("read_before", [False, True])
def test_what_a_model_changes_is_its_own(
    change: Callable[[Train], None], read_before: bool
) -> None:
    """The next model of a run is given what this one was."""
    given = example_train()
    train = Train(given.dataset, given.events, given.candidates, given.cutoff)
    if read_before:
        _everything(train)
    change(train)
    assert _everything(train) == _everything(example_train())
    assert given.dataset.user_ids.to_list() == example_train().user_ids.to_list()


@pytest.mark.parametrize(
    "array",
    [
        lambda train: train.events.user,
        lambda train: train.events.item,
        lambda train: train.events.time,
        lambda train: train.events.kind,
        lambda train: train.candidates,
        lambda train: train.candidate_of_item,
        lambda train: train.user_starts,
        lambda train: train.matrix.data,
        lambda train: train.matrix.indices,
        lambda train: train.interactions().indices,
        lambda train: train.events.user_starts(3),
        lambda train: train.dataset.shown_from,
        lambda train: train.dataset.registered,
        lambda train: train.dataset.catalogue,
    ],
)
def test_arrays_cannot_be_changed(tmp_path: Path, array: Callable[[Train], Any]) -> None:
    given = make_task(small.config(tmp_path)).train
    moments = {"shown_from": np.zeros(4, np.int64), "registered": np.zeros(3, np.int64)}
    dataset = replace(given.dataset, catalogue=np.arange(4, dtype=np.int32), **moments)
    with pytest.raises(ValueError, match="read-only"):
        array(replace(given, dataset=dataset))[0] = 1
