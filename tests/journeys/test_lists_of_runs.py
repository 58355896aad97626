"""Lists of a run explained, and written as a submission: nothing learns, changes are refused."""

import json
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import Cli, is_refused, refusal
from small import POPULAR, RANDOM

from harness import config as config_
from harness.comparison.explain import explain_run
from harness.core.errors import HarnessError, UsageError
from harness.evaluation.rescore import rescore
from harness.evaluation.run import run
from harness.hosting.submit import submit, submit_run
from harness.metrics import parse
from harness.results.run import read

LEARNS = f"""{small.FAILS}
from pathlib import Path
from baselines.popular import Popular

class Counted(Popular):
    def fit(self, train):
        with Path(__file__).with_name("learnt").open("a") as file:
            file.write("x")
        return super().fit(train)
"""
COUNTED = {"name": "counted", "use": "learns:Counted"}
MODELS = COUNTED, {**RANDOM, "repeats": 2}, {"name": "file", "lists": "lists.csv"}
BAD = {"name": "bad", "use": "learns:Raises"}
SAMPLE = "user,items\ncid,\nann,\nbob,\n"
METRICS = ["MAP@2", "NDCG@2", "MRR@2", "Recall@2", "pFound@2", "MAP(divisor=trec)@2"]
FILES = {
    "log.csv": small.LOG,
    "learns.py": LEARNS,
    "lists.csv": "user,items\nann,b d\nbob,d\ncid,a\n",
    "sample_submission.csv": SAMPLE,
    "exam.toml": small.toml(models=[*MODELS, BAD], evaluation={"metrics": METRICS}),
}
"""The competition asks for the evaluated users in its own order."""
RUNS = {"run": "exam.toml"}


@pytest.fixture
def folder(harness: Cli, here: Path) -> Path:
    return here


def test_it_is_the_file_that_the_config_gives_and_no_model_learns(folder: Path) -> None:
    config = config_.read(folder / "exam.toml")
    learnt = (folder / "learnt").read_text()
    for model, repeat in (("counted", 0), ("random", 0), ("random", 1), ("file", 0)):
        done = submit_run(folder / "run", model, folder / "own.csv", repeat=repeat)
        assert (folder / "learnt").read_text() == learnt
        assert (done.rows, done.without_history, done.beyond_sample) == (3, 0, 0)
        again = submit(config, model, folder / "again.csv", repeat=repeat)
        assert (folder / "own.csv").read_bytes() == (folder / "again.csv").read_bytes()
        repeats = "the run's scores are means over repeats 0 to 1"
        which = (f"repeat {repeat}; {repeats}",) if model == "random" else ()
        assert done.notes == (*which, *again.notes)
        learnt = (folder / "learnt").read_text()


