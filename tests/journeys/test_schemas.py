"""Documents that commands print and write keep to the schemas of docs/schema."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import ROOT, Cli
from jsonschema import Draft202012Validator
from pages.documents import DOCUMENTS
from small import POPULAR
from typer.main import get_command

from harness.cli import app
from harness.hosting.split import split

LAST = POPULAR | {"name": "last", "params": {"window_days": 2}}
RANDOM = small.RANDOM | {"repeats": 2}
METRICS = ["MAP@2", "Recall@1", "Coverage@2", "Popularity@2"]
DAYS = {"strategy": "time", "valid_days": 1, "folds": 2}
SPACE = {"space": {"window_days": [1, 2, 7]}}
FILES = {
    "log.csv": small.LOG,
    "tuned.csv": small.TO_TUNE,
    "days.csv": small.TWO_WEEKS,
    "raises.py": small.FAILS,
    "shop.toml": small.toml(POPULAR, LAST, RANDOM, evaluation={"metrics": METRICS}),
    "folds.toml": small.toml(POPULAR, LAST, data={"events": "days.csv"}, split=DAYS),
    "failing.toml": small.toml(POPULAR, {"name": "bad", "use": "raises:Raises"}),
    "many.csv": small.MANY,
    "people.csv": "user,town\nuser1,x\nuser2,y\nuser3,y\n",
    "sliced.toml": small.toml(
        data={"events": "many.csv", "users": "people.csv"}, compare={"slices": ["town"]}
    ),
    "space.toml": small.toml(POPULAR | SPACE, data={"events": "tuned.csv"}),
    "lists.csv": "user,items\nann,b a\nbob,d\ncid,b\n",
    "other.csv": "user,items\nann,a\nbob,d\ncid,a\n",
    "faulty.csv": "user,items\nann,b a\nann,b\nbob,\n",
    "truth.csv": "user,items,Usage\nann,b,Public\nbob,d,Private\ncid,a,Private\n",
}
RUNS = {name: f"{name}.toml" for name in ("shop", "folds", "failing", "sliced")}
COMMANDS = [
    ("run", "run shop.toml --out OUT"),
    ("run", "run folds.toml --out OUT"),
    ("compare", "compare folds"),
    ("compare", "compare shop --slices truth --public-share 0.5 --metric Recall@1"),
    ("submissions", "compare lists.csv other.csv --solution truth.csv"),
    ("submissions", "leaderboard lists.csv other.csv faulty.csv --config shop.toml"),
    ("check", "check shop --at-least 'MAP@2 of popular >= 0.5'"),
    ("check", "check shop --at-least 'MAP@2 of popular better than last'"),
    ("leaderboard", "leaderboard ."),
    ("tune", "tune space.toml --trials 2 --out OUT.toml"),
    ("validate", "validate faulty.csv --solution truth.csv"),
    ("validate", "validate lists.csv --config folds.toml"),
    ("score", "score lists.csv --solution truth.csv --conventions"),
    ("score", "score lists.csv --config folds.toml"),
    ("score", "score faulty.csv --solution truth.csv"),
    ("score", "score faulty.csv --solution truth.csv --force"),
    ("explain", "explain shop --model popular --worst 2"),
    ("explain", "explain lists.csv --solution truth.csv --user ann"),
    *(
        (f"list-{topic}", f"list {topic}")
        for topic in ("metrics", "conventions", "baselines", "layouts", "checks", "datasets")
    ),
]


def closed(schema: Any) -> Any:
    """Return a schema that allows no key but those that it names."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    named = isinstance(inner.get("properties"), dict) and inner.get("type") == "object"
    return {"additionalProperties": False, **inner} if named else inner


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def schema_of(name: str) -> Draft202012Validator:
    return Draft202012Validator(read(ROOT / "docs" / "schema" / f"{name}.json"))


def check(name: str, document: Any) -> None:
    """Check that a document keeps to its schema, and that this names all of its keys."""
    schema_of(name).validate(document)
    Draft202012Validator(closed(schema_of(name).schema)).validate(document)


@pytest.mark.parametrize(("name", "line"), COMMANDS)
def test_what_a_command_prints_keeps_to_its_schema(
    harness: Cli, tmp_path: Path, name: str, line: str
) -> None:
    words = [w.replace("OUT", str(tmp_path / "out")) for w in shlex.split(line)]
    status, out, err = harness(words, "--format", "json")
    assert status < 2, err
    check(name, json.loads(out))


def test_the_files_of_a_run_keep_to_their_schemas(made: Path) -> None:
    """Sliced is by a column, with users beyond the evaluation set."""
    parts = {"shop": "shake_up", "folds": "folds", "failing": "failed", "sliced": "bridge"}
    for name, part in parts.items():
        record = read(made / name / "result.json")
        assert record[part]
        check("run", record)
    environment, schema = read(made / "shop" / "environment.json"), schema_of("environment")
    schema.validate(environment)
    schema.validate(environment | {"tables": "hdfs://runs/1"})
    assert not schema.is_valid(environment | {"numpy": 2})


def test_a_tuned_run_keeps_to_its_schema(harness: Cli, tmp_path: Path) -> None:
    out, tuned = str(tmp_path / "run"), str(tmp_path / "tuned.toml")
    assert harness("tune", "space.toml", "--trials", "2", "--out", tuned)[0] == 0
    status, text, _ = harness("run", tuned, "--format", "json", "--out", out)
    (model,) = json.loads(text)["models"]
    assert (status, model["tuned"]["trials"]) == (0, 2)
    check("run", json.loads(text))


def test_a_split_and_what_hosts_read_keep_to_their_schemas(harness: Cli, tmp_path: Path) -> None:
    unprinted = {"environment", "split", "codabench", "evalai"}
    assert {name for name, _ in COMMANDS} | unprinted == {*DOCUMENTS}
    split(small.config(tmp_path), tmp_path / "files")
    check("split", read(tmp_path / "files" / "split.json"))
    asked = ["--codabench", str(tmp_path / "out"), "--evalai", str(tmp_path / "result.json")]
    assert harness("score", "lists.csv", "--solution", "truth.csv", asked)[0] == 0
    check("codabench", read(tmp_path / "out" / "scores.json"))
    check("evalai", read(tmp_path / "result.json"))


def test_every_command_with_a_format_has_one() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    asked = {
        name for name, command in commands.items() if "format_" in {p.name for p in command.params}
    }
    titles = [document.title for document in DOCUMENTS.values()]
    printed = [re.match(r"harness (\w+) .*--format json", title) for title in titles]
    assert asked == {match[1] for match in printed if match}
