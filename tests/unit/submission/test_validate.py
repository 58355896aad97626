"""Literal submissions, and what is to be said of each; blocks of any size say the same."""

import gzip
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import reference
from test_rules import against

from harness import config as config_
from harness.core.errors import DataError, UsageError
from harness.delimited import blocks
from harness.experiment.competition import of_config
from harness.experiment.terms import Terms
from harness.submission import expected
from harness.submission.expected import Against, ids, of_tables
from harness.submission.problems import Problem, Validation
from harness.submission.rules.rule import GOOD, ITEMS, SAMPLE
from harness.submission.validate import examine, validate


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with what examples are checked against."""
    against(tmp_path)
    return tmp_path


def checked(
    folder: Path, content: str | bytes, name: str = "submission.csv", strict: bool = False
) -> Validation:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    known = of_tables(folder / "sample.csv", folder / "articles.csv")
    return validate(path, known, strict=strict)


def brief(problem: Problem) -> tuple[str, int | None, str, int, int]:
    return problem.code, problem.line, problem.value, problem.count, problem.lines


def found(folder: Path, content: str | bytes, name: str = "submission.csv") -> list[Any]:
    return [brief(problem) for problem in checked(folder, content, name).problems]


def test_nothing_is_wrong_with_a_good_file(folder: Path) -> None:
    result = checked(folder, GOOD)
    assert (result.problems, result.rows, result.valid) == ((), 3, True)
    document = result.to_dict()
    assert document.pop("checked").endswith("3 ids must be there; 3 items are known")
    assert document == {"schema": 1, "valid": True, "rows": 3, "problems": []}
    assert "0 errors" in repr(result)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_the_same_in_other_dress(folder: Path, end: str, quote: str) -> None:
    lines = [
        ",".join(f"{quote}{cell}{quote}" for cell in line.split(",")) for line in GOOD.splitlines()
    ]
    assert found(folder, end.join([*lines, ""])) == []


def zipped() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("submission.csv", GOOD)
    return packed.getvalue()


def test_packed(folder: Path) -> None:
    assert found(folder, gzip.compress(GOOD.encode()), "submission.csv.gz") == []
    middle = len(GOOD) // 2
    members = [gzip.compress(part.encode()) for part in (GOOD[:middle], "", GOOD[middle:])]
    assert found(folder, b"".join(members) + bytes(3 << 20), "submission.csv.gz") == []
    packed = io.BytesIO(zipped())
    assert found(folder, packed.getvalue(), "submission.zip") == []
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("__MACOSX/._submission.csv", "x")
    (problem,) = checked(folder, packed.getvalue(), "submission.zip").problems
    assert (problem.code, problem.severity) == ("SUB013", "error")
    assert "submission.csv, __MACOSX/._submission.csv" in problem.message


HEAD = "customer_id,prediction\n"
FULL = "ann,0706016001\nbob,0706016002\ncem,0706016003\n"

CASES: dict[str, tuple[str | bytes, list[tuple[str, int | None, str, int, int]]]] = {
    "empty": ("", [("SUB003", None, "", 1, 1)]),
    "no UTF-8": (
        HEAD.encode() + b"ann,0706016001 caf\xe9\nbob,0706016002\ncem,0706016003\n",
        [
            ("SUB005", 2, "byte 19, 0xE9", 1, 1),
            ("SUB304", 2, "caf�", 1, 1),
        ],
    ),
    "UTF-16": (
        (HEAD + "ann,0706016001 0706016002\nbob,0706016002\ncem,0706016003\n").encode("utf-16"),
        [("SUB006", None, "", 1, 1)],
    ),
    "UTF-16 without its mark": (
        GOOD.encode("utf-16-le"),
        [("SUB016", None, "UTF-16 text, it seems, without its byte order mark", 1, 1)],
    ),
    "byte order mark": ("\ufeff" + GOOD, [("SUB007", None, "", 1, 1)]),
    "NUL": (
        GOOD.replace("bob,", "bob\0,"),
        [
            ("SUB008", 3, "", 1, 1),
            ("SUB201", None, "bob", 1, 1),
            ("SUB202", 3, "bob�", 1, 1),
        ],
    ),
    "semicolons": (GOOD.replace(",", ";"), [("SUB009", 1, "semicolons", 1, 1)]),
    "tabs": (GOOD.replace(",", "\t"), [("SUB009", 1, "tabs", 1, 1)]),
    "bare carriage returns": (GOOD.replace("\n", "\r"), [("SUB010", None, "", 4, 4)]),
    "a return before a closing quote": (
        GOOD.replace("0706016002\n", '0706016002\r"\n', 1).replace("ann,", 'ann,"', 1),
        [("SUB010", None, "", 1, 1)],
    ),
    "unclosed quote": (
        GOOD.replace("bob,0706016003", 'bob,"0706016003'),
        [("SUB011", 3, "", 1, 1), ("SUB310", 3, '"0706016003', 1, 1)],
    ),
    "no end": (GOOD.rstrip("\n"), [("SUB012", None, "", 1, 1)]),
    "text behind a quote": (
        GOOD.replace("bob,0706016003", '"b"ob,0706016003'),
        [("SUB017", 3, "", 1, 1)],
    ),
    "missing column": (
        GOOD.replace("prediction", "list"),
        [("SUB101", 1, "prediction", 1, 1), ("SUB102", 1, "list", 1, 1)],
    ),
    "an unknown column": (
        "customer_id,prediction,note\nann,0706016001 0706016003,x\nbob,0706016002,\ncem,,z\n",
        [("SUB102", 1, "note", 1, 1), ("SUB301", 4, "", 1, 1)],
    ),
    "an index": (
        ",customer_id,prediction\n0,ann,0706016001 0706016003\n1,bob,0706016002\n2,cem,\n",
        [("SUB107", 1, "", 1, 1), ("SUB301", 4, "", 1, 1)],
    ),
    "a column twice": (
        "customer_id,prediction,prediction\nann,0706016001 0706016003,x\nbob,0706016002,\ncem,,\n",
        [("SUB103", 1, "prediction", 1, 1), ("SUB301", 4, "", 1, 1)],
    ),
    "another order": (
        "prediction,customer_id\n0706016001 0706016002,ann\n0706016002,bob\n0706016003,cem\n",
        [("SUB104", 1, "prediction, customer_id", 1, 1)],
    ),
    "padded header": (
        GOOD.replace(",prediction", ", prediction"),
        [("SUB105", 1, " prediction", 1, 1)],
    ),
    "case of the header": (
        GOOD.replace("customer_id", "Customer_ID"),
        [("SUB106", 1, "Customer_ID", 1, 1)],
    ),
    "missing ids": (HEAD + "bob,0706016002 0706016001\n", [("SUB201", None, "ann", 2, 2)]),
    "an unknown id": (GOOD + "zoe,0706016001\n", [("SUB202", 5, "zoe", 1, 1)]),
    "a duplicate id": (
        GOOD + "ann,0706016001\nann,\n",
        [("SUB203", 5, "ann", 2, 2), ("SUB301", 6, "", 1, 1)],
    ),
    "an unknown id twice": (
        GOOD + "zoe,0706016001\nzoe,0706016001\n",
        [("SUB202", 5, "zoe", 2, 2), ("SUB211", 6, "zoe", 1, 1)],
    ),
    "too few fields": (GOOD + "cem\n", [("SUB204", 5, "cem", 1, 1)]),
    "too many fields": (
        GOOD + "cem,0706016001,0706016002\n",
        [("SUB205", 5, "cem,0706016001,0706016002", 1, 1)],
    ),
    "blank lines": (GOOD.replace("bob", "\n  \nbob"), [("SUB206", 3, "", 2, 2)]),
    "a padded id": (GOOD.replace("bob", " bob\t"), [("SUB207", 3, " bob�", 1, 1)]),
    "an empty id": (GOOD + ",0706016001\n", [("SUB208", 5, "", 1, 1)]),
    "a damaged id": (GOOD.replace("bob", "'bob'"), [("SUB209", 3, "'bob'", 1, 1)]),
    "an empty list": (GOOD.replace("0706016003", ""), [("SUB301", 3, "", 1, 1)]),
    "a long list": (
        GOOD.replace("bob,0706016003", "bob," + " ".join(["0706016003"] * 13)),
        [
            ("SUB302", 3, " ".join(["0706016003"] * 7) + " 070…", 1, 1),
            ("SUB303", 3, "0706016003", 12, 1),
        ],
    ),
    "lost zeros": (GOOD.replace(" 0", " "), [("SUB305", 2, "706016002", 1, 1)]),
    "brackets": (
        GOOD.replace("0706016001 0706016002", "\"['0706016001', '0706016002']\""),
        [("SUB310", 2, "['0706016001',", 2, 1)],
    ),
    "two spaces": (GOOD.replace(" ", "  "), [("SUB311", 2, "0706016001  0706016002", 1, 1)]),
    "one list for all": (
        HEAD + "".join(f"{user},0706016001 0706016002\n" for user in ("ann", "bob", "cem")),
        [("SUB401", None, "", 3, 3)],
    ),
    "one item each": (HEAD + FULL, [("SUB404", None, "", 3, 3)]),
    "a line in quotes": (
        GOOD + 'zoe,"0706016001\n0706016002"\n"ann",\n',
        [
            ("SUB202", 5, "zoe", 1, 1),
            ("SUB203", 7, "ann", 1, 1),
            ("SUB301", 7, "", 1, 1),
            ("SUB309", 5, "0706016001�0706016002", 1, 1),
        ],
    ),
}
IN_BOBS_LIST: dict[str, tuple[str, dict[str, str]]] = {
    "a repeat": ("0706016003 0706016001 0706016003", {"SUB303": "0706016003"}),
    "an unknown item": ("0999999999 0706016003", {"SUB304": "0999999999"}),
    "a decimal": ("0706016003.0", {"SUB306": "0706016003.0"}),
    "without its zero": ("706016003.0", {"SUB305": "706016003.0", "SUB306": "706016003.0"}),
    "an exponent": ("7.06016E+08", {"SUB307": "7.06016E+08"}),
    "as written in Europe": ('"7,06016E+08"', {"SUB307": "7,06016E+08"}),
    "a word for nothing": ("NaN", {"SUB308": "NaN"}),
    "commas": ('"0706016001,0706016002"', {"SUB309": "0706016001,0706016002"}),
    "no-break": ("0706016001\u00a00706016002", {"SUB309": "0706016001\ufffd0706016002"}),
    "a space at the end": ("0706016003 ", {"SUB311": "0706016003 "}),
}
"""What stands there, on line 3, and the value that is shown of each fault."""
for name, (cell, faults) in IN_BOBS_LIST.items():
    text = GOOD.replace("bob,0706016003", f"bob,{cell}")
    CASES[name] = text, [(code, 3, value, 1, 1) for code, value in faults.items()]


@pytest.mark.parametrize("size", [64, 1 << 22])
@pytest.mark.parametrize("case", CASES)
def test_one_fault_at_a_time(
    folder: Path, case: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "SIZE", size)
    content, expected = CASES[case]
    assert sorted(found(folder, content)) == sorted(expected)


def test_archives_that_are_none(folder: Path) -> None:
    packed = gzip.compress(GOOD.encode() * 100)
    assert found(folder, packed[:-20])[0][0] == "SUB015"
    assert found(folder, packed + b"and more")[0][0] == "SUB015"
    assert found(folder, packed[:-8] + bytes(4) + packed[-4:])[0][0] == "SUB015"  # its checksum
    assert found(folder, b"PK\x03\x04 and no more")[0][0] == "SUB015"
    assert found(folder, b"Rar!\x1a\x07")[0][:3] == ("SUB016", None, "a rar archive")


def test_an_archive_that_unpacks_to_far_too_much(folder: Path) -> None:
    packed = gzip.compress(HEAD.encode() + b"ann,0706016001\n" * (6 << 20))
    result = checked(folder, packed, "bomb.csv.gz")
    assert "SUB014" in [problem.code for problem in result.problems]


def test_warnings_are_errors_where_they_are_asked_to_be(folder: Path) -> None:
    content = GOOD.replace(" ", "  ")
    assert checked(folder, content).valid
    result = checked(folder, content, strict=True)
    assert (result.valid, result.problems[0].severity) == (False, "error")


def test_a_format_is_known_by_the_header(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("ncodpers,added_products\n1,a b c d e f g h\n2,b\n")
    assert [brief(p)[:2] for p in validate(path, Against()).problems] == [("SUB302", 2)]
    path.write_text("who,what\n1,a b c d\n2,b\n")
    assert validate(path, Against()).problems == ()
    assert [p.code for p in validate(path, Against().cut_at(3)).problems] == ["SUB302"]
    with pytest.raises(UsageError, match="k is 0"):
        Against().cut_at(0)


def test_a_solution_blames_nobody_who_is_not_in_it(folder: Path) -> None:
    (folder / "solution.csv").write_text("customer_id,prediction,Usage\nann,0706016001,Public\n")
    path = folder / "submission.csv"
    path.write_text(GOOD + "zoe,706016001\n")
    terms = Terms(solution=folder / "solution.csv")
    solution = terms.scored_against()
    found = examine(path, terms.against().scored_by(solution), solution).validation
    assert [brief(p)[:4] for p in found.problems] == [("SUB305", 5, "706016001", 1)]
    (folder / "solution.csv").write_text("customer_id,prediction\nann,a\n")
    path.write_text("customer_id,prediction\nann,a b\nbob,7\n")
    solution = terms.scored_against()
    known = terms.against().scored_by(solution)
    assert examine(path, known, solution).validation.problems == ()  # ids of any shape


CONFIG = """
[data]
layout = "hm"
path = "data"
[split]
strategy = "time"
[[models]]
name = "popular"
use = "baselines.popular:Popular"
"""


@pytest.mark.parametrize("ids", ["customers.csv", "sample_submission.csv"])
def test_a_config_says_who_and_what_there_is(tmp_path: Path, ids: str) -> None:
    """The events are not read: there are none."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / ids).write_text("customer_id,prediction\nann,\nbob,\n")
    (tmp_path / "data" / "articles.csv").write_text(ITEMS)
    (tmp_path / "hm.toml").write_text(CONFIG)
    path = tmp_path / "submission.csv"
    path.write_text(HEAD + "ann,0706016001 0706016009\nzoe,0706016002\n")
    config = config_.read(tmp_path / "hm.toml")
    terms = Terms(config)
    assert terms.checking()[1] is None
    assert {file.name for file in terms.files} <= {"articles.csv", "customers.csv"}
    found = validate(path, of_config(config))
    assert [brief(p)[:3] for p in found.problems] == [
        ("SUB201", None, "bob"),
        ("SUB202", 3, "zoe"),
        ("SUB304", 2, "0706016009"),
    ]


