"""Time the first commands of a new installation: ``python benchmarks/installed.py``.

A wheel is built and installed into a folder of its own, beside the packages of this Python; its
bytecode is written, its cache is empty, its files are in the page cache. At full size it is also
installed with all it needs into an environment made anew, to see how large that is.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import ROOT, TINY, Bound, announce, bounds, process, sized, spread, table

ROUNDS = sized(7, 1)
CALLS = sized(10, 2)
SUBMISSION = "customer_id,prediction\nann,0706016001 0706016002\nbob,0706016003\n"
SOLUTION = "customer_id,prediction\nann,0706016002\nbob,0706016001\n"
COMMANDS = {
    "`harness validate`": ("validate", "mine.csv", "--sample", "sample.csv"),
    "`harness score`": ("score", "mine.csv", "--solution", "solution.csv"),
}
Calls = list[tuple[float, float]]
"""Seconds of a processor, and on the clock, of calls one after the other."""


def main() -> None:
    announce()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        files = {"mine.csv": SUBMISSION, "sample.csv": SUBMISSION, "solution.csv": SOLUTION}
        for name, text in files.items():
            (place / name).write_text(text)
        began = time.perf_counter()
        wheel = built(place)
        building = time.perf_counter() - began
        rounds = {
            name: [calls(place, wheel, *given) for _ in range(ROUNDS)]
            for name, given in COMMANDS.items()
        }
        empty = [sys.executable, "-c", "import polars"]
        polars = [processor(empty, place)[1] for _ in range(ROUNDS)]
        report(rounds, polars)
        bounds(Bound("a wheel from source, isolated", building, 180, " s"))
        if not TINY:
            bounds(Bound("installed without extras", installed(place, wheel), 680, " MB"))


def built(place: Path) -> Path:
    """Return a wheel of this source, built as pip builds it: in an environment of its own.

    At the tiny size it is the one that `make release-check` left, if there is one.
    """
    if TINY and (wheels := list((ROOT / "dist").glob("*.whl"))):
        return wheels[0]
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    process([*pip, "--no-deps", "--wheel-dir", str(place), str(ROOT)])
    (wheel,) = place.glob("*.whl")
    return wheel


def calls(place: Path, wheel: Path, *arguments: str) -> Calls:
    """Return what the first calls of a new installation take."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        process([*pip, "--no-deps", "--target", f"{folder}/site", str(wheel)])
        process([sys.executable, "-m", "compileall", "-q", f"{folder}/site"])
        warm(Path(folder, "site"))
        own = {
            "PYTHONPATH": f"{folder}/site",
            "HARNESS_CACHE_DIR": f"{folder}/cache",
            "XDG_CACHE_HOME": f"{folder}/xdg",
        }
        command = [sys.executable, "-m", "harness", *arguments]
        return [processor(command, place, **own) for _ in range(CALLS)]


def warm(site: Path) -> None:
    """Read all files, so that they are in the page cache."""
    for path in site.rglob("*"):
        if path.is_file():
            path.read_bytes()


def processor(command: list[str], cwd: Path, **environment: str) -> tuple[float, float]:
    """Return the seconds of a processor that a process takes, and those on the clock."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        command, cwd=cwd, env=os.environ | environment, stdout=subprocess.DEVNULL, check=True
    )
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, seconds


def report(rounds: dict[str, list[Calls]], polars: list[float]) -> None:
    imported = statistics.median(polars)
    rows, wanted = [], []
    for name, found in rounds.items():
        first, last = ([each[at][0] for each in found] for at in (0, -1))
        whole = statistics.median(seconds for each in found for _, seconds in each)
        ratio = statistics.median(first) / statistics.median(last)
        rows.append(
            (name, f"{statistics.median(first):.2f}", spread(first), f"{ratio:.2f}", f"{whole:.2f}")
        )
        wanted.append(Bound(f"{name}, the first ÷ the last", ratio, 1.2))
        if "validate" in name:
            wanted.append(Bound(f"{name}, whole process", whole, 0.45, " s"))
            wanted.append(Bound("the same ÷ `import polars`", whole / imported, 2))
    head = ("command on two lines", "first, s of a processor", "range", f"÷ the {CALLS}th")
    table((*head, "s on the clock"), rows)
    print(f"`python -c 'import polars'`: {imported:.2f} s on the clock. {ROUNDS} installations.\n")
    bounds(*wanted)


def installed(place: Path, wheel: Path) -> float:
    """Return the megabytes of a new environment's packages, pip and setuptools left out."""
    environment = place / "environment"
    process([sys.executable, "-m", "venv", str(environment)])
    pip = [str(environment / "bin/python"), "-m", "pip"]
    process([*pip, "install", "--quiet", "--disable-pip-version-check", str(wheel)])
    process([*pip, "uninstall", "--quiet", "--yes", "setuptools", "pip"])
    files = (path for path in environment.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e6


if __name__ == "__main__":
    main()
