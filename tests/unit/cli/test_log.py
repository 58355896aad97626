"""What commands say beside their results: ``--quiet``, ``--verbose``, bars, and the log's state."""

import io
import json
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest
import small
from conftest import Cli, is_refused
from small import LOG, POPULAR, RANDOM

from harness.cli.log import asking_for, logged, shows_bars
from harness.core.progress import steps
from harness.experiment.run import run
from harness.tuning.tuning import tune

PLUG_INS = """
import logging
import numpy as np

class Raises:
    def fit(self, train):
        raise ZeroDivisionError("too few stars")

    def recommend(self, users, k, draws, exclude=None):
        return np.full((len(users), k), -1)

class Talks(Raises):
    def fit(self, train):
        logging.basicConfig(format="mine: %(message)s", level=logging.INFO)
        logging.getLogger("mine").info("epoch 1")
        print("epoch 2")
        return self
"""
ODD = {"name": "odd\x1b[2J", "use": "baselines.popular:Popular"}
FAILS = {"name": "mine", "use": "plugged:Raises"}
FOLDS = {"strategy": "time", "valid_days": 2, "folds": 2}
LISTS = "user,items\nann,b a\nbob,d b\ncid,a b\n"
TRUTH = "user,items\nann,b\nbob,d\ncid,a\n"


@pytest.fixture
def harness(here: Path, cli: Cli) -> Cli:
    """Return what runs a command where a log, lists, configs and models are."""
    files = {"log.csv": LOG, "plugged.py": PLUG_INS, "lists.csv": LISTS, "truth.csv": TRUTH}
    files |= {"exam.toml": small.toml(), "two.toml": small.toml(POPULAR, RANDOM)}
    files |= {"fails.toml": small.toml(POPULAR, FAILS), "odd.toml": small.toml(ODD)}
    small.write(here, files)
    return cli


def lines(text: str) -> list[str]:
    """Return the lines of a log, their seconds as one letter."""
    return re.sub(r"\d+\.\d s", "T", text).splitlines()


OF_TWO = [
    "read 8 events, T",
    "evaluation set: 3 users, 4 candidates, T",
    "popular (1 of 2): fit T, recommend T, score T",
    "random (2 of 2): fit T, recommend T, score T",
    "compared 1 pair, T",
]
AGAIN = [
    "read 8 events from the cache, T",
    OF_TWO[1],
    "popular (1 of 2): taken from an earlier run",
    "random (2 of 2): taken from an earlier run",
    OF_TWO[-1],
]


def test_verbose_says_what_each_step_did(harness: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")  # what is made of files of just now is kept
    cached = ("--set", "data.cache=true")
    for expected in (OF_TWO, AGAIN):
        status, out, err = harness("run", "two.toml", "--out", "one", "-v", *cached)
        assert (status, lines(err)) == (0, [*expected, "wrote the run folder, T"])
        assert "pairs  MAP@2" in out


def test_a_step_says_in_which_fold_it_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "harness")
    run(small.config(tmp_path, POPULAR, log=small.MANY, split=FOLDS))
    assert lines("\n".join(caplog.messages)) == [
        "read 94 events, T",
        "fold 1 of 2: evaluation set: 13 users, 5 candidates, T",
        "fold 1 of 2: popular (1 of 1): fit T, recommend T, score T",
        "fold 1 of 2: compared 0 pairs, T",
        "fold 2 of 2: evaluation set: 27 users, 5 candidates, T",
        "fold 2 of 2: popular (1 of 1): fit T, recommend T, score T",
        "fold 2 of 2: compared 0 pairs, T",
    ]


def test_the_log_speaks_in_python_as_well(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "harness")
    found = run(small.config(tmp_path, POPULAR, RANDOM))
    found.write(tmp_path / "one")
    assert lines("\n".join(caplog.messages)) == [*OF_TWO, "wrote the run folder, T"]
    assert {one.levelname for one in caplog.records} == {"INFO"}
    assert all(one.name.startswith("harness.") for one in caplog.records)


def test_nothing_is_said_in_python_unless_it_is_asked_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run(small.config(tmp_path, POPULAR))
    assert caplog.messages == []


