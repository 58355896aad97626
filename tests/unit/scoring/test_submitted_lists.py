"""Submitted lists of a file, against a solution or an evaluation set."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import small
from conftest import exactly, refusal

from harness.core.errors import DataError
from harness.metrics import Metric, parse
from harness.metrics.scores import mean, user_scores
from harness.protocol.task import make_task
from harness.scoring.submissions import SubmissionError, SubmittedLists, lists_on_terms
from harness.scoring.terms import Terms

Table = str | pl.DataFrame
"""The text of a CSV, or a frame for Parquet."""
GOOD = "user,items\nann,a\n"


def written(folder: Path, name: str, table: Table) -> Path:
    path = folder / (f"{name}.csv" if isinstance(table, str) else f"{name}.parquet")
    if isinstance(table, str):
        path.write_text(table)
    else:
        table.write_parquet(path)
    return path


def by_solution(folder: Path, lists: Table, solution: Table) -> SubmittedLists:
    terms = Terms({"solution": written(folder, "solution", solution)})
    return lists_on_terms(written(folder, "lists", lists), terms)[1]


def value(submitted: SubmittedLists, metric: str) -> float:
    judgments = submitted.solution.judgments
    return mean(user_scores(submitted.lists, judgments, [parse(metric)])[parse(metric)])


def test_a_solution_says_who_counts(tmp_path: Path) -> None:
    """Recall@1 is 1 (a of a), 1/2 (c of c, d) and 0 (no list); the ignored are known."""
    lists = "user,items\nann,a\nbob,x\ncid,c\nzed,a\n"
    true = "user,items,Usage\nbob,b,Ignored\nann,a,Public\ncid,c d,Private\ndee,d,Private\n"
    submitted = by_solution(tmp_path, lists, true)
    solution = submitted.solution
    assert submitted.title == str(tmp_path / "lists.csv")
    assert solution.users.to_list() == ["ann", "cid", "dee"]
    assert value(submitted, "Recall@1") == (1 + 1 / 2 + 0) / 3
    assert (solution.k, solution.fingerprint, solution.metrics) == (None, None, ())
    boards = {name: users.tolist() for name, users in solution.leaderboards.items()}
    assert boards == {"Public": [True, False, False], "Private": [False, True, True]}
    assert submitted.left_out == {
        "users_without_list": 1,
        "users_outside": 2,
        "rows_outside": 2,
        "users_ignored": 1,
        "users_without_items": 0,
        "true_items_repeated": 0,
    }


NUMBERS = pl.DataFrame({"user": [1], "item": [[7, 8]]})
CATEGORIES = pl.DataFrame(
    {"user": ["ann", "bob"], "items": ["x a", "b"]},
    schema={"user": pl.Categorical, "items": pl.Categorical},
)
GRADED = "user,item\nann,b\nann,a\n", "user,item,grade\nann,a,2\nann,b,0\nann,c,0\n"


@pytest.mark.parametrize(
    ("lists", "solution", "metric", "expected"),
    [
        # A true item that stands again counts once.
        (GOOD, "user,items\nann,a b a a\n", "Recall@1", 1 / 2),
        (GOOD, "user,item\nann,a\nann,b\nann,a\nann,a\n", "Recall@1", 1 / 2),
        # A solution has no scores to go by: a 0 there drops nothing.
        (GOOD, "user,item,price\nann,a,0\nann,b,9\n", "Recall@1", 1 / 2),
        # Ids are text: 1 is "1", in whatever file it is a number.
        (NUMBERS, pl.DataFrame({"user": [2, 1], "item": [[5], [8]]}), "MRR", 1 / 4),
        (CATEGORIES, "user,items\nann,a\nbob,b\n", "MRR@2", (1 / 2 + 1) / 2),
        # b and c are judged irrelevant: the one true item is a, of grade 2.
        (GRADED[0], GRADED[1], "MAP@4", 1 / 2),
        (GRADED[0], GRADED[1], "NDCG(gain=linear)@4", 1 / np.log2(3)),
    ],
)
def test_what_lists_are_worth(
    tmp_path: Path, lists: Table, solution: Table, metric: str, expected: float
) -> None:
    submitted = by_solution(tmp_path, lists, solution)
    submitted.solution.require(parse(metric))
    assert value(submitted, metric) == exactly(expected)


NO_ROWS = "there are no rows after the header"
NOBODY = "none of the users is in the truth: 'zed' here, 'ann' there"


@pytest.mark.parametrize(
    ("lists", "solution", "words"),
    [
        (GOOD, "user,items,Usage\nann,a,Ignored\n", ["solution.csv", "Ignored"]),
        (GOOD, "user,items\n", ["solution.csv", NO_ROWS]),
        ("user,items\nzed,a\n", GOOD, ["lists.csv", NOBODY]),
        (NUMBERS, "user,items\n01,8\n", ["lists.parquet", "01"]),
    ],
)
def test_files_by_which_nobody_is_scored_are_refused(
    tmp_path: Path, lists: Table, solution: Table, words: list[str]
) -> None:
    with refusal(DataError, words):
        by_solution(tmp_path, lists, solution)


def test_things_that_are_no_file(tmp_path: Path) -> None:
    terms = Terms({"solution": written(tmp_path, "solution", GOOD)})
    os.mkfifo(tmp_path / "pipe.csv")
    with refusal(SubmissionError, "pipe.csv", "a pipe or a device; write it to a file first"):
        lists_on_terms(tmp_path / "pipe.csv", terms)


# By a config.

LOG = """user,item,time
ann,a,2020-01-01
ann,b,2020-01-01
bob,b,2020-01-02
bob,c,2020-01-02
cid,d,2020-01-03
dee,a,2020-01-03
ann,c,2020-01-08
ann,new,2020-01-08
bob,a,2020-01-08
cid,d,2020-01-08
"""
"""With valid_days = 1 ann has c and new, bob a, cid d; the candidates are a, b, c, d."""
LISTS = "user,items\nann,c zzz\nbob,x a\ndee,a b\n"
"""cid has no list, dee is not evaluated; zzz and x are no candidates."""


def by_config(folder: Path, lists: str = LISTS, metrics: tuple[Metric, ...] = ()) -> SubmittedLists:
    items = "item,colour\na,red\nb,red\nc,red\nd,blue\nnew,red\n"
    small.write(folder, {"items.csv": items})
    config = small.config(folder, log=LOG, data={"items": "items.csv"})
    return lists_on_terms(written(folder, "lists", lists), Terms({"config": config}), metrics)[1]


def test_a_config_makes_the_evaluation_set(tmp_path: Path) -> None:
    """AP@2: c of c and new, (1/1)/2; a of a at the second place, (1/2)/1; no list, 0."""
    submitted = by_config(tmp_path)
    solution = submitted.solution
    assert solution.users.to_list() == ["ann", "bob", "cid"]
    assert solution.judgments.relevant.tolist() == [2, 1, 1]  # new counts, a candidate or not
    assert value(submitted, "MAP@2") == (1 / 2 + 1 / 2 + 0) / 3
    assert submitted.left_out == {
        "users_without_list": 1,
        "users_outside": 1,
        "rows_outside": 1,
        "items_unknown": 2,
    }
    fingerprint = make_task(small.config_of(tmp_path)).evaluation_set.fingerprint
    assert (solution.k, solution.fingerprint) == (2, fingerprint)
    assert dict(solution.leaderboards) == {}
    assert [str(metric) for metric in solution.metrics] == ["MAP@2", "Recall@2", "NDCG@2"]
    asked = (parse("HitRate@2"),)
    assert by_config(tmp_path, metrics=asked).solution.metrics == asked


def test_a_true_item_that_is_no_candidate_is_never_a_hit(tmp_path: Path) -> None:
    """Positions behind k = 2 are left out."""
    submitted = by_config(tmp_path, "user,items\nann,new c a b\n")
    judgments, mrr = submitted.solution.judgments, parse("MRR@2")
    assert user_scores(submitted.lists, judgments, [mrr])[mrr].tolist() == [1 / 2, 0, 0]
    assert submitted.solution.outside.to_list() == ["new"]
    assert [submitted.items[int(i)] for i in submitted.lists[0]] == ["new", "c"]


BEYOND = {
    "Coverage@2": 2 / 4,  # c and a, of a, b, c, d
    "Gini@2": (-3 * 0 - 1 * 0 + 1 * 1 + 3 * 1) / (4 * 2),  # places 0, 0, 1, 1
    "Novelty@2": ((2 + 0) / 2 + (0 + 1) / 2 + 0) / 3,  # c of 1 in 4 users, a of 2
    "ILD@2": (1 + 1 + 0) / 3,  # nothing is like an item of which nothing is known
}


def test_beyond_accuracy_an_unknown_item_has_a_place_and_no_properties(tmp_path: Path) -> None:
    """Known items are as like as their attributes: a and b, c and d."""
    metrics = tuple(map(parse, BEYOND))
    submitted = by_config(tmp_path, metrics=metrics)
    values = user_scores(submitted.lists, submitted.solution.judgments, metrics)
    assert {str(metric): mean(scores) for metric, scores in values.items()} == exactly(BEYOND)
    for metric in metrics:
        submitted.solution.require(metric)
    ild = parse("ILD@2")
    known = by_config(tmp_path, "user,items\nann,a b\nbob,c d\n", (ild,))
    values = user_scores(known.lists, known.solution.judgments, (ild,))
    assert values[ild].tolist() == exactly([0, 1, 0])