def test_what_it_is_checked_against_must_be_there(folder: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.csv: there is no such file"):
        of_tables(folder / "gone.csv")
    with pytest.raises(DataError, match=r's\.csv: no column "id"; allowed: article_id, name'):
        ids(folder / "articles.csv", "id")


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
    folder: Path, pieces: list[str], size: int
) -> None:
    content = HEAD + "".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SIZE", size)
        result = checked(folder, content)
    assert {p.code: brief(p)[1:] for p in result.problems} == reference(content)


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        (b"PK\x03\x04", b"PK\x03\x05"),  # no member begins where it should
        (b"submission.csv", b"\0ubmission.csv"),  # a name that ends before it begins
        (b"PK\x05\x06", b"PK\x05\x07"),  # no end of the list of members
    ],
)
def test_archives_that_are_damaged(folder: Path, there: bytes, instead: bytes) -> None:
    packed = zipped()
    first = packed.find(there)
    head = packed[:first] + instead + packed[first + len(there) :]
    every = packed.replace(there, instead)
    for content in (b"PK" + every[2:], b"PK\x03\x04" + head[4:]):
        codes = {problem.code for problem in checked(folder, content).problems}
        assert codes - {"SUB020"} <= {"SUB013", "SUB015"}


def test_a_carriage_return_within_the_header(folder: Path) -> None:
    content = GOOD.replace("\n", "\r", 1)
    codes = [problem.code for problem in checked(folder, content).problems]
    assert "SUB101" in codes or "SUB205" in codes


