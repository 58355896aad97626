"""A run whose users are in parts that nobody puts together: the figures of a run in memory."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import refusal
from small import CONFIGS, POPULAR, timeless

from harness.config import Config
from harness.core.errors import EmptyEvaluationSetError, UsageError
from harness.core.exact_sum import Sums
from harness.core.progress import Clock
from harness.core.steps import of_parts
from harness.data import bucketing
from harness.data.buckets import prepared
from harness.experiment.evaluate_parts import EvaluatedPart, InParts, listed
from harness.experiment.per_user import scores_by_row
from harness.experiment.run import run


class Listed:
    """Parts in a list."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    def total(self, step: Callable[[Any], Sums]) -> Sums:
        return of_parts(lambda: self.parts)(step)

    def kept(
        self, make: Callable[[Any], Any], opened: Callable[[int, Mapping[Any, Any]], Any]
    ) -> "Listed":
        return Listed([opened(at, make(part)) for at, part in enumerate(self.parts)])


@contextmanager
def in_parts(settings: Config, count: int) -> Iterator[InParts]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bucketing, "bucket_count", lambda events: count)
        with prepared(settings.layout(), kept=False) as buckets:
            yield InParts(settings, Listed(list(buckets.datasets())), buckets.empty(), Clock())


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("count", [1, 7, 64])
def test_findings_are_those_of_a_run_in_memory(tmp_path: Path, name: str, count: int) -> None:
    settings = small.many(tmp_path, **CONFIGS[name])
    with in_parts(settings, count) as found:
        assert timeless(found.findings.to_dict()) == timeless(run(settings).to_dict())


def test_the_log_says_what_each_step_took(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "harness")
    with in_parts(small.config(tmp_path), 7):
        assert [re.sub(r"\d+\.\d s", "T", line) for line in caplog.messages] == [
            "evaluation set: 4 candidates, T",
            "fit 1 model, T",
            "evaluated 3 users, T",
            "compared 0 pairs, T",
        ]


def test_scores_of_parts_are_those_of_all_users(tmp_path: Path) -> None:
    settings = small.many(tmp_path)
    whole = run(settings).score_rows().cast({"user": pl.String}).sort("user", "model", "repeat")
    with in_parts(settings, 7) as found:
        rows = [scores_by_row(part.profile["user"], part.tables) for part in parts_of(found)]
    assert pl.concat(rows).sort("user", "model", "repeat").equals(whole)


def test_lists_of_parts_by_hand(tmp_path: Path) -> None:
    """On the last day b had two events before; then a, c and d have one each, in id order."""
    with in_parts(small.config(tmp_path), 7) as found:
        lists = partial(listed, small.config(tmp_path), found.candidate_ids)
        rows = pl.concat([lists(part) for part in parts_of(found)]).sort("user")
    assert rows.columns == ["user", "model", "repeat", "items"]
    assert rows.rows() == [(user, "popular", 0, ["b", "a"]) for user in ("ann", "bob", "cid")]


def parts_of(found: InParts) -> list[EvaluatedPart]:
    assert isinstance(found.evaluated, Listed)
    return found.evaluated.parts


@pytest.mark.parametrize("use", ["baselines.ease:EASE", "baselines.als:ALS"])
def test_models_of_all_events_at_once_are_refused(tmp_path: Path, use: str) -> None:
    settings = small.config(tmp_path, POPULAR, {"name": "all", "use": use})
    with (
        refusal(UsageError, "1 model learns from all events at once: all", "--engine spark"),
        in_parts(settings, 2),
    ):
        pass


def test_files_of_lists_are_refused(tmp_path: Path) -> None:
    small.write(tmp_path, {"lists.csv": "user,item\nann,a\n"})
    settings = small.config(tmp_path, POPULAR, {"name": "file", "lists": "lists.csv"})
    with refusal(UsageError, 'model "file"', "harness score"), in_parts(settings, 2):
        pass


@pytest.mark.parametrize("count", [1, 7])
def test_nobody_left_is_told_with_the_funnel(tmp_path: Path, count: int) -> None:
    log = "user,item,time\nann,a,2020-01-01\nbob,b,2020-01-08\n"
    with (
        refusal(EmptyEvaluationSetError, "seen in train", "take a shorter window"),
        in_parts(small.config(tmp_path, log=log), count),
    ):
        pass
