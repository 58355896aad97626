"""Submitted lists of a file, against a solution or an evaluation set."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import small
from conftest import refusal

from harness.config import Config
from harness.core.errors import DataError, UsageError
from harness.experiment.submitted_lists import SubmittedLists, lists_on_terms
from harness.experiment.terms import Terms
from harness.metrics import Metric, parse
from harness.metrics.scores import mean, user_scores
from harness.protocol.task import make_task
from harness.submission.format import Named


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    return tmp_path / "lists.csv"


@pytest.fixture
def solution(tmp_path: Path) -> Path:
    return tmp_path / "solution.csv"


def of_solution(
    path: Path, solution: Path, named: Named | None = None, **others: bool
) -> SubmittedLists:
    return lists_on_terms(path, Terms(solution=solution, named=named, **others))


def of_config(path: Path, config: Config, metrics: tuple[Metric, ...] = ()) -> SubmittedLists:
    return lists_on_terms(path, Terms(config), metrics)


def value(submitted: SubmittedLists, metric: str) -> float:
    judgments = submitted.solution.judgments
    return mean(user_scores(submitted.lists, judgments, [parse(metric)])[parse(metric)])


def test_a_solution_says_who_counts(lists: Path, solution: Path) -> None:
    """AP@2 is 1/2 (a of a, b), 1/2 (c at the second place) and 0 (no list)."""
    lists.write_text("user,items\nbob,x c\nann,a\nzed,a\nyan,\n")
    solution.write_text("user,items\nann,a b\nbob,c\ncid,d\n")
    submitted = of_solution(lists, solution)
    assert submitted.title == str(lists)
    assert submitted.solution.users.to_list() == ["ann", "bob", "cid"]
    assert value(submitted, "MAP@2") == (1 / 2 + 1 / 2 + 0) / 3
    found = submitted.solution
    assert (found.k, found.fingerprint, found.metrics) == (None, None, ())
    assert dict(found.leaderboards) == {}
    assert submitted.left_out == {
        "users_without_list": 1,
        "users_outside": 2,
        "rows_outside": 2,
        "users_ignored": 0,
        "users_without_items": 0,
        "true_items_repeated": 0,
    }


def test_a_true_item_that_stands_again_counts_once(lists: Path, solution: Path) -> None:
    lists.write_text("user,items\nann,a\n")
    for text in ("user,items\nann,a b a a\n", "user,item\nann,a\nann,b\nann,a\nann,a\n"):
        solution.write_text(text)
        submitted = of_solution(lists, solution)
        assert value(submitted, "Recall@1") == 1 / 2
        assert submitted.left_out["true_items_repeated"] == 2


def test_users_stand_on_boards_and_the_ignored_on_none(lists: Path, solution: Path) -> None:
    lists.write_text("user,items\nann,a\nbob,x\ncid,c\n")
    solution.write_text(
        "user,items,Usage\nbob,b,Ignored\nann,a,Public\ncid,c d,Private\ndee,d,Private\n"
    )
    submitted = of_solution(lists, solution)
    assert submitted.solution.users.to_list() == ["ann", "cid", "dee"]
    assert value(submitted, "Recall@1") == (1 + 1 / 2 + 0) / 3
    assert {name: board.tolist() for name, board in submitted.solution.leaderboards.items()} == {
        "Public": [True, False, False],
        "Private": [False, True, True],
    }
    assert submitted.left_out["users_ignored"] == 1
    assert submitted.left_out["users_without_list"] == 1
    assert submitted.left_out["users_outside"] == 0  # the ignored are known


GOOD = "user,items\nann,a\n"
NO_ROWS = "there are no rows behind the header"


@pytest.mark.parametrize(
    ("listed", "true", "words"),
    [
        (GOOD, "user,items,Usage\nann,a,Ignored\n", ["solution.csv", "Ignored"]),
        (GOOD, "user,items\n", ["solution.csv", NO_ROWS]),
        ("user,items\n", GOOD, ["lists.csv", NO_ROWS]),
        ("user,items\nzed,a\n", GOOD,
         ["lists.csv: not one of the users is in the truth: 'zed' here, 'ann' there"]),
    ],
)  # fmt: skip
def test_files_by_which_nobody_is_scored_are_refused(
    lists: Path, solution: Path, listed: str, true: str, words: list[str]
) -> None:
    lists.write_text(listed)
    solution.write_text(true)
    with refusal(DataError, *words):
        of_solution(lists, solution)


def test_ids_that_are_numbers_in_both_files_match(tmp_path: Path) -> None:
    lists, solution = tmp_path / "lists.parquet", tmp_path / "solution.parquet"
    pl.DataFrame({"user": [1, 2], "item": [[10], [20]]}).write_parquet(lists)
    frame = pl.DataFrame({"user": [2, 1], "item": [[20], [11]], "Usage": ["Public", "Private"]})
    frame.drop("Usage").write_parquet(solution)
    submitted = of_solution(lists, solution)
    assert submitted.solution.users.to_list() == ["2", "1"]
    assert value(submitted, "MAP@1") == 1 / 2
    frame.write_parquet(solution)
    assert of_solution(lists, solution).solution.leaderboards["Public"].tolist() == [True, False]


def test_numbers_in_one_file_are_the_same_ids_as_their_text_in_another(tmp_path: Path) -> None:
    """Ids are text: 1 is "1", and never "01"."""
    lists, solution = tmp_path / "lists.parquet", tmp_path / "solution.csv"
    pl.DataFrame({"user": [1], "item": [[7, 8]]}).write_parquet(lists)
    solution.write_text("user,items\n1,8\n")
    assert value(of_solution(lists, solution), "MRR") == 1 / 2
    solution.write_text("user,items\n01,8\n")
    with refusal(DataError, str(lists), "01"):
        of_solution(lists, solution)


@pytest.mark.parametrize("column", ["rank", "score"])
def test_no_true_item_is_lost_by_a_column_of_the_solution(
    lists: Path, solution: Path, column: str
) -> None:
    """A solution has neither ranks nor scores to go by: a 0 in such a column drops nothing."""
    lists.write_text("user,items\nann,a\n")
    solution.write_text(f"user,item,{column}\nann,a,0\nann,b,1\n")
    assert value(of_solution(lists, solution), "Recall@1") == 1 / 2


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
ITEMS = "item,colour\na,red\nb,red\nc,red\nd,blue\nnew,red\n"
LISTS = "user,items\nann,c zzz\nbob,x a\ndee,a b\n"
"""cid has no list, dee is not evaluated; zzz and x are no candidates."""


def config(folder: Path, **evaluation: Any) -> Config:
    small.write(folder, {"items.csv": ITEMS})
    return small.config(folder, log=LOG, evaluation=evaluation, data={"items": "items.csv"})


def test_a_config_makes_the_evaluation_set(tmp_path: Path, lists: Path) -> None:
    """AP@2: c of c and new, (1/1)/2; a of a at the second place, (1/2)/1; no list, 0."""
    lists.write_text(LISTS)
    submitted = of_config(lists, config(tmp_path))
    assert submitted.title == str(lists)
    assert submitted.solution.users.to_list() == ["ann", "bob", "cid"]
    relevant = np.asarray(submitted.solution.judgments.relevant)
    assert relevant.tolist() == [2, 1, 1]  # new counts, a candidate or not
    assert value(submitted, "MAP@2") == (1 / 2 + 1 / 2 + 0) / 3
    assert submitted.left_out == {
        "users_without_list": 1,
        "users_outside": 1,
        "rows_outside": 1,
        "items_unknown": 3 - 1,
    }
    solution = submitted.solution
    assert [str(m) for m in solution.metrics] == ["MAP@2", "Recall@2", "NDCG@2"]
    assert (solution.k, len(solution.fingerprint or ""), dict(solution.leaderboards)) == (2, 64, {})


def test_a_true_item_that_is_no_candidate_is_never_a_hit(tmp_path: Path, lists: Path) -> None:
    lists.write_text("user,items\nann,new c\n")
    submitted = of_config(lists, config(tmp_path))
    judgments, mrr = submitted.solution.judgments, parse("MRR@2")
    assert user_scores(submitted.lists, judgments, [mrr])[mrr].tolist() == [1 / 2, 0, 0]
    assert submitted.solution.outside.to_list() == ["new"]


def test_fingerprint_and_metrics_are_those_of_the_config(tmp_path: Path, lists: Path) -> None:
    lists.write_text(LISTS)
    task = config(tmp_path, metrics=["MRR@1", "Recall@2"])
    submitted = of_config(lists, task)
    assert [str(m) for m in submitted.solution.metrics] == ["MRR@1", "Recall@2"]
    assert submitted.solution.fingerprint == make_task(task).evaluation_set.fingerprint
    asked = (parse("HitRate@2"),)
    assert of_config(lists, task, metrics=asked).solution.metrics == asked


BEYOND = {
    "Coverage@2": 2 / 4,  # c and a, of a, b, c, d
    "Gini@2": (-3 * 0 - 1 * 0 + 1 * 1 + 3 * 1) / (4 * 2),  # places 0, 0, 1, 1
    "Popularity@2": ((1 + 0) / 2 + (0 + 2) / 2 + 0) / 3,  # c once, a twice
    "Novelty@2": ((2 + 0) / 2 + (0 + 1) / 2 + 0) / 3,  # c of 1 in 4 users, a of 2
    "Serendipity@2": (1 / 2 + 0 + 0) / 3,  # a and b are the most popular
    "ILD@2": (1 + 1 + 0) / 3,  # nothing is like an item of which nothing is known
}


def test_beyond_accuracy_an_unknown_item_has_a_place_and_no_properties(
    tmp_path: Path, lists: Path
) -> None:
    lists.write_text(LISTS)
    metrics = tuple(map(parse, BEYOND))
    submitted = of_config(lists, config(tmp_path), metrics=metrics)
    values = user_scores(submitted.lists, submitted.solution.judgments, metrics)
    assert {str(m): mean(v) for m, v in values.items()} == pytest.approx(BEYOND, rel=0, abs=1e-12)
    for metric in metrics:
        submitted.solution.require(metric)
    # Known items are as like as their attributes.
    lists.write_text("user,items\nann,a b\nbob,c d\n")
    submitted = of_config(lists, config(tmp_path), metrics=(parse("ILD@2"),))
    found = user_scores(submitted.lists, submitted.solution.judgments, submitted.solution.metrics)
    assert found[parse("ILD@2")].tolist() == pytest.approx([0, 1, 0], rel=0, abs=1e-12)


def test_grades_of_a_solution_count(lists: Path, solution: Path) -> None:
    """b and c are judged irrelevant: the one true item is a, of grade 2."""
    lists.write_text("user,item\nann,b\nann,a\n")
    solution.write_text("user,item,grade\nann,a,2\nann,b,0\nann,c,0\n")
    submitted = of_solution(lists, solution)
    assert value(submitted, "MAP@4") == 1 / 2
    assert value(submitted, "NDCG(gain=linear)@4") == pytest.approx(1 / np.log2(3))
    submitted.solution.require(parse("NDCG(gain=linear)@4"))
    solution.write_text("user,item\nann,a\n")
    with refusal(UsageError, "needs grades"):
        of_solution(lists, solution).solution.require(parse("NDCG(gain=linear)@4"))


def test_categories_in_parquet_are_texts(tmp_path: Path, solution: Path) -> None:
    texts = {"user": ["ann", "bob"], "items": ["x a", "b"]}
    category = pl.DataFrame(texts, schema={"user": pl.Categorical, "items": pl.Categorical})
    category.write_parquet(tmp_path / "lists.parquet")
    solution.write_text("user,items\nann,a\nbob,b\n")
    assert value(of_solution(tmp_path / "lists.parquet", solution), "MRR@2") == (1 / 2 + 1) / 2


def test_parts_of_different_types_are_refused(tmp_path: Path, solution: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    pl.DataFrame({"user": [1], "items": [2]}).write_parquet(folder / "a.parquet")
    pl.DataFrame({"user": ["1"], "items": ["2"]}).write_parquet(folder / "b.parquet")
    solution.write_text("user,items\n1,2\n")
    with refusal(DataError, "columns of different types"):
        of_solution(folder, solution)


def test_a_pipe_is_no_file(tmp_path: Path, solution: Path) -> None:
    os.mkfifo(tmp_path / "lists.csv")
    solution.write_text("user,items\nann,a\n")
    with refusal(DataError, "lists.csv: is no file on disk; write it to one"):
        of_solution(tmp_path / "lists.csv", solution)


def test_only_positions_up_to_k_are_kept(tmp_path: Path, lists: Path) -> None:
    lists.write_text("user,items\nann,a b c new\n")
    submitted = of_config(lists, config(tmp_path))
    assert [submitted.items[int(i)] for i in submitted.lists[0]] == ["a", "b"]
