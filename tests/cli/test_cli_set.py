"""validate, score and explain take --set as run and submit do: one config, data elsewhere."""

import re
import shlex
from pathlib import Path

import pytest
import small
from conftest import Cli, is_refused

CONFIG = small.toml(
    data={"path": "nowhere", "events": "events.csv"}, split={"strategy": "last_n", "n": 1}
)
EVENTS = "user,item,time\nann,a,2024-01-01\nann,b,2024-01-02\nbob,b,2024-01-01\nbob,a,2024-01-02\n"
COMMANDS = {
    "validate": ["validate", "lists.csv"],
    "score": ["score", "lists.csv"],
    "explain": ["explain", "lists.csv", "--user", "ann"],
}


@pytest.fixture(autouse=True)
def _files(here: Path) -> None:
    small.write(here, {"exam.toml": CONFIG, "there/events.csv": EVENTS})
    small.write(here, {"lists.csv": "user,item\nann,b;a\nbob,a;b\n"})


@pytest.mark.parametrize("command", COMMANDS)
def test_keys_are_overridden(command: str, cli: Cli) -> None:
    by = [*COMMANDS[command], "--config", "exam.toml"]
    keys = ["--set", "data.path=there", "--set", "submission.separator=;"]
    status, out, err = cli(*by, *keys)
    assert (status, err) == (0, ""), out + err
    assert {"validate": "0 errors", "score": "1.000000", "explain": "1  b     hit"}[command] in out
    is_refused(cli(*by, *keys[:2], "--separator", ";"), "--set 'submission.separator=\";\"'")


def test_a_fault_is_attributed_to_what_was_typed_too(cli: Cli) -> None:
    told = "exam.toml with --set split.n=-1: [split] n: found -1"
    is_refused(cli("run", "exam.toml", "--set", "split.n=-1"), told)


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_hint_on_separators_works_as_it_stands(separator: str, cli: Cli) -> None:
    small.write(Path(), {"there/events.csv": EVENTS.replace(",", separator)})
    by = ["run", "exam.toml", "--set", "data.path=there"]
    status, _, err = cli(*by)
    found = re.search(r"set (separator = \S+) under \[data\] \(or (--set \S+)\)", err)
    assert status == 2
    assert found is not None, err
    assert cli(*by, *shlex.split(found[2]))[0] == 0
    small.write(Path(), {"exam.toml": CONFIG.replace("[data]\n", f"[data]\n{found[1]}\n")})
    assert cli(*by)[0] == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_they_are_those_of_a_config(command: str, cli: Cli) -> None:
    Path("solution.csv").write_text("user,item\nann,b\nbob,a\n")
    keys = ["--set", "data.path=there"]
    told = "--set data.path=there overrides a key of a config; name it with --config"
    is_refused(cli(*COMMANDS[command], "--solution", "solution.csv", *keys), told)


def test_a_run_takes_none(cli: Cli) -> None:
    Path("mine").mkdir()
    Path("mine", "config.toml").write_text(CONFIG)
    by = ["explain", "mine", "--model", "popular", "--user", "ann"]
    told = "a run knows its evaluation set; leave --config and --solution out, and --set"
    is_refused(cli(*by, "--set", "data.path=there"), told)


def test_a_folder_that_is_not_there_names_it(cli: Cli) -> None:
    told = "or name another as [data] path or with --set data.path=…"
    is_refused(cli("score", "lists.csv", "--config", "exam.toml"), told)
