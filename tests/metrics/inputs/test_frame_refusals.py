"""What cannot be read is refused with what was found, where, and how to mend it."""

import contextlib
from collections import deque
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from harness import evaluate
from harness.core.errors import DataError, HarnessError, UsageError

LISTS: dict[str, Any] = {"ann": ["a", "x", "b"], "bob": ["y", "c"]}
TRUTH: dict[str, Any] = {"ann": ["a", "b"], "bob": ["c"]}
ROWS = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": ["a", "x", "c"]})
WIDE = pl.DataFrame({"user": ["ann", "bob"], "item": [["a", "x"], ["c"]]})
NUMBERS = pd.DataFrame({"user": [1, 1, 2], "item": [1, 9, 3]})
LOOKS = pl.DataFrame({"item": ["a", "b"], "colour": ["red", "blue"]})


def refused(
    kind: type[HarnessError],
    named: list[str],
    lists: Any = LISTS,
    truth: Any = TRUTH,
    metrics: Any = "MAP@3",
    **more: Any,
) -> None:
    """Check that there is an error of that kind whose text holds every word."""
    with pytest.raises(kind) as refusal:
        evaluate(lists, truth, metrics, **more)
    text = str(refusal.value)
    assert [word for word in named if word not in text] == [], text
    assert "\n" not in text


def objects(*values: object) -> pd.Series:
    """Return a column of Python objects."""
    return pd.Series(list(values), dtype=object)


@pytest.mark.parametrize(
    ("rows", "names", "named"),
    [
        (ROWS.rename(columns={"user": "usr"}), {}, ['"user"', 'did you mean "usr"?', "user="]),
        (ROWS.rename(columns={"item": "itm"}), {}, ['"item"', 'did you mean "itm"?', "item="]),
        (ROWS.rename(columns={"item": "sku"}), {}, ['"item"', "user, sku", "item="]),
        (ROWS, {"user": "customer"}, ['"customer"', "user="]),
        (ROWS, {"rank": "position"}, ['"position"', "user, item", "rank="]),
        (ROWS, {"score": "scor"}, ['"scor"', "user, item", "score="]),
        (ROWS.set_index("user"), {}, ['"user"', "item", "user="]),
        (pa.Table.from_pandas(ROWS).rename_columns(["user", "itm"]), {}, ['did you mean "itm"?']),
    ],
)
def test_a_missing_column(rows: Any, names: dict[str, str], named: list[str]) -> None:
    refused(DataError, ["recommendations: no column", *named], rows, **names)


def test_a_missing_column_of_the_truth() -> None:
    refused(
        DataError,
        ["truth: no column", '"item"', 'did you mean "itm"?'],
        LISTS,
        ROWS.rename(columns={"item": "itm"}),
    )
    refused(
        DataError, ["truth: no column", '"grad"', "user, item", "grade="], LISTS, ROWS, grade="grad"
    )


@pytest.mark.parametrize("parameter", ["user", "item", "rank", "score"])
@pytest.mark.parametrize(
    "column", [ROWS["item"], ROWS["item"].to_numpy(), pl.Series(["a"]), pl.col("item")]
)
def test_a_column_where_its_name_was_expected(parameter: str, column: Any) -> None:
    named = [f"recommendations: {parameter} takes a column's name", type(column).__name__]
    refused(UsageError, named, ROWS, **{parameter: column})
    refused(UsageError, named, **{parameter: column})


def test_columns_without_names() -> None:
    refused(DataError, ["recommendations: no column", '"user"'], pd.DataFrame([["ann", "a"]]))


def test_two_columns_of_lists() -> None:
    two = WIDE.rename({"item": "one"}).with_columns(two=pl.col("one"))
    refused(DataError, ['"item"', "one, two", "item="], two)


def test_rank_and_score_both_named() -> None:
    rows = ROWS.assign(rank=[1, 2, 1], score=1.0)
    refused(
        UsageError, ["recommendations", "rank or score, not both"], rows, rank="rank", score="score"
    )


@pytest.mark.parametrize("column", ["rank", "score"])
def test_ranks_or_scores_beside_lists(column: str) -> None:
    lists = WIDE.with_columns(pl.lit(1).alias(column))
    named = ["recommendations", f'column "{column}"', 'lists in column "item"', "drop that column"]
    refused(UsageError, named, lists)
    refused(UsageError, named, lists, **{column: column})


