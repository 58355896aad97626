"""What most tests of runs and commands begin with: a small log, and a config on it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from harness import config as config_
from harness.config import Config
from harness.core.exact_sum import of_parts
from harness.core.progress import Observer
from harness.data import buckets as buckets_
from harness.data.buckets import prepared
from harness.data.datasets import DATASETS
from harness.evaluation import memory
from harness.evaluation.rescore import task_of
from harness.metrics import Metric
from harness.results.run import Run, read
from harness.scoring.submissions import SubmittedLists
from harness.spark.run import evaluate_parts

LOG = """user,item,time
ann,a,2020-01-01
ann,b,2020-01-02
bob,b,2020-01-03
bob,c,2020-01-03
cid,d,2020-01-04
ann,b,2020-01-08
bob,d,2020-01-08
cid,a,2020-01-08
"""
"""The last day is held out: ann b, bob d, cid a. b is the most popular before, then a, c, d."""
TO_TUNE = """user,item,time
ann,a,2020-01-01
ann,a,2020-01-02
bob,a,2020-01-02
bob,b,2020-01-06
cid,b,2020-01-07
ann,b,2020-01-08
bob,b,2020-01-08
cid,a,2020-01-09
bob,a,2020-01-09
"""
"""On the 8th, held out within, both want b, which only the last two days have most of."""
TWO_WEEKS = """user,item,time
ann,a,2020-01-01
bob,a,2020-01-01
cid,b,2020-01-01
ann,a,2020-01-02
bob,b,2020-01-02
ann,b,2020-01-03
cid,b,2020-01-03
"""
"""On the 2nd ann has a and bob b; on the 3rd ann and cid have b. Before both days, a leads."""
Model = dict[str, Any]
POPULAR = {"name": "popular", "use": "baselines.popular:Popular"}
RANDOM = {"name": "random", "use": "baselines.random_items:RandomItems"}

LATEST_FIRST = """
import harness

class LatestFirst:
    def fit(self, train):
        self.latest_ = train.candidates_by_last_event()
        return self

    def recommend(self, users, k, draws, exclude=None):
        return harness.top_k(self.latest_, users, k, exclude)
"""
"""The model of the README."""
FAILS = """
class Raises:
    def fit(self, train):
        raise ZeroDivisionError("too few stars")

    def recommend(self, users, k, draws, exclude=None):
        return []
