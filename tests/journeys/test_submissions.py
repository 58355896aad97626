"""A tiny competition, command by command: score and explain, and what a config adds."""

import json
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import Cli, Words, exactly, flat, tells
from small import LOG, POPULAR, RANDOM

import harness as harness_

FILES = {
    "log.csv": LOG,
    "talking.py": "print(1)\n",
    "lists.csv": "user,items\nann,b a\nbob,x d\ncid,\nzed,a\n",
    "spaced.csv": "user,items\nann,b a\nbob\u00a0,x d\ncid,\n",
    "solution.csv": (
        "user,items,Usage\nann,a b,Public\nbob,d,Private\ncid,a,Private\ndee,c,Ignored\n"
    ),
    "exam.toml": small.toml(POPULAR, RANDOM | {"repeats": 3}),
}
RUNS = {"run": "exam.toml"}
BY_SOLUTION = ("lists.csv", "--solution", "solution.csv")
BY_CONFIG = ("lists.csv", "--config", "exam.toml")


def document(harness: Cli, *arguments: Words) -> Any:
    """Return the JSON of a command that prints one document and nothing else."""
    status, out, err = harness(flat(arguments), "--format", "json")
    assert (status, err) == (0, "")
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_a_config_may_say_that_ids_are_exact(harness: Cli) -> None:
    """Bob, who has a space behind him, is somebody else; so he is for a run's file of lists."""
    exact = ("--set", 'submission.ids="exact"')
    assert harness("score", "spaced.csv", "--config", "exam.toml", exact)[0] == 0
    small.write(Path(), {"lists.toml": small.toml({"name": "theirs", "lists": "spaced.csv"})})
    run_it = ("run", "lists.toml", "--out", "theirs")
    status, _, err = harness(run_it)
    assert (status, "SUB207" in err) == (1, True), err
    tells(harness(run_it, exact), 0, "2 evaluated users have no list")


def test_a_file_with_errors_is_not_scored_and_status_is_1(harness: Cli) -> None:
    by = ("score", "talking.py", *BY_SOLUTION[1:])
    done = harness(by)
    tells(done, 1, "SUB101")
    assert "not scored" in done[2]
    status, out, _ = harness(by, "--format", "json")
    assert (status, json.loads(out)["metrics"], json.loads(out)["evaluation"]) == (1, {}, None)
    small.write(Path(), {"same.csv": FILES["lists.csv"]})
    tells(harness("leaderboard", "talking.py", "same.csv", BY_SOLUTION), 1, "not ranked  talking: ")


def test_users_of_the_evaluation_set_alone_are_warned_of(tmp_path: Path, at_once: None) -> None:
    """The sample asks for ann, bob and new; cid is evaluated, too: with and without the cache."""
    lists = "user,items\nann,b a\nbob,d\nnew,b\ncid,a\n"
    sample = "user,items\nann,\nbob,\nnew,\n"
    small.write(tmp_path, {"sample_submission.csv": sample, "lists.csv": lists})
    for cache in (False, True, True):
        config = small.config(tmp_path, data={"cache": cache})
        validation = harness_.score(tmp_path / "lists.csv", config=config).validation
        for checked in (validation, harness_.validate(tmp_path / "lists.csv", config=config)):
            assert checked is not None
            codes = {problem.code: problem.severity for problem in checked.problems}
            assert codes == {"SUB214": "warning"}


def test_explain(harness: Cli) -> None:
    """By MAP ann has 1, bob 1/2, cid 0; by HitRate@1 bob and cid have 0, bob stands first."""

    def explained(*arguments: Words) -> Any:
        return document(harness, ["explain", *flat(arguments)])["users"]

    users = explained(BY_SOLUTION, "--user", "bob", "--worst", "9")
    assert [user["user"] for user in users] == ["bob", "cid", "ann"]
    assert [(p["item"], p["hit"]) for p in users[0]["places"]] == [("x", False), ("d", True)]
    assert (users[0]["k"], users[0]["metrics"]["MAP@12"]) == (12, exactly(1 / 2))
    by = ("--worst", "1", "--best", "1", "--metric", "HitRate@1")
    assert [user["user"] for user in explained(BY_SOLUTION, by)] == ["bob", "ann"]
    for source, k in (((*BY_SOLUTION, "--k", "1"), 1), (BY_CONFIG, 2)):
        assert [user["k"] for user in explained(source, "--user", "ann")] == [k]
    (user,) = explained("run", "--model", "popular", "--best", "1", "--metric", "Novelty@2")
    assert next(iter(user["metrics"])) == "Novelty@2"
    novelty = ("explain", *BY_CONFIG, "--user", "ann", "--metric", "Novelty@2", "--verbose")
    assert harness(novelty)[2].count("read 8 events") == 1


@pytest.mark.parametrize("code", ["SUB317", "SUB309", ""])
def test_explain_says_what_score_refuses(harness: Cli, code: str) -> None:
    """Another case of what is true, two items read as one, and a good file."""
    items = {"SUB317": "x A1", "SUB309": '"x,a1"', "": "x a1"}[code]
    lists, truth = f"user,items\nann,{items}\nbob,b\n", "user,items\nann,a1\nbob,b\n"
    small.write(Path(), {"truth.csv": truth, "file.csv": lists})
    by = ("file.csv", "--solution", "truth.csv")
    assert harness("score", by)[0] == bool(code)
    status, _, err = harness("explain", by, "--user", "bob")
    assert (status, code in err, "harness validate" in err) == (0, True, bool(code))
    assert code or err == ""
