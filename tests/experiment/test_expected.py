"""What a run is expected to take: memory by what it holds, time by what the same models took."""

import json
import zlib
from pathlib import Path
from typing import Any

import pytest
import small

from harness.config import Config
from harness.core import cache
from harness.core.errors import UsageError
from harness.experiment.expected import require_memory, say_expected
from harness.experiment.identity import described
from harness.experiment.memory import Limit
from harness.experiment.run import run
from harness.protocol.task import Task, make_task

HALF_MINUTE = {"fit": 10.0, "recommend": 20.0}


def config(folder: Path, *models: dict[str, Any]) -> Config:
    small.write(folder, {"log.csv": small.MANY})
    own = models or (small.POPULAR, {**small.RANDOM, "repeats": 3})
    return small.config_of(folder, *own, evaluation={"metrics": ["MAP@2", "Recall@2"]})


def test_memory_is_that_of_events_users_and_lists(tmp_path: Path) -> None:
    """0.3 GB + 10⁷ · 42 bytes + 10⁶ users · (400 + 4 lists · (8 · 2 + 40 · 2 metrics))."""
    given = config(tmp_path), 1_000_000, 10_000_000
    needed = 300_000_000 + 420_000_000 + 1_000_000 * (400 + 4 * (16 + 80))
    assert needed == 1_504_000_000
    assert require_memory(*given, None) == needed
    assert require_memory(*given, Limit(needed, "1.5 GB is free")) == needed


def test_a_run_that_would_swap_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        require_memory(config(tmp_path), 1_000_000, 10_000_000, Limit(10**9, "1 GB is free"))
    assert str(refused.value) == (
        "1,000,000 evaluated users with 4 lists each, and 10,000,000 events, need about 1.5 GB of "
        "memory; 1 GB is free: ask for fewer repeats or metrics, evaluate some of the models "
        "(--model, in Python models=), or allow more (--memory, memory=)"
    )


def kept(task: Task, name: str, times: float = 1, **more: Any) -> None:
    """Keep notes of a finished model on data that was so many times as large."""
    entry = cache.private(cache.folder() / "models")
    assert entry is not None
    own, n = task.evaluation_set, len(list(entry.iterdir()))
    notes = {
        "described": described(task.config, name),
        "events": times * len(task.split.train.user),
        "users": times * len(own.users),
        "candidates": len(own.candidates),
        "seconds": {step: 4 * times * s for step, s in HALF_MINUTE.items()},
        "of": ["exam.toml", 0, name],
        "kept": n,
        "files": [],
    }
    sealed(entry / f"{n}", json.dumps(notes | more))


def sealed(folder: Path, text: str) -> None:
    """Write notes into an entry of the cache, with their checksum."""
    small.write(folder, {"meta.json": text})
    small.write(folder, {"sums.json": json.dumps({"meta.json": zlib.crc32(text.encode())})})


def said(task: Task, caplog: pytest.LogCaptureFixture, processes: int = 1, folds: int = 1) -> str:
    caplog.clear()
    say_expected(task.config.models, task, 1_500_000_000, processes, folds)
    return "\n".join(caplog.messages)


def test_time_is_that_of_earlier_runs_scaled(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Popular took two minutes on equal data, or eight on four times as much; random is new."""
    task = make_task(config(tmp_path))
    assert said(task, caplog) == ""
    kept(task, "popular", 4)
    told = "about 2 min for 1 model, by what they took in earlier runs; 1 not evaluated here before"
    assert said(task, caplog) == f"{told}; about 1.5 GB of memory"
    kept(task, "popular", 1, seconds={"fit": 200.0, "recommend": 100.0})  # nearer
    assert said(task, caplog).startswith("about 5 min for 1 model, ")
    kept(task, "random", 1)
    assert said(task, caplog) == (
        "about 7 min for 2 models, by what they took in earlier runs; about 1.5 GB of memory"
    )
    assert said(task, caplog, folds=10).startswith("about 1.2 h for 2 models")
    # Side by side: not less than the longest takes.
    assert said(task, caplog, processes=2).startswith("about 5 min for 2 models")


def test_short_runs_and_odd_notes_are_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    task = make_task(config(tmp_path))
    kept(task, "popular", seconds={"fit": 59.0})
    kept(task, "random", events=0)
    for odd in ("[]", "{", '{"described": 1}', '"x"'):
        sealed(cache.folder() / f"models/odd{len(odd)}", odd)
    assert said(task, caplog) == ""


def test_a_finished_model_notes_what_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_RECENT_NS", 0)
    small.write(tmp_path, {"log.csv": small.MANY})
    settings = small.config_of(tmp_path, small.POPULAR, data={"cache": True})
    run(settings)
    (path,) = (cache.folder() / "models").glob("*/meta.json")
    notes, task = json.loads(path.read_text()), make_task(settings)
    assert notes["described"] == described(settings, "popular")
    assert notes["events"] == len(task.split.train.user)
    assert notes["seconds"].keys() >= {"fit", "recommend"}
