"""Conditions on a run: which hold, and what is said of those that cannot be looked at."""

import json
from pathlib import Path

import pytest
import small
from conftest import Cli, is_refused, refusal

import harness
from harness.core.errors import UsageError
from harness.experiment.check import Wanted, parse
from harness.experiment.run import run

MODELS = (
    {"name": "popular", "use": "baselines.popular:Popular"},
    {"name": "last week", "use": "baselines.popular:Popular", "params": {"window_days": 3}},
    {"name": "1.5", "use": "baselines.random_items:RandomItems"},
    {"name": "all > none", "use": "baselines.random_items:RandomItems"},
)
LOG = "user,item,time\n" + "".join(
    f"user{n},{item},2020-01-{day:02}\n"
    for n in range(40)
    for item, day in (("a", 1), ("ab"[n % 5 > 0], 6), ("b", 8))
)
"""All have a once, most then b, and b on the last day: the days before it know the answer."""
ALL = {
    "evaluation": {"k": 1, "metrics": ["MAP@1", "Recall@1", "Gini@1", "Popularity@1"]},
    "log": LOG,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run in which the last week has a mean of 1 and popular one of 0, of 40 users."""
    run(small.config(tmp_path, *MODELS, **ALL)).write(tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("MAP@12 of mine >= popular", Wanted("MAP@12", "mine", ">=", "popular")),
        ("MAP@12 of mine >= 0.02", Wanted("MAP@12", "mine", ">=", 0.02)),
        ("  NDCG@5  of  a b  <  1e-3 ", Wanted("NDCG@5", "a b", "<", 0.001)),
        ("MAP@12 of mine better  than c, d", Wanted("MAP@12", "mine", "better than", "c, d")),
        ('MAP@12 of "a >= b" > "0.5"', Wanted("MAP@12", "a >= b", ">", "0.5")),
        ("MAP@12 of best of all <= x", Wanted("MAP@12", "best of all", "<=", "x")),
        ('"my metric@2" of mine >= -1', Wanted("my metric@2", "mine", ">=", -1.0)),
        ('MAP@12 of "5"" > 3""" > x', Wanted("MAP@12", '5" > 3"', ">", "x")),
        ('MAP@12 of 5" disks > x', Wanted("MAP@12", '5" disks', ">", "x")),
    ],
)
def test_a_condition_says(text: str, said: Wanted) -> None:
    assert parse(text) == said


NONE = 'is no condition; write one such as "MAP@12 of mine >='
NO_SIGN = 'is no sign; allowed: >=, <=, >, <, better than; write one such as "MAP@12 of'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *(
            (text, NONE)
            for text in ("", "MAP@12", "MAP@12 of mine", "mine >= popular", "a of b = c")
        ),
        *((f"MAP@12 of mine {sign} popular", f'"{sign}" {NO_SIGN}') for sign in ("==", "!=")),
        *(
            (
                f"MAP@12 of mine {sign} x",
                f'"{sign}" is no sign, "{meant}" is; write it as in "MAP@12',
            )
            for sign, meant in (("=>", ">="), ("=<", "<="), ("≥", ">="), ("≤", "<="))
        ),
    ],
)
def test_what_is_no_condition_is_told_with_examples(text: str, told: str) -> None:
    with refusal(UsageError, told):
        parse(text)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("MAP@1 of last week >= popular", True),
        ("MAP@1 of popular >= last week", False),
        ("MAP@1 of last week >= 1", True),
        ("MAP@1 of last week > 1", False),
        ("MAP@1 of popular <= 0", True),
        ("MAP@1 of popular < 0", False),
        ("MAP@1 of last week better than popular", True),
        ("MAP@1 of popular better than last week", False),
        ('MAP@1 of last week better than "1.5"', True),
        ('MAP@1 of "1.5" better than "all > none"', False),
    ],
)
def test_a_condition_holds_or_does_not(folder: Path, text: str, holds: bool) -> None:
    found = harness.check(folder, text)
    assert found.passed is holds
    assert found.conditions[0].holds is holds


def test_what_was_found_stands_beside_each(folder: Path) -> None:
    texts = ["MAP@1 of last week >= popular", "MAP@1 of popular better than last week"]
    found = harness.check(folder, texts)
    assert not found.passed
    first, second = found.records()
    assert (first["value"], first["bound"], first["p_adjusted"]) == (1.0, 0.0, None)
    (pair,) = (
        pair
        for pair in harness.compare(folder).comparison.pairs
        if {pair.one, pair.other} == {"popular", "last week"}
    )
    assert second["p_adjusted"] == pair.p_adjusted
    assert "FAILED  1 of 2 conditions" in str(found)


def test_a_pair_that_the_run_does_not_compare_is_compared(tmp_path: Path) -> None:
    sections = {**ALL, "compare": {"baseline": "1.5"}}
    run(small.config(tmp_path, *MODELS, **sections)).write(tmp_path / "run")
    assert harness.check(tmp_path / "run", "MAP@1 of last week better than popular").passed


