"""Engine × config: buckets, parts, folds and frames have the results of files in memory."""

import re
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from small import CONFIGS, MODELS, timeless

import harness
from harness import config as config_
from harness.config import Config
from harness.data.synthetic import synthesise
from harness.evaluation.run import run
from harness.results.folder import PER_USER, RECOMMENDATIONS
from harness.results.run import Run
from harness.spark.run import rows_of

SINGLE = CONFIGS | {
    "leaderboards": {"compare": {"public_shares": [0.4], "resamples": 130}},
    "catalogue": {"data": {"items": "things.csv"}, "evaluation": {"candidates": "catalogue"}},
}
"""Configs of one evaluation set, of every kind."""
FOLDS = {"split": {"strategy": "time", "valid_days": 2, "folds": 3}}
COUNTS = dict(zip(SINGLE, [1, 64, *[2, 7] * len(SINGLE)], strict=False))
"""How many buckets or parts: each config has one number, and each number several configs."""


def many(folder: Path, name: str, **sections: Any) -> Config:
    small.write(folder, {"things.csv": "item,name\na,x\nb,y\ne,z\n"})
    return small.many(folder, **{**SINGLE[name], **sections})


def texts(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of a run with ids as text, in order."""
    kinds = {"user": pl.String, "items": pl.List(pl.String)}
    known = {name: kind for name, kind in kinds.items() if name in rows.columns}
    return rows.cast(known).sort("user", "model", "repeat")


def everything(result: Any) -> dict[str, Any]:
    rows = {name: texts(result.table(name)).to_dicts() for name in (PER_USER, RECOMMENDATIONS)}
    return {**timeless(result.to_dict()), **rows}


def test_folds_in_buckets(tmp_path: Path) -> None:
    settings = small.many(tmp_path, **FOLDS)
    whole = everything(run(settings))
    with small.in_buckets(3):
        assert everything(run(settings)) == whole


@dataclass(frozen=True)
class OfFiles:
    """The run of a config on files in memory, which each engine's is compared with."""

    name: str
    folder: Path
    settings: Config
    run: Run


@pytest.fixture(scope="module", params=SINGLE)
def of_files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> OfFiles:
    folder = tmp_path_factory.mktemp("of_files")
    settings = many(folder, request.param)
    return OfFiles(name=request.param, folder=folder, settings=settings, run=run(settings))


def test_buckets_and_parts(of_files: OfFiles) -> None:
    """Of parts scores and lists too, which whoever has the parts writes part by part."""
    name, settings, whole = of_files.name, of_files.settings, of_files.run
    with small.in_buckets(COUNTS[name]):
        buckets = run(settings)
    assert everything(buckets) == everything(whole)
    assert buckets.users.equals(whole.users)
    apart, parts = small.in_parts(settings, COUNTS[name])
    assert timeless(apart.to_dict()) == timeless(whole.to_dict())
    names = [model.name for model in settings.models]
    scores, lists = (
        pl.concat([rows_of(names, name, part) for part in parts])
        for name in (PER_USER, RECOMMENDATIONS)
    )
    assert texts(scores).equals(texts(whole.table(PER_USER)))
    assert texts(lists).equals(texts(whole.table(RECOMMENDATIONS)))


def test_the_log_of_parts_says_what_each_step_took(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "harness")
    small.in_parts(small.config(tmp_path), 7)
    steps = [re.sub(r", \d+\.\d s$", "", line) for line in caplog.messages]
    assert steps == ["fit 1 model", "evaluated all parts", "compared 0 pairs"]


ODD = """
import itertools
import numpy as np
from harness.models.bases import OneOrder
from harness.models.sums import FromSums

class Plain(OneOrder, FromSums):
    def fit_steps(self, train):
        yield lambda part: {"events": np.array([len(part.events)])}
        self.order_ = np.arange(len(train.candidates), dtype=np.int32)

    def for_users(self, train):
        self.ids_, self.known_ = train.user_ids, np.diff(train.user_starts) > 0
        return self

class Empty(Plain):
    def recommend(self, users, k, draws, exclude=None):
        return np.full((len(users), k), -1, np.int32)

class Restless(Plain):
    calls = itertools.count()

    def recommend(self, users, k, draws, exclude=None):
        turned = np.roll(self.order_, next(self.calls))[:k]
        return np.tile(turned, (len(users), 1))

class OnceOnly(Plain):
    def recommend(self, users, k, draws, exclude=None):
        if self.known_[users].all():
            ids = set(self.ids_.gather(users))
            if ids & getattr(OnceOnly, "asked", set()):
                raise RuntimeError("asked before")
            OnceOnly.asked = getattr(OnceOnly, "asked", set()) | ids
        return super().recommend(users, k, draws, exclude)

class Strict(Plain):
    def recommend(self, users, k, draws, exclude=None):
        for user in users[~self.known_[users]]:
            if self.ids_[int(user)] in ("user11", "user2", "user23"):
                raise KeyError(self.ids_[int(user)])
        return super().recommend(users, k, draws, exclude)

class FailsForOne(Plain):
    def recommend(self, users, k, draws, exclude=None):
        if "user7" in self.ids_.gather(users):
            raise KeyError("user7")
        return super().recommend(users, k, draws, exclude)

class Fails(Plain):
    def recommend(self, users, k, draws, exclude=None):
        raise ZeroDivisionError
"""
BOTH = ("buckets", "parts")


def odd(kind: str, **keys: Any) -> dict[str, Any]:
    return {"more": [{"name": kind, "use": f"odd:{kind}"} | keys]}


def by(engine: str, settings: Config) -> Any:
    """Return what a run finds in three buckets, or in three parts."""
    if engine == "parts":
        return small.in_parts(settings, 3)[0]
    with small.in_buckets(3):
        return run(settings)


@pytest.mark.parametrize("engine", BOTH)
def test_a_model_that_fails_in_one_part_has_no_scores(tmp_path: Path, engine: str) -> None:
    """That of user7; the others are evaluated as without it."""
    small.write(tmp_path, {"odd.py": ODD})
    result = by(engine, small.many(tmp_path, **odd("FailsForOne")))
    (failed,) = result.failed
    assert failed.name == "FailsForOne"
    assert "KeyError: 'user7'" in failed.error
    without = run(small.many(tmp_path))
    assert timeless(result.to_dict(), "failed") == timeless(without.to_dict(), "failed")


NOTED: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    # What is noted, the sections of a config by which it is, and the engines that have such runs.
    'left out (kept: event = ["sale"])': ({"data": {"where": {"event": "sale"}}}, BOTH),
    "k-core: ": ({"data": {"min_user_events": 2, "min_item_events": 9}}, BOTH),
    "event types: ": ({"data": {"kind": "event"}}, BOTH),
    "cut between events of equal time": ({"split": {"strategy": "last_n", "n": 1}}, BOTH),
    "are training events too": ({"split": {"strategy": "given", "valid": "later.csv"}}, BOTH),
    "lie in another window": (
        {"split": {"strategy": "time", "valid_days": 1, "test_days": 2}}, BOTH),
    "k = 99 is more than": ({"evaluation": {"k": 99}}, BOTH),
    "no exact chance value": ({"evaluation": {"metrics": ["MAP(divisor=hits)@2"]}}, BOTH),
    "no estimate over the sample": ({"submission": {"sample": "gone.csv"}}, BOTH),
    '"Plain": its 3 repeats are equal': (odd("Plain", repeats=3), BOTH),
    '"Restless": its repeats differ': (odd("Restless", repeats=2), BOTH),
    '"Restless": on a second call, it gives other lists': (odd("Restless"), BOTH),
    '"OnceOnly": on a second call, it fails': (odd("OnceOnly"), BOTH),
    '"Empty": 27 of its 27 lists are empty': (odd("Empty"), BOTH),
    '"Strict" has no lists for the 13 users': (odd("Strict"), BOTH),
    "1 position has an item that is not a candidate": (
        {"more": [{"name": "mine", "lists": "mine.csv"}]}, ("buckets",)),
    'the baseline "Fails" failed': (
        odd("Fails") | {"compare": {"baseline": "Fails"}}, ("buckets",)),
}  # fmt: skip


