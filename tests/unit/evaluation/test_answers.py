"""What a model answers: checked, asked for in batches, and named where it breaks its contract."""

from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal
from small import LATEST_FIRST, LOG

from harness.core.errors import RecommenderError, UsageError
from harness.evaluation import answers
from harness.evaluation.build import Factories
from harness.protocol.task import asked, make_task

BROKEN = """
import sys
import numpy as np

class Model:
    def fit(self, train):
        self.ids = train.user_ids.to_list()
        return self

    def recommend(self, users, k, draws, exclude=None):
        answer = np.tile(np.arange(k, dtype=np.int32), (len(users), 1))
        return self.spoil(answer, [self.ids[user] for user in users])

class Seen(Model):
    def spoil(self, answer, names):
        return answer

class Repeats(Model):
    def spoil(self, answer, names):
        answer[names.index("cid")] = 3
        return answer

class Raises(Model):
    def spoil(self, answer, names):
        return answer if "bob" not in names else {}["no bob"]

class Leaves(Model):
    def spoil(self, answer, names):
        sys.exit(0)

class Writes(Model):
    def recommend(self, users, k, draws, exclude=None):
        users[:] = 0

class Spoils(Model):
    def recommend(self, users, k, draws, exclude=None):
        exclude.indices[:] = 0
        exclude.data[:] = False
        return np.full((len(users), k), -1, np.int32)

class ForgetsSelf(Model):
    def fit(self, train):
        pass

class Reuses(Model):
    def fit(self, train):
        self.right = np.array([1, 3, 0], np.int32)  # b for ann, d for bob, a for cid
        self.answer = np.zeros((1, 1), np.int32)
        return self

    def recommend(self, users, k, draws, exclude=None):
        self.answer[:] = self.right[users]
        return self.answer
"""
MESSAGES = {
    # Ann's b was seen, so bob is the first who is evaluated; he has b and c.
    "Seen": r'model "mine", user bob, rank 2: found 1; .*excluded',
    "Repeats": r'model "mine", user cid, rank 2: found 3; the item is in the list twice.*1 of 2',
    "Raises": r'model "mine" raised in recommend, first for user bob: KeyError: .no bob',
    "Leaves": r'model "mine" raised in recommend, first for user bob: SystemExit',
    "Writes": r'model "mine" raised in recommend.*ValueError: .*read-only',
    "ForgetsSelf": r'model "mine": fit returned None; expected self',
}
RANDOM = small.RANDOM | {"repeats": 5}
LATEST = {"name": "mine", "use": "plugged:LatestFirst"}
DROP = {"seen_items": "drop"}


def lists(folder: Path, *models: Any, repeat: int = 0, **sections: Any) -> list[list[int]]:
    """Return the last model's lists, of positions of candidates, for every evaluated user."""
    small.write(folder, {"plugged.py": LATEST_FIRST + BROKEN})
    settings, items = small.config(folder, models=models, **sections), []
    task, names = make_task(settings), [model["name"] for model in models]
    made = Factories(settings).make(names, repeat)
    for name in names:
        model = answers.fitted(name, made[name], task)
        items = answers.recommend(name, model, task, repeat).items.tolist()
    return items


def test_a_strangers_model_obeys_exclude(tmp_path: Path) -> None:
    """Without, all get d and b; ann had a and b, bob b and c, cid d.

    What another model did to it before is no matter.
    """
    assert lists(tmp_path, LATEST) == [[3, 1]] * 3
    log = LOG.replace("ann,b,2020-01-08", "ann,c,2020-01-08")
    spoils = {"name": "spoils", "use": "plugged:Spoils"}
    assert lists(tmp_path, spoils, LATEST, log=log, evaluation=DROP) == [[3, 2], [3, 0], [1, 2]]


@pytest.mark.parametrize("name", MESSAGES)
def test_a_broken_model_is_named_with_the_first_bad_user(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecommenderError, match=MESSAGES[name]):
        lists(tmp_path, {"name": "mine", "use": f"plugged:{name}"}, evaluation=DROP)


def test_a_model_may_reuse_its_answer_for_the_next_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "BATCH_CELLS", 1)  # one user a call
    model = {"name": "mine", "use": "plugged:Reuses"}
    assert lists(tmp_path, model, evaluation={"k": 1, "metrics": ["MAP@1"]}) == [[1], [3], [0]]


@pytest.mark.parametrize("rules", [{}, DROP])
def test_batches_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: dict[str, Any]
) -> None:
    whole = lists(tmp_path, RANDOM, repeat=2, evaluation=rules)
    monkeypatch.setattr(answers, "BATCH_CELLS", 1)
    assert lists(tmp_path, RANDOM, repeat=2, evaluation=rules) == whole


def test_a_user_draws_the_same_whoever_else_there_is(tmp_path: Path) -> None:
    alone = [lists(tmp_path, RANDOM, repeat=repeat) for repeat in range(5)]
    crowd = LOG + "aaa,a,2020-01-01\nbea,b,2020-01-01\n"
    assert [lists(tmp_path, RANDOM, repeat=repeat, log=crowd) for repeat in range(5)] == alone
    assert len(set(map(str, alone))) > 1


def test_metrics_are_asked_for_once_and_within_k(tmp_path: Path) -> None:
    twice = small.config(tmp_path, evaluation={"metrics": ["MAP@2", "MAP(divisor=kaggle)@2"]})
    assert list(map(str, asked(twice))) == ["MAP@2"]
    with refusal(UsageError, "[evaluation] metrics: MAP@3 looks at 3 positions", "k = 3"):
        small.config(tmp_path, evaluation={"metrics": ["MAP@2", "MAP@3"]})
