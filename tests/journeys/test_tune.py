"""Tuning models whose best parameters are known, what it never looks at, and the command."""

import csv
import io
import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import Cli, is_refused, refusal
from small import timeless

from harness import config as config_
from harness.config import Config
from harness.core.errors import RecommenderError, UsageError
from harness.experiment.run import run
from harness.protocol.task import make_task
from harness.tuning.result import Tuned, TunedModel
from harness.tuning.tuning import tune

LOG = """user,item,time
ann,a,2020-01-01
bob,b,2020-01-01
cid,d,2020-01-02
dan,c,2020-01-05
dan,e,2020-01-05
ann,c,2020-01-08
bob,c,2020-01-08
"""
"""Candidates a to e; on the 8th, the inner window, everybody's truth is c, the third of them."""
HELD_OUT = "ann,d,2020-01-09\ncid,b,2020-01-09\n"
OTHER = "zoe,f,2020-01-09\naaa,a,2020-01-09\nbob,e,2020-01-09\n"

SHELF = """
import numpy as np

class Shelf:
    '''Recommends the one candidate that stands at a place.'''

    def __init__(self, place, tilt=0.0, tag=""):
        self.place, self.tilt, self.tag = place, tilt, tag

    def fit(self, train):
        if self.place == 4:
            raise ValueError("nothing there")
        return self

    def recommend(self, users, k, draws, exclude=None):
        lists = np.full((len(users), k), -1, np.int32)
        lists[:, 0] = int(self.place + self.tilt)
        return lists
"""
PLACES = {"place": {"low": 0, "high": 4}}
MODEL = {"name": "shelf", "use": "plugged:Shelf", "params": {"place": 0}, "space": PLACES}


def config(
    folder: Path,
    *models: dict[str, Any],
    evaluation_set: str = HELD_OUT,
    evaluation: Any = None,
    **tune: Any,
) -> Config:
    small.write(folder, {"plugged.py": SHELF})
    asked = evaluation or {"metrics": ["MAP@1"]}
    log = LOG + evaluation_set
    return small.config(folder, *(models or (MODEL,)), log=log, evaluation=asked, tune=tune)


WHOLE = {"name": "whole", "use": "baselines.blend:Blend", "of": ["shelf"]}
GRID = {"place": [0, 2, 4], "tag": ["x", "y"]}


def made(model: TunedModel) -> list[tuple[Any, float | None]]:
    return [(model.params(trial), trial.value) for trial in model.trials]


def best(tuned: Tuned) -> Any:
    (found,) = tuned.models
    return found.params(found.best)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    """A grid of a model, of which a part fails, and of what is made of it; one is not tuned."""
    model = MODEL | {"params": {"place": 0, "tag": "x"}, "space": GRID}
    other = {"name": "as it is", "use": "plugged:Shelf", "params": {"place": 1}}
    models = WHOLE | {"space": {"depth": [1, 2]}}, model, other
    return tune(config(tmp_path_factory.mktemp("tune"), *models, search="grid"))


def test_a_grid_has_every_combination_once(done: Tuned) -> None:
    """Place 0 is what the model has already, so its trial is not made again."""
    shelf = done.models[1]
    assert made(shelf) == [
        ({"place": 0, "tag": "x"}, 0),
        ({"place": 0, "tag": "y"}, 0),
        ({"place": 2, "tag": "x"}, 1),
        ({"place": 2, "tag": "y"}, 1),
        ({"place": 4, "tag": "x"}, None),
        ({"place": 4, "tag": "y"}, None),
    ]
    assert shelf.params(shelf.best) == {"place": 2, "tag": "x"}  # as good as y, and earlier
    assert (len(shelf.searched), shelf.again) == (5, 1)
    assert "1 of 6 trials not made: no other choice of parameters came up" in repr(done)


def test_failed_trials_are_counted_and_told(done: Tuned) -> None:
    failed = done.models[1].trials[4]
    assert 'model "shelf" raised in fit: ValueError: nothing there' in failed.user_attrs["error"]
    assert "5 trials, 2 failed" in repr(done)
    assert "nothing there" in repr(done)
    result = done.to_dict()["models"][1]
    assert (result["failed"], result["results"][4]["mean"], result["best"]) == (2, None, 2)


