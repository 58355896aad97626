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


def evaluated(
    lists: Any = LISTS, truth: Any = TRUTH, metrics: Any = "MAP@3", **options: Any
) -> None:
    evaluate(lists, truth, metrics, **options)


def refused(kind: type[HarnessError], words: str, **options: Any) -> None:
    """Check that an error begins with the first word, and holds the others."""
    with pytest.raises(kind) as refusal:
        evaluated(**options)
    text, (first, *rest) = str(refusal.value), words.split("|")
    assert text.startswith(first)
    assert [word for word in rest if word not in text] == [], text
    assert "\n" not in text


def objects(*values: object) -> pd.Series:
    return pd.Series(list(values), dtype=object)


def cells(*lists: object) -> pd.DataFrame:
    """Return a row each of ann and bob, with a Python object for the items."""
    return pd.DataFrame({"user": ["ann", "bob"], "item": pd.Series(list(lists), dtype=object)})


TWO = pd.DataFrame({"user": ["ann"] * 2, "item": ["a"] * 2})
HOLES = pl.DataFrame({"user": ["ann", "bob"], "item": [["a", "x"], ["b", None]]})
NAN, TEXTS, NO_TEXT = float("nan"), "a list of items was expected", "b\ud800"
A_GRADE = "truth: column \"grade\", row 1 (the first is 0), user 'ann'"
A_RANK = "recommendations: column \"rank\", row 2 (the first is 0), user 'bob'"
BOTH = "make both text or both whole numbers"
NUMBERED = {"item": [5, 6], "colour": ["red", "blue"]}

