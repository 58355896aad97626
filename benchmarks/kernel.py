"""Time the marking pass beside others on the same arrays: ``python benchmarks/kernel.py``.

Prints Markdown. RecTools needs an environment of its own (``pip install rectools``); name its
interpreter in PEERS_PYTHON, else that table is left out.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from harness.kernels import tally
from harness.metrics import mapk, parse, per_user

K = 12
NAMES = ("MAP", "Precision", "Recall", "HitRate", "MRR", "NDCG")
METRICS = [parse(f"{name}@{K}") for name in NAMES]
ROOT = Path(__file__).resolve().parents[1]
PEER_USERS = 100_000
Exam = tuple[Any, Any, Any]

# The positions of the hits as one number, bit i - 1 for rank i; AP follows from counting bits.
BITS = " + ".join(
    f"((b >> {i - 1}) & 1) * bit_count(b & {2**i - 1}) / {i}" for i in range(1, K + 1)
)
DUCKDB = {
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
FIRST_CALL = """
import time
start = time.perf_counter()
import numpy as np
from harness.kernels import tally
from harness.metrics import parse, per_user
marked = tally(np.array([[1, 2]], np.int32), np.array([0, 1]), np.array([2], np.int32), 2)
per_user(parse("MAP@2"), marked)
print(time.perf_counter() - start)
"""


def main() -> None:
    exam = make_exam(1_000_000)
    print(f"{os.cpu_count()} processors, DuckDB {duckdb.__version__}, medians of 7;")
    print(f"a user has a list of {K} and 1 to 5 truth items.\n")
    against_duckdb(exam)
    growth()
    first_call()
    same_bits(exam)
    against_rectools()


def make_exam(users: int) -> Exam:
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


def mark(exam: Exam, threads: int | None = None) -> list[Any]:
    """Return the six metrics of every user."""
    marked = tally(*exam, K, threads=threads)
    return [per_user(metric, marked) for metric in METRICS]


def median(call: Callable[[], Any], repeats: int = 7) -> float:
    """Return the median seconds of a call, after one that is not counted."""
    call()
    return statistics.median(once(call) for _ in range(repeats))


def against_duckdb(exam: Exam) -> None:
    """Time all in turn, round by round, so that whatever else the machine does meets all alike."""
    connection, expected = fill(exam), float(mark(exam)[0].mean())
    calls: dict[str, Callable[[], Any]] = {
        name: lambda query=query: connection.execute(query).fetchall()  # type: ignore[misc]
        for name, query in DUCKDB.items()
    }
    for name, call in calls.items():
        if abs(call()[0][0] - expected) > 1e-12:
            raise SystemExit(f"DuckDB, {name}: {call()[0][0]} is not {expected}")
    ours = "this harness, six metrics for each user"
    calls = {ours: lambda: mark(exam), **calls}
    rounds = [{name: once(call) for name, call in calls.items()} for _ in range(8)][1:]
    seconds = {name: statistics.median(times[name] for times in rounds) for name in calls}
    print("| 1,000,000 users; DuckDB: MAP alone, for all together | s | × ours |\n|---|---|---|")
    for name, time_taken in seconds.items():
        print(f"| {name} | {time_taken:.3f} | {time_taken / seconds[ours]:.1f} |")
    print(flush=True)


def once(call: Callable[[], Any]) -> float:
    """Return the seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def fill(exam: Exam) -> Any:
    """Return a connection to tables that hold the exam, in the shapes SQL may wish for."""
    items, indptr, indices = exam
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
    sizes = [10_000, 100_000, 1_000_000, 10_000_000]
    seconds = []
    print("| users | s | ns a user |\n|---|---|---|")
    for users in sizes:
        exam = make_exam(users)
        seconds.append(median(lambda exam=exam: mark(exam)))  # type: ignore[misc]
        print(f"| {users:,} | {seconds[-1]:.4f} | {seconds[-1] / users * 1e9:.0f} |", flush=True)
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    print(f"\nTime grows with users to the power {exponent:.2f}.\n")


def first_call() -> None:
    """Time a fresh process with nothing cached, and again with what that left behind."""
    print("| first call in a fresh process, imports included | s |\n|---|---|")
    times: dict[str, list[float]] = {"nothing cached": [], "compiled before": []}
    for _ in range(7):
        with tempfile.TemporaryDirectory() as cache:
            for seconds in times.values():
                seconds.append(run_python(sys.executable, FIRST_CALL, NUMBA_CACHE_DIR=cache))
    for name, seconds in times.items():
        print(f"| {name} | {statistics.median(seconds):.2f} |")
    print(flush=True)


def run_python(interpreter: str, code: str, **environment: str) -> float:
    """Run code in another process and return the number it prints."""
    variables = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    done = subprocess.run(
        [interpreter, "-c", code], env=variables, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def same_bits(exam: Exam) -> None:
    alone, together = (b"".join(map(bytes, mark(exam, threads))) for threads in (1, 2))
    print(f"One and two threads give the same bits: {'yes' if alone == together else 'NO'}.\n")


def against_rectools() -> None:
    if not (interpreter := os.environ.get("PEERS_PYTHON")):
        print("RecTools left out: PEERS_PYTHON names no interpreter that has it.")
        return
    exam = make_exam(PEER_USERS)
    code = (ROOT / "benchmarks/peers/rectools_map.py").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "exam.npz", items=exam[0], indptr=exam[1], indices=exam[2])
        theirs = run_python(interpreter, code, EXAM=str(Path(folder) / "exam.npz"), PYTHONPATH="")
    actual = np.split(exam[2], exam[1][1:-1])
    lists = {
        "this harness, six metrics": median(lambda: mark(exam)),
        "RecTools, MAP alone": theirs,
        "`mapk`, one list at a time": median(lambda: mapk(actual, exam[0], K), 1),
    }
    print(f"| {PEER_USERS:,} users | ns a user |\n|---|---|")
    for name, seconds in lists.items():
        print(f"| {name} | {seconds / PEER_USERS * 1e9:,.0f} |")


if __name__ == "__main__":
    main()