def test_tune_says_how_many_trials_each_model_had(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "harness")
    space = POPULAR | {"space": {"window_days": [1, 2]}}
    config = small.config(tmp_path, space, log=small.TO_TUNE)
    tune(config.model_copy(update={"tune": config.tune.model_copy(update={"search": "grid"})}))
    assert lines("\n".join(caplog.messages)) == [
        "read 9 events, T",
        "inner evaluation set: 2 users, 2 candidates, T",
        "popular: 3 trials, T",  # as it is, and with a window of 1 day and of 2
    ]


def test_a_name_cannot_steer_a_terminal(harness: Cli) -> None:
    _, _, err = harness("run", "odd.toml", "-v")
    assert "\x1b" not in err
    assert "odd\N{REPLACEMENT CHARACTER}[2J (1 of 1): fit" in err


ON_TRUTH = "lists.csv --solution truth.csv"
SAYS = {
    f"validate {ON_TRUTH}": ["lists.csv: checked 3 rows, T"],
    f"score {ON_TRUTH}": ["lists.csv: checked 3 rows, T", "scored 3 users under 3 metrics, T"],
    f"explain {ON_TRUTH} --user ann": ["lists.csv: checked 3 rows, T"],
    "submit exam.toml --model popular --out lists-2.csv": [
        *OF_TWO[:2],
        "popular: lists for 3 users, T",
    ],
    "split exam.toml --out files": [*OF_TWO[:2], "sample_submission.csv: checked 3 rows, T"],
    "compare one": ["read the scores of 1 run, 3 users, T", "compared 1 pair, T"],
}


@pytest.mark.parametrize("command", SAYS)
def test_other_commands_say_what_they_did(harness: Cli, command: str) -> None:
    assert harness("run", "two.toml", "--out", "one")[0] == 0
    assert lines(harness(*command.split(), "--verbose")[2]) == SAYS[command]
    assert harness(*command.split(), "--quiet")[2] == ""


TABLES = ["run exam.toml", "compare one", "check one --at-least", "leaderboard ."]
TABLES += [f"{command} {ON_TRUTH}" for command in ("validate", "score", "explain --user ann")]
TABLES += ["tune tuned.toml --trials 1"]


@pytest.mark.parametrize("command", TABLES)
@pytest.mark.parametrize("format_", ["table", "json"])
def test_quiet_prints_the_result_alone(
    harness: Cli, here: Path, command: str, format_: str
) -> None:
    space = POPULAR | {"space": {"window_days": [1, 2]}}
    tuned = small.toml(space, data={"events": "days.csv"})
    small.write(here, {"tuned.toml": tuned, "days.csv": small.TO_TUNE})
    assert harness("run", "two.toml", "--out", "one")[0] == 0
    more = ["MAP@2 of popular >= 0"] if command.startswith("check") else []
    status, out, err = harness(*command.split(), *more, "-q", "--format", format_)
    assert (status, err) == (0, "")
    assert "written to" not in out
    assert "next  " not in out
    assert out
    if format_ == "json":
        assert json.loads(out)


FILES = {
    "report one": "one/report.html",
    "split exam.toml --out files": "files/solution.csv",
    "submit exam.toml --model popular --out mine.csv --all-events": "mine.csv",
    "synth hm --users 20 --items 10 --events 90 --out made": "made/articles.csv",
}


@pytest.mark.parametrize("command", FILES)
def test_quiet_prints_nothing_where_the_result_is_a_file(
    harness: Cli, here: Path, command: str
) -> None:
    assert harness("run", "two.toml", "--out", "one")[0] == 0
    assert harness(*command.split(), "-q") == (0, "", "")
    assert (here / FILES[command]).is_file()


def test_a_failure_is_told_all_the_same(harness: Cli) -> None:
    status, out, err = harness("run", "fails.toml", "--quiet", "--format", "json")
    assert (status, err) == (1, "1 of 2 models failed; --debug shows tracebacks\n")
    assert json.loads(out)["failed"][0]["name"] == "mine"
    _, _, err = harness("run", "fails.toml", "--verbose", "--format", "json")
    told = 'failed: model "mine" raised in fit: ZeroDivisionError: too few stars'
    assert next(line for line in lines(err) if "failed" in line).startswith(told)


