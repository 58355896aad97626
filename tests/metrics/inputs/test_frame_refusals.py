"""What cannot be read is refused with what was found, where, and how to mend it."""

import contextlib
from collections import deque
from datetime import timedelta
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
) -> str:
    """Check that there is an error of that kind whose text holds every word, and return it."""
    with pytest.raises(kind) as refusal:
        evaluate(lists, truth, metrics, **more)
    text = str(refusal.value)
    assert [word for word in named if word not in text] == [], text
    assert "\n" not in text
    return text


def objects(*values: object) -> pd.Series:
    """Return a column of Python objects."""
    return pd.Series(list(values), dtype=object)


TWO = pd.DataFrame({"user": ["ann"] * 2, "item": ["a"] * 2})
HOLES = pl.DataFrame({"user": ["ann", "bob"], "item": [["a", "x"], ["b", None]]})
TEXTS = "a list of items was expected"
NO_TEXT = ["a", "b\ud800"]
NESTED = pl.Series([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], dtype=pl.Array(pl.Int64, (2, 2)))
A_GRADE = 'truth: column "grade", row 1 (the first is 0)'
MIXED = "5 (int) among values of type str"
TWICE = {"user": ["ann", "bob", "ann"], "item": [["a"], ["c"], ["b"]]}
EMPTY_TWICE = {"user": ["ann", "bob", "ann"], "item": [[], ["c"], []]}
LISTS_OF_TEXT = {"user": pl.String, "item": pl.List(pl.String)}


def ending(*items: object) -> pd.DataFrame:
    """Return lists of ann and bob, cells of Python objects."""
    return pd.DataFrame({"user": ["ann", "bob"], "item": objects(*items)})


