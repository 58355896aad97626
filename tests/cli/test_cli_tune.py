"""``harness tune`` on the command line: what it prints and writes, and every refusal."""

import csv
import io
import json
import sys
import tomllib
from pathlib import Path

import pytest
import small
from conftest import Cli, is_refused
from small import POPULAR

TOML = small.toml(
    POPULAR | {"space": {"window_days": [1, 2, 7]}}, evaluation={"k": 1}, tune={"search": "grid"}
)
PLUG_IN = """
class Talks:
    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, train):
        print("epoch", self.depth)
        return self

    def recommend(self, users, k, draws, exclude=None):
        import numpy as np
        return np.zeros((len(users), k), np.int32)
"""


@pytest.fixture
def harness(here: Path, cli: Cli) -> Cli:
    """Return what runs a command where a config to tune is."""
    small.write(here, {"log.csv": small.TO_TUNE, "exam.toml": TOML, "plugged.py": PLUG_IN})
    return cli


def test_the_table_and_the_config(harness: Cli, tmp_path: Path) -> None:
    status, out, err = harness("tune", "exam.toml")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert [line.split()[:3] for line in lines[3:8]] == [
        ["rank", "window_days", "MAP@1"],
        ["1", "1", "1.0000"],
        ["2", "2", "1.0000"],
        ["3", "7", "0.0000"],
        ["untuned", "–", "0.0000"],
    ]
    assert lines[-2:] == ["written to exam-tuned.toml", "next  harness run exam-tuned.toml"]
    assert "the best window_days, 1, lies at the low end of its space" in out
    (model,) = tomllib.loads((tmp_path / "exam-tuned.toml").read_text())["models"]
    assert (model["params"], model["tuned"]["trials"]) == ({"window_days": 1}, 3)
    status, out, err = harness("run", "exam-tuned.toml", "--out", "run")
    assert (status, err) == (0, "")
    assert "tuned  on an inner split of train: popular (3 trials)" in out
    assert "popular · tuned × 3" in harness("leaderboard", "run")[1]
    assert harness("report", "run")[0] == 0
    assert "tuned on train × 3" in (tmp_path / "run" / "report.html").read_text()


def test_a_run_with_a_space_alone_says_nothing_of_it(harness: Cli, tmp_path: Path) -> None:
    status, out, _ = harness("run", "exam.toml", "--out", "run", "--format", "json")
    assert (status, json.loads(out)["models"][0]["tuned"]) == (0, None)
    assert "tuned" not in harness("leaderboard", "run")[1]
    assert harness("report", "run")[0] == 0
    assert "tuned on train" not in (tmp_path / "run" / "report.html").read_text().lower()


def test_a_run_of_an_earlier_version_is_read(harness: Cli, tmp_path: Path) -> None:
    assert harness("run", "exam.toml", "--out", "run")[0] == 0
    path = tmp_path / "run" / "result.json"
    document = json.loads(path.read_text())
    del document["models"][0]["tuned"]
    path.write_text(json.dumps(document))
    assert harness("leaderboard", "run")[0] == harness("report", "run")[0] == 0
    document["models"][0]["tuned"] = {"trials": 0}
    path.write_text(json.dumps(document))
    assert "models.0.tuned.trials" in harness("report", "run")[2]


@pytest.mark.parametrize("format_", ["json", "csv", "markdown"])
def test_other_formats_have_standard_output_for_themselves(harness: Cli, format_: str) -> None:
    status, out, err = harness("tune", "exam.toml", "--format", format_)
    assert (status, err.strip().split(maxsplit=1)[0]) == (0, "written")
    match format_:
        case "json":
            assert len(json.loads(out)["models"][0]["results"]) == 4
        case "csv":
            rows = list(csv.DictReader(io.StringIO(out)))
            assert [row["params.window_days"] for row in rows] == ["", "1", "2", "7"]
        case _:
            assert out.count("| untuned |") == 1


def test_options_go_before_the_config(harness: Cli, tmp_path: Path) -> None:
    options = ("--search", "random", "--trials", "2", "--set", "tune.seed=5", "--out", "o/x.toml")
    status, out, _ = harness("tune", "exam.toml", *options)
    assert (status, "random search" in out, "seed 5" in out) == (0, True, True)
    values = tomllib.loads((tmp_path / "o" / "x.toml").read_text())
    assert values["tune"] == {"search": "random", "trials": 2, "seed": 5}
    assert harness("run", "o/x.toml", "--out", "run")[0] == 0


def test_trials_of_an_earlier_search_are_taken_unless_all_are_to_be_anew(
    harness: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")
    command = ("tune", "exam.toml", "--force", "--set", "data.cache=true")
    assert "reused" not in harness(*command)[1]
    taken = "reused  3 trials and the model as it is, of an earlier search; --fresh evaluates all"
    assert taken in harness(*command)[1]
    assert "reused" not in harness(*command, "--fresh")[1]
    (model,) = json.loads(harness(*command, "--format", "json")[1])["models"]
    assert (model["reused"], [result["reused"] for result in model["results"]]) == (3, [True] * 4)


def test_one_model_of_several(harness: Cli, tmp_path: Path) -> None:
    more = '[[models]]\nname = "talks"\nuse = "plugged:Talks"\nspace = { depth = [2] }\n'
    (tmp_path / "exam.toml").write_text(TOML + more)
    status, out, err = harness("tune", "exam.toml", "--model", "talks")
    assert (status, out.count("tune   "), "epoch" in out) == (0, 1, False)
    assert err.splitlines() == ["epoch 1", "epoch 2"]
    models = tomllib.loads((tmp_path / "exam-tuned.toml").read_text())["models"]
    assert ["tuned" in model for model in models] == [False, True]


def test_no_file_is_overwritten_unasked(harness: Cli, tmp_path: Path) -> None:
    (tmp_path / "exam-tuned.toml").write_text("mine")
    told = "exam-tuned.toml: is there already; name another --out, or replace it: --force"
    is_refused(harness("tune", "exam.toml"), told)
    assert harness("tune", "exam.toml", "--force")[0] == 0
    is_refused(harness("tune", "exam.toml", "--force", "--out", "exam.toml"), "never touched")
    assert (tmp_path / "exam.toml").read_text() == TOML


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--set", "models.0.space={}"], ["no model has a space"]),
        (["--model", "poplar"], ['no model "poplar"', 'did you mean "popular"']),
        (["--trials", "2"], ["trials = 2 are fewer than the grid's 3 combinations"]),
        (["--trials", "0"], ["[tune] trials: found 0", "greater than or equal to 1"]),
        (["--set", "tune.serch=grid"], ['[tune] has no key "serch"', 'did you mean "search"']),
        (["--set", "split={strategy='last_n', n=9}"], ["no train event"]),
        (["--set", "tune.split={strategy='time', valid_days=9}"], ["the inner split of train"]),
    ],
)
def test_mistakes_are_told(harness: Cli, arguments: list[str], parts: list[str]) -> None:
    is_refused(harness("tune", "exam.toml", *arguments), *parts)


def test_without_optuna(harness: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    done = harness("tune", "exam.toml", "--search", "tpe")
    is_refused(done, 'pip install "submission-harness[tune]"')