def test_a_line_without_an_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SIZE", 64)
    monkeypatch.setattr(blocks, "LONGEST", 1 << 12)
    assert found(folder, GOOD + "x" * (1 << 13)) == [("SUB019", None, "4,096 bytes", 1, 1)]
    assert [code for code, *_ in found(folder, GOOD + "x" * (1 << 11))] == ["SUB204", "SUB012"]


def test_ids_of_a_large_file_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected, "_LARGE", 1)
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")
    before = [brief(problem) for problem in checked(folder, GOOD + "zoe,1\n").problems]
    monkeypatch.setattr(expected, "_cells", lambda *_: pytest.fail("the file was read again"))
    assert [brief(problem) for problem in checked(folder, GOOD + "zoe,1\n").problems] == before
    monkeypatch.undo()
    (folder / "sample.csv").write_text(SAMPLE + "zoe,1\n")
    assert found(folder, GOOD + "zoe,0706016001\n") == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("s.csv.gz", GOOD.encode(), ".gz, and it is plain text"),
        ("s.csv", gzip.compress(GOOD.encode(), mtime=0), ".csv, and it is gz"),
        ("s.zip", gzip.compress(GOOD.encode(), mtime=0), ".zip, and it is gz"),
    ],
)
def test_a_name_of_another_kind(folder: Path, name: str, content: bytes, said: str) -> None:
    assert found(folder, content, name) == [("SUB020", None, said, 1, 1)]