def test_a_whole_is_tuned_on_the_best_of_its_parts(done: Tuned) -> None:
    """With the shelf's best, place 2, the whole earns 1; with the shelf as it was, nothing."""
    assert [model.name for model in done.models] == ["whole", "shelf"], "in the config's order"
    whole = done.models[0]
    assert whole.untuned.value == 1
    assert whole.best is whole.untuned, "what no trial beats is kept"
    assert "no trial was better than the model as it is; its params are kept" in repr(done)
    assert done.config.models[0].tuned is not None
    assert done.config.models[0].tuned.value == 1
    assert str(done.metric) == "MAP@1", "the first, unless another is named"


def test_the_written_config_runs_and_shows_its_record(done: Tuned, tmp_path: Path) -> None:
    done.write(tmp_path / "tuned.toml")
    values = tomllib.loads((tmp_path / "tuned.toml").read_text())
    shelf = values["models"][1]
    assert (shelf["params"], shelf["space"]) == ({"place": 2, "tag": "x"}, GRID)
    record = {
        "trials": 5, "search": "grid", "seed": 42, "metric": "MAP@1", "value": 1.0,
        "exam": done.evaluation.fingerprint,
    }  # fmt: skip
    assert shelf["tuned"] == record
    result = run(tmp_path / "tuned.toml")
    tuned = {m["name"]: m["tuned"] for m in result.to_dict()["models"]}
    assert (tuned["shelf"], tuned["as it is"]) == (record, None)
    assert "tuned  on an inner split of train: " in repr(result)
    assert "shelf (5 trials)" in repr(result)
    trials = {"shelf": 5, "as it is": 0, "whole": 2}
    assert result.to_pandas()["tuned"].to_dict() == trials
    assert {record["model"]: record["tuned"] for record in result.records()} == trials


def test_a_table_a_model_and_a_record_a_trial(done: Tuned) -> None:
    lines = repr(done).splitlines()
    evaluation_set = f"k = 2 · 2 users · 5 candidates · {done.evaluation.fingerprint[:6]}"
    assert lines[0] == f"inner  table · 1 day from 2020-01-08, of train · {evaluation_set}"
    at = lines.index("tune   shelf · MAP@1 · grid search, 5 trials, 2 failed")
    rows = [line.split() for line in lines[at:]]
    assert [row[:4] for row in rows if row and row[0] in ("rank", "1", "2", "untuned")] == [
        ["rank", "place", "tag", "MAP@1"],
        ["1", "2", "x", "1.0000"],
        ["2", "2", "y", "1.0000"],
        ["untuned", "0", "x", "0.0000"],
    ]
    assert sum(line.startswith("tune ") for line in lines) == 2
    frame = done.to_pandas()
    assert list(frame.columns) == [
        "model", "trial", "params.depth", "params.place", "params.tag",
        "MAP@1", "MAP@1 low", "MAP@1 high", "seconds", "error",
    ]  # fmt: skip
    assert frame["trial"].tolist() == [*range(len(done.models[0].trials)), *range(6)]
    assert done._repr_html_().count("<table>") == 2


@pytest.mark.parametrize(
    ("search", "space"), [("random", PLACES), ("tpe", {"tilt": {"low": 0.0, "high": 5.0}})]
)
def test_the_best_is_found(tmp_path: Path, search: str, space: dict[str, Any]) -> None:
    tuned = tune(config(tmp_path, MODEL | {"space": space}, search=search))
    (model,) = tuned.models
    (name,) = space
    assert int(best(tuned)[name]) == 2
    assert (model.best.value, model.untuned.value) == (1, 0)
    assert int(tuned.config.models[0].params[name]) == 2


def test_a_metric_of_which_less_is_better_is_made_small(tmp_path: Path) -> None:
    """All lists have one item: the Gini index is 4/5 of five candidates, whichever it is."""
    settings = config(tmp_path, metric="Gini@1", search="grid")
    place = settings.models[0].model_copy(update={"space": {"place": [1, 2, 3]}})
    tuned = tune(settings.model_copy(update={"models": [place]}))
    assert tuned.metric.definition.better == "lower"
    assert tuned.models[0].best is tuned.models[0].untuned
    assert tuned.models[0].best.value == pytest.approx(4 / 5)


