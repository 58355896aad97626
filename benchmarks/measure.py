"""What the benchmarks share: sizes, clocks, whole processes, tables, bounds, data, the machine.

The standard library alone: a child's peak memory starts at that of the process it was made from,
so whoever measures must stay small.
"""

import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

Value = TypeVar("Value")

TINY = os.environ.get("BENCH_SIZE", "full") == "tiny"
"""Whether a benchmark is only to show that it runs: its numbers tell nothing."""
if os.environ.get("BENCH_SIZE", "full") not in ("full", "tiny"):
    raise SystemExit(f"BENCH_SIZE is {os.environ['BENCH_SIZE']}; expected full or tiny")


def sized(full: Value, tiny: Value) -> Value:
    """Return a size, a number of rounds or the like, by what BENCH_SIZE asks for."""
    return tiny if TINY else full


ROOT = Path(__file__).resolve().parents[1]
HARNESS = str(Path(sys.executable).with_name("harness"))
USERS, ITEMS, EVENTS = sized((1_371_980, 105_542, 31_788_324), (2_000, 300, 20_000))
SETTLED = 2.5
"""Seconds after which files count as unchanging: younger ones are not kept in the cache."""

_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


def announce() -> None:
    """Print when, on which commit and at what size is measured; every benchmark begins so."""
    size = "; at a tiny size, which judges no bound" if TINY else ""
    print(f"Measured on {datetime.now(UTC):%Y-%m-%d}, commit {commit()}{size}.\n", flush=True)


def commit() -> str:
    """Return the commit that is measured: BENCH_COMMIT, or what git says of this folder."""
    return os.environ.get("BENCH_COMMIT") or commit_of(ROOT)