DATA: list[tuple[str, dict[str, Any]]] = [
    # Columns that are missing, or more than one.
    ('recommendations: no column "user"|did you mean "usr"?|user=',
     {"lists": ROWS.rename(columns={"user": "usr"})}),
    ('recommendations: no column "position"|user, item|rank=', {"lists": ROWS, "rank": "position"}),
    ('recommendations: no column "item"|one, two|item=',
     {"lists": WIDE.rename({"item": "one"}).with_columns(two=pl.col("one"))}),
    ('recommendations: no column "items"|did you mean "item"?|item=',
     {"lists": WIDE, "truth": ROWS, "item": "items", "truth_item": "item"}),
    ('truth: no column "items"|did you mean "item"?|truth_item=',
     {"truth": WIDE, "truth_item": "items"}),
    ('truth: no column "grad"|user, item|grade=', {"truth": ROWS, "grade": "grad"}),
    ('truth: no column "user"|(to use another: truth_user="…")',
     {"truth": ROWS.rename(columns={"user": "customer"})}),
    ("recommendations: two columns have one name", {"lists": pa.RecordBatch.from_arrays(
        [pa.array(["a"])] * 3, names=["user", "item", "item"])}),
    ('recommendations: two columns have one name "user"',
     {"lists": pd.DataFrame([["ann", "ann", "a"]], columns=["user", "user", "item"])}),
    *((f'recommendations: its index has "{name}"|give frame.reset_index()',
       {"lists": ROWS.assign(rank=[1, 2, 1]).set_index(name)}) for name in ("user", "rank")),
    *((f'recommendations: its index has "{name}"|give frame.reset_index()',
       {"lists": ROWS.rename_axis(name)}) for name in ("clicked", "pred_score")),
    # Ids that are missing.
    *((f'recommendations: column "{column}", row 1 (the first is 0): the id is missing; drop',
       {"lists": NUMBERS.assign(**{column: ids}), "truth": NUMBERS})
      for column, ids in (("user", [1.0, None, 2.0]), ("item", pd.array([1, None, 2], "Int64")))),
    ('truth: column "item", row 1 (the first is 0): the id is missing', {"truth": HOLES}),
    ('recommendations: column "item", row 1 (the first is 0): the id is missing',
     {"lists": HOLES.cast({"item": pl.Array(pl.String, 2)})}),
    ("recommendations: users|the id is missing", {"lists": {None: ["a"], "ann": ["b"]}}),
    *(("recommendations: items|the id is missing", {"lists": {"ann": ["b", missing]}})
      for missing in (None, NAN, pd.NA)),
    # Ranks and scores.
    *((f"recommendations: column \"{column}\" has values that are not numbers (first '1'); a "
       f"{column} must be a number",
       {"lists": ROWS.assign(**{column: ["1", "2", "1"]})}) for column in ("rank", "score")),
    *((f"{A_RANK}: found {rank}; a rank must be a whole number, 1 or more|{more}",
       {"lists": ROWS.assign(rank=[1, 2, rank])})
      for rank, more in ((0, "add 1 to all"), (-1, ""), (1.5, ""), (float("inf"), ""))),
    *((f"recommendations: column \"{column}\", row 2|user 'bob': found |a {column} must be a "
       "number",
       {"lists": ROWS.assign(**{column: numbers})})
      for column, numbers in (("rank", [1.0, 2.0, None]), ("score", objects(1.0, 2.0, NAN)))),
    ("recommendations: score, row 0 (the first is 0), user 'ann': found nan; a score must be a "
     "number",
     {"lists": {"ann": {"a": NAN}}}),
    *(("recommendations: score, row 1|expected a number", {"lists": {"ann": {"a": 1, "b": score}}})
      for score in (np.array([1, 2]), timedelta(1), "1", 1j, object())),
    ("recommendations: score|has a number that is too large", {"lists": {"ann": {"a": 10**400}}}),
    ("recommendations: score|found 1180591620717411303424; a score must be a 64-bit number",
     {"lists": {"ann": {"b": 1, "a": 2**70}}}),
    ("recommendations: row 1|user 'ann' has rank 2 twice; give each rank to one item",
     {"lists": ROWS.assign(rank=[2, 2, 1])}),
    ("recommendations: 2 users|rank that is far too high|a cut-off",
     {"lists": ROWS.assign(rank=[1, 2, 10**12]), "metrics": "MRR"}),
    # Text here and whole numbers there, and other types of ids.
    *((f'recommendations: column "item" holds whole numbers (first 5)|'
       f"truth: column \"item\" holds text (first '5')|{BOTH}",
       {"lists": frame({"user": ["ann"], "item": [5]}),
        "truth": frame({"user": ["ann"], "item": ["5"]})})
      for frame in (pd.DataFrame, pl.DataFrame, pa.table)),
    ('recommendations: column "user" holds whole numbers (first 1)|text (first \'ann\')',
     {"lists": NUMBERS}),
    ('recommendations: column "user"|Float64|first 1.0|text or whole numbers|Int64',
     {"lists": NUMBERS.astype({"user": float}), "truth": NUMBERS}),
    *((f'truth: column "{column}", row 2|found {odd}|all ids text, or all whole numbers',
       {"truth": ROWS.assign(**{column: ids})})
      for column, ids, odd in (("user", objects("a", "b", 5), "5 (int) among values of type str"),
                               ("item", objects(5, 6, "b"), "'b' (str) among values of type int"))),
    ("recommendations: items|found 5 (int) among values of type str", {"lists": {"ann": ["a", 5]}}),
    ("recommendations: items|found True (bool) among values of type int",
     {"lists": {"ann": [5, True]}, "truth": {"ann": [1]}}),
    ('recommendations: column "item"|2.5',  # to Polars it is a 2
     {"lists": cells([1], [2.5]), "truth": {"ann": [1]}}),
    (f"recommendations: items holds values of type str that cannot be read|{NO_TEXT!r}",
     {"lists": {"ann": ["a", NO_TEXT]}}),
    # What is no list of items.
    (f"recommendations: column \"item\", row 1 (the first is 0): found 'b c' (str)|{TEXTS}"
     "|.str.split", {"lists": cells(["a", "x"], "b c")}),
    *((f"recommendations: items, user 'bob': found {cell!r} ({type(cell).__name__})|{TEXTS}",
       {"lists": {"ann": ["a"], "bob": cell}}) for cell in ("b c", 5, {"c": 1})),
    *((f"recommendations: {where}|set|no order|give a list", {"lists": lists, "truth": truth})
      for where, lists, truth in (("items, user 0", [frozenset("ax")], [["a"]]),
                                  ('column "item", row 0', cells({"a"}, {"c"}), TRUTH))),
    ("recommendations: user 'bob': found list, but other users have a dict",
     {"lists": {"ann": {"a": 1}, "bob": ["c"]}}),
    ("recommendations have 2 rows, truth has 1 row|an empty list",
     {"lists": [["a"], ["b"]], "truth": [["a"]]}),
    ("recommendations: items, row 1|found −1|move empty positions to the end",
     {"lists": np.array([[1, 2], [-1, 3]]), "truth": [[1], [3]]}),
    ("recommendations: row 2|user 'ann' has two lists; give each user one",
     {"lists": pl.concat([WIDE, WIDE])}),
    ("recommendations: none of the users is in the truth: 'yan' here, 'ann' there",
     {"lists": {"zed": ["a"], "yan": ["b"]}}),
    # The truth and its grades.
    *(("truth: there are no rows, so there are no users to evaluate", {"truth": nothing})
      for nothing in ({}, [], ROWS.iloc[:0], WIDE.clear())),
    *((f"{A_GRADE}: found {shown}; a grade must be a number",
       {"truth": ROWS.assign(grade=[1, low, 3])})
      for low, shown in ((-0.5, "-0.5"), (float("inf"), "inf"), (None, "a missing value"))),
    (f"{A_GRADE}: found a missing value|write one (0 means not",
     {"truth": ROWS.assign(grade=[1, None, 3])}),
    ("truth: column \"grade\" has values that are not numbers|'good'",
     {"truth": ROWS.assign(grade="good")}),
    ("truth: grade, row 1|user 'bob': found -2", {"truth": {"ann": {"a": 1}, "bob": {"c": -2}}}),
    *((f"truth: user 'ann', item 'a' has two grades, {low} and {high}; give it one grade",
       {"truth": TWO.assign(grade=grades)})
      for grades, low, high in (([2, 0], "0", "2"),
                                ([0.3, 0.1 + 0.2], "0.3", "0.30000000000000004"))),
    ("truth|the grade 1.0000001; for pFound@3|from 0 to 1|divide grades",
     {"truth": {"ann": {"a": 1.0000001}}, "metrics": ["MAP@3", "pFound@3"]}),
    *(("truth|the grade 1e+308|too large to add up|allowed is 1e+300",  # a DCG beyond 1.8e308
       {"lists": {"ann": list("abc")}, "truth": {"ann": dict.fromkeys("abc", 1e308)},
        "metrics": f"NDCG(gain=linear,ideal={ideal})@3"}) for ideal in ("relevant", "retrieved")),
    ("truth|found the grade 1001|the highest grade allowed is 1,000|max = 1000 }",
     {"truth": {"ann": {"a": 1001}}, "metrics": "NDCG(gain=exponential)@3"}),
    # Attributes, candidates and training events.
    *((words, {"metrics": "ILD@3", "attributes": attributes})
      for words, attributes in (
          ("attributes: column \"item\" holds whole numbers (first 5)|text (first 'a')",
           pd.DataFrame(NUMBERED)),
          ("attributes: item 'a' has two rows; give it one row", pl.concat([LOOKS, LOOKS])),
          ('attributes: no column "item"; did you mean "itm"?', LOOKS.rename({"item": "itm"})),
          ('attributes: column "item"|missing', LOOKS.with_columns(item=pl.Series(["a", None]))),
          ('attributes: column "size" has a number that is not finite',
           LOOKS.with_columns(size=pl.Series([1.0, NAN]))),
          ('attributes: column "tags" has values that are neither text nor numbers',
           LOOKS.with_columns(tags=pl.Series([["x"], ["y"]]))),
          ('attributes: column "look"', pd.DataFrame({"item": ["a", "b"], "look": [1j, 2j]})),
          ('attributes: there is only the column "item"', LOOKS.select("item")),
          ('attributes: two columns have one name "1"; rename one of them',
           pd.DataFrame({"item": ["a", "b"], 1: [1, 0], "1": [0, 1]})),
      )),
    *((f"candidates{words}", {"metrics": "Coverage@3", "candidates": candidates})
      for words, candidates in (
          (" holds whole numbers (first 5)|text (first 'a')", [5, 6]),
          (": an id is missing", ["a", None]), ("|found 1 (int) among", ["a", 1]))),
    *((f"train: {words}", {"metrics": "Novelty@3", "train": train})
      for words, train in (
          ("items holds whole numbers (first 5)|text (first 'a')", {"ann": [5]}),
          ('no column "user"|item, colour', LOOKS),
          (f"items, user 'ann'|{TEXTS}", {"ann": "a b"}))),
]  # fmt: skip
"""How the text of a DataError begins and what else it holds, and what is given."""

