"""Whole runs on four items: a stranger's model, broken models, metrics, repeats, batches."""

import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small
from small import LATEST_FIRST, LOG, POPULAR, RANDOM

from harness.config import Config
from harness.core.errors import RecommenderError, UsageError
from harness.experiment import answers
from harness.experiment.result import Result
from harness.experiment.run import run

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

class Repeats(Model):
    def spoil(self, answer, names):
        answer[names.index("cid")] = 3
        return answer

class Raises(Model):
    def spoil(self, answer, names):
        if "bob" in names:
            raise KeyError("no bob")
        return answer

class RaisesInFit(Model):
    def fit(self, train):
        raise ZeroDivisionError("too few stars")

class LeavesInFit(Model):
    def fit(self, train):
        sys.exit(0)

class LeavesInRecommend(Model):
    def spoil(self, answer, names):
        sys.exit(0)

class ForgetsSelf(Model):
    def fit(self, train):
        pass
"""

MESSAGES = {
    "Repeats": r'model "mine", user cid, rank 2: found 3; the item stands twice.*1 of 3 users',
    "Raises": r'model "mine" raised in recommend, first for user bob: KeyError: .no bob',
    "RaisesInFit": r'model "mine" raised in fit: ZeroDivisionError: too few stars',
    "LeavesInFit": r'model "mine" raised in fit: SystemExit',
    "LeavesInRecommend": r'model "mine" raised in recommend, first for user ann: SystemExit',
    "ForgetsSelf": r'model "mine": fit returned None; expected self',
}


def config(folder: Path, *models: dict[str, Any], **evaluation: object) -> Config:
    return small.config(folder, *models, evaluation=evaluation)


def plug_in(folder: Path, source: str, name: str, **evaluation: object) -> Config:
    (folder / "plugged.py").write_text(source)
    return config(folder, {"name": "mine", "use": f"plugged:{name}"}, **evaluation)


def values(result: Result, metric: str, model: int = 0) -> list[list[float]]:
    table = result.models[model].scores.values
    return next(v.tolist() for m, v in table.items() if str(m) == metric)


def test_popular_by_hand(tmp_path: Path) -> None:
    result = run(config(tmp_path))  # b, twice bought, then a
    assert result.evaluation_set.user_ids.to_list() == ["ann", "bob", "cid"]
    assert values(result, "MAP@2") == [[1, 0, 1 / 2]]
    assert values(result, "Recall@2") == [[1, 0, 1]]
    assert {m: f.mean for m, f in result.models[0].metrics.items()} == pytest.approx(
        {"MAP@2": 1 / 2, "Recall@2": 2 / 3, "NDCG@2": (1 + 1 / np.log2(3)) / 3}, abs=1e-15
    )
    assert result.models[0].metrics["MAP@2"].sd_repeats is None
    # one truth item among four candidates: 1/4 · 1 + 1/4 · 1/2
    assert result.chance["MAP@2"].mean == pytest.approx(3 / 8, abs=1e-15)


def test_a_strangers_model_runs_beside_ours(tmp_path: Path) -> None:
    result = run(plug_in(tmp_path, LATEST_FIRST, "LatestFirst"))  # d, then b
    assert result.models[0].name == "mine"
    assert values(result, "MAP@2") == [[1 / 2, 1, 0]]


def test_a_strangers_model_obeys_exclude(tmp_path: Path) -> None:
    log = LOG.replace("ann,b,2020-01-08", "ann,c,2020-01-08")
    settings = plug_in(tmp_path, LATEST_FIRST, "LatestFirst", seen_items="drop")
    (tmp_path / "log.csv").write_text(log)
    result = run(settings)  # ann: d, c; bob: d, a; cid: b, c
    assert values(result, "MAP@2") == [[1 / 2, 1, 0]]


@pytest.mark.parametrize("name", MESSAGES)
def test_a_broken_model_is_named_with_the_first_bad_user(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecommenderError, match=MESSAGES[name]):
        run(plug_in(tmp_path, BROKEN, name))


def test_a_model_that_lists_seen_items_is_named(tmp_path: Path) -> None:
    source = (
        BROKEN + "class Seen(Model):\n    def spoil(self, answer, names):\n        return answer"
    )
    settings = plug_in(tmp_path, source, "Seen", seen_items="drop")
    with pytest.raises(RecommenderError, match=r'"mine", user bob, rank 2: found 1; .*excluded'):
        run(settings)  # ann's b was seen, so bob is the first who is evaluated; he has b and c


def test_a_model_cannot_write_into_the_users_asked_for(tmp_path: Path) -> None:
    source = LATEST_FIRST.replace("return harness.top_k", "users[:] = 0; return harness.top_k")
    with pytest.raises(RecommenderError, match=r"raised in recommend.*ValueError: .*read-only"):
        run(plug_in(tmp_path, source, "LatestFirst"))


CHANGES = """
import numpy as np

