"""Time event types, values, conditions and k-cores: ``python benchmarks/any_log.py``.

Full-size H&M, as text and as Parquet: read as it is, and with ``kind = "sales_channel_id"``,
``value = "price"`` and ``where = { price = { min = 0.0005 } }``, which every row holds. Each side
is a process of its own; files are in the page cache.
"""

import os
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

import polars as pl
from measure import ROOT, Bound, announce, bounds, full_hm, interleaved, once, sized, spread, table

from harness.data.layouts import BUILT_IN
from harness.data.loading import load
from harness.protocol.k_core import core_of

ROUNDS = sized(5, 1)
READ = """
import sys, time
from pathlib import Path
from harness.data.conditions import condition
from harness.data.loading import load
from harness.layouts import Layout, events

file, plain = Path(sys.argv[1]), sys.argv[2] == "plain"
log = events(file.name, user="customer_id", item="article_id", time="t_dat")
more = {} if plain else {
    "kind": "sales_channel_id", "value": "price", "where": (condition("price", {"min": 0.0005}),)
}
layout = Layout("log", (log,)).within(file.parent).with_events(**more)
start = time.perf_counter()
load(layout)
print(time.perf_counter() - start)
"""


def main() -> None:
    announce()
    data = full_hm()
    files = {"text": data / "transactions_train.csv", "Parquet": parquet(data)}
    calls = {
        f"{name}{more}": lambda path=path, side=side: read(path, side)
        for name, path in files.items()
        for side, more in (("plain", ""), ("more", ", types, values, conditions"))
    }
    done = interleaved(calls, ROUNDS)
    table(
        ("", "seconds", "between"),
        [(name, f"{statistics.median(own):.2f}", spread(own)) for name, own in done.items()],
    )
    medians = {name: statistics.median(own) for name, own in done.items()}
    ratios = [
        Bound(f"{name} with types, values and conditions ÷ without", of(medians, name), 1.3)
        for name in files
    ]
    bounds(*ratios, Bound("the slowest k-core", cores(data), 5, "s"))


def of(medians: dict[str, float], name: str) -> float:
    return medians[f"{name}, types, values, conditions"] / medians[name]


def parquet(data: Path) -> Path:
    """Return the same rows as typed Parquet, beside the text; made once."""
    path = data / "transactions_typed.parquet"
    if not path.exists():
        pl.scan_csv(data / "transactions_train.csv", infer_schema=False).with_columns(
            pl.col("price").cast(pl.Float64), pl.col("sales_channel_id").cast(pl.Int64)
        ).sink_parquet(path)
    return path


def read(path: Path, side: str) -> float:
    command = [sys.executable, "-c", READ, str(path), side]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return float(done.stdout)


def cores(data: Path) -> float:
    """Return the seconds of the slowest of some k-cores."""
    log, rows = load(BUILT_IN["hm"].within(data)), []
    for least in sized((2, 5, 20), (2, 5)):
        call = partial(core_of, log, least, least)
        seconds = statistics.median(once(call) for _ in range(ROUNDS))
        rows.append((least, seconds, call().notes[-1]))
    table(
        ("users and items with", "seconds", "told"),
        [(f"{least} events", f"{seconds:.2f}", note) for least, seconds, note in rows],
    )
    return max(seconds for _, seconds, _ in rows)


if __name__ == "__main__":
    main()
