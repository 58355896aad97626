"""harness split on the command line: from a config to files that validate and score take."""

import json
import sys
from itertools import product
from pathlib import Path

import pytest
import small
from conftest import Cli, is_refused, tells
from small import LOG, POPULAR, RANDOM

TOML = small.toml(POPULAR, RANDOM, evaluation={"k": 2, "metrics": ["MAP@2", "NDCG@2"]})
SCORED = ["--solution", "out/solution.csv", "--sample", "out/sample_submission.csv"]


@pytest.fixture
def harness(here: Path, cli: Cli) -> Cli:
    """Return what runs a command where a log and a config on it are."""
    small.write(here, {"log.csv": LOG, "shop.toml": TOML})
    return cli


def test_what_it_says(harness: Cli, here: Path) -> None:
    status, out, err = harness("split", "shop.toml", "--out", "out")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    files = {path.name: path.stat().st_size for path in (here / "out").iterdir()}
    assert {line.split("  ")[0].removeprefix("out/") for line in lines[:7]} == set(files)
    assert f"out/train.csv  {files['train.csv']:,} bytes" == lines[0]
    fingerprint = json.loads((here / "out" / "split.json").read_text())["evaluation"]["fingerprint"]
    told = f"evaluation set  {fingerprint[:6]} · 1 day from 2020-01-08 · k = 2"
    told += " · 3 users, 1 public, 2 private"
    assert lines[7:9] == ["", told]
    scored = "score FILE --solution out/solution.csv --sample out/sample_submission.csv --k 2"
    assert lines[9].startswith("next  ")
    assert lines[9].endswith(scored)


