"""Lists of a run written as a submission: the file that the config gives, and nothing learns."""

import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import Cli, is_refused, refusal
from small import POPULAR, RANDOM

from harness.config import Config
from harness.core.errors import HarnessError, UsageError
from harness.experiment.run import run
from harness.experiment.submit import submit, submit_run

LEARNS = """
from pathlib import Path
from baselines.popular import Popular

class Counted(Popular):
    def fit(self, train):
        with Path(__file__).with_name("learnt").open("a") as file:
            file.write("x")
        return super().fit(train)

class Raises(Popular):
    def fit(self, train):
        raise ZeroDivisionError("too few stars")
    fit_steps = None
"""
COUNTED = {"name": "counted", "use": "learns:Counted"}
MODELS = COUNTED, {**RANDOM, "repeats": 2}, {"name": "file", "lists": "lists.csv"}
BAD = {"name": "bad", "use": "learns:Raises"}
LISTS = "user,items\nann,b d\nbob,d\ncid,a\n"
SAMPLE = "user,items\ncid,\nann,\nbob,\n"


def ran(folder: Path, *models: dict[str, Any], **sections: Any) -> Config:
    """Run a config on `LOG` whose competition asks for the evaluated users, in its own order."""
    small.write(folder, {"learns.py": LEARNS, "lists.csv": LISTS, "sample_submission.csv": SAMPLE})
    found = small.config(folder, *(models or MODELS), **sections)
    run(found).write(folder / "run")
    return found


