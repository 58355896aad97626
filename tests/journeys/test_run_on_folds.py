"""Runs of several evaluation sets: each as a run of its own, and what they tell together."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
import small
from conftest import refusal

from harness import config as config_
from harness.config import Config
from harness.core.errors import DataError, EmptyEvaluationSetError, UsageError
from harness.core.terminal import fitted
from harness.data.loading import load
from harness.experiment import run_folder
from harness.experiment.compare import compare
from harness.experiment.folds import FoldedResult, require_windows
from harness.experiment.rescore import rescore
from harness.experiment.result import Result
from harness.experiment.run import run
from harness.metrics import parse

THREE = {"strategy": "time", "valid_days": 2, "folds": 3}
"""Days 3 and 4, 5 and 6, 7 and 8 of `small.MANY`."""
TWO = {"strategy": "time", "valid_days": 1, "folds": 2}
"""The 2nd and the 3rd of `small.TWO_WEEKS`."""


def folded(config: Config) -> FoldedResult:
    found = run(config)
    assert isinstance(found, FoldedResult)
    return found


class Done(NamedTuple):
    found: FoldedResult
    config: Config
    folder: Path


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """All models on three folds; the folder is not to be written to."""
    folder = tmp_path_factory.mktemp("folds")
    config = small.many(folder, split=THREE, evaluation={"metrics": ["MAP@2", "Coverage@2"]})
    found = folded(config)
    found.write(folder / "run")
    return Done(found, config, folder / "run")


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> FoldedResult:
    """The first of popular is a: 1/2 on the 2nd. Then a and b: a again leads by 3 to 2, 0 hits."""
    rules = {"k": 1, "metrics": ["MAP@1"]}
    models = small.POPULAR, small.RANDOM
    folder = tmp_path_factory.mktemp("weeks")
    return folded(small.config(folder, *models, log=small.TWO_WEEKS, split=TWO, evaluation=rules))


def test_a_score_is_the_mean_over_folds(weeks: FoldedResult) -> None:
    scores = [{m.name: m.metrics["MAP@1"].mean for m in one.models} for one in weeks.folds]
    assert [of["popular"] for of in scores] == [0.5, 0.0]
    popular = next(model for model in weeks.models if model.name == "popular")
    assert popular.metrics["MAP@1"].mean == 0.25
    windows = ["1 day from 2020-01-02", "1 day from 2020-01-03"]
    assert [fold.evaluation.window for fold in weeks.folds] == windows
    assert weeks.evaluation.users == 3  # ann, bob and cid, of two in each fold
    assert weeks.evaluation.candidates is None


def test_a_users_value_is_the_sum_over_folds(weeks: FoldedResult) -> None:
    """Bob is only in the first fold, cid only in the second; random rankings would score 1/2."""
    assert weeks.comparison is not None
    assert weeks.comparison.users == 3
    assert weeks.chance["MAP@1"].mean == 0.5
    # Two users of variance 1/4 in either fold: 1/8 a mean, so 1/16 that of both means.
    assert weeks.chance["MAP@1"].sd == pytest.approx(0.25, abs=1e-12)


def test_the_last_fold_draws_as_a_single_run_and_others_draw_anew(tmp_path: Path) -> None:
    settings = small.config(tmp_path, {**small.RANDOM, "repeats": 3}, log=small.MANY, split=THREE)
    first, _, last = folded(settings).folds
    alone = [run(one.model_copy(update={"fold": 0})) for one in settings.folds()]
    assert last.per_user().equals(alone[2].per_user())
    assert not first.per_user().equals(alone[0].per_user())


def test_events_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.data import loading

    times: list[int] = []
    load = loading.load
    monkeypatch.setattr(loading, "load", lambda *given: (times.append(1), load(*given))[1])
    folded(small.config(tmp_path, log=small.MANY, split=THREE))
    assert len(times) == 1


def test_the_folder_holds_every_fold(done: Done) -> None:
    scores = pl.read_parquet(done.folder / "per_user.parquet")
    lists = pl.read_parquet(done.folder / "recommendations.parquet")
    assert scores["fold"].unique().to_list() == lists["fold"].unique().to_list() == [1, 2, 3]
    back = run_folder.read(done.folder)
    assert (done.folder / "result.json").read_text() == done.found.to_json() + "\n"
    assert back.config.split == done.config.split
    for fold, own in zip(back.folds, done.found.folds, strict=True):
        assert fold.user_ids.to_list() == own.evaluation_set.user_ids.to_list()
        assert fold.users.columns == own.users.columns
        for name, table in fold.tables.items():
            scores_ = next(m.scores for m in own.models if m.name == name)
            for m, values in table.values.items():
                if m.definition.of != "set":
                    assert np.array_equal(values, scores_.values[m])


def test_compare_finds_what_the_run_found(done: Done) -> None:
    compared = compare(done.folder)
    assert compared.comparison == done.found.comparison
    for row, pair in zip(compared.records(), compared.comparison.pairs, strict=True):
        assert pair.better_folds is not None
        assert (row["better_folds"], row["folds"]) == (pair.better_folds[0], 3)
    assert compared.models[0].metrics["MAP@2"] == done.found.models[0].metrics["MAP@2"]


def test_compare_says_which_folds_differ(tmp_path: Path) -> None:
    log = small.MANY.replace("user1,b,2020-01-03", "user1,e,2020-01-03")
    assert log != small.MANY
    for name, events, split in (
        ("one", small.MANY, THREE),
        ("other", log, THREE),
        ("two", small.MANY, THREE | {"folds": 2}),
    ):
        folded(small.config(tmp_path, log=events, split=split)).write(tmp_path / name)
    told = "they differ in fold 1 and agree in fold 2, fold 3; only models"
    with refusal(UsageError, "other: has another evaluation set than ", told):
        compare(tmp_path / "one", tmp_path / "other")
    with refusal(UsageError, "two: has 2 folds", "one has 3"):
        compare(tmp_path / "one", tmp_path / "two")


def test_slices_are_of_each_fold(done: Done) -> None:
    assert done.found.slices == ()
    assert all(fold.slices for fold in done.found.folds)
    with refusal(UsageError, "3 folds", "slices"):
        compare(done.folder, slices=["activity"])


def test_metrics_of_all_lists_are_means_of_the_folds(done: Done) -> None:
    for model in done.found.models:
        own = [
            next(m for m in fold.models if m.name == model.name).metrics["Coverage@2"].mean
            for fold in done.found.folds
        ]
        assert model.metrics["Coverage@2"].mean == pytest.approx(sum(own) / 3, abs=1e-15)
        assert model.metrics["Coverage@2"].ci95 is None


def test_lists_of_folds_are_scored_by_other_metrics(done: Done) -> None:
    def figures(of: Any) -> Any:  # leaderboards know of no others
        return small.timeless(of.to_dict(), "bridge", "notes", "config")

    assert figures(rescore(done.folder)) == figures(done.found)
    rules = done.config.evaluation.model_copy(update={"metrics": ["Recall@1"]})
    again = run(done.config.model_copy(update={"evaluation": rules}))
    assert figures(rescore(done.folder, [parse("Recall@1")])) == figures(again)


def copied(of: Done, folder: Path, old: str, new: str) -> Path:
    """Return a copy of the run, with another text in its config."""
    of.found.write(folder)
    text = (folder / "config.toml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    (folder / "config.toml").write_text(text.replace(old, new), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("folds = 3", "folds = 2", "says 2 folds, and the run had 3 folds"),
        ("folds = 3", "folds = 4", "says 4 folds, and the run had 3 folds"),
        ("valid_days = 2", "valid_days = 1", "the data has changed since this run"),
    ],
)
def test_lists_of_other_folds_are_refused(
    done: Done, tmp_path: Path, old: str, new: str, words: str
) -> None:
    with refusal(UsageError, words):
        rescore(copied(done, tmp_path / "run", old, new))


def test_a_record_whose_folds_were_cut_is_refused(done: Done, tmp_path: Path) -> None:
    done.found.write(tmp_path / "run")
    path = tmp_path / "run/result.json"
    for left in (2, 0):
        held = done.found.to_dict()
        path.write_text(json.dumps(held | {"folds": held["folds"][:left]}), encoding="utf-8")
        with refusal(DataError, "result.json", "its folds are not those of its evaluation"):
            run_folder.read(tmp_path / "run")


def test_the_table_shows_each_fold_and_in_how_many_the_best_is_better(done: Done) -> None:
    whole, folds = done.found.sheets()
    assert "in 2 of 3 folds" in whole.heading[1]
    assert folds.heading[0].startswith("fold 1  7 users · 5 candidates · ")
    assert folds.titles == ["model", "fold 1", "fold 2", "fold 3", "best is better in"]
    shown = {
        width: [" ".join(title) for title, *_ in fitted(folds, width).values()]
        for width in (60, 40)
    }
    assert (len(shown[60]), shown[40][1]) == (5, "fold 3")
    assert {titles[-1] for titles in shown.values()} == {"best is better in"}
    row = next(row for row in folds.rows if row[0] == "popular")
    assert row == ["popular", "0.0000", "0.3462", "0.5000", "2 of 3 folds"]
    assert folds.rows[0][-1] == ""  # the best itself
    assert folds.rows[-1][0] == "chance (exact)"


def test_lines_of_folds_stand_below_each_other(tmp_path: Path) -> None:
    log = "user,item,time\n" + "".join(f"ann,a,2020-01-{day:02}\n" for day in range(1, 13))
    split = {"strategy": "time", "valid_days": 1, "folds": 10}
    _, folds = folded(small.config(tmp_path, log=log, split=split)).sheets()
    assert folds.heading[0].startswith("fold 1   1 user ")
    assert folds.heading[9].startswith("fold 10  1 user ")


def test_against_a_baseline_the_folds_are_those_in_which_a_model_beats_it(tmp_path: Path) -> None:
    settings = small.many(tmp_path, split=THREE, compare={"baseline": "popular"})
    _, folds = folded(settings).sheets()
    assert folds.titles[-1] == "better in"
    better = {row[0]: row[-1] for row in folds.rows}
    assert (better["fading"], better["popular"], better["after"]) == (
        "2 of 3 folds",
        "",
        "0 of 3 folds",
    )


def test_a_single_fold_is_a_plain_run(tmp_path: Path) -> None:
    config = small.config(tmp_path)
    one = config.model_copy(update={"split": config.split.model_copy(update={"folds": 1})})
    found, alone = run(one), run(config)
    assert isinstance(found, Result)
    assert small.timeless(found.to_dict()) == small.timeless(alone.to_dict())
    assert "folds" not in one.resolved()["split"]


def test_who_has_no_true_item_is_not_counted_as_having_one(tmp_path: Path) -> None:
    """Ann has z alone, which nobody had before and is no candidate; cid has b."""
    first_day = small.TWO_WEEKS[: small.TWO_WEEKS.index("ann,a,2020-01-02")]
    log = first_day + "ann,z,2020-01-02\ncid,b,2020-01-03\n"
    rules = {"k": 1, "metrics": ["MAP@1"], "truth": "candidates", "require_hit": False}
    found = folded(small.config(tmp_path, log=log, split=TWO, evaluation=rules))
    assert (found.evaluation.users, found.with_items) == (2, 1)


# What cannot be evaluated.


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({}, "room for 3 windows of 2 days, events before them; ask for fewer folds or shorter"),
        ({"test_days": 3}, "room for 2 windows of 2 days, events before them and 3 test days"),
        ({"test_days": 5}, "room for 1 window of 2 days, events before it and 5 test days behind"),
        (
            {"test_days": 7, "valid_days": 1},
            "room for 0 windows of 1 day, events before them and 7 test days behind them; ask for "
            "fewer test_days",
        ),
    ],
)
def test_more_folds_than_the_data_has(tmp_path: Path, own: dict[str, Any], words: str) -> None:
    """The events run over eight days: of two days each, three windows have a day before them."""
    config = small.config(tmp_path, log=small.MANY, split=THREE | {"folds": 4} | own)
    with refusal(UsageError, "config: [split] folds = 4: ", "2020-01-01 to 2020-01-08", words):
        require_windows(config, load(config.layout()))


def test_too_many_folds_name_the_config_file(tmp_path: Path) -> None:
    small.write(tmp_path, {"log.csv": small.MANY, "my.toml": small.toml(split=THREE)})
    config = config_.read(tmp_path / "my.toml", ["split.folds=9"])
    with refusal(UsageError, f"{tmp_path / 'my.toml'}: [split] folds = 9"):
        run(config)


def test_where_an_early_fold_has_nobody_fewer_folds_are_the_hint(tmp_path: Path) -> None:
    """Nobody of the 2nd was there on the 1st; of the last fold alone fewer would be none."""
    log = small.TWO_WEEKS.replace("ann,a,2020-01-01\nbob,a,2020-01-01\n", "")
    told = (
        'fold 1 of 2: no user is left: the rule "seen in train"',
        ", or ask for fewer folds\nusers",
    )
    with refusal(EmptyEvaluationSetError, *told):
        run(small.config(tmp_path, log=log, split=TWO))
    log = small.TWO_WEEKS.replace("ann,b,2020-01-03\ncid,b,2020-01-03", "dan,b,2020-01-03")
    with refusal(EmptyEvaluationSetError, "fold 2 of 2: no user is left") as caught:
        run(small.config(tmp_path, log=log, split=TWO))
    assert "fewer folds" not in str(caught.value)


def test_a_fold_without_events_is_named(tmp_path: Path) -> None:
    log = small.TWO_WEEKS.replace("2020-01-02", "2020-01-01")
    window = ", and the window is 1 day from 2020-01-02; change [split]"
    with refusal(DataError, "fold 1 of 2: the split leaves no validation event of 7 (", window):
        run(small.config(tmp_path, log=log, split=TWO))