FORMS = "|pandas, Polars or Arrow frame|a dict {user: [item, …]}|one list per row"
USAGE: list[tuple[str, dict[str, Any]]] = [
    ("recommendations: give rank or score, not both",
     {"lists": ROWS.assign(rank=[1, 2, 1], score=1.0), "rank": "rank", "score": "score"}),
    ("recommendations: give rank or score=False, not both",
     {"lists": ROWS.assign(rank=[1, 2, 1]), "rank": "rank", "score": False}),
    ("recommendations: score=False|this is not a frame",
     {"lists": {"ann": {"a": 2.0}}, "score": False}),
    ('recommendations: the rank in column "rank"|column "item" has lists; drop',
     {"lists": WIDE.with_columns(rank=1)}),
    ('truth: the grade in column "grade"|column "item" has lists',
     {"truth": WIDE.with_columns(grade=1)}),
    ('recommendations: rank="place" names a column, but this is not a frame', {"rank": "place"}),
    ('truth: grade="g" names a column', {"grade": "g"}),
    *((f"{side}: {parameter} names a column, but this is not a frame", {parameter: "name"})
      for side, parameter in (("recommendations", "user"), ("recommendations", "item"),
                              ("truth", "truth_user"), ("truth", "truth_item"))),
    *((f"recommendations: {parameter} takes a column's name; found {type(column).__name__}",
       {"lists": lists, parameter: column})
      for parameter, lists, column in (
          ("user", ROWS, ROWS["item"]), ("rank", LISTS, pl.Series(["a"])))),
    *((f"recommendations: found {type(thing).__name__}; give {FORMS}", {"lists": thing})
      for thing in ({"a"}, "a b", None, 5, pd.Series(["a"]), (row for row in [["a"]]))),
    (f"truth: found object; give {FORMS}", {"truth": object()}),
    ("truth: an array of 3 dimensions; give one list per row",
     {"lists": [[1], [2]], "truth": np.zeros((2, 2, 2), int)}),
    # Metrics, and what they need.
    ('metric "MAP@-1": the cut-off must be |from 1|got -1', {"metrics": ["MRR", "MAP@-1"]}),
    ('no metric; name one|"MAP@12"', {"metrics": []}),
    ("metrics: found int in list|give texts", {"metrics": ["MAP@3", 5]}),
    *((f"metric {metric} needs {words}", {"metrics": ["MAP@3", metric]})
      for metric, words in (
          ("Novelty@3", "training events|train="), ("ILD@3", "item attributes|attributes="),
          ("Coverage@3", "the items that may be recommended|candidates=|train="))),
    ("metric Gini@3 has one value for all lists|per_user=False",
     {"metrics": ["MAP@3", "Gini@3"], "candidates": ["a"], "per_user": True}),
    ("metric NDCG(gain=linear)@3 needs grades|grade=",
     {"metrics": ["NDCG@3", "NDCG(gain=linear)@3"]}),
    *((words, {"metrics": f"ILD(attributes={name})@3", "attributes": LOOKS})
      for name, words in (("color", '|"color"|did you mean "colour"?'), ("", "|name=value"),
                          ("colour+size", '|"size"|allowed: colour'))),
    ("candidates: found str; give a list of item ids",
     {"metrics": "Coverage@3", "candidates": "abc"}),
    ("train: found int; give", {"metrics": "Novelty@3", "train": 5}),
    ("attributes: found str; give", {"metrics": "ILD@3", "attributes": "colour"}),
]  # fmt: skip
"""The same of a UsageError."""


