"""Mended files: what is mechanical is gone, the rest stands, and the input is untouched."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.core.errors import UsageError
from harness.delimited import blocks
from harness.submission.expected import Against, of_tables
from harness.submission.fix import NotFixedError, fix
from harness.submission.format import FORMATS
from harness.submission.rules.rule import GOOD, ITEMS

HEAD = "customer_id,prediction\n"
SAMPLE = HEAD + "ann,0706016001\nbob,0706016002\ncem,0706016001 0706016003\n"


def mended(folder: Path, content: str | bytes) -> str:
    (folder / "sample.csv").write_text(SAMPLE)
    (folder / "articles.csv").write_text(ITEMS)
    path, out = folder / "submission.csv", folder / "fixed.csv"
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(raw)
    fix(path, of_tables(folder / "sample.csv", folder / "articles.csv"), out)
    assert path.read_bytes() == raw
    return out.read_text()


def test_a_good_file_stays_as_it_is(tmp_path: Path) -> None:
    assert mended(tmp_path, GOOD) == GOOD


@pytest.mark.parametrize(
    ("row", "becomes"),
    [
        ("bob,0706016003  0706016001 ", "bob,0706016003 0706016001"),
        (" bob\t,0706016003\r", "bob,0706016003"),
        ("'bob',0706016003", "bob,0706016003"),
        ("bob,706016003 706016001.0", "bob,0706016003 0706016001"),
        ("bob,\"['0706016003', '0706016001']\"", "bob,0706016003 0706016001"),
        ('bob,"[0706016003,706016001]"', "bob,0706016003 0706016001"),
        ('bob,"0706016003;0706016001|706016002"', "bob,0706016003 0706016001 0706016002"),
        ("bob,0706016003\u00a00706016001\u3000706016002", "bob,0706016003 0706016001 0706016002"),
        ("bob,nan", "bob,"),
        ("bob,[]", "bob,"),
        ("bob,0706016003 None 0706016001", "bob,0706016003 0706016001"),
        ("bob,0706016003 706016003 0706016001", "bob,0706016003 0706016001"),
        ("bob," + "0706016003 " * 20, "bob,0706016003"),
        ("bob,0999999999 0706016001", "bob,0999999999 0706016001"),
        ("bob,7.06E+08", "bob,7.06E+08"),
        ("bob,caf\u00e9", "bob,caf\u00e9"),
    ],
)
def test_a_row(tmp_path: Path, row: str, becomes: str) -> None:
    content = GOOD.replace("bob,0706016003", row)
    assert mended(tmp_path, content) == GOOD.replace("bob,0706016003", becomes)


def test_the_longest_list_is_cut(tmp_path: Path) -> None:
    many = [f"{i:010}" for i in range(20)]
    content = GOOD.replace("bob,0706016003", "bob," + " ".join(many))
    assert mended(tmp_path, content).splitlines()[2] == "bob," + " ".join(many[:12])


def test_the_shape_of_the_file(tmp_path: Path) -> None:
    for content in (
        "\ufeff" + GOOD,
        GOOD.encode("utf-16"),
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        GOOD.replace(",", ";"),
        GOOD.replace("customer_id", " Customer_ID "),
        GOOD.rstrip("\n"),
        GOOD.replace("bob", "\n \nbob"),
        '"customer_id","prediction"\n' + GOOD.partition("\n")[2],
    ):
        assert mended(tmp_path, content) == GOOD
    text = "prediction,note,customer_id\n0706016001 0706016002,x,ann\n0706016003,y,bob\n"
    assert mended(tmp_path, text + "0706016002,z,cem\n") == GOOD


def test_missing_users_get_the_rows_of_the_sample(tmp_path: Path) -> None:
    assert mended(tmp_path, HEAD + "bob,0706016003\n") == (
        HEAD + "bob,0706016003\nann,0706016001\ncem,0706016001 0706016003\n"
    )


def test_rows_of_the_sample_are_quoted_where_they_need_it(tmp_path: Path) -> None:
    (tmp_path / "sample.csv").write_text('customer_id,prediction\n"a,n",x\nbob,"y ""z"""\n')
    (tmp_path / "submission.csv").write_text(HEAD)
    fix(tmp_path / "submission.csv", of_tables(tmp_path / "sample.csv"), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == HEAD + '"a,n",x\nbob,"y ""z"""\n'


@pytest.mark.parametrize("header", ["customer_id,age", "age,customer_id"])
def test_missing_users_of_a_table_without_lists_get_empty_ones(tmp_path: Path, header: str) -> None:
    rows = ["ann,30", "bob,40", "cem,50"]
    if header.startswith("age"):
        rows = [",".join(reversed(row.split(","))) for row in rows]
    (tmp_path / "customers.csv").write_text("\n".join([header, *rows, ""]))
    (tmp_path / "submission.csv").write_text(HEAD + "bob,0706016003\n")
    against = Against(
        format=FORMATS["hm"], ids=tmp_path / "customers.csv", user="customer_id"
    ).asking()
    fix(tmp_path / "submission.csv", against, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == HEAD + "bob,0706016003\nann,\ncem,\n"


def test_a_line_without_all_its_fields_is_no_row_of_fewer_columns(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(HEAD + "ann,\nbob,\n")
    (tmp_path / "note.csv").write_text(HEAD[:-1] + ",note\nann,0706016001,x\nbob,5\n")
    fix(tmp_path / "note.csv", of_tables(tmp_path / "s.csv"), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == HEAD + "ann,0706016001\nbob,5,\n"


def test_lines_that_are_no_rows_stay(tmp_path: Path) -> None:
    assert mended(tmp_path, GOOD + "cem\ncem,1,2\n") == GOOD + "cem\ncem,1,2\n"


def test_the_input_is_never_written_to(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(GOOD)
    against = of_tables(tmp_path / "s.csv")
    with pytest.raises(UsageError, match="is read by this command"):
        fix(tmp_path / "s.csv", against, tmp_path / "s.csv")
    with pytest.raises(UsageError, match="gone"):
        fix(tmp_path / "gone.csv", against, tmp_path / "out.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.csv"]


PIECES = [
    *("ann", "bob", "cem", "zoe", "0706016001", "0706016002", "706016002", "0706016003.0", "nan"),
    *(",", ",", ",", " ", "\n", "\n", '"', "\t", "\u00a0", ";", "[", "'"),
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


def test_a_list_of_many_items_with_another_separator(tmp_path: Path) -> None:
    """Each is looked at once, so that a hundred thousand take no longer than they must."""
    items = [f"i{number}" for number in range(100_000)]
    (tmp_path / "s.csv").write_text("user,items\nann,\n")
    (tmp_path / "lists.csv").write_text(f'user,items\nann,"{",".join(items)}"\n')
    fix(tmp_path / "lists.csv", of_tables(tmp_path / "s.csv"), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == f"user,items\nann,{' '.join(items)}\n"
