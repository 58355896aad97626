"""Every benchmark runs at a tiny size, says what it measured, and judges no bound by it."""

import os
import subprocess
import sys

from conftest import ROOT

BENCHMARKS = ROOT / "benchmarks"


def python(*line: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    variables = {name: value for name, value in os.environ.items() if not name.startswith("BENCH_")}
    env = variables | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(BENCHMARKS)])} | environment
    return subprocess.run([sys.executable, *line], env=env, capture_output=True, text=True)


def test_a_tiny_run_of_all_writes_no_results() -> None:
    before = (BENCHMARKS / "results.md").read_bytes()
    run_all = str(BENCHMARKS / "run_all.py")
    done = python(run_all, "startup", BENCH_SIZE="tiny", BENCH_COMMIT="abc1234")
    assert done.returncode == 0
    assert "commit abc1234; at a tiny size, which judges no bound." in done.stdout
    assert "## Start-up" in done.stdout
    assert (BENCHMARKS / "results.md").read_bytes() == before


def test_none_is_left_out_of_a_tiny_run_of_all() -> None:
    done = python("-c", "import run_all; print(*run_all.EVERY)")
    shared = {"measure", "run_all", "model_pieces"}
    assert set(done.stdout.split()) == {p.stem for p in BENCHMARKS.glob("*.py")} - shared


def test_a_bound_is_reached_by_what_is_measured() -> None:
    code = "import measure; [print(measure.Bound('it', n, 1).row()[-1]) for n in (1, 2)]"
    assert python("-c", code).stdout == "reached\n**not reached**\n"
    assert python("-c", code, BENCH_SIZE="tiny").stdout == "not judged\nnot judged\n"
    done = python("-c", code, BENCH_SIZE="small")
    assert "BENCH_SIZE is small; expected full or tiny" in done.stderr
