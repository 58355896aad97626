"""harness score, explain and list on the command line: formats, exit status, every mistake."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import Cli, exactly, is_refused, tells
from small import LOG, POPULAR, RANDOM

from harness.metrics import DEFINITIONS
from harness.metrics.conventions import CONVENTIONS

TOML = small.toml(POPULAR, RANDOM | {"repeats": 3})
LISTS = "user,items\nann,b a\nbob,x d\ncid,\nzed,a\n"
SOLUTION = "user,items,Usage\nann,a b,Public\nbob,d,Private\ncid,a,Private\ndee,c,Ignored\n"
PLUG_INS = """
print("plugged is imported")

class Talks:
    def fit(self, train):
        print("epoch 1")
        return self

    def recommend(self, users, k, draws, exclude=None):
        import numpy as np
        print("asked")
        return np.zeros((len(users), k), int) - 1

def early(hits, n_relevant, k):
    print("marking")
    return float(hits[0])
"""


@pytest.fixture
def harness(here: Path, cli: Cli) -> Cli:
    """Return what runs a command where a config and files to score are."""
    small.write(here, {"log.csv": LOG, "exam.toml": TOML, "talking.py": PLUG_INS})
    small.write(here, {"lists.csv": LISTS, "solution.csv": SOLUTION})
    return cli


@pytest.fixture
def ran(harness: Cli) -> Cli:
    """Return the same where a run stands in the folder `run`."""
    assert harness("run", "exam.toml", "--out", "run")[0] == 0
    return harness


def document(harness: Cli, *arguments: str) -> Any:
    """Return the JSON of a command that prints one document and nothing else."""
    status, out, err = harness(*arguments, "--format", "json")
    assert (status, err) == (0, "")
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


BY_SOLUTION = ("lists.csv", "--solution", "solution.csv")
BY_CONFIG = ("lists.csv", "--config", "exam.toml")

# harness score.


def test_score_by_a_solution(harness: Cli) -> None:
    """AP@12 is 1 (b and a of a and b), 1/2 (d at the second place), 0 (no list)."""
    found = document(harness, "score", *BY_SOLUTION)
    assert list(found["metrics"]) == ["MAP@12", "Recall@12", "NDCG@12"]
    assert found["metrics"]["MAP@12"]["mean"] == exactly((1 + 1 / 2 + 0) / 3)
    low, high = found["metrics"]["MAP@12"]["ci95"]
    assert low < 0.5 < high
    assert found["usage"]["Public"]["MAP@12"]["mean"] == 1
    assert found["usage"]["Private"]["MAP@12"]["mean"] == exactly(1 / 4)
    assert found["evaluation"] == {
        "k": 12,
        "users": 3,
        "fingerprint": None,
        "left_out": {
            "users_without_list": 1,
            "users_outside": 1,
            "rows_outside": 1,
            "users_ignored": 1,
            "users_without_items": 0,
            "true_items_repeated": 0,
        },
    }
    assert "conventions" not in found


def test_score_by_a_config(ran: Cli) -> None:
    """AP@2 is 1 (b of b), 1/2 (d of d at the second place), 0."""
    found = document(ran, "score", *BY_CONFIG)
    assert list(found["metrics"]) == ["MAP@2", "Recall@2", "NDCG@2"]
    assert found["metrics"]["MAP@2"]["mean"] == exactly((1 + 1 / 2 + 0) / 3)
    assert found["usage"] == {}
    assert found["evaluation"]["left_out"]["items_unknown"] == 1  # x
    run = json.loads(Path("run/result.json").read_text())
    assert found["evaluation"]["fingerprint"] == run["evaluation"]["fingerprint"]
    assert found["evaluation"]["k"] == 2


def test_metrics_that_are_asked_for(harness: Cli) -> None:
    asked = ("--metric", "HitRate@1", "--metric", "MAP(divisor=k)@2", "--metric", "HitRate@1")
    found = document(harness, "score", *BY_SOLUTION, *asked)
    means = {name: figure["mean"] for name, figure in found["metrics"].items()}
    assert means == {"HitRate@1": exactly(1 / 3), "MAP(divisor=k)@2": exactly((1 + 1 / 4) / 3)}


def test_metrics_beyond_accuracy_go_with_a_config(harness: Cli) -> None:
    """Of a, b, c, d the lists of ann and bob hold a, b and d; nobody knows x."""
    found = document(harness, "score", *BY_CONFIG, "--metric", "Coverage@2", "--metric", "MAP@1")
    assert found["metrics"]["Coverage@2"] == {"mean": 3 / 4, "ci95": None}
    assert found["metrics"]["MAP@1"]["mean"] == exactly(1 / 3)


@pytest.mark.parametrize("by", [BY_SOLUTION, BY_CONFIG])
def test_k_is_the_cut_off_of_the_usual_metrics_and_of_conventions(
    harness: Cli, by: tuple[str, ...]
) -> None:
    found = document(harness, "score", *by, "--k", "1", "--conventions")
    assert list(found["metrics"]) == ["MAP@1", "Recall@1", "NDCG@1"]
    assert found["metrics"]["MAP@1"]["mean"] == exactly(1 / 3)
    told = {entry["name"]: entry["value"] for entry in found["conventions"]}
    assert list(told) == list(CONVENTIONS)
    assert told["kaggle"] == exactly(1 / 3)
    assert told["recommenders"] == exactly(1 / 2)  # without cid, who has no list


def test_an_own_metric_stands_beside_the_config(harness: Cli) -> None:
    asked = ("--metric", "talking:early@2", "--format", "csv")
    tells(harness("score", *BY_CONFIG, *asked), 0, "talking:early@2")


def test_what_an_own_metric_prints_does_not_spoil_the_json(harness: Cli) -> None:
    status, out, err = harness(
        "score", *BY_CONFIG, "--metric", "talking:early@2", "--format", "json"
    )
    assert status == 0
    assert json.loads(out)["metrics"]["talking:early@2"]["mean"] == exactly(1 / 3)
    assert "marking" in err


def test_conventions_that_drop_repeats_look_behind_k(harness: Cli) -> None:
    """k = 2: of x, x and b only trec_eval's b moves up, to the second place."""
    Path("lists.csv").write_text("user,items\nann,x x b\nbob,x\ncid,x\n")
    found = document(harness, "score", *BY_CONFIG, "--conventions")
    values = {one["name"]: one["value"] for one in found["conventions"]}
    assert values["kaggle"] == 0
    assert values["trec_eval"] == exactly((1 / 2) / 3)
    assert document(harness, "score", *BY_CONFIG, "--metric", "MRR")["metrics"]["MRR"]["mean"] == 0


