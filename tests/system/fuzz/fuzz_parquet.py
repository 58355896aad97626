"""Mutated Parquet, and sound Parquet of odd types: read wherever a file of lists may be."""

import datetime
import decimal
import io
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from mutation import batches, chances, command, mutated, shown

SAMPLE = "customer_id,prediction\nann,\nbob,\ncem,\n"
ITEMS = "article_id\n0706016001\n0706016002\n0706016003\n"
SOLUTION = "user,items\nann,0706016002\nbob,0706016001 0706016002\ncem,0706016003\n"
USERS = ["ann", "bob", "cem"]
FRAMES = [
    pl.DataFrame({"customer_id": USERS, "prediction": ["0706016001 0706016002", "0706016003", ""]}),
    pl.DataFrame({"customer_id": USERS, "prediction": [["0706016001"], [None, "x"], None]}),
    pl.DataFrame({"customer_id": USERS, "prediction": [[706016001, 706016002], [], [1]]}),
    pl.DataFrame({"customer_id": USERS, "article_id": ["0706016001"] * 3, "rank": [1, 1, 2]}),
    pl.DataFrame({"user": USERS * 200, "item": ["0706016002"] * 600, "score": [0.5] * 600}),
]
VALUES: list[tuple[Any, Any]] = [
    *((b"\xff", pl.Binary), (True, pl.Boolean), (None, pl.Null), ("ann", pl.Categorical)),
    *((datetime.date(2020, 1, 1), pl.Date), (datetime.timedelta(1), pl.Duration("us"))),
    *((datetime.datetime(2020, 1, 1), pl.Datetime("ns")), (datetime.time(1), pl.Time)),
    *((decimal.Decimal("1.50"), pl.Decimal(10, 2)), ("ann", pl.Enum(["ann", "b"]))),
    *((float("nan"), pl.Float64), (float("inf"), pl.Float32), (-0.0, pl.Float64)),
    *((2**64 - 1, pl.UInt64), (-(2**63), pl.Int64), (2**100, pl.Int128), (7, pl.Int8)),
    *(({"a": 1}, pl.Struct({"a": pl.Int8})), ([["a"]], pl.List(pl.List(pl.String)))),
    *(([1, 2], pl.Array(pl.Int8, 2)), ([b"\xff"], pl.List(pl.Binary)), ([None], pl.List(pl.Null))),
    *(("", pl.String), ("a\0b\n\x1b[2J", pl.String), ("\x1e\x1f\x1d", pl.String), ("é", pl.String)),
    *((["a\x1db", "", "\x1f"], pl.List(pl.String)), ([float("nan")], pl.List(pl.Float64))),
    *(([{"a": None}], pl.List(pl.Struct({"a": pl.Int8}))), ([True], pl.List(pl.Boolean))),
    *((["ann"], pl.List(pl.Categorical)), ([decimal.Decimal(1)], pl.List(pl.Decimal(5, 0)))),
]
NAMES = [
    *("customer_id", "prediction", "article_id", "user", "item", "rank", "score", "Usage", "grade"),
    *("", "\x1b[2J", "a,b"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parquet")
    for name, text in (("sample", SAMPLE), ("items", ITEMS), ("solution", SOLUTION)):
        (folder / f"{name}.csv").write_text(text)
    FRAMES[0].rename({"customer_id": "user", "prediction": "items"}).write_csv(folder / "lists.csv")
    for frame in FRAMES:  # so that all is imported
        frame.write_parquet(folder / "x.parquet")
        for line in lines(folder):
            command(line, seconds=120)
    return folder


def lines(folder: Path) -> list[list[str | Path]]:
    """Return the commands that read x.parquet in every place where one is read."""
    file, lists, solution = (folder / n for n in ("x.parquet", "lists.csv", "solution.csv"))
    sample, items = folder / "sample.csv", folder / "items.csv"
    return [
        ["validate", file, "--sample", sample, "--items", items, "--fix", folder / "fixed.csv"],
        ["validate", file],
        ["score", file, "--solution", solution, "--force"],
        ["explain", file, "--solution", solution, "--worst", "1"],
        ["score", lists, "--solution", file],
        ["validate", sample, "--sample", file, "--items", items],
        ["validate", sample, "--sample", sample, "--items", file],
    ]


def odd(chance: random.Random) -> pl.DataFrame:
    """Return a frame of one to four columns of any type."""
    rows = chance.choice([0, 1, 3, 3, 3])
    columns = {}
    for name in chance.sample(NAMES, chance.randint(1, 4)):
        value, kind = chance.choice(VALUES)
        values = [value if chance.random() < 0.8 else None for _ in range(rows)]
        columns[name] = pl.Series(name, values, dtype=kind)
    frame = pl.DataFrame(columns)
    usual = chance.choice(FRAMES).head(rows)
    return usual if chance.random() < 0.1 else frame


def packed(frame: pl.DataFrame, chance: random.Random) -> bytes:
    """Return a frame as Parquet, packed in one of its ways."""
    content = io.BytesIO()
    how = chance.choice(["zstd", "snappy", "lz4", "gzip", "uncompressed"])
    size = chance.choice([None, 2])
    frame.write_parquet(content, compression=how, row_group_size=size, statistics=size is None)
    return content.getvalue()


@pytest.mark.parametrize(("batch", "files"), batches(1))
def test_no_parquet_surprises(batch: int, files: int, folder: Path) -> None:
    chance = chances("parquet", batch)
    for number in range(files):
        strange = chance.random() < 0.5
        frame = odd(chance) if strange else chance.choice(FRAMES)
        content = packed(frame, chance)
        if not strange:
            content = mutated(content, chance)
        (folder / "x.parquet").write_bytes(content)
        line = chance.choice(lines(folder))
        with shown(f"batch {batch}, file {number}: {line}\n{frame}\n{content!r}"):
            status, output = command(line)
            assert status != 2 or any(name in output for name in ("x.parquet", "lists.csv")), output
