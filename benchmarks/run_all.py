"""Run every benchmark and write what they print to results.md: ``python benchmarks/run_all.py``."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from measure import machine

HERE = Path(__file__).resolve().parent
PARTS = {
    "startup": "Start-up",
    "kernel": "The marking kernel",
    "evaluate": "`harness.evaluate` on frames",
    "mrr_grid": "MRR over a grid of users and k",
    "random_baseline": "The random baseline",
    "full_run": "The whole run on H&M at full size",
    "growth_run": "Growth of the run",
    "synth": "Synthetic H&M at full size",
}


def main() -> None:
    sections, failed = [], []
    for name, title in PARTS.items():
        printed, status = run(name)
        sections.append(f"## {title}\n\n{printed.strip()}\n")
        if status != 0:
            failed.append(name)
            sections.append(f"**{name}.py ended with status {status}.**\n")
    (HERE / "results.md").write_text("\n".join([heading(), *sections]), encoding="utf-8")
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def run(name: str) -> tuple[str, int]:
    """Run one benchmark in a process of its own; pass on what it prints and return it."""
    print(f"## {PARTS[name]}\n", flush=True)
    command = [sys.executable, str(HERE / f"{name}.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as child:
        lines = []
        for line in child.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    return "".join(lines), child.returncode


def heading() -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in machine())
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    return f"# Results of {day}\n\nWritten by `make bench`.\n\n| machine | |\n|---|---|\n{rows}\n"


if __name__ == "__main__":
    main()