def test_columns_may_be_named(harness: Cli) -> None:
    Path("odd.csv").write_text("place,what,who\n2,x,ann\n1,a,ann\n")
    named = ("--user-column", "who", "--item-column", "what", "--rank-column", "place")
    found = document(harness, "score", "odd.csv", "--solution", "solution.csv", *named)
    assert found["usage"]["Public"]["MAP@12"]["mean"] == exactly(1 / 2)
    scores = (*named[:4], "--score-column", "place")
    found = document(harness, "score", "odd.csv", "--solution", "solution.csv", *scores)
    assert found["usage"]["Public"]["MAP@12"]["mean"] == exactly(1 / 4)


def test_score_as_csv_has_a_line_a_metric_and_a_convention(harness: Cli) -> None:
    status, out, err = harness("score", *BY_SOLUTION, "--conventions", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (status, err) == (0, "")
    assert [row["name"] for row in rows] == ["MAP@12", "Recall@12", "NDCG@12", *CONVENTIONS]
    assert float(rows[0]["value"]) == exactly(1 / 2)
    assert (float(rows[0]["Public"]), float(rows[0]["Private"])) == (1, exactly(1 / 4))
    assert rows[3]["kind"] == "convention"
    assert (rows[3]["low"], rows[3]["Public"]) == ("", "")


@pytest.mark.parametrize("format_", ["table", "markdown"])
def test_score_as_a_table(harness: Cli, format_: str) -> None:
    done = harness("score", *BY_SOLUTION, "--conventions", "--format", format_)
    words = ["3 users", "users without a list, who score 0: 1", "Public", "Private", "MAP@12"]
    tells(done, 0, "lists.csv", *words, "0.500000", "1.000000", "0.250000", "kaggle", "lenskit")
    assert done[2] == ""
    if format_ == "markdown":
        tables = [block for block in done[1].split("\n\n") if block.startswith("|")]
        assert [len({row.count("|") for row in table.splitlines()}) for table in tables] == [1, 1]


def test_a_solution_of_any_form(harness: Cli) -> None:
    rows = [(u, i) for u, row in {"ann": "ab", "bob": "d", "cid": "a"}.items() for i in row]
    pl.DataFrame(rows, schema=["u", "i"], orient="row").write_parquet("solution.parquet")
    found = document(harness, "score", "lists.csv", "--solution", "solution.parquet")
    assert found["metrics"]["MAP@12"]["mean"] == exactly(1 / 2)


# harness explain.


def test_explain_a_file(harness: Cli) -> None:
    found = document(harness, "explain", *BY_SOLUTION, "--user", "bob", "--user", "ann")
    assert (found["schema"], found["paper"]) == (1, "lists.csv")
    bob, ann = found["users"]
    assert (bob["user"], ann["user"], bob["k"]) == ("bob", "ann", 12)
    assert [(p["item"], p["hit"]) for p in bob["places"]] == [("x", False), ("d", True)]
    assert bob["metrics"]["MAP@12"] == exactly(1 / 2)
    assert ann["truth"] == ["a", "b"]
    assert sum(p["contribution"] for p in ann["places"]) == exactly(1)


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ("ann,x A1\nbob,b\n", "SUB317"),  # another case: a1 is true
        ('ann,"x,a1"\nbob,b\n', "SUB309"),  # read as one item
        ("ann,x a1\nbob,b\nbob,b\n", "SUB211"),
        ("ann,x a1\nbob,b\n", ""),
    ],
)
def test_explain_says_what_score_refuses(harness: Cli, rows: str, code: str) -> None:
    small.write(Path(), {"truth.csv": "user,items\nann,a1\nbob,b\n"})
    small.write(Path(), {"file.csv": "user,items\n" + rows})
    by = ("file.csv", "--solution", "truth.csv")
    assert harness("score", *by)[0] == bool(code)
    status, _, err = harness("explain", *by, "--user", "bob")
    assert (status, code in err, "harness validate" in err) == (0, True, bool(code))
    assert code or err == ""