"""

MANY = "user,item,time,event,stars,share\n" + "".join(
    f"user{user},{item},2020-01-{day:02},{'sale' if user % 3 else 'view'},"
    f"{user * day % 6},{user * day % 6 / 5}\n"
    for user in range(40)
    for day, item in ((1, "abcde"[user % 5]), (2 + user % 6, "abcd"[user % 4]), (8, "a"))
    if (user + day) % 3 or day == 8
)
"""Users who differ in when they began and what they had; all are there on the last day, the 8th."""
LATER = "user,item,time,event,stars,share\n" + "".join(
    f"user{user},{item},2020-01-{day:02},sale,5,1\n"
    for user in range(40)
    for day, item in ((8, "ab"[user % 2]), (9, "c"))
)
"""For a given split of `MANY`, which has a of the 8th, 20 of these 80 events, too."""
ALIKE = LATER.replace("user3,", "user3\u200b,").replace("user1", "USER1")
"""The same with 12 users who are new there, and look like others."""
MODELS: list[dict[str, Any]] = [
    POPULAR,
    {**RANDOM, "repeats": 3},
    {"name": "trending", "use": "baselines.trending:Trending"},
    {"name": "repurchase", "use": "baselines.repurchase:Repurchase"},
    {"name": "gaps", "use": "baselines.repurchase_gaps:RepurchaseGaps"},
    {"name": "after", "use": "baselines.co_visitation:CoVisitation"},
    POPULAR | {"name": "fading", "params": {"half_life_days": 1.5}},
    {"name": "both", "use": "baselines.blend:Blend", "of": ["popular", "after"]},
    {"name": "new", "use": "baselines.filter:Filter", "of": ["popular"], "params": {"seen": True}},
]
"""Of every kind that learns from sums over users."""


CONFIGS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "seen items dropped": {"evaluation": {"seen_items": "drop", "k": 3}},
    "candidates of train": {"evaluation": {"candidates": "train", "truth": "candidates"}},
    "everyone": {"evaluation": {"users": "all", "require_hit": False}},
    "last two": {"split": {"strategy": "last_n", "n": 2, "ties": "shuffle", "seed": 3}},
    "a third": {"split": {"strategy": "fraction", "fraction": 0.34, "ties": "id"}},
    "by row": {"split": {"strategy": "last_n", "n": 1, "ties": "file"}},
    "given": {"split": {"strategy": "given", "valid": "later.csv"}},
    "users the same way": {"split": {"strategy": "given", "valid": "alike.csv"}},
    "every metric": {
        "evaluation": {
            "metrics": ["MAP@3", "NDCG@2", "MicroRecall@3", "Coverage@3", "Gini@3", "Novelty@3"],
            "k": 3,
        }
    },
    "slices": {"data": {"users": "people.csv"}, "compare": {"slices": ["town"]}},
    "types": {
        "data": {"kind": "event"},
        "evaluation": {"hits": ["sale"]},
        "more": [POPULAR | {"name": "weighted", "params": {"weights": {"view": 0.5}}}],
    },
    "grades": {
        "data": {"kind": "event", "value": "stars"},
        "evaluation": {
            "metrics": ["NDCG(gain=exponential)@3", "MAP@2", "NDCG(gain=linear,ideal=retrieved)@3"],
            "k": 3,
            "candidates": "train",
        },
        "more": [
            POPULAR | {"name": "weighted", "params": {"values": True, "weights": {"view": 0.5}}}
        ],
    },
    "probabilities": {
        "data": {"value": "share", "where": {"event": "sale"}},
        "evaluation": {"metrics": ["pFound@2"], "seen_items": "drop"},
    },
    "k-core": {
        "data": {"min_user_events": 2, "min_item_events": 9, "where": {"stars": {"min": 1}}}
    },
}
"""Sections of configs on `MANY`, by what they try."""


def values(*each: Model, models: Sequence[Model] = (), **sections: Any) -> dict[str, Any]:
    """Return a config on log.csv; keys of three sections are added to those here.

    Its models are those of a list or `each`; without any, the popular one.
    """
    config_values: dict[str, Any] = {
        "data": {"layout": "table", "path": ".", "events": "log.csv", "cache": False},
        "split": {"strategy": "time", "valid_days": 1},
        "evaluation": {"k": 2},
        "compare": {"resamples": 100},
        "models": list(models or each or [POPULAR]),
    }
    for part in ("data", "evaluation", "compare"):
        config_values[part] |= sections.pop(part, {})
    return config_values | sections


def toml(*each: Model, models: Sequence[Model] = (), **sections: Any) -> str:
    """Return the same as the text of a config."""
    return tomli_w.dumps(values(models=models or each, **sections))


def config(
    folder: Path, *each: Model, models: Sequence[Model] = (), log: str = LOG, **sections: Any
) -> Config:
    """Write the log into a folder, and return the config on it."""
    write(folder, {"log.csv": log})
    return config_of(folder, models=models or each, **sections)


def config_of(folder: Path, *each: Model, models: Sequence[Model] = (), **sections: Any) -> Config:
    return config_.parse(values(models=models or each, **sections), folder)


def many(folder: Path, **sections: Any) -> Config:
    """Write `MANY`, `LATER` and a table of users' towns; return the config of all `MODELS` on them.

    And of those in `more`.
    """
    towns = "".join(f"user{user},{'xy'[user % 2]}\n" for user in range(40))
    tables = {"people.csv": "user,town\n" + towns, "later.csv": LATER, "alike.csv": ALIKE}
    write(folder, tables)
    models = [*MODELS, *sections.pop("more", [])]
    return config(folder, models=models, log=MANY, **sections)


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write files, by name, into a folder, which is made; return the folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def films(folder: Path) -> None:
    """Make a folder, and in it files of the names and sizes of ml-100k."""
    folder.mkdir(parents=True)
    for name, size in DATASETS["ml-100k"].files.items():
        (folder / name).touch()
        os.truncate(folder / name, size)


def put(document: Any, path: str, value: Any) -> Any:
    """Set a part of a JSON document, by its keys and numbers in a row; return the document."""
    part = document
    *way, last = (int(key) if key.isdigit() else key for key in path.split())
    for key in way:
        part = part[key]
    part[last] = value
    return document


def timeless(value: Any, *without: str) -> Any:
    def copied(part: Any) -> Any:
        if isinstance(part, dict):
            return {k: copied(v) for k, v in part.items() if k not in ("seconds", *without)}
        return [copied(v) for v in part] if isinstance(part, list | tuple) else part

    return copied(value)


class Listed(list[Any]):
    def total(self, step: Any) -> Any:
        return of_parts(lambda: self)(step)

    def kept(self, make: Any, opened: Any) -> "Listed":
        return Listed(opened(n, make(part)) for n, part in enumerate(self))


def in_parts(settings: Config, count: int = 3) -> tuple[Run, Any]:
    """Return the run of so many parts of users that nobody puts together, and these parts."""
    with in_buckets(count), prepared(settings.layout(), kept=False) as buckets:
        return evaluate_parts(settings, Listed(buckets.datasets()), buckets.shared, Observer())


@contextmanager
def in_buckets(count: int = 3) -> Iterator[None]:
    """Let every log within seem larger than memory, and have so many buckets of users."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buckets_, "bucket_count", lambda events: count)
        patch.setattr(memory, "needed", lambda layout: 10**15)
        yield


def lists_of(
    folder: Path, model: str, repeat: int = 0, metrics: tuple[Metric, ...] = ()
) -> SubmittedLists:
    """Return the lists of a run's model; a run that has none written down gives them again."""
    evaluated = task_of(read(folder))
    lists = evaluated.lists(model, repeat, again=True)
    return evaluated.submitted(model, lists, metrics)
