"""A tiny competition, command by command: validate, score, compare, explain, list, submit."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small
from conftest import Cli, exactly, is_refused, tells
from small import LOG, POPULAR, RANDOM

from harness import config as config_
from harness.experiment.run import run
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
    "other.csv": "user,items\nann,x\nbob,d\ncid,a\n",
    "solution.csv": (
        "user,items,Usage\nann,a b,Public\nbob,d,Private\ncid,a,Private\ndee,c,Ignored\n"
    ),
    "exam.toml": small.toml(POPULAR, RANDOM | {"repeats": 3}, compare={"resamples": 100}),
}
BY_SOLUTION = ("lists.csv", "--solution", "solution.csv")
BY_CONFIG = ("lists.csv", "--config", "exam.toml")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of the competition's files, and of a run; not to be written to."""
    folder = small.write(tmp_path_factory.mktemp("made"), FILES)
    run(config_.read(folder / "exam.toml")).write(folder / "run")
    return folder


@pytest.fixture
def harness(made: Path, here: Path, cli: Cli) -> Cli:
    """Return what runs a command in a copy of that folder."""
    shutil.copytree(made, here, dirs_exist_ok=True)
    return cli


def document(harness: Cli, *arguments: str) -> Any:
    """Return the JSON of a command that prints one document and nothing else."""
    status, out, err = harness(*arguments, "--format", "json")
    assert (status, err) == (0, "")
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


# harness score.