def test_the_cut_off_is_that_of_the_metric_or_of_the_config(harness: Cli) -> None:
    one = ("--user", "ann", "--metric", "MAP@1")
    assert document(harness, "explain", *BY_SOLUTION, *one)["users"][0]["k"] == 1
    assert document(harness, "explain", *BY_CONFIG, "--user", "ann")["users"][0]["k"] == 2


def test_a_cut_off_behind_k_is_refused_whoever_is_explained(harness: Cli) -> None:
    for who in (("--worst", "1"), ("--user", "ann")):
        is_refused(harness("explain", *BY_CONFIG, *who, "--metric", "MAP@5"), "MAP@5", "k = 2")


def test_conventions_behind_k_are_refused(harness: Cli) -> None:
    arguments = ("--metric", "MAP@2", "--k", "5", "--conventions")
    is_refused(harness("score", *BY_CONFIG, *arguments), "k = 2")


def test_explain_takes_a_cut_off_as_score_does(harness: Cli) -> None:
    found = document(harness, "explain", *BY_SOLUTION, "--user", "bob", "--k", "1")
    assert found["users"][0]["metrics"]["MAP@1"] == 0  # d stands second


def test_explain_shows_the_metric_that_was_asked_for_first(ran: Cli) -> None:
    asked = ("--best", "1", "--metric", "Novelty@2")
    found = document(ran, "explain", "run", "--model", "popular", *asked)
    assert next(iter(found["users"][0]["metrics"])) == "Novelty@2"


def test_worst_and_best(harness: Cli) -> None:
    """By MAP ann has 1, bob 1/2, cid 0; by HitRate@1 bob and cid have 0, bob stands first."""

    def names(*arguments: str) -> list[str]:
        found = document(harness, "explain", *BY_SOLUTION, *arguments)
        return [user["user"] for user in found["users"]]

    assert names("--worst", "1") == ["cid"]
    assert names("--best", "2") == ["ann", "bob"]
    assert names("--worst", "2", "--best", "2") == ["cid", "bob", "ann"]
    assert names("--user", "bob", "--worst", "9") == ["bob", "cid", "ann"]
    assert names("--worst", "1", "--metric", "HitRate@1") == ["bob"]