def test_what_a_mended_file_still_has_is_told_all_the_same(harness: Cli, here: Path) -> None:
    small.write(here, {"bad.csv": "user,items\nann,b b\nbob,d\n"})
    fixing = ("validate", "bad.csv", "--solution", "truth.csv", "--fix", "good.csv")
    loud, quiet = harness(*fixing, "--strict"), harness(*fixing, "--strict", "-q")
    assert (loud[0], quiet[0]) == (1, 1)
    assert quiet[2] == loud[2]
    assert "good.csv" in quiet[2]


@pytest.mark.parametrize("both", ["-q -v", "--verbose --quiet", "--quiet --debug"])
def test_quiet_goes_with_no_wish_for_more(harness: Cli, both: str) -> None:
    done = harness("run", "exam.toml", *both.split())
    is_refused(done, "--quiet", "--verbose", "--debug")
    assert done[2].count("\n") == 1


@pytest.mark.parametrize("command", ["check", "leaderboard", "report", "synth", "fetch"])
def test_verbose_is_no_option_where_it_would_change_nothing(harness: Cli, command: str) -> None:
    assert "No such option: -v" in harness(command, "one", "-v")[2]


@pytest.mark.parametrize("more", ["", "-v", "-q", "--debug", "-v -q", "-v --no-such"])
def test_nothing_of_the_log_is_left_behind(harness: Cli, more: str) -> None:
    log = logging.getLogger("harness")
    before = log.level, log.propagate, list(log.handlers)
    for _ in range(2):
        harness("run", "exam.toml", *more.split())
        assert (log.level, log.propagate, log.handlers) == before


@pytest.mark.parametrize("how", ["-q", "-v"])
def test_what_a_model_says_is_its_own(harness: Cli, here: Path, how: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harness", "run", "exam.toml", how, "--format", "json",
         "--set", "models.0.use=plugged:Talks"],
        text=True, capture_output=True, timeout=60, cwd=here,
    )  # fmt: skip
    assert (done.returncode, json.loads(done.stdout)["schema"]) == (0, 1)
    assert done.stderr.count("mine: epoch 1\n") == done.stderr.count("epoch 2\n") == 1
    assert done.stderr.count("wrote the run folder") == (how == "-v")
    assert ("written to" in done.stderr) == (how == "-v")


class Terminal(io.StringIO):
    """A terminal of 20 columns, as far as bars ask."""

    def isatty(self) -> bool:
        return True

    def screen(self) -> list[str]:
        """Return what stands on it: after a carriage return letters are written over."""
        shown, at = [""], 0
        for letter in self.getvalue().replace("\x1b[A", ""):
            if letter == "\n":
                shown.append("")
                at = 0
            elif letter == "\r":
                at = 0
            else:
                shown[-1] = shown[-1][:at].ljust(at) + letter + shown[-1][at + 1 :]
                at += 1
        return [line.rstrip() for line in shown]


@pytest.mark.parametrize("delay", [0, 60])
def test_lines_and_bars_do_not_tear_each_other_up(
    monkeypatch: pytest.MonkeyPatch, delay: int
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("harness.core.progress._SECONDS_BEFORE_SHOWN", delay)
    with logged():
        with steps("reading", 4, " rows") as bar:
            bar.update()
            logging.getLogger("harness.data").warning("a first line")
            bar.update()
            logging.getLogger("harness.data").warning("another")
            assert terminal.screen()[:2] == ["a first line", "another"]
            assert terminal.screen()[2].startswith("reading:  50%")
        logging.getLogger("harness.data").warning("the end")
    assert terminal.screen() == ["a first line", "another", "the end", ""]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_bar_is_gone_after_an_error(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("harness.core.progress._SECONDS_BEFORE_SHOWN", 0)
    with pytest.raises(error), steps("reading", 4, " rows") as bar:
        bar.update(2)
        bar.refresh()
        assert terminal.screen()[-1].startswith("reading:  50%")
        raise error
    assert terminal.screen() == [""]


def test_bars_are_for_terminals_and_not_for_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not shows_bars()
    monkeypatch.setattr("sys.stderr", Terminal())
    with logged():
        assert shows_bars()
        asking_for(logging.INFO)(True)
        assert shows_bars()
    with logged():
        asking_for(logging.ERROR)(True)
        assert not shows_bars()