def test_a_file_without_a_header(folder: Path) -> None:
    codes = [code for code, *_ in found(folder, FULL)]
    assert "SUB109" in codes
    (folder / "solution.csv").write_text("user,items\nann,a\nbob,b\n")
    (folder / "lists.csv").write_text("ann,a\nbob,b\n")
    terms = Terms(solution=folder / "solution.csv")
    solution = terms.scored_against()
    told = examine(folder / "lists.csv", terms.against().scored_by(solution), solution)
    assert [brief(p)[:3] for p in told.validation.errors] == [("SUB109", 1, "ann")]


@pytest.mark.parametrize("item", ["np.str_('0706016003')", "np.int64(706016003)"])
def test_what_numpy_prints_is_told(folder: Path, item: str) -> None:
    codes = {code for code, *_ in found(folder, GOOD.replace("bob,", f"bob,{item} "))}
    assert "SUB310" in codes
    assert "SUB304" not in codes


def test_ids_of_lines_that_are_no_rows_are_not_missing(folder: Path) -> None:
    content = GOOD.replace("0706016001 0706016002", "0706016001,0706016002")
    assert [code for code, *_ in found(folder, content)] == ["SUB205", "SUB404"]


def of_items(folder: Path, items: list[str], rows: str) -> list[Any]:
    """Return what is said of rows, where no user has to be there."""
    (folder / "items.csv").write_text("item\n" + "\n".join(items))
    (folder / "own.csv").write_text(f"user,item\n{rows}")
    result = validate(folder / "own.csv", of_tables(items=folder / "items.csv"))
    return [brief(problem) for problem in result.problems]