def test_a_model_that_prints_does_not_spoil_the_json(ran: Cli) -> None:
    talks = ("--set", "models.0.use=talking:Talks", "--set", "models.0.name=talks")
    assert ran("run", "exam.toml", *talks, "--out", "run", "--no-recommendations")[0] == 0
    status, out, err = ran(
        "explain", "run", "--model", "talks", "--user", "ann", "--format", "json"
    )
    assert status == 0
    assert json.loads(out)["users"][0]["places"] == []
    assert "epoch 1" in err
    assert "asked" in err


def test_explain_as_csv_has_a_line_a_place(harness: Cli) -> None:
    status, out, err = harness(
        "explain", *BY_SOLUTION, "--user", "ann", "--user", "bob", "--format", "csv"
    )
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (status, err) == (0, "")
    assert [(row["user"], row["rank"], row["item"], row["hit"]) for row in rows] == [
        ("ann", "1", "b", "True"),
        ("ann", "2", "a", "True"),
        ("bob", "1", "x", "False"),
        ("bob", "2", "d", "True"),
    ]
    assert sum(float(row["contribution"]) for row in rows) == exactly(1 + 1 / 2)


def test_explain_as_csv_of_no_list_is_a_user_without_ranks(harness: Cli) -> None:
    status, out, _ = harness("explain", *BY_SOLUTION, "--user", "cid", "--format", "csv")
    assert status == 0
    assert out.startswith("user,k,rank,item,hit")
    (row,) = csv.DictReader(io.StringIO(out))
    assert (row["user"], row["rank"], row["item"]) == ("cid", "", "")


@pytest.mark.parametrize("format_", ["table", "markdown"])
def test_explain_as_a_table(harness: Cli, format_: str) -> None:
    done = harness("explain", *BY_SOLUTION, "--user", "ann", "--user", "cid", "--format", format_)
    words = ["user   ann · k = 12", "truth  R = 2: a, b", "user   cid", "no list", "adds to AP"]
    words += ["AP@12 = 1.0000 + 1.0000 over D = min(2, 12) = 2: 2.000000 / 2 = 1.000000"]
    tells(done, 0, *words, "NDCG@12", "lenskit", "not counted")
    assert done[2] == ""


# harness list.


def test_list_metrics_as_json_is_complete(harness: Cli) -> None:
    found = document(harness, "list", "metrics")
    assert [entry["name"] for entry in found] == list(DEFINITIONS)
    assert all(entry["examples"] for entry in found)


def test_list_conventions_as_json_is_complete(harness: Cli) -> None:
    found = document(harness, "list", "conventions")
    assert [entry["name"] for entry in found] == list(CONVENTIONS)
    for entry in found:
        assert entry["example"]["value"] == CONVENTIONS[entry["name"]].value


@pytest.mark.parametrize(
    ("topic", "names"), [("metrics", list(DEFINITIONS)), ("conventions", list(CONVENTIONS))]
)
def test_list_in_other_formats(harness: Cli, topic: str, names: list[str]) -> None:
    status, out, err = harness("list", topic, "--format", "csv")
    assert (status, err) == (0, "")
    header, *rows = csv.reader(io.StringIO(out))
    assert [row[0] for row in rows] == names
    assert {len(row) for row in rows} == {len(header)}
    status, out, err = harness("list", topic, "--format", "markdown")
    assert (status, err) == (0, "")
    assert [line.split(" | ")[0][2:] for line in out.splitlines() if line][2:] == names
    done = harness("list", topic)
    tells(done, 0, *names)
    assert done[2] == ""


# Mistakes.