class Changes:
    def fit(self, train):
        matrix = train.matrix
        matrix.data = np.zeros_like(matrix.data)
        train.frame[0, "item"] = "dee"
        train.user_ids[0] = "dee"
        return self

    def recommend(self, users, k, draws, exclude=None):
        exclude.indices[:] = 0
        exclude.data[:] = False
        return np.full((len(users), k), -1)
"""


def test_what_a_model_changes_the_next_one_does_not_see(tmp_path: Path) -> None:
    """Ann is given d, bob d and cid b, as in the test of `exclude` above; cosines as well."""
    mine = {"name": "mine", "use": "plugged:LatestFirst"}
    cosine = {"name": "cosine", "use": "baselines.item_knn:ItemKNN", "params": {"counts": True}}
    changes = {"name": "changes", "use": "plugged:Changes"}
    log = LOG.replace("ann,b,2020-01-08", "ann,c,2020-01-08")
    small.write(tmp_path, {"plugged.py": CHANGES + LATEST_FIRST})
    given: dict[str, Any] = {"log": log, "evaluation": {"seen_items": "drop"}}
    before = run(small.config(tmp_path, mine, cosine, **given))
    after = run(small.config(tmp_path, changes, mine, cosine, **given))
    assert after.failed == ()
    assert [model.name for model in after.models] == ["mine", "cosine", "changes"]
    assert values(before, "MAP@2") == values(after, "MAP@2") == [[1 / 2, 1, 0]]
    assert values(before, "MAP@2", 1) == values(after, "MAP@2", 1)


def test_a_model_may_reuse_its_answer_for_the_next_batch_and_repeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
import numpy as np

class Reuses:
    def fit(self, train):
        self.right = np.array([1, 3, 0], np.int32)  # b for ann, d for bob, a for cid
        self.answer = np.zeros((1, 1), np.int32)
        return self

    def recommend(self, users, k, draws, exclude=None):
        self.answer[:] = 0 if draws.repeat else self.right[users]
        return self.answer
"""
    (tmp_path / "plugged.py").write_text(source)
    monkeypatch.setattr(answers, "BATCH_CELLS", 1)  # one user a call
    model = {"name": "mine", "use": "plugged:Reuses", "repeats": 2}
    settings = config(tmp_path, model, k=1, metrics=["MAP@1"])
    assert values(run(settings), "MAP@1") == [[1, 1, 1], [0, 0, 1]]


@pytest.mark.parametrize("metric", ["MAP@3", "Recall@3"])
def test_a_cut_off_above_k_is_refused(tmp_path: Path, metric: str) -> None:
    with pytest.raises(UsageError, match=rf"\[evaluation\] metrics: {metric} .*k = 2; set .*k = 3"):
        run(config(tmp_path, metrics=["MAP@2", metric]))


def test_a_wrong_metric_is_refused_with_the_config(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r'unknown metric "MAPP".*"MAP"'):
        config(tmp_path, metrics=["MAPP@2"])


def test_a_wrong_model_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    settings = config(tmp_path, {"name": "mine", "use": "baselines.popular:Popula"})
    (tmp_path / "log.csv").unlink()
    with pytest.raises(UsageError, match=r'model "mine".*"Popula"; did you mean "Popular"'):
        run(settings)


def test_metrics_without_exact_chance_run(tmp_path: Path) -> None:
    result = run(config(tmp_path, metrics=["MAP(divisor=hits)@2"]))
    assert values(result, "MAP(divisor=hits)@2") == [[1, 0, 1 / 2]]
    assert result.chance == {}
    assert result.models[0].vs_random is None
    assert result.to_dict()["models"][0]["vs_random"] is None


