"""Mended files: what is mechanical is gone, the rest stands, and the input is untouched."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import polars as pl
import pytest
from checking import LONG, ROWS, against, checked
from conftest import refusal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import harness
from harness.core.errors import UsageError
from harness.delimited import blocks
from harness.scoring.terms import Terms
from harness.submission import problems
from harness.submission.expected import Against, of_tables
from harness.submission.fix import NotFixedError, fix
from harness.submission.format import FORMATS
from harness.submission.rules import EXAMPLES, GOOD, ITEMS
from harness.submission.validate import validate

HEAD = "customer_id,prediction\n"
SAMPLE = HEAD + "ann,0706016001\nbob,0706016002\ncem,0706016001 0706016003\n"


def fixed(folder: Path, content: str | bytes, known: Against) -> str:
    path, raw = folder / "submission.csv", content.encode() if isinstance(content, str) else content
    path.write_bytes(raw)
    fix(path, known, folder / "fixed.csv")
    assert path.read_bytes() == raw
    return (folder / "fixed.csv").read_text()


def mended(folder: Path, content: str | bytes) -> str:
    (folder / "sample.csv").write_text(SAMPLE)
    (folder / "articles.csv").write_text(ITEMS)
    known = of_tables(folder / "sample.csv", folder / "articles.csv")
    return fixed(folder, content, known.cut_at(12))


@pytest.mark.parametrize(
    ("row", "becomes"),
    [
        (" bob\t,0706016003\r", "bob,0706016003"),
        ("bob,706016003 706016001.0", "bob,0706016003 0706016001"),
        ("bob,\"['0706016003', '0706016001']\"", "bob,0706016003 0706016001"),
        ('bob,"0706016003;0706016001|706016002"', "bob,0706016003 0706016001 0706016002"),
        ("bob,0706016003\u00a00706016001\u3000706016002", "bob,0706016003 0706016001 0706016002"),
        ("bob,nan", "bob,"),
        ("bob,0706016003 None 0706016001", "bob,0706016003 0706016001"),
        ("bob,0706016003 706016003 0706016001", "bob,0706016003 0706016001"),
        ("bob,0999999999 0706016001", "bob,0999999999 0706016001"),
        ("bob,7.06E+08", "bob,7.06E+08"),
        ("bob,np.(" + "'" * 1000 + "x", "bob,np.(" + "'" * 1000 + "x"),
        # Of twenty items twelve stay; lines that are no rows do too.
        ("bob," + " ".join(map("{:010}".format, range(20))),
         "bob," + " ".join(map("{:010}".format, range(12)))),
        ("bob,0706016003\nbob\nbob,1,2", "bob,0706016003\nbob\nbob,1,2"),
    ],
)  # fmt: skip
def test_a_row(tmp_path: Path, row: str, becomes: str) -> None:
    content = GOOD.replace("bob,0706016003", row)
    assert mended(tmp_path, content) == GOOD.replace("bob,0706016003", becomes)


@pytest.mark.parametrize(
    "content",
    [
        GOOD.replace("\n", "\r\n"),
        '"customer_id","prediction"\n' + GOOD.partition("\n")[2],
        "prediction,note,customer_id\n0706016001 0706016002,x,ann\n0706016003,y,bob\n"
        "0706016002,z,cem\n",
    ],
)
def test_the_shape_of_the_file(tmp_path: Path, content: str) -> None:
    assert mended(tmp_path, content) == GOOD


@pytest.mark.parametrize(
    ("sample", "content", "expected"),
    [
        # Missing users get the rows of the sample, which are quoted where they need it.
        (SAMPLE, HEAD + "bob,x\n", HEAD + "bob,x\nann,0706016001\ncem,0706016001 0706016003\n"),
        (HEAD + '"a,n",x\nbob,"y ""z"""\n', HEAD, HEAD + '"a,n",x\nbob,"y ""z"""\n'),
        # A line without all its fields is no row of fewer columns.
        (HEAD + "ann,\nbob,\n", "customer_id,prediction,note\nann,0706016001,x\nbob,5\n",
         HEAD + "ann,0706016001\nbob,5,\n"),
    ],
)  # fmt: skip
def test_rows_of_the_sample(tmp_path: Path, sample: str, content: str, expected: str) -> None:
    (tmp_path / "sample.csv").write_text(sample)
    assert fixed(tmp_path, content, of_tables(tmp_path / "sample.csv")) == expected


