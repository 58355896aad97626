"""The command line: what it prints where, its exit status, and every mistake in a message."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import small
from conftest import Cli, is_refused, tells
from small import LOG, POPULAR

from harness.__main__ import main as started
from harness.cli import guarded, main
from harness.cli.show import to_type
from harness.core.table import Sheet

TOML = small.toml()
PLUG_INS = """
import pathlib
import time

class Model:
    def fit(self, train):
        return self

    def recommend(self, users, k, draws, exclude=None):
        import numpy as np
        return np.full((len(users), k), -1)

class Slow(Model):
    def fit(self, train):
        pathlib.Path("fitting").touch()
        for _ in range(6000):  # a signal that comes just before a sleep is met behind it
            time.sleep(0.01)

class Raises(Model):
    def fit(self, train):
        raise ZeroDivisionError("too few stars")

class Talks(Model):
    def fit(self, train):
        print("epoch 1")
        return self
"""


@pytest.fixture
def harness(here: Path, cli: Cli) -> Cli:
    """Return what runs a command where a log, a config and models are."""
    small.write(here, {"log.csv": LOG, "exam.toml": TOML, "plugged.py": PLUG_INS})
    return cli


def command(*arguments: str, **options: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "harness", *arguments],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # type: ignore[call-overload,no-any-return]  # fmt: skip


def runs(folder: Path) -> list[str]:
    return sorted(p.name for p in (folder / "runs").glob("*"))


def test_a_run_prints_its_table_and_writes_its_folder(harness: Cli, tmp_path: Path) -> None:
    status, out, err = harness("run", "exam.toml")
    (name,) = runs(tmp_path)
    evaluation = json.loads((tmp_path / "runs" / name / "result.json").read_text())["evaluation"]
    assert (status, err) == (0, "")
    assert name == f"2020-01-08-table-{evaluation['fingerprint'][:6]}"
    assert "popular" in out
    assert out.endswith(f"written to runs/{name}/\nnext  harness report runs/{name}\n")


@pytest.mark.parametrize(
    ("typed", "shown"),
    [(".venv/bin/harness", ".venv/bin/harness"), ("bin/harness", "harness"), ("pytest", "harness")],
)
def test_the_next_step_is_typed_as_the_command_was(
    here: Path, monkeypatch: pytest.MonkeyPatch, typed: str, shown: str
) -> None:
    """By its path, unless a shell finds the name."""
    small.write(here, {"bin/harness": ""})
    (here / "bin" / "harness").chmod(0o755)
    monkeypatch.setenv("PATH", typed.removesuffix("/harness"))
    monkeypatch.setattr("sys.argv", [typed])
    assert to_type("report", "runs/one two") == f"{shown} report 'runs/one two'"


def test_a_folder_of_the_same_name_is_told(harness: Cli, tmp_path: Path) -> None:
    """The second config has other parameters, and the same evaluation set."""
    small.write(tmp_path, {"two.toml": small.toml({**POPULAR, "params": {"window_days": 2}})})
    harness("run", "exam.toml")
    (name,) = runs(tmp_path)
    told = f"written to runs/{name}-2/, as another config has written to runs/{name}/"
    assert told in harness("run", "two.toml")[1]
    assert harness("run", "two.toml", "--format", "csv")[2] == f"{told}\n"
    assert runs(tmp_path) == [name, f"{name}-2"]


TWO = small.toml(POPULAR, {"name": "mine", "use": "plugged:Raises"})


def test_a_model_that_fails_costs_the_others_nothing(harness: Cli, tmp_path: Path) -> None:
    small.write(tmp_path, {"two.toml": TWO})
    status, out, err = harness("run", "two.toml", "--out", "one")
    assert status == 1
    assert 'failed  model "mine" raised in fit: ZeroDivisionError: too few stars' in out
    assert "written to one/" in out
    assert err == "1 of 2 models failed; --debug shows tracebacks\n"
    found = json.loads((tmp_path / "one/result.json").read_text())
    assert [model["name"] for model in found["models"]] == ["popular"]
    assert [model["name"] for model in found["failed"]] == ["mine"]


def test_what_failed_is_told_of_the_run_later_on(harness: Cli, tmp_path: Path) -> None:
    """Its scores under other metrics, and what is asked of the model itself."""
    small.write(tmp_path, {"two.toml": TWO})
    harness("run", "two.toml", "--out", "one")
    status, out, _ = harness("score", "one", "--metric", "Recall@1")
    assert status == 0
    assert 'failed  model "mine" raised in fit: ZeroDivisionError: too few stars' in out
    record = json.loads(harness("score", "one", "--metric", "Recall@1", "--format", "json")[1])
    assert [model["name"] for model in record["failed"]] == ["mine"]
    told = 'one: model "mine" failed in this run and has no lists: model "mine" raised in fit: Zero'
    own = "explain", "one", "--user", "ann", "--model"
    is_refused(harness(*own, "mine"), told, "; allowed: popular")
    status, _, err = harness(*own, "nobody")
    assert (status, err) == (2, 'one: no model "nobody"; allowed: popular\n')


def test_the_first_failure_can_end_a_run(harness: Cli, tmp_path: Path) -> None:
    small.write(tmp_path, {"two.toml": TWO})
    is_refused(harness("run", "two.toml", "--fail-fast"), 'model "mine" raised in fit', "--debug")
    assert runs(tmp_path) == []


def test_a_failure_has_its_traceback_on_demand(here: Path) -> None:
    small.write(here, {"log.csv": LOG, "two.toml": TWO, "plugged.py": PLUG_INS})
    with command("run", "two.toml", "--debug") as process:
        out, err = process.communicate()
    assert process.returncode == 1
    assert "Traceback (most recent call last)" in err
    assert 'raise ZeroDivisionError("too few stars")' in err
    assert "Traceback" not in out


def test_a_run_of_another_config_gets_a_number(harness: Cli, tmp_path: Path) -> None:
    """The same config writes its own folder again."""
    for days in (1, 2, 3, 1, 2):
        changed = f"models.0.params.window_days={days}"
        assert harness("run", "exam.toml", "--set", changed)[0] == 0
    first = runs(tmp_path)[0]
    assert runs(tmp_path) == [first, f"{first}-2", f"{first}-3"]
    assert "window_days = 2" in (tmp_path / "runs" / f"{first}-2" / "config.toml").read_text()


def test_a_folder_with_something_else_is_left_alone(harness: Cli, tmp_path: Path) -> None:
    assert harness("run", "exam.toml")[0] == 0
    (first,) = runs(tmp_path)
    small.write(tmp_path, {f"runs/{first}/mine.txt": "kept"})
    assert harness("run", "exam.toml")[0] == 0
    assert runs(tmp_path) == [first, f"{first}-2"]


def test_models_are_named_and_evaluated_anew_on_demand(harness: Cli, tmp_path: Path) -> None:
    small.write(tmp_path, {"two.toml": TWO})
    tells(harness("run", "two.toml", "--model", "popular", "--fresh"), 0, "the only model")
    is_refused(harness("run", "two.toml", "--model", "populr"), 'did you mean "popular"')
    is_refused(
        harness("run", "two.toml", "--fresh", "--engine", "spark"),
        "--fresh is an option of --engine local",
    )


def test_out_names_the_folder_and_may_name_an_earlier_run(harness: Cli, tmp_path: Path) -> None:
    for _ in range(2):
        tells(harness("run", "exam.toml", "--out", "mine/one"), 0, "written to mine/one/")
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["one"]
    assert runs(tmp_path) == []


def test_a_foreign_folder_is_refused_before_any_work(
    harness: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.doc").touch()
    monkeypatch.setattr("harness.experiment.run.run", lambda *_, **__: pytest.fail("work was done"))
    for out in ("thesis", "log.csv"):
        told = f"{out}: exists and is no run folder; choose another --out\n"
        assert harness("run", "exam.toml", "--out", out) == (2, "", told)
    assert [p.name for p in (tmp_path / "thesis").iterdir()] == ["chapter.doc"]


def test_json_is_one_document_and_nothing_else(harness: Cli, tmp_path: Path) -> None:
    status, out, err = harness("run", "exam.toml", "--format", "json", "--out", "one")
    assert status == 0
    assert out == (tmp_path / "one" / "result.json").read_text()
    assert json.loads(out)["models"][0]["name"] == "popular"
    assert err == "written to one/\n"


def test_what_a_model_prints_is_kept_out_of_the_json(harness: Cli) -> None:
    talks = ("--set", "models.0.use=plugged:Talks")
    status, out, err = harness("run", "exam.toml", "--format", "json", *talks)
    assert status == 0
    assert json.loads(out)["schema"] == 1
    assert "epoch 1" in err


def test_csv_parses(harness: Cli) -> None:
    status, out, err = harness("run", "exam.toml", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert status == 0
    assert (row["model"], row["repeats"]) == ("popular", "1")
    assert float(row["MAP@2 mean"]) == 0.5
    assert float(row["MAP@2 low"]) < 0.5 < float(row["MAP@2 high"])
    assert err.startswith("written to runs/")


def test_markdown_is_a_table(harness: Cli) -> None:
    status, out, err = harness("run", "exam.toml", "--format", "markdown")
    rows = [line for line in out.splitlines() if line.startswith("|")]
    assert status == 0
    assert rows[0].startswith("| model | MAP@2 |")
    assert rows[2].startswith("| popular | 0.5000 |")
    assert len({row.count("|") for row in rows}) == 1
    assert err.startswith("written to runs/")


MISTAKES = {
    "no config": (["run", "nope.toml"], "nope.toml: no such file; there are exam.toml"),
    "a folder for a config": (["run", "."], "is a folder, and a config is one file; there are"),
    "no TOML": (["run", "log.csv"], "log.csv: is not valid TOML"),
    "unknown key": (["run", "exam.toml", "--set", "evaluation.requirehit=true"], '"require_hit"'),
    "no data": (["run", "exam.toml", "--set", "data.events=x.csv"], "x.csv: no such file"),
    "no folder": (["run", "exam.toml", "--set", "data.path=gone"], "gone"),
    "no column": (["run", "exam.toml", "--set", "data.user=usr"], 'no column "usr"'),
    "bad time": (["run", "exam.toml", "--set", "data.time=item"], 'line 2, column "item"'),
    "bad parameter": (
        ["run", "exam.toml", "--set", "models.0.params.window_days=-1"], "window_days is -1"
    ),
    "raising model": (
        ["run", "exam.toml", "--set", "models.0.use=plugged:Raises"],
        'model "popular" raised in fit: ZeroDivisionError: too few stars',
    ),
    "unknown metric": (["run", "exam.toml", "--set", 'evaluation.metrics=["X@2"]'], '"X"'),
    "empty exam": (
        ["run", "exam.toml", "--set", "evaluation.seen_items=drop", "--set", "split.valid_days=6"],
        "no user is left",
    ),
    "split of nothing": (["run", "exam.toml", "--set", "split.valid_days=99"], "[split]"),
    "days beyond time": (["run", "exam.toml", "--set", "split.valid_days=1000000000"], "[split]"),
    "a file for a folder": (["run", "exam.toml", "--out", "log.csv/x"], "log.csv/x"),
    "wrong option": (["run", "exam.toml", "--nope"], "--nope"),
    "no size": (["run", "exam.toml", "--memory", "4 gigs"], "memory is '4 gigs'; write a number"),
    "little memory": (["run", "exam.toml", "--memory", "20MB"], "need 1 GB or more"),
    "no choice": (["run", "exam.toml", "--engine", "maybe"], "maybe"),
    "wrong format": (["run", "exam.toml", "--format", "yaml"], "yaml"),
    "no argument": (["run"], "config"),
    "unknown command": (["runn"], "runn"),
    "unknown layout": (["synth", "netflix", "--out", "x"], "netflix"),
    "no number": (["synth", "hm", "--out", "x", "--users", "many"], "--users"),
    "synth into a file": (["synth", "hm", "--out", "log.csv", "--users", "20"], "log.csv"),
    "synth into no name": (["synth", "hm", "--out", "a" * 300, "--users", "20"], "aaaa"),
    "a sample of no name": (["validate", "log.csv", "--sample", "a" * 300], "no such file"),
    "lists of no name": (
        ["explain", "a" * 300, "--solution", "log.csv", "--user", "u"], "no such file"
    ),
    "runs of no name": (["leaderboard", "a" * 300], "is no folder"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_a_message_and_status_2(harness: Cli, tmp_path: Path, mistake: str) -> None:
    arguments, named = MISTAKES[mistake]
    before = sorted(p.name for p in tmp_path.iterdir() if p.name != "__pycache__")
    is_refused(harness(*arguments), named)
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "__pycache__") == before


@pytest.mark.parametrize(
    ("mode", "typed", "told"),
    [
        (0o000, ["validate", "closed/a.csv"], "SUB018"),
        (0o000, ["validate", "log.csv", "--sample", "closed/a.csv"], "the file may not be read"),
        (0o000, ["validate", "log.csv", "--items", "closed/a.csv"], "the file may not be read"),
        (0o000, ["score", "log.csv", "--solution", "closed/a.csv"], "Permission denied"),
        (0o311, ["score", "log.csv", "--solution", "closed/a.csv"], "may not be listed"),
    ],
)
def test_a_folder_that_is_closed_is_a_message(
    harness: Cli, tmp_path: Path, mode: int, typed: list[str], told: str
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode)
    if os.access(closed, os.R_OK):
        pytest.skip("root enters every folder")
    status, out, err = harness(*typed)
    assert status in (1, 2)
    assert told in out + err


def test_no_arguments_show_the_help(harness: Cli) -> None:
    status, out, err = harness()
    assert status == 2
    assert "Usage: " in out + err
    assert harness("--help")[0] == harness("run", "--help")[0] == 0


def test_an_unknown_fault_is_ours_and_keeps_its_traceback() -> None:
    def broken() -> None:
        raise LookupError("a bug")

    with pytest.raises(LookupError):
        guarded(broken)


def test_an_interrupt_is_status_130(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    assert guarded(interrupted) == 130
    assert capsys.readouterr() == ("", "interrupted; no output is half-written\n")


def test_an_interrupt_within_polars_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Polars imports parts of NumPy when they are needed, and panics where that is interrupted."""

    def raising(says: str) -> None:
        raise pl.exceptions.PanicException(says)

    assert guarded(lambda: raising("no array: PyErr { type: KeyboardInterrupt }")) == 130
    assert capsys.readouterr().err == "interrupted; no output is half-written\n"
    with pytest.raises(pl.exceptions.PanicException):
        guarded(lambda: raising("a fault of its own"))


