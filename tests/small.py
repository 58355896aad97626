"""What most tests of runs and commands begin with: a small log, and a config on it."""

from pathlib import Path
from typing import Any

import tomli_w

from harness import config as config_
from harness.config import Config

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


def values(*models: dict[str, Any], **sections: Any) -> dict[str, Any]:
    """Return a config of `models` on log.csv; keys of [data] and [evaluation] are added."""
    own: dict[str, Any] = {
        "data": {"layout": "table", "path": ".", "events": "log.csv", "cache": False},
        "split": {"strategy": "time", "valid_days": 1},
        "evaluation": {"k": 2},
        "models": list(models or (POPULAR,)),
    }
    for part in ("data", "evaluation"):
        own[part] |= sections.pop(part, {})
    return own | sections


def toml(*models: dict[str, Any], **sections: Any) -> str:
    """Return the same as the text of a config."""
    return tomli_w.dumps(values(*models, **sections))


def config(folder: Path, *models: dict[str, Any], log: str = LOG, **sections: Any) -> Config:
    """Write the log into a folder, and return the config on it."""
    write(folder, {"log.csv": log})
    return config_.parse(values(*models, **sections), folder)


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files, by name, into a folder, which is made."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