def test_the_verdict_is_on_the_first_metric_or_on_none(tmp_path: Path) -> None:
    result = run(config(tmp_path, metrics=["MAP(divisor=hits)@2", "Recall@2", "MAP@2"]))
    assert list(result.chance) == ["Recall@2", "MAP@2"]
    assert result.models[0].vs_random is None
    assert result.notes == ("no exact chance value is known for MAP(divisor=hits)@2",)
    result = run(config(tmp_path, metrics=["Recall@2", "MAP(divisor=hits)@2"]))
    verdict = result.models[0].vs_random
    assert verdict is not None
    assert verdict.lift == pytest.approx((2 / 3) / (1 / 2), abs=1e-15)


def test_a_metric_asked_for_twice_is_scored_once(tmp_path: Path) -> None:
    result = run(config(tmp_path, metrics=["MAP@2", "MAP(divisor=kaggle)@2"]))
    assert list(result.models[0].metrics) == ["MAP@2"]


def test_repeats(tmp_path: Path) -> None:
    result = run(config(tmp_path, RANDOM | {"repeats": 5}, metrics=["MAP@2"]))
    rows = values(result, "MAP@2")
    means = [statistics.fmean(row) for row in rows]
    figure = result.models[0].metrics["MAP@2"]
    assert len(rows) == 5
    assert len({tuple(row) for row in rows}) > 1
    assert figure.mean == pytest.approx(statistics.fmean(means), abs=1e-15)
    assert figure.sd_repeats == pytest.approx(statistics.stdev(means), abs=1e-15)


def test_the_best_model_stands_first_and_equals_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "plugged.py").write_text(LATEST_FIRST)
    last_day = POPULAR | {"name": "last day", "params": {"window_days": 4}}  # d alone: bob's
    models = [last_day, POPULAR, {"name": "mine", "use": "plugged:LatestFirst"}]
    found = run(config(tmp_path, *models))
    user_scores = {m.name: m.metrics["MAP@2"].mean for m in found.models}
    assert user_scores == pytest.approx({"popular": 1 / 2, "mine": 1 / 2, "last day": 1 / 3})
    assert [m.name for m in found.models] == ["popular", "mine", "last day"]


@pytest.mark.parametrize("seen_items", ["keep", "drop"])
def test_batches_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen_items: str
) -> None:
    settings = config(tmp_path, RANDOM | {"repeats": 3}, POPULAR, seen_items=seen_items)
    whole = run(settings)
    monkeypatch.setattr(answers, "BATCH_CELLS", 1)  # one user a call
    parts = run(settings)
    for model in range(2):
        for metric in ("MAP@2", "Recall@2", "NDCG@2"):
            assert values(whole, metric, model) == values(parts, metric, model)


def test_a_user_draws_the_same_whoever_else_there_is(tmp_path: Path) -> None:
    settings = config(tmp_path, RANDOM | {"repeats": 5})
    alone = run(settings)
    (tmp_path / "log.csv").write_text(LOG + "aaa,a,2020-01-01\nbea,b,2020-01-01\n")
    crowded = run(settings)
    assert values(crowded, "MAP@2") == values(alone, "MAP@2")


def test_events_of_another_window_are_noted(tmp_path: Path) -> None:
    split = {"strategy": "time", "valid_days": 1, "test_days": 4}
    everyone = {"require_hit": False, "users": "all"}
    result = run(small.config(tmp_path, split=split, evaluation=everyone))
    assert result.notes == ("3 events lie in another window and are left out",)


def test_a_quick_run_says_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(config(tmp_path), progress=True)
    assert capfd.readouterr() == ("", "")


def test_times_of_every_step(tmp_path: Path) -> None:
    result = run(config(tmp_path))
    assert list(result.seconds) == ["read", "evaluation set", "users", "compare"]
    assert list(result.models[0].seconds) == ["fit", "recommend", "score"]
    assert min(result.seconds.values()) >= 0


def test_a_path_is_a_config(tmp_path: Path) -> None:
    small.write(tmp_path, {"log.csv": LOG, "shop.toml": small.toml()})
    for path in (tmp_path / "shop.toml", str(tmp_path / "shop.toml")):
        assert values(run(path), "MAP@2") == [[1, 0, 1 / 2]]
