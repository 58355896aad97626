"""A person's own metric: a function in a file, by itself, in evaluate, and beside ours in a run."""

import json
from pathlib import Path

import pytest
import small
from conftest import refusal

from harness import config as config_
from harness import evaluate
from harness.core.errors import UsageError
from harness.experiment.explain import explain, of_run
from harness.experiment.run import run
from harness.experiment.run_folder import read as read_run
from harness.metrics import parse

SOURCE = '''
def early(hits, n_relevant, k):
    """The share of the first two ranks that hit."""
    return hits[:2].sum() / 2

def counts(hits, n_relevant, k):
    return 100 * n_relevant + 10 * k + hits.sum()

def shouts(hits, n_relevant, k):
    raise KeyError("too loud")

def leaves(hits, n_relevant, k):
    raise SystemExit

def nothing(hits, n_relevant, k):
    return float("nan")

def endless(hits, n_relevant, k):
    return float("inf")

def words(hits, n_relevant, k):
    return "quite good"

def forgets(hits, n_relevant, k):
    pass

def narrow(hits, n_relevant):
    return 1

def cheats(hits, n_relevant, k):
    hits[:] = True
    return 1

factor = 3
'''
LISTS, TRUTH = {"ann": ["x", "a", "b"]}, {"ann": ["a", "b", "c"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with my_metrics.py, and the same file deeper down."""
    (tmp_path / "my_metrics.py").write_text(SOURCE)
    (tmp_path / "lib" / "deep").mkdir(parents=True)
    (tmp_path / "lib" / "deep" / "shop.py").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize("name", ["my_metrics", "my_metrics.py", "lib/deep/shop.py"])
def test_a_function_in_a_file_is_a_metric(folder: Path, name: str) -> None:
    metric = parse(f"{name}:early@3", folder)
    assert str(metric) == f"{name}:early@3"
    assert evaluate(LISTS, TRUTH, metric).to_dict() == {f"{name}:early@3": 1 / 2}


def test_a_text_is_looked_for_in_the_folder_one_works_in(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert evaluate(LISTS, TRUTH, ["my_metrics:early@3", "MRR@3"]).tolist() == [1 / 2, 1 / 2]


def test_it_is_told_hits_true_items_and_the_cut_off_of_every_user(folder: Path) -> None:
    lists = {"ann": ["x", "a", "a", "b", "c"], "bob": ["a"], "cem": []}
    truth = {"ann": ["a", "b", "c"], "bob": ["b", "c"], "cem": []}
    metric = parse("my_metrics:counts@4", folder)
    found = evaluate(lists, truth, metric, per_user=True)
    assert found.iloc[:, 0].tolist() == [342, 240, 40]


def test_its_text_is_read_back(folder: Path) -> None:
    metric = parse("my_metrics:early@3", folder)
    assert parse(str(metric), folder) == metric
    assert metric.definition.text == "The share of the first two ranks that hit."


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("my_metrics:erly@3", ["my_metrics:erly", 'no function "erly"', 'did you mean "early"?']),
        ("my_metrcs:early@3", ['no module "my_metrcs"', 'did you mean "my_metrics"?']),
        ("lib/none.py:early@3", ["lib/none.py:early", "no file", "none.py"]),
        ("my_metrics:factor@3", ['no function "factor"']),
        ("my_metrics:@3", ['"my_metrics:"', '"module:function"']),
        (":early@3", ['":early"', '"module:function"']),
        ("my_metrics:early", ["no cut-off", '"my_metrics:early@10"']),
        ("my_metrics:early(x=1)@3", ["my_metrics:early takes no parameters", '"x"']),
        ("my_metrics:early@0", ["my_metrics:early@0", "from 1", "got 0"]),
    ],
)
def test_what_is_misspelled_is_named(folder: Path, text: str, named: list[str]) -> None:
    with refusal(UsageError, *named):
        parse(text, folder)


@pytest.mark.parametrize(
    ("function", "named"),
    [
        ("shouts", ["KeyError", "too loud", "my_metrics.py, line 10"]),
        ("leaves", ["SystemExit"]),
        ("nothing", ["returned nan", "a finite number"]),
        ("endless", ["returned inf", "a finite number"]),
        ("words", ["quite good"]),
        ("forgets", ["None"]),
        ("narrow", ["takes 2 positional arguments"]),
        ("cheats", ["read-only"]),
    ],
)
def test_what_goes_wrong_in_it_is_told_with_what_it_was_given(
    folder: Path, function: str, named: list[str]
) -> None:
    metric = parse(f"my_metrics:{function}@3", folder)
    given = [f'"my_metrics:{function}"', "hits=[2 3] as ranks, n_relevant=3, k=3"]
    with refusal(UsageError, *given, *named):
        evaluate(LISTS, TRUTH, metric)


@pytest.mark.parametrize(("source", "named"), [("1 / 0", "ZeroDivisionError"), ("def (", "Syntax")])
def test_a_file_that_cannot_be_imported_is_named(tmp_path: Path, source: str, named: str) -> None:
    (tmp_path / "broken.py").write_text(source)
    with pytest.raises(UsageError, match=rf'"broken:f": broken cannot be imported: .*{named}'):
        parse("broken:f@3", tmp_path)


LOG = """user,item,time
ann,a,2020-01-01
ann,b,2020-01-02
bob,b,2020-01-03
ann,b,2020-01-08
bob,a,2020-01-08
"""
METRICS = ["my_metrics:counts@2", "lib/deep/shop.py:early@1", "MRR@2"]
CONFIG = small.toml(evaluation={"metrics": METRICS})


@pytest.fixture
def evaluation_set(folder: Path) -> Path:
    """Return a config whose one model recommends b, then a; ann's truth is b, bob's a."""
    (folder / "log.csv").write_text(LOG)
    (folder / "shop.toml").write_text(CONFIG)
    return folder / "shop.toml"


def test_in_a_run_it_stands_beside_ours(evaluation_set: Path, tmp_path: Path) -> None:
    result = run(evaluation_set)
    found = {name: figure.mean for name, figure in result.models[0].metrics.items()}
    assert found == {
        "my_metrics:counts@2": 121,
        "lib/deep/shop.py:early@1": 1 / 4,  # b hits for ann: 1 of 2
        "MRR@2": 3 / 4,
    }
    result.write(tmp_path / "out")
    written = json.loads((tmp_path / "out" / "result.json").read_text())
    assert written["models"][0]["metrics"]["my_metrics:counts@2"]["mean"] == 121
    assert written["models"][0]["vs_random"] is None
    assert result.per_user()["my_metrics:counts@2"].to_list() == [121, 121]


def test_the_config_that_a_run_leaves_finds_it_from_anywhere(
    evaluation_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(evaluation_set).write(tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out")
    again = config_.read(Path("config.toml"))
    means = [figure.mean for figure in run(again).models[0].metrics.values()]
    assert means == [121, 1 / 4, 3 / 4]


def test_a_model_of_such_a_run_is_explained(
    evaluation_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(evaluation_set).write(tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out")
    asked = read_run(Path()).metrics
    assert list(asked) == METRICS
    early = asked["lib/deep/shop.py:early@1"]
    submitted = of_run(Path(), "popular", metrics=(early,))
    assert explain(submitted, 0, 1, early).metrics[str(early)] == 1 / 2  # b hits for ann: 1 of 2
    assert explain(submitted, 1, 1, early).metrics[str(early)] == 0


def test_a_wrong_one_is_refused_before_anything_is_read(evaluation_set: Path) -> None:
    evaluation_set.write_text(CONFIG.replace(":counts@", ":conts@"))
    (evaluation_set.parent / "log.csv").unlink()
    with pytest.raises(UsageError, match=r'no function "conts"; did you mean "counts"'):
        run(evaluation_set)


def test_a_function_in_a_folder_of_any_name(tmp_path: Path) -> None:
    """Spaces, brackets and signs of a path are no part of a metric's grammar."""
    folder = tmp_path / "my data (new) @home"
    folder.mkdir()
    (folder / "mine.py").write_text("def hit(hits, n_relevant, k):\n    return float(hits.any())\n")
    metric = parse(f"{folder / 'mine.py'}:hit@12")
    assert (metric.k, str(metric)) == (12, f"{folder / 'mine.py'}:hit@12")
    assert parse(str(metric)) == metric
