"""Time a full-size submission, validated and scored: ``python benchmarks/submission.py``.

Prints Markdown. Every measurement is a whole process, start-up included, in turn. The other side is
DuckDB: bare scoring, which checks nothing, and the same checks written by hand. The files are made
in a temporary folder (5 GB), or in BENCH_SUBMISSION, where they are kept.
"""

import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import (
    HARNESS,
    ITEMS,
    ROOT,
    SETTLED,
    TINY,
    USERS,
    Bound,
    Process,
    announce,
    bounds,
    exponent,
    interleaved,
    process,
    sized,
    spread,
    table,
)

K, EVALUATED, ROUNDS = 12, sized(69_000, 200), sized(7, 1)
LARGE = sized(20_000_000, 4_000)
GROWTH = [USERS, sized(5_000_000, 3_000), LARGE]
BLOCK = 1 << 18
PEER = str(ROOT / "benchmarks" / "peers" / "duckdb_submission.py")
HEAD = b"customer_id,prediction\n"


def main() -> None:
    match sys.argv[1:]:  # in processes of their own: memory that is asked for here counts there
        case ["make", folder]:
            make(Path(folder))
            return
        case ["more", folder, rows]:
            more(Path(folder), int(rows))
            return
    announce()
    named = os.environ.get("BENCH_SUBMISSION")
    if named:
        measure(Path(named) / sized("", "tiny"))
        return
    with tempfile.TemporaryDirectory() as scratch:
        measure(Path(scratch))


def measure(folder: Path) -> None:
    process([sys.executable, __file__, "make", str(folder)])
    print(
        f"{USERS:,} rows of {K} items, {size(folder / 'good.csv')}; {EVALUATED:,} users evaluated."
    )
    print(f"Medians of {ROUNDS} whole processes, in turn, after one that is not counted: the ids")
    print("of the sample are then kept.\n", flush=True)
    first = process(score(folder, "good.csv"), HARNESS_CACHE_DIR=str(folder / "first"))
    full = full_size(folder)
    large = growth(folder)
    print(f"With nothing kept of the sample's ids: {first.seconds:.2f} s.\n")
    bounds(*full, *large)


def full_size(folder: Path) -> list[Bound]:
    alone = [HARNESS, "score", str(folder / "good.csv"), *scored(folder)]
    calls = {
        "validated and scored": score(folder, "good.csv"),
        "the same with a solution alone": alone,
        "validated": command(folder, "validate", "good.csv"),
        "DuckDB, scored": [sys.executable, PEER, "score", str(folder), str(folder / "good.csv")],
        "DuckDB, checked and scored": [
            sys.executable, PEER, "checks", str(folder), str(folder / "good.csv")
        ],
        "gz, validated and scored": score(folder, "good.csv.gz"),
        "gz, decompressed": [sys.executable, "-c", UNPACK, str(folder / "good.csv.gz")],
        "every row faulty, validated": command(folder, "validate", "faulty.csv"),
        "Python and harness, started": [HARNESS, "score", "--help"],
    }  # fmt: skip
    agree(folder, calls)
    found = processes({name: lambda line=line: run(line) for name, line in calls.items()})
    seconds = {name: statistics.median(p.seconds for p in own) for name, own in found.items()}
    peak = {name: max(p.peak for p in own) / 1e6 for name, own in found.items()}
    rows = [
        (name, f"{seconds[name]:.2f}", spread([p.seconds for p in own]), f"{peak[name]:.0f}")
        for name, own in found.items()
    ]
    table(("", "s", "range", "peak MB"), rows)
    ours, without = seconds["validated and scored"], seconds["the same with a solution alone"]
    most = max(peak["validated and scored"], peak["the same with a solution alone"])
    return [
        Bound("validated and scored ÷ DuckDB, scored", ours / seconds["DuckDB, scored"], 1.5),
        Bound("a solution alone ÷ DuckDB, scored", without / seconds["DuckDB, scored"], 1.5),
        Bound("÷ DuckDB, checked and scored", ours / seconds["DuckDB, checked and scored"], 1 / 3),
        Bound("peak memory", most, 450, " MB"),
        Bound(
            "gz − decompression",
            seconds["gz, validated and scored"] - seconds["gz, decompressed"],
            1.0,
            " s",
        ),
        Bound(
            "every row faulty ÷ clean, validated",
            seconds["every row faulty, validated"] / seconds["validated"],
            2.0,
        ),
    ]


def growth(folder: Path) -> list[Bound]:
    """Measure files of more and more rows, without a sample."""
    found = {}
    for rows in GROWTH:
        path = made(folder, rows)
        line = [HARNESS, "score", str(path), "--solution", str(folder / "solution.csv")]
        own = processes({"": lambda line=line: run(line)}, rounds=sized(3, 1))[""]
        found[rows] = Process(statistics.median(p.seconds for p in own), max(p.peak for p in own))
    table(
        ("rows, without a sample", "s", "peak MB"),
        [(f"{rows:,}", f"{p.seconds:.1f}", f"{p.peak / 1e6:.0f}") for rows, p in found.items()],
    )
    return [
        Bound(f"peak memory, {LARGE:,} rows", found[LARGE].peak / 1e6, 2000, " MB"),
        Bound("exponent", exponent(GROWTH, [p.seconds for p in found.values()]), 1.05),
    ]


def made(folder: Path, rows: int) -> Path:
    """Return the full-size file with more rows behind it."""
    path = folder / f"rows-{rows}.csv"
    if not path.exists():
        process([sys.executable, __file__, "more", str(folder), str(rows)])
        time.sleep(SETTLED)
    return path


