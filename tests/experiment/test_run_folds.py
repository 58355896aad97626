"""Several evaluation sets of one config: each as a run of its own, and what they tell together."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import small
from conftest import refusal

import harness
from harness import config as config_
from harness.config import Config, SubmissionConfig, parse
from harness.core.errors import DataError, EmptyEvaluationSetError, UsageError
from harness.core.terminal import fitted
from harness.data import bucketing
from harness.experiment import memory, run_folder
from harness.experiment.compare import compare
from harness.experiment.folds import FoldedResult
from harness.experiment.result import Result
from harness.experiment.run import run
from harness.experiment.split_files import FoldedSplit, split
from harness.experiment.submissions import SubmissionError
from harness.report.page import page

THREE = {"strategy": "time", "valid_days": 2, "folds": 3}
"""Days 3 and 4, 5 and 6, 7 and 8 of `small.MANY`."""
RANDOM = {"name": "random", "use": "baselines.random_items:RandomItems", "repeats": 3}


def folded(config: Config, **given: Any) -> FoldedResult:
    found = run(config, **given)
    assert isinstance(found, FoldedResult)
    return found


def single(config: Config) -> Result:
    found = run(config)
    assert isinstance(found, Result)
    return found


def record(found: Any) -> dict[str, Any]:
    """Return a run's record without what is measured anew each time, and its version."""
    own: dict[str, Any] = json.loads(found.to_json())
    for part in (own, *own["folds"]):
        for timed in (part, *part["models"]):
            timed.pop("seconds")
    return {key: value for key, value in own.items() if key != "schema"}


def test_a_score_is_the_mean_over_folds(tmp_path: Path) -> None:
    """The first of popular is a: 1/2 on the 2nd. Then a and b: a again leads by 3 to 2, 0 hits."""
    split = {"strategy": "time", "valid_days": 1, "folds": 2}
    rules = {"k": 1, "metrics": ["MAP@1"]}
    found = folded(small.config(tmp_path, log=small.TWO_WEEKS, split=split, evaluation=rules))
    by_fold = [fold.models[0].metrics["MAP@1"].mean for fold in found.folds]
    assert by_fold == [0.5, 0.0]
    assert found.models[0].metrics["MAP@1"].mean == 0.25
    assert [fold.evaluation.window for fold in found.folds] == [
        "1 day from 2020-01-02",
        "1 day from 2020-01-03",
    ]
    assert found.evaluation.users == 3  # ann, bob and cid, of two in each fold
    assert found.evaluation.candidates is None


def test_a_users_value_is_the_sum_over_folds(tmp_path: Path) -> None:
    """Bob is only in the first fold, cid only in the second; random rankings would score 1/2."""
    split = {"strategy": "time", "valid_days": 1, "folds": 2}
    settings = small.config(
        tmp_path,
        small.POPULAR,
        small.RANDOM,
        log=small.TWO_WEEKS,
        split=split,
        evaluation={"k": 1, "metrics": ["MAP@1"]},
    )
    found = folded(settings)
    assert found.comparison is not None
    assert found.comparison.users == 3
    assert found.chance["MAP@1"].mean == 0.5
    # Two users of variance 1/4 in either fold: 1/8 a mean, so 1/16 that of both means.
    assert found.chance["MAP@1"].sd == pytest.approx(0.25, abs=1e-12)


@pytest.mark.parametrize("name", ["as it is", "every metric", "grades", "k-core", "types"])
def test_each_fold_is_a_run_of_its_own(tmp_path: Path, name: str) -> None:
    settings = small.many(tmp_path, **{**small.CONFIGS[name], "split": THREE})
    found = folded(settings)
    for fold, own in zip(record(found)["folds"], settings.folds(), strict=True):
        assert fold == record(single(own))


