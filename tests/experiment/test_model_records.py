"""What a run's record says a model is: its class and parameters, or its files of lists."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import Cli, tells
from small import POPULAR

from harness.config import Config
from harness.experiment.run import run

PLUGGED = """
from datetime import date
from math import inf
from baselines.popular import Popular

class Mine(Popular):
    def __init__(
        self, days=7, *others, since=date(2020, 1, 2), most=inf, of=("a", 1.5), name=None,
        by=len, some=(1, len), named={1: "a"}, flag=False, at=None, **more
    ):
        super().__init__()

class InC(Popular):
    pass

InC.__signature__ = "none that inspect takes"
"""
MINE: dict[str, Any] = {"name": "mine", "use": "plugged:Mine"}
OTHERS = {
    "most": "inf", "of": ["a", 1.5], "name": None, "flag": False,
}  # fmt: skip
"""Defaults that a config could hold; a function, and a table that is none of TOML, are left out."""


def config(folder: Path, *models: dict[str, Any], **sections: Any) -> Config:
    small.write(folder, {"plugged.py": PLUGGED, "one.csv": "user,item\nann,b\n"})
    return small.config(folder, *models, **sections)


def recorded(settings: Config) -> dict[str, Any]:
    """Return what the JSON of a run says of each model."""
    return {model["name"]: model for model in json.loads(run(settings).to_json())["models"]}


def test_a_model_has_its_class_and_all_its_parameters(tmp_path: Path) -> None:
    given = {"days": 3, "at": date(2020, 5, 6), "extra": [float("-inf")]}
    found = recorded(config(tmp_path, MINE | {"params": given, "repeats": 2}))["mine"]
    assert found["use"] == f"{tmp_path / 'plugged.py'}:Mine"  # as config.toml has it
    assert (found["lists"], found["of"], found["repeats"]) == ([], [], 2)
    own = {"days": 3, "since": "2020-01-02", "at": "2020-05-06", "extra": ["-inf"]}
    assert found["params"] == OTHERS | own


def test_a_class_that_does_not_tell_its_parameters_has_those_of_the_config(tmp_path: Path) -> None:
    in_c = {"name": "in c", "use": "plugged:InC", "params": {}}
    assert recorded(config(tmp_path, in_c))["in c"]["params"] == {}


def test_one_that_is_made_of_others_names_them_and_a_file_has_no_class(tmp_path: Path) -> None:
    both = {"name": "both", "use": "baselines.blend:Blend", "of": ["popular", "file"]}
    file = {"name": "file", "lists": "one.csv"}
    found = recorded(config(tmp_path, POPULAR, file, both))
    assert found["both"]["of"] == ["popular", "file"]
    assert "models" not in found["both"]["params"]
    assert found["popular"]["params"].keys() == {
        "window_days", "half_life_days", "weights", "values",
    }  # fmt: skip
    assert found["file"]["use"] is None
    assert found["file"]["lists"] == [str(tmp_path / "one.csv")]
    assert found["file"]["params"] == {}


def test_so_it_is_over_folds_whose_files_differ(tmp_path: Path) -> None:
    small.write(tmp_path, {"two.csv": "user,item\nbob,a\n", "days.csv": small.TO_TUNE})
    file = {"name": "file", "lists": ["one.csv", "two.csv"]}
    settings = config(
        tmp_path,
        MINE,
        file,
        data={"events": "days.csv"},
        split={"strategy": "time", "valid_days": 1, "folds": 2},
    )
    document = json.loads(run(settings).to_json())
    of_all, *folds = [
        {model["name"]: (model["use"], model["lists"], model["params"]) for model in one["models"]}
        for one in (document, *document["folds"])
    ]
    names = [str(tmp_path / name) for name in file["lists"]]
    assert of_all["file"] == (None, names, {})
    assert [fold["file"][1] for fold in folds] == [[name] for name in names]
    assert of_all["mine"] == folds[0]["mine"] == folds[1]["mine"]
    assert of_all["mine"][2]["days"] == 7


@pytest.mark.parametrize(
    "line", ["report run", "compare run", "leaderboard .", "score run", "explain run --user ann"]
)
def test_a_run_of_before_it_was_recorded_is_read(cli: Cli, here: Path, line: str) -> None:
    run(config(here, POPULAR, small.RANDOM)).write(here / "run")
    path = here / "run" / "result.json"
    document = json.loads(path.read_text())
    for model in document["models"]:
        for key in ("use", "lists", "of", "params"):
            del model[key]
    path.write_text(json.dumps(document))
    model = ["--model", "popular"] if line.startswith("explain") else []
    tells(cli(*line.split(), *model), 0)
