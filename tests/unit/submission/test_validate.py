"""What is found in whole files; blocks of any size find the same."""

import gzip
from pathlib import Path

import pytest
from checking import brief, by_solution, checked, codes, findings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import reference

from harness import config as config_
from harness.core.errors import DataError, UsageError
from harness.delimited import blocks
from harness.scoring.competition import of_config
from harness.scoring.terms import Terms
from harness.submission.expected import Against, ids, of_tables
from harness.submission.rules import GOOD, ITEMS, zipped

HEAD = "customer_id,prediction\n"
LISTS = "user,items\nann,a b\n"


def test_nothing_is_wrong_with_a_good_file(tmp_path: Path) -> None:
    result = checked(tmp_path, GOOD)
    assert (result.problems, result.rows, result.valid) == ((), 3, True)
    document = result.to_dict()
    assert document.pop("checked").endswith("3 ids required; 3 items are known")
    assert document == {"schema": 1, "valid": True, "rows": 3, "problems": []}
    assert "0 errors" in repr(result)
    quoted = '"' + GOOD.replace(",", '","').replace("\n", '"\n"')[:-1]
    for text in (GOOD.replace("\n", "\r\n"), quoted):
        assert findings(tmp_path, text) == []


def test_packed(tmp_path: Path) -> None:
    middle = len(GOOD) // 2
    members = [gzip.compress(part.encode()) for part in (GOOD[:middle], "", GOOD[middle:])]
    assert findings(tmp_path, b"".join(members) + bytes(3 << 20), name="s.csv.gz") == []
    assert findings(tmp_path, zipped("submission.csv"), name="s.zip") == []
    mac = zipped("submission.csv", "__MACOSX/._submission.csv", ".DS_Store", "lists/")
    assert findings(tmp_path, mac, name="s.zip") == []
    (two,) = checked(
        tmp_path, zipped("submission.csv", "b.csv", ".DS_Store"), name="s.zip"
    ).problems
    assert "must have one file, but it has submission.csv, b.csv" in two.message


ROWS = [
    "ann,0706016001 0706016002\nbob,0706016003\ncem,0706016002\nann,0706016001\nann,\n",
    'ann,"0706016001 0706016002\r"\nbob,0706016003\n',
    '"b"ob,0706016003\n bob\t,0706016003\n',
    "ann,0706016001,0706016002\nbob,0706016003 0706016001\n",  # ann is not missing
    'ann,0706016001\nbob,\ncem,\nzoe,"0706016001\n0706016002"\n"ann",\n',
    *(f"ann,0706016001\nbob,{cell}\n" for cell in (
        "0706016003 " * 13, '"7,06016E+08"', "0706016001\u00a00706016002",
        "np.str_('0706016003')", "np.int64(706016003)",
    )),
]  # fmt: skip
"""Beside what is drawn below."""


@pytest.mark.parametrize("size", [64, 1 << 22])
@pytest.mark.parametrize("rows", ROWS)
def test_rows_are_read_as_the_reference_reads_them(
    tmp_path: Path, rows: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "SIZE", size)
    problems = {code: rest for code, *rest in findings(tmp_path, HEAD + rows)}
    assert problems == {code: list(rest) for code, rest in reference(HEAD + rows).items()}


NO_MARK = "UTF-16 text, it seems, without its byte order mark"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (GOOD.replace(",", "\t").encode(), ("SUB009", 1, "tabs", 1, 1)),
        (GOOD.encode("utf-16-le"), ("SUB016", None, NO_MARK, 1, 1)),
    ],
)
def test_another_kind_of_text(tmp_path: Path, content: bytes, expected: tuple[object, ...]) -> None:
    assert findings(tmp_path, content) == [expected]


