"""`harness.run` in Python: frames for files, classes and objects for import paths."""

import re
import runpy
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest
import small
from conftest import ROOT, refusal
from given import DAY, EVENTS, LISTS, First
from small import LOG, timeless

import harness
from baselines.popular import Popular
from harness.core.errors import HarnessError
from harness.results.run import Run

POPULAR = "baselines.popular:Popular"


class Counting(First):
    """Counts how often it was fitted before, in itself."""

    fits = 0
    met: ClassVar[list[int]] = []

    def fit(self, train: Any) -> "Counting":
        self.met.append(self.fits)
        self.fits += 1
        super().fit(train)
        return self


COUNTED = Counting()
MODELS: dict[str, Any] = {
    "first": First,
    "last": {"use": First, "params": {"last": True}},
    "object": First(last=True),
    "lists": LISTS,
    "popular": POPULAR,
    "counting": {"use": Counting, "repeats": 2},
    "counted": COUNTED,
}


def run(events: Any = EVENTS, **sections: Any) -> Run:
    keywords: dict[str, Any] = {"split": DAY, "evaluation": {"k": 2}} | sections
    return harness.run(events=events, **{"models": {"popular": POPULAR}, **keywords})


@pytest.fixture(scope="module")
def result() -> Run:
    return run(models=MODELS)


def means(result: Run, metric: str = "MAP@2") -> dict[str, float]:
    return {model.name: model.metrics[metric].mean for model in result.models}


def test_scores_by_hand(result: Run) -> None:
    """Of a, b ann has 1/2 and cid 1; of d, c bob has 1; of b, a ann has 1 and cid 1/2."""
    by_hand = {"first": 1 / 2, "last": 1 / 3, "object": 1 / 3, "lists": 1 / 3, "popular": 1 / 2}
    assert {name: means(result)[name] for name in by_hand} == pytest.approx(by_hand, abs=1e-15)
    assert result.per_user("popular")["MAP@2"].to_dict() == {"ann": 1, "bob": 0, "cid": 0.5}
    mine = result.recommendations("first")
    assert mine["item"].to_list() == ["a", "b"] * 3
    lists = result.recommendations("lists")[["user", "item"]].to_dict("list")
    assert lists == LISTS.to_dict(as_series=False)


def test_the_object_stays_as_it_was_given(result: Run) -> None:
    """Every repeat fits a copy of what was given, which nobody has fitted before."""
    assert Counting.met == [0, 0, 0]
    assert vars(COUNTED) == {"last": False, "seed": 0}


def test_the_run_folder_is_whole_and_says_what_is_in_no_file(result: Run, here: Path) -> None:
    """As the hint says, the run can be made again of a file."""
    model = next(entry for entry in result.to_dict()["models"] if entry["name"] == "object")
    assert (model["use"], model["params"]) == ("given:First", {"last": True, "seed": 0})
    result.write("all")
    assert 'use = "given:First"' in Path("all/config.toml").read_text(encoding="utf-8")
    run().write("out")
    path = here / "out" / "config.toml"
    message = "the events frame: is a Python object, not a file"
    with refusal(HarnessError, message, 'name that file in place of "given:the events frame"'):
        harness.run(path)
    EVENTS.write_parquet("events.parquet")
    kept = path.read_text(encoding="utf-8").replace("given:the events frame", "events.parquet")
    path.write_text(kept, encoding="utf-8")
    assert means(harness.run(path)) == {"popular": 0.5}


def test_what_is_held_out_may_be_frames() -> None:
    """Ann has b, the first; in another fold, of Arrow without times, cid has d."""
    pairs = (("ann", "b"), ("cid", "d"))
    earlier, two = (pl.DataFrame({"user": [user], "item": [item]}) for user, item in pairs)
    train = EVENTS.head(5).drop("time")
    folds = [train, train.to_arrow()], [earlier, two.to_arrow()], [1.0, 0.0]
    for events, valid, expected in ((train, earlier, [1.0]), folds):
        keywords: dict[str, Any] = {"data": {"time": False}, "evaluation": {"k": 2}}
        keywords["split"] = {"strategy": "given", "valid": valid}
        result = harness.run(events=events, models={"popular": POPULAR}, **keywords)
        assert result.per_user("popular")["MAP@2"].to_list() == expected


def test_nothing_of_frames_or_objects_is_kept(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two logs of one name have their own figures; of a file an import path's answers are kept."""
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(here / "cache"))
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")
    assert [means(run(log)) for log in (EVENTS, EVENTS.head(6))] == [
        {"popular": n} for n in (0.5, 1)
    ]
    assert [path for path in (here / "cache").rglob("*") if path.is_file()] == []
    small.write(here, {"log.csv": LOG})
    for last, figure in ((False, 1 / 2), (True, 1 / 3)):
        models = {"mine": First(last), "popular": Popular, "path": POPULAR}
        result = run("log.csv", models=models)
        assert means(result)["mine"] == pytest.approx(figure)
    assert [model.name for model in result.models if model.reused] == ["path"]


def sections(events: Any, **more: Any) -> dict[str, Any]:
    """Return what is tuned, on the day before the last, by events in whatever form."""
    model = small.POPULAR | {"space": {"window_days": {"low": 1, "high": 5}}}
    values = {"data": {"events": events}, "split": DAY, "evaluation": {"k": 1}, "models": [model]}
    return values | more


def test_frames_are_tuned_as_files_are(here: Path) -> None:
    """What wins is the windows in which b leads; on the 9th, held out, both have a."""
    small.write(here, {"log.csv": small.TO_TUNE})
    frame, rules = pl.read_csv(here / "log.csv"), {"tune": {"trials": 3}}
    of_frame, of_file = (harness.tune(sections(events, **rules)) for events in (frame, "log.csv"))
    assert timeless(of_frame.to_dict()) == timeless(of_file.to_dict())
    assert of_frame.config.models[0].params["window_days"] <= 4
    assert means(harness.run(of_frame.config), "MAP@1") == {"popular": 0}
    with refusal(HarnessError, "jobs needs events in a file, but these are a frame"):
        harness.tune(sections(frame, **rules), jobs=2)


def test_frames_are_split_as_files_are(here: Path) -> None:
    small.write(here, {"log.csv": LOG})
    harness.split(sections(EVENTS), "frame")
    harness.split(sections("log.csv"), "file")
    names = sorted(path.name for path in Path("file").iterdir())
    assert sorted(path.name for path in Path("frame").iterdir()) == names
    for name in names:
        assert Path("frame", name).read_bytes() == Path("file", name).read_bytes()


def code(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)


def test_the_example_of_the_docs_runs(here: Path) -> None:
    """Its columns are those of another log, and its window is longer than ours."""
    block = code((ROOT / "docs" / "python.md").read_text(encoding="utf-8"))[0]
    log = EVENTS.rename({"user": "user_id", "item": "item_id", "time": "timestamp"})
    log.write_csv("events.csv")
    block = block.replace('"valid_days": 7', '"valid_days": 1')
    small.write(here, {"notebook.py": block})
    result = runpy.run_path("notebook.py")["result"]
    assert {model.name for model in result.models} == {"latest", "popular", "random"}
