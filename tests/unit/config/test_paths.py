"""``~`` and variables in the paths of a config, and names of tables that Spark alone can read."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import small
import tomli_w
from conftest import refusal

from harness.config import Config, parse
from harness.config.paths import paths_of
from harness.core.errors import UsageError


def config(**sections: Any) -> Config:
    return parse(small.values(**sections), Path("here"))


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {"HOME": "/home/ann", "USERPROFILE": "/home/ann", "DAY": "2020-01-01", "EMPTY": ""}
    for name, value in (held | {"BUCKET": "s3a://shop", "ODD": "~/$HOME"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GONE", raising=False)


def test_what_stands_for_what() -> None:
    """What a variable holds is not expanded again."""
    meant = {
        "~": "/home/ann",
        "~/data": "/home/ann/data",
        "${DAY}.csv": "2020-01-01.csv",
        "$DAY/$DAY": "2020-01-01/2020-01-01",
        "$ODD": "~/$HOME",
        "a$$DAY": "a$DAY",
        "~bob/x": "~bob/x",
        "cost$.csv": "cost$.csv",
        "$BUCKET/x": "s3a://shop/x",
        "table:shop.$DAY": "table:shop.$DAY",
    }
    assert {written: config(data={"events": written}).data.events for written in meant} == meant


@pytest.mark.parametrize(
    ("sections", "key"),
    [
        ({"data": {"path": "${GONE}"}}, "[data] path"),
        ({"data": {"events": "$GONE"}}, "[data] events"),
        ({"data": {"users": "$GONE"}}, "[data] users"),
        ({"data": {"items": {"file": "$GONE"}}}, "[data] items.file"),
        ({"split": {"strategy": "given", "valid": "$GONE"}}, "[split] valid"),
        ({"submission": {"sample": "$GONE"}}, "[submission] sample"),
        ({"models": [{"name": "own", "lists": "$GONE"}]}, '[[models]] "own" lists'),
    ],
)
def test_a_variable_that_is_not_set_is_told(sections: dict[str, Any], key: str) -> None:
    message = f"config: {key} needs the variable $GONE, which is not set; set it (export GONE=…)"
    with refusal(UsageError, message, 'write "$$" where'):
        config(**sections)
    with refusal(UsageError, "the variable $EMPTY, which is not set"):
        config(data={"path": "x/$EMPTY/y"})


def test_names_that_spark_alone_reads_are_kept_as_they_are() -> None:
    data = {"path": "s3a://shop//x", "users": "table:shop.users", "items": "hdfs:///i.parquet"}
    remote = config(data=data)
    assert remote.resolved()["data"]["path"] == "s3a://shop//x"
    names = ["s3a://shop//x/log.csv", "table:shop.users", "hdfs:///i.parquet"]
    assert [table.remote for table in remote.layout().tables] == names
    for name, table in zip(names, remote.layout().tables, strict=True):
        with refusal(UsageError, name, "--engine spark"):
            _ = table.local


NAMES = {
    "a$$b.csv": "a$b.csv",
    "a$$$$b.csv": "a$$b.csv",
    "$$HOME": "$HOME",
    "$${DAY}.csv": "${DAY}.csv",
    "./~": "~",
    "./~/log.csv": "~/log.csv",
    "~x": "~x",
    "~ann/log.csv": "~ann/log.csv",
    "we$$ird/log.csv": "we$ird/log.csv",
    "$DAY.csv": "2020-01-01.csv",
    " a 'b' \"c\" # d.csv": " a 'b' \"c\" # d.csv",
    "größe-日本.csv": "größe-日本.csv",
    "a\\b.csv": "a\\b.csv",
}
"""Names as a config has them, and the files that they mean."""
WRITERS: dict[str, Callable[[Config, Path], dict[str, Any]]] = {
    "config.toml of a run": lambda config, folder: config.resolved(),
    "a config beside it": lambda config, folder: config.written(config.folder),
    "a config elsewhere": lambda config, folder: config.written(folder),
    "a worker": lambda config, folder: config.model_dump(exclude_unset=True, exclude_none=True),
}


def files_of(config: Config) -> list[Path]:
    lists = [path for model in config.models for path in paths_of(model.lists or [])]
    more = [config.folder / path for path in (*lists, str(config.submission.sample))]
    return [path.resolve() for path in (*(t.path for t in config.layout().tables), *more)]


@pytest.mark.parametrize("folder", [".", "we$ird", "~", "#1 'a' \"b\""])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_written_config_names_the_same_files(
    tmp_path: Path, writer: str, name: str, folder: str
) -> None:
    """Each key that names a file is written so that it is read as this file."""
    home, elsewhere = tmp_path / folder, tmp_path / "else" / "where"
    values = small.values(
        {"name": "own", "lists": name},
        data={"path": name, "events": name, "users": name, "items": {"file": name}},
        split={"strategy": "given", "valid": name},
        submission={"sample": name},
    )
    config = parse(values, home)
    meant = NAMES[name]
    assert files_of(config) == [home / meant / meant] * 4 + [home / meant] * 2
    written = tomllib.loads(tomli_w.dumps(WRITERS[writer](config, elsewhere)))
    stands = home if writer in ("a config beside it", "a worker") else elsewhere
    assert files_of(parse(written, stands)) == files_of(config)


def test_files_of_folds_are_written_as_they_are_read(tmp_path: Path) -> None:
    values = small.values(
        {"name": "own", "lists": ["1$$.csv", "2$$a.csv"]},
        data={"events": ["a$$b.csv", "c$$d.csv"]},
        split={"strategy": "given", "valid": ["e$$f.csv", "g$$h.csv"]},
    )
    resolved = parse(values, tmp_path).resolved()
    again = parse(resolved, Path("elsewhere"))
    assert again.data.events == ["a$b.csv", "c$d.csv"]
    assert again.split.model_dump()["valid"] == ["e$$f.csv", "g$$h.csv"]
    assert again.models[0].lists == [str(tmp_path / "1$.csv"), str(tmp_path / "2$a.csv")]


def test_a_variable_is_written_as_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A config that is written later names the files that were read, whatever holds by then."""
    before = parse(small.values(data={"path": "$DAY"}), tmp_path)
    for written in (before.resolved(), before.written(tmp_path), before.written(tmp_path / "x")):
        monkeypatch.setenv("DAY", "another day")
        log = parse(written, tmp_path).layout().tables[0]
        assert log.path == tmp_path / "2020-01-01" / "log.csv"


def test_paths_above_a_folder_that_is_a_link(tmp_path: Path) -> None:
    """ ".." is the folder above the one that the link leads to, as for every program."""
    (tmp_path / "far" / "configs").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "configs")
    config = parse(small.values(data={"path": "../data"}), tmp_path / "link")
    meant = tmp_path / "far" / "data" / "log.csv"
    for same in (
        config,
        parse(config.resolved(), tmp_path),
        parse(config.written(tmp_path), tmp_path),
        parse(config.written(tmp_path / "far" / "configs"), tmp_path / "far" / "configs"),
    ):
        assert [table.path.resolve() for table in same.layout().tables] == [meant]
