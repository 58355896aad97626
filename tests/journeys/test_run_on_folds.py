"""Runs of several evaluation sets: each as a run of its own, and what they tell together."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
import small
from conftest import refusal

from harness.comparison.compare import compare
from harness.config import Config
from harness.core.errors import DataError, HarnessError, UsageError
from harness.evaluation.rescore import rescore
from harness.evaluation.run import run
from harness.results.run import Run, read

THREE = {"strategy": "time", "valid_days": 2, "folds": 3}
"""Days 3 and 4, 5 and 6, 7 and 8 of `small.MANY`."""
TWO = {"strategy": "time", "valid_days": 1, "folds": 2}
"""The 2nd and the 3rd of `small.TWO_WEEKS`."""


class Done(NamedTuple):
    result: Run
    config: Config
    folder: Path


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """All models on three folds; the folder is not to be written to."""
    folder = tmp_path_factory.mktemp("folds")
    config = small.many(folder, split=THREE, evaluation={"metrics": ["MAP@2", "Coverage@2"]})
    result = run(config)
    result.write(folder / "run")
    return Done(result, config, folder / "run")


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The first of popular is a: 1/2 on the 2nd. Then a and b: a again leads by 3 to 2, 0 hits."""
    rules = {"evaluation": {"k": 1, "metrics": ["MAP@1"]}, "compare": {"baseline": "popular"}}
    models, folder = (small.POPULAR, small.RANDOM), tmp_path_factory.mktemp("weeks")
    return run(small.config(folder, models=models, log=small.TWO_WEEKS, split=TWO, **rules))


def scores(result: Run, metric: str, model: str) -> list[float]:
    models = [{model.name: model for model in fold.models} for fold in result.folds]
    return [fold[model].metrics[metric].mean for fold in models]


def test_a_score_is_the_mean_over_folds(weeks: Run) -> None:
    assert scores(weeks, "MAP@1", "popular") == [0.5, 0.0]
    popular = next(model for model in weeks.models if model.name == "popular")
    assert popular.metrics["MAP@1"].mean == 0.25
    windows = ["1 day from 2020-01-02", "1 day from 2020-01-03"]
    assert [fold.evaluation.window for fold in weeks.folds] == windows
    assert weeks.evaluation.users == 3  # ann, bob and cid, of two in each fold
    assert weeks.evaluation.candidates is None


def test_the_folder_holds_every_fold(done: Done) -> None:
    for name in ("per_user", "recommendations"):
        rows = pl.read_parquet(done.folder / f"{name}.parquet")
        assert rows["fold"].unique().to_list() == [1, 2, 3]
    back = read(done.folder)
    assert (done.folder / "result.json").read_text() == done.result.to_json() + "\n"
    assert back.settings.split == done.config.split
    assert (repr(back), back.to_dict()) == (repr(done.result), done.result.to_dict())
    evaluated_folds = done.result, *done.result.folds
    for table in ("per_user", "recommendations"):
        for fold, evaluated in zip((back, *back.folds), evaluated_folds, strict=True):
            assert getattr(fold, table)().equals(getattr(evaluated, table)())


def test_readers_of_the_folder_find_what_the_run_found(done: Done) -> None:
    compared = compare(done.folder)
    assert compared.comparison == done.result.comparison
    for row, pair in zip(compared.records(), compared.comparison.pairs, strict=True):
        assert pair.better_folds is not None
        assert (row["better_folds"], row["folds"]) == (pair.better_folds[0], 3)
    assert compared.models[0].metrics["MAP@2"] == done.result.models[0].metrics["MAP@2"]
    again, first = (
        small.timeless(result.to_dict(), "bridge", "notes")  # leaderboards know of no others
        for result in (rescore(done.folder), done.result)
    )
    assert again == first


def test_compare_says_which_folds_differ(tmp_path: Path) -> None:
    log = small.MANY.replace("user1,b,2020-01-03", "user1,e,2020-01-03")
    logs = {"one": (small.MANY, 3), "other": (log, 3), "two": (log, 2)}
    for name, (events, folds) in logs.items():
        split = THREE | {"folds": folds}
        run(small.config(tmp_path, log=events, split=split)).write(tmp_path / name)
    words = (
        "other: has another evaluation set than ",
        ("they differ in fold 1; harness compares models"),
    )
    with refusal(UsageError, words):
        compare(tmp_path / "one", tmp_path / "other")
    with refusal(UsageError, "one has 3 folds, ", "two has 2 folds; harness compares"):
        compare(tmp_path / "one", tmp_path / "two")


