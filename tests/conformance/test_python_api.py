"""Whatever is given where something else is expected: it works, or is refused in one style."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import small

import harness
from harness.core.errors import HarnessError


class Model:
    """No recommender."""


PAIR = pl.DataFrame({"user": ["a"], "item": ["b"]})
BOTH = {"one": PAIR, "two": PAIR}
GIVEN: dict[str, Any] = {
    "an empty dict": {},
    "a dict": {"a": 1},
    "a class": Model,
    "an object": Model(),
    "a number": 7,
    "a fraction": 1.5,
    "a truth value": True,
    "an empty list": [],
    "a list": [1],
    "bytes": b"x",
    "a set": {1},
    "a function": len,
    "an array": np.zeros(3),
    "a series": pd.Series([1]),
    "a frame": PAIR,
    "an empty frame": pd.DataFrame(),
    "a text": "nowhere",
}
CALLS: dict[str, Callable[[Any], Any]] = {
    "run": harness.run,
    "run, models": lambda given: harness.run(events=PAIR, split={}, models=given),
    "run, split": lambda given: harness.run(events=PAIR, split=given, models={"m": Model}),
    "run, data": lambda given: harness.run(data=given, split={}, models={"m": Model}),
    "tune": harness.tune,
    "split": lambda given: harness.split(given, "out"),
    "check": lambda given: harness.check(given, "MAP@2 of m >= 0"),
    "check, conditions": lambda given: harness.check("run", given),
    "validate": lambda given: harness.validate(given, solution=PAIR),
    "validate, solution": lambda given: harness.validate(PAIR, solution=given),
    "validate, config": lambda given: harness.validate(PAIR, config=given),
    "score": lambda given: harness.score(given, solution=PAIR),
    "score, solution": lambda given: harness.score(PAIR, solution=given),
    "score, config": lambda given: harness.score(PAIR, config=given),
    "score, metrics": lambda given: harness.score(PAIR, solution=PAIR, metrics=given),
    "score, k": lambda given: harness.score(PAIR, solution=PAIR, k=given),
    "compare": harness.compare,
    "compare, one": lambda given: harness.compare({"one": PAIR, "two": given}, solution=PAIR),
    "compare, solution": lambda given: harness.compare(BOTH, solution=given),
    "compare, config": lambda given: harness.compare(BOTH, config=given),
    "compare, metric": lambda given: harness.compare(BOTH, solution=PAIR, metric=given),
    "compare, k": lambda given: harness.compare(BOTH, solution=PAIR, k=given),
    "leaderboard": harness.leaderboard,
    "leaderboard, files": lambda given: harness.leaderboard(given, solution=PAIR),
    "evaluate": lambda given: harness.evaluate(given, PAIR, "MAP@3"),
    "evaluate, truth": lambda given: harness.evaluate(PAIR, given, "MAP@3"),
    "evaluate, metrics": lambda given: harness.evaluate(PAIR, PAIR, given),
    "conventions, k": lambda given: harness.conventions(PAIR, PAIR, given),
}
WORKS = {
    *((call, "a frame") for call in ("validate", "score", "evaluate")),
    *((f"{call}, solution", "a frame") for call in ("validate", "score")),
    *((call, "a number") for call in ("score, k", "conventions, k")),
    *(("evaluate", empty) for empty in ("an empty list", "an empty dict")),
    *(("validate", faulty) for faulty in ("a text", "an empty frame")),
    ("evaluate, truth", "a frame"),
    ("score, metrics", "an empty list"),
}
"""What is no mistake, or what validate tells the mistakes of."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run in "run", which is only read."""
    folder = tmp_path_factory.mktemp("here")
    harness.run(small.config(folder, small.POPULAR, small.RANDOM)).write(folder / "run")
    return folder


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("about", GIVEN)
@pytest.mark.parametrize("call", CALLS)
def test_it_works_or_is_refused(
    run: Path, monkeypatch: pytest.MonkeyPatch, call: str, about: str
) -> None:
    """By an error that is no page long."""
    monkeypatch.chdir(run)
    if (call, about) in WORKS:
        CALLS[call](GIVEN[about])
        return
    with pytest.raises(HarnessError) as told:
        CALLS[call](GIVEN[about])
    assert 0 < len(str(told.value)) < 600
