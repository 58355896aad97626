"""``~`` and variables in the paths of a config."""

from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal

from harness.config import Config, parse
from harness.core.errors import UsageError
from harness.experiment.run import run


def config(**sections: Any) -> Config:
    return parse(small.values(**sections), Path("here"))


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("USERPROFILE", "/home/ann")
    monkeypatch.setenv("DAY", "2020-01-01")
    monkeypatch.setenv("BUCKET", "s3a://shop")
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.delenv("GONE", raising=False)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("~", "/home/ann"),
        ("~/data", "/home/ann/data"),
        ("$HOME/data", "/home/ann/data"),
        ("${DAY}.csv", "2020-01-01.csv"),
        ("log-$DAY", "log-2020-01-01"),
        ("$DAY/$DAY", "2020-01-01/2020-01-01"),
        ("a$$DAY", "a$DAY"),
        ("~bob/x", "~bob/x"),
        ("a~/x", "a~/x"),
        ("cost$.csv", "cost$.csv"),
        ("$BUCKET/x", "s3a://shop/x"),
        ("s3a://shop/$DAY", "s3a://shop/$DAY"),
        ("table:shop.$DAY", "table:shop.$DAY"),
    ],
)
def test_what_stands_for_what(written: str, meant: str) -> None:
    assert config(data={"events": written}).data.events == meant


def test_a_variable_with_a_tilde_or_a_dollar_is_not_expanded_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DAY", "~/$HOME")
    monkeypatch.setenv("HOME", "/home/$DAY")
    assert config(data={"events": "$DAY"}).data.events == "~/$HOME"
    assert config(data={"events": "~/x"}).data.events == "/home/$DAY/x"


@pytest.mark.parametrize("variable", ["$GONE", "${GONE}", "$EMPTY"])
@pytest.mark.parametrize(
    ("sections", "key"),
    [
        ({"data": {"path": "?"}}, "[data] path"),
        ({"data": {"events": "?"}}, "[data] events"),
        ({"data": {"users": "?"}}, "[data] users"),
        ({"data": {"items": {"file": "?"}}}, "[data] items.file"),
        ({"split": {"strategy": "given", "valid": "?"}}, "[split] valid"),
        ({"submission": {"sample": "?"}}, "[submission] sample"),
        ({"models": [{"name": "own", "lists": "?"}]}, '[[models]] "own" lists'),
    ],
)
def test_a_variable_that_is_not_set_is_told(
    variable: str, sections: dict[str, Any], key: str
) -> None:
    def of(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: of(one) for name, one in value.items()}
        if isinstance(value, list):
            return [of(one) for one in value]
        return variable if value == "?" else value

    name = variable.strip("${}")
    said = f"config: {key}: the variable ${name} is not set; set it (export {name}=…)"
    with refusal(UsageError, said, 'write "$$" where'):
        config(**of(sections))


def test_the_record_has_paths_that_are_whole() -> None:
    lists = [{"name": "own", "lists": "$DAY.csv"}]
    found = config(data={"path": "~/x"}, submission={"sample": "~/s.csv"}, models=lists).resolved()
    assert found["data"]["path"] == str(Path("/home/ann/x").resolve())
    assert found["submission"]["sample"] == str(Path("/home/ann/s.csv").resolve())
    assert found["models"][0]["lists"] == str(Path("here/2020-01-01.csv").resolve())


def test_a_run_reads_what_a_variable_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGS", str(tmp_path))
    given = small.config(tmp_path, data={"path": "$LOGS", "events": "${LOGS}/log.csv"})
    assert "popular" in str(run(given))