def test_a_model_of_which_every_trial_fails_ends_the_search(tmp_path: Path) -> None:
    with refusal(RecommenderError, 'model "shelf": every trial failed (1)', "nothing there"):
        tune(config(tmp_path, MODEL | {"space": {"place": [4]}}, search="grid"))


def test_a_parameter_without_a_value_before_the_search(tmp_path: Path) -> None:
    """The model cannot be made as it is, which is no reason not to tune it."""
    tuned = tune(
        config(tmp_path, MODEL | {"params": {}, "space": {"place": [0, 2]}}, search="grid")
    )
    assert tuned.models[0].untuned.value is None
    assert tuned.config.models[0].params == {"place": 2}


@pytest.mark.parametrize("search", ["tpe", "grid"])
def test_what_is_held_out_changes_no_trial(tmp_path: Path, search: str) -> None:
    """Two logs that differ in the held-out day alone, in users and items too."""
    space = {"place": [0, 1, 2, 3], "tag": ["x", "y"]}
    model = MODEL | {"space": space}
    settings = [
        config(tmp_path / name, model, evaluation_set=evaluation_set, search=search, trials=9)
        for name, evaluation_set in (("one", HELD_OUT), ("other", OTHER))
    ]
    one, other = (tune(each) for each in settings)
    prints = [make_task(each).evaluation_set.fingerprint for each in settings]
    assert prints[0] != prints[1]
    assert made(one.models[0]) == made(other.models[0])
    assert one.config.models == other.config.models
    assert timeless(one.to_dict()) == timeless(other.to_dict())


def test_another_model_changes_no_trial(tmp_path: Path) -> None:
    other, fixed = MODEL | {"name": "other", "params": {"place": 3}}, MODEL | {"name": "fixed"}
    alone = tune(config(tmp_path, trials=6))
    settings = config(tmp_path, other, MODEL, fixed | {"space": {}}, trials=6)
    both = tune(settings)
    assert [model.name for model in both.models] == ["other", "shelf"]
    assert made(both.models[1]) == made(alone.models[0])
    named = tune(settings, models=["shelf"])
    assert [model.name for model in named.models] == ["shelf"]
    assert [bool(m.tuned) for m in named.config.models] == [False, True, False]


@pytest.mark.parametrize(
    ("models", "keys", "names", "parts"),
    [
        ([MODEL | {"space": {}}], {}, (), ["no model has a space", "space = {"]),
        ([MODEL], {}, ("shlf",), ['no model "shlf"', 'did you mean "shelf"']),
        (
            [MODEL, {**MODEL, "name": "other", "space": {}}],
            {}, ("other",), ['model "other" has no space', "allowed: shelf"],
        ),
        ([MODEL], {"search": "grid"}, (), ['model "shelf"', "space.place is a range"]),
        (
            [MODEL | {"space": {"plaec": [1]}}],
            {}, (), ['no parameter "plaec"', 'did you mean "place"'],
        ),
        (
            [WHOLE | {"space": {"depth": [1, 2]}}, {"name": "shelf", "lists": "plugged.py"}],
            {}, (), ['model "whole": base model "shelf" is a file of precomputed lists, not made'],
        ),
        ([MODEL], {"metric": "Novelty@1"}, (), ["Novelty@1", "neither", "[tune] metric"]),
    ],
)  # fmt: skip
def test_what_cannot_be_tuned(
    tmp_path: Path, models: Any, keys: Any, names: Any, parts: list[str]
) -> None:
    with refusal(UsageError, *parts):
        tune(config(tmp_path, *models, **keys), models=names)