def test_score_by_a_solution(harness: Cli) -> None:
    """AP@12 is 1 (b and a of a and b), 1/2 (d at the second place), 0 (no list)."""
    scored = document(harness, "score", *BY_SOLUTION)
    assert list(scored["metrics"]) == ["MAP@12", "Recall@12", "NDCG@12"]
    assert scored["metrics"]["MAP@12"]["mean"] == exactly((1 + 1 / 2 + 0) / 3)
    low, high = scored["metrics"]["MAP@12"]["ci95"]
    assert low < 0.5 < high
    assert scored["usage"]["Public"]["MAP@12"]["mean"] == 1
    assert scored["usage"]["Private"]["MAP@12"]["mean"] == exactly(1 / 4)
    assert scored["evaluation"] == {
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
    assert "conventions" not in scored


def test_score_by_a_config(harness: Cli) -> None:
    """AP@2 is 1 (b of b), 1/2 (d of d at the second place), 0; nobody knows x."""
    scored = document(harness, "score", *BY_CONFIG)
    assert list(scored["metrics"]) == ["MAP@2", "Recall@2", "NDCG@2"]
    assert scored["metrics"]["MAP@2"]["mean"] == exactly((1 + 1 / 2 + 0) / 3)
    assert scored["usage"] == {}
    evaluation = json.loads(Path("run/result.json").read_text())["evaluation"]
    assert scored["evaluation"]["left_out"]["items_unknown"] == 1
    assert scored["evaluation"]["fingerprint"] == evaluation["fingerprint"]
    assert scored["evaluation"]["k"] == 2


def test_metrics_that_are_asked_for(harness: Cli) -> None:
    """Beyond accuracy by a config: of a, b, c, d the lists of ann and bob hold a, b and d."""
    asked = ("--metric", "HitRate@1", "--metric", "MAP(divisor=k)@2", "--metric", "HitRate@1")
    metrics = document(harness, "score", *BY_SOLUTION, *asked)["metrics"]
    means = {name: figure["mean"] for name, figure in metrics.items()}
    assert means == {"HitRate@1": exactly(1 / 3), "MAP(divisor=k)@2": exactly((1 + 1 / 4) / 3)}
    metrics = document(harness, "score", *BY_CONFIG, "--metric", "Coverage@2")["metrics"]
    assert metrics == {"Coverage@2": {"mean": 3 / 4, "ci95": None}}


@pytest.mark.parametrize("by", [BY_SOLUTION, BY_CONFIG])
def test_k_is_the_cut_off_of_the_usual_metrics_and_of_conventions(
    harness: Cli, by: tuple[str, ...]
) -> None:
    scored = document(harness, "score", *by, "--k", "1", "--conventions")
    assert list(scored["metrics"]) == ["MAP@1", "Recall@1", "NDCG@1"]
    assert scored["metrics"]["MAP@1"]["mean"] == exactly(1 / 3)
    values = {entry["name"]: entry["value"] for entry in scored["conventions"]}
    assert list(values) == list(CONVENTIONS)
    assert values["kaggle"] == exactly(1 / 3)
    assert values["recommenders"] == exactly(1 / 2)  # without cid, who has no list


def test_conventions_that_drop_repeats_look_behind_k(harness: Cli) -> None:
    """k = 2: of x, x and b only trec_eval's b moves up, to the second place."""
    Path("lists.csv").write_text("user,items\nann,x x b\nbob,x\ncid,x\n")
    entries = document(harness, "score", *BY_CONFIG, "--conventions")["conventions"]
    values = {entry["name"]: entry["value"] for entry in entries}
    assert (values["kaggle"], values["trec_eval"]) == (0, exactly((1 / 2) / 3))
    assert document(harness, "score", *BY_CONFIG, "--metric", "MRR")["metrics"]["MRR"]["mean"] == 0


def test_a_metric_of_the_folder_may_print_what_it_likes(harness: Cli) -> None:
    """It stands beside the config, and does not spoil the JSON."""
    status, out, err = harness(
        "score", *BY_CONFIG, "--metric", "talking:early@2", "--format", "json"
    )
    assert status == 0
    assert json.loads(out)["metrics"]["talking:early@2"]["mean"] == exactly(1 / 3)
    assert "marking" in err


def test_columns_may_be_named(harness: Cli) -> None:
    Path("odd.csv").write_text("place,what,who\n2,x,ann\n1,a,ann\n")
    odd = ("score", "odd.csv", "--solution", "solution.csv")
    odd += ("--user-column", "who", "--item-column", "what")
    for by, figure in (("--rank-column", 1 / 2), ("--score-column", 1 / 4)):
        public = document(harness, *odd, by, "place")["usage"]["Public"]
        assert public["MAP@12"]["mean"] == exactly(figure)


def test_score_as_csv_has_a_line_a_metric_and_a_convention(harness: Cli) -> None:
    status, out, err = harness("score", *BY_SOLUTION, "--conventions", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (status, err) == (0, "")
    assert [row["name"] for row in rows] == ["MAP@12", "Recall@12", "NDCG@12", *CONVENTIONS]
    assert float(rows[0]["value"]) == exactly(1 / 2)
    assert (float(rows[0]["Public"]), float(rows[0]["Private"])) == (1, exactly(1 / 4))
    assert (rows[3]["kind"], rows[3]["low"], rows[3]["Public"]) == ("convention", "", "")


@pytest.mark.parametrize("format_", ["table", "markdown"])
def test_score_as_a_table(harness: Cli, format_: str) -> None:
    done = harness("score", *BY_SOLUTION, "--conventions", "--format", format_)
    words = ["3 users", "users without a list, who score 0: 1", "Public", "Private", "MAP@12"]
    tells(done, 0, "lists.csv", *words, "0.500000", "1.000000", "0.250000", "kaggle", "lenskit")
    assert done[2] == ""
    if format_ == "markdown":
        tables = [block for block in done[1].split("\n\n") if block.startswith("|")]
        assert [len({row.count("|") for row in table.splitlines()}) for table in tables] == [1, 1]


def test_users_without_items_and_the_files_of_hosts(harness: Cli) -> None:
    """Ann has 1, bob 1/2; cid and dee have nothing to hit."""
    Path("solution.csv").write_text("user,items\nann,a b\nbob,d\ncid,\ndee,\n")
    hosts = ("--codabench", "out", "--evalai", "result.json")
    tells(
        harness("score", *BY_SOLUTION, *hosts),
        0,
        "2 users",
        "users without true items, who are not averaged, as in H&M on Kaggle: 2",
        "0.750000",
    )
    figures = json.loads(Path("result.json").read_text())["submission_result"]
    assert json.loads(Path("out/scores.json").read_text())["MAP@12"] == figures["MAP@12"] == 0.75
    keep = "--keep-users-without-items"
    words = "4 users", "users without true items, who score 0: 2", "0.375000"
    tells(harness("score", *BY_SOLUTION, keep), 0, *words)
    tells(harness("explain", *BY_SOLUTION, "--user", "dee"), 0, "the user is not averaged")
    is_refused(harness("score", *BY_CONFIG, keep), f"{keep} goes with --solution")


def test_a_solution_of_any_form(harness: Cli) -> None:
    rows = [(u, i) for u, row in {"ann": "ab", "bob": "d", "cid": "a"}.items() for i in row]
    pl.DataFrame(rows, schema=["u", "i"], orient="row").write_parquet("solution.parquet")
    scored = document(harness, "score", "lists.csv", "--solution", "solution.parquet")
    assert scored["metrics"]["MAP@12"]["mean"] == exactly(1 / 2)


@pytest.mark.parametrize(("file", "code"), [("list.csv", "SUB001"), ("talking.py", "SUB101")])
def test_a_file_with_errors_is_not_scored_and_status_is_1(
    harness: Cli, file: str, code: str
) -> None:
    done = harness("score", file, *BY_SOLUTION[1:])
    tells(done, 1, code)
    assert "not scored" in done[2]
    status, out, _ = harness("score", file, *BY_SOLUTION[1:], "--format", "json")
    refused = json.loads(out)
    assert (status, refused["metrics"], refused["evaluation"]) == (1, {}, None)
    assert code in [problem["code"] for problem in refused["problems"]["found"]]


# harness validate, compare and leaderboard.


def test_validate_names_what_to_type_and_fix_drops_no_order(harness: Cli) -> None:
    Path("long.csv").write_text("user,item,my pred\nann,a,1\nann,b,2\nbob,d,1\n")
    validate = ("validate", "long.csv", "--solution", "solution.csv")
    status, out, err = harness(*validate, "--fix", "out.csv")
    assert (status, Path("out.csv").exists()) == (1, False)
    for text in (out, err):
        assert "--score-column 'my pred'" in text
    assert "--fix" not in out
    assert "out.csv: is not written" in err
    assert harness(*validate, "--score-column", "my pred", "--fix", "out.csv")[0] == 0
    assert Path("out.csv").read_text() == Path("long.csv").read_text()


def test_two_files_are_compared_and_ranked(harness: Cli) -> None:
    """AP@12 of the other file: 0, 1 and 1."""
    files = ("lists.csv", "other.csv", "--solution", "solution.csv", "--resamples", "100")
    boards = document(harness, "compare", *files)["boards"]
    assert [board["name"] for board in boards] == ["all", "Private"]
    (pair,) = boards[0]["comparison"]["pairs"]
    assert (pair["one"], pair["other"]) == ("other", "lists")
    assert pair["difference"] == exactly(2 / 3 - 1 / 2)
    status, out, _ = harness("leaderboard", *files, "--format", "csv")
    ranks = [(row["submission"], row["rank"]) for row in csv.DictReader(io.StringIO(out))]
    assert (status, ranks[:2]) == (0, [("other", "1"), ("lists", "2")])


# harness explain.


def test_explain_a_file(harness: Cli) -> None:
    explained = document(harness, "explain", *BY_SOLUTION, "--user", "bob", "--user", "ann")
    assert (explained["schema"], explained["paper"]) == (1, "lists.csv")
    bob, ann = explained["users"]
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


def test_the_cut_off_of_explain(harness: Cli) -> None:
    """It is that of the metric, of the config, or --k; d stands second."""
    for by, k in (
        ((*BY_SOLUTION, "--metric", "MAP@1"), 1),
        (BY_CONFIG, 2),
        ((*BY_SOLUTION, "--k", "1"), 1),
    ):
        (user,) = document(harness, "explain", *by, "--user", "bob")["users"]
        assert (user["k"], user["metrics"][f"MAP@{k}"]) == (k, 0 if k == 1 else 1 / 2)


def test_worst_and_best(harness: Cli) -> None:
    """By MAP ann has 1, bob 1/2, cid 0; by HitRate@1 bob and cid have 0, bob stands first."""

    def names(*arguments: str) -> list[str]:
        users = document(harness, "explain", *BY_SOLUTION, *arguments)["users"]
        return [user["user"] for user in users]

    assert names("--worst", "1") == ["cid"]
    assert names("--best", "2") == ["ann", "bob"]
    assert names("--worst", "2", "--best", "2") == ["cid", "bob", "ann"]
    assert names("--user", "bob", "--worst", "9") == ["bob", "cid", "ann"]
    assert names("--worst", "1", "--metric", "HitRate@1") == ["bob"]


def test_explain_a_run_by_the_metric_that_was_asked_for_first(harness: Cli) -> None:
    asked = ("--best", "1", "--metric", "Novelty@2")
    explained = document(harness, "explain", "run", "--model", "popular", *asked)
    assert next(iter(explained["users"][0]["metrics"])) == "Novelty@2"


def test_explain_as_csv_has_a_line_a_place(harness: Cli) -> None:
    """A user without a list has a line without ranks."""
    users = ("--user", "ann", "--user", "bob", "--user", "cid")
    status, out, err = harness("explain", *BY_SOLUTION, *users, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (status, err) == (0, "")
    assert out.startswith("user,k,rank,item,hit")
    assert [(row["user"], row["rank"], row["item"], row["hit"]) for row in rows[:4]] == [
        ("ann", "1", "b", "True"),
        ("ann", "2", "a", "True"),
        ("bob", "1", "x", "False"),
        ("bob", "2", "d", "True"),
    ]
    assert sum(float(row["contribution"]) for row in rows[:4]) == exactly(1 + 1 / 2)
    assert [(row["user"], row["rank"], row["item"]) for row in rows[4:]] == [("cid", "", "")]


@pytest.mark.parametrize("format_", ["table", "markdown"])
def test_explain_as_a_table(harness: Cli, format_: str) -> None:
    done = harness("explain", *BY_SOLUTION, "--user", "ann", "--user", "cid", "--format", format_)
    words = ["user   ann · k = 12", "truth  R = 2: a, b", "user   cid", "no list", "adds to AP"]
    words += ["AP@12 = 1.0000 + 1.0000 over D = min(2, 12) = 2: 2.000000 / 2 = 1.000000"]
    tells(done, 0, *words, "NDCG@12", "lenskit", "not counted")
    assert done[2] == ""


def test_a_run_of_an_earlier_version_is_to_be_run_again(harness: Cli) -> None:
    """Its fingerprint is made otherwise, which is no change of the data."""
    record = json.loads(Path("run/result.json").read_text())
    del record["evaluation"]["fingerprint_format"]
    Path("run/result.json").write_text(json.dumps(record))
    words = ["run: was written by another version", "nothing tells", "harness run run/config.toml"]
    is_refused(harness("explain", "run", "--model", "popular", "--user", "ann"), *words)


# harness list.


@pytest.mark.parametrize(
    ("topic", "names"), [("metrics", list(DEFINITIONS)), ("conventions", list(CONVENTIONS))]
)
def test_list(cli: Cli, topic: str, names: list[str]) -> None:
    entries = document(cli, "list", topic)
    assert [entry["name"] for entry in entries] == names
    if topic == "metrics":
        assert all(entry["examples"] for entry in entries)
    else:
        values = [CONVENTIONS[name].value for name in names]
        assert [entry["example"]["value"] for entry in entries] == values
    status, out, err = cli("list", topic, "--format", "csv")
    header, *rows = csv.reader(io.StringIO(out))
    assert (status, err, [row[0] for row in rows]) == (0, "", names)
    assert {len(row) for row in rows} == {len(header)}
    status, out, err = cli("list", topic, "--format", "markdown")
    assert (status, err) == (0, "")
    assert [line.split(" | ")[0][2:] for line in out.splitlines() if line][2:] == names
    done = cli("list", topic)
    tells(done, 0, *names)
    assert done[2] == ""


# harness submit.


def test_submit_with_a_key_overridden(harness: Cli) -> None:
    """b has two events in training, every other item one."""
    submit = ("submit", "exam.toml", "--model", "popular", "--out", "own.csv")
    status, out, err = harness(*submit, "--set", "evaluation.k=1")
    assert (status, err) == (0, "")
    assert out.startswith("own.csv  3 rows, ")
    assert Path("own.csv").read_text() == "user,item\nann,b\nbob,b\ncid,b\n"
    words = "note  for an upload alone, not to be scored here: it has seen the held-out days\n"
    assert harness(*submit, "--all-events")[2] == words
