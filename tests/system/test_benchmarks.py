"""Every benchmark runs at a tiny size, says what it measured, and judges no bound by it."""

import os

import pytest
from conftest import ROOT, python

BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture(autouse=True)
def _of_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    for name in [name for name in os.environ if name.startswith("BENCH_")]:
        monkeypatch.delenv(name)


def test_a_tiny_run_of_all_writes_no_results() -> None:
    before = (BENCHMARKS / "results.md").read_bytes()
    run_all = str(BENCHMARKS / "run_all.py")
    done = python([run_all, "startup"], BENCH_SIZE="tiny", BENCH_COMMIT="abc1234")
    assert done.returncode == 0
    assert "commit abc1234; at a tiny size, which judges no bound." in done.stdout
    assert "## Start-up" in done.stdout
    assert (BENCHMARKS / "results.md").read_bytes() == before


def test_none_is_left_out_of_a_tiny_run_of_all() -> None:
    done = python(["-c", "import run_all; print(*run_all.EVERY)"])
    shared = {"measure", "run_all", "model_pieces"}
    assert set(done.stdout.split()) == {p.stem for p in BENCHMARKS.glob("*.py")} - shared


def test_a_bound_is_reached_by_what_is_measured() -> None:
    code = "import measure; [print(measure.Bound('it', n, 1).row()[-1]) for n in (1, 2)]"
    assert python(["-c", code]).stdout == "reached\n**not reached**\n"
    assert python(["-c", code], BENCH_SIZE="tiny").stdout == "not judged\nnot judged\n"
    done = python(["-c", code], BENCH_SIZE="small")
    assert "BENCH_SIZE is small; expected full or tiny" in done.stderr