def test_a_config_in_another_folder_finds_its_files(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "mine.py").write_text(
        "def early(hits, n_relevant, k):\n    return float(hits[0])"
    )
    settings = config(
        tmp_path / "shop", evaluation={"k": 2, "metrics": ["mine:early@1"]}, metric="mine:early@1"
    )
    tuned = tune(settings)
    tuned.write(tmp_path / "deep" / "er" / "tuned.toml")
    again = config_.read(tmp_path / "deep" / "er" / "tuned.toml")
    assert again.layout() == settings.layout()
    assert again.models[0].use == f"{tmp_path / 'shop' / 'plugged.py'}:Shelf"
    assert run(again).models[0].tuned is not None
    assert made(tune(again).models[0]) != []


def test_a_file_that_is_there_is_kept(tmp_path: Path) -> None:
    tuned = tune(config(tmp_path, trials=1))
    path = tmp_path / "tuned.toml"
    path.write_text("mine")
    with pytest.raises(UsageError, match=r"tuned\.toml: is there already; .*--force"):
        tuned.write(path)
    assert path.read_text() == "mine"
    tuned.write(path, force=True)
    assert config_.read(path).models[0].tuned is not None


def test_the_document(tmp_path: Path) -> None:
    space = {"place": [2], "tag": [math.inf, {"of": [1.5, True]}]}
    tuned = tune(config(tmp_path, MODEL | {"space": space}, search="grid"))
    document = timeless(tuned.to_dict())
    fields = document["evaluation"].pop("fields")
    assert set(fields) == {"k", "users", "candidates", "truth", "seen"}
    low = pytest.approx(math.sqrt(0.025))  # two users with equal values: chance² = 0.025
    wide = pytest.approx(1 - math.sqrt(0.025))
    assert document == {
        "schema": 1,
        "evaluation": {
            "k": 2, "users": 2, "candidates": 5, "fingerprint": tuned.evaluation.fingerprint,
            "fingerprint_format": 2, "layout": "table", "window": "1 day from 2020-01-08",
        },
        "metric": "MAP@1",
        "search": "grid",
        "seed": 42,
        "models": [{
            "name": "shelf", "trials": 2, "failed": 0, "again": 0, "reused": 0, "best": 1,
            "at_the_edge": {},
            "results": [
                {
                    "trial": 0, "params": {"place": 0},
                    "mean": 0, "ci95": [0, wide], "error": None, "reused": False,
                },
                {
                    "trial": 1, "params": {"place": 2, "tag": "inf"},
                    "mean": 1.0, "ci95": [low, 1], "error": None, "reused": False,
                },
                {
                    "trial": 2, "params": {"place": 2, "tag": {"of": [1.5, True]}},
                    "mean": 1.0, "ci95": [low, 1], "error": None, "reused": False,
                },
            ],
        }],
    }  # fmt: skip


# The command.

TOML = small.toml(
    small.POPULAR | {"space": {"window_days": [1, 2, 7]}},
    evaluation={"k": 1},
    tune={"search": "grid"},
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
    small.write(here, {"log.csv": small.TO_TUNE, "exam.toml": TOML, "talks.py": PLUG_IN})
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
    """As one of an earlier version, whose record has no such key."""
    status, out, _ = harness("run", "exam.toml", "--out", "run", "--format", "json")
    document = json.loads(out)
    assert (status, document["models"][0]["tuned"]) == (0, None)
    for _ in range(2):
        assert "tuned" not in harness("leaderboard", "run")[1]
        assert harness("report", "run")[0] == 0
        assert "tuned on train" not in (tmp_path / "run" / "report.html").read_text().lower()
        document["models"][0].pop("tuned", None)
        (tmp_path / "run" / "result.json").write_text(json.dumps(document))
    document["models"][0]["tuned"] = {"trials": 0}
    (tmp_path / "run" / "result.json").write_text(json.dumps(document))
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
    more = '[[models]]\nname = "talks"\nuse = "talks:Talks"\nspace = { depth = [2] }\n'
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


def test_mistakes_are_told(harness: Cli) -> None:
    """One of the config, one of the command; the others are told by what finds them."""
    parts = ['[tune] has no key "serch"', 'did you mean "search"']
    is_refused(harness("tune", "exam.toml", "--set", "tune.serch=grid"), *parts)
    parts = ['no model "poplar"', 'did you mean "popular"']
    is_refused(harness("tune", "exam.toml", "--model", "poplar"), *parts)
