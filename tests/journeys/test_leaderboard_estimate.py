"""The leaderboard estimate asks models for users whom the evaluation set leaves out, or says so."""

import json
from pathlib import Path
from typing import Any

import pytest
import small
from small import POPULAR

from harness.evaluation.run import run
from harness.report.page import page
from harness.results.run import Run, read

# In training a has three events, b two; popular says "a b" to everybody.
# Window: ann b (AP@2 1/2), bob a (1), new a (1: never seen before), nia z (0: no candidate).
LOG = """user,item,time
ann,a,2020-01-01
bob,a,2020-01-01
cid,a,2020-01-01
ann,b,2020-01-02
bob,b,2020-01-02
ann,b,2020-01-09
bob,a,2020-01-09
new,a,2020-01-09
nia,z,2020-01-09
"""
PLUGGED = """
from baselines.popular import Popular

class KnowsWhom(Popular):
    def fit(self, train):
        self.known_ = set(train.events.user.tolist())
        return super().fit(train)

    def recommend(self, users, k, draws, exclude=None):
        if not self.known_.issuperset(users.tolist()):
            raise KeyError
        return super().recommend(users, k, draws, exclude)
"""
KNOWS_WHOM = {"name": "knows whom", "use": "plugged:KnowsWhom"}
CANDIDATES = {"truth": "candidates", "require_hit": False}
EVERYONE = {"users": "all", "require_hit": False}


def ran(folder: Path, *models: dict[str, Any], log: str = LOG, **sections: Any) -> Run:
    small.write(folder, {"plugged.py": PLUGGED})
    asked = {"metrics": ["MAP@2"]} | sections.pop("evaluation", {})
    return run(small.config(folder, models=models, log=log, evaluation=asked, **sections))


def estimates(result: Run) -> dict[str, Any]:
    bridge: dict[str, Any] = json.loads(result.to_json())["bridge"]
    return bridge


def notes(result: Run) -> list[str]:
    return [note for note in result.notes if "leaderboard estimate" in note]


@pytest.mark.parametrize(
    ("more", "rules", "mean", "with_items", "estimate"),
    [
        # Evaluated are ann and bob; everybody has (1/2 + 1 + 1 + 0)/4.
        ("", {}, 3 / 4, 4, 5 / 8),
        # nia has no true item then: (1/2 + 1 + 1)/3, evaluated or not.
        ("", CANDIDATES | EVERYONE, 5 / 8, 3, 5 / 6),
        # cid z has no true item and is evaluated, new a is not: as many users, not the same.
        ("cid,z,2020-01-09\n", CANDIDATES, 1 / 2, 3, 5 / 6),
        # ann and bob had all that they touch; new: "a b", a is true: 1; nia: 0.
        ("", {"seen_items": "drop", "users": "all"}, 1, 2, 1 / 2),
    ],
)
def test_users_with_true_items_are_averaged_evaluated_or_not(
    tmp_path: Path, more: str, rules: dict[str, Any], mean: float, with_items: int, estimate: float
) -> None:
    result = ran(tmp_path, POPULAR, log=LOG + more, evaluation=rules)
    assert result.models[0].metrics["MAP@2"].mean == mean
    figures = estimates(result)
    unsampled = {"window": estimate, "sample": None, "at_least": False}
    assert (figures["with_items"], figures["models"]) == (with_items, {"popular": unsampled})
    examined = result.evaluation.users
    assert (figures["examined"], figures["window"]) == (examined, 4 + bool(more))
    shown = "leaderboard estimate  popular: 0.8333 over the 3 users with true items"
    assert (shown in repr(result)) == (estimate == 5 / 6)


@pytest.mark.parametrize(
    ("ids", "mean"), [("ann bob new nia", 5 / 8), ("ann bob new zoe", 5 / 8), ("", None)]
)
def test_over_a_sample_its_users_alone_are_averaged(
    tmp_path: Path, ids: str, mean: float | None
) -> None:
    """Of ann 1/2, bob 1, new 1, nia 0 and zoe 0, who have numbers, as in Santander."""

    def numbered(text: str) -> str:
        for number, user in enumerate(("ann", "bob", "cid", "new", "nia", "zoe")):
            text = text.replace(user, str(number))
        return text

    rows = "".join(f"{user},a\n" for user in numbered(ids).split())
    small.write(tmp_path, {"sample.csv": f"ncodpers,added_products\n{rows}"})
    sample = {"sample": "sample.csv"}
    shown = estimates(ran(tmp_path, POPULAR, log=numbered(LOG), submission=sample))
    assert shown["sample"] == (len(ids.split()) or None)
    assert shown["models"]["popular"] == {"window": 5 / 8, "sample": mean, "at_least": False}


def test_a_model_that_cannot_be_asked_has_at_least_so_much(tmp_path: Path, no_charts: None) -> None:
    none = ran(tmp_path, KNOWS_WHOM, evaluation={"metrics": ["Popularity@2", "MAP@2"]})
    assert (estimates(none)["models"], notes(none)) == ({}, [])
    result = ran(tmp_path, KNOWS_WHOM, POPULAR)
    bound = {"window": 3 / 8, "sample": None, "at_least": True}
    assert estimates(result)["models"]["knows whom"] == bound
    assert "at least 0.375" in repr(result)
    (note,) = notes(result)
    assert '"knows whom" has no lists for the 2 users' in note
    assert "KeyError" in note
    result.write(tmp_path / "run")
    text = page(read(tmp_path / "run"))
    assert ("at least 0.3750" in text, ">0.6250<" in text) == (True, True)