@pytest.mark.parametrize("column", [0, ""])
def test_ranks_beside_lists_in_a_column_whose_name_is_nothing(column: Any) -> None:
    lists = pd.DataFrame({"user": ["ann"], "item": objects(["a", "x"]), column: [1]})
    refused(UsageError, [f'the rank in column "{column}"'], lists, rank=column)


MISSING_ID = [
    pytest.param(column, row, frame, id=f"{column}-{name}")
    for column, row, ids in (("user", 1, ["ann", None, "bob"]), ("item", 2, ["a", "b", None]))
    for name, frame in {
        "pandas": ROWS.assign(**{column: ids}),
        "pandas object": ROWS.assign(**{column: objects(*ids)}),
        "pandas NaN": ROWS.assign(**{column: objects(*(i or float("nan") for i in ids))}),
        "pandas NA": ROWS.assign(**{column: objects(*(i or pd.NA for i in ids))}),
        "pandas category": ROWS.assign(**{column: pd.Categorical(ids)}),
        "polars": pl.from_pandas(ROWS).with_columns(pl.Series(column, ids)),
        "polars Enum": pl.from_pandas(ROWS).with_columns(
            pl.Series(column, ids, pl.Enum([i for i in ids if i]))
        ),
        "arrow": pa.table(
            {"user": ROWS["user"].tolist(), "item": ROWS["item"].tolist(), column: ids}
        ),
    }.items()
]


@pytest.mark.parametrize(("column", "row", "frame"), MISSING_ID)
def test_a_missing_id(column: str, row: int, frame: Any) -> None:
    named = [
        f'column "{column}", row {row} (the first is 0)',
        "the id is missing",
        "drop such rows",
    ]
    refused(DataError, ["recommendations: ", *named], frame)
    refused(DataError, ["truth: ", *named], LISTS, frame)


@pytest.mark.parametrize(
    "ids",
    [[1.0, None, 2.0], pd.array([1, None, 2], "Int64"), pd.array([1, None, 2], "int64[pyarrow]")],
)
def test_a_missing_id_among_numbers(ids: Any) -> None:
    for column in ("user", "item"):
        named = [f'column "{column}", row 1', "the id is missing"]
        refused(DataError, named, NUMBERS.assign(**{column: ids}), NUMBERS)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_missing_id_inside_a_list(missing: Any) -> None:
    inside = [["a"], ["b", missing]]
    for lists in (
        pd.DataFrame({"user": ["ann", "bob"], "item": objects(*inside)}),
        {"ann": ["a"], "bob": ["b", missing]},
        {"ann": np.array(["a"], object), "bob": np.array(["b", missing], object)},
    ):
        refused(DataError, ["recommendations: ", "item", "the id is missing"], lists)


@pytest.mark.parametrize("kind", [pl.List(pl.String), pl.Array(pl.String, 2)])
def test_a_missing_id_inside_a_list_of_polars(kind: Any) -> None:
    lists = pl.DataFrame({"user": ["ann", "bob"], "item": [["a", "x"], ["b", None]]}).cast(
        {"item": kind}
    )
    refused(DataError, ['column "item", row 1', "the id is missing"], lists)
    refused(DataError, ['truth: column "item", row 1', "the id is missing"], LISTS, lists)