def commit_of(folder: Path) -> str:
    """Return a folder's commit, and whether its code has changed since."""
    bare = os.environ | {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    git = ["git", "-C", str(folder)]
    code = ["--", "harness", "baselines", "configs", "benchmarks", ":!benchmarks/*.md"]
    try:
        named = subprocess.run(
            [*git, "rev-parse", "--short=12", "HEAD"], env=bare, capture_output=True, text=True
        )
        clean = subprocess.run([*git, "diff", "--quiet", "HEAD", *code], env=bare)
    except OSError:
        return "not known"
    if named.returncode != 0:
        return "not known"
    return named.stdout.strip() + ("" if clean.returncode == 0 else " with changes")


def once(call: Callable[[], Any]) -> float:
    """Return the seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def median(call: Callable[[], Any], repeats: int = 7) -> float:
    """Return the median seconds of a call, after one that is not counted."""
    call()
    return statistics.median(once(call) for _ in range(repeats))


def interleaved(calls: Mapping[str, Callable[[], Value]], rounds: int) -> dict[str, list[Value]]:
    """Make all calls in turn, round by round, so that whatever the machine does meets all alike."""
    results: dict[str, list[Value]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            results[name].append(call())
    return results


@dataclass(frozen=True)
class Process:
    """How long a whole process took, start-up included, and the most memory it held (RSS)."""

    seconds: float
    peak: int


def process(
    command: list[str], cwd: str | Path | None = None, *, quiet: bool = True, **environment: str
) -> Process:
    """Run a command to its end; what it prints is dropped unless it is not to be quiet."""
    printed = subprocess.DEVNULL if quiet else None
    environment = {"PYTHONDONTWRITEBYTECODE": ""} | environment  # a person's Python keeps bytecode
    start = time.perf_counter()
    child = subprocess.Popen(command, cwd=cwd, env=os.environ | environment, stdout=printed)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{Path(command[0]).name} ended with status {child.returncode}")
    return Process(seconds, usage.ru_maxrss * _MAXRSS_UNIT)


def run_python(interpreter: str, code: str, **environment: str) -> float:
    """Run code in another process, on the package that PYTHONPATH names; return what it prints."""
    own = {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}  # not that of the current folder
    variables = os.environ | own | environment
    done = subprocess.run(
        [interpreter, "-c", code], env=variables, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def synth(folder: Path, users: int, items: int, events: int) -> Process:
    """Write H&M-shaped files of this size into a folder."""
    sizes = {"--users": users, "--items": items, "--events": events}
    options = [text for name, size in sizes.items() for text in (name, str(size))]
    return process([HARNESS, "synth", "hm", *options, "--out", str(folder)])


def full_hm() -> Path:
    """Return the folder of full-size H&M files, BENCH_DATA or a temporary one; made once."""
    default = Path(tempfile.gettempdir()) / "harness-bench-hm"
    folder = Path(os.environ.get("BENCH_DATA") or default) / sized("", "tiny")
    if not (folder / "transactions_train.csv").exists():
        synth(folder, USERS, ITEMS, EVENTS)
        time.sleep(SETTLED)
    return folder.resolve()


def run_hm(data: Path, scratch: Path, cache: Path, folds: int = 1, **environment: str) -> Process:
    """Run the four models of configs/demo.toml on H&M's files, in a folder inside `scratch`."""
    place = tempfile.mkdtemp(dir=scratch)
    config, source = str(ROOT / "configs/demo.toml"), f'data.path="{data}"'
    sets = ["--set", source, "--set", f"split.folds={folds}"]
    command = [HARNESS, "run", config, *sets, "--out", "run", "--fresh"]
    return process(command, place, HARNESS_CACHE_DIR=str(cache), **environment)


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a Markdown table and an empty line."""
    titles = list(head)
    print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")
    print(flush=True)


def timed(head: str, done: Mapping[str, list[Process]]) -> list[float]:
    """Print how long each side took, and what it held; return the medians of their seconds."""
    seconds = {name: [own.seconds for own in runs] for name, runs in done.items()}
    middle = {name: statistics.median(own) for name, own in seconds.items()}
    peaks = {name: max(own.peak for own in runs) / 1e9 for name, runs in done.items()}
    rows = [
        (name, f"{middle[name]:.2f}", spread(own), f"{peaks[name]:.2f}")
        for name, own in seconds.items()
    ]
    table((head, "s", "range", "peak GB"), rows)
    return list(middle.values())


@dataclass(frozen=True)
class Bound:
    """A measured number and the most it may be, both in `unit`."""

    what: str
    measured: float
    most: float
    unit: str = ""

    def row(self) -> tuple[str, str, str, str]:
        """Return the cells of its row."""
        reached = "reached" if self.measured <= self.most else "**not reached**"
        reached = "not judged" if TINY else reached
        most, measured = (f"{value:.3g}{self.unit}" for value in (self.most, self.measured))
        return self.what, f"≤ {most}", measured, reached


def bounds(*checks: Bound) -> None:
    """Print the bounds beside what was measured."""
    table(("bound", "wanted", "measured", ""), [check.row() for check in checks])


def spread(values: list[float], digits: int = 2) -> str:
    """Return the smallest and the largest value."""
    return f"{min(values):.{digits}f} … {max(values):.{digits}f}"


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the power of the size that the time grows with (least squares of the logarithms).

    NaN where times are so short that noise leaves nothing of one.
    """
    if min(seconds) <= 0:
        return math.nan
    x, y = (list(map(_log, values)) for values in (sizes, seconds))
    return statistics.linear_regression(x, y).slope


def _log(value: float) -> float:
    return math.log(value)


def machine() -> list[tuple[str, str]]:
    """Return what a reader needs to know of this machine, nothing that names it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    packages = ("numpy", "polars", "duckdb")
    return [
        ("processor", _processor()),
        ("cores", str(os.cpu_count())),
        ("memory", f"{memory / 2**30:.0f} GiB"),
        ("system", _system()),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in packages),
    ]


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if not described.exists():
        return platform.processor() or platform.machine()
    lines = described.read_text(encoding="utf-8").splitlines()
    return next((li.partition(":")[2].strip() for li in lines if li.startswith("model name")), "?")


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return f"{platform.system()} {platform.release()}"