@pytest.mark.parametrize("noted", NOTED)
def test_notes_are_of_all_users(tmp_path: Path, noted: str) -> None:
    """Whatever holds the users, each is said once, of all of them, with the same words."""
    lists = "user,items\n" + "".join(f"user{n},{'z d' if n == 9 else 'b a'}\n" for n in range(40))
    small.write(tmp_path, {"odd.py": ODD, "mine.csv": lists, "later.csv": small.LATER})
    sections, engines = deepcopy(NOTED[noted])
    models = [*MODELS[:2], *sections.pop("more", [])]
    settings = small.config(tmp_path, models=models, log=small.MANY, **sections)
    notes = run(settings).notes
    assert sum(noted in note for note in notes) == 1, notes
    for engine in engines:
        assert by(engine, settings).notes == notes, engine


@pytest.mark.parametrize("engine", BOTH)
def test_a_model_that_refuses_one_newcomer_has_no_list_for_any(tmp_path: Path, engine: str) -> None:
    """Newcomers in parts without such a user count as 0 all the same."""
    small.write(tmp_path, {"odd.py": ODD})
    plain = {"name": "Plain", "use": "odd:Plain"}
    settings = small.many(tmp_path, more=[odd("Strict")["more"][0], plain])
    whole, bridge = (result.record.bridge for result in (run(settings), by(engine, settings)))
    assert bridge == whole
    assert whole.models["Strict"].window < whole.models["Plain"].window


