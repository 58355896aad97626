"""Users to whom a solution gives no true items are not averaged, or all of them with 0."""

from pathlib import Path

import pytest
from conftest import exactly, refusal

import harness
from harness.comparison.explain import explain, explain_users
from harness.core.errors import HarnessError
from harness.scoring.submissions import Scored, lists_on_terms
from harness.scoring.terms import Terms

SOLUTION = (
    "user,items,Usage\nann,x y,Public\nbob,y,Public\ncem,z,Private\ndee,,Public\neva,,Private\n"
)
LISTS = "user,items\nann,x\nbob,q y\ncem,q\ndee,x\n"
"""AP@12: ann 1/2, bob 1/2, cem 0; dee and eva have nothing to hit."""
LEFT_OUT, KEPT = (1 / 2 + 1 / 2 + 0) / 3, (1 / 2 + 1 / 2 + 0) / 5


@pytest.fixture(autouse=True)
def _files(here: Path) -> None:
    (here / "solution.csv").write_text(SOLUTION)
    (here / "lists.csv").write_text(LISTS)


def scored(keep: bool, **more: object) -> Scored:
    return harness.score(
        "lists.csv", solution="solution.csv", keep_users_without_items=keep, **more
    )


@pytest.mark.parametrize("keep", [False, True])
def test_each_is_a_convention(keep: bool) -> None:
    """H&M averages users with true items; ml_metrics averages all, with 0."""
    result = scored(keep, conventions=True)
    assert list(result.metrics) == ["MAP@12", "Recall@12", "NDCG@12"]
    assert result.metrics["MAP@12"].mean == exactly(KEPT if keep else LEFT_OUT)
    assert result.convention == ("ml_metrics" if keep else "kaggle")
    values = result.conventions or {}
    assert (values["kaggle"], values["ml_metrics"]) == exactly((LEFT_OUT, KEPT))


def test_who_is_counted() -> None:
    """Public: ann and bob, 1/2 each, and dee; private: cem, 0, and eva.

    By a solution alone nobody is missing, such as eva, and no item unknown, such as q.
    """
    result, kept = scored(False), scored(True)
    assert result.validation is not None
    assert result.validation.problems == ()
    assert (result.users, kept.users) == (3, 5)
    assert result.left_out["users_without_items"] == 2
    assert kept.left_out["users_without_items_kept"] == 2
    assert result.left_out["users_without_list"] == 0  # eva is not averaged in any case
    assert result.leaderboards["Public"]["MAP@12"].mean == 1 / 2
    assert kept.leaderboards["Public"]["MAP@12"].mean == exactly(1 / 3)


def test_a_metric_of_all_lists_is_one_of_those_who_are_averaged() -> None:
    """TotalRecall sums 2 hits and 4 true items, of which such users have none either way."""
    for keep, precision in ((False, 1 / 3), (True, 1 / 5)):
        result = scored(keep, metrics=["TotalRecall@2", "Precision@2"])
        assert [f.mean for f in result.metrics.values()] == exactly([1 / 2, precision])


def test_nobody_without_true_items_is_the_worst() -> None:
    """Cem has 0, ann and bob 1/2; dee and eva, kept, have 0 as well, and nothing to hit."""
    for keep in (False, True):
        terms = Terms({"solution": "solution.csv", "keep_users_without_items": keep})
        _, lists = lists_on_terms(Path("lists.csv"), terms)
        explained = explain_users(lists, worst=4).users
        assert [user.user for user in explained] == ["cem", "ann", "bob"]
        assert [explain(lists, row, 12).averaged for row in (2, 3)] == [True, keep]


def test_a_solution_without_any_true_item() -> None:
    Path("solution.csv").write_text("user,items\nann,\nbob,\n")
    with refusal(HarnessError, "no user has a true item", "--keep-users-without-items"):
        scored(False)
    assert scored(True).metrics["MAP@12"].mean == 0
    assert harness.validate("lists.csv", solution="solution.csv").valid