def test_the_last_fold_draws_as_a_single_run_and_others_draw_anew(tmp_path: Path) -> None:
    settings = small.config(tmp_path, RANDOM, log=small.MANY, split=THREE)
    first, _, last = folded(settings).folds
    alone = [single(one.model_copy(update={"fold": 0})) for one in settings.folds()]
    assert last.per_user().equals(alone[2].per_user())
    assert not first.per_user().equals(alone[0].per_user())


def test_buckets_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = small.many(tmp_path, split=THREE)
    whole = record(folded(settings))
    monkeypatch.setattr(bucketing, "bucket_count", lambda events: 3)
    monkeypatch.setattr(memory, "needed", lambda layout: 1 << 60)
    assert record(folded(settings, memory="1GB")) == whole


def test_events_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.data import loading

    times: list[int] = []
    load = loading.load
    monkeypatch.setattr(loading, "load", lambda *given: (times.append(1), load(*given))[1])
    folded(small.config(tmp_path, log=small.MANY, split=THREE))
    assert len(times) == 1


def test_the_folder_holds_every_fold(tmp_path: Path) -> None:
    settings = small.many(tmp_path, split=THREE)
    found = folded(settings)
    found.write(tmp_path / "run")
    assert pl.read_parquet(tmp_path / "run" / "per_user.parquet")["fold"].unique().to_list() == [
        1,
        2,
        3,
    ]
    back = run_folder.read(tmp_path / "run")
    assert (tmp_path / "run" / "result.json").read_text() == found.to_json() + "\n"
    assert back.config.split == settings.split
    for fold, own in zip(back.folds, found.folds, strict=True):
        assert fold.user_ids.to_list() == own.evaluation_set.user_ids.to_list()
        assert fold.users.columns == own.users.columns
        for name, table in fold.tables.items():
            scores = next(m.scores for m in own.models if m.name == name)
            for m, values in table.values.items():
                assert np.array_equal(values, scores.values[m])


def test_compare_finds_what_the_run_found(tmp_path: Path) -> None:
    found = folded(small.many(tmp_path, split=THREE))
    found.write(tmp_path / "run")
    compared = compare(tmp_path / "run")
    assert compared.comparison == found.comparison
    for row, pair in zip(compared.records(), compared.comparison.pairs, strict=True):
        assert pair.better_folds is not None
        assert (row["better_folds"], row["folds"]) == (pair.better_folds[0], 3)
    assert compared.models[0].metrics["MAP@2"] == found.models[0].metrics["MAP@2"]


def test_compare_says_which_folds_differ(tmp_path: Path) -> None:
    folded(small.many(tmp_path, split=THREE)).write(tmp_path / "one")
    log = small.MANY.replace("user1,b,2020-01-03", "user1,e,2020-01-03")
    assert log != small.MANY
    folded(small.config(tmp_path, log=log, split=THREE)).write(tmp_path / "other")
    told = "they differ in fold 1 and agree in fold 2, fold 3; only models"
    with refusal(UsageError, "other: has another evaluation set than ", told):
        compare(tmp_path / "one", tmp_path / "other")


def test_compare_says_that_there_are_other_folds(tmp_path: Path) -> None:
    for name, folds in (("one", 3), ("other", 2)):
        folded(small.config(tmp_path, log=small.MANY, split=THREE | {"folds": folds})).write(
            tmp_path / name
        )
    with refusal(UsageError, "other: has 2 folds", "one has 3"):
        compare(tmp_path / "one", tmp_path / "other")


def test_slices_are_of_each_fold(tmp_path: Path) -> None:
    found = folded(small.many(tmp_path, split=THREE))
    found.write(tmp_path / "run")
    assert found.slices == ()
    assert all(fold.slices for fold in found.folds)
    with refusal(UsageError, "3 folds", "slices"):
        compare(tmp_path / "run", slices=["activity"])


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
        run(config)