def test_an_interrupt_before_the_command_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.cli.guard_streams", interrupted)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130


def test_an_interrupt_while_the_command_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def find_spec(self, name: str, path: object, target: object = None) -> None:
            if name == "harness.cli":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "harness.cli")
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        started()
    assert ended.value.code == 130


def test_ctrl_c_while_a_model_fits(harness: Cli, tmp_path: Path) -> None:
    slow = command("run", "exam.toml", "--set", "models.0.use=plugged:Slow", cwd=tmp_path)
    patience = time.monotonic() + 30
    while not (tmp_path / "fitting").exists() and time.monotonic() < patience:
        time.sleep(0.02)
    slow.send_signal(signal.SIGINT)
    out, err = slow.communicate(timeout=30)
    assert (slow.returncode, out) == (130, "")
    assert err.strip() == "interrupted; no output is half-written"
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_gone_is_no_error(harness: Cli, tmp_path: Path, unbuffered: str) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "harness", "run", "exam.toml", "--out", "one"],
        cwd=tmp_path, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60,
        env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "one" / "result.json").exists()


def test_no_file_steers_the_terminal_by_an_error(harness: Cli, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,\x1b]0;title\x07,\x9b31m\nann,a,2020-01-01\n")
    status, _, err = harness("run", "exam.toml")
    assert status == 2
    assert 'no column "item"' in err
    assert "]0;title" in err
    assert all(c.isprintable() or c == "\n" for c in err)