def test_items_of_any_length_are_known_wherever_they_stand(tmp_path: Path) -> None:
    """They are looked at 64 bytes at a time, and short ones hashed side by side."""
    items = ["x" * length for length in range(1, 40)]
    lists = (" ".join(items[first:] + items[:first]) for first in range(len(items)))
    rows = "".join(f"user {n},{own}\n" for n, own in enumerate(lists))
    assert of_items(tmp_path, items, rows) == []
    assert of_items(tmp_path, items[:15] + items[16:], rows) == [("SUB304", 2, "x" * 16, 39, 39)]


def test_another_space_makes_another_list(tmp_path: Path) -> None:
    rows = "ann,a b c\nann,a b c\nann,a b  c\nann,a c b\nbob,c  b\nbob,c  b\nbob,c b \n"
    assert of_items(tmp_path, ["a", "b", "c"], rows) == [
        ("SUB203", 4, "ann", 3, 3),
        ("SUB211", 3, "ann", 2, 2),
        ("SUB311", 4, "a b  c", 4, 4),
    ]


def test_users_of_whom_nobody_knows_are_told_apart_however_many(tmp_path: Path) -> None:
    names = [f"user {n}" for n in range(20_000)]
    rows = "".join(f"{name},a b\n" for name in [*names, "user 7"])
    again = of_items(tmp_path, ["a", "b"], rows)
    assert ("SUB211", 20_002, "user 7", 1, 1) in again
