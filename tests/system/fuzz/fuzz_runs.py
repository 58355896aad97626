"""Mutated run folders, given to every command that takes one: none surprises."""

import copy
import json
import random
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from mutation import batches, chances, command, mutated, shown

LOG = "user,item,time\n" + "".join(
    f"{user},{item},2020-01-{day:02}\n"
    for day, (user, item) in enumerate(zip("abcdef" * 3, "xyzxyyzxyzzxyxzzyx", strict=True), 1)
)
VALUES: list[Any] = [
    *(None, True, -1, 0, 1, 1e308, -1e308, 10**30, 2**63, float("nan"), float("inf"), 0.5),
    *("", "popular", "x\x1b[2J\n", "nan", "é" * 300, "<script>", [], {}, [[]], {"": 0}, ["a"]),
]
NAMES = ["result.json", "per_user.parquet", "users.parquet", "config.toml", "environment.json"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    sections = {
        "split": {"strategy": "time", "valid_days": 6},
        "evaluation": {"metrics": ["MAP@2", "NDCG@2"]},
        "compare": {"resamples": 100},
    }
    config = small.toml(small.POPULAR, small.RANDOM | {"repeats": 2}, **sections)
    small.write(folder, {"log.csv": LOG, "config.toml": config})
    for name in ("good", "runs/other"):
        run = ["run", folder / "config.toml", "--out", folder / name]
        status, output = command(run, seconds=120)
        assert status == 0, output
    shutil.copytree(folder / "good", folder / "runs" / "bad")
    for line in lines(folder):  # so that all is imported
        command(line, seconds=120)
    return folder


def lines(folder: Path) -> list[list[str | Path]]:
    bad = folder / "runs" / "bad"
    model = ["--model", "popular"]
    return [
        ["compare", bad, "--resamples", "100", "--slices", "activity"],
        ["compare", folder / "good", bad, "--format", "json"],
        ["leaderboard", folder / "runs"],
        ["leaderboard", bad, "--format", "markdown"],
        ["report", bad, "--out", folder / "page.html"],
        ["explain", bad, *model, "--worst", "1"],
        ["submit", bad / "config.toml", *model, "--out", folder / "lists.csv"],
    ]


def changed(document: Any, chance: random.Random) -> Any:
    """Return a document with an odd value somewhere, or without what stood there."""
    if chance.random() < 0.1 or not document or not isinstance(document, dict | list):
        return copy.deepcopy(chance.choice(VALUES))
    keys = list(document) if isinstance(document, dict) else list(range(len(document)))
    key = chance.choice(keys)
    if chance.random() < 0.1:
        document.pop(key)
    elif chance.random() < 0.1 and isinstance(document, list):
        document.append(document[key])
    else:
        document[key] = changed(document[key], chance)
    return document


def changed_frame(frame: pl.DataFrame, chance: random.Random) -> pl.DataFrame:
    """Return a table with another column, other rows, or values of another type."""
    name = chance.choice(frame.columns)
    match chance.choice(["drop", "rows", "twice", "type", "value", "null", "name"]):
        case "drop":
            return frame.drop(name)
        case "rows":
            return frame.sample(chance.randint(0, len(frame)), seed=chance.randint(0, 99))
        case "twice":
            return pl.concat([frame, frame.head(chance.randint(0, 3))])
        case "type":
            value = chance.choice([b"\xff", True, ["a"], {"a": 1}, "x\x1b[2J", 1.5])
            return frame.with_columns(pl.Series(name, [value] * len(frame)))
        case "value" if frame[name].dtype.is_numeric():
            odd = pl.lit(chance.choice([float("nan"), float("inf"), -1e308, 1e30, -1.0, 2.0**40]))
            where = pl.when(pl.col("user") == "a")
            return frame.with_columns(where.then(odd).otherwise(name).alias(name))
        case "null":
            return frame.with_columns(pl.lit(None).alias(name))
        case _:
            return frame.rename({name: chance.choice(["", "user ", "\x1b", "MAP@3"])})


def spoil(bad: Path, good: Path, chance: random.Random) -> str:
    """Change one file of a run; return what was done."""
    name = chance.choice([*NAMES, "result.json", "per_user.parquet"])
    path, content = bad / name, (good / name).read_bytes()
    path.unlink()
    kind = chance.choice(["bytes"] * 2 + ["values"] * 4 + ["gone", "folder"])
    if kind == "gone":
        return f"{name} is gone"
    if kind == "folder":
        path.mkdir()
        return f"{name} is a folder"
    if kind == "bytes" or path.suffix == ".toml":
        content = mutated(content, chance)
        path.write_bytes(content)
    elif path.suffix == ".json":
        document = json.loads(content)
        for _ in range(chance.randint(1, 3)):
            document = changed(document, chance)
        path.write_text(json.dumps(document))
    else:
        frame = changed_frame(pl.read_parquet(content), chance)
        frame.write_parquet(path)
        return f"{name}: {frame}"
    return f"{name}: {path.read_bytes()!r}"


@pytest.mark.parametrize(("batch", "files"), batches(2))
def test_no_run_surprises(batch: int, files: int, folder: Path) -> None:
    chance = chances("runs", batch)
    bad, good = folder / "runs" / "bad", folder / "good"
    for number in range(files):
        shutil.rmtree(bad)
        shutil.copytree(good, bad)
        done = spoil(bad, good, chance)
        line = chance.choice(lines(folder))
        with shown(f"batch {batch}, file {number}: {line}\n{done}"):
            status, output = command(line)
            named = (str(bad), "log.csv", "[data]")  # a config may name other events
            assert status != 2 or any(name in output for name in named), output