@pytest.mark.parametrize("format_", ["table", "markdown", "csv"])
def test_no_name_steers_the_terminal(harness: Cli, tmp_path: Path, format_: str) -> None:
    named = TOML.replace('"popular"', '"pop\\u001b[31mular\\u009b1m"')
    (tmp_path / "odd.toml").write_text(named)
    status, out, _ = harness("run", "odd.toml", "--format", format_)
    assert status == 0
    assert "ular" in out
    assert all(c.isprintable() or c == "\n" for c in out)


def test_no_file_steers_the_terminal_by_a_note(harness: Cli, tmp_path: Path) -> None:
    data = tmp_path / "hm"
    data.mkdir()
    odd = "\x1b[31mabcd"  # nine characters: taken for an id that lost its zero
    (data / "articles.csv").write_text(f"article_id\n{odd}\n")
    (data / "customers.csv").write_text("customer_id\nann\n")
    rows = "".join(f"2020-01-{day:02},ann,{odd}\n" for day in (1, 9))
    (data / "transactions_train.csv").write_text("t_dat,customer_id,article_id\n" + rows)
    text = TOML.replace('"table"', '"hm"').replace('"."', '"hm"').replace('events = "log.csv"', "")
    (tmp_path / "hm.toml").write_text(text)
    status, out, err = harness("run", "hm.toml")
    assert (status, err) == (0, "")
    assert "[31mabcd" in out
    assert all(c.isprintable() or c == "\n" for c in out)