def test_of_several_folds_it_is_the_last_or_another(tmp_path: Path) -> None:
    folds = {"strategy": "time", "valid_days": 1, "folds": 2}
    config = small.config(tmp_path, POPULAR, log=small.TO_TUNE, split=folds)
    run(config).write(tmp_path / "run")
    for fold, which, note in (
        (None, config, "fold 2 of 2, the last; for another: --fold N of a run, or"),
        (1, config.folds()[0], "fold 1 of 2; for another: --fold N of a run, or"),
    ):
        done = submit_run(tmp_path / "run", "popular", tmp_path / "own.csv", fold=fold)
        assert done.notes[0].startswith(note)
        submit(which, "popular", tmp_path / "again.csv")
        assert (tmp_path / "own.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


def test_whoever_has_no_list_is_counted_and_the_next_step_gives_them_one(
    cli: Cli, folder: Path
) -> None:
    (folder / "sample_submission.csv").write_text(SAMPLE + "dan,\neve,\n")
    done = cli("submit", "run", "--model", "random", "--repeat", "1", "--out", "own.csv")
    words = "lists of its 3 evaluated users", "requires 2 more users", 'such as "dan"'
    is_refused(done, "run: has ", words)
    assert not (folder / "own.csv").exists()
    next_step = done[2].strip().partition(": harness ")[2]
    assert next_step == "submit run/config.toml --model random --repeat 1 --out own.csv"
    assert cli(*shlex.split(next_step))[0] == 0
    assert (folder / "own.csv").read_text().count("\n") == 6


@pytest.mark.parametrize("also", [["--all-events"], ["--set", "evaluation.seed=7"]])
def test_what_needs_a_model_to_learn_is_refused_with_the_config_that_does_it(
    cli: Cli, folder: Path, also: list[str]
) -> None:
    command = ["submit", "run/config.toml", "--model", "counted", "--out", "own.csv", *also]
    done = cli("submit", "run", "--model", "counted", "--out", "own.csv", also)
    again = "to fit the model again, name run/config.toml instead of the run"
    is_refused(done, f"{also[0]}: only with a config, not with a run; {again}")
    assert cli(command)[0] == 0


def test_changed_training_changes_no_lists_that_were_written(folder: Path) -> None:
    """The evaluation set is the same, but a is now the most popular."""
    before = small.lists_of(folder / "run", "counted").lists
    append("dan,a,2020-01-03\neve,a,2020-01-03\nfox,a,2020-01-03\n")(folder)
    assert small.lists_of(folder / "run", "counted").lists.tolist() == before.tolist()


# What is refused.


def append(events: str) -> Any:
    def change(folder: Path) -> None:
        with (folder / "log.csv").open("a") as log:
            log.write(events)

    return change


def other_lists(folder: Path) -> None:
    path = folder / "run" / "recommendations.parquet"
    frame = pl.read_parquet(path)
    frame.with_columns(pl.lit(["d", "a"]).alias("items")).write_parquet(path)


def other_version(folder: Path) -> None:
    """Its fingerprint is made otherwise, which is no change of the data."""
    path = folder / "run" / "result.json"
    record = json.loads(path.read_text())
    del record["evaluation"]["fingerprint_format"]
    path.write_text(json.dumps(record))


OTHER = 'model "counted" gives other lists than in this run'


@pytest.mark.parametrize(
    ("change", "asked", "words"),
    [
        (append("bob,a,2020-01-08\n"), "counted", ["data has changed", "(it differs in truth)"]),
        (append("dan,a,2020-01-03\ndan,a,2020-01-08\n"), "counted", ["differs in users, truth)"]),
        (append("ann,e,2020-01-02\n"), "counted", ["(it differs in candidates", "run it again"]),
        (other_lists, "counted", [OTHER, "run it again"]),
        (
            other_version,
            "counted",
            ["run: another version of harness wrote this run", "run/config.toml"],
        ),
        (None, "countd", ['no model "countd"; did you mean "counted"?']),
        (None, "random 2", ['"random" has no repeat 2; the last is 1']),
        (None, "random -1", ['"random" has no repeat -1; the last is 1']),
        (None, "counted 1", ['"counted" has no repeat 1; the last is 0']),
        (None, "bad", ['"bad" failed in this run and has no lists', "ZeroDivision"]),
    ],
)
def test_lists_that_a_run_does_not_have(
    folder: Path, change: Any, asked: str, words: list[str]
) -> None:
    """Neither to be explained nor to be submitted."""
    if change is not None:
        change(folder)
    model, repeat = [*asked.split(), "0"][:2]
    with refusal(HarnessError, words):
        submit_run(folder / "run", model, folder / "own.csv", repeat=int(repeat))
    assert not (folder / "own.csv").exists()
    with refusal(HarnessError, words):
        explain_run(read(folder / "run"), [model], worst=1, repeat=int(repeat))


def test_lists_that_contradict_the_record_are_not_scored_again(folder: Path) -> None:
    """Popular finds b of ann's first; d and a for everyone find bob's and cid's."""
    rescore(folder / "run", [parse("NDCG@2")])
    other_lists(folder)
    with refusal(UsageError, OTHER, "(MAP@2 differs)"):
        rescore(folder / "run", [parse("NDCG@2")])


def test_an_item_that_nobody_knows_has_no_id(tmp_path: Path) -> None:
    small.write(tmp_path, {"lists.csv": "user,items\nann,nobody b\nbob,d\ncid,a\n"})
    run(small.config(tmp_path, MODELS[2])).write(tmp_path / "run")
    words = (
        'model "file": its lists have items that are not in the data',
        "remove them from its file",
    )
    with refusal(UsageError, words):
        submit_run(tmp_path / "run", "file", tmp_path / "own.csv")
