"""Attributes as features: matrices that one can write down, and what is said of wrong columns."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import refusal

from harness.data.dataset import Dataset, Events
from harness.models.base import Train
from harness.models.features import (
    category_columns,
    divided_rows,
    feature_groups,
    feature_matrix,
    number_columns,
    unit_rows,
)

Table = dict[str, list[str | None]] | None


def train(items: Table, users: Table = None, ids: str = "abcd") -> Train:
    """Return a shop without events, of items with these ids and users "u" and "v"."""
    none = np.zeros(0, np.int32)
    events = Events(none, none, np.zeros(0, np.int64), np.zeros(0, np.uint8))
    data = Dataset(
        "table", pl.Series(["u", "v"]), pl.Series(list(ids)), events, ("event",), "train",
        users_table=None if users is None else pl.DataFrame(users),
        items_table=None if items is None else pl.DataFrame(items),
    )  # fmt: skip
    return Train(data, events, np.arange(len(ids), dtype=np.int32), 0)


def dense(matrix: Any) -> Any:
    return matrix.toarray()


HALF = 1 / np.sqrt(2)


def test_categories_are_one_hot_in_the_order_of_the_ids() -> None:
    """Item "b" has no row, and "d" no genre; rows of the table stand in another order."""
    shop = train({"id": ["d", "c", "a"], "genre": [None, "spa", "food"]})
    groups = feature_groups(shop, categories=["genre"])
    assert list(groups) == ["categories"]
    assert dense(groups["categories"]).tolist() == [[1, 0], [0, 0], [0, 1], [0, 0]]


def test_numbers_are_points_on_a_circle() -> None:
    """Median 20; the quartiles 10 and 30 lie 1.35 standard deviations apart.

    An outlier is three standard deviations away, unlike the median item, and moves no other.
    """
    shop = train({"id": list("abcde"), "price": ["0", "10", "20", "30", "9e99"]}, ids="abcde")
    rows = dense(feature_matrix(shop, numbers=["price"]))
    sd = 20 / (2 * 0.6744897501960817)
    angles = np.append((np.array([0, 10, 20, 30]) - 20) / sd * np.pi / 6, np.pi / 2)
    assert np.allclose(rows, np.column_stack([np.cos(angles), np.sin(angles)]))


def test_a_missing_number_is_no_number() -> None:
    shop = train({"id": list("abc"), "price": ["5", "", " "], "rate": ["1", "1", None]})
    rows = dense(feature_matrix(shop, numbers=["price", "rate"]))
    # cos 0 = 1 and sin 0 = 0 where known: price, rate | price, rate
    assert np.allclose(rows, [[HALF, HALF, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])


@pytest.mark.parametrize(
    "texts",
    [
        ["hot soup", "cold soup", "massage", " "],
        # Hotel and inn, and a hotel's restaurant: without spaces they share ホテ, テル and ホテル.
        ["ホテル・旅館", "ホテルレストラン", "宅配", None],
    ],
)
def test_texts_share_parts_of_words(texts: list[str | None]) -> None:
    """The third shares none of them; a blank text has none at all."""
    rows = feature_matrix(train({"id": list("abcd"), "text": texts}), texts=["text"])
    likeness = dense(rows @ rows.T)
    assert 0.1 < likeness[0, 1] < 0.9
    assert likeness[0, 2] == likeness[1, 2] == 0
    assert np.allclose(np.diag(likeness), [1, 1, 1, 0])


@pytest.mark.parametrize(
    ("columns", "likeness"),
    [
        # Same price, other genre and area: 1 of 2 groups agrees, although 2 of 3 columns do not.
        ({"genre": ["x", "y"], "area": ["p", "q"], "price": ["7", "7"]}, 0.5),
        # Of two categories the one that is known agrees.
        ({"genre": ["x", "x"], "area": ["p", None]}, HALF),
        # A group that is unknown does not shrink the other.
        ({"genre": ["x", "x"], "price": ["7", None]}, HALF),
    ],
)
def test_groups_weigh_the_same(columns: dict[str, list[str | None]], likeness: float) -> None:
    numbers = [name for name in columns if name == "price"]
    categories = [name for name in columns if name != "price"]
    shop = train({"id": list("ab"), **columns}, ids="ab")
    rows = feature_matrix(shop, categories=categories, numbers=numbers)
    assert np.allclose(dense(rows @ rows.T), [[1, likeness], [likeness, 1]])


def test_what_is_fitted_comes_from_the_table_alone() -> None:
    """Items that only the log knows change nothing for the others."""
    table: Table = {
        "id": list("abc"), "genre": ["x", "y", "x"], "price": ["1", "2", "9"],
        "text": ["one", "two", "one two"],
    }  # fmt: skip
    asked: dict[str, Any] = {"categories": ["genre"], "numbers": ["price"], "texts": ["text"]}
    small, large = (feature_matrix(train(table, ids=ids), **asked) for ids in ("abc", "abcdefgh"))
    assert np.array_equal(dense(small), dense(large)[:3])
    assert dense(large)[3:].sum() == 0


def test_products_of_rows_are_exact() -> None:
    """Added in any order they are the same to the last bit: entries have 24 binary places."""
    prices = [str(i * i) for i in range(12)]
    shop = train(
        {"id": list("abcdefghijkl"), "n": prices, "c": prices, "t": prices}, ids="abcdefghijkl"
    )
    rows = dense(feature_matrix(shop, categories=["c"], numbers=["n"], texts=["t"]))
    assert np.array_equal(rows * 2**24, np.rint(rows * 2**24))
    for order in (slice(None, None, -1), np.random.default_rng(1).permutation(rows.shape[1])):
        for a, b in ((0, 1), (3, 7), (11, 11)):
            products = (rows[a] * rows[b])[order]
            assert np.cumsum(products)[-1] == np.cumsum(rows[a] * rows[b])[-1]


def test_users_have_features_too() -> None:
    """The table's median 20 of the ages is that of users without events, too."""
    people: Table = {"user": ["w", "v", "u", "x"], "sex": ["m", "f", "m", "f"],
        "age": ["0", None, "20", "40"]}  # fmt: skip
    shop = train(None, people)
    assert dense(feature_matrix(shop, "users", categories=["sex"])).tolist() == [[0, 1], [1, 0]]
    assert dense(feature_matrix(shop, "users", numbers=["age"])).tolist() == [[1, 0], [0, 0]]
    assert number_columns(shop, "users", ["age"])[0, 0] == 20
    assert np.isnan(number_columns(shop, "users", ["age"])[1, 0])