def test_a_terminal_gets_the_rich_table(harness: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Sheet] = []
    monkeypatch.setattr("harness.core.terminal.print_rich", shown.append)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    status, out, _ = harness("run", "exam.toml", "--out", "one")
    assert (status, out) == (0, "written to one/\nnext  harness report one\n")
    assert [row[0] for row in shown[0].rows] == ["popular", "chance (exact)"]


def test_synth_writes_and_names_its_files(harness: Cli, tmp_path: Path) -> None:
    size = ("--users", "30", "--items", "20", "--events", "200")
    status, out, _ = harness("synth", "kion", "--out", "made", *size)
    assert status == 0
    written = sorted(p.name for p in (tmp_path / "made").iterdir())
    assert written == ["interactions.csv", "items.csv", "users.csv"]
    assert all(f"made/{name}  " in out for name in written)


def test_synth_replaces_nothing_unless_told(harness: Cli, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "transactions_train.csv").write_text("mine")
    small = ["synth", "hm", "--out", "real", "--users", "9", "--items", "20", "--events", "30"]
    is_refused(harness(*small), "holds transactions_train.csv; name another --out")
    assert (tmp_path / "real" / "transactions_train.csv").read_text() == "mine"
    tells(harness(*small, "--force"), 0, "transactions_train.csv")