def test_rows_of_a_sample_in_json(tmp_path: Path) -> None:
    path = tmp_path / "sample.json"
    path.write_text('{"user": "ann", "items": ["x", "y"]}\n{"user": "bob", "items": []}\n')
    assert fixed(tmp_path, "user,items\nbob,z\n", of_tables(path)).endswith("bob,z\nann,x y\n")


@pytest.mark.parametrize(
    "table", ["customer_id,age\nann,3\nbob,4\n", "age,customer_id\n3,ann\n4,bob\n"]
)
def test_missing_users_of_a_table_without_lists_get_empty_ones(tmp_path: Path, table: str) -> None:
    (tmp_path / "customers.csv").write_text(table)
    known = Against(format=FORMATS["hm"]).asking(tmp_path / "customers.csv", "customer_id")
    content = HEAD + "bob,0706016003\n"
    assert fixed(tmp_path, content, known) == content + "ann,\n"


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("user,items\nzed,z\n", True),
        ("", True),
        ("user,item,time\nann,a,1\n", False),
        ("x\n", False),
    ],
)
def test_another_file_is_replaced_only_if_it_holds_lists(
    tmp_path: Path, text: str, replaced: bool
) -> None:
    path, out = tmp_path / "lists.csv", tmp_path / "out.csv"
    path.write_text("user,items\nann,a\n")
    out.write_text(text)
    with nullcontext() if replaced else refusal(UsageError, "is not a file of lists; name another"):
        fix(path, Against(), out)
    assert out.read_text() == (path.read_text() if replaced else text)


