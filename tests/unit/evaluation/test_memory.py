"""Sizes as people write them, and what the system says of its memory."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import small

from harness.core.errors import UsageError
from harness.evaluation import memory
from harness.evaluation.workers import processes

SIZES = {" 1.5 gb ": 15 * 10**8, "2GiB": 2 * 1024**3, "1500MB": 15 * 10**8, "1T": 10**12}


def test_a_size() -> None:
    assert {text: memory.parse(text) for text in SIZES} == SIZES


@pytest.mark.parametrize("text", ["", "4", "GB", "-4GB", "4,5GB", "1e9", "nanGB", 4])
def test_what_is_no_size_is_refused(text: Any) -> None:
    with pytest.raises(UsageError) as error:
        memory.parse(text)
    assert str(error.value) == (
        f'memory is {text!r}; write a number and a unit (MB, GB, TB, or GiB), such as "4GB"'
    )


def test_too_little_is_refused() -> None:
    with pytest.raises(UsageError, match=r"is '900MB', which is too little: .* need 1 GB or more"):
        memory.parse("900MB")


def test_what_there_is_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory.limit("2GB") == memory.Limit(2 * 10**9, "--memory allows 2 GB")
    monkeypatch.setattr(memory, "free", lambda: 3 * 10**9)
    assert memory.limit(None) == memory.Limit(3 * 10**9, "3 GB is free")


def test_what_a_log_needs_grows_with_its_rows(tmp_path: Path) -> None:
    log = "user,item,time\n" + "ann,a,2020-01-01\n" * 1_000
    needed = memory.needed(small.config(tmp_path, log=log).layout())
    rows = (needed - memory.BASE) / memory.AN_EVENT
    assert rows == pytest.approx(1_000, rel=0.02)


def test_a_run_that_needs_more_than_there_is_is_refused(tmp_path: Path) -> None:
    models = small.POPULAR, {**small.RANDOM, "repeats": 3}
    settings = small.config(
        tmp_path, models=models, evaluation={"k": 9, "metrics": ["MAP@2", "Recall@2"]}
    )
    # Lists hold no more than the 2 candidates.
    # 0.3 GB + 10⁷ · 42 bytes + 10⁶ users · (400 + 4 lists · (8 · 2 + 40 · 2 metrics))
    needed = 300_000_000 + 10**7 * 42 + 10**6 * (400 + 4 * (16 + 80))
    last: Any = SimpleNamespace(users=range(400_000), candidates=range(2))
    memory.require_memory(settings, last, 600_000, 10**7, memory.Limit(needed, "1.5 GB is free"))
    limit = memory.Limit(needed - 1, "1.5 GB is free")
    with pytest.raises(UsageError) as refused:
        memory.require_memory(settings, last, 600_000, 10**7, limit)  # users of earlier folds
    first: Any = SimpleNamespace(users=range(500_000), candidates=range(2))
    with pytest.raises(UsageError, match="1,000,000 evaluated users"):  # a like fold is to come
        memory.require_memory(settings.model_copy(update={"fold": 1}), first, 0, 10**7, limit)
    assert str(refused.value) == (
        "1,000,000 evaluated users with 4 lists each, and 10,000,000 events, need about 1.5 GB "
        "of memory; 1.5 GB is free. Use fewer repeats or metrics, choose some of the models "
        "(--model, in Python models=), or allow more memory (--memory, memory=)"
    )


def test_what_is_free_is_what_the_system_or_its_container_has(tmp_path: Path) -> None:
    """Files that wait in memory can go; without a limit all of the system's is there."""
    assert 10**8 < memory.free(tmp_path) < 10**14
    stat = "anon 600\ninactive_file 300\n"
    small.write(tmp_path, {"memory.max": "1000\n", "memory.current": "900", "memory.stat": stat})
    assert memory.free(tmp_path) == 1000 - 900 + 300
    small.write(tmp_path, {"memory.max": "max\n"})
    assert memory.free(tmp_path) > 10**8


@pytest.mark.parametrize("jobs", [0, 1.5, True, "2"])
def test_jobs_are_a_whole_number(jobs: Any) -> None:
    with pytest.raises(UsageError) as refused:
        processes(jobs, (), memory.Limit(10**9, "1 GB is free"))
    assert str(refused.value) == f"jobs is {jobs!r}; expected a number of processes, 1 or more"


def test_each_process_needs_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Of 0.3 GB for a small log and 1.5 for a model: 4 GB have room for two."""
    layouts = [small.config(tmp_path).layout()]
    wide, narrow = (memory.Limit(n * 10**9, f"{n} GB is free") for n in (4, 1))
    assert processes(2, layouts, wide) == 2
    assert not caplog.messages
    assert (processes(3, layouts, wide), processes(3, layouts, narrow)) == (2, 1)
    assert caplog.messages == [
        "--jobs 3: 2 processes, as each needs about 1.8 GB of memory; 4 GB is free",
        "--jobs 3: 1 process, as each needs about 1.8 GB of memory; 1 GB is free",
    ]