RECOMMENDATIONS: list[tuple[type[HarnessError], str, Any, dict[str, Any]]] = [
    # Columns that are missing, or more than one.
    *((DataError, f'no column|"{column}"|{words}|{column}=',
       ROWS.rename(columns={column: name}), {})
      for column, name, words in (("user", "usr", 'did you mean "usr"?'),
                                  ("item", "itm", 'did you mean "itm"?'),
                                  ("item", "sku", "user, sku"))),
    (DataError, 'no column|"customer"|user=', ROWS, {"user": "customer"}),
    (DataError, 'no column|"position"|user, item|rank=', ROWS, {"rank": "position"}),
    (DataError, 'no column|"scor"|user, item|score=', ROWS, {"score": "scor"}),
    (DataError, 'no column|"user"|item|user=', ROWS.set_index("user"), {}),
    (DataError, 'no column|did you mean "itm"?',
     pa.Table.from_pandas(ROWS).rename_columns(["user", "itm"]), {}),
    (DataError, 'no column|"user"', pd.DataFrame([["ann", "a"]]), {}),
    (DataError, '"item"|one, two|item=',
     WIDE.rename({"item": "one"}).with_columns(two=pl.col("one")), {}),
    (UsageError, "rank or score, not both", ROWS.assign(rank=[1, 2, 1], score=1.0),
     {"rank": "rank", "score": "score"}),
    *((UsageError, f'column "{column}"|lists in column "item"|drop that column',
       WIDE.with_columns(pl.lit(1).alias(column)), named)
      for column in ("rank", "score") for named in ({}, {column: column})),
    *((UsageError, f'the rank in column "{column}"',
       pd.DataFrame({"user": ["ann"], "item": objects(["a", "x"]), column: [1]}), {"rank": column})
      for column in (0, "")),
    # Ids that are missing.
    *((DataError, f'column "{column}", row 1|the id is missing',
       NUMBERS.assign(**{column: ids}), {"truth": NUMBERS})
      for column in ("user", "item")
      for ids in ([1.0, None, 2.0], pd.array([1, None, 2], "Int64"),
                  pd.array([1, None, 2], "int64[pyarrow]"))),
    *((DataError, 'column "item", row 1|the id is missing', HOLES.cast({"item": kind}), {})
      for kind in (pl.List(pl.String), pl.Array(pl.String, 2))),
    (DataError, "user|the id is missing", {None: ["a"], "ann": ["b"]}, {}),
    # Ranks and scores.
    *((DataError, f"column \"{column}\" holds no numbers|'1'|a {column} is a number",
       ROWS.assign(**{column: ["1", "2", "1"]}), {}) for column in ("rank", "score")),
    (DataError, "column \"score\", row 2|'high'", ROWS.assign(score=objects(1, 0.5, "high")), {}),
    (DataError, "score|'high'", {"ann": {"a": 1, "b": 0.5, "c": "high"}}, {}),
    (DataError, "user 'ann'|found nan|a score is a number", {"ann": {"a": float("nan")}}, {}),
    (DataError, "score|'good'|expected a number", {"ann": {"a": "good"}}, {}),
    (DataError, "user 'ann'|found a missing value", {"ann": {"a": 1, "b": None}}, {}),
    (DataError, "row 1|user 'ann' has rank 2 twice|give a rank one item",
     ROWS.assign(rank=[2, 2, 1]), {}),
    (DataError, "2 users|rank that is far too high|a cut-off", ROWS.assign(rank=[1, 2, 10**12]),
     {"metrics": "MRR"}),
    (DataError, "a rank that is far too high", ROWS.assign(rank=[1, 2, 1_600_000_000]),  # a time
     {"metrics": "MRR"}),
    *((DataError, "recommendations: score, row 1|expected a number",
       {"ann": {"a": 1.0, "b": score}}, {})
      for score in ([1, 2], [], np.array([1, 2]), timedelta(1), "1", b"1", 1j, {"x": 1}, object())),
    *((DataError, "found 1180591620717411303424; a score is a number of 64 bits",
       {"ann": scores}, {}) for scores in ({"a": 2**70, "b": 1}, {"b": 1, "a": 2**70})),
    # Text here and whole numbers there, and other types of ids.
    *((DataError, f"whole numbers (first {n})|text (first '{n}')", lists, {"truth": truth})
      for n, one, other in ((5, {"ann": [5]}, {"ann": ["5"]}), (1, {1: ["a"]}, {"1": ["a"]}))
      for lists, truth in ((one, other), (other, one))),
    *((DataError, f'column "{column}"|Float64|first 1.0|text or whole numbers|Int64',
       NUMBERS.astype({column: float}), {"truth": NUMBERS}) for column in ("user", "item")),
    (DataError, f"recommendations: item|found 5|{MIXED}", {"ann": ["a", 5]}, {}),
    (DataError, f"recommendations: user|found 5|{MIXED}", {"ann": ["a"], 5: ["b"]}, {}),
    (DataError, "found True (bool) among values of type int", {"ann": [5, True]},
     {"truth": {"ann": [1]}}),
    *((DataError, f"values of type str that cannot be read|{NO_TEXT[1]!r}", lists, {})
      for lists in ({"ann": NO_TEXT}, pd.DataFrame({"user": "ann", "item": objects(*NO_TEXT)}))),
    # What no column holds.
    (DataError, "two columns have one name", pa.RecordBatch.from_arrays(
        [pa.array(["a"])] * 3, names=["user", "item", "item"]), {}),
    *((HarnessError, "recommendations", lists, {"truth": [[1]]}) for lists in (
        np.array([[1]], "timedelta64[s]"), np.array(None, dtype=object), np.array([[1 + 1j]]))),
    *((HarnessError, "recommendations", lists, {}) for lists in (
        pd.DataFrame({"user": ["ann"], "item": [1 + 1j]}),
        pa.table({"user": ["ann"], "item": pa.array([[]], pa.list_(pa.string(), 0))}))),
    (DataError, "item", pl.DataFrame({"user": ["u", "v"], "item": NESTED}),
     {"truth": {"u": [1], "v": [5]}}),
    # What is no list of items.
    (DataError, f"column \"item\", row 1|.str.split|{TEXTS}|'b c'|str",
     ending(["a", "x"], "b c"), {}),
    (DataError, f"column \"item\", row 0|'b c'|{TEXTS}", ending("b c", ["a", "x"]), {}),
    (DataError, f"items, user 'bob'|{TEXTS}|'b c'|str", {"ann": ["a"], "bob": "b c"}, {}),
    *((DataError, f"user 'bob'|found {cell}|{type(cell).__name__}|{TEXTS}",
       {"ann": ["a"], "bob": cell}, {}) for cell in (5, 2.5, {"c": 1})),
    (DataError, f"user 0|found 'a'|{TEXTS}", ["a", "b"], {"truth": [["a"], ["b"]]}),
    *((DataError, "a whole list written as text|split", ending(text, "y z"), {})
      for text in ("a b c", "a,b,c", "['a', 'b']", "[1 2]")),
    (DataError, "recommendations have 2 rows|truth has 1 row|an empty list", [["a"], ["b"]],
     {"truth": [["a"]]}),
    (DataError, "have 1 row,|truth has 2 rows", np.array([[1]]), {"truth": [[1], [2]]}),
    (DataError, "items, row 1|found −1|move empty positions to the end",
     np.array([[1, 2], [-1, 3]]), {"truth": [[1], [3]]}),
    *((DataError, "set|no order|give a list", lists, truth)
      for kind in (set, frozenset)
      for lists, truth in (
          ({"ann": kind(["a", "x"]), "bob": kind(["c"])}, {}),
          ([kind(["a", "x"]), kind(["c"])], {"truth": [["a"], ["c"]]}),
          (ending(kind(["a", "x"]), kind(["c"])), {}),
      )),
    *((UsageError, f"{len(shape)} dimensions|one list a row", np.zeros(shape, int),
       {"truth": [[1], [2]]}) for shape in ((3,), (2, 2, 2), ())),
    *((DataError, "row 2|user 'ann' has a list already|give each user one",
       pl.DataFrame(rows, schema=LISTS_OF_TEXT), {}) for rows in (TWICE, EMPTY_TWICE)),
    *((DataError, "not one of the users is in the truth|'zed' here|'ann' there", lists, {})
      for lists in ({"zed": ["a"], "yan": ["b"]},
                    pd.DataFrame({"user": ["zed", "yan"], "item": ["a", "b"]}))),
]  # fmt: skip
"""The error, its words, the recommendations, and what is given beside them."""


