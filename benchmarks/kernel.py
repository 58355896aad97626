"""Time the scoring pass beside others on the same arrays: ``python benchmarks/kernel.py``.

Prints Markdown. RecTools needs an environment of its own (``pip install rectools``); name its
interpreter in PEERS_PYTHON, else that table is left out.
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
from measure import (
    ROOT,
    Bound,
    announce,
    bounds,
    exponent,
    interleaved,
    median,
    once,
    process,
    run_python,
    sized,
    spread,
    table,
)

from harness.core.arrays import Ragged
from harness.metrics import Judgments, mapk, parse
from harness.metrics.scores import user_scores

K = 12
NAMES = ("MAP", "Precision", "Recall", "HitRate", "MRR", "NDCG")
METRICS = [parse(f"{name}@{K}") for name in NAMES]
SQL_USERS = sized(1_000_000, 2_000)
PEER_USERS = sized((100_000, 1_000_000), (1_000, 2_000))
SIZES = sized([10_000, 100_000, 1_000_000, 10_000_000], [1_000, 2_000])
ROUNDS, PEER_ROUNDS = sized((7, 3), (1, 1))
ALL, ALONE = "this harness, six metrics for each user", "this harness, MAP for each user"
RECTOOLS = "RecTools, MAP for each user"
Case = tuple[Any, Any, Any]
"""Lists and true items: items (users, K), then indptr and indices of each user's true items."""

# The positions of the hits as one number, bit i - 1 for rank i; AP follows from counting bits.
BITS = " + ".join(
    f"((b >> {i - 1}) & 1) * bit_count(b & {2**i - 1}) / {i}" for i in range(1, K + 1)
)
LONG = {
    "long tables, join and window": """
        WITH hit AS (
            SELECT user, rank, row_number() OVER (PARTITION BY user ORDER BY rank) AS hits
            FROM pred JOIN truth USING (user, item)
        ), ap AS (SELECT user, sum(hits / rank) AS total FROM hit GROUP BY user)
        SELECT sum(total / least(relevant, 12)) / (SELECT count(*) FROM users)
        FROM ap JOIN users USING (user)""",
    "long tables, join and lists": """
        WITH hit AS (
            SELECT user, list_sort(list(rank)) AS ranks
            FROM pred JOIN truth USING (user, item) GROUP BY user
        )
        SELECT sum(list_sum(list_transform(ranks, lambda r, hits: hits / r))
                   / least(relevant, 12)) / (SELECT count(*) FROM users)
        FROM hit JOIN users USING (user)""",
    "long tables, join and bits": f"""
        WITH hit AS (
            SELECT user, sum(1::BIGINT << (rank - 1))::BIGINT AS b
            FROM pred JOIN truth USING (user, item) GROUP BY user
        )
        SELECT sum(({BITS}) / least(relevant, 12)) / (SELECT count(*) FROM users)
        FROM hit JOIN users USING (user)""",
}
LISTS = {
    "list columns of two tables, joined": """
        SELECT sum(coalesce(list_sum(list_transform(list_sort(list_filter(
            list_transform(wanted, lambda x: list_position(items, x)), lambda x: x > 0)),
            lambda r, hits: hits / r)), 0) / least(len(wanted), 12)) / count(*)
        FROM pred_lists JOIN truth_lists USING (user)""",
    "list columns side by side in one table": """
        SELECT sum(coalesce(list_sum(list_transform(list_sort(list_filter(
            list_transform(wanted, lambda x: list_position(items, x)), lambda x: x > 0)),
            lambda r, hits: hits / r)), 0) / least(len(wanted), 12)) / count(*)
        FROM side_by_side""",
}
TABLES = """
    CREATE TABLE pred AS SELECT * FROM given_pred;
    CREATE TABLE truth AS SELECT * FROM given_truth;
    CREATE TABLE users AS SELECT user, count(*) AS relevant FROM truth GROUP BY user ORDER BY user;
    CREATE TABLE pred_lists AS
        SELECT user, list(item ORDER BY rank) AS items FROM pred GROUP BY user ORDER BY user;
    CREATE TABLE truth_lists AS
        SELECT user, list(item) AS wanted FROM truth GROUP BY user ORDER BY user;
    CREATE TABLE side_by_side AS
        SELECT user, items, wanted FROM pred_lists JOIN truth_lists USING (user) ORDER BY user"""
