"""The schemas of docs/schema: they are what the code makes, and real documents keep to them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import ROOT, Cli
from jsonschema import Draft202012Validator, ValidationError
from small import POPULAR
from typer.main import get_command

from harness.cli import app
from harness.experiment.run import run
from harness.experiment.split_files import split
from harness.report import schemas
from harness.report.documents import DOCUMENTS

STORED = ROOT / "docs" / "schema"
PLUGGED = """
class Raises:
    def fit(self, train):
        raise ZeroDivisionError("too few stars")

    def recommend(self, users, k, draws, exclude=None):
        pass
"""
LAST = POPULAR | {"name": "last", "params": {"window_days": 2}}
DAYS = """user,item,time
ann,a,2020-01-01
bob,b,2020-01-01
ann,a,2020-01-02
ann,b,2020-01-03
bob,b,2020-01-03
"""
METRICS = ["MAP@2", "Recall@1", "Coverage@2", "Popularity@2"]
FILES = {
    "log.csv": small.LOG,
    "tuned.csv": small.TO_TUNE,
    "days.csv": DAYS,
    "raises.py": PLUGGED,
    "shop.toml": small.toml(POPULAR, LAST, small.RANDOM | {"repeats": 2}, evaluation={
        "metrics": METRICS,
    }),
    "one.toml": small.toml(),
    "folds.toml": small.toml(
        POPULAR, LAST, data={"events": "days.csv"},
        split={"strategy": "time", "valid_days": 1, "folds": 2},
    ),
    "failing.toml": small.toml(POPULAR, {"name": "bad", "use": "raises:Raises"}),
    "space.toml": small.toml(
        POPULAR | {"space": {"window_days": [1, 2, 7]}}, data={"events": "tuned.csv"},
    ),
    "lists.csv": "user,items\nann,b a\nbob,d\ncid,b\n",
    "other.csv": "user,items\nann,a\nbob,d\ncid,a\n",
    "faulty.csv": "user,items\nann,b a\nann,b\nbob,\n",
    "truth.csv": "user,items,Usage\nann,b,Public\nbob,d,Private\ncid,a,Private\n",
    "plain.csv": "user,items\nann,b\nbob,d\ncid,a\n",
}  # fmt: skip
COMMANDS = [
    ("run", "run shop.toml --out again"),
    ("run", "run one.toml --out again"),
    ("compare", "compare run"),
    ("compare", "compare run --slices truth --public-share 0.5 --metric Recall@1"),
    ("submissions", "compare lists.csv other.csv --solution truth.csv"),
    ("submissions", "leaderboard lists.csv other.csv faulty.csv --solution truth.csv"),
    ("submissions", "leaderboard lists.csv other.csv --config shop.toml"),
    ("check", "check run --at-least MAP@2[of]popular[>=]0.5"),
    ("check", "check run --at-least MAP@2[of]popular[better][than]last"),
    ("check", "check run --at-least MAP@2[of]popular[>=]last"),
    ("leaderboard", "leaderboard ."),
    ("leaderboard", "leaderboard . --metric Coverage@2"),
    ("tune", "tune space.toml --trials 2"),
    ("validate", "validate lists.csv --solution truth.csv"),
    ("validate", "validate faulty.csv --solution truth.csv"),
    ("validate", "validate lists.csv --config shop.toml"),
    ("validate", "validate lists.csv --config folds.toml"),
    ("score", "score lists.csv --solution truth.csv --conventions"),
    ("score", "score lists.csv --solution plain.csv --k 2"),
    ("score", "score lists.csv --config shop.toml"),
    ("score", "score lists.csv --config folds.toml"),
    ("score", "score faulty.csv --solution truth.csv"),
    ("score", "score faulty.csv --solution truth.csv --force"),
    ("explain", "explain run --model popular --worst 2"),
    ("explain", "explain lists.csv --solution truth.csv --user ann"),
    ("list-metrics", "list metrics"),
    ("list-conventions", "list conventions"),
    ("list-baselines", "list baselines"),
    ("list-layouts", "list layouts"),
    ("list-checks", "list checks"),
    ("list-datasets", "list datasets"),
]


def stored(name: str) -> Any:
    return json.loads((STORED / f"{name}.json").read_text(encoding="utf-8"))


def closed(schema: Any) -> Any:
    """Return a schema that allows no key but those that it names."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    named = isinstance(inner.get("properties"), dict) and inner.get("type") == "object"
    return {"additionalProperties": False, **inner} if named else inner


def check(name: str, document: Any) -> None:
    """Check that a document keeps to its schema, and that this names all of its keys."""
    for schema in (stored(name), closed(stored(name))):
        Draft202012Validator(schema).validate(document)


@pytest.fixture
def harness(here: Path, cli: Cli) -> Cli:
    """Return what runs a command where files are."""
    small.write(here, FILES)
    return cli


def test_the_files_are_what_the_code_makes() -> None:
    made = schemas.texts()
    assert {path.name for path in STORED.iterdir()} == made.keys(), "run make docs"
    for name, text in made.items():
        found = (STORED / name).read_text(encoding="utf-8")
        assert found == text, f"docs/schema/{name} is old: run make docs"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_is_a_schema_that_is_open(name: str) -> None:
    Draft202012Validator.check_schema(stored(name))
    assert stored(name)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert '"additionalProperties": false' not in json.dumps(stored(name))