def test_a_missing_user_in_a_dict() -> None:
    refused(
        DataError, ["recommendations", "user", "the id is missing"], {None: ["a"], "ann": ["b"]}
    )


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have frames read two rows at a time."""
    monkeypatch.setattr("harness.metrics.inputs.frame._PART", 2)
    monkeypatch.setattr("harness.metrics.inputs.lists._PART", 2)


@pytest.mark.usefixtures("small_parts")
def test_rows_of_later_parts_are_counted_from_the_first() -> None:
    rows = pd.concat([ROWS, ROWS.assign(user=["cid", "cid", "ann"])], ignore_index=True)
    for number, name in enumerate(["item", "user"], 3):
        cells = objects(*(None if row == number else v for row, v in enumerate(rows[name])))
        refused(DataError, [f'"{name}", row {number} ', "missing"], rows.assign(**{name: cells}))
    ranked = rows.assign(rank=[1, 2, 1, 3, 4, 2])
    refused(DataError, ["row 5 ", "user 'ann' has rank 2 twice"], ranked)


@pytest.mark.usefixtures("small_parts")
def test_parts_make_no_difference() -> None:
    """Ann's a hits first, her b third: (1/1 + 2/3) / 2; bob's c second, behind x: 1/2."""
    rows = pd.DataFrame(
        {
            "user": ["ann", "bob", "ann", "bob", "ann"],
            "item": list("bxacx"),
            "rank": [3, 1, 1, 2, 2],
        }
    )
    for ids in (rows, rows.astype({"user": "category"}), pl.from_pandas(rows)):
        assert evaluate(ids, TRUTH, "MAP@3", per_user=True)["MAP@3"].to_dict() == pytest.approx(
            {"ann": 5 / 6, "bob": 1 / 2}
        )


@pytest.mark.parametrize(
    ("rank", "found"),
    [
        (0, ["found 0", "add 1 to all"]),
        (-1, ["found -1"]),
        (1.5, ["found 1.5"]),
        (float("inf"), ["found inf"]),
    ],
)
def test_a_rank_that_is_no_place(rank: float, found: list[str]) -> None:
    named = ['column "rank", row 2 (the first is 0)', "user 'bob'", "a whole number from 1", *found]
    for rows in (
        ROWS.assign(rank=[1, 2, rank]),
        pl.from_pandas(ROWS.assign(rank=[1.0, 2.0, rank])),
    ):
        refused(DataError, ["recommendations: ", *named], rows)


@pytest.mark.parametrize("column", ["rank", "score"])
@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_a_rank_or_score_that_is_missing(column: str, nothing: float | None) -> None:
    numbers = [1.0, 2.0, nothing]
    named = [f'column "{column}", row 2 (the first is 0)', "user 'bob'", f"a {column} is a"]
    for rows in (
        ROWS.assign(**{column: numbers}),
        ROWS.assign(**{column: objects(*numbers)}),
        pl.from_pandas(ROWS).with_columns(pl.Series(column, numbers, strict=False)),
    ):
        refused(DataError, named, rows)


@pytest.mark.parametrize("column", ["rank", "score"])
def test_ranks_or_scores_of_text(column: str) -> None:
    rows = ROWS.assign(**{column: ["1", "2", "1"]})
    refused(
        DataError, [f'column "{column}" holds no numbers', "'1'", f"a {column} is a number"], rows
    )


def test_a_text_among_scores_is_what_is_named() -> None:
    rows = ROWS.assign(score=objects(1, 0.5, "high"))
    refused(DataError, ['column "score", row 2', "'high'"], rows)
    refused(DataError, ["score", "'high'"], {"ann": {"a": 1, "b": 0.5, "c": "high"}})


def test_scores_of_a_dict_that_are_no_numbers() -> None:
    refused(
        DataError, ["user 'ann'", "found nan", "a score is a number"], {"ann": {"a": float("nan")}}
    )
    refused(DataError, ["score", "'good'", "expected a number"], {"ann": {"a": "good"}})
    refused(DataError, ["user 'ann'", "found a missing value"], {"ann": {"a": 1, "b": None}})


def test_a_rank_that_stands_twice() -> None:
    refused(
        DataError,
        ["row 1", "user 'ann' has rank 2 twice", "give a rank one item"],
        ROWS.assign(rank=[2, 2, 1]),
    )


def test_a_rank_that_is_a_mistake_when_all_places_count() -> None:
    named = ["recommendations", "2 users", "rank that is far too high", "a cut-off"]
    refused(DataError, named, ROWS.assign(rank=[1, 2, 10**12]), metrics="MRR")


TEXT = {"user": ["1", "2"], "item": ["5", "6"]}
WHOLE = {"user": [1, 2], "item": [5, 6]}


@pytest.mark.parametrize("column", ["user", "item"])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_here_and_whole_numbers_there(column: str, frame: Any) -> None:
    mixed = {**TEXT, column: WHOLE[column]}
    first = WHOLE[column][0]
    named = [
        f'recommendations: column "{column}" holds whole numbers (first {first})',
        f"truth: column \"{column}\" holds text (first '{first}')",
        "make both text or both whole numbers",
    ]
    refused(DataError, named, frame(mixed), frame(TEXT))
    mixed = {**WHOLE, column: TEXT[column]}
    named = [
        f"recommendations: column \"{column}\" holds text (first '{first}')",
        f'truth: column "{column}" holds whole numbers (first {first})',
    ]
    refused(DataError, named, frame(mixed), frame(WHOLE))


def test_text_here_and_whole_numbers_there_in_dicts() -> None:
    refused(
        DataError, ["whole numbers (first 5)", "text (first '5')"], {"ann": [5]}, {"ann": ["5"]}
    )
    refused(
        DataError, ["text (first '5')", "whole numbers (first 5)"], {"ann": ["5"]}, {"ann": [5]}
    )
    refused(DataError, ["whole numbers (first 1)", "text (first '1')"], {1: ["a"]}, {"1": ["a"]})
    refused(DataError, ["text (first '1')", "whole numbers (first 1)"], {"1": ["a"]}, {1: ["a"]})


@pytest.mark.parametrize("more", ["train", "candidates", "attributes"])
def test_another_kind_of_ids_beside(more: str) -> None:
    beside: dict[str, tuple[str, Any]] = {
        "train": ("Novelty@3", {"ann": [5]}),
        "candidates": ("Coverage@3", [5, 6]),
        "attributes": ("ILD@3", pd.DataFrame({"item": [5, 6], "colour": ["red", "blue"]})),
    }
    metric, given = beside[more]
    refused(
        DataError,
        [more, "whole numbers (first 5)", "text (first 'a')"],
        metrics=metric,
        **{more: given},
    )


@pytest.mark.parametrize("column", ["user", "item"])
def test_ids_that_are_decimals(column: str) -> None:
    rows = NUMBERS.astype({column: float})
    named = [
        f'recommendations: column "{column}"',
        "Float64",
        "first 1.0",
        "text or whole numbers",
        "Int64",
    ]
    refused(DataError, named, rows, NUMBERS)


@pytest.mark.parametrize("other", [2.5, "2"])
def test_ids_of_several_kinds_in_different_lists(other: object) -> None:
    """Polars alone would make 2.5 a 2, and 2 a text."""
    first = 1 if other == 2.5 else "a"
    last = other if other == 2.5 else 2
    cells = [[first], [last]]
    truth = {"ann": [first], "bob": [2 if other == 2.5 else "2"]}
    for lists in (
        {"ann": [first], "bob": [last]},
        cells,
        pd.DataFrame({"user": ["ann", "bob"], "item": objects(*cells)}),
    ):
        key: Any = list(truth.values()) if isinstance(lists, list) else truth
        refused(DataError, ["recommendations", "item", repr(last)], lists, key)


@pytest.mark.parametrize("column", ["user", "item"])
def test_several_types_in_one_column(column: str) -> None:
    for values, found, types in (
        (objects("a", "b", 5), "5", "5 (int) among values of type str"),
        (objects(5, 6, "b"), "'b'", "(str) among values of type int"),
    ):
        named = [
            f'column "{column}", row 2',
            f"found {found}",
            types,
            "all text, or all whole numbers",
        ]
        refused(DataError, ["recommendations: ", *named], ROWS.assign(**{column: values}))
        refused(DataError, ["truth: ", *named], LISTS, ROWS.assign(**{column: values}))


def test_several_types_in_a_dict() -> None:
    refused(
        DataError,
        ["recommendations: item", "found 5", "5 (int) among values of type str"],
        {"ann": ["a", 5]},
    )
    refused(
        DataError,
        ["recommendations: user", "found 5", "5 (int) among values of type str"],
        {"ann": ["a"], 5: ["b"]},
    )


def test_a_text_where_a_list_was_expected() -> None:
    cells = objects(["a", "x"], "b c")
    rows = pd.DataFrame({"user": ["ann", "bob"], "item": cells})
    named = ["a list of items was expected", "'b c'", "str"]
    refused(DataError, ['recommendations: column "item", row 1', ".str.split", *named], rows)
    refused(DataError, ["recommendations: items, user 'bob'", *named], {"ann": ["a"], "bob": "b c"})
    refused(DataError, ["truth: items, user 'bob'", *named], LISTS, {"ann": ["a"], "bob": "b c"})


def test_a_text_before_the_lists() -> None:
    rows = pd.DataFrame({"user": ["ann", "bob"], "item": objects("b c", ["a", "x"])})
    refused(DataError, ['column "item", row 0', "'b c'", "a list of items was expected"], rows)


@pytest.mark.parametrize(("cell", "kind"), [(5, "int"), (2.5, "float"), ({"c": 1}, "dict")])
def test_something_else_where_a_list_was_expected(cell: object, kind: str) -> None:
    named = ["user 'bob'", f"found {cell}", kind, "a list of items was expected"]
    refused(DataError, named, {"ann": ["a"], "bob": cell})


@pytest.mark.parametrize("text", ["a b c", "a,b,c", "['a', 'b']", "[1 2]"])
def test_whole_lists_written_as_text(text: str) -> None:
    rows = pd.DataFrame({"user": ["ann", "bob"], "item": [text, "y z"]})
    refused(DataError, ["recommendations", "a whole list written as text", "split"], rows)


@pytest.mark.parametrize(
    "text", ["a x", "a,x", "a;x", "a|x", "['a', 'x']", '["a","x"]', "['a' 'x']", "[a x]"]
)
def test_what_is_said_of_whole_lists_mends_them(text: str) -> None:
    words = r"""[^\s,;|\[\]'\"]+"""
    said = f'split it first, as in frame["item"].str.findall(r"{words}") (Polars: .str.extract_all)'
    truth = {"ann": ["x"], "bob": ["c"]}
    rows = pd.DataFrame({"user": ["ann", "bob"], "item": [text, "c"]})
    refused(DataError, [said], rows, truth)
    for split in (
        rows.assign(item=rows["item"].str.findall(words)),
        pl.DataFrame(rows).with_columns(pl.col("item").str.extract_all(words)),
    ):
        assert evaluate(split, truth, "MRR").iloc[0] == (1 / 2 + 1) / 2


@pytest.mark.parametrize("between", [" ", ",", ";", "|"])
def test_whole_lists_beside_a_list_of_one_item_that_hits(between: str) -> None:
    rows = pd.DataFrame({"user": ["ann", "bob"], "item": [f"a{between}x", "c"]})
    refused(DataError, ["recommendations: ", "a whole list written as text", "split"], rows)
    refused(DataError, ["truth: ", "a whole list written as text", "split"], LISTS, rows)


def test_titles_are_ids_though_they_are_of_several_words() -> None:
    users = ["ann", "bob", "cem", "dee"]
    lists = pd.DataFrame({"user": users, "item": ["Up", "Toy Story", "The Kid", "The Gold Rush"]})
    truth = pd.DataFrame({"user": users, "item": ["Up", "The Circus", "Step Up", "City Lights"]})
    assert evaluate(lists, truth, "HitRate@1").iloc[0] == 1 / 4


def test_lists_a_row_are_as_many_as_rows_of_the_truth() -> None:
    named = ["recommendations have 2 rows", "truth has 1 row", "an empty list"]
    refused(DataError, named, [["a"], ["b"]], [["a"]])
    refused(DataError, ["have 1 row,", "truth has 2 rows"], np.array([[1]]), [[1], [2]])


def test_an_empty_place_before_an_item_of_an_array() -> None:
    named = ["recommendations: items, row 1", "found −1", "move empty positions to the end"]
    refused(DataError, named, np.array([[1, 2], [-1, 3]]), [[1], [3]])


@pytest.mark.parametrize("of_sets", [set, frozenset])
def test_sets_have_no_order(of_sets: Any) -> None:
    cells = [of_sets(["a", "x"]), of_sets(["c"])]
    named = ["recommendations", "set", "no order", "give a list"]
    refused(DataError, named, dict(zip(["ann", "bob"], cells, strict=True)))
    refused(DataError, named, cells, [["a"], ["c"]])
    refused(DataError, named, pd.DataFrame({"user": ["ann", "bob"], "item": objects(*cells)}))


@pytest.mark.parametrize(
    ("thing", "named"),
    [
        ({"a", "b"}, "found set"),
        ("a b", "found str"),
        (b"a b", "found bytes"),
        (None, "found NoneType"),
        (5, "int"),
        (2.5, "found float"),
        (pd.Series(["a", "b"]), "found Series"),
        ((row for row in [["a"]]), "found generator"),
        (object(), "found object"),
    ],
)
def test_what_is_no_table_at_all(thing: Any, named: str) -> None:
    ways = ["pandas, Polars or Arrow frame", "a dict {user: [item, …]}", "one list a row"]
    refused(UsageError, ["recommendations: ", named, *ways], thing)
    refused(UsageError, ["truth: ", named, *ways], LISTS, thing)


@pytest.mark.parametrize("shape", [(3,), (2, 2, 2), ()])
def test_arrays_that_have_no_rows_of_lists(shape: tuple[int, ...]) -> None:
    named = [f"{len(shape)} dimensions", "one list a row"]
    refused(UsageError, ["recommendations: ", *named], np.zeros(shape, int), [[1], [2]])
    refused(UsageError, ["truth: ", *named], [[1], [2]], np.zeros(shape, int))


def test_a_flat_list() -> None:
    refused(
        DataError,
        ["user 0", "found 'a'", "a list of items was expected"],
        ["a", "b"],
        [["a"], ["b"]],
    )


def test_a_second_list_of_one_user() -> None:
    named = ["recommendations", "row 2", "user 'ann' has a list already", "give each user one"]
    for lists in (
        pl.DataFrame({"user": ["ann", "bob", "ann"], "item": [["a"], ["c"], ["b"]]}),
        pl.DataFrame(
            {"user": ["ann", "bob", "ann"], "item": [[], ["c"], []]},
            schema={"user": pl.String, "item": pl.List(pl.String)},
        ),
    ):
        refused(DataError, named, lists)


@pytest.mark.parametrize(
    "nothing", [{}, [], ROWS.iloc[:0], WIDE.clear(), pa.Table.from_pandas(ROWS[:0])]
)
def test_a_truth_without_rows(nothing: Any) -> None:
    refused(DataError, ["truth", "no rows", "nobody to evaluate"], LISTS, nothing)


def test_no_user_in_common() -> None:
    for lists in (
        {"zed": ["a"], "yan": ["b"]},
        pd.DataFrame({"user": ["zed", "yan"], "item": ["a", "b"]}),
    ):
        refused(
            DataError,
            ["recommendations: not one of the users is in the truth", "'zed' here", "'ann' there"],
            lists,
        )


def test_grades_that_are_none() -> None:
    rows = ROWS.assign(grade=[1.0, 2.0, 3.0])
    where = ['truth: column "grade", row 1 (the first is 0)', "user 'ann'"]
    for grade, found in ((-1.0, "found -1"), (float("inf"), "found inf"), (-0.5, "found -0.5")):
        wrong = rows.assign(grade=[1.0, grade, 3.0])
        refused(DataError, [*where, found, "a grade is a number from 0"], LISTS, wrong)
    missing = rows.assign(grade=[1.0, None, 3.0])
    refused(DataError, [*where, "a grade is a number"], LISTS, missing)
    refused(
        DataError, ['column "grade" holds no numbers', "'good'"], LISTS, rows.assign(grade="good")
    )
    refused(DataError, ["user 'ann'", "found nan"], LISTS, {"ann": {"a": float("nan")}})
    refused(DataError, ["user 'bob'", "found -2"], LISTS, {"ann": {"a": 1}, "bob": {"c": -2}})


@pytest.mark.parametrize("grades", [[1, 2], [0, 2], [2, 0]])
def test_two_grades_of_one_item(grades: list[int]) -> None:
    truth = pd.DataFrame({"user": ["ann"] * 2, "item": ["a"] * 2, "grade": grades})
    low, high = sorted(grades)
    named = ["truth", "user 'ann', item 'a'", f"two grades, {low} and {high}", "give it one"]
    refused(DataError, named, LISTS, truth)


def test_grades_that_differ_little_are_told_apart_in_what_is_said() -> None:
    truth = pd.DataFrame({"user": ["ann"] * 2, "item": ["a"] * 2, "grade": [0.3, 0.1 + 0.2]})
    refused(DataError, ["two grades, 0.3 and 0.30000000000000004;"], LISTS, truth)
    refused(DataError, ["the grade 1.0000001;"], LISTS, {"ann": {"a": 1.0000001}}, "pFound@3")


def test_grades_above_1_are_no_probabilities() -> None:
    named = ["truth", "the grade 3", "pFound@3", "from 0 to 1", "divide grades"]
    refused(DataError, named, LISTS, {"ann": {"a": 3, "b": 1}}, ["MAP@3", "pFound@3"])


@pytest.mark.parametrize("ideal", ["relevant", "retrieved"])
def test_grades_whose_sum_is_no_number(ideal: str) -> None:
    """1e308 + 1e308 / log2(3) + 1e308 / 2 is beyond the largest float, 1.8e308."""
    grades = {"ann": dict.fromkeys("abc", 1e308)}
    metric = f"NDCG(gain=linear,ideal={ideal})@3"
    named = ["truth", "the grade 1e+308", "adds such grades up", "up to 1e+300"]
    refused(DataError, named, {"ann": ["a", "b", "c"]}, grades, metric)
    within = {"ann": dict.fromkeys("abc", 1e300)}
    assert evaluate({"ann": ["a", "b", "c"]}, within, metric).iloc[0] == 1


def test_grades_beside_lists() -> None:
    truth = WIDE.with_columns(grade=1)
    refused(UsageError, ["truth", 'column "grade"', 'lists in column "item"'], LISTS, truth)


@pytest.mark.parametrize(
    ("metrics", "named"),
    [
        ("MAP@0", ["MAP@0", "from 1", "got 0"]),
        (["MRR", "MAP@-1"], ["MAP@-1", "from 1", "got -1"]),
        ("MAP", ['"MAP" has no cut-off', '"MAP@10"']),
        ([], ["no metric", '"MAP@12"']),
        (["MAP@3", "mapp@3"], ['"mapp"', 'did you mean "MAP"?']),
        ("", ['""', "is not a metric"]),
    ],
)
def test_a_wrong_metric(metrics: Any, named: list[str]) -> None:
    refused(UsageError, named, metrics=metrics)


@pytest.mark.parametrize(
    ("metric", "named"),
    [
        ("Novelty@3", ["training events", "train="]),
        ("Popularity@3", ["training events", "train="]),
        ("Serendipity@3", ["training events", "train="]),
        ("Coverage@3", ["may be recommended", "candidates=", "train="]),
        ("Gini@3", ["may be recommended", "candidates=", "train="]),
        ("ILD@3", ["item attributes", "attributes="]),
    ],
)
def test_what_a_metric_needs_and_was_not_given(metric: str, named: list[str]) -> None:
    refused(UsageError, [f"metric {metric} needs", *named], metrics=["MAP@3", metric])


@pytest.mark.parametrize("metric", ["Coverage@3", "Gini@3"])
def test_one_figure_of_all_lists_is_none_of_each_user(metric: str) -> None:
    named = [f"metric {metric}", "one value for all lists", "per_user=False"]
    refused(UsageError, named, metrics=["MAP@3", metric], candidates=["a"], per_user=True)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("color", ['"color"', 'did you mean "colour"?']),
        ("colour+size", ['"size"', "allowed: colour"]),
        ("", ["name=value"]),
    ],
)
def test_an_unknown_attribute(name: str, named: list[str]) -> None:
    refused(UsageError, named, metrics=f"ILD(attributes={name})@3", attributes=LOOKS)


