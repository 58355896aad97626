"""Time how files that hurt are refused: ``python benchmarks/bombs.py``.

Prints Markdown. Small files that unpack to gigabytes, and lines of millions of commas, each given
to the commands that read it, in processes of their own. Bounds are of what lies beyond the start:
beyond what `harness validate` takes for a file of two lines. The files are made in a temporary
folder (0.2 GB).
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from measure import HARNESS, TINY, Bound, Process, announce, bounds, sized, table

SWOLLEN, CELL, ROWS, COMMAS, ROUNDS = sized(
    (4_600_000_000, 800_000_000, 6_000_000, 20_000_000, 3), (1 << 27, 1 << 27, 1 << 23, 1 << 20, 1)
)
COLUMNS, CELLS = 12_000, sized(1 << 24, 1 << 20)
MEMORY = 12 << 30
"""Bytes that no command may ask for: one that is not refused shall not take the machine down."""
HEAD, CHUNK, MB = b"user,items\n", 1 << 20, 1e6
FILLS = {"zeros": b"\0", "commas": b",", "lines": b"\n", "rows": b"u1,1 2 3\n"}
READ = [
    "validate {}",
    "score {} --solution sol.csv",
    "explain {} --solution sol.csv --worst 1",
    "score two.csv --solution {}",
    "validate two.csv --sample {}",
    "validate two.csv --items {}",
]
LINES = {
    "fields": (HEAD + b"u1", b",", b"\nu2,2\n"),
    "quoted": (HEAD + b'u1,"1', b",", b'"\nu2,2\n'),
    "header": (b"user,items", b",", b"\nu1,1\n"),
}
FORCED = [
    "score {} --solution sol.csv --force",
    "validate {} --fix fixed.csv",
    "explain {} --solution sol.csv --worst 1",
    "score two.csv --solution {}",
]


def main() -> None:
    match sys.argv[1:]:  # in a process of its own: memory that is asked for here counts there
        case ["make", folder]:
            make(Path(folder))
            return
    announce()
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, __file__, "make", scratch], check=True)
        measure(Path(scratch))


def make(folder: Path) -> None:
    import polars as pl

    (folder / "two.csv").write_bytes(HEAD + b"u1,1 2\nu2,2 3\n")
    (folder / "sol.csv").write_bytes(HEAD + b"u1,1\nu2,3\n")
    for name, fill in FILLS.items():
        packer = zlib.compressobj(9, wbits=31)
        with (folder / f"{name}.csv.gz").open("wb") as file:
            file.writelines(packer.compress(part) for part in swollen(fill))
            file.write(packer.flush())
    with (
        zipfile.ZipFile(folder / "zeros.zip", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("lists.csv", "w", force_zip64=True) as member,
    ):
        member.writelines(swollen(b"\0"))
    users = pl.DataFrame({"user": ["u1", "u2"], "items": ["a" * CELL, "1 2"]})
    users.write_parquet(folder / "cell.parquet")
    many = pl.repeat("u1", ROWS, eager=True)
    pl.DataFrame({"user": many, "items": "1 2 3"}).write_parquet(folder / "rows.parquet")
    for name, (before, comma, after) in LINES.items():
        (folder / f"{name}.csv").write_bytes(before + comma * COMMAS + after)
    head = b",".join([b"user,items", *(b"%x" % n for n in range(COLUMNS))])
    row = b"u1,1" + b"," * COLUMNS + b"\n"
    (folder / "columns.csv").write_bytes(head + b"\n" + row * (CELLS // len(row)))


def swollen(fill: bytes) -> Iterator[bytes]:
    yield HEAD
    part = fill * (CHUNK // len(fill))
    for _ in range(SWOLLEN // len(part)):
        yield part


def measure(folder: Path) -> None:
    run(folder, "score two.csv --solution sol.csv")
    start = median(folder, "validate two.csv")
    print(f"A file of two lines takes {start.seconds:.2f} s and {start.peak / MB:,.0f} MB; medians")
    print(f"of {ROUNDS} whole processes.\n")
    packed = [
        path.name for path in sorted(folder.iterdir()) if path.suffix in (".gz", ".zip", ".parquet")
    ]
    bombs = measured(folder, packed, READ)
    lines = measured(folder, [f"{name}.csv" for name in LINES], FORCED)
    wide = measured(folder, ["columns.csv"], FORCED)
    slowest = max(found.seconds for found in bombs) - start.seconds
    bounds(
        Bound("the slowest refusal of a bomb, beyond the start", slowest, 3, " s"),
        Bound("the largest, beyond the start", peak(bombs) - start.peak / MB, 1000, " MB"),
        Bound(f"{COLUMNS:,} columns", max(found.seconds for found in wide), 10, " s"),
        Bound(f"a line of {COMMAS:,} commas, in all", peak(lines), 1000, " MB"),
    )


def measured(folder: Path, names: list[str], commands: list[str]) -> list[Process]:
    chosen = commands[:2] if TINY else commands
    found = {
        text: median(folder, text) for name in names for text in (c.format(name) for c in chosen)
    }
    rows = [
        (f"`{text}`", f"{p.seconds:.2f} s", f"{p.peak / MB:,.0f} MB") for text, p in found.items()
    ]
    table(("command", "seconds", "peak memory"), rows)
    return list(found.values())


def peak(processes: list[Process]) -> float:
    return max(found.peak for found in processes) / MB


def median(folder: Path, command: str) -> Process:
    found = [run(folder, command) for _ in range(ROUNDS)]
    return Process(
        statistics.median(p.seconds for p in found), int(statistics.median(p.peak for p in found))
    )


def run(folder: Path, command: str) -> Process:
    """Run a command, which may refuse what it is given, and may not be ended by a signal."""
    own = os.environ | {"HARNESS_CACHE_DIR": str(folder / "cache")}
    start = time.perf_counter()
    child = subprocess.Popen(
        [HARNESS, *command.split()],
        cwd=folder,
        env=own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limited,
    )
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1, 2):
        raise SystemExit(f"{command} ended with status {child.returncode}")
    return Process(seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    main()