def test_write_makes_the_folder(tmp_path: Path) -> None:
    schemas.write(tmp_path / "made")
    assert json.loads((tmp_path / "made" / "run.json").read_text()) == stored("run")


def test_every_command_with_a_format_has_one() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    asked = {name for name, one in commands.items() if "format_" in {p.name for p in one.params}}
    printed = {document.title for document in DOCUMENTS.values()}
    assert asked == {
        found[1]
        for title in printed
        if (found := re.match(r"harness (\w+) .*--format json", title))
    }
    assert {name for name, _ in COMMANDS} | {"environment", "split", "codabench", "evalai"} == {
        *DOCUMENTS
    }


def test_the_page_names_every_one() -> None:
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\S+)\]\(schema/(\S+)\) \|", page, flags=re.M)
    assert rows == [(f"{name}.json", f"{name}.json") for name in DOCUMENTS]


@pytest.mark.parametrize(
    ("config", "part", "status"), [("folds.toml", "folds", 0), ("failing.toml", "failed", 1)]
)
def test_runs_of_more_and_of_less_keep_to_theirs(
    harness: Cli, config: str, part: str, status: int
) -> None:
    done, out, err = harness("run", config, "--format", "json", "--out", "run")
    assert done == status, err
    assert json.loads(out)[part]
    check("run", json.loads(out))
    if part == "folds":
        check("compare", json.loads(harness("compare", "run", "--format", "json")[1]))


@pytest.mark.parametrize(("name", "line"), COMMANDS)
def test_what_a_command_prints_keeps_to_its_schema(
    harness: Cli, tmp_path: Path, name: str, line: str
) -> None:
    if "run" in line.split()[1:] or name == "leaderboard":
        assert harness("run", "shop.toml", "--out", "run")[0] == 0
    words = [re.sub(r"[][]+", " ", word) for word in line.split()]
    status, out, err = harness(*words, "--format", "json")
    assert status < 2, err
    check(name, json.loads(out))


def test_a_run_folder_keeps_to_them(harness: Cli, tmp_path: Path) -> None:
    assert harness("run", "shop.toml", "--out", "run")[0] == 0
    check("run", json.loads((tmp_path / "run" / "result.json").read_text()))
    environment = json.loads((tmp_path / "run" / "environment.json").read_text())
    Draft202012Validator(stored("environment")).validate(environment)
    Draft202012Validator(stored("environment")).validate(environment | {"tables": "hdfs://runs/1"})
    with pytest.raises(ValidationError):
        Draft202012Validator(stored("environment")).validate(environment | {"numpy": 2})


def test_a_tuned_run_keeps_to_them(harness: Cli, tmp_path: Path) -> None:
    assert harness("tune", "space.toml", "--trials", "2", "--out", "tuned.toml")[0] == 0
    status, out, _ = harness("run", "tuned.toml", "--format", "json", "--out", "run")
    (model,) = json.loads(out)["models"]
    assert (status, model["tuned"]["trials"]) == (0, 2)
    check("run", json.loads(out))


def test_a_run_of_users_who_are_sliced_keeps_to_them(tmp_path: Path) -> None:
    """Slices by a column, public leaderboards, a baseline and users beyond the evaluation set."""
    run(small.many(tmp_path, **small.CONFIGS["slices"])).write(tmp_path / "run")
    document = json.loads((tmp_path / "run" / "result.json").read_text())
    assert document["slices"]
    assert document["bridge"]
    check("run", document)


def test_a_split_keeps_to_its_schema(tmp_path: Path) -> None:
    split(small.config(tmp_path), tmp_path / "files")
    check("split", json.loads((tmp_path / "files" / "split.json").read_text()))


def test_what_hosts_read_keeps_to_its_schema(harness: Cli, tmp_path: Path) -> None:
    asked = ["--codabench", "out", "--evalai", "result.json"]
    assert harness("score", "lists.csv", "--solution", "truth.csv", *asked)[0] == 0
    check("codabench", json.loads((tmp_path / "out" / "scores.json").read_text()))
    check("evalai", json.loads((tmp_path / "result.json").read_text()))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["schema"], 2),
        (["models"], []),
        (["models", 0, "name"], ""),
        (["models", 0, "metrics", "MAP@2", "mean"], "0.5"),
        (["models", 0, "metrics", "MAP@2", "ci95"], [0.1]),
        (["evaluation", "users"], 0),
        (["comparison", "pairs", 0, "verdict"], "nicer"),
        (["metrics", "MAP@2", "better"], "up"),
        (["folds"], [{}]),
    ],
)
def test_another_record_is_refused(harness: Cli, path: list[Any], value: Any) -> None:
    document = json.loads(harness("run", "shop.toml", "--format", "json")[1])
    check("run", document)
    part = document
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises(ValidationError):
        Draft202012Validator(stored("run")).validate(document)


def test_keys_of_later_versions_are_allowed_and_none_may_be_missing(harness: Cli) -> None:
    document = json.loads(harness("run", "shop.toml", "--format", "json")[1])
    Draft202012Validator(stored("run")).validate(document | {"later": 1})
    for key in ("schema", "evaluation", "models"):
        with pytest.raises(ValidationError, match=key):
            Draft202012Validator(stored("run")).validate(
                {name: value for name, value in document.items() if name != key}
            )


def test_properties_say_what_the_docstrings_say() -> None:
    checked = stored("check")["$defs"]["Condition"]["properties"]
    assert checked["condition"]["description"] == "As it was written."
    assert checked["value"]["description"].endswith("null of a model that failed.")