@pytest.mark.parametrize(("kind", "words", "lists", "more"), RECOMMENDATIONS)
def test_recommendations_that_are_refused(
    kind: type[HarnessError], words: str, lists: Any, more: dict[str, Any]
) -> None:
    assert refused(kind, words.split("|"), lists, **more).startswith("recommendations")


TRUTHS: list[tuple[type[HarnessError], str, Any, str]] = [
    (DataError, 'no column|"item"|did you mean "itm"?',
     ROWS.rename(columns={"item": "itm"}), "MAP@3"),
    *((DataError, 'column "item", row 1|the id is missing', HOLES.cast({"item": kind}), "MAP@3")
      for kind in (pl.List(pl.String), pl.Array(pl.String, 2))),
    (DataError, f"items, user 'bob'|{TEXTS}|'b c'|str", {"ann": ["a"], "bob": "b c"}, "MAP@3"),
    *((UsageError, f"{len(shape)} dimensions|one list a row", np.zeros(shape, int), "MAP@3")
      for shape in ((3,), (2, 2, 2), ())),
    *((DataError, "no rows|nobody to evaluate", nothing, "MAP@3")
      for nothing in ({}, [], ROWS.iloc[:0], WIDE.clear(), pa.Table.from_pandas(ROWS[:0]))),
    # Grades.
    *((DataError, f"{A_GRADE}|user 'ann'|{found}|a grade is a number",
       ROWS.assign(grade=[1.0, grade, 3.0]), "MAP@3")
      for grade, found in ((-1.0, "found -1|a grade is a number from 0"), (None, "user 'ann'"),
                           (float("inf"), "found inf|a grade is a number from 0"),
                           (-0.5, "found -0.5|a grade is a number from 0"))),
    (DataError, "column \"grade\" holds no numbers|'good'", ROWS.assign(grade="good"), "MAP@3"),
    (DataError, "user 'ann'|found nan", {"ann": {"a": float("nan")}}, "MAP@3"),
    (DataError, "user 'bob'|found -2", {"ann": {"a": 1}, "bob": {"c": -2}}, "MAP@3"),
    *((DataError, f"user 'ann', item 'a'|two grades, {low} and {high};|give it one",
       TWO.assign(grade=grades), "MAP@3")
      for grades, low, high in (([1, 2], "1", "2"), ([0, 2], "0", "2"), ([2, 0], "0", "2"),
                                ([0.3, 0.1 + 0.2], "0.3", "0.30000000000000004"))),
    (DataError, "the grade 1.0000001;", {"ann": {"a": 1.0000001}}, "pFound@3"),
    (DataError, "the grade 3|pFound@3|from 0 to 1|divide grades", {"ann": {"a": 3}}, "pFound@3"),
    (UsageError, 'column "grade"|lists in column "item"', WIDE.with_columns(grade=1), "MAP@3"),
]  # fmt: skip
"""The error, its words, the truth, and the metric beside MAP@3."""