@pytest.mark.parametrize(
    ("attributes", "named"),
    [
        (pl.concat([LOOKS, LOOKS]), ["item 'a' has two rows", "give it one"]),
        (LOOKS.rename({"item": "itm"}), ['no column "item"', 'did you mean "itm"?']),
        (LOOKS.with_columns(item=pl.Series(["a", None])), ['column "item"', "missing"]),
        (LOOKS.with_columns(item=pl.Series([1.0, 2.0])), ['column "item"', "Float64"]),
        (LOOKS.with_columns(size=pl.Series([1.0, float("nan")])), ['column "size"']),
        (LOOKS.with_columns(size=pl.Series([1.0, float("inf")])), ['column "size"']),
        (LOOKS.select("item"), ["item"]),
    ],
    ids=["twice", "no item", "missing id", "decimals", "NaN", "infinite", "no attribute"],
)
def test_attributes_that_cannot_be_used(attributes: Any, named: list[str]) -> None:
    with pytest.raises(HarnessError) as refusal:
        evaluate({"ann": ["a", "b"]}, {"ann": ["a"]}, "ILD@3", attributes=attributes)
    assert [word for word in ["attribute", *named] if word not in str(refusal.value)] == []


@pytest.mark.parametrize(
    "candidates",
    [["a", None], ["a", 1], "abc", 5, [1.0, 2.0], pd.DataFrame({"item": ["a"]}), [["a"]]],
    ids=["missing", "mixed", "text", "a number", "decimals", "a frame", "lists"],
)
def test_candidates_that_cannot_be_used(candidates: Any) -> None:
    refused(HarnessError, ["candidates"], metrics="Coverage@3", candidates=candidates)