def test_too_many_folds_name_the_config_file(tmp_path: Path) -> None:
    small.write(tmp_path, {"log.csv": small.MANY, "my.toml": small.toml(split=THREE)})
    config = config_.read(tmp_path / "my.toml", ["split.folds=9"])
    with refusal(UsageError, f"{tmp_path / 'my.toml'}: [split] folds = 9"):
        run(config)


def test_where_an_early_fold_has_nobody_fewer_folds_are_the_hint(tmp_path: Path) -> None:
    """Nobody of the 2nd was there on the 1st; of the last fold alone fewer would be none."""
    log = small.TWO_WEEKS.replace("ann,a,2020-01-01\nbob,a,2020-01-01\n", "")
    split = {"strategy": "time", "valid_days": 1, "folds": 2}
    told = (
        'fold 1 of 2: no user is left: the rule "seen in train"',
        ", or ask for fewer folds\nusers",
    )
    with refusal(EmptyEvaluationSetError, *told):
        run(small.config(tmp_path, log=log, split=split))
    log = small.TWO_WEEKS.replace("ann,b,2020-01-03\ncid,b,2020-01-03", "dan,b,2020-01-03")
    with refusal(EmptyEvaluationSetError, "fold 2 of 2: no user is left") as caught:
        run(small.config(tmp_path, log=log, split=split))
    assert "fewer folds" not in str(caught.value)


def test_a_fold_without_events_is_named(tmp_path: Path) -> None:
    log = small.TWO_WEEKS.replace("2020-01-02", "2020-01-01")
    split = {"strategy": "time", "valid_days": 1, "folds": 2}
    window = ", and the window is 1 day from 2020-01-02; change [split]"
    with refusal(DataError, "fold 1 of 2: the split leaves no validation event of 7 (", window):
        run(small.config(tmp_path, log=log, split=split))


STRANGERS = "user,item,time\nzoe,a,2020-01-09\n"
SOLD = {"data": {"kind": "event"}, "evaluation": {"hits": ["sale"]}}
HEAD = "user,item,time,event\n"
VIEWS = "user0,a,2020-01-09,view\n" + "user0,b,2020-01-09,view\n"
SALE = "zoe,a,2020-01-09,sale\n"


@pytest.mark.parametrize(
    ("split", "sections", "told"),
    [
        (
            {"strategy": "given", "valid": "strangers.csv"},
            {},
            "check that [data] events and [split] valid write users alike, or set [evaluation] us",
        ),
        (
            {"strategy": "given", "valid": "views.csv"},
            {**SOLD, "log": small.MANY},
            "name a file with more events as [split] valid",
        ),
        (
            {"strategy": "last_n", "n": 1},
            {**SOLD, "log": HEAD + VIEWS + SALE},
            "hold out fewer events under [split], or set [evaluation] us",
        ),
    ],
)
def test_what_is_told_to_change_goes_with_the_split(
    tmp_path: Path, split: dict[str, Any], sections: dict[str, Any], told: str
) -> None:
    """No hint speaks of a window where there is none."""
    small.write(tmp_path, {"strangers.csv": STRANGERS, "views.csv": HEAD + VIEWS})
    with refusal(EmptyEvaluationSetError, told) as caught:
        run(small.config(tmp_path, split=split, **sections))
    assert "window under" not in str(caught.value)


FILES = {
    "one.base": "user,item\nann,a\nbob,a\nbob,b\n",
    "one.test": "user,item\nann,b\n",
    "two.base": "user,item\nann,b\nbob,a\nann,a\n",
    "two.test": "user,item\nbob,b\n",
    "one.csv": "user,prediction\nann,b\n",
    "two.csv": "user,prediction\nbob,a b\n",
}


def given(folder: Path, *models: dict[str, Any], **files: str) -> Config:
    small.write(folder, FILES | {name.replace("_", "."): text for name, text in files.items()})
    data = {
        "layout": "table",
        "path": ".",
        "events": ["one.base", "two.base"],
        "time": False,
        "cache": False,
    }
    values = small.values(
        *models,
        split={"strategy": "given", "valid": ["one.test", "two.test"]},
        evaluation={"metrics": ["MAP@2"]},
        submission={"user": "user", "items": "prediction", "separator": " "},
    )
    return parse(values | {"data": data}, folder)