@pytest.mark.parametrize(("kind", "words", "truth", "metric"), TRUTHS)
def test_truths_that_are_refused(
    kind: type[HarnessError], words: str, truth: Any, metric: str
) -> None:
    lists = [["a"], ["b"]] if isinstance(truth, np.ndarray) else LISTS
    text = refused(kind, words.split("|"), lists, truth, ["MAP@3", metric])
    assert text.startswith("truth")


def test_a_grade_whose_column_is_missing() -> None:
    named = ["truth: no column", '"grad"', "user, item", "grade="]
    refused(DataError, named, LISTS, ROWS, grade="grad")


NUMBERED = pd.DataFrame({"item": [5, 6], "colour": ["red", "blue"]})
OTHER_KIND = "whole numbers (first 5)|text (first 'a')"
TRAINING = "training events|train="
BESIDE: list[tuple[type[HarnessError], str, Any, dict[str, Any]]] = [
    # Metrics.
    (UsageError, "MAP@0|from 1|got 0", "MAP@0", {}),
    (UsageError, "MAP@-1|from 1|got -1", ["MRR", "MAP@-1"], {}),
    (UsageError, '"MAP" has no cut-off|"MAP@10"', "MAP", {}),
    (UsageError, 'no metric|"MAP@12"', [], {}),
    (UsageError, '"mapp"|did you mean "MAP"?', ["MAP@3", "mapp@3"], {}),
    (UsageError, '""|is not a metric', "", {}),
    *((UsageError, f"metric {metric} needs|{words}", ["MAP@3", metric], {})
      for metric, words in (
          ("Novelty@3", TRAINING), ("Popularity@3", TRAINING), ("Serendipity@3", TRAINING),
          ("Coverage@3", "may be recommended|candidates=|train="),
          ("Gini@3", "may be recommended|candidates=|train="),
          ("ILD@3", "item attributes|attributes="),
      )),
    *((UsageError, f"metric {metric}|one value for all lists|per_user=False", ["MAP@3", metric],
       {"candidates": ["a"], "per_user": True}) for metric in ("Coverage@3", "Gini@3")),
    # Attributes.
    (DataError, f"attributes|{OTHER_KIND}", "ILD@3", {"attributes": NUMBERED}),
    *((UsageError, words, f"ILD(attributes={name})@3", {"attributes": LOOKS})
      for name, words in (("color", '"color"|did you mean "colour"?'), ("", "name=value"),
                          ("colour+size", '"size"|allowed: colour'))),
    *((HarnessError, f"attribute|{words}", "ILD@3", {"attributes": attributes})
      for attributes, words in (
          (pl.concat([LOOKS, LOOKS]), "item 'a' has two rows|give it one"),
          (LOOKS.rename({"item": "itm"}), 'no column "item"|did you mean "itm"?'),
          (LOOKS.with_columns(item=pl.Series(["a", None])), 'column "item"|missing'),
          (LOOKS.with_columns(item=pl.Series([1.0, 2.0])), 'column "item"|Float64'),
          (LOOKS.with_columns(size=pl.Series([1.0, float("nan")])), 'column "size"'),
          (LOOKS.with_columns(size=pl.Series([1.0, float("inf")])), 'column "size"'),
          (LOOKS.select("item"), "item"),
      )),
    # Candidates and training events.
    (DataError, f"candidates|{OTHER_KIND}", "Coverage@3", {"candidates": [5, 6]}),
    (DataError, f"train|{OTHER_KIND}", "Novelty@3", {"train": {"ann": [5]}}),
    *((HarnessError, f"train: |{words}", "Novelty@3", {"train": train})
      for train, words in (
          (LOOKS, 'no column "user"|item, colour'), ({"ann": [None]}, "the id is missing"),
          ({"ann": "a b"}, f"user 'ann'|{TEXTS}"), (5, "frame"),
      )),
]  # fmt: skip
"""The error, its words, the metrics, and what is given beside lists and truth."""


