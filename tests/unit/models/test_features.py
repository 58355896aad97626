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
HALF = 1 / np.sqrt(2)


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


def rows_of(shop: Train, owner: Any = "items", **columns: Any) -> Any:
    """Return the features as a dense array."""
    return feature_matrix(feature_groups(shop, owner, **columns)).toarray()


def test_categories_are_one_hot_in_the_order_of_the_ids() -> None:
    """Item "b" has no row, and "d" no genre; rows of the table stand in another order."""
    shop = train({"id": ["d", "c", "a"], "genre": [None, "spa", "food"]})
    groups = feature_groups(shop, categories=["genre"])
    assert list(groups) == ["categories"]
    assert groups["categories"].toarray().tolist() == [[1, 0], [0, 0], [0, 1], [0, 0]]


def test_numbers_are_points_on_a_circle() -> None:
    """Median 20; the quartiles 10 and 30 lie 1.35 standard deviations apart.

    An outlier is three standard deviations away, unlike the median item, and moves no other.
    """
    shop = train({"id": list("abcde"), "price": ["0", "10", "20", "30", "9e99"]}, ids="abcde")
    sd = 20 / (2 * 0.6744897501960817)
    angles = np.append((np.array([0, 10, 20, 30]) - 20) / sd * np.pi / 6, np.pi / 2)
    expected = np.column_stack([np.cos(angles), np.sin(angles)])
    assert np.allclose(rows_of(shop, numbers=["price"]), expected)


def test_a_missing_number_is_no_number() -> None:
    """Where known cos 0 = 1 and sin 0 = 0: price, rate | price, rate."""
    shop = train({"id": list("abc"), "price": ["5", "", " "], "rate": ["1", "1", None]})
    expected = [[HALF, HALF, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert np.allclose(rows_of(shop, numbers=["price", "rate"]), expected)


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
    rows = rows_of(train({"id": list("abcd"), "text": texts}), texts=["text"])
    likeness = rows @ rows.T
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
    rows = rows_of(shop, categories=categories, numbers=numbers)
    assert np.allclose(rows @ rows.T, [[1, likeness], [likeness, 1]])


def test_what_is_fitted_comes_from_the_table_alone_and_products_are_exact() -> None:
    """Items that only the log knows change nothing; entries have 24 binary places."""
    table: Table = {
        "id": list("abc"), "genre": ["x", "y", "x"], "price": ["1", "2", "9"],
        "text": ["one", "two", "one two"],
    }  # fmt: skip
    columns = {"categories": ["genre"], "numbers": ["price"], "texts": ["text"]}
    small, large = (rows_of(train(table, ids=ids), **columns) for ids in ("abc", "abcdefgh"))
    assert np.array_equal(small, large[:3])
    assert large[3:].sum() == 0
    assert np.array_equal(small * 2**24, np.rint(small * 2**24))


def test_users_have_features_too() -> None:
    """The table's median 20 of the ages is that of users without events, too."""
    people: Table = {"user": ["w", "v", "u", "x"], "sex": ["m", "f", "m", "f"],
        "age": ["0", None, "20", "40"]}  # fmt: skip
    shop = train(None, people)
    assert rows_of(shop, "users", categories=["sex"]).tolist() == [[0, 1], [1, 0]]
    assert rows_of(shop, "users", numbers=["age"]).tolist() == [[1, 0], [0, 0]]
    age, unknown = number_columns(shop, "users", ["age"])[:, 0]
    assert (age, np.isnan(unknown)) == (20, True)


def test_codes_of_categories() -> None:
    """Value "y" is most frequent, then "x" before "z"; the rarest of 300 share the last code."""
    table: Table = {"id": list("abcde"), "times": ["z", "y", "x", "y", None], "value": [*"yyyyy"]}
    codes = category_columns(train(table, ids="abcdef"), "items", ["times", "value"])
    assert codes[:4].tolist() == [[2, 0], [0, 0], [1, 0], [0, 0]]
    assert np.isnan(codes[4:, 0]).all()
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
        (
            TABLE,
            {"categories": ["gnere"]},
            'the table of items has no column "gnere"; there are genre, price, blank; '
            'did you mean "genre"?',
        ),
        (TABLE, {"texts": ["id"]}, 'the table of items has no column "id"'),
        (TABLE, NUMBERS, 'the column "price" holds "n/a", which is not a number; leave the'),
        ({"id": ["a"], "price": ["inf"]}, NUMBERS, 'holds "inf", which is not a number'),
        (TABLE, {"texts": ["blank"]}, 'the column "blank" of the table of items is empty'),
        (TABLE, {"numbers": "price"}, "numbers is 'price'; expected a list of texts: "),
        (
            {"id": ["01", "02"], "price": ["1", "2"]},
            NUMBERS,
            'none of the 2 ids of items, such as "a", is in the column "id" of their table',
        ),
        (None, NUMBERS, "no table of attributes of items; the layouts hm, ponpare and kion"),
    ],
)
def test_wrong_columns_are_named(table: Table, columns: dict[str, Any], message: str) -> None:
    with refusal(ValueError, message):
        feature_groups(train(table, ids="ab"), **columns)


def test_rows_divided() -> None:
    rows = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert np.allclose(unit_rows(rows).toarray(), [[0.6, 0.8], [0, 0]])
    assert divided_rows(rows, np.array([2.0, 0.0])).toarray().tolist() == [[1.5, 2], [0, 0]]