def test_lines_end_where_the_terminal_does(
    harness: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command to type next stands whole."""
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    small.write(here, {"valid.csv": "user,item,time\nann,b,2020-01-02\nbob,a,2020-01-09\n"})
    given = "--set=split={ strategy = 'given', valid = 'valid.csv' }"
    _, out, err = harness("split", "shop.toml", "--out", "out", given)
    *lines, last = out.splitlines()
    assert max(map(len, [*lines, *err.splitlines()])) <= 50 < len(last)
    assert last.startswith("next  ")
    assert last.endswith("--k 2")
    assert any(line.startswith("       ") for line in lines)
    assert err.startswith("note  1 of 2 validation events is a training")


def test_folds_have_a_folder_each(harness: Cli, here: Path) -> None:
    small.write(here, {"log.csv": small.TO_TUNE})
    told = harness("split", "shop.toml", "--out", "out", "--set", "split.folds=2")
    first, one, second, other = told[1].split("\n\n")
    assert first.startswith("out/fold-1/train.csv  ")
    assert second.startswith("out/fold-2/train.csv  ")
    assert "1 day from 2020-01-08 · k = 2 · 2 users, 1 public, 1 private" in one
    assert "1 day from 2020-01-09 · k = 2 · 2 users, 1 public, 1 private" in other
    assert "--solution out/fold-2/solution.csv" in other


LAST = (
    "fold 2 of 2, the last; for another, harness split CONFIG --out DIR writes each fold with a "
    "config and a solution of its own"
)
OTHER = (
    "for another, explain a run with --fold N, or harness split CONFIG --out DIR writes each fold "
    "with a config and a solution of its own"
)


@pytest.fixture
def folded(harness: Cli, here: Path) -> Cli:
    """Return what runs a command where folds.toml has two: of the 8th, and of the 9th."""
    folds = {"strategy": "time", "valid_days": 1, "folds": 2}
    small.write(here, {"log.csv": small.TO_TUNE, "folds.toml": small.toml(POPULAR, split=folds)})
    small.write(here, {"lists.csv": "user,items\nann,b a\nbob,b a\ncid,a b\n"})
    return harness


@pytest.mark.parametrize("command", [["score"], ["explain", "--user", "cid"]])
def test_the_heading_says_that_it_is_the_last_fold(
    folded: Cli, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    name, *more = command
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")  # what is made of files of just now is kept
    more += ["--set", "data.cache=true"]
    for _ in range(2):
        status, out, err = folded(name, "lists.csv", "--config", "folds.toml", *more)
        assert (status, err) == (0, "")
        assert out.splitlines()[0].startswith("lists  lists.csv")
        told = LAST if name == "score" else f"fold 2 of 2, the last; {OTHER}"
        assert out.splitlines()[1] == f"note   {told}"


def test_a_score_says_it_in_json(folded: Cli) -> None:
    own = "score", "lists.csv", "--config", "folds.toml", "--format", "json"
    evaluation = json.loads(folded(*own)[1])["evaluation"]
    assert (evaluation["fold"], evaluation["folds"]) == (2, 2)
    single = json.loads(folded(*own, "--set", "split.folds=1")[1])["evaluation"]
    assert single["fingerprint"] == evaluation["fingerprint"]
    assert "fold" not in single


def test_validate_says_it_in_json(folded: Cli) -> None:
    own = "validate", "lists.csv", "--config", "folds.toml", "--format", "json"
    document = json.loads(folded(*own)[1])
    assert (document["fold"], document["folds"]) == (2, 2)
    single = json.loads(folded(*own, "--set", "split.folds=1")[1])
    assert single.keys() == document.keys() - {"fold", "folds"}


def test_validate_and_submit_say_it_beside_what_they_print(folded: Cli) -> None:
    assert folded("validate", "lists.csv", "--config", "folds.toml")[2] == f"note  {LAST}\n"
    submit = "submit", "folds.toml", "--model", "popular", "--out", "own.csv"
    assert folded(*submit)[2] == f"note  {LAST}\n"
    assert LAST not in folded(*submit, "--all-events")[2]  # which learns from all of them


def test_a_file_that_is_not_scored_says_it_too(folded: Cli, here: Path) -> None:
    small.write(here, {"twice.csv": "user,items\nbob,b a\nbob,a b\n"})
    status, _, err = folded("score", "twice.csv", "--config", "folds.toml")
    assert status == 1
    assert err.startswith(f"note  {LAST}\n")


def test_explaining_a_run_of_folds_says_it(folded: Cli) -> None:
    folded("run", "folds.toml", "--out", "run")
    out = folded("explain", "run", "--model", "popular", "--worst", "2")[1]
    assert out.splitlines()[1] == f"note   fold 2 of 2, the last; {OTHER}"
    assert out.count("fold 2 of 2") == 1


def test_another_fold_of_a_run_is_named(folded: Cli) -> None:
    """On the 8th, fold 1, ann and bob have b; random rankings of fold 1 are drawn anew."""
    folds = small.toml(POPULAR, RANDOM, split={"strategy": "time", "valid_days": 1, "folds": 2})
    Path("folds.toml").write_text(folds)
    folded("run", "folds.toml", "--out", "run")
    folded("run", "folds.toml", "--out", "bare", "--no-recommendations")
    for run, model in product(("run", "bare"), ("popular", "random")):
        told = folded("explain", run, "--model", model, "--user", "ann", "--fold", "1")
        tells(told, 0, f"note   fold 1 of 2; {OTHER}", "truth  R = 1: b")
    own = "explain", "run", "--model", "popular", "--user", "ann", "--fold", "1"
    found = json.loads(folded(*own, "--format", "json")[1])
    assert (found["fold"], found["folds"]) == (1, 2)
    assert found["users"][0]["truth"] == ["b"]
    is_refused(folded(*own[:-1], "2"), 'no user "ann" among the 2 of', "(fold 2 of 2, the last; ")
    is_refused(folded(*own[:-1], "3"), "run: has no fold 3; its folds are 1, the earliest, to 2")
    is_refused(folded(*own[:-1], "0"), "run: has no fold 0; its folds are 1, the earliest, to 2")


def test_a_fold_goes_with_a_run_of_several(folded: Cli) -> None:
    folded("run", "folds.toml", "--out", "run", "--set", "split.folds=1")
    own = "--user", "cid", "--fold", "1"
    told = "run: has one evaluation set, no folds; leave --fold out"
    is_refused(folded("explain", "run", "--model", "popular", *own), told)
    told = "lists.csv: --model, --repeat and --fold go with a run, not with a file"
    is_refused(folded("explain", "lists.csv", "--config", "folds.toml", *own), told)


def test_a_user_of_another_fold_is_found_there(folded: Cli) -> None:
    """Ann has events on the 8th alone."""
    told = f'no user "ann" among the 2 of the evaluation set (fold 2 of 2, the last; {OTHER}); '
    own = "explain", "lists.csv", "--user", "ann", "--config"
    is_refused(folded(*own, "folds.toml"), told)
    folded("split", "folds.toml", "--out", "out")
    tells(folded(*own, "out/fold-1/config.toml"), 0, "truth  R = 1: b")


def test_split_submit_and_score_is_the_run(harness: Cli, here: Path) -> None:
    """A run of the written config, too. Train has b twice, then a, c, d: the lists are b, a.

    Ann wants b, bob d, cid a: AP@2 is 1, 0 and 1/2.
    """
    assert harness("split", "shop.toml", "--out", "out")[0] == 0
    assert harness("submit", "shop.toml", "--model", "popular", "--out", "own.csv")[0] == 0
    means = []
    for config in ("shop.toml", "out/config.toml"):
        tells(harness("run", config, "--out", "run"), 0)
        (record,) = (
            model
            for model in json.loads((here / "run" / "result.json").read_text())["models"]
            if model["name"] == "popular"
        )
        means.append({name: figure["mean"] for name, figure in record["metrics"].items()})
    metrics = ["--metric", "MAP@2", "--metric", "NDCG@2"]
    status, out, _ = harness("score", "own.csv", *SCORED, *metrics, "--format", "json")
    found = json.loads(out)
    scored = {name: figure["mean"] for name, figure in found["metrics"].items()}
    assert status == 0
    assert means == [scored, scored]
    assert scored["MAP@2"] == 0.5
    assert set(found["usage"]) == {"Public", "Private"}


def test_the_sample_is_valid(harness: Cli) -> None:
    harness("split", "shop.toml", "--out", "out")
    for more in ([], ["--items", "out/items.csv"]):
        tells(harness("validate", "out/sample_submission.csv", *SCORED, *more), 0, "0 errors")
    tells(harness("validate", "out/sample_submission.csv", *SCORED[:2]), 0, "0 errors")


def test_options_of_the_solution_are_told(harness: Cli, here: Path) -> None:
    """Bob's d is no candidate, and a bar stands between items."""
    small.write(here, {"log.csv": LOG.replace("cid,d,", "cid,c,")})
    rules = ["evaluation.truth=candidates", "evaluation.require_hit=false"]
    sets = [f"--set={rule}" for rule in (*rules, "submission.separator='|'")]
    told = ["--k 2 --separator '|' --keep-users-without-items"]
    tells(harness("split", "shop.toml", "--out", "out", *sets), 0, *told)


def test_a_share_is_named(harness: Cli) -> None:
    typed = ["split", "shop.toml", "--out", "out", "--public-share", "0.6"]
    tells(harness(*typed), 0, "3 users, 2 public, 1 private")


def test_notes(harness: Cli, here: Path) -> None:
    where = "data.where={ item = ['a', 'b', 'd'] }"
    _, _, err = harness("split", "shop.toml", "--out", "out", "--set", where)
    assert err.startswith("note  log.csv: 1 of 8 rows left out (kept: ")


def test_notes_on_the_split(harness: Cli, here: Path) -> None:
    """Ann's b is held out by name, and stands in train as well."""
    small.write(here, {"valid.csv": "user,item,time\nann,b,2020-01-02\nbob,a,2020-01-09\n"})
    given = "--set=split={ strategy = 'given', valid = 'valid.csv' }"
    _, _, err = harness("split", "shop.toml", "--out", "out", given)
    assert err.startswith("note  1 of 2 validation events is a training event too (the same user, ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["split", "shop.toml", "--out", "mine"], ["mine: exists and is no folder of harness"]),
        (["split", "shop.toml", "--out", "log.csv"], ["log.csv: exists and is no folder"]),
        (["split", "shop.toml", "--out", "log.csv/out"], ["log.csv/out: cannot be written"]),
        (["split", "sho.toml", "--out", "out"], ["sho.toml: no such file; did you mean"]),
        (
            ["split", "shop.toml", "--out", "out", "--public-share", "30"],
            ["--public-share is 30; expected a number between 0 and 1"],
        ),
        (
            ["split", "shop.toml", "--out", "out", "--set", "split.valid_days=30"],
            ["the split leaves no train event"],
        ),
    ],
)  # fmt: skip
def test_what_is_refused(arguments: list[str], words: list[str], harness: Cli, here: Path) -> None:
    small.write(here, {"mine/notes.txt": "mine"})
    is_refused(harness(*arguments), *words)
    assert sorted(path.name for path in here.iterdir()) == ["log.csv", "mine", "shop.toml"]