GZIP, ZIP = gzip.compress(GOOD.encode(), mtime=0), zipped("submission.csv")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.gz", GZIP + b"and more"),
        ("s.gz", GZIP[:-8] + bytes(4) + GZIP[-4:]),  # its checksum
        ("s.zip", ZIP.replace(b"PK\x03", b"PK\x04")),  # no member begins where it should
        ("s.zip", ZIP.replace(b"submission", b"sub", 1)),  # two names of a member
        ("s.zip", ZIP.replace(b"submission", b"\0ubmission")),  # which end before they begin
        ("s.zip", ZIP.replace(b"PK\x05", b"PK\x06")),  # no end of the list of members
    ],
)
def test_archives_that_are_damaged(tmp_path: Path, name: str, content: bytes) -> None:
    assert codes(tmp_path, content, name=name) == ["SUB015"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("s.csv.gz", GOOD.encode(), ".gz, but the file is plain text"),
        ("s.zip", GZIP, ".zip, but the file is gz"),
    ],
)
def test_a_name_of_another_kind(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    assert findings(tmp_path, content, name=name) == [("SUB020", None, says, 1, 1)]


def test_a_format_is_known_by_the_header(tmp_path: Path) -> None:
    long_list = "ncodpers,added_products\n1,a b c d e f g h\n2,b\n"
    assert codes(tmp_path, long_list, Against(guess=True)) == ["SUB302"]
    other = "who,what\n1,a b c d\n2,b\n"
    assert codes(tmp_path, other, Against()) == []
    assert codes(tmp_path, other, Against().cut_at(3)) == ["SUB302"]
    with pytest.raises(UsageError, match="k is 0"):
        Against().cut_at(0)


@pytest.mark.parametrize(
    ("solution", "submission", "expected"),
    [
        # zoe is not in the solution; the item of the solution says that zeros are lost.
        (f"{HEAD}ann,0706016001\n", GOOD + "zoe,706016001\n", [("SUB305", 5, "706016001", 1, 1)]),
        (f"{HEAD}ann,a\n", HEAD + "ann,a b\nbob,7\n", []),  # ids of any shape
        (
            "user,items\nann,a\nbob,nan\n",
            f"{LISTS}bob,b\n",
            [("SUB322", None, '"nan" (1 user)', 1, 1)],
        ),
        (
            "user,item\nann,a\nann,NULL\nbob,b\n",
            f"{LISTS}bob,b\n",
            [("SUB322", None, '"NULL" (1 user)', 1, 1)],
        ),
        (
            "user,item\nann,5\nann,5.0\n",
            "user,items\nann,5 6\n",
            [("SUB323", None, '1 item, such as "5.0" beside "5"', 1, 1)],
        ),
        (
            "user,items\n1,a\n1.0,b\n",
            "user,items\n1,a b\n1.0,b\n",
            [("SUB323", None, '1 user, such as "1.0" beside "1"', 1, 1)],
        ),
        ("order_id,products\n7,None\n8,9\n", "order_id,products\n7,None\n8,9 3\n", []),  # Instacart
        ("user,items\nann,a\nbob,b\n", "ann,a\nbob,b\n", [("SUB109", 1, "ann", 1, 1)]),
    ],
)
def test_a_solution_blames_nobody_who_is_not_in_it(
    tmp_path: Path, solution: str, submission: str, expected: list[object]
) -> None:
    (tmp_path / "file.csv").write_text(submission)
    result = by_solution(tmp_path / "file.csv", solution).validation
    assert [brief(problem) for problem in result.problems] == expected


@pytest.mark.parametrize("users", ["customers.csv", "sample_submission.csv"])
def test_a_config_says_who_and_what_there_is(tmp_path: Path, users: str) -> None:
    """The events are not read: there are none."""
    (tmp_path / users).write_text("customer_id,prediction\nann,\nbob,\n")
    (tmp_path / "articles.csv").write_text(ITEMS)
    models = [{"name": "popular", "use": "baselines.popular:Popular"}]
    sections = {"data": {"layout": "hm", "path": "."}, "split": {"strategy": "time"}}
    config = config_.parse(sections | {"models": models}, tmp_path)
    terms = Terms({"config": config})
    assert {file.name for file in terms.files} <= {"articles.csv", "customers.csv"}
    content = HEAD + "ann,0706016001 0706016009\nzoe,0706016002\n"
    assert [each[:3] for each in findings(tmp_path, content, of_config(config))] == [
        ("SUB201", None, "bob"),
        ("SUB202", 3, "zoe"),
        ("SUB304", 2, "0706016009"),
    ]


def test_what_it_is_checked_against_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "articles.csv").write_text(ITEMS)
    with pytest.raises(DataError, match=r"gone\.csv: the file does not exist"):
        of_tables(tmp_path / "gone.csv")
    with pytest.raises(DataError, match=r's\.csv: no column "id"; allowed: article_id, name'):
        ids(tmp_path / "articles.csv", "id")