EVERY = [*((DataError, *row) for row in DATA), *((UsageError, *row) for row in USAGE)]


@pytest.mark.parametrize(("kind", "words", "options"), EVERY)
def test_what_cannot_be_read_or_asked_for(kind: Any, words: str, options: dict[str, Any]) -> None:
    refused(kind, words, **options)


@pytest.mark.parametrize("text", ["a b", "a,b", "a;b", "a|b", "['a', 'b']", '["a","b"]'])
def test_lists_written_as_text_are_refused_and_the_way_out_works(text: str) -> None:
    words = r"""[^\s,;|\[\]'\"]+"""
    way = f'split it first, as in frame["item"].str.findall(r"{words}") (Polars: .str.extract_all)'
    rows = pd.DataFrame({"user": ["ann", "bob"], "item": [text, "c"]})
    refused(DataError, f"recommendations: |a whole list written as text|{way}", lists=rows)
    refused(DataError, "truth: |a whole list written as text", truth=rows)
    polars = pl.DataFrame(rows).with_columns(pl.col("item").str.extract_all(words))
    for split in (rows.assign(item=rows["item"].str.findall(words)), polars):
        assert evaluate(split, {"ann": ["b"], "bob": ["c"]}, "MRR").iloc[0] == (1 / 2 + 1) / 2


