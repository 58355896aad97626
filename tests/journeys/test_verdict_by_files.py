"""What `harness validate --config` says of a file depends on the config and files, on no cache."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import small

import harness
from harness.config import Config
from harness.hosting.submit import submit

pytestmark = pytest.mark.usefixtures("at_once")

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sample = "user,items\nann,\nbob,\nnew,\n"
    files = {"log.csv": LOG, "sample_submission.csv": sample, "things.csv": "item\na\n"}
    return small.write(tmp_path, files)


def config(folder: Path, **data: Any) -> Config:
    return small.config_of(folder, data={"cache": True} | data)


def problems(
    text: str, settings: Config, *, scored: bool = False, **more: Any
) -> list[tuple[str, ...]]:
    (settings.folder / "lists.csv").write_text(text)
    check: Any = harness.score if scored else harness.validate
    checked = check(settings.folder / "lists.csv", config=settings, **more)
    checked = checked.validation if scored else checked
    return [(p.code, p.severity, p.message, p.hint) for p in checked.problems]


def test_users_of_the_evaluation_set_alone_are_warned_of_before_and_after(folder: Path) -> None:
    settings, text = config(folder), FULL + "eva,b\n"
    before = problems(text, settings)
    ((code, severity, message, _),) = before
    assert (code, severity, "eva" in message) == ("SUB214", "warning", True)
    assert problems(text, settings, scored=True) == before
    assert problems(text, settings) == problems(text, config(folder, cache=False)) == before
    assert [row[:2] for row in problems(text, settings, strict=True)] == [("SUB214", "error")]
    neither = problems(text + "zed,a\n", settings)
    assert [row[:2] for row in neither] == [("SUB202", "error"), ("SUB214", "warning")]
    assert '"zed" is not one of the' in neither[0][2]


def test_items_that_only_the_candidates_have(folder: Path) -> None:
    """The table of items has a alone; the candidates, those seen in training, are a and b."""
    settings = config(folder, items="things.csv")
    for scored in (False, True, False):
        assert problems(FULL, settings, scored=scored) == []
    ((code, _, message, _),) = problems(FULL.replace("b a", "b zz"), settings)
    assert (code, message) == ("SUB304", '"zz" is not an item')


def test_what_submit_writes_is_fit_and_for_an_upload_exact(folder: Path) -> None:
    settings, out = config(folder), folder / "out.csv"
    for all_events, beyond, codes in ((False, ["eva"], ["SUB214"]), (True, [], [])):
        done = submit(settings, "popular", out, all_events=all_events)
        assert pl.read_csv(out)["user"].to_list() == ["ann", "bob", "new", *beyond]
        assert done.beyond_sample == len(beyond)
        # SUB401: popular says the same to everybody.
        assert [p.code for p in harness.validate(out, config=settings).problems] == [
            *codes,
            "SUB401",
        ]


def test_a_user_in_another_case_whom_the_solution_alone_has(folder: Path) -> None:
    true = pl.DataFrame({"user": ["ann", "cy"], "items": ["a", "b"]})
    file, sample = pl.DataFrame({"user": ["CY"], "items": ["b"]}), folder / "sample_submission.csv"
    errors = harness.validate(file, solution=true, sample=sample).errors
    assert "SUB213" in {problem.code for problem in errors}