@pytest.mark.parametrize(
    ("train", "named"),
    [
        (LOOKS, ['no column "user"', "item, colour"]),
        ({"ann": [None]}, ["the id is missing"]),
        ({"ann": "a b"}, ["user 'ann'", "a list of items was expected"]),
        (5, ["frame"]),
    ],
)
def test_training_that_cannot_be_read(train: Any, named: list[str]) -> None:
    refused(HarnessError, ["train: ", *named], metrics="Novelty@3", train=train)


UNUSUAL: dict[str, dict[str, Any]] = {
    "ranges": {"lists": {1: range(3)}, "truth": {1: [0]}},
    "deques": {"lists": {"ann": deque(["a"])}},
    "keys of a dict": {"lists": {"ann": {"a": 1}.keys()}},
    "generators in a dict": {"lists": {"ann": (i for i in "ab")}},
    "a list of dicts": {"lists": [{"a": 1.0}], "truth": [["a"]]},
    "lists in lists": {"lists": {"ann": [["a"]]}},
    "dicts in lists": {"lists": {"ann": [{"a": 1}]}},
    "tuples as ids": {"lists": {("ann", 1): ["a"]}},
    "truth values as ids": {"lists": {"ann": [True]}},
    "bytes as ids": {"lists": {"ann": [b"a"]}},
    "times as ids": {"lists": {"ann": [pd.Timestamp("2020-01-01")]}},
    "a list that is NA": {
        "lists": pd.DataFrame({"user": ["ann", "bob"], "item": objects(["a"], pd.NA)})
    },
    "numbers of 64 bits without sign": {
        "lists": pl.DataFrame({"user": ["ann"], "item": pl.Series([2**63 + 1], dtype=pl.UInt64)}),
        "truth": pl.DataFrame({"user": ["ann"], "item": pl.Series([2**63 + 1], dtype=pl.UInt64)}),
    },
    "numbers of 70 bits": {"lists": {"ann": [2**70]}, "truth": {"ann": [2**70]}},
    "scores of 64 bits without sign": {
        "lists": pl.from_pandas(ROWS).with_columns(score=pl.lit(2**64 - 1, pl.UInt64))
    },
    "a rank of 70 bits": {
        "lists": pl.from_pandas(ROWS).with_columns(rank=pl.lit(2**70, pl.Int128))
    },
    "a score of 70 bits": {"lists": {"ann": {"a": 2**70, "b": 1}}},
    "two columns of one name": {
        "lists": pd.DataFrame([["ann", "ann", "a"]], columns=["user", "user", "item"])
    },
    "an array of objects in two dimensions": {
        "lists": np.array([[1, 2], [3, 4]], object),
        "truth": [[1], [3]],
    },
    "an array of objects of several kinds": {
        "lists": np.array([[1, "a"], [3, 4]], object),
        "truth": [[1], [3]],
    },
    "an array with gaps": {"lists": np.ma.array([[1, 2]], mask=[[False, True]]), "truth": [[1]]},
    "an Arrow batch": {"lists": pa.Table.from_pandas(ROWS).to_batches()[0]},
    "an Arrow array": {"lists": pa.array(["a", "b"])},
    "a number for metrics": {"metrics": 5},
    "None for metrics": {"metrics": None},
    "a number among metrics": {"metrics": ["MAP@3", 5]},
    "a dict of attributes": {"metrics": "ILD@3", "attributes": {"item": ["a"], "colour": ["red"]}},
    "lazy attributes": {"metrics": "ILD@3", "attributes": LOOKS.lazy()},
    "text for attributes": {"metrics": "ILD@3", "attributes": "colour"},
    "attributes that are lists": {
        "metrics": "ILD@3",
        "attributes": LOOKS.with_columns(tags=pl.Series([["x"], ["y"]])),
    },
    "candidates in a frame of Polars": {
        "metrics": "Coverage@3",
        "candidates": pl.DataFrame({"item": ["a", "b"]}),
    },
    "a column named by a number": {"lists": ROWS, "user": 0},
}


@pytest.mark.parametrize("unusual", UNUSUAL)
def test_whatever_else_is_given_is_read_or_refused_by_an_error_of_ours(unusual: str) -> None:
    given = {"lists": LISTS, "truth": TRUTH, "metrics": "MAP@3"} | UNUSUAL[unusual]
    with contextlib.suppress(HarnessError, UserWarning):
        evaluate(given.pop("lists"), given.pop("truth"), given.pop("metrics"), **given)