def agree(folder: Path, calls: dict[str, list[str]]) -> None:
    """End where both sides do not find the same."""
    ours = json.loads(printed([*calls["validated and scored"], "--format", "json"]))
    checks, score_ = printed(calls["DuckDB, checked and scored"]).splitlines()
    theirs = dict(zip(CHECKED, eval_free(checks), strict=True))
    told = {p["code"]: p["count"] for p in ours["problems"]["found"]}
    own = {name: told.get(code, 0) for name, code in CODES.items()}
    if own != {name: theirs[name] for name in CODES}:
        raise SystemExit(f"the two sides do not find the same: {own}, {theirs}")
    value, other = ours["metrics"]["MAP@12"]["mean"], eval_free(score_)[0]
    if abs(value - other) > 1e-12:
        raise SystemExit(f"MAP@12 is {value} here and {other} there")


CHECKED = (
    *("rows", "missing", "unknown", "twice", "padded", "empty", "long", "repeats"),
    *("unknown_items", "zeros_lost", "odd", "lists"),
)
CODES = {
    "missing": "SUB201", "unknown": "SUB202", "twice": "SUB203", "padded": "SUB207",
    "empty": "SUB301", "long": "SUB302", "repeats": "SUB303", "unknown_items": "SUB304",
}  # fmt: skip
UNPACK = (
    "import gzip, sys\nwith gzip.open(sys.argv[1]) as f:\n    while f.read(1 << 22):\n        pass"
)


def eval_free(text: str) -> list[float]:
    """Return the numbers of a printed list of one tuple."""
    return [float(part) for part in text.strip("[]()\n, ").replace("),", "").split(",")]


def printed(line: list[str]) -> str:
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(done.stderr)
    return done.stdout


def command(folder: Path, name: str, file: str) -> list[str]:
    known = ["--sample", str(folder / "sample.csv"), "--items", str(folder / "articles.csv")]
    return [HARNESS, name, str(folder / file), *known]


def score(folder: Path, file: str) -> list[str]:
    return [*command(folder, "score", file), *scored(folder)]


def scored(folder: Path) -> list[str]:
    return ["--solution", str(folder / "solution.csv"), "--metric", f"MAP@{K}"]


def run(line: list[str]) -> Process:
    """Run a command to its end, whatever it finds."""
    shell = ["sh", "-c", '"$@" > /dev/null; test $? -le 1', "sh", *line]
    return process(shell)


def processes(
    calls: dict[str, Callable[[], Process]], rounds: int = ROUNDS
) -> dict[str, list[Process]]:
    for call in () if TINY else calls.values():
        call()
    return interleaved(calls, rounds)  # type: ignore[arg-type,return-value]


def size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.0f} MB"


def make(folder: Path) -> None:
    """Write the files that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "good.csv.gz").exists():
        return
    import numpy as np  # not in the process that measures

    chance = np.random.default_rng(0)
    write(folder / "good.csv", USERS, np.random.default_rng(USERS))
    ids = [line.split(b",")[0] for line in (folder / "good.csv").open("rb")][1:]
    (folder / "sample.csv").write_bytes(HEAD + b"".join(i + b",0100000000\n" for i in ids))
    articles = b"".join(b"0%09d,x\n" % number for number in item_numbers())
    (folder / "articles.csv").write_bytes(b"article_id,name\n" + articles)
    chosen = chance.choice(len(ids), EVALUATED, replace=False)
    true = chance.choice(item_numbers(), (EVALUATED, 3))
    rows = (
        ids[at] + b"," + b" ".join(b"0%09d" % item for item in own) + b"\n"
        for at, own in zip(chosen, true, strict=True)
    )
    (folder / "solution.csv").write_bytes(HEAD + b"".join(rows))
    text = (folder / "good.csv").read_bytes()
    (folder / "faulty.csv").write_bytes(text.replace(b",0", b","))
    (folder / "good.csv.gz").write_bytes(gzip.compress(text, 6))
    time.sleep(SETTLED)


def more(folder: Path, rows: int) -> None:
    """Write the full-size file with more rows behind it."""
    import numpy as np

    path = folder / f"rows-{rows}.csv"
    shutil.copyfile(folder / "good.csv", path)
    write(path, rows - USERS, np.random.default_rng(rows), "ab")


def item_numbers() -> Any:
    import numpy as np

    return 100_000_000 + 7919 * np.arange(ITEMS, dtype=np.int64)


def write(path: Path, rows: int, chance: Any, mode: str = "wb") -> None:
    """Write rows of random ids of 64 letters, and of items of which a few stand twice."""
    with path.open(mode) as file:
        file.write(HEAD if mode == "wb" else b"")
        for start in range(0, rows, BLOCK):
            frame(min(BLOCK, rows - start), chance).write_csv(file, include_header=False)


def frame(rows: int, chance: Any) -> Any:
    import polars as pl

    text = chance.bytes(32 * rows).hex()
    ids = pl.Series([text[start : start + 64] for start in range(0, 64 * rows, 64)])
    items = pl.Series(item_numbers()).cast(pl.String).str.zfill(10)
    positions = [items.gather(chance.integers(0, ITEMS, rows)) for _ in range(K)]
    return pl.DataFrame({"id": ids}).with_columns(
        pl.concat_str(positions, separator=" ").alias("list")
    )


if __name__ == "__main__":
    main()