def test_files_are_given_for_each_fold(tmp_path: Path) -> None:
    """Popular says a, b in both folds: b is second, 1/2."""
    found = folded(given(tmp_path))
    assert [fold.evaluation.users for fold in found.folds] == [1, 1]
    assert [fold.models[0].metrics["MAP@2"].mean for fold in found.folds] == [0.5, 0.5]


def test_lists_are_given_for_each_fold(tmp_path: Path) -> None:
    """Ann's list begins with b, her true item; bob's second is his: (1 + 1/2) / 2."""
    found = folded(given(tmp_path, {"name": "theirs", "lists": ["one.csv", "two.csv"]}))
    assert found.models[0].metrics["MAP@2"].mean == 0.75


@pytest.mark.parametrize(
    ("name", "key"), [("two.base", "[data] events"), ("two.test", "[split] valid")]
)
def test_a_file_that_is_not_there_is_told_first(tmp_path: Path, name: str, key: str) -> None:
    """Before anything learns, with the config, the key and the fold."""
    settings = given(tmp_path, {"name": "nobody's", "use": "baselines.popular:Popular"})
    (tmp_path / name).unlink()
    told = f"config: {key}, fold 2 of 2: {tmp_path / name}: no such file"
    for command in (run, lambda one: split(one, tmp_path / "out")):
        with refusal(DataError, told):
            command(settings)


def test_one_file_of_lists_for_two_folds_is_told(tmp_path: Path) -> None:
    """By whatever name: two folds' lists are seldom the same."""
    both = {"one_csv": "user,prediction\nann,b\nbob,a\n", "two_base": FILES["one.base"]}
    same = {"name": "same", "lists": ["one.csv", "./one.csv"]}
    other = {"name": "other", "lists": ["one.csv", "two.csv"]}
    found = folded(given(tmp_path, same, other, **both))
    assert [note for note in found.notes if "lists" in note] == [
        'model "same": its lists are one.csv in folds 1 and 2; if they were made for one of these, '
        "name the file of each fold"
    ]


def test_the_fold_of_lists_with_errors_is_named(tmp_path: Path) -> None:
    """Bob has two rows in the second fold's file."""
    lists = {"name": "theirs", "lists": ["one.csv", "two.csv"]}
    config = given(tmp_path, lists, two_csv="user,prediction\nbob,a\nbob,b\n")
    with refusal(SubmissionError, "fold 2 of 2: ", 'model "theirs"', "two.csv") as told:
        run(config, fail_fast=True)
    assert [problem.code for problem in told.value.validation.errors] == ["SUB203"]


def test_a_splits_own_sample_refuses_no_lists_that_a_run_took(tmp_path: Path) -> None:
    """Nobody said what lists look like: they say it themselves, and need not have all users."""
    lists = {"name": "theirs", "lists": ["one.csv", "two.csv"]}
    own = {"one_test": "user,item\nbob,a\nann,b\n", "two_test": "user,item\nbob,b\nann,b\n"}
    own |= {"one_csv": "who,prediction\nann,b\n", "two_csv": "who,prediction\nbob,a b\n"}
    settings = given(tmp_path, small.POPULAR, lists, **own)
    settings = settings.model_copy(update={"submission": SubmissionConfig()})
    done = split(settings, tmp_path / "out", public_share=0.5)
    assert isinstance(done, FoldedSplit)
    for written, fold in zip(done.folds, folded(settings).folds, strict=True):
        assert written.record.evaluation.fingerprint == fold.evaluation.fingerprint
        config = written.folder / "config.toml"
        again = single(config_.read(config))
        assert [m.metrics for m in again.models] == [m.metrics for m in fold.models]
    scored = harness.score(tmp_path / "two.csv", config=config)
    assert scored.metrics["MAP@2"].mean == 1 / 4


