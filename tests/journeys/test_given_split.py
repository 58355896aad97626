"""What is held out is given, in files: one evaluation set, or files and lists for each fold."""

from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal

from harness.config import Config, parse
from harness.core.errors import DataError, EmptyEvaluationSetError, UsageError
from harness.evaluation.run import run
from harness.hosting.split import split
from harness.report.page import page
from harness.results.run import Run, read

FILES = {
    "one.base": "user,item\nann,a\nbob,a\nbob,b\n",
    "one.test": "user,item\nann,b\n",
    "two.base": "user,item\nann,b\nbob,a\nann,a\n",
    "two.test": "user,item\nbob,b\n",
    "one.csv": "user,prediction\nann,b\n",
    "two.csv": "user,prediction\nbob,a b\n",
}
THEIRS = {"name": "theirs", "lists": ["one.csv", "two.csv"]}


def given(folder: Path, *models: dict[str, Any], seen: str = "keep", **files: str) -> Config:
    small.write(folder, FILES | {name.replace("_", "."): text for name, text in files.items()})
    values = small.values(
        models=models,
        data={"events": ["one.base", "two.base"], "time": False},
        split={"strategy": "given", "valid": ["one.test", "two.test"]},
        evaluation={"metrics": ["MAP@2"], "seen_items": seen},
        submission={"user": "user", "items": "prediction", "separator": " "},
    )
    return parse(values, folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("given")


@pytest.fixture(scope="module")
def result(folder: Path) -> Run:
    """Popular and two models of files on two folds."""
    same = {"name": "same", "lists": ["theirs.csv", "./theirs.csv"]}
    both = "user,prediction\nann,b\nbob,a\n"
    return run(given(folder, small.POPULAR, THEIRS, same, theirs_csv=both))


def test_scores_by_hand(result: Run) -> None:
    """Popular says a, b in both folds: b is second, 1/2.

    Ann's list begins with b, her true item; bob's second is his: (1 + 1/2) / 2.
    """
    assert [fold.evaluation.users for fold in result.folds] == [1, 1]
    means = {model.name: model.metrics["MAP@2"].mean for model in result.models}
    assert means == {"popular": 0.5, "theirs": 0.75, "same": 0.5}


def test_the_record_names_the_files_of_each_fold(result: Run, folder: Path) -> None:
    """One file for two folds, by whatever name, is told: their lists are seldom the same."""
    document = result.to_dict()
    of_all, *folds = (
        {model["name"]: (model["use"], list(model["lists"])) for model in fold["models"]}
        for fold in (document, *document["folds"])
    )
    names = [str(folder / name) for name in ("one.csv", "two.csv")]
    assert of_all["theirs"] == (None, names)
    assert [fold["theirs"][1] for fold in folds] == [[name] for name in names]
    assert [note for note in result.notes if "lists" in note] == [
        'model "same": its lists are theirs.csv in folds 1, 2; if the file was made for one of '
        "these folds, name one file per fold"
    ]


def test_a_file_that_is_not_there_is_told_first(tmp_path: Path) -> None:
    """Before anything learns, with the config, the key and the fold."""
    for name, key in (("two.base", "[data] events"), ("two.test", "[split] valid")):
        settings = given(tmp_path)
        (tmp_path / name).unlink()
        message = f"config: {key}, fold 2 of 2: {tmp_path / name}: no such file"
        for command in (run, lambda config: split(config, tmp_path / "out")):
            with refusal(DataError, message):
                command(settings)


def test_folds_that_overlap_are_told_and_only_the_mean_of_chance_is_known(tmp_path: Path) -> None:
    """Popular scores 1/2 for all; of two candidates a random ranking has 3/4 with one true item."""
    files = {"two_test": "user,item\nbob,b\nann,b\n", "two_base": FILES["one.base"]}
    result = run(given(tmp_path, **files))
    assert (result.notes[0], result.notes[-2]) == (
        "folds 1 and 2 overlap: 1 of the 1 true item of fold 1 is true in both",
        "folds overlap, so there is no comparison with chance, which needs independent folds",
    )
    assert [model.vs_random for model in result.models] == [None]
    assert (result.record.chance["MAP@2"].mean, result.record.chance["MAP@2"].sd) == (3 / 4, None)
    assert result.sheets()[0].heading[0].endswith(", 0.7 × chance")
    assert result.records()[0]["lift"] == pytest.approx(2 / 3)
    result.write(tmp_path / "run")
    assert "0.7 × chance" in page(read(tmp_path / "run"))


TEN, OTHERS = "abcdefghij", "klmnopqrst"


@pytest.mark.parametrize(
    ("first", "second", "note"),
    [
        ("u", TEN, "fold 1 has 1 user, fewer than 10"),
        (TEN[:9], OTHERS, "fold 1 has 9 users, fewer than 10"),
        (TEN, OTHERS, ""),
    ],
)
def test_a_fold_of_few_users_is_told_and_no_model_judged(
    tmp_path: Path, first: str, second: str, note: str
) -> None:
    """Users of one letter had x and want y; ten of a fold are enough, nine are too few."""
    base = "user,item\n" + "".join(f"{user},x\n" for user in first + second) + "other,y\n"
    earlier, two = (
        "user,item\n" + "".join(f"{user},y\n" for user in users) for users in (first, second)
    )
    result = run(given(tmp_path, one_base=base, two_base=base, one_test=earlier, two_test=two))
    why = (
        "so there is no comparison with chance, and intervals and tests rest on few users (with "
        "a single user there are no intervals); use fewer folds"
    )
    assert result.notes == ((f"{note}, {why}",) if note else ())
    assert [model.vs_random is None for model in result.models] == [bool(note)]
    assert not (note and "better than chance" in " ".join(result.sheets()[0].heading))


def test_one_set_under_two_names_is_refused(tmp_path: Path) -> None:
    with refusal(UsageError, "fold 2 of 2: [split] valid: ", "as that of fold 1; name files with"):
        run(given(tmp_path, two_test=FILES["one.test"], two_base=FILES["one.base"]))


def test_train_that_holds_the_tests_events_is_told(tmp_path: Path) -> None:
    """Ann's b of the first fold is in its train, where seen items are dropped; then bob's a is."""
    settings = given(tmp_path, seen="drop", one_base="user,item\nann,b\nbob,a\n")
    with refusal(EmptyEvaluationSetError, "fold 1 of 2: no user is left after ") as caught:
        run(settings)
    words = "1 of 1 validation event is a training event too (the same user and item); remove these"
    assert words in str(caught.value)
    assert "write ids the same way" not in str(caught.value)
    result = run(given(tmp_path, seen="drop", one_test="user,item\nann,b\nbob,a\n"))
    (note,) = (note for note in result.notes if "training event too" in note)
    assert note.startswith("fold 1: 1 of 2 validation events is a training event too (the same")
    assert 'seen_items = "drop" removes them from the truth' in note


VIEWS = "user,item,time,event\nuser0,a,2020-01-09,view\nuser0,b,2020-01-09,view\n"
STRANGERS = VIEWS.replace("user0", "zoe").replace("view", "sale")
ALIKE = (
    "check that [data] events and [split] valid write users the same way, or set [evaluation] us"
)
MORE = "name a file with more events as [split] valid"
GIVEN: dict[str, Any] = {"strategy": "given"}
LAST: dict[str, Any] = {"strategy": "last_n", "n": 1}


@pytest.mark.parametrize(
    ("split", "log", "message"),
    [
        (GIVEN | {"valid": "strangers.csv"}, small.MANY, ALIKE),
        (GIVEN | {"valid": "views.csv"}, small.MANY, MORE),
        (LAST, VIEWS + "zoe,a,2020-01-09,sale\n", "hold out fewer events under [split], or set"),
    ],
)
def test_what_is_told_to_change_goes_with_the_split(
    tmp_path: Path, split: dict[str, Any], log: str, message: str
) -> None:
    """No hint speaks of a window where there is none."""
    small.write(tmp_path, {"strangers.csv": STRANGERS, "views.csv": VIEWS})
    sold: dict[str, Any] = {"data": {"kind": "event"}, "evaluation": {"hits": ["sale"]}}
    with refusal(EmptyEvaluationSetError, message) as caught:
        run(small.config(tmp_path, split=split, log=log, **sold))
    assert "window under" not in str(caught.value)
