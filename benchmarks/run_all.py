"""Run benchmarks and write what they print to results.md: all, or those that are named.

``python benchmarks/run_all.py`` or ``python benchmarks/run_all.py kernel evaluate``. With
BENCH_SIZE=tiny all benchmarks there are, side by side, and nothing is written.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure import TINY, full_hm, machine

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.md"
PARTS = {
    "startup": "Start-up",
    "installed": "Installed anew",
    "kernel": "The scoring kernel",
    "evaluate": "`harness.evaluate` on frames",
    "spark_evaluate": "`harness.spark.evaluate`",
    "spark_run": "`harness run` on Spark",
    "mrr_grid": "MRR over a grid of users and k",
    "submission": "A full-size submission, validated and scored",
    "submissions_compared": "Two full-size submissions, compared",
    "crafted_ids": "Ids made to collide",
    "bombs": "Files that hurt, refused",
    "random_baseline": "The random baseline",
    "comparison": "Resampling and comparisons",
    "models": "The baselines at full size",
    "neighbours": "Neighbours by item and by candidate",
    "any_log": "Event types, values, conditions, k-cores",
    "full_run": "The whole run on H&M at full size",
    "frames": "Frames in place of files",
    "folds": "Four folds and one",
    "resume": "A run taken up again",
    "full_cache": "A run beside thousands of finished models",
    "jobs": "Models side by side",
    "growth_run": "Growth of the run",
    "scale": "Logs larger than memory",
    "synth": "Synthetic H&M at full size",
}

EVERY = (*PARTS, "calibration", "calibration_folds")
"""Those that take longer than anyone waits for, and stand in other documents, are run when tiny."""

WRITTEN = """Written by `make bench`. Every part says when and on which commit it was measured; a
part that names no commit is of older code."""


def main(names: list[str]) -> None:
    there = EVERY if TINY else tuple(PARTS)
    if unknown := [name for name in names if name not in there]:
        sys.exit(f"no benchmark {unknown[0]} here; there are {', '.join(there)}")
    failed = (run_side_by_side if TINY else run_and_write)(names or list(there))
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def run_side_by_side(names: list[str]) -> list[str]:
    """Run as many benchmarks at once as there are cores, print each; return those that fail."""
    if len(names) > 1:
        full_hm()  # which several of them would make at once
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda name: run(name, quiet=True), names)
        failed = []
        for name, (printed, status) in zip(names, results, strict=True):
            print(f"## {PARTS.get(name, name)}\n\n{printed}", flush=True)
            failed += [name] if status != 0 else []
    return failed


def run_and_write(names: list[str]) -> list[str]:
    """Run benchmarks one after the other, write down each; return those that fail."""
    sections, failed = written(), []
    for name in names:
        print(f"## {PARTS[name]}\n", flush=True)
        printed, status = run(name)
        sections[PARTS[name]] = f"{printed.strip()}\n"
        if status != 0:
            failed.append(name)
            sections[PARTS[name]] += f"\n**{name}.py ended with status {status}.**\n"
        kept = [f"## {title}\n\n{sections[title]}" for title in PARTS.values() if title in sections]
        RESULTS.write_text("\n".join([heading(), *kept]), encoding="utf-8")
    return failed


def written() -> dict[str, str]:
    """Return what results.md holds, by title."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.is_file() else ""
    _head, *parts = re.split(r"^## (.*)\n\n", text, flags=re.MULTILINE)
    return {title: body.strip() + "\n" for title, body in zip(parts[::2], parts[1::2], strict=True)}


def run(name: str, *, quiet: bool = False) -> tuple[str, int]:
    """Run one benchmark in a process of its own; return what it prints, and pass it on at once."""
    command = [sys.executable, str(HERE / f"{name}.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as child:
        lines = []
        for line in child.stdout or ():
            lines.append(line)
            if not quiet:
                print(line, end="", flush=True)
    return "".join(lines), child.returncode


def heading() -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in machine())
    return f"# Results\n\n{WRITTEN}\n\n| machine | |\n|---|---|\n{rows}\n"


if __name__ == "__main__":
    main(sys.argv[1:])