def test_it_is_the_file_that_the_config_gives_and_no_model_learns(tmp_path: Path) -> None:
    config = ran(tmp_path)
    learnt = (tmp_path / "learnt").read_text()
    for model, repeat in (("counted", 0), ("random", 0), ("random", 1), ("file", 0)):
        done = submit_run(tmp_path / "run", model, tmp_path / "own.csv", repeat=repeat)
        assert (tmp_path / "learnt").read_text() == learnt
        assert (done.rows, done.without_history, done.beyond_sample) == (3, 0, 0)
        again = submit(config, model, tmp_path / "again.csv", repeat=repeat)
        assert (tmp_path / "own.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()
        repeats = "the run's scores are means over repeats 0 to 1"
        own = (f"repeat {repeat}; {repeats}",) if model == "random" else ()
        assert done.notes == (*own, *again.notes)
        learnt = (tmp_path / "learnt").read_text()


def test_rows_are_as_the_competition_asks(tmp_path: Path) -> None:
    """b, twice bought, stands before a, by its id, for everyone."""
    ran(tmp_path, submission={"user": "who", "items": "what", "separator": "|"})
    submit_run(tmp_path / "run", "counted", tmp_path / "own.csv")
    assert (tmp_path / "own.csv").read_text() == "who,what\ncid,b|a\nann,b|a\nbob,b|a\n"
    (tmp_path / "sample_submission.csv").write_text("who,what\nbob,\n")
    done = submit_run(str(tmp_path / "run"), "counted", str(tmp_path / "own.csv"))
    assert (done.rows, done.beyond_sample) == (3, 2)
    assert (tmp_path / "own.csv").read_text().splitlines()[1] == "bob,b|a"
    (tmp_path / "sample_submission.csv").unlink()
    assert submit_run(tmp_path / "run", "counted", tmp_path / "own.csv").beyond_sample == 0


@pytest.mark.parametrize(
    ("fold", "note"),
    [(None, "fold 2 of 2, the last; for another, submit a run with --fold"),
     (1, "fold 1 of 2; for another, submit a run with --fold N")],
)  # fmt: skip
def test_of_several_folds_it_is_the_last_or_another(
    tmp_path: Path, fold: int | None, note: str
) -> None:
    folds = {"strategy": "time", "valid_days": 1, "folds": 2}
    small.write(tmp_path, {"days.csv": small.TO_TUNE})
    config = ran(tmp_path, COUNTED, data={"events": "days.csv"}, split=folds)
    (tmp_path / "sample_submission.csv").unlink()
    done = submit_run(tmp_path / "run", "counted", tmp_path / "own.csv", fold=fold)
    assert done.notes[0].startswith(note)
    submit(config.folds()[0] if fold else config, "counted", tmp_path / "again.csv")
    assert (tmp_path / "own.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


def test_whoever_has_no_list_is_counted_and_the_next_step_gives_them_one(
    cli: Cli, here: Path
) -> None:
    ran(here)
    (here / "sample_submission.csv").write_text(SAMPLE + "dan,\neve,\n")
    typed = ["submit", "run", "--model", "random", "--repeat", "1", "--out", "own.csv"]
    done = cli(*typed)
    words = "lists of its 3 evaluated users alone", "asks for 2 users more", 'such as "dan"'
    is_refused(done, "run: has ", *words)
    assert not (here / "own.csv").exists()
    next_step = done[2].strip().partition(": harness ")[2]
    assert next_step == (
        "submit run/config.toml --model random --repeat 1 --out own.csv"
    )  # fmt: skip
    assert cli(*shlex.split(next_step))[0] == 0
    assert (here / "own.csv").read_text().count("\n") == 6


@pytest.mark.parametrize(
    "also", [["--all-events"], ["--set", "evaluation.seed=7"], ["--set", "a=b c", "--all-events"]]
)
def test_what_needs_a_model_to_learn_is_refused_with_the_command_that_does_it(
    cli: Cli, here: Path, also: list[str]
) -> None:
    ran(here)
    command = ["submit", "run/config.toml", "--model", "counted", "--out", "own.csv", *also]
    done = cli("submit", "run", "--model", "counted", "--out", "own.csv", *also)
    is_refused(done, f"for {also[0]} the model has to learn", shlex.join(["harness", *command]))
    if "a=b c" not in also:
        assert cli(*command)[0] == 0


def no_lists(folder: Path) -> None:
    (folder / "recommendations.parquet").unlink()


def other_lists(folder: Path) -> None:
    path = folder / "recommendations.parquet"
    frame = pl.read_parquet(path)
    items = pl.lit(["d", "a"]).alias("items")
    frame.with_columns(items).write_parquet(path)


def other_data(folder: Path) -> None:
    log = folder.parent / "log.csv"
    log.write_text(log.read_text() + "bob,a,2020-01-08\n")


@pytest.mark.parametrize(
    ("change", "given", "words"),
    [
        (no_lists, {}, ["holds no recommendations.parquet", "harness run", "config.toml"]),
        (other_data, {}, ["the data has changed since this run", "truth", "run it again"]),
        (other_lists, {}, ['model "counted" gives other lists than in this run', "run it again"]),
        (None, {"model": "countd"}, ['no model "countd"; did you mean "counted"?']),
        (None, {"model": "random", "repeat": 2}, ['"random" has no repeat 2; the last is 1']),
        (None, {"model": "bad"}, ['"bad" failed in this run and has no lists', "ZeroDivision"]),
        (None, {"out": "own.xlsx"}, ["own.xlsx", ".csv or a .csv.gz"]),
        (None, {"out": "log.csv"}, ["log.csv", "is read by this command and never touched"]),
        (None, {"folder": "nowhere"}, ["nowhere: is no run folder", "result.json"]),
    ],
)
def test_what_cannot_be_submitted(
    tmp_path: Path, change: Any, given: dict[str, Any], words: list[str]
) -> None:
    ran(tmp_path, *MODELS, BAD)
    if change is not None:
        change(tmp_path / "run")
    run_, out = (tmp_path / given.pop(*at) for at in (("folder", "run"), ("out", "own.csv")))
    with refusal(HarnessError, *words):
        submit_run(run_, given.pop("model", "counted"), out, **given)
    assert not (tmp_path / "own.csv").exists()


def test_an_item_that_nobody_knows_has_no_id(tmp_path: Path) -> None:
    config = ran(tmp_path)
    small.write(tmp_path, {"lists.csv": "user,items\nann,nobody b\nbob,d\ncid,a\n"})
    run(config).write(tmp_path / "run")
    words = 'model "file": its lists hold items that neither the data', "take them out of its file"
    with refusal(UsageError, *words):
        submit_run(tmp_path / "run", "file", tmp_path / "own.csv")


@pytest.mark.parametrize("also", [[], ["--all-events"]])
def test_a_folder_that_is_no_run_or_holds_some(cli: Cli, here: Path, also: list[str]) -> None:
    ran(here / "runs", POPULAR)
    typed = "--model", "popular", "--out", "own.csv", *also
    is_refused(cli("submit", ".", *typed), "is no run folder: it holds no result.json")
    is_refused(cli("submit", "runs", *typed), "runs: is no run folder, but holds 1 run")
