"""--fix mends ids, rows, encodings and R's tables where it is certain, and says so."""

from pathlib import Path

import polars as pl
import pytest
from conftest import Cli, tells

import harness
from harness.delimited import blocks
from harness.experiment.submissions import SubmissionError
from harness.experiment.terms import Terms
from harness.submission.expected import of_tables
from harness.submission.fix import fix
from harness.submission.validate import validate

HASHES = [f"{number:032x}" for number in (0xAB12, 0xFF00, 0xBEEF9)]
GOOD = "user,items\nann,x1 y\nbob,y\n"


def codes_and_mended(
    folder: Path, ids: str, content: bytes, items: str = ""
) -> tuple[set[str], str]:
    """Return what is told of a file, and what it is when it is mended, with nothing left wrong."""
    (folder / "sample.csv").write_text("user,items\n" + "".join(f"{i},\n" for i in ids.split()))
    (folder / "items.csv").write_text("item\n" + "".join(f"{item}\n" for item in items.split()))
    known = of_tables(folder / "sample.csv", folder / "items.csv" if items else None)
    (folder / "file.csv").write_bytes(content)
    told = {problem.code for problem in validate(folder / "file.csv", known).problems}
    fix(folder / "file.csv", known, folder / "out.csv")
    left = {problem.code for problem in validate(folder / "out.csv", known).problems}
    assert left <= {"SUB110", "SUB404"}
    return told - left, (folder / "out.csv").read_text()


TWICE = '"user","items"\n"bob","y"\nbob,y\nann,x1 y\n'
UPPER = "".join(f"{i.upper()},x y{i}\n" for i in HASHES)
LOWER = "".join(f"{i},x y{i}\n" for i in HASHES)
R_SCORES = '"user" "item" "score"\n"1" "ann" "y" 0.5\n"2" "ann" "x1" 1\n"3" "bob" "y" 0.1\n'


@pytest.mark.parametrize(
    ("ids", "items", "content", "codes", "mended"),
    [
        ("ann bob", "", GOOD + "bob,y\nann,x1 y\n", "SUB211", GOOD),
        ("ann bob", "", GOOD + "bob,y\nbob,y\n", "SUB211", GOOD),
        ("ann bob", "", TWICE, "SUB211", "user,items\nbob,y\nann,x1 y\n"),
        ("0ab1 bob", "", "user,items\n0AB1,x1\nbob,y\n", "SUB209", "user,items\n0ab1,x1\nbob,y\n"),
        ("0AB1 bob", "", "user,items\n0ab1,x1\nbob,y\n", "SUB209", "user,items\n0AB1,x1\nbob,y\n"),
        (" ".join(HASHES), "", "user,items\n" + UPPER, "SUB209", "user,items\n" + LOWER),
        ("1 20", "", "user,items\n1.0,x1\n20.0,y\n", "SUB209", "user,items\n1,x1\n20,y\n"),
        ("1 bob", "", "user,items\n1.0,x1\nbob,y\n", "SUB209", "user,items\n1,x1\nbob,y\n"),
        ("ann bob", "", "\ufeff\ufeff" + GOOD, "SUB007", GOOD),
        ("ann bob", "", '\ufeff\ufeff"user","items"\nann,x1 y\nbob,y\n', "SUB007", GOOD),
        # Letters of Windows, in ids and in items of another spelling.
        ("José 5€ ann", "", "user,items\nJosé,x1 y\n5€,y\nann,z\n".encode("cp1252"),
         "SUB005 SUB209", "user,items\nJosé,x1 y\n5€,y\nann,z\n"),
        ("ann bob", "0ab1 café 7", "user,items\nann,0AB1 7.0\nbob,café 0ab1\n".encode("cp1252"),
         "SUB005 SUB306 SUB317", "user,items\nann,0ab1 7\nbob,café 0ab1\n"),
        # write.table of R, by a space, a tab and a comma, its rows in another order, on Windows,
        # without names of rows, then write.csv, and rows of one item.
        ("ann bob", "", '"user" "items"\n"1" "ann" "x1 y"\n"2" "bob" "y"\n', "SUB009 SUB107", GOOD),
        ("ann bob", "", '"user"\t"items"\n"1"\t"ann"\t"x1 y"\n"2"\t"bob"\t"y"\n',
         "SUB009 SUB107", GOOD),
        ("ann bob", "", '"user","items"\n"1","ann","x1 y"\n"2","bob","y"\n', "SUB107", GOOD),
        ("ann bob", "", '"user" "items"\n"7" "ann" "x1 y"\n"3" "bob" "y"\n', "SUB009 SUB107", GOOD),
        ("ann bob", "", '"user" "items"\r\n"1" "ann" "x1 y"\r\n"2" "bob" "y"\r\n',
         "SUB009 SUB107", GOOD),
        ("ann bob", "", '"user" "items"\n"ann" "x1 y"\n"bob" "y"\n', "SUB009", GOOD),
        ("ann bob", "", '"","user","items"\n"1","ann","x1 y"\n"2","bob","y"\n', "SUB107", GOOD),
        ("ann bob", "", R_SCORES, "SUB009 SUB107",
         "user,item,score\nann,y,0.5\nann,x1,1\nbob,y,0.1\n"),
    ],
)  # fmt: skip
def test_it_is_told_and_mended(
    tmp_path: Path, ids: str, items: str, content: str | bytes, codes: str, mended: str
) -> None:
    raw = content.encode() if isinstance(content, str) else content
    assert codes_and_mended(tmp_path, ids, raw, items) == (set(codes.split()), mended)