def test_plain_columns() -> None:
    """Value "y" is most frequent, then "x" before "z"; columns may have any name."""
    table: Table = {"id": list("abcde"), "times": ["z", "y", "x", "y", None], "value": [*"yyyyy"]}
    shop = train(table, ids="abcdef")
    codes = category_columns(shop, "items", ["times", "value"])
    assert codes[:4].tolist() == [[2, 0], [0, 0], [1, 0], [0, 0]]
    assert np.isnan(codes[4:, 0]).all()
    assert number_columns(shop, "items", []).shape == (6, 0)


def test_rare_values_share_the_last_code() -> None:
    ids = [chr(0x4E00 + i) for i in range(300)]
    shop = train({"id": ids, "genre": [f"{i:03}" for i in range(300)]}, ids="".join(ids))
    codes = category_columns(shop, "items", ["genre"])[:, 0]
    assert codes.tolist() == [*range(249), *[249] * 51]


TABLE: Table = {"id": list("ab"), "genre": ["x", "y"], "price": ["7", "n/a"], "blank": [None, " "]}
NUMBERS: dict[str, Any] = {"numbers": ["price"]}


@pytest.mark.parametrize(
    ("table", "columns", "message"),
    [
        (TABLE, {}, "no attributes of items; name columns of their table with one"),
        (TABLE, {"categories": []}, "no attributes of items; name columns"),
        (
            TABLE,
            {"categories": ["gnere"]},
            'the table of items has no column "gnere"; there are genre, price, blank; '
            'did you mean "genre"?',
        ),
        (TABLE, {"texts": ["id"]}, 'the table of items has no column "id"'),
        (TABLE, NUMBERS, 'the column "price" holds "n/a", which is not a number; leave the'),
        (TABLE, {"texts": ["blank"]}, 'the column "blank" of the table of items is empty'),
        (TABLE, {"numbers": "price"}, "numbers is 'price'; expected a list of texts: "),
        *(
            ({"id": ["a"], "price": [text]}, NUMBERS, f'holds "{text}", which is not a number')
            for text in ("inf", "nan", "1,5", "1e999")
        ),
        (
            {"id": ["01", "02"], "price": ["1", "2"]},
            NUMBERS,
            'none of the 2 ids of items, such as "a", is in the column "id" of their table',
        ),
    ],
)
def test_wrong_columns_are_named(table: Table, columns: dict[str, Any], message: str) -> None:
    with refusal(ValueError, message):
        feature_matrix(train(table, ids="ab"), **columns)


@pytest.mark.parametrize("owner", ["items", "users"])
def test_without_a_table_the_message_says_how_to_have_one(owner: Any) -> None:
    with refusal(ValueError, f"no table of attributes of {owner}; ", f'[data] {owner} = "file"'):
        feature_matrix(train(None), owner, categories=["sex"])


def test_rows_divided() -> None:
    rows = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert np.allclose(dense(unit_rows(rows)), [[0.6, 0.8], [0, 0]])
    assert dense(divided_rows(rows, np.array([2.0, 0.0]))).tolist() == [[1.5, 2], [0, 0]]
    assert unit_rows(np.zeros((0, 2))).shape == (0, 2)
