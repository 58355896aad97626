"""Lists scored: means and intervals by hand, leaderboards, the JSON document, the records."""

import json
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from conftest import exactly, refusal
from letters import submitted, with_solution
from scipy import stats

from harness.core import table as sheet
from harness.core.errors import UsageError
from harness.metrics import parse
from harness.metrics.conventions import CONVENTIONS
from harness.scoring.submissions import Scored, SubmittedLists, score_lists

THREE = submitted(["a", "xx", "xb"], ["a", "a", "b"])
"""AP@2 is 1, 0 and 1/2."""
SIXTY = submitted(["a", "xx", "xb"] * 20, ["a", "a", "b"] * 20)
"""The same twenty times: no skewness, so the interval is Student's."""
HALF = stats.t.ppf(0.975, 59) * sqrt(10 / 59) / sqrt(60)
"""The variance is 40 · (1/2)² / 59."""


def scored(lists: SubmittedLists, *metrics: str, k: int = 2, conventions: bool = False) -> Scored:
    return score_lists(lists, tuple(map(parse, metrics)), k, conventions)


def test_mean_and_interval_by_hand() -> None:
    result = scored(SIXTY, "MAP@2", "HitRate@1")
    assert list(result.metrics) == ["MAP@2", "HitRate@1"]
    assert result.metrics["MAP@2"].mean == 1 / 2
    assert result.metrics["MAP@2"].ci95 == exactly((1 / 2 - HALF, 1 / 2 + HALF))
    assert result.metrics["HitRate@1"].mean == exactly(1 / 3)


def test_boards_have_the_means_and_intervals_of_their_users() -> None:
    leaderboards = {"Public": [True, False, True], "Private": [False, True, False]}
    three = submitted(["a", "xx", "xb"], ["a", "a", "b"], leaderboards=leaderboards)
    result = scored(three, "MAP@2")
    assert list(result.leaderboards) == ["Public", "Private"]
    public = result.leaderboards["Public"]["MAP@2"]
    assert public.mean == 3 / 4  # of 1 and 1/2
    assert public.ci95 == (0, 1)
    assert result.leaderboards["Private"]["MAP@2"].mean == 0
    assert result.metrics["MAP@2"].mean == 1 / 2
    nobody = submitted(["a"], ["a"], leaderboards={"Public": [True], "Private": [False]})
    assert list(scored(nobody, "MAP@1").leaderboards) == ["Public"]


def test_conventions_are_cut_at_their_own_k() -> None:
    """a, a and b are hits; the other user has no list, and is none to some."""
    values = scored(submitted(["aab", ""], ["ab", "a"]), "MAP@3", k=3, conventions=True).conventions
    assert values is not None
    assert (values["kaggle"], values["recommenders"]) == exactly(((1 + 2 / 3) / 2 / 2, 3 / 2))
    cut = scored(submitted(["xa"], ["a"]), "MAP@2", k=1, conventions=True).conventions
    assert (cut or {})["kaggle"] == 0
    assert scored(THREE, "MAP@2").conventions is None


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("Coverage@2", "the candidates"),
        ("Novelty@2", "the training events"),
        ("ILD@2", "the items' attributes"),
    ],
)
def test_what_a_solution_does_not_tell_is_refused(name: str, needed: str) -> None:
    words = [name, needed, "a solution does not", "use --config instead of --solution"]
    with refusal(UsageError, words):
        scored(THREE, "MAP@2", name)


def test_what_looks_further_than_the_evaluation_set_is_refused() -> None:
    """The lists are cut at the evaluation set's k; behind it nothing is known."""
    lists = with_solution(THREE, k=2)
    words = ["Recall@3", "3 positions", "k = 2", "smaller cut-off", "[evaluation]"]
    with refusal(UsageError, words):
        scored(lists, "MAP@2", "Recall@3")
    with refusal(UsageError, "k = 2"):
        scored(lists, "MAP@2", k=3, conventions=True)
    assert scored(lists, "MRR").metrics["MRR"].mean == 1 / 2


def test_the_json_of_conventions_says_what_each_decides() -> None:
    """Without truth nobody is averaged."""
    document = scored(submitted(["aab"], [""]), "MAP@3", k=3, conventions=True).to_dict()
    entries = {entry["name"]: entry for entry in document["conventions"]}
    assert list(entries) == list(CONVENTIONS)
    decisions = {"divisor": "R", "repeats": "again, and in R", "users": "with truth"}
    facts = {"name": "rectools", "value": None, "tools": "RecTools MAP, its default"}
    assert entries["rectools"] == facts | decisions
    assert (entries["kaggle"]["value"], entries["ml_metrics"]["value"]) == (None, 0)
    assert "NaN" not in json.dumps(document)


def test_a_record_a_metric_and_a_convention_with_full_figures() -> None:
    boards = with_solution(SIXTY, leaderboards={"Public": np.array([True, False, False] * 20)})
    result = scored(boards, "MAP@2", "HitRate@1", conventions=True)
    first, second, *conventions = result.records()
    figures = {"value": 0.5, "low": exactly(0.5 - HALF), "high": exactly(0.5 + HALF)}
    assert first == {"kind": "metric", "name": "MAP@2", **figures, "Public": 1.0}
    assert second["value"] == 1 / 3
    assert {record["kind"] for record in conventions} == {"convention"}
    assert all(list(record) == list(first) for record in conventions)
    values = {record["name"]: record["value"] for record in conventions}
    assert (list(values), values) == (list(CONVENTIONS), result.conventions)


def test_the_table_shows_who_is_left_out_and_every_board() -> None:
    lists = with_solution(THREE, leaderboards={"Private": np.array([False, True, True])})
    lists = replace(lists, left_out={"users_without_list": 1234, "users_outside": 0})
    table = sheet.plain(scored(lists, "MAP@2").sheets()[0]).splitlines()
    assert table[0] == "lists  lists.csv · 3 users"
    assert table[1] == "note   users without a list, which score 0: 1,234"
    assert table[3].split() == ["metric", "mean", "95", "%", "interval", "Private"]
    assert table[4].split() == ["MAP@2", "0.500000", "0.000000", "…", "1.000000", "0.250000"]
    assert len(table) == 5  # users_outside is 0, and not worth a line


def test_the_table_shows_how_far_each_convention_is_from_ours() -> None:
    lists = submitted(["aab"], ["ab"])
    conventions = scored(lists, "MAP@3", k=3, conventions=True).sheets()[1]
    shown = {row[0]: row for row in conventions.rows}
    assert conventions.titles[1] == "MAP@3"
    assert shown["kaggle"][1:3] == ["0.833333", "+0.000000"]
    assert shown["replay"][1:3] == ["1.500000", "+0.666667"]
    nobody = scored(submitted([""], ["a"]), "MAP@3", k=3, conventions=True).sheets()[1]
    assert {row[0]: row[1] for row in nobody.rows}["lenskit"] == "not counted"
