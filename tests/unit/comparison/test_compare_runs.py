"""Runs that are compared: which may be, by which options, and what a damaged folder costs."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import refusal
from run_files import EVALUATION, change, document, write_run

import harness
from harness.comparison.compare import compare
from harness.core.errors import DataError, UsageError
from harness.metrics import parse
from harness.results.run import read
from harness.results.wording import answer

POPULAR = {"MAP@3": [1.0, 0.5, 0.0, 0.0], "Recall@3": [1.0, 1.0, 0.0, 0.0]}
LAST = {"MAP@3": [0.0, 0.5, 0.5, 0.0], "Recall@3": [0.0, 1.0, 1.0, 0.0]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    all_lists = {"MicroRecall@2": 0.5}
    return write_run(tmp_path / "run", {"popular": POPULAR | all_lists, "last": LAST | all_lists})


def pair(tmp_path: Path, **changes: Any) -> list[Path]:
    """Return two runs of a model each, the evaluation set of the second changed."""
    first = write_run(tmp_path / "one", {"popular": POPULAR})
    return [first, write_run(tmp_path / "two", {"last": LAST}, evaluation=changes)]


def test_figures_of_a_pair(folder: Path) -> None:
    """Popular less last is 1, 0, -1/2 and 0: 1/2 over four users."""
    compared = harness.compare(folder)
    means = [(model.name, model.metrics["MAP@3"].mean) for model in compared.models]
    assert means == [("popular", 3 / 8), ("last", 1 / 4)]
    (pair,) = compared.comparison.pairs
    assert (pair.one, pair.other, pair.difference) == ("popular", "last", 1 / 8)
    assert (pair.wins, pair.ties, pair.losses) == (1, 2, 1)
    assert harness.compare(folder, metric="Recall@3").comparison.pairs[0].difference == 0
    sliced = harness.compare(folder, slices=["truth", "activity"])
    assert (list(sliced.to_pandas()["verdict"]), len(sliced.sheets())) == (["tied"], 4)
    best, stands, users = repr(sliced).splitlines()[:3]
    assert best.startswith("BEST  popular: MAP@3 0.3750 (")
    line = "evaluation set  4 users · 4 candidates · k = 3 · ffffff"
    assert (stands, users) == ("      tied with last", line)


def test_the_first_line_is_that_of_the_run(tmp_path: Path) -> None:
    """Means of 3/8 and 1/4 are 3 and 2 times a chance of 1/8."""
    chance = {"MAP@3": {"mean": 1 / 8, "sd": 0.1}}
    folder = write_run(tmp_path / "run", {"popular": POPULAR, "last": LAST}, chance=chance)
    compared = harness.compare(folder)
    assert [model.lift for model in compared.models] == [3, 2]
    (first, *_), (of_run, *_) = repr(compared).splitlines(), answer(read(folder).record)
    assert first.endswith("), 3.0 × chance")
    assert of_run == "BEST  popular: MAP@3 0.3750, 3.0 × chance"  # no interval is recorded


def test_one_name_for_two_models_is_shown_with_its_run(tmp_path: Path) -> None:
    first = write_run(tmp_path / "one", {"popular": POPULAR})
    second = write_run(tmp_path / "two", {"popular": LAST, "last": LAST})
    names = {model.name for model in harness.compare(first, second).models}
    assert names == {f"popular ({first})", f"popular ({second})", "last"}


OWN = "mine:early@1"
EARLY = "def early(hits, n_relevant, k): return hits[:1].sum()\n"


def of_source(folder: Path, digest: str, name: str = "popular") -> Path:
    """Return a run under MAP@3 and a metric of the user's own, whose source had this digest."""
    small.write(folder.parent, {"mine.py": EARLY})
    config = {"evaluation": {"metrics": [f"{folder.parent / 'mine.py'}:early@1", "MAP@3"]}}
    models = {name: {OWN: [1.0, 0.0, 0.0, 0.0], "MAP@3": POPULAR["MAP@3"]}}
    facts = {"better": "higher", "digest": digest}
    return write_run(
        folder, models, config=config, metrics={OWN: facts, "MAP@3": {"better": "higher"}}
    )