MISTAKES: dict[str, tuple[list[str], list[str]]] = {
    "neither config nor solution": (
        ["score", "lists.csv"], ["scored against what?", "--config", "--solution"]
    ),
    "both config and solution": (
        ["score", *BY_CONFIG, "--solution", "solution.csv"], ["--config", "--solution"]
    ),
    "explain: neither": (
        ["explain", "lists.csv", "--user", "ann"],
        ["scored against what?", "--config", "--solution"],
    ),
    "explain: both": (
        ["explain", *BY_CONFIG, "--solution", "solution.csv", "--best", "1"],
        ["--config", "--solution"],
    ),
    "no such solution": (
        ["score", "lists.csv", "--solution", "sol.csv"], ["sol.csv: no such file"]
    ),
    "k = 0": (["score", *BY_SOLUTION, "--k", "0"], ["--k is 0", "1 or more"]),
    "k below 0": (["score", *BY_CONFIG, "--k", "-2"], ["--k is -2", "1 or more"]),
    "k beyond counting": (
        ["score", *BY_SOLUTION, "--k", "99999999999"], ["the cut-off must be from 1 to 2147483647"]
    ),
    "k beyond the evaluation set": (
        ["score", *BY_CONFIG, "--k", "3"], ["MAP@3", "3 positions", "k = 2", "[evaluation]"]
    ),
    "no number for k": (
        ["score", *BY_SOLUTION, "--k", "many"], ["'--k': found many, expected a whole number"]
    ),
    "unknown metric": (
        ["score", *BY_SOLUTION, "--metric", "MPA@3"], ['"MPA"', 'did you mean "MAP"']
    ),
    "metric without cut-off": (
        ["score", *BY_SOLUTION, "--metric", "MAP"], ['did you mean "MAP@10"']
    ),
    "metric that needs train": (
        ["score", *BY_SOLUTION, "--metric", "Novelty@2"],
        ["Novelty@2", "the training events", "use --config"],
    ),
    "metric that needs attributes": (
        ["score", *BY_CONFIG, "--metric", "ILD@2"], ["ILD", "[data] items"]
    ),
    "explain by a metric of all": (
        ["explain", *BY_CONFIG, "--worst", "1", "--metric", "Coverage@2"],
        ["Coverage@2", "no value for a user", "--metric"],
    ),
    "column that is not there": (
        ["score", *BY_SOLUTION, "--rank-column", "usr"], ['lists.csv: no column "usr"', "rank"]
    ),
    "a column named twice": (
        ["score", *BY_SOLUTION, "--rank-column", "a", "--score-column", "b"],
        ["rank or score, not both"],
    ),
    "nobody to explain": (
        ["explain", *BY_SOLUTION], ["nobody to explain", "--user", "--worst", "--best"]
    ),
    "a user outside": (["explain", *BY_SOLUTION, "--user", "zed"], ['no user "zed"', "3"]),
    "so many below 0": (["explain", *BY_SOLUTION, "--worst", "-1"], ["--worst"]),
    "a model with a file": (
        ["explain", *BY_SOLUTION, "--user", "ann", "--model", "popular"], ["lists.csv", "--model"]
    ),
    "a repeat with a file": (
        ["explain", *BY_SOLUTION, "--user", "ann", "--repeat", "1"], ["lists.csv", "--repeat"]
    ),
    "a folder that is no run": (
        ["explain", ".", "--model", "popular", "--user", "ann"],
        ["is no run folder", "harness run"],
    ),
    "an unknown model to submit": (
        ["submit", "exam.toml", "--model", "popula", "--out", "own.csv"],
        ['exam.toml: no model "popula"', 'did you mean "popular"?'],
    ),
    "unknown topic": (["list", "metric"], ["metrics", "conventions"]),
    "two cut-offs": (
        ["explain", *BY_SOLUTION, "--user", "ann", "--k", "3", "--metric", "MAP@2"],
        ["--metric MAP@2", "leave --k out"],
    ),
    "nothing there": (
        ["explain", "gone", "--model", "popular", "--user", "ann"],
        ["gone: no such file or run folder"],
    ),
    "grades": (
        ["score", *BY_SOLUTION, "--metric", "NDCG(gain=linear)@3"],
        ["NDCG(gain=linear)@3 needs grades"],
    ),
    "no topic": (["list"], ["TOPIC"]),
    "unknown format": (["list", "metrics", "--format", "yaml"], ["yaml"]),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_a_message_and_status_2(harness: Cli, mistake: str) -> None:
    arguments, named = MISTAKES[mistake]
    is_refused(harness(*arguments), *named)


@pytest.mark.parametrize(("file", "code"), [("list.csv", "SUB001"), ("talking.py", "SUB101")])
def test_a_file_with_errors_is_not_scored_and_status_is_1(
    harness: Cli, file: str, code: str
) -> None:
    status, out, err = harness("score", file, *BY_SOLUTION[1:])
    assert status == 1
    assert code in out
    assert "not scored" in err
    status, out, err = harness("score", file, *BY_SOLUTION[1:], "--format", "json")
    found = json.loads(out)
    assert (status, found["metrics"], found["evaluation"]) == (1, {}, None)
    assert code in [problem["code"] for problem in found["problems"]["found"]]


OF_A_RUN: dict[str, tuple[list[str], list[str]]] = {
    "no model": (["--user", "ann"], ["run: which model?", "--model; allowed: popular, random"]),
    "a config beside": (
        ["--user", "ann", "--model", "random", "--config", "exam.toml"],
        ["a run knows its evaluation set", "leave --config and --solution out"],
    ),
    "a solution beside": (
        ["--user", "ann", "--model", "random", "--solution", "solution.csv"],
        ["a run knows its evaluation set"],
    ),
    "nobody": (["--model", "random"], ["nobody to explain"]),
    "unknown user": (
        ["--user", "bobb", "--model", "random"], ['no user "bobb"', 'did you mean "bob"?']
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", OF_A_RUN)
def test_a_mistake_about_a_run_is_a_message_and_status_2(ran: Cli, mistake: str) -> None:
    arguments, named = OF_A_RUN[mistake]
    is_refused(ran("explain", "run", *arguments), *named)


def test_a_run_of_an_earlier_version_is_to_be_run_again(ran: Cli) -> None:
    """Its fingerprint is made otherwise, which is no change of the data."""
    record = json.loads(Path("run/result.json").read_text())
    del record["evaluation"]["fingerprint_format"]
    Path("run/result.json").write_text(json.dumps(record))
    told = ["run: was written by another version", "nothing tells", "harness run run/config.toml"]
    is_refused(ran("explain", "run", "--model", "popular", "--user", "ann"), *told)


def test_the_options_of_columns_are_named_as_they_are_written(harness: Cli) -> None:
    done = harness("score", *BY_SOLUTION, "--item-column", "itmes")
    is_refused(done, 'did you mean "items"?', "--item-column")


@pytest.mark.parametrize("format_", ["table", "markdown", "csv"])
def test_no_name_in_a_file_steers_the_terminal(harness: Cli, format_: str) -> None:
    Path("odd.csv").write_text("user,items\nann\x1b[31m,\x9b2Ja =1+1\n")
    Path("key.csv").write_text("user,items\nann\x1b[31m,a\n")
    odd = ("odd.csv", "--solution", "key.csv", "--format", format_)
    for command in (("score", *odd), ("explain", *odd, "--best", "1")):
        status, out, _ = harness(*command)
        assert status == 0
        assert all(c.isprintable() or c == "\n" for c in out)
        assert format_ != "csv" or not [x for x in out.split(",") if x.startswith("=")]
    status, _, err = harness("explain", *odd, "--user", "bob")
    assert status == 2
    assert all(c.isprintable() or c == "\n" for c in err)


# harness submit.


def test_submit_with_a_key_overridden(harness: Cli, tmp_path: Path) -> None:
    status, out, err = harness(
        "submit", "exam.toml", "--model", "popular", "--out", "own.csv", "--set", "evaluation.k=1"
    )
    assert (status, err) == (0, "")
    assert out.startswith("own.csv  3 rows, ")
    # b has two events in training, every other item one
    assert (tmp_path / "own.csv").read_text() == "user,item\nann,b\nbob,b\ncid,b\n"


def test_a_file_for_an_upload_is_said_to_be_none_to_score(harness: Cli) -> None:
    typed = ["submit", "exam.toml", "--model", "popular", "--out", "own.csv", "--all-events"]
    status, _, err = harness(*typed)
    told = "note  for an upload alone, not to be scored here: it has seen the held-out days\n"
    assert (status, err) == (0, told)
