"""Conditions on a run: which hold, and why others cannot be looked at."""

from pathlib import Path
from typing import Any

import pytest
from conftest import refusal
from run_files import write_run

import harness
from harness.comparison.check import parse
from harness.core.errors import UsageError

VALUES = {
    "popular": [0.0] * 40,
    "last week": [1.0] * 40,
    "1.5": [1.0] * 10 + [0.0] * 30,
    "all > none": [0.0] * 30 + [1.0] * 10,
    '5" > 3"': [0.0] * 40,
}
MODELS = {
    name: {"MAP@1": values, "Recall@1": values, "Gini@1": 0.5, "Popularity@1": values}
    for name, values in VALUES.items()
}
FAILED = [{"name": "bad", "error": 'model "bad" raised in fit: ValueError (bad.py, line 3)'}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    baseline = {"compare": {"baseline": "1.5"}}  # other pairs are compared as well
    return write_run(tmp_path_factory.mktemp("run"), MODELS, failed=FAILED, config=baseline)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("  NDCG@5  of  a b  <  1e-100 ", ("NDCG@5", "a b", "<", 1e-100)),
        ("MAP@12 of mine better  than c, d", ("MAP@12", "mine", "better than", "c, d")),
        ('MAP@12 of "a >= b" > "0.5"', ("MAP@12", "a >= b", ">", "0.5")),
        ("MAP@12 of best of all <= x", ("MAP@12", "best of all", "<=", "x")),
        ('"my metric@2" of mine >= -1', ("my metric@2", "mine", ">=", -1.0)),
        ('MAP@12 of "5"" > 3""" > x', ("MAP@12", '5" > 3"', ">", "x")),
    ],
)
def test_the_parts_of_a_condition(text: str, wanted: Any) -> None:
    assert parse(text) == wanted


NO_CONDITION = "is not a condition; signs are >=, <=, >, <, better than; write one such as"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MAP@2 of popular >= 0", 'has no metric "MAP@2"; did you mean "MAP@1"'),
        ("MAP@1 of popular >= lst week", 'has no model "lst week"; did you mean "last week"'),
        ('MAP@1 of "5 > 3" >= 0', 'did you mean "5"" > 3"""'),  # so it can be typed
        ("MAP@1 of popular >= popular", "cannot compare a model with itself"),
        ("Gini@1 of popular better than last week", "Gini@1 does not say which user is served"),
        (
            "Popularity@1 of popular better than last week",
            "so it has no test over users; compare values",
        ),
        (3, "conditions: found int; add --at-least"),
        ([5], "conditions: found list; add --at-least"),
        ([], "no condition; add --at-least"),
        ("MAP@1 of popular", NO_CONDITION),
        ("a of b = c", NO_CONDITION),
        ("a of b == c", NO_CONDITION),
        ("a of b better than 0.5", "a model is better than a model; compare with >= 0.5"),
        ("a of b >= 1e999", "1e999 is not a finite number"),
    ],
)
def test_a_text_that_is_no_condition_of_the_run(folder: Path, text: Any, message: str) -> None:
    with refusal(UsageError, message):
        harness.check(folder, text)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("MAP@1 of last week >= 1", True),
        ("MAP@1 of popular >= last week", False),
        ("MAP@1 of last week > 1", False),
        ("MAP@1 of popular <= 0", True),
        ("MAP@1 of popular < 0", False),
        ("MAP@1 of last week better than popular", True),
        ("MAP@1 of popular better than last week", False),
        ('Recall@1 of last week better than "1.5"', True),
        ('MAP@1 of "5"" > 3""" >= 0', True),
    ],
)
def test_a_condition_holds_or_does_not(folder: Path, text: str, holds: bool) -> None:
    checked = harness.check(folder, text)
    assert (checked.passed, checked.conditions[0].holds) == (holds, holds)


def test_the_figures_of_each_condition(folder: Path) -> None:
    texts = ["MAP@1 of last week >= popular", "MAP@1 of popular better than last week"]
    checked = harness.check(folder, texts)
    assert not checked.passed
    first, second = checked.records()
    assert (first["value"], first["bound"], first["p_adjusted"]) == (1.0, 0.0, None)
    pairs = harness.compare(folder, all_pairs=True).comparison.pairs
    adjusted = {frozenset((pair.one, pair.other)): pair.p_adjusted for pair in pairs}
    assert second["p_adjusted"] == adjusted[frozenset(("popular", "last week"))] < 0.05
    assert "FAILED  1 of 2 conditions" in str(checked)
    near = str(harness.check(folder, "MAP@1 of last week >= 1.00001"))
    assert "1.0000000  1.0000100" in near  # so many digits tell both sides apart
    # A model that failed fulfils none.
    for text in ("MAP@1 of bad >= 0", "MAP@1 of popular better than bad"):
        checked = harness.check(folder, text)
        (condition,) = checked.conditions
        assert (condition.holds, condition.error) == (False, FAILED[0]["error"])
        assert f"\nfailed  {condition.error}\n" in str(checked)