def test_titles_are_ids_though_they_are_of_several_words() -> None:
    users = ["ann", "bob", "cem", "dee"]
    lists = pd.DataFrame({"user": users, "item": ["Up", "Toy Story", "The Kid", "The Gold Rush"]})
    truth = pd.DataFrame({"user": users, "item": ["Up", "The Circus", "Step Up", "City Lights"]})
    assert evaluate(lists, truth, "HitRate@1").iloc[0] == 1 / 4


def test_rows_far_below_are_counted_from_the_first() -> None:
    """Frames are read 262,144 rows at a time."""
    n = 262_150
    where = 'recommendations: column "item", row 262,149 (the first is 0): '
    for items, truth, fault in (
        (pd.array([*range(n - 1), None], "Int64"), [0], "the id is missing"),
        (objects(*["a"] * (n - 1), 1), ["a"], "found 1 (int) among values"),
    ):
        rows = pd.DataFrame({"user": range(n), "item": items})
        refused(DataError, where + fault, lists=rows, truth={0: truth})


EMPTY = pa.array([[]], pa.list_(pa.string(), 0))
UNUSUAL: dict[str, dict[str, Any]] = {
    "deques": {"lists": {"ann": deque(["a"])}},
    "generators in a dict": {"lists": {"ann": (i for i in "ab")}},
    "lists in lists of a frame": {"lists": pl.DataFrame({"user": ["ann"], "item": [[["a"]]]})},
    "tuples as ids": {"lists": {("ann", 1): ["a"]}},
    "times as ids": {"lists": {"ann": [pd.Timestamp("2020-01-01")]}},
    "spans of time": {"lists": np.array([[1]], "timedelta64[s]"), "truth": [[1]]},
    "no dimension": {"lists": np.array(None, dtype=object), "truth": [[1]]},
    "a list that is NA": {"lists": cells(["a"], pd.NA)},
    "lists of width 0": {"lists": pa.table({"user": ["ann"], "item": EMPTY})},
    "numbers of 70 bits": {"lists": {"ann": [2**70]}, "truth": {"ann": [2**70]}},
    "scores of 64 bits": {"lists": pl.DataFrame(ROWS).with_columns(score=pl.lit(2**64 - 1))},
    "a rank of 70 bits": {"lists": pl.DataFrame(ROWS).with_columns(rank=pl.lit(2**70, pl.Int128))},
    "an array with gaps": {"lists": np.ma.array([[1, 2]], mask=[[False, True]]), "truth": [[1]]},
    "lazy attributes": {"metrics": "ILD@3", "attributes": LOOKS.lazy()},
    "a frame of candidates": {"metrics": "Coverage@3", "candidates": pl.DataFrame({"item": "a"})},
    "a column named by a number": {"lists": ROWS, "user": 0},
}


@pytest.mark.parametrize("unusual", UNUSUAL)
def test_whatever_else_is_given_is_read_or_refused_by_an_error_of_ours(unusual: str) -> None:
    with contextlib.suppress(HarnessError, UserWarning):
        evaluated(**UNUSUAL[unusual])
