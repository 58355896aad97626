"""validate, score and explain take --set as run and submit do: one config, data elsewhere."""

from pathlib import Path

import pytest

from harness.cli import app, guarded

CONFIG = """[data]
layout = "table"
path = "nowhere"
events = "events.csv"

[split]
strategy = "last_n"
n = 1

[evaluation]
k = 2

[[models]]
name = "popular"
use = "baselines.popular:Popular"
"""
EVENTS = "user,item,time\nann,a,2024-01-01\nann,b,2024-01-02\nbob,b,2024-01-01\nbob,a,2024-01-02\n"
COMMANDS = {
    "validate": ["validate", "lists.csv"],
    "score": ["score", "lists.csv"],
    "explain": ["explain", "lists.csv", "--user", "ann"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "exam.toml").write_text(CONFIG)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "events.csv").write_text(EVENTS)
    (tmp_path / "lists.csv").write_text("user,item\nann,b;a\nbob,a;b\n")
    monkeypatch.chdir(tmp_path)


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = guarded(lambda: app(list(arguments), standalone_mode=False))
    told = capfd.readouterr()
    return status, told.out, told.err


@pytest.mark.parametrize("command", COMMANDS)
def test_keys_are_overridden(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    by = [*COMMANDS[command], "--config", "exam.toml"]
    keys = ["--set", "data.path=there", "--set", "submission.separator=;"]
    status, out, err = run(capfd, *by, *keys)
    assert (status, err) == (0, ""), out + err
    assert {"validate": "0 errors", "score": "1.000000", "explain": "1  b     hit"}[command] in out
    status, out, err = run(capfd, *by, *keys[:2], "--separator", ";")
    assert status == 2
    assert "--set 'submission.separator=;'" in err


@pytest.mark.parametrize("command", COMMANDS)
def test_they_are_those_of_a_config(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("solution.csv").write_text("user,item\nann,b\nbob,a\n")
    keys = ["--set", "data.path=there"]
    status, _, err = run(capfd, *COMMANDS[command], "--solution", "solution.csv", *keys)
    assert status == 2
    assert "--set data.path=there overrides a key of a config; name it with --config" in err


def test_a_run_takes_none(capfd: pytest.CaptureFixture[str]) -> None:
    Path("mine").mkdir()
    Path("mine", "config.toml").write_text(CONFIG)
    by = ["explain", "mine", "--model", "popular", "--user", "ann"]
    status, _, err = run(capfd, *by, "--set", "data.path=there")
    assert status == 2
    assert "a run knows its evaluation set; leave --config and --solution out, and --set" in err


def test_a_folder_that_is_not_there_names_it(capfd: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capfd, "score", "lists.csv", "--config", "exam.toml")
    assert status == 2
    assert "or name another as [data] path or with --set data.path=…" in err