ALLOCATORS = {
    "Memory as the system's allocator (glibc) hands it out and takes it back": {},
    "Both sides keep freed memory, as DuckDB always does (glibc told so by its environment)": {
        "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
        "MALLOC_TRIM_THRESHOLD_": str(1 << 33),
    },
}


def main() -> None:
    if sys.argv[1:] == ["sql"]:
        against_duckdb(make_case(SQL_USERS))
        return
    announce()
    print(f"{os.cpu_count()} processors, DuckDB {duckdb.__version__} with all of them; a user has")
    print(
        f"a list of {K} and 1 to 5 truth items. Medians of {ROUNDS} rounds in turn. DuckDB computes"
    )
    print("MAP alone and one mean for all users; the harness a value for each user.\n", flush=True)
    for heading, environment in ALLOCATORS.items():
        print(f"{heading}:\n", flush=True)
        process([sys.executable, __file__, "sql"], quiet=False, **environment)
    same_bits(make_case(PEER_USERS[0]))
    growth()
    against_rectools()


def make_case(users: int) -> Case:
    """Return lists without repetitions, and truth of which one item in ten is in the list."""
    draw = np.random.default_rng(2020)
    # One item from each of 12 shelves of 8,000, shelves in random order: no item twice.
    shelves = draw.permuted(np.tile(np.arange(K, dtype=np.int32), (users, 1)), axis=1)
    items = shelves * np.int32(8000) + draw.integers(0, 8000, (users, K), dtype=np.int32)
    owner = np.repeat(np.arange(users), draw.integers(1, 6, users))
    truth = draw.integers(0, K * 8000, len(owner))
    hit = draw.random(len(owner)) < 0.1
    truth[hit] = items[owner[hit], draw.integers(0, K, hit.sum())]
    pairs = np.unique(owner * (K * 8000) + truth)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(pairs // (K * 8000), minlength=users))))
    return items, indptr, (pairs % (K * 8000)).astype(np.int32)


def score(case: Case, threads: int | None = None) -> Any:
    """Return the six metrics of every user."""
    items, indptr, indices = case
    truth = Ragged(indptr, indices)
    return user_scores(items, Judgments(truth, truth.sizes), METRICS, threads)


def score_map(case: Case) -> Any:
    """Return AP of every user."""
    items, indptr, indices = case
    truth = Ragged(indptr, indices)
    return user_scores(items, Judgments(truth, truth.sizes), METRICS[:1])[METRICS[0]]


def against_duckdb(case: Case) -> None:
    """Compare with both shapes that SQL may hold: rows of (user, rank, item), or list columns."""
    connection, expected = fill(case), float(score_map(case).mean())
    calls: dict[str, Callable[[], float]] = {
        ALL: lambda: once(lambda: score(case)),
        ALONE: lambda: once(lambda: score_map(case)),
    }
    for name, query in (LONG | LISTS).items():
        check(name, connection.execute(query).fetchall()[0][0], expected)
        calls[name] = lambda q=query: once(lambda: connection.execute(q).fetchall())  # type: ignore[misc]
    interleaved(calls, 1)
    times = interleaved(calls, ROUNDS)
    sql_table(times)
    sql_bounds(times)


def check(name: str, found: float, expected: float) -> None:
    if abs(found - expected) > 1e-12:
        raise SystemExit(f"DuckDB, {name}: {found} is not {expected}")


def sql_table(times: dict[str, list[float]]) -> None:
    middle = {name: statistics.median(values) for name, values in times.items()}
    rows = [
        (
            name,
            f"{s:.3f}",
            spread(times[name], 3),
            f"{s / middle[ALL]:.1f}",
            f"{s / middle[ALONE]:.1f}",
        )
        for name, s in middle.items()
    ]
    table((f"{SQL_USERS:,} users", "s", "range", "× six metrics", "× MAP"), rows)


def sql_bounds(times: dict[str, list[float]]) -> None:
    """Set both of ours against the best SQL over long tables, and over list columns."""
    middle = {name: statistics.median(values) for name, values in times.items()}
    fastest = {name: min(values) for name, values in times.items()}
    best = {"long tables": best_of(middle, LONG), "list columns": best_of(middle, LISTS)}
    print("Of the fastest rounds: six metrics ÷ best SQL over long tables ", end="")
    print(f"{fastest[ALL] / best_of(fastest, LONG):.3f}, over list columns ", end="")
    print(f"{fastest[ALL] / best_of(fastest, LISTS):.3f}.\n")
    bounds(
        *(
            Bound(f"{ours} ÷ best SQL over {shape}, MAP alone", middle[ours] / seconds, 1 / 9)
            for shape, seconds in best.items()
            for ours in (ALL, ALONE)
        )
    )


def best_of(seconds: dict[str, float], queries: dict[str, str]) -> float:
    return min(seconds[name] for name in queries)


def fill(case: Case) -> Any:
    """Return a connection to tables that hold the case, in the shapes SQL may wish for."""
    items, indptr, indices = case
    users = np.arange(len(items), dtype=np.int32)
    ranks = np.tile(np.arange(1, K + 1, dtype=np.int32), len(items))
    pred = {"user": np.repeat(users, K), "rank": ranks, "item": items.ravel()}
    truth = {"user": np.repeat(users, np.diff(indptr)), "item": indices}
    connection = duckdb.connect()
    connection.register("given_pred", pa.table(pred))
    connection.register("given_truth", pa.table(truth))
    for statement in TABLES.split(";"):
        connection.execute(statement).fetchall()
    return connection


def growth() -> None:
    seconds = []
    for users in SIZES:
        case = make_case(users)
        seconds.append(median(lambda case=case: score(case)))  # type: ignore[misc]
    rows = [
        (f"{users:,}", f"{s:.4f}", f"{s / users * 1e9:.0f}")
        for users, s in zip(SIZES, seconds, strict=True)
    ]
    table(("six metrics, users", "s", "ns a user"), rows)
    bounds(Bound("exponent of the time in users", exponent(SIZES, seconds), 1.05))


def same_bits(case: Case) -> None:
    alone, together = (np.stack([*score(case, n).values()]).tobytes() for n in (1, 2))
    print(f"One and two threads give the same bits: {'yes' if alone == together else 'NO'}.\n")


def against_rectools() -> None:
    if not (interpreter := os.environ.get("PEERS_PYTHON")):
        print("RecTools left out: PEERS_PYTHON names no interpreter that has it.")
        return
    measured = {users: beside_rectools(interpreter, users) for users in PEER_USERS}
    names = next(iter(measured.values()))
    rows = [(name, *(f"{measured[users][name]:,.0f}" for users in PEER_USERS)) for name in names]
    table(("ns a user", *(f"{users:,} users" for users in PEER_USERS)), rows)
    bounds(
        *(
            Bound(f"{ours} ÷ RecTools, {users:,} users", each[ours] / each[RECTOOLS], 1 / 100)
            for users, each in measured.items()
            for ours in (ALL, ALONE)
        )
    )


def beside_rectools(interpreter: str, users: int) -> dict[str, float]:
    """Return ns a user, medians of rounds in turn; a round of either side is a median itself."""
    case = make_case(users)
    actual = np.split(case[2], case[1][1:-1])
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "case.npz")
        np.savez(file, items=case[0], indptr=case[1], indices=case[2])
        calls: dict[str, Callable[[], float]] = {
            ALL: lambda: median(lambda: score(case)),
            ALONE: lambda: median(lambda: score_map(case)),
            RECTOOLS: lambda: run_python(interpreter, peer(), CASE=file, PYTHONPATH=""),
            "`mapk`, one list at a time": lambda: once(lambda: mapk(actual, case[0], K)),
        }
        times = interleaved(calls, PEER_ROUNDS)
    return {name: statistics.median(values) / users * 1e9 for name, values in times.items()}


def peer() -> str:
    return (ROOT / "benchmarks/peers/rectools_map.py").read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
