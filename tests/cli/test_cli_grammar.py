"""One grammar: a config by its place or by --config, -o and -h, in every command that has them."""

from pathlib import Path

import pytest
import small
from conftest import Cli, is_refused, tells
from small import POPULAR
from typer.main import get_command

from harness.cli import app

COMMANDS = get_command(app).commands  # type: ignore[attr-defined]
LISTS = "user,items\nann,b a\nbob,d\ncid,b\n"
BY_PLACE = {
    "run": "run {} --out there",
    "split": "split {} --out there",
    "submit": "submit {} --model popular --out there.csv",
    "score": "score lists.csv {}",
    "validate": "validate lists.csv {}",
    "explain": "explain lists.csv {} --user ann",
}


@pytest.fixture
def harness(here: Path, cli: Cli) -> Cli:
    """Return what runs a command where a config and lists are."""
    small.write(here, {"log.csv": small.LOG, "exam.toml": small.toml(POPULAR), "lists.csv": LISTS})
    return cli


def test_no_command_that_reads_a_config_is_forgotten() -> None:
    reads = {name for name, one in COMMANDS.items() if "--set" in options(name)}
    assert reads == {*BY_PLACE, "tune", "compare", "leaderboard"}
    assert {name for name in COMMANDS if "--config" in options(name)} == reads


def options(command: str) -> set[str]:
    return {text for param in COMMANDS[command].params for text in param.opts}


@pytest.mark.parametrize("command", BY_PLACE)
def test_a_config_may_be_named_by_its_place_or_by_an_option(harness: Cli, command: str) -> None:
    line = BY_PLACE[command]
    one = harness(*line.format("exam.toml").split())
    other = harness(*line.format("--config exam.toml").split())
    assert one[0] == other[0] == 0, one[2] + other[2]
    if command in ("score", "explain"):
        assert one == other
    both = harness(*line.format("exam.toml --config other.toml").split())
    is_refused(both, "two configs, exam.toml and --config other.toml", "name one")


@pytest.mark.parametrize("command", ["run", "split", "submit", "tune"])
def test_a_config_is_asked_for(harness: Cli, command: str) -> None:
    line = BY_PLACE.get(command, "tune {}").format("")
    is_refused(harness(*line.split()), "no config; name one: CONFIG", "--config CONFIG")


@pytest.mark.parametrize("command", ["score", "validate", "explain"])
def test_a_second_file_of_lists_is_no_config(harness: Cli, command: str) -> None:
    line = BY_PLACE[command].format("other.csv")
    is_refused(harness(*line.split()), "other.csv: stands where a config", "harness compare FILE")


@pytest.mark.parametrize("command", COMMANDS)
def test_short_options_are_those_of_the_long_ones(harness: Cli, command: str) -> None:
    assert ("-o" in options(command)) == ("--out" in options(command))
    tells(harness(command, "-h"), 0, "Usage:", command, "--help")


def test_o_is_out(harness: Cli) -> None:
    assert harness("run", "exam.toml", "-o", "mine")[0] == 0
    assert Path("mine/result.json").is_file()