@pytest.mark.parametrize("name", ["as it is", "every metric", "grades", "k-core", "types"])
def test_each_fold_is_a_run_of_its_own(tmp_path: Path, name: str) -> None:
    settings = many(tmp_path, name, **FOLDS)
    result = run(settings)
    for fold, alone in zip(result.folds, settings.folds(), strict=True):
        assert everything(fold) == everything(run(alone))


def test_frames(of_files: OfFiles) -> None:
    """Of pandas for every other config; only what names lists and files is not the same."""
    name = of_files.name
    asked = deepcopy(SINGLE[name])
    sections = small.values(models=[*MODELS, *asked.pop("more", [])], **asked)
    in_pandas = COUNTS[name] == 7
    tables = ("data", "events"), ("data", "users"), ("data", "items"), ("split", "valid")
    for section, key in tables:
        if key in sections[section]:
            path = of_files.folder / sections[section][key]
            frame = pl.read_csv(path, infer_schema=in_pandas)
            sections[section][key] = frame.to_pandas() if in_pandas else frame
    differ = dict.fromkeys(("config", "notes"))
    assert everything(harness.run(sections)) | differ == everything(of_files.run) | differ


def test_who_registered_after_a_bucket_began_is_known_by_the_cut_off_of_all(tmp_path: Path) -> None:
    """A split per user has the latest cut-off of all buckets, which most of them do not know."""
    synthesise("ponpare", tmp_path / "data", users=60, items=30, events=400, seed=1)
    table = tmp_path / "data" / "user_list.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    late = [re.sub("^[0-9-]{10}", "2012-06-15", line) for line in lines[1:]]
    table.write_text("\n".join([lines[0], *late, ""]), encoding="utf-8")
    values = small.values(*MODELS[:4], split={"strategy": "last_n", "n": 1, "ties": "id"})
    values["data"] = {"layout": "ponpare", "path": "data", "cache": False}
    values["evaluation"] = {"candidates": "train", "k": 3}
    settings = config_.parse(values, tmp_path)
    whole = everything(run(settings))
    with small.in_buckets(16):
        assert everything(run(settings)) == whole
