"""Engine × config: buckets, parts, folds and frames have the results of files in memory."""

import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from small import CONFIGS, MODELS, timeless

import harness
from harness import config as config_
from harness.config import Config
from harness.core.exact_sum import Sums
from harness.core.progress import Clock
from harness.core.steps import of_parts
from harness.data.buckets import prepared
from harness.data.synthetic import synthesise
from harness.experiment.evaluate_parts import InParts, listed
from harness.experiment.folds import FoldedResult
from harness.experiment.per_user import scores_by_row
from harness.experiment.run import run

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


def everything(found: Any) -> dict[str, Any]:
    """Return all that a run writes but its seconds."""
    rows = {"scores": found.score_rows(), "lists": found.list_rows()}
    record: dict[str, Any] = timeless(found.to_dict())
    return record | {name: texts(one).to_dict(as_series=False) for name, one in rows.items()}


def test_folds_in_buckets(tmp_path: Path) -> None:
    settings = small.many(tmp_path, **FOLDS)
    whole = everything(run(settings))
    with small.in_buckets(3):
        assert everything(run(settings)) == whole


class Listed(list[Any]):
    """Parts in a list."""

    def total(self, step: Callable[[Any], Sums]) -> Sums:
        return of_parts(lambda: self)(step)

    def kept(self, make: Callable[[Any], Any], opened: Callable[[int, Any], Any]) -> "Listed":
        return Listed([opened(at, make(part)) for at, part in enumerate(self)])


def in_parts(settings: Config, count: int) -> InParts:
    with small.in_buckets(count), prepared(settings.layout(), kept=False) as buckets:
        return InParts(settings, Listed(buckets.datasets()), buckets.empty(), Clock())


@pytest.mark.parametrize("name", SINGLE)
def test_buckets_and_parts(tmp_path: Path, name: str) -> None:
    """Of parts scores and lists too, which whoever has the parts writes part by part."""
    settings = many(tmp_path, name)
    whole = run(settings)
    with small.in_buckets(COUNTS[name]):
        buckets = run(settings)
    assert everything(buckets) == everything(whole)
    assert buckets.users.equals(whole.users)
    found = in_parts(settings, COUNTS[name])
    assert timeless(found.findings.to_dict()) == timeless(whole.to_dict())
    parts: Any = found.evaluated
    scores = pl.concat([scores_by_row(one.profile["user"], one.tables) for one in parts])
    lists = pl.concat([listed(settings, found.candidate_ids, one) for one in parts])
    assert texts(scores).equals(texts(whole.score_rows()))
    assert texts(lists).equals(texts(whole.list_rows()))


def test_the_log_of_parts_says_what_each_step_took(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "harness")
    in_parts(small.config(tmp_path), 7)
    steps = [re.sub(r", \d+\.\d s$", "", line) for line in caplog.messages]
    asked = ["evaluation set: 4 candidates", "fit 1 model", "evaluated 3 users"]
    assert steps == [*asked, "compared 0 pairs"]


@pytest.mark.parametrize("name", ["as it is", "every metric", "grades", "k-core", "types"])
def test_each_fold_is_a_run_of_its_own(tmp_path: Path, name: str) -> None:
    settings = many(tmp_path, name, **FOLDS)
    found = run(settings)
    assert isinstance(found, FoldedResult)
    for fold, alone in zip(found.folds, settings.folds(), strict=True):
        assert everything(fold) == everything(run(alone))


@pytest.mark.parametrize("name", SINGLE)
def test_frames(tmp_path: Path, name: str) -> None:
    """Of pandas for every other config; only what names lists and files is not the same."""
    files = run(many(tmp_path, name))
    own = deepcopy(SINGLE[name])
    sections = small.values(*MODELS, *own.pop("more", []), **own)
    in_pandas = COUNTS[name] == 7
    tables = ("data", "events"), ("data", "users"), ("data", "items"), ("split", "valid")
    for section, key in tables:
        if key in sections[section]:
            path = tmp_path / sections[section][key]
            frame = pl.read_csv(path, infer_schema=in_pandas)
            sections[section][key] = frame.to_pandas() if in_pandas else frame
    of_frames, of_files = everything(harness.run(sections)), everything(files)
    differ = dict.fromkeys(("config", "notes"))
    assert of_frames | differ == of_files | differ


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
