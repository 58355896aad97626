"""A tiny competition, command by command: validate, score, explain, list, submit."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import Cli, Words, exactly, flat, is_refused, tells
from small import LOG, POPULAR, RANDOM

from harness.metrics import DEFINITIONS
from harness.metrics.conventions import CONVENTIONS

PLUG_INS = """
print("plugged is imported")

def early(hits, n_relevant, k):
    print("marking")
    return float(hits[0])
"""
FILES = {
    "log.csv": LOG,
    "talking.py": PLUG_INS,
    "lists.csv": "user,items\nann,b a\nbob,x d\ncid,\nzed,a\n",
    "spaced.csv": "user,items\nann,b a\nbob\u00a0,x d\ncid,\n",
    "long.csv": "item,user,my pred\na,ann,1\nb,ann,2\nd,bob,1\n",
    "solution.csv": (
        "user,items,Usage\nann,a b,Public\nbob,d,Private\ncid,a,Private\ndee,c,Ignored\n"
    ),
    "exam.toml": small.toml(POPULAR, RANDOM | {"repeats": 3}, compare={"resamples": 100}),
}
RUNS = {"run": "exam.toml"}
BY_SOLUTION = ("lists.csv", "--solution", "solution.csv")
BY_CONFIG = ("lists.csv", "--config", "exam.toml")


def document(harness: Cli, *arguments: Words) -> Any:
    """Return the JSON of a command that prints one document and nothing else."""
    status, out, err = harness(flat(arguments), "--format", "json")
    assert (status, err) == (0, "")
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_validate_names_what_to_type_and_fix_drops_no_order(harness: Cli) -> None:
    validate = ("validate", "long.csv", "--solution", "solution.csv")
    validate += ("--user-column", "user", "--item-column", "item")
    status, out, err = harness(validate, "--fix", "out.csv")
    assert (status, Path("out.csv").exists()) == (1, False)
    for text in (out, err):
        assert "--score-column 'my pred'" in text
    assert "--fix" not in out
    assert "out.csv: not written" in err
    assert harness(validate, "--score-column", "my pred", "--fix", "out.csv")[0] == 0
    assert Path("out.csv").read_text() == "user,item,my pred\nann,a,1\nann,b,2\nbob,d,1\n"


def test_a_config_may_say_that_ids_are_exact(harness: Cli) -> None:
    """Bob, who has a space behind him, is somebody else; so he is for a run's file of lists."""
    exact = ("--set", 'submission.ids="exact"')
    assert harness("score", "spaced.csv", "--config", "exam.toml", exact)[0] == 0
    small.write(Path(), {"lists.toml": small.toml({"name": "theirs", "lists": "spaced.csv"})})
    run_it = ("run", "lists.toml", "--out", "theirs")
    status, _, err = harness(run_it)
    assert (status, "SUB207" in err) == (1, True), err
    tells(harness(run_it, exact), 0, "2 evaluated users have no list")


def test_metrics_that_are_asked_for(harness: Cli) -> None:
    """The lists of ann and bob hold a, b and d of a, b, c, d. Own metrics may print."""
    asked = ("--metric", "HitRate@1", "--metric", "Coverage@2", "--metric", "HitRate@1")
    metrics = document(harness, "score", BY_CONFIG, asked)["metrics"]
    assert list(metrics) == ["HitRate@1", "Coverage@2"]
    assert metrics["Coverage@2"] == {"mean": 3 / 4, "ci95": None}
    options = ("--metric", "talking:early@2", "--format", "json")
    status, out, err = harness("score", BY_CONFIG, options)
    assert (status, "marking" in err) == (0, True)
    assert json.loads(out)["metrics"]["talking:early@2"]["mean"] == exactly(1 / 3)


def test_users_without_items(harness: Cli) -> None:
    """Ann has 1, bob 1/2; cid and dee have nothing to hit."""
    Path("solution.csv").write_text("user,items\nann,a b\nbob,d\ncid,\ndee,\n")
    words = "2 users", "users without true items, left out of the mean, as in H&M on Kaggle: 2"
    tells(harness("score", BY_SOLUTION), 0, words, "0.750000")
    keep = "--keep-users-without-items"
    words = "4 users", "users without true items, which score 0: 2"
    tells(harness("score", BY_SOLUTION, keep), 0, words, "0.375000")
    tells(harness("explain", BY_SOLUTION, "--user", "dee"), 0, "the mean leaves this user out")
    is_refused(harness("score", BY_CONFIG, keep), f"remove {keep}")


def test_a_file_with_errors_is_not_scored_and_status_is_1(harness: Cli) -> None:
    by = ("score", "talking.py", *BY_SOLUTION[1:])
    done = harness(by)
    tells(done, 1, "SUB101")
    assert "not scored" in done[2]
    status, out, _ = harness(by, "--format", "json")
    refused = json.loads(out)
    assert (status, refused["metrics"], refused["evaluation"]) == (1, {}, None)
    assert "SUB101" in [problem["code"] for problem in refused["problems"]["found"]]
    tells(harness("score", "list.csv", *BY_SOLUTION[1:]), 1, "SUB001")


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


AP = "AP@12 = 1.0000 + 1.0000 over D = min(2, 12) = 2: 2.000000 / 2 = 1.000000"
SHOWN = {
    "score": (
        ("score", *BY_SOLUTION, "--conventions"),
        ["lists.csv · 3 users", "users without a list, which score 0: 1", "Private", "lenskit"],
        "kind,name,value,low,high,Public,Private\nmetric,MAP@12,0.5,",
    ),
    "explain": (
        ("explain", *BY_SOLUTION, "--user", "cid", "--user", "ann", "--all"),
        ["user   ann · k = 12", "truth  R = 2: a, b", "no list", AP, "not counted"],
        "user,k,rank,item,hit,",
    ),
    "metrics": (("list", "metrics"), list(DEFINITIONS), "metric,"),
    "conventions": (("list", "conventions"), list(CONVENTIONS), "convention,"),
}


@pytest.mark.parametrize(("line", "words", "head"), SHOWN.values(), ids=SHOWN)
def test_other_formats(harness: Cli, line: tuple[str, ...], words: list[str], head: str) -> None:
    """In Markdown every table has as many cells in each line, and so it is in CSV."""
    done = harness(line)
    tells(done, 0, words)
    status, out, err = harness(line, "--format", "markdown")
    tables = [block.splitlines() for block in out.split("\n\n") if block.startswith("|")]
    assert (status, done[2], err) == (0, "", "")
    assert tables
    assert all(len({row.replace("\\|", "").count("|") for row in table}) == 1 for table in tables)
    status, out, err = harness(line, "--format", "csv")
    rows = list(csv.reader(io.StringIO(out)))
    assert (status, err, len({len(row) for row in rows})) == (0, "", 1)
    assert out.startswith(head)
    assert len(rows) > 1


def test_submit_with_a_key_overridden(harness: Cli) -> None:
    """b has two events in training, every other item one."""
    submit = ("submit", "exam.toml", "--model", "popular", "--out", "own.csv")
    status, out, err = harness(submit, "--set", "evaluation.k=1")
    assert (status, err) == (0, "")
    assert out.startswith("own.csv  3 rows, ")
    assert Path("own.csv").read_text() == "user,item\nann,b\nbob,b\ncid,b\n"
    words = (
        "note  only for an upload: the model has seen the held-out events, so do not score "
        "this file here\n"
    )
    assert harness(submit, "--all-events")[2] == words