def test_slices_are_of_each_fold_and_metrics_of_all_lists_means_of_them(done: Done) -> None:
    assert done.result.record.slices == ()
    assert all(fold.record.slices for fold in done.result.folds)
    with refusal(UsageError, "3 folds", "slices"):
        compare(done.folder, slices=["activity"])
    for model in done.result.models:
        means, figure = scores(done.result, "Coverage@2", model.name), model.metrics["Coverage@2"]
        assert (figure.mean, figure.ci95) == (pytest.approx(sum(means) / 3, abs=1e-15), None)
        assert (model.metrics["MAP@2"].sd_repeats is None) == (model.name != "random")


def test_scores_that_contradict_the_record_are_refused(weeks: Run, tmp_path: Path) -> None:
    """Popular has 1/2 and 0, so 1/4."""
    run = tmp_path / "run"
    weeks.write(run)
    compare(run)
    path, record = run / "result.json", json.loads((run / "result.json").read_text())
    position = [model["name"] for model in record["models"]].index("popular")
    path.write_text(json.dumps(small.put(record, f"models {position} metrics MAP@1 mean", 0.5)))
    message = 'model "popular" has a mean MAP@1 of 0.25 over its folds, and 0.5 itself'
    with refusal(DataError, f"{path}: not the result of harness run", message):
        compare(run)
    weeks.write(run)
    scores = pl.read_parquet(run / "per_user.parquet")
    second = (pl.col("fold") == 2) & (pl.col("model") == "popular")
    values = pl.when(second).then(1.0).otherwise("MAP@1").alias("MAP@1")
    scores.with_columns(values).write_parquet(run / "per_user.parquet")
    message = (
        'per_user.parquet: fold 2: model "popular" has a mean MAP@1 of 1 there, and 0 in result'
    )
    with refusal(DataError, message, "--fresh"):
        compare(run)


def test_lists_or_a_record_of_other_folds_are_refused(done: Done, tmp_path: Path) -> None:
    done.result.write(tmp_path / "run")
    path = tmp_path / "run" / "config.toml"
    text, held = path.read_text(), done.result.to_dict()
    path.write_text(text.replace("folds = 3", "folds = 2"))
    with refusal(UsageError, "has 2 folds and k = 2, but the run had 3 folds and"):
        rescore(tmp_path / "run")
    cut = json.dumps(held | {"folds": held["folds"][:2]})
    small.write(tmp_path, {"run/result.json": cut})
    with refusal(DataError, "result.json", "its parts have different models, metrics or folds"):
        read(tmp_path / "run")


# What cannot be evaluated.


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({}, "room for 3 windows of 2 days after other events; use fewer"),
        ({"test_days": 5}, "room for 1 window of 2 days after other events and with 5 test days"),
    ],
)
def test_more_folds_than_the_data_has(tmp_path: Path, sections: dict[str, Any], words: str) -> None:
    """The events run over eight days: of two days each, three windows have a day before them."""
    config = small.config(tmp_path, log=small.MANY, split=THREE | {"folds": 4} | sections)
    with refusal(UsageError, "config: [split] folds = 4: ", "2020-01-01 to 2020-01-08", words):
        run(config)


FIRST_DAY = "ann,a,2020-01-01\nbob,a,2020-01-01\n"
LAST_DAY = "ann,b,2020-01-03\ncid,b,2020-01-03"
NOBODY = 'no user is left after the rule "seen in train"'


@pytest.mark.parametrize(
    ("old", "new", "words", "fewer"),
    [
        (FIRST_DAY, "", f"fold 1 of 2: {NOBODY}", True),
        (LAST_DAY, "dan,b,2020-01-03", f"fold 2 of 2: {NOBODY}", False),
        ("-02\n", "-01\n", "fold 1 of 2: the split leaves no validation event", False),
    ],
)
def test_a_fold_without_users_or_events_is_named(
    tmp_path: Path, old: str, new: str, words: str, fewer: bool
) -> None:
    """Of the last fold alone fewer would be none."""
    with refusal(HarnessError, words) as caught:
        run(small.config(tmp_path, log=small.TWO_WEEKS.replace(old, new), split=TWO))
    assert (", or use fewer folds\nusers" in str(caught.value)) == fewer
