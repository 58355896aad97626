"""``harness validate`` as somebody types it, until the file is scored."""

import json
from pathlib import Path

import pytest
from conftest import Cli, is_refused, tells

SAMPLE = "user,items\nann,\nbob,\ncem,\n"
TRUTH = "user,items\nann,a b\nbob,d\n"


@pytest.fixture
def folder(here: Path) -> Path:
    files = {
        "sample.csv": SAMPLE,
        "truth.csv": TRUTH,
        "items.csv": "item\na\nb\nd\n",
        "lists.csv": "user,items\n ann,a b\nbob,d\nbob,d\n",
    }
    for name, text in files.items():
        (here / name).write_text(text)
    return here


@pytest.mark.usefixtures("folder")
def test_a_file_is_checked_mended_and_scored(cli: Cli) -> None:
    """Ann and bob have all their items first, so that MAP is 1."""
    by = ("--sample", "sample.csv", "--items", "items.csv")
    tells(cli("validate", "lists.csv", *by), 1, "3 rows   3 errors", "SUB201", "SUB207", "SUB211")
    status, _, err = cli("validate", "lists.csv", *by, "--fix", "out.csv")
    assert status == 0
    assert "1 missing row appended, 1 repeated row dropped; no errors are left" in err
    assert Path("out.csv").read_text() == "user,items\nann,a b\nbob,d\ncem,\n"
    status, out, _ = cli("validate", "out.csv", *by, "--format", "json")
    assert (status, json.loads(out)["valid"]) == (0, True)
    tells(cli("validate", "out.csv", *by, "--strict"), 1, "SUB301")  # cem's list is empty
    status, out, _ = cli(
        "score", "out.csv", "--solution", "truth.csv", "--metric", "MAP@2", "--format", "csv"
    )
    assert (status, "MAP@2,1.0," in out) == (0, True), out


@pytest.mark.usefixtures("folder")
def test_what_a_file_is_checked_against(cli: Cli) -> None:
    tells(cli("validate", "lists.csv"), 1, "SUB211")
    tells(cli("validate", "lists.csv", "--solution", "truth.csv"), 1, "SUB207", "SUB211")
    tells(cli("validate", "lists.csv", "--format", "markdown"), 1, "| SUB211 | error | 4 |")
    tells(cli("validate", "gone.csv"), 1, "SUB001")
    is_refused(cli("validate", "lists.csv", "--k", "0"), "k is 0")
    is_refused(cli("validate", "lists.csv", "--sample", "gone.csv"), "gone.csv: there is no such")
    done = cli("validate", "lists.csv", "--sample", "sample.csv", "--fix", "lists.csv")
    assert (done[0], "is read by this command and never touched" in done[2]) == (2, True)
    Path("log.csv").write_text("user,item,time\nann,a,1\n")
    done = cli("validate", "lists.csv", "--sample", "sample.csv", "--fix", "log.csv")
    is_refused(done, "log.csv: is there already and is no file of lists; name another")


@pytest.mark.usefixtures("folder")
def test_a_score_that_was_forced_says_what_is_wrong(cli: Cli) -> None:
    """A padded id is one row of an evaluated user, not a row of somebody else's."""
    Path("lists.csv").write_text("user,items\n ann,a b\nbob,d d\n")
    tells(cli("score", "lists.csv", "--solution", "truth.csv"), 1)
    done = cli("score", "lists.csv", "--solution", "truth.csv", "--force")
    notes = [
        'warning SUB303 "d" stands in the list already',
        "users without a list, who score 0: 1",
    ]
    tells(done, 0, *notes, 'error   SUB207 spaces stand around " ann"')
    assert "left out" not in done[1]