def test_who_has_no_true_item_is_not_counted_as_having_one(tmp_path: Path) -> None:
    """Ann has z alone, which nobody had before and is no candidate; cid has b."""
    first_day = small.TWO_WEEKS[: small.TWO_WEEKS.index("ann,a,2020-01-02")]
    log = first_day + "ann,z,2020-01-02\ncid,b,2020-01-03\n"
    rules = {"k": 1, "metrics": ["MAP@1"], "truth": "candidates", "require_hit": False}
    time = {"strategy": "time", "valid_days": 1, "folds": 2}
    found = folded(small.config(tmp_path, log=log, split=time, evaluation=rules))
    assert (found.evaluation.users, found.with_items) == (2, 1)


def test_folds_that_overlap_are_told_and_only_the_mean_of_chance_is_known(tmp_path: Path) -> None:
    """Popular scores 1/2 for all; of two candidates a random ranking has 3/4 with one true item."""
    found = folded(
        given(tmp_path, two_test="user,item\nbob,b\nann,b\n", two_base=FILES["one.base"])
    )
    assert (found.notes[0], found.notes[-2]) == (
        "folds 1 and 2 overlap: 1 of the 1 true item of fold 1 is true in both",
        "folds overlap, so no model is judged against chance, which takes them for independent",
    )
    assert [model.vs_random for model in found.models] == [None]
    assert (found.chance["MAP@2"].mean, found.chance["MAP@2"].sd) == (3 / 4, None)
    (sheet, _), (record,) = found.sheets(), found.records()
    assert sheet.rows[0][sheet.titles.index("lift")] == "0.7"
    assert sheet.heading[0].endswith(", 0.7 × chance")
    assert record["lift"] == pytest.approx(2 / 3)
    found.write(tmp_path / "run")
    text = page(run_folder.read(tmp_path / "run"))
    assert "0.7 times chance" in text


TEN = "abcdefghij"


def few(folder: Path, first: str, second: str) -> FoldedResult:
    """Return a run whose two folds hold out y of users of one letter; popular says x, y."""
    users = sorted({*first, *second})
    base = "user,item\n" + "".join(f"{user},x\n" for user in users) + "other,y\n"
    tests = ["user,item\n" + "".join(f"{user},y\n" for user in own) for own in (first, second)]
    files = {"one_base": base, "two_base": base, "one_test": tests[0], "two_test": tests[1]}
    return folded(given(folder, **files))


@pytest.mark.parametrize(
    ("first", "second", "note"),
    [
        (
            TEN,
            "uvw",
            "fold 2 has 3 users, who weigh as much as the 10 of fold 1: no model is judged against "
            "chance, and intervals and tests rest on these few; take fewer folds",
        ),
        (
            "u",
            TEN,
            "fold 1 has 1 user, who weighs as much as the 10 of fold 2: no model is judged against "
            "chance, and a fold of a single user leaves no intervals; take fewer folds",
        ),
        (
            "uv",
            "wxyz",
            "2 of 2 folds have fewer than 10 users, such as fold 1 with 2: no model is judged "
            "against chance, and intervals and tests rest on these few; take fewer folds",
        ),
        (
            TEN[:9],
            "klmnopqrst",
            "fold 1 has 9 users, who weigh as much as the 10 of fold 2: no model is judged "
            "against chance, and intervals and tests rest on these few; take fewer folds",
        ),
    ],
)
def test_a_fold_of_few_users_is_told_and_no_model_judged(
    tmp_path: Path, first: str, second: str, note: str
) -> None:
    """Ten users of a fold are enough, nine are too few."""
    found = few(tmp_path, first, second)
    assert found.notes == (note,)
    assert [model.vs_random for model in found.models] == [None]
    assert not any("better than chance" in line for line in found.sheets()[0].heading)