PIECES = [
    *("ann", "bob", "cem", "zoe", "'ann'"),
    *("0706016001", "0706016002", "706016002", "0706016003.0", "nan", "7.06E+08", "12"),
    *(",", ",", ",", " ", "  ", "\n", "\n", "\n", "\r\n"),
    *('"', '"', "\t", "é", "\u00a0", ";", "[", "'"),
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pieces=st.lists(st.sampled_from(PIECES), max_size=60), size=st.sampled_from([64, 97, 1 << 22])
)
def test_any_file_is_read_as_the_reference_reads_it(
    tmp_path: Path, pieces: list[str], size: int
) -> None:
    content = HEAD + "".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SIZE", size)
        result = checked(tmp_path, content)
    assert {p.code: brief(p)[1:] for p in result.problems} == reference(content)


def test_a_carriage_return_within_the_header(tmp_path: Path) -> None:
    assert {"SUB101", "SUB205"} & set(codes(tmp_path, GOOD.replace("\n", "\r", 1)))


def test_a_line_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SIZE", 64)
    monkeypatch.setattr(blocks, "LONGEST", 1 << 12)
    assert findings(tmp_path, GOOD + "x" * (1 << 13)) == [("SUB019", None, "4,096 bytes", 1, 1)]
    assert codes(tmp_path, GOOD + "x" * (1 << 11)) == ["SUB204", "SUB012"]


def of_items(folder: Path, items: list[str], rows: str) -> list[tuple[str, int | None, str, int]]:
    """Return what is found in rows, where no user has to be there."""
    (folder / "items.csv").write_text("item\n" + "\n".join(items))
    known = of_tables(items=folder / "items.csv")
    return [each[:4] for each in findings(folder, f"user,item\n{rows}", known)]


def test_items_of_any_length_are_known_wherever_they_stand(tmp_path: Path) -> None:
    """They are looked at 64 bytes at a time, and short ones hashed side by side."""
    items = ["x" * length for length in range(1, 40)]
    lists = (" ".join(items[first:] + items[:first]) for first in range(len(items)))
    rows = "".join(f"user {n},{listed}\n" for n, listed in enumerate(lists))
    assert of_items(tmp_path, items, rows) == []
    assert of_items(tmp_path, items[:15] + items[16:], rows) == [("SUB304", 2, "x" * 16, 39)]


def test_another_space_makes_another_list(tmp_path: Path) -> None:
    rows = "ann,a b c\nann,a b c\nann,a b  c\nann,a c b\nbob,c  b\nbob,c  b\nbob,c b \n"
    assert of_items(tmp_path, ["a", "b", "c"], rows) == [
        ("SUB203", 4, "ann", 3),
        ("SUB211", 3, "ann", 2),
        ("SUB311", 4, "a b  c", 4),
    ]


def test_users_of_whom_nobody_knows_are_distinct_however_many(tmp_path: Path) -> None:
    names = [f"user {n}" for n in range(20_000)]
    rows = "".join(f"{name},a b\n" for name in [*names, "user 7"])
    assert ("SUB211", 20_002, "user 7", 1) in of_items(tmp_path, ["a", "b"], rows)