def test_the_version(harness: Cli) -> None:
    status, out, _ = harness("--version")
    assert (status, out.split()[0]) == (0, "submission-harness")


def test_compare_prints_models_pairs_and_slices(harness: Cli, tmp_path: Path) -> None:
    last = POPULAR | {"name": "last", "params": {"window_days": 5}}
    small.write(tmp_path, {"two.toml": small.toml(POPULAR, last)})
    assert harness("run", "two.toml", "--out", "run")[0] == 0
    words = ["95 % interval", "pairs  MAP@2", "p (Holm)", "50 % public (2 of 3", "slices  MAP@2 by"]
    tells(harness("compare", "run", "--slices", "truth", "--public-share", "0.5"), 0, *words)
    document = json.loads(harness("compare", "run", "--format", "json")[1])
    assert [pair["verdict"] for pair in document["comparison"]["pairs"]] == ["tied"]
    rows = list(csv.DictReader(io.StringIO(harness("compare", "run", "--format", "csv")[1])))
    assert set(rows[0]) >= {"one", "other", "difference", "ci95 low", "p_adjusted", "verdict"}


def test_compare_says_what_it_cannot_do(harness: Cli) -> None:
    assert harness("run", "exam.toml", "--out", "run")[0] == 0
    is_refused(harness("compare", "run"), "only one model")
    assert harness("compare", "run", "--correction", "none")[0] == 2
    assert harness("compare", ".")[2] == (
        ".: is no run folder, but holds 1 run; name one, such as run, or see the best of all: "
        "harness leaderboard .\n"
    )