@pytest.mark.parametrize(("kind", "words", "metrics", "more"), BESIDE)
def test_what_is_refused_beside_lists_and_truth(
    kind: type[HarnessError], words: str, metrics: Any, more: dict[str, Any]
) -> None:
    refused(kind, words.split("|"), metrics=metrics, **more)


@pytest.mark.parametrize("parameter", ["user", "item", "rank", "score"])
@pytest.mark.parametrize(
    "column", [ROWS["item"], ROWS["item"].to_numpy(), pl.Series(["a"]), pl.col("item")]
)
def test_a_column_where_its_name_was_expected(parameter: str, column: Any) -> None:
    named = [f"recommendations: {parameter} takes a column's name", type(column).__name__]
    refused(UsageError, named, ROWS, **{parameter: column})
    refused(UsageError, named, **{parameter: column})


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


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_missing_id_inside_a_list(missing: Any) -> None:
    inside = [["a"], ["b", missing]]
    for lists in (
        pd.DataFrame({"user": ["ann", "bob"], "item": objects(*inside)}),
        {"ann": ["a"], "bob": ["b", missing]},
        {"ann": np.array(["a"], object), "bob": np.array(["b", missing], object)},
    ):
        refused(DataError, ["recommendations: ", "item", "the id is missing"], lists)


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


@pytest.mark.parametrize("ideal", ["relevant", "retrieved"])
def test_grades_whose_sum_is_no_number(ideal: str) -> None:
    """1e308 + 1e308 / log2(3) + 1e308 / 2 is beyond the largest float, 1.8e308."""
    grades = {"ann": dict.fromkeys("abc", 1e308)}
    metric = f"NDCG(gain=linear,ideal={ideal})@3"
    named = ["truth", "the grade 1e+308", "adds such grades up", "up to 1e+300"]
    refused(DataError, named, {"ann": ["a", "b", "c"]}, grades, metric)
    within = {"ann": dict.fromkeys("abc", 1e300)}
    assert evaluate({"ann": ["a", "b", "c"]}, within, metric).iloc[0] == 1


@pytest.mark.parametrize(
    "candidates",
    [["a", None], ["a", 1], "abc", 5, [1.0, 2.0], pd.DataFrame({"item": ["a"]}), [["a"]]],
    ids=["missing", "mixed", "text", "a number", "decimals", "a frame", "lists"],
)
def test_candidates_that_cannot_be_used(candidates: Any) -> None:
    refused(HarnessError, ["candidates"], metrics="Coverage@3", candidates=candidates)


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
