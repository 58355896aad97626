"""Time ids that were made to share a slot of a hash table: ``python benchmarks/crafted_ids.py``.

Whoever knows how ids are hashed can write such: these are for the hashes of an earlier version,
which had no secret; there the users of an upload of 3.6 MB took minutes. The other side are random
ids of the same letters. Whole processes in turn.
"""

import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

from measure import HARNESS, Bound, announce, bounds, interleaved, process, sized, spread, table

IDS, ROUNDS = sized(400_000, 200), sized(5, 1)
SHARED = sized(20, 6)
"""Lower bits of the hash that all crafted ids share."""
LETTERS = bytes(set(range(33, 127)) - set(b"\"',;[]"))
READ = """
import sys
from pathlib import Path
from harness import config; from harness.data import loading as load

values = {
    "data": {"layout": "table", "path": ".", "events": sys.argv[1]},
    "split": {"strategy": "last_n", "n": 1},
    "models": [{"name": "popular", "use": "baselines.popular:Popular"}],
}
load.load(config.parse(values, Path.cwd()).layout(), lambda rows: None)
"""
MOST = 1.5


def main() -> None:
    if sys.argv[1:2] == ["make"]:  # in a process of its own, so that this one stays small
        make(Path(sys.argv[2]))
        return
    announce()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        process([sys.executable, __file__, "make", scratch])
        measure(folder)


def measure(folder: Path) -> None:
    print(f"{IDS:,} ids of 8 letters; medians of {ROUNDS} whole processes, in turn, after one that")
    print("is not counted.\n", flush=True)
    rows, checks = [], []
    for what in ("users", "items", "events"):
        lines = {side: command(folder, what, side) for side in ("ordinary", "crafted")}
        calls = {side: partial(seconds, line, folder) for side, line in lines.items()}
        interleaved(calls, sized(1, 0))
        found = interleaved(calls, ROUNDS)
        middle = {side: statistics.median(own) for side, own in found.items()}
        rows += [(f"{what}, {side}", f"{middle[side]:.2f}", spread(found[side])) for side in calls]
        ratio = middle["crafted"] / middle["ordinary"]
        checks.append(Bound(f"crafted ÷ ordinary, {what}", ratio, MOST))
    table(("ids of", "s", "range"), rows)
    bounds(*checks)


def command(folder: Path, what: str, side: str) -> list[str]:
    """Return what reads ids as users of an upload, as known items in its lists, or as a log's."""
    if what == "events":
        return [sys.executable, "-c", READ, f"events-{side}.csv"]
    line = [HARNESS, "validate", str(folder / f"{what}-{side}.csv")]
    return line if what == "users" else [*line, "--items", str(folder / f"known-{side}.csv")]


def seconds(line: list[str], folder: Path) -> float:
    return process(line, folder).seconds


def make(folder: Path) -> None:
    """Write all files."""
    for side, ids, of_events in (
        ("ordinary", random_ids(0), random_ids(1)),
        ("crafted", crafted_ids(), crafted_for_events()),
    ):
        (folder / f"users-{side}.csv").write_bytes(b"user,item\n" + each(b"%b,a\n", ids))
        (folder / f"known-{side}.csv").write_bytes(b"item\n" + each(b"%b\n", ids))
        lists = [b" ".join(ids[at : at + 10]) for at in range(0, len(ids), 10)]
        rows = b"".join(b"%d,%b\n" % row for row in enumerate(lists))
        (folder / f"items-{side}.csv").write_bytes(b"user,item\n" + rows)
        log = each(b"%b,a,2020-01-01\n", of_events) + each(b"%b,b,2020-01-02\n", of_events)
        (folder / f"events-{side}.csv").write_bytes(b"user,item,time\n" + log)


def each(form: bytes, ids: list[bytes]) -> bytes:
    return b"".join(form % one for one in ids)


def random_ids(seed: int) -> list[bytes]:
    import numpy as np

    drawn = np.random.default_rng(seed).choice(np.frombuffer(LETTERS, np.uint8), (2 * IDS, 8))
    return np.unique(drawn.view("S8")[:, 0])[:IDS].tolist()  # type: ignore[no-any-return]


def crafted_ids() -> list[bytes]:
    """Return ids for the hash of submissions: two multiplications, each of which is turned back."""
    import numpy as np

    back, half = np.uint64(pow(0x9E3779B97F4A7C15, -1, 2**64)), np.uint64(32)
    plain = np.zeros(256, np.bool_)
    plain[list(LETTERS)] = True
    found: list[bytes] = []
    step, start = sized(1 << 22, 1 << 16), 1
    while len(found) < IDS:
        hashed = np.uint64(7) + (
            np.arange(start, start + step, dtype=np.uint64) << np.uint64(SHARED)
        )
        eight = (hashed ^ hashed >> half) * back
        eight = np.uint64(8) ^ (eight ^ eight >> half) * back
        letters = plain[eight.view(np.uint8)].reshape(-1, 8).all(axis=1)
        found += eight[letters].view("S8").tolist()
        start += step
    return found[:IDS]


def crafted_for_events() -> list[bytes]:
    """Return ids for the hash of events: searched for, so that fewer bits are shared."""
    import polars as pl

    found: list[str] = []
    step, start = sized(1 << 24, 1 << 15), 0
    while len(found) < IDS:
        ids = pl.int_range(start, start + step, eager=True).cast(pl.String).str.zfill(10)
        found += ids.filter(ids.hash(0) % sized(1 << 8, 1 << 6) == 7).to_list()
        start += step
    return [one.encode() for one in found[:IDS]]


if __name__ == "__main__":
    main()
