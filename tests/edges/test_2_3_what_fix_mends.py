"""Case 2.3: --fix mends ids, rows, encodings and R's tables where it is certain, and says so."""

from pathlib import Path

import polars as pl
import pytest
from conftest import Cli, tells

import harness
from harness.delimited import blocks
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


@pytest.mark.parametrize(
    ("ids", "content", "code", "mended"),
    [
        ("ann bob", GOOD + "bob,y\nann,x1 y\n", "SUB211", GOOD),
        ("ann bob", GOOD + "bob,y\nbob,y\n", "SUB211", GOOD),
        ("ann bob", '"user","items"\n"bob","y"\nbob,y\nann,x1 y\n', "SUB211",
         "user,items\nbob,y\nann,x1 y\n"),
        ("0ab1 0cd2", "user,items\n0AB1,x1 y\n0CD2,y\n", "SUB209",
         "user,items\n0ab1,x1 y\n0cd2,y\n"),
        ("0AB1 0CD2", "user,items\n0ab1,x1 y\n0cd2,y\n", "SUB209",
         "user,items\n0AB1,x1 y\n0CD2,y\n"),
        (" ".join(HASHES), "user,items\n" + "".join(f"{i.upper()},x y{i}\n" for i in HASHES),
         "SUB209", "user,items\n" + "".join(f"{i},x y{i}\n" for i in HASHES)),
        ("1 20", "user,items\n1.0,x1 y\n20.0,y\n", "SUB209", "user,items\n1,x1 y\n20,y\n"),
        ("1 bob", "user,items\n1.0,x1 y\nbob,y\n", "SUB209", "user,items\n1,x1 y\nbob,y\n"),
        ("ann bob", "\ufeff\ufeff" + GOOD, "SUB007", GOOD),
        ("ann bob", '\ufeff\ufeff"user","items"\nann,x1 y\nbob,y\n', "SUB007", GOOD),
    ],
)  # fmt: skip
def test_it_is_told_and_mended(
    tmp_path: Path, ids: str, content: str, code: str, mended: str
) -> None:
    assert codes_and_mended(tmp_path, ids, content.encode()) == ({code}, mended)


def test_letters_of_windows_in_ids(tmp_path: Path) -> None:
    content = "user,items\nJosé,x1 y\n5€,y\nann,z\n".encode("cp1252")
    told, mended = codes_and_mended(tmp_path, "José 5€ ann", content)
    assert told == {"SUB005", "SUB209"}
    assert mended == "user,items\nJosé,x1 y\n5€,y\nann,z\n"


def test_items_in_another_spelling(tmp_path: Path) -> None:
    content = "user,items\nann,0AB1 7.0\nbob,caf\xe9 0ab1\n".encode("cp1252")
    told, mended = codes_and_mended(tmp_path, "ann bob", content, "0ab1 café 7")
    assert told == {"SUB005", "SUB306", "SUB317"}
    assert mended == "user,items\nann,0ab1 7\nbob,café 0ab1\n"


def test_a_name_in_another_case_is_not_mended(tmp_path: Path) -> None:
    """Letters that are no hexadecimal digits may tell two people apart."""
    (tmp_path / "sample.csv").write_text("user,items\nann,\nbob,\n")
    known = of_tables(tmp_path / "sample.csv")
    (tmp_path / "file.csv").write_text("user,items\nann,a b\nBOB,b\n")
    fix(tmp_path / "file.csv", known, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "user,items\nann,a b\nBOB,b\nbob,\n"
    assert [p.code for p in validate(tmp_path / "out.csv", known).errors] == ["SUB202"]


def test_rows_that_differ_stay(tmp_path: Path) -> None:
    (tmp_path / "sample.csv").write_text("user,items\nann,\nbob,\n")
    known = of_tables(tmp_path / "sample.csv")
    content = GOOD + "bob,z\nbob,y\n"
    (tmp_path / "file.csv").write_text(content)
    told = {p.code: p.count for p in validate(tmp_path / "file.csv", known).errors}
    assert told == {"SUB203": 1, "SUB211": 1}
    fix(tmp_path / "file.csv", known, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == GOOD + "bob,z\n"
    assert [p.code for p in validate(tmp_path / "out.csv", known).errors] == ["SUB203"]


R = {
    "write.table": '"user" "items"\n"1" "ann" "x1 y"\n"2" "bob" "y"\n',
    "sep = tab": '"user"\t"items"\n"1"\t"ann"\t"x1 y"\n"2"\t"bob"\t"y"\n',
    "sep = comma": '"user","items"\n"1","ann","x1 y"\n"2","bob","y"\n',
    "rows in another order": '"user" "items"\n"7" "ann" "x1 y"\n"3" "bob" "y"\n',
    "lines of Windows": '"user" "items"\r\n"1" "ann" "x1 y"\r\n"2" "bob" "y"\r\n',
    "no names of rows": '"user" "items"\n"ann" "x1 y"\n"bob" "y"\n',
    "write.csv": '"","user","items"\n"1","ann","x1 y"\n"2","bob","y"\n',
}


@pytest.mark.parametrize("form", R)
def test_what_r_writes(tmp_path: Path, form: str) -> None:
    told, mended = codes_and_mended(tmp_path, "ann bob", R[form].encode())
    between = {" ", "\t"} & set(R[form].splitlines()[0])
    named = form != "no names of rows"
    assert told == ({"SUB009"} if between else set()) | ({"SUB107"} if named else set())
    assert mended == GOOD


def test_rows_of_one_item_that_r_writes(tmp_path: Path) -> None:
    content = '"user" "item" "score"\n"1" "ann" "y" 0.5\n"2" "ann" "x1" 1\n"3" "bob" "y" 0.1\n'
    told, mended = codes_and_mended(tmp_path, "ann bob", content.encode())
    assert told == {"SUB009", "SUB107"}
    assert mended == "user,item,score\nann,y,0.5\nann,x1,1\nbob,y,0.1\n"


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