def test_figures_of_a_metric_whose_source_changed_are_not_compared(tmp_path: Path) -> None:
    """Those of other metrics are, and equal scores under these count once."""
    now = parse("mine:early@1", small.write(tmp_path, {"mine.py": EARLY})).definition.digest
    old, new = of_source(tmp_path / "old", "0" * 64), of_source(tmp_path / "new", now)
    last = of_source(tmp_path / "last", now, "last")
    changed = f'metric "{OWN}": its code has changed since {old}, so their scores'
    words = [changed, f"run it again: harness run {old}/config.toml"]
    for first, second in ((old, new), (new, old)):
        with refusal(UsageError, words) as caught:
            compare(first, last, second)
        assert f"{new}/config.toml" not in str(caught.value)
    with refusal(UsageError, "only one model"):
        compare(old, new, metric="MAP@3")
    assert len(compare(new, last).models) == 2
    compared = compare(old, new, last, metric="MAP@3")
    assert sorted(model.name for model in compared.models) == ["last", "popular"]
    note = "last and popular have the same score for every user: is one a copy?"
    assert sorted(note) == sorted(*compared.notes)
    assert f"note  {compared.notes[0]}" in str(compared)


def test_another_evaluation_set_or_format_of_fingerprints_is_refused(tmp_path: Path) -> None:
    fields: Any = EVALUATION["fields"]
    truth, unseen = fields | {"truth": "9" * 64}, {n: fields[n] for n in fields if n != "seen"}
    for name, digests in (("truth", truth), ("seen", unseen)):
        first, second = pair(tmp_path / name, fields=digests)
        for one_way, back in ((first, second), (second, first)):
            with refusal(UsageError, str(first), str(second), f"they differ in {name}; "):
                harness.compare(one_way, back)
    new, old = pair(tmp_path, fields=truth, fingerprint_format=1)
    for first, second in ((old, new), (new, old)):
        words = [f"{old} has a fingerprint of an earlier version", f"run {old}/config.toml"]
        with refusal(UsageError, words):
            harness.compare(first, second)


def test_runs_without_a_score_per_user(tmp_path: Path) -> None:
    run = write_run(tmp_path / "one", {"last": {"Coverage@3": [1.0, 0.0]}})
    with refusal(UsageError, "no metric of these runs has scores per user; run again with one"):
        compare(run)


def test_users_of_another_evaluation_set(tmp_path: Path) -> None:
    first, second = pair(tmp_path)
    scores = pl.read_parquet(second / "per_user.parquet")
    scores.with_columns(user="v" + pl.col("user")).write_parquet(second / "per_user.parquet")
    with refusal(DataError, f"{second}/per_user.parquet: has other users"):
        compare(first, second)
    users = pl.read_parquet(first / "users.parquet")
    users.with_columns(user=pl.lit("x")).write_parquet(first / "users.parquet")
    with refusal(DataError, f"{first}/users.parquet: has other users"):
        compare(first, write_run(tmp_path / "three", {"last": LAST}), slices=["truth"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metric": "MAP@2"}, ['"MAP@2"', "MAP@3"]),
        ({"metric": "MicroRecall@2"}, ["is not a metric with scores per user", "Recall@3"]),
        ({"baseline": "best"}, ['"best"', "popular"]),
        ({"models": ["lst"]}, ['no model "lst"', '"last"']),
        ({"models": ["last"]}, ["only one model"]),
        ({"correction": ""}, ["correction is ''; expected 'holm' or 'bh'"]),
        ({"correction": "holmes"}, ["correction is 'holmes'; expected 'holm' or 'bh'"]),
        ({"resamples": 5}, ["resamples = 5", "100"]),
        ({"seed": -1}, ["seed = -1", "0 or more"]),
        ({"public_shares": [1.5]}, ["1.5", "between 0 and 1"]),
        ({"public_shares": [float("nan")]}, ["nan", "between 0 and 1"]),
        ({"slices": ["town"]}, ['run: has no column "town"', ": activity, ", "[compare] slices"]),
        ({"slices": ["activty"]}, ['no column "activty" for slices', 'did you mean "activity"?']),
        ({"slices": "truth"}, ["slices is 'truth'; "]),
        ({"models": [3]}, ["models is [3]; expected a valid string"]),
        ({"public_shares": 0.5}, ["public_shares is 0.5; expected an instance of Sequence"]),
        ({"baseline": 3}, ["baseline is 3; expected a valid string"]),
        ({"all_pairs": 1}, ["all_pairs is 1; expected a valid boolean"]),
    ],
)
def test_options_that_are_wrong(folder: Path, options: Any, words: list[str]) -> None:
    with refusal(UsageError, words):
        compare(folder, **options)


