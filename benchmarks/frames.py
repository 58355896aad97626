"""Time ``harness.run`` on frames against files in the cache: ``python benchmarks/frames.py``.

H&M at full size with the four models of configs/demo.toml: its events as a Parquet file whose
events are in the cache, and as frames of pandas and Polars that a notebook holds already, each in a
process of its own. Making the frame is not counted.
"""

import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import polars as pl
from measure import (
    SETTLED,
    Bound,
    announce,
    bounds,
    full_hm,
    interleaved,
    run_python,
    sized,
    spread,
    table,
)

ROUNDS = sized(3, 1)
RUN = """
import time, harness
import pandas, polars
{make}
items = {items!r}
start = time.perf_counter()
harness.run(
    events=events,
    items={{"file": items, "id": "article_id"}},
    data={{"user": "customer_id", "item": "article_id", "time": "t_dat"}},
    split={{"strategy": "time", "valid_days": 7}},
    evaluation={{"k": 12, "seed": 42, "metrics": ["MAP@12", "Recall@12", "NDCG@12"]}},
    models={{
        "random": {{"use": "baselines.random_items:RandomItems", "repeats": 10}},
        "popular": "baselines.popular:Popular",
        "last week": {{"use": "baselines.popular:Popular", "params": {{"window_days": 7}}}},
        "repurchase": "baselines.repurchase:Repurchase",
    }},
    fresh=True,
)
print(time.perf_counter() - start)
"""
MAKE = {
    "a file, from the cache": "events = {!r}",
    "a Polars frame": "events = polars.read_parquet({!r})",
    "a pandas frame": "events = pandas.read_parquet({!r}).astype({{'t_dat': 'datetime64[us]'}})",
}


def main() -> None:
    announce()
    data = full_hm()
    with tempfile.TemporaryDirectory() as folder:
        events = str(Path(folder, "events.parquet"))
        columns = {"customer_id": pl.String, "article_id": pl.String, "t_dat": pl.Date}
        log = pl.scan_csv(data / "transactions_train.csv", schema_overrides=columns)
        log.select(list(columns)).sink_parquet(events)
        time.sleep(SETTLED)
        own = {"items": str(data / "articles.csv")}
        sides = {
            name: partial(
                run_python,
                sys.executable,
                RUN.format(make=make.format(events), **own),
                HARNESS_CACHE_DIR=f"{folder}/cache",
                PYTHONDONTWRITEBYTECODE="",
            )
            for name, make in MAKE.items()
        }
        next(iter(sides.values()))()  # makes the cache
        done = interleaved(sides, ROUNDS)
    middle = {name: statistics.median(seconds) for name, seconds in done.items()}
    table(
        ("events", "s", "range"),
        [(name, f"{middle[name]:.2f}", spread(seconds)) for name, seconds in done.items()],
    )
    cached, *frames = middle.items()
    bounds(*(Bound(f"{name} ÷ {cached[0]}", own / cached[1], 1.2) for name, own in frames))


if __name__ == "__main__":
    main()