@pytest.mark.parametrize(
    ("content", "mended", "before", "after"),
    [
        # Letters that are no hexadecimal digits may tell two people apart.
        ("user,items\nann,a b\nBOB,b\n", "user,items\nann,a b\nBOB,b\nbob,\n",
         {"SUB201": 1, "SUB202": 1}, {"SUB202": 1}),
        # Rows that differ stay.
        (GOOD + "bob,z\nbob,y\n", GOOD + "bob,z\n", {"SUB203": 1, "SUB211": 1}, {"SUB203": 1}),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_not_mended(
    tmp_path: Path, content: str, mended: str, before: dict[str, int], after: dict[str, int]
) -> None:
    (tmp_path / "sample.csv").write_text("user,items\nann,\nbob,\n")
    known = of_tables(tmp_path / "sample.csv")
    (tmp_path / "file.csv").write_text(content)
    assert {p.code: p.count for p in validate(tmp_path / "file.csv", known).errors} == before
    fix(tmp_path / "file.csv", known, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == mended
    assert {p.code: p.count for p in validate(tmp_path / "out.csv", known).errors} == after


@pytest.mark.parametrize(
    "rows", ['"1","5","7"\n"2","6","9"\n', "1,5,7\n2,6,9\n", '"a","5","7 8"\n"b","6","9"\n']
)
def test_a_user_and_two_items_are_no_row_of_r(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "file.csv"
    path.write_text('"user","items"\n' + rows)
    (tmp_path / "sample.csv").write_text("user,items\n1,\n2,\n")
    assert "SUB205" in [p.code for p in validate(path, of_tables(tmp_path / "sample.csv")).errors]


def test_ids_of_a_solution_alone_are_known_in_another_spelling(tmp_path: Path) -> None:
    """Nobody outside the solution is blamed, but whom it means is said."""
    solution = pl.DataFrame({"user": ["0ab1", "2"], "items": ["x1", "y"]})
    file = pl.DataFrame({"user": ["0AB1", "2.0", "zoe"], "items": ["x1", "y z", "z"]})
    (problem,) = harness.validate(file, solution=solution).errors
    assert (problem.code, problem.count) == ("SUB209", 2)


def test_what_was_done_is_said(cli: Cli) -> None:
    Path("sample.csv").write_text("user,items\nann,\nbob,\ncem,\n")
    Path("file.csv").write_text(GOOD + "bob,y\n")
    mend = ("validate", "file.csv", "--sample", "sample.csv", "--fix", "out.csv")
    status, _, err = cli(*mend)
    assert status == 0
    assert "1 missing row appended, 1 repeated row dropped; no errors are left" in err


def test_identical_rows_of_one_item_are_mended(cli: Cli) -> None:
    Path("file.csv").write_text("user,item,rank\nann,x,1\nann,y,2\nann,y,2\n")
    told = "of identical rows harness validate --fix OUT keeps one"
    tells(cli("validate", "file.csv"), 1, "SUB314", told)
    status, _, err = cli("validate", "file.csv", "--fix", "out.csv")
    assert (status, err.count("mended, written")) == (0, 1)
    assert "1 repeated row dropped; no errors are left" in err
    assert Path("out.csv").read_text() == "user,item,rank\nann,x,1\nann,y,2\n"


def test_blocks_of_any_size_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of thousands of users nobody knows, each twice, in blocks of 64 bytes and in one."""
    rows = "".join(f"u{number},x{number % 3} y\n" for number in range(3000))
    path = tmp_path / "file.csv"
    path.write_text("user,items\n" + rows + rows.replace("u7,x1 y", "u7,z"))
    known = of_tables()
    for size in (64, 1 << 22):
        monkeypatch.setattr(blocks, "SIZE", size)
        found = {p.code: p.count for p in validate(path, known).errors}
        assert found == {"SUB203": 1, "SUB211": 2999}
        fix(path, known, tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text() == "user,items\n" + rows + "u7,z\n"


@pytest.mark.parametrize("item", ["a1", "ca9f0", "ca9f02", "0ca9f02b" * 4])
@pytest.mark.parametrize("spelt", [str.upper, str.lower])
def test_by_a_solution_alone_it_is_no_miss(item: str, spelt: type[str]) -> None:
    other = str.lower if spelt is str.upper else str.upper
    solution = pl.DataFrame({"user": ["ann", "bob"], "items": [spelt(item), "x"]})
    file = pl.DataFrame({"user": ["ann", "bob"], "items": [f"z {other(item)}", "x y"]})
    (problem,) = harness.validate(file, solution=solution).errors
    assert (problem.code, problem.value) == ("SUB317", other(item))
    with pytest.raises(SubmissionError, match="SUB317"):
        harness.score(file, solution=solution)


def test_items_that_no_case_makes_true_are_nothing_to_wonder_at() -> None:
    solution = pl.DataFrame({"user": ["ann", "bob"], "items": ["ca9f02", "x"]})
    file = pl.DataFrame({"user": ["ann", "bob"], "items": ["ca9f02 CA9F03 beef01", "x BEEF01"]})
    found = harness.score(file, solution=solution, metrics=["MAP@12"])
    assert found.validation is not None
    assert found.validation.problems == ()
    assert found.metrics["MAP@12"].mean == 1.0


@pytest.mark.parametrize(
    ("item", "mended"),
    [("B7", False), ("CA9F02", False), ("CA9F02B1", True)],  # of eight signs none is by chance
)
def test_a_short_item_may_be_another_that_no_solution_knows(
    tmp_path: Path, item: str, mended: bool
) -> None:
    (tmp_path / "solution.csv").write_text(f"user,items\nann,{item}\nbob,x\n")
    (tmp_path / "lists.csv").write_text(f"user,items\nann,{item.lower()} z\nbob,x\n")
    (problem,) = harness.validate(tmp_path / "lists.csv", solution=tmp_path / "solution.csv").errors
    assert (problem.code, problem.fixed) == ("SUB317", mended)
    known = Terms(solution=tmp_path / "solution.csv").checking()[0]
    fix(tmp_path / "lists.csv", known, tmp_path / "fixed.csv")
    first = (tmp_path / "fixed.csv").read_text().splitlines()[1]
    assert first == f"ann,{item if mended else item.lower()} z"