def test_no_run_and_one_run_twice(folder: Path, tmp_path: Path) -> None:
    with refusal(UsageError, "run: named twice; name each run once"):
        compare(folder, folder / ".." / "run")
    with refusal(UsageError, "no run to compare"):
        compare()
    with refusal(UsageError, "not a run folder, but it has 1 run"):
        compare(tmp_path)
    with refusal(UsageError, "not a run folder"):  # no file can have such a name
        read(Path("a" * 300))


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("truth", [[1]] * 4, 'column "truth" holds List(Int64); expected text, numbers or dates'),
        ("truth", [b"\xff"] * 4, 'column "truth" holds Binary; expected text, numbers or dates'),
        ("user", None, 'has no column "user"'),
        ("user", [[1]] * 4, "cannot be read"),
    ],
)
def test_a_damaged_table_of_users(folder: Path, column: str, values: Any, words: str) -> None:
    path = folder / "users.parquet"
    users = pl.read_parquet(path).drop(column)
    users = users if values is None else users.with_columns(pl.Series(column, values))
    users.write_parquet(path)
    with refusal(DataError, f"{path}: {words}"):
        compare(folder, slices=["truth"])


def scored(value: Any) -> Any:
    return lambda rows: rows.with_columns(pl.lit(value).alias("MAP@3"))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda rows: rows[1:], "not all rows"),
        (lambda rows: rows.with_columns(user=pl.lit("ann")), "not all rows"),
        (lambda rows: rows.with_columns(pl.col("repeat") + 1), "not all rows"),
        (lambda rows: rows.drop("repeat"), 'has no column "repeat"'),
        (lambda rows: rows.drop("MAP@3"), "no column MAP@3"),
        (scored(float("nan")), "a score is not a number"),
        (scored(float("inf")), "a score is not a number"),
        (scored(None), "a score is not a number"),
        (scored("x"), "cannot be read: conversion from"),
    ],
)
def test_scores_that_were_changed(folder: Path, changed: Any, message: str) -> None:
    path = folder / "per_user.parquet"
    changed(pl.read_parquet(path)).write_parquet(path)
    with refusal(DataError, message):
        compare(folder)


def test_a_table_that_contradicts_the_record_is_refused(folder: Path) -> None:
    """Last has 1/2 of two of four users; with 1 in place of 0 of the first, it has a mean of 1/2.

    A record whose mean differs as sums are rounded is no contradiction.
    """
    record = document(folder)
    change(folder, **small.put(record, "models 1 metrics MAP@3 mean", 0.25 * (1 + 1e-12)))
    compare(folder)
    path = folder / "per_user.parquet"
    first = (pl.col("model") == "last") & (pl.col("user") == "u0")
    rows = pl.read_parquet(path).with_columns(
        pl.when(first).then(1.0).otherwise("MAP@3").alias("MAP@3")
    )
    rows.write_parquet(path)
    words = [f'{path}: model "last" has a mean MAP@3 of 0.5 there', "and 0.25 in result.json"]
    with refusal(DataError, words, f"harness run {folder / 'config.toml'} --out {folder} --fresh"):
        compare(folder)


def test_a_mean_of_values_that_cancel_out_is_compared_by_their_size(tmp_path: Path) -> None:
    values = [0.1, 0.2, -0.3, 0.0]  # whose sum is 5.6e-17 or 0, as it is added up
    run = write_run(tmp_path / "run", {"mine": {"MAP@3": values}, "last": {"MAP@3": [1.0] * 4}})
    change(run, **small.put(document(run), "models 0 metrics MAP@3 mean", 0.0))
    assert len(compare(run).models) == 2


def test_a_record_of_the_first_version_and_one_with_a_model_twice(folder: Path) -> None:
    """It had models, their metrics and the evaluation set alone."""
    change(folder, metrics=None)
    assert document(folder).keys() == {"evaluation", "models"}
    assert {model.name for model in compare(folder).models} == {"popular", "last"}
    change(folder, models=document(folder)["models"][:1] * 2)
    with refusal(DataError, "its parts have different models"):
        read(folder)
