"""What `harness validate --config` says of a file depends on the config and files, on no cache."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small

import harness
from harness import config as config_
from harness.config import Config
from harness.experiment.submit import submit

LOG = """user,item,time
ann,a,2020-01-01
bob,b,2020-01-01
eva,b,2020-01-02
ann,b,2020-01-09
bob,a,2020-01-09
eva,a,2020-01-09
"""
"""The window is 2020-01-09: ann, bob and eva are evaluated; the sample asks for ann, bob, new."""
FULL = "user,items\nann,a\nbob,a\nnew,b a\n"


@pytest.fixture(autouse=True)
def _keep_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sample = "user,items\nann,\nbob,\nnew,\n"
    files = {"log.csv": LOG, "sample_submission.csv": sample, "things.csv": "item\na\n"}
    return small.write(tmp_path, files)


def config(folder: Path, **data: Any) -> Config:
    return config_.parse(small.values(data={"cache": True} | data), folder)


def problems(text: str, one: Config, **more: Any) -> list[tuple[str, ...]]:
    (one.folder / "lists.csv").write_text(text)
    found = harness.validate(one.folder / "lists.csv", config=one, **more)
    return [(p.code, p.severity, p.message, p.hint) for p in found.problems]


def test_users_of_the_evaluation_set_alone_are_warned_of_before_and_after_a_score(
    folder: Path,
) -> None:
    one, text = config(folder), FULL + "eva,b\n"
    before = problems(text, one)
    ((code, severity, message, hint),) = before
    assert (code, severity) == ("SUB214", "warning")
    words = ("1 beyond the ids that must be there", "evaluation set", "eva")
    assert [word for word in words if word not in message] == []
    assert "would refuse them" in hint
    assert "harness submit --all-events" in hint
    found = harness.score(folder / "lists.csv", config=one).validation
    assert found is not None
    assert [(p.code, p.severity, p.message, p.hint) for p in found.problems] == before
    assert problems(text, one) == problems(text, config(folder, cache=False)) == before
    ((code, severity, *_),) = problems(text, one, strict=True)
    assert (code, severity) == ("SUB214", "error")
    neither = problems(text + "zed,a\n", one)
    assert [row[:2] for row in neither] == [("SUB202", "error"), ("SUB214", "warning")]
    assert '"zed" is none of the ids' in neither[0][2]


def test_items_that_only_the_candidates_have(folder: Path) -> None:
    """The table of items has a alone; the candidates, those seen in training, are a and b."""
    one = config(folder, items="things.csv")
    assert problems(FULL, one) == []
    harness.score(folder / "lists.csv", config=one)
    assert problems(FULL, one) == []
    ((code, _, message, _),) = problems(FULL.replace("b a", "b zz"), one)
    assert (code, message) == ("SUB304", '"zz" is no item')


def test_events_are_read_only_where_an_id_needs_them(folder: Path) -> None:
    """Where they cannot be read, the error says so."""
    (folder / "log.csv").write_text("user,item,time\nann,a,yesterday\n")
    one = config(folder)
    assert problems(FULL, one) == []
    assert [code for code, *_ in problems("user,items\nann,a\n", one)] == ["SUB201"]
    ((code, severity, message, hint),) = problems(FULL + "eva,b\n", one)
    assert (code, severity) == ("SUB202", "error")
    assert '"eva" is none of the ids' in message
    assert "whether the evaluation set has it cannot be told" in hint
    assert 'log.csv: line 2, column "time": found "yesterday"' in hint


def test_what_submit_writes_is_fit_and_for_an_upload_exact(folder: Path) -> None:
    one, out = config(folder), folder / "out.csv"
    done = submit(one, "popular", out)
    assert pl.read_csv(out)["user"].to_list() == ["ann", "bob", "new", "eva"]
    assert done.beyond_sample == 1
    found = harness.validate(out, config=one)
    assert [p.code for p in found.problems] == ["SUB214", "SUB401"]  # popular is so
    done = submit(one, "popular", out, all_events=True)
    assert pl.read_csv(out)["user"].to_list() == ["ann", "bob", "new"]
    assert done.beyond_sample == 0
    assert [p.code for p in harness.validate(out, config=one).problems] == ["SUB401"]


def test_lists_without_a_hit_are_a_fault_to_score_alone(folder: Path) -> None:
    """Only the truth tells so: validate never does, whatever was scored before."""
    users = [f"u{number:03}" for number in range(120)]
    rows = "".join(f"{user},old,2020-01-01\n{user},new,2020-01-09\n" for user in users)
    sample = "user,items\n" + ",\n".join([*users, ""])
    log = "user,item,time\nzed,new,2020-01-01\n" + rows
    small.write(folder, {"log.csv": log, "sample_submission.csv": sample})
    one = config(folder)
    lists = "user,items\n" + "".join(f"{user},x{n % 2}\n" for n, user in enumerate(users))
    before = problems(lists, one)
    found = harness.score(folder / "lists.csv", config=one).validation
    assert found is not None
    assert "SUB402" in {p.code for p in found.problems}
    assert problems(lists, one) == before
    assert "SUB402" not in {code for code, *_ in before}


@pytest.mark.parametrize(
    ("users", "sample", "code"),
    [
        ("ANN BOB CY", True, "SUB213"),
        ("CY", True, "SUB213"),  # the solution alone has it
        ("ANN ZED", True, "SUB212"),
        # By a solution alone a number in another case is a fault, and a user of no file is not.
        ("CA9F02B1 bob", False, "SUB209"),
        ("cA9f02B1 bob", False, "SUB209"),
        ("CA9F02B2 bob", False, ""),
        ("CA9F02B10 bob", False, ""),
    ],
)
def test_users_in_another_case(tmp_path: Path, users: str, sample: bool, code: str) -> None:
    small.write(tmp_path, {"sample.csv": "user,items\nann,\nbob,\n"})
    ids = ["ann", "bob", "cy", "ca9f02b1"]
    solution = pl.DataFrame({"user": ids, "items": ["a", "b", "c", "d"]})
    file = pl.DataFrame({"user": users.split()}).with_columns(items=pl.lit("b a"))
    given = tmp_path / "sample.csv" if sample else None
    result = harness.validate(file, solution=solution, sample=given)
    cases = [p.code for p in result.errors if p.code in ("SUB209", "SUB212", "SUB213")]
    assert cases == ([code] if code else [])