def test_the_input_is_never_written_to(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(GOOD)
    known = of_tables(tmp_path / "s.csv")
    with pytest.raises(UsageError, match="is an input of this command"):
        fix(tmp_path / "s.csv", known, tmp_path / "s.csv")
    with pytest.raises(UsageError, match="gone"):
        fix(tmp_path / "gone.csv", known, tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["s.csv"]


PIECES = [
    *("ann", "bob", "zoe", "0706016001", "706016002", "0706016003.0", "nan"),
    *(",", ",", ",", " ", "\n", "\n", '"', "\t", "\u00a0", ";", "[", "'"),
    *("np.(", "'" * 300, ")" * 300),
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=60), size=st.sampled_from([64, 1 << 22]))
def test_what_is_mended_once_is_mended(tmp_path: Path, pieces: list[str], size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SIZE", size)
        try:
            once = mended(tmp_path, HEAD + "".join(pieces))
        except NotFixedError:
            return
        assert mended(tmp_path, once) == once


def test_what_needs_quotes_is_written_in_quotes(tmp_path: Path) -> None:
    known = in_short(tmp_path, "ann bob cem", "")
    content = 'user,items\nann,"x""1 y"\nbob ,"x""1 x""1"\ncem,"y,z"\n'
    becomes = 'user,items\nann,"x""1 y"\nbob,"x""1"\ncem,y z\n'
    assert fixed(tmp_path, content, known) == becomes


def test_rows_of_one_item(tmp_path: Path) -> None:
    padded = LONG.replace("bob,0706016003,2", " bob,706016003.0, 2")
    assert fixed(tmp_path, padded, against(tmp_path)) == LONG
    twice = "user,item,rank\nann,x,1\nann,y,2\nann,y,2\n"
    assert fixed(tmp_path, twice, Against()) == "user,item,rank\nann,x,1\nann,y,2\n"


def test_parquet_is_mended_into_a_csv(tmp_path: Path) -> None:
    path, out = tmp_path / "lists.parquet", tmp_path / "out.csv"
    frame = pl.DataFrame({"customer_id": ["ann", "bob"], "prediction": [[706016001] * 2, [None]]})
    frame.write_parquet(path)
    fix(path, against(tmp_path), out)
    assert out.read_text() == "customer_id,prediction\nann,0706016001\nbob,\ncem,\n"


# What a report says of --fix, and what it does.

WHOLE = (
    "SUB006 SUB007 SUB009 SUB010 SUB011 SUB012 SUB105 SUB106 SUB206 SUB207 SUB209 SUB211 SUB302 "
    "SUB303 SUB305 SUB306"
)
"""Examples that are the good file again."""


@pytest.mark.parametrize(
    ("code", "content"),
    [*EXAMPLES.items(), *((f"{code} in rows", row[0]) for code, row in ROWS.items())],
)
def test_fix_does_what_it_says_it_does(tmp_path: Path, code: str, content: bytes | str) -> None:
    known, out = against(tmp_path, code), tmp_path / "fixed.csv"
    result = checked(tmp_path, content, known)
    (problem,) = (p for p in result.problems if p.code == code[:6])
    hint = f"; or --fix {tmp_path / 'submission-fixed.csv'}"
    assert (hint in problems.text(result, None)) == any(p.fixed for p in result.problems)
    if result.blocked is not None:
        assert not any(p.fixed for p in result.problems)
        with pytest.raises(NotFixedError, match=result.blocked.code):
            fix(tmp_path / "submission.csv", known, out)
        assert not out.exists()
        return
    fix(tmp_path / "submission.csv", known, out)
    after = {p.code for p in validate(out, known).problems}
    assert not (problem.fixed and code[:6] in after)
    assert code not in WHOLE or out.read_text() == GOOD
    # Lists that nothing is left of are empty or alike.
    assert after <= {p.code for p in result.problems} | {"SUB301", "SUB401", "SUB404"}


# Ids and rows that are certain, encodings, and tables of R.


def in_short(folder: Path, users: str, items: str) -> Against:
    (folder / "sample.csv").write_text("user,items\n" + "".join(f"{i},\n" for i in users.split()))
    (folder / "items.csv").write_text("item\n" + "".join(f"{item}\n" for item in items.split()))
    return of_tables(folder / "sample.csv", folder / "items.csv" if items else None)


HUGE, SHUT = "x" * (1 << 19), ")" * (1 << 17)
LISTS = "user,items\nann,x1 y\nbob,y\n"
TWICE = '"user","items"\n"bob","y"\nbob,y\nann,x1 y\n'
R_SCORES = '"user" "item" "score"\n"1" "ann" "y" 0.5\n"2" "ann" "x1" 1\n"3" "bob" "y" 0.1\n'


@pytest.mark.parametrize(
    ("users", "items", "content", "codes", "becomes"),
    [
        ("ann bob", "", LISTS + "bob,y\nann,x1 y\n", "SUB211", LISTS),
        ("ann bob", "", TWICE, "SUB211", "user,items\nbob,y\nann,x1 y\n"),
        ("0ab1 bob", "", "user,items\n0AB1,x1\nbob,y\n", "SUB209", "user,items\n0ab1,x1\nbob,y\n"),
        ("0AB1 bob", "", "user,items\n0ab1,x1\nbob,y\n", "SUB209", "user,items\n0AB1,x1\nbob,y\n"),
        ("1 20", "", "user,items\n1.0,x1\n20.0,y\n", "SUB209", "user,items\n1,x1\n20,y\n"),
        ("ann bob", "", "\ufeff\ufeff" + LISTS, "SUB007", LISTS),
        # Letters of Windows, in ids and in items of another spelling.
        ("José 5€ ann", "", "user,items\nJosé,x1 y\n5€,y\nann,z\n".encode("cp1252"),
         "SUB005 SUB209", "user,items\nJosé,x1 y\n5€,y\nann,z\n"),
        ("ann bob", "0ab1 café 7", "user,items\nann,0AB1 7.0\nbob,café 0ab1\n".encode("cp1252"),
         "SUB005 SUB306 SUB317", "user,items\nann,0ab1 7\nbob,café 0ab1\n"),
        # Tokens of any length, in time and memory of that length.
        ("ann bob", "", f"user,items\nann,[{HUGE}]\nbob,y\n", "SUB310",
         f"user,items\nann,{HUGE}\nbob,y\n"),
        ("ann bob", "", f"user,items\nann,np.str_('x') y\nbob,x{SHUT} z\n", "SUB310",
         "user,items\nann,x y\nbob,x z\n"),
        # write.table of R, by a space, without names of rows; write.csv; rows of items.
        ("ann bob", "", '"user" "items"\n"1" "ann" "x1 y"\n"2" "bob" "y"\n',
         "SUB009 SUB107", LISTS),
        ("ann bob", "", '"user" "items"\n"ann" "x1 y"\n"bob" "y"\n', "SUB009", LISTS),
        ("ann bob", "", '"","user","items"\n"1","ann","x1 y"\n"2","bob","y"\n', "SUB107", LISTS),
        ("ann bob", "", R_SCORES, "SUB009 SUB107",
         "user,item,score\nann,y,0.5\nann,x1,1\nbob,y,0.1\n"),
    ],
)  # fmt: skip
def test_it_is_found_and_mended(
    tmp_path: Path, users: str, items: str, content: str | bytes, codes: str, becomes: str
) -> None:
    known = in_short(tmp_path, users, items)
    before = {p.code for p in checked(tmp_path, content, known).problems}
    assert fixed(tmp_path, content, known) == becomes
    after = {p.code for p in validate(tmp_path / "fixed.csv", known).problems}
    assert after <= {"SUB110", "SUB404"}
    assert before - after == set(codes.split())


def test_what_is_not_certain_is_not_mended(tmp_path: Path) -> None:
    """007 may be 7 or 07, an exponent has lost digits for good, and rows that differ stay."""
    known = in_short(tmp_path, "7 07 123456 bob", "")
    content = "user,items\n007,a b\n1.23456E+05,a\nbob,b\nbob,a\n"
    missing, twice, damaged = checked(tmp_path, content, known).errors
    assert (missing.code, twice.code, damaged.code) == ("SUB201", "SUB203", "SUB209")
    assert (missing.count, damaged.count) == (2, 2)
    assert '; "07" and 1 other is known' in damaged.message
    assert not damaged.fixed
    assert fixed(tmp_path, content, known) == content + "7,\n07,\n"


@pytest.mark.parametrize("rows", ['"1","5","7"\n"2","6","9"\n', '"a","5","7 8"\n"b","6","9"\n'])
def test_a_user_and_two_items_are_no_row_of_r(tmp_path: Path, rows: str) -> None:
    known = in_short(tmp_path, "1 2", "")
    errors = checked(tmp_path, '"user","items"\n' + rows, known).errors
    assert "SUB205" in {p.code for p in errors}


# Where a solution alone says who and what there is.


def test_items_that_no_case_makes_true_are_nothing_to_wonder_at() -> None:
    solution = pl.DataFrame({"user": ["ann", "bob"], "items": ["ca9f02", "x"]})
    file = pl.DataFrame({"user": ["ann", "bob"], "items": ["ca9f02 CA9F03 beef01", "x BEEF01"]})
    assert harness.validate(file, solution=solution).problems == ()


@pytest.mark.parametrize("step", [1, -1])
def test_what_fix_mends_is_told_by_all_items(tmp_path: Path, step: int) -> None:
    """Not by the five that are shown: one of six is certain."""
    items = ["b7", "c7", "d7", "e7", "f7", "ca9f02b1"][::step]
    (tmp_path / "solution.csv").write_text(
        "user,items\n" + "".join(f"{item},{item}\n" for item in items)
    )
    (tmp_path / "lists.csv").write_text(
        "user,items\n" + "".join(f"{item},{item.upper()} z\n" for item in items)
    )
    known = Terms({"solution": tmp_path / "solution.csv"}).checking()[0]
    (problem,) = validate(tmp_path / "lists.csv", known).errors
    assert (problem.code, problem.count, problem.fixed) == ("SUB317", 6, True)
    assert problem.hint.endswith("(--fix fixes 1 of 6)")


@pytest.mark.parametrize("spelt", [str.upper, str.lower])
@pytest.mark.parametrize(
    ("item", "certain"),
    [("b7", False), ("ca9f02", False), ("ca9f02b1", True), ("0ca9f02b" * 4, True)],
)
def test_a_short_item_may_be_another_that_no_solution_knows(
    tmp_path: Path, item: str, certain: bool, spelt: Callable[[str], str]
) -> None:
    """In other letters it is no miss; of eight signs and more none is another by chance."""
    true, other = spelt(item), item.swapcase() if spelt(item) == item else item
    (tmp_path / "solution.csv").write_text(f"user,items\nann,{true}\nbob,x\n")
    (tmp_path / "lists.csv").write_text(f"user,items\nann,{other} z\nbob,x\n")
    known = Terms({"solution": tmp_path / "solution.csv"}).checking()[0]
    (problem,) = validate(tmp_path / "lists.csv", known).errors
    assert (problem.code, problem.value, problem.fixed) == ("SUB317", other, certain)
    fix(tmp_path / "lists.csv", known, tmp_path / "fixed.csv")
    first = (tmp_path / "fixed.csv").read_text().splitlines()[1]
    assert first == f"ann,{true if certain else other} z"