def test_pairs_of_the_first_metric_are_the_records(folder: Path) -> None:
    """They need no scores; those of another metric do."""
    (folder / "per_user.parquet").unlink()
    assert harness.check(folder, "MAP@1 of last week better than popular").passed
    with pytest.raises(UsageError, match=r"per_user\.parquet"):
        harness.check(folder, "Recall@1 of last week better than popular")


def test_less_is_better_where_the_metric_says_so(tmp_path: Path) -> None:
    own = "def misses(hits, n_relevant, k):\n    return 1 - hits[0]\n\nmisses.better = 'lower'\n"
    small.write(tmp_path, {"my_misses.py": own})
    asked = {"k": 1, "metrics": ["MAP@1", "my_misses:misses@1"]}
    config = small.config(tmp_path, *MODELS[:2], log=LOG, evaluation=asked)
    run(config).write(tmp_path / "run")
    for models, holds in (("last week", "popular"), True), (("popular", "last week"), False):
        text = f"my_misses:misses@1 of {models[0]} better than {models[1]}"
        assert harness.check(tmp_path / "run", text).passed is holds


def test_both_sides_of_a_condition_are_told_apart(folder: Path) -> None:
    found = str(harness.check(folder, "MAP@1 of last week >= 1.00001"))
    assert "1.0000000  1.0000100" in found


def test_a_name_that_is_suggested_can_be_typed(tmp_path: Path) -> None:
    quoted = MODELS[0] | {"name": '5" > 3"'}
    run(small.config(tmp_path, quoted, MODELS[1], **ALL)).write(tmp_path / "run")
    with pytest.raises(UsageError, match='did you mean "5"" > 3"""'):
        harness.check(tmp_path / "run", 'MAP@1 of "5 > 3" >= 0')
    assert harness.check(tmp_path / "run", 'MAP@1 of "5"" > 3""" >= 0').passed


def test_means_of_folds_are_checked(tmp_path: Path) -> None:
    """Before the 5th all had a alone, which eight have once more; of the last days all have b."""
    folds = {**ALL, "split": {"strategy": "time", "valid_days": 2, "folds": 2}}
    run(small.config(tmp_path, MODELS[0], MODELS[1], **folds)).write(tmp_path / "run")
    for sign, holds in ((">=", True), ("<=", True), (">", False), ("<", False)):
        assert harness.check(tmp_path / "run", f"MAP@1 of popular {sign} 0.5").passed is holds


def test_a_condition_on_a_model_that_failed_does_not_hold(tmp_path: Path) -> None:
    bad = "class Bad:\n    def fit(self, train):\n        raise ValueError\n    recommend = fit\n"
    small.write(tmp_path, {"bad.py": bad})
    models = MODELS[0], {"name": "bad", "use": "bad:Bad"}
    run(small.config(tmp_path, *models, **ALL)).write(tmp_path / "run")
    for text in ("MAP@1 of bad >= 0", "MAP@1 of popular better than bad"):
        found = harness.check(tmp_path / "run", text)
        (one,) = found.conditions
        assert not one.holds
        assert one.error is not None
        assert one.error.startswith('model "bad" raised in fit: ValueError (')
        assert f"\nfailed  {one.error}\n" in str(found)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("MAP@2 of popular >= 0", r'has no metric "MAP@2"; did you mean "MAP@1"'),
        ("MAP@1 of populr >= 0", r'has no model "populr"; did you mean "popular"'),
        ("MAP@1 of popular >= lst week", r'has no model "lst week"; did you mean "last week"'),
        ("MAP@1 of popular better than 0.5", "a model is better than a model; compare with >= 0.5"),
        ("MAP@1 of popular better than popular", "not compared with itself"),
        ("MAP@1 of popular >= popular", "not compared with itself"),
        ("MAP@1 of popular >= 1e999", "1e999 is too large a number"),
        ("Gini@1 of popular better than last week", "Gini@1 has one value for all lists"),
        ("Popularity@1 of popular better than last week", "only describes lists, and calls none"),
    ],
)
def test_a_mistake_is_told(folder: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        harness.check(folder, text)


def test_the_command(here: Path, cli: Cli) -> None:
    run(small.config(here, *MODELS, **ALL)).write(here / "one")
    status, out, err = cli("check", "one", "--at-least", "MAP@1 of last week >= 0.5")
    assert (status, err) == (0, "")
    assert out.startswith("PASSED  1 condition\n")
    two = ("--at-least", "MAP@1 of popular > 0", "--at-least", "MAP@1 of popular <= 0")
    status, out, err = cli("check", "one", *two, "--format", "json")
    assert status == 1
    document = json.loads(out)
    assert document["passed"] is False
    assert [one["holds"] for one in document["conditions"]] == [False, True]
    is_refused(cli("check", "one"), "no condition; write one such as")
    is_refused(cli("check", "two", "--at-least", "MAP@1 of a > 0"), "is no run folder")