def test_folds_of_ten_users_are_judged(tmp_path: Path) -> None:
    found = few(tmp_path, TEN, "klmnopqrst")
    assert found.notes == ()
    assert all(model.vs_random for model in found.models)


def test_one_set_under_two_names_is_refused(tmp_path: Path) -> None:
    with refusal(UsageError, "fold 2 of 2: [split] valid: ", "as that of fold 1; name files of"):
        run(given(tmp_path, two_test=FILES["one.test"], two_base=FILES["one.base"]))
    (tmp_path / "two.test").unlink()
    (tmp_path / "two.test").symlink_to("one.test")
    with refusal(UsageError, "[split] valid names one.test and two.test, one file"):
        given(tmp_path, link="")


def test_folds_that_hold_out_no_candidate_are_not_one(tmp_path: Path) -> None:
    """Nobody had z before: there is no true candidate in either fold, and nothing in common."""
    settings = given(tmp_path, one_test="user,item\nann,z\n", two_test="user,item\nbob,z\n")
    rules = {"k": 2, "metrics": ["MAP@2"], "candidates": "train", "require_hit": False}
    evaluation = settings.evaluation.model_copy(update=rules)
    found = folded(settings.model_copy(update={"evaluation": evaluation}))
    assert [fold.models[0].metrics["MAP@2"].mean for fold in found.folds] == [0, 0]
    assert not any("overlap" in note for note in found.notes)


def dropping(settings: Config) -> Config:
    evaluation = settings.evaluation.model_copy(update={"seen_items": "drop"})
    return settings.model_copy(update={"evaluation": evaluation})


def test_train_that_holds_the_tests_events_is_told_as_the_cause(tmp_path: Path) -> None:
    """Ann's b of the first fold is in its train: where seen items are dropped nothing is left."""
    settings = given(tmp_path, one_base="user,item\nann,b\nbob,a\n")
    told = (
        "fold 1 of 2: no user is left: ",
        "; 1 of 1 validation event is a training event too (the same user and item); leave such",
    )
    with refusal(EmptyEvaluationSetError, *told) as caught:
        run(dropping(settings))
    assert "write ids alike" not in str(caught.value)


def test_what_is_dropped_is_not_said_to_be_predicted(tmp_path: Path) -> None:
    """Bob's a of the first fold's test is in train, ann's b is not."""
    settings = dropping(given(tmp_path, one_test="user,item\nann,b\nbob,a\n"))
    (note,) = (note for note in folded(settings).notes if "training event too" in note)
    assert note.startswith("fold 1: 1 of 2 validation events is a training event too (the same")
    assert 'seen_items = "drop" takes them out of the truth' in note


def test_ids_that_are_written_in_two_ways_are_told(tmp_path: Path) -> None:
    """007 and 7 are one of two folds each; 8 and 08 of fold 1 are two users there."""
    base, test = "user,item\n{0},a\n{1},a\n{2},b\n", "user,item\n{0},b\n{1},b\n{2},a\n"
    one, two = ("007", "8", "08"), ("7", "8", "9")
    own = {"one_base": base.format(*one), "one_test": test.format(*one)}
    own |= {"two_base": base.format(*two), "two_test": test.format(*two)}
    assert folded(given(tmp_path, **own)).notes[1:2] == (
        '1 user may be written in two ways, such as "007" of fold 1 and "7" of fold 2: ids are '
        "texts, so these are different users; write them alike",
    )


