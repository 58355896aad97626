"""harness split: files that validate and score take; and which of several folds is meant."""

import json
import re
from pathlib import Path
from typing import Any

import small
from conftest import Cli, is_refused, tells
from small import LOG, POPULAR, RANDOM

RULE = {"strategy": "time", "valid_days": 1, "folds": 2}
ON_DAYS: dict[str, Any] = {"data": {"events": "days.csv"}, "split": RULE}
"""Two folds, of the 8th and of the 9th."""
FILES = {
    "log.csv": LOG,
    "days.csv": small.TO_TUNE,
    "shop.toml": small.toml(POPULAR, RANDOM, evaluation={"metrics": ["MAP@2", "NDCG@2"]}),
    "folds.toml": small.toml(POPULAR, RANDOM, **ON_DAYS),
    "lists.csv": "user,items\nann,b a\nbob,b a\ncid,a b\n",
}
RUNS = {"run": "folds.toml"}
SPLIT = ("split", "shop.toml", "--out", "out")


def test_the_options_of_the_next_step(harness: Cli, here: Path) -> None:
    """Bob's d is no candidate, and a bar stands between items; rows left out are noted."""
    small.write(here, {"log.csv": LOG.replace("cid,d,", "cid,c,") + "eve,e,2020-01-01\n"})
    rules = ["evaluation.truth=candidates", "evaluation.require_hit=false"]
    rules += ["submission.separator='|'", "data.where={ item = ['a', 'b', 'c', 'd'] }"]
    done = harness(SPLIT, "--public-share", "0.6", *(f"--set={rule}" for rule in rules))
    words = "--k 2 --separator '|' --keep-users-without-items"
    tells(done, 0, words, "3 users, 2 public, 1 private")
    assert done[2].startswith("note  log.csv: 1 of 9 rows left out (kept: ")


# Several folds.

ANOTHER = "the files of harness split CONFIG --out DIR"
LAST = f"fold 2 of 2, the last; for another: {ANOTHER}"
OTHER = f"for another: --fold N of a run, or {ANOTHER}"
BY_FOLDS = ("lists.csv", "--config", "folds.toml")


def test_other_commands_say_it_beside_what_they_print(harness: Cli, here: Path) -> None:
    assert harness("validate", BY_FOLDS)[2] == f"note  {LAST}\n"
    for command, which in (
        ("score", LAST),
        ("explain --user cid", f"fold 2 of 2, the last; {OTHER}"),
    ):
        tells(harness(*command.split(), BY_FOLDS), 0, f"note   {which}\n")
    submit = "submit", "folds.toml", "--model", "popular", "--out", "own.csv"
    assert harness(submit)[2] == f"note  {LAST}\n"
    assert LAST not in harness(submit, "--all-events")[2]  # which learns from all of them
    small.write(here, {"twice.csv": "user,items\nbob,b a\nbob,a b\n"})
    status, _, err = harness("score", "twice.csv", "--config", "folds.toml")
    assert (status, err.startswith(f"note  {LAST}\n")) == (1, True)
    out = harness("explain", "run", "--model", "popular", "--worst", "2")[1]
    assert out.splitlines()[1] == f"note   fold 2 of 2, the last; {OTHER}"
    assert out.count("fold 2 of 2") == 1


def test_another_fold_of_a_run_is_named(harness: Cli) -> None:
    """On the 8th, fold 1, ann and bob have b; lists of fold 1 that are not kept are made anew."""
    err = harness("run", "folds.toml", "--out", "bare", "--no-recommendations", "-v")[2]
    log = re.sub(r"\d+\.\d s", "T", err).splitlines()
    assert log[:3] + log[4:6] == [
        "read 9 events, T",
        "fold 1 of 2: evaluation set: 2 users, 2 candidates, T",
        "fold 1 of 2: popular (1 of 2): fit T, recommend T, score T",
        "fold 1 of 2: compared 1 pair, T",
        "fold 2 of 2: evaluation set: 2 users, 2 candidates, T",
    ]
    for folder, model in (("run", "random"), ("bare", "popular"), ("bare", "random")):
        done = harness("explain", folder, "--model", model, "--user", "ann", "--fold", "1")
        tells(done, 0, f"note   fold 1 of 2; {OTHER}", "truth  R = 1: b")
    explain = "explain", "run", "--model", "popular", "--user", "ann", "--format", "json", "--fold"
    document = json.loads(harness(explain, "1")[1])
    assert (document["fold"], document["folds"]) == (1, 2)
    assert document["users"][0]["truth"] == ["b"]
    is_refused(harness(explain, "2"), 'no user "ann" among the 2 of', "(fold 2 of 2, the last; ")
    is_refused(harness(explain, "3"), "run: has no fold 3; its folds are 1, the earliest, to 2")


def test_folds_have_a_folder_each(harness: Cli) -> None:
    out = harness("split", "folds.toml", "--out", "out")[1]
    first, third, second, other = out.split("\n\n")
    assert first.startswith("out/fold-1/train.csv  ")
    assert second.startswith("out/fold-2/train.csv  ")
    assert "1 day from 2020-01-08 · k = 2 · 2 users, 1 public, 1 private" in third
    assert "1 day from 2020-01-09 · k = 2 · 2 users, 1 public, 1 private" in other
    assert "--solution out/fold-2/solution.csv" in other