def test_a_record_whose_folds_were_cut_is_refused(tmp_path: Path) -> None:
    found = folded(small.config(tmp_path, log=small.MANY, split=THREE))
    found.write(tmp_path / "run")
    path = tmp_path / "run/result.json"
    for left in (2, 0):
        held = found.to_dict()
        path.write_text(json.dumps(held | {"folds": held["folds"][:left]}), encoding="utf-8")
        with refusal(DataError, "result.json", "its folds are not those of its evaluation"):
            run_folder.read(tmp_path / "run")


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        (
            {"split": {"strategy": "given", "valid": ["a.csv", "a.csv"]}},
            "[split] valid names a.csv twice",
        ),
        (
            {"split": {"strategy": "given", "valid": ["a.csv", "./a.csv"]}},
            "[split] valid names a.csv and ./a.csv, one file",
        ),
        (
            {"split": {"strategy": "given", "valid": ["a.csv", "b.csv"]}},
            "[data] events names 1 file",
        ),
        ({"data": {"events": ["a.csv", "b.csv"]}}, "[data] events names several files"),
        (
            {"split": {"strategy": "time", "window": "test", "test_days": 7, "folds": 2}},
            'window = "test" is one window',
        ),
        ({"split": {"strategy": "time", "folds": 0}}, "[split] folds: found 0"),
        ({"split": {"strategy": "last_n", "n": 1, "folds": 2}}, 'has no key "folds"'),
        (
            {
                "split": {"strategy": "time", "folds": 2},
                "models": [{"name": "m", "lists": "x.csv"}],
            },
            '"m" lists names 1 file, and there are 2 folds',
        ),
        ({"models": [{"name": "m", "lists": ["x.csv", "y.csv"]}]}, "lists names 2 files"),
    ],
)
def test_configs_of_folds_that_cannot_be(sections: dict[str, Any], words: str) -> None:
    with refusal(UsageError, words):
        parse(
            small.values() | sections | {"data": small.values()["data"] | sections.get("data", {})},
            Path(),
        )


def test_files_of_a_competition_have_the_notes_of_a_run(tmp_path: Path) -> None:
    """Ann's b and bob's b are to be found in both folds, and bob has b in the first's train."""
    both = "user,item\nbob,b\nann,b\n"
    settings = given(tmp_path, one_test=both, two_test=both + "ann,a\n")
    done = split(settings, tmp_path / "out", public_share=0.5)
    assert isinstance(done, FoldedSplit)
    of_run = folded(settings).notes
    assert done.notes == of_run[:-2]
    assert of_run[-2].startswith("folds overlap, so no model is judged against chance")
    overlap, in_train, _ = done.notes
    assert overlap == "folds 1 and 2 overlap: 2 of the 2 true items of fold 1 are true in both"
    assert in_train.startswith(
        "fold 1: 1 of 2 validation events is a training event too (the same user"
    )


@pytest.mark.parametrize("split", [{"strategy": "time"}, {"strategy": "last_n", "n": 1}])
def test_a_list_with_one_name_is_that_name(tmp_path: Path, split: dict[str, Any]) -> None:
    lists = {"name": "theirs", "lists": ["theirs.csv"]}
    found = small.config(tmp_path, lists, split=split, data={"events": ["log.csv"]})
    assert (found.data.events, found.models[0].lists) == ("log.csv", "theirs.csv")


def test_the_table_shows_each_fold_and_in_how_many_the_best_is_better(tmp_path: Path) -> None:
    found = folded(small.many(tmp_path, split=THREE))
    whole, folds = found.sheets()
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
    one = replace_split(config, folds=1)
    assert record(single(one)) == record(single(config))
    assert "folds" not in one.resolved()["split"]


def replace_split(config: Config, **update: Any) -> Config:
    return config.model_copy(update={"split": config.split.model_copy(update=update)})


def test_metrics_of_all_lists_are_means_of_the_folds(tmp_path: Path) -> None:
    settings = small.many(tmp_path, **{**small.CONFIGS["every metric"], "split": THREE})
    found = folded(settings)
    for model in found.models:
        own = [
            next(m for m in fold.models if m.name == model.name).metrics["Coverage@3"].mean
            for fold in found.folds
        ]
        assert model.metrics["Coverage@3"].mean == pytest.approx(sum(own) / 3, abs=1e-15)
        assert model.metrics["Coverage@3"].ci95 is None
