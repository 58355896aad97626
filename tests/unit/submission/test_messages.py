"""What is said of each check's example, word for word: line, message, cure."""

from pathlib import Path

import pytest
from test_rules import WITHOUT_EXAMPLE, against

from harness.submission.expected import Against
from harness.submission.rules import EXAMPLES, RULES
from harness.submission.validate import validate

SAID = {
    "SUB003": (None, "the file is empty", "write a header and a row for each user"),
    "SUB004": (None, "there are no rows behind the header", "write a row for each user"),
    "SUB005": (5, "byte 4, 0xE9 is no UTF-8", "save the file as UTF-8"),
    "SUB006": (None, "the file is UTF-16", "save it as UTF-8 (Excel: CSV UTF-8)"),
    "SUB007": (
        None,
        "the file begins with a byte order mark",
        "save it as UTF-8 without BOM (pandas: encoding='utf-8')",
    ),
    "SUB008": (3, "a NUL byte stands in it", "write the file anew"),
    "SUB009": (
        1,
        "semicolons stand between fields, where commas should",
        "save it with commas (pandas: sep=',')",
    ),
    "SUB010": (
        None,
        "bare carriage returns, which end lines for some readers and for others not: 4",
        "end lines with LF or CR LF",
    ),
    "SUB011": (3, "a quote is opened and never closed", "close it, or drop it"),
    "SUB012": (
        None,
        "the last line has no end: the file may have been cut",
        "look at the last line, and write the file anew",
    ),
    "SUB013": (
        None,
        "the archive does not hold one file, but submission.csv, notes.txt",
        "pack the submission alone (a Mac adds __MACOSX: use zip -X on the command line)",
    ),
    "SUB014": (
        None,
        "the file unpacks to more than 16,777,216 bytes",
        "pack the submission alone, or give it as plain CSV",
    ),
    "SUB015": (
        None,
        "the file is damaged: the file ends before its end was marked",
        "write or pack it again",
    ),
    "SUB016": (None, "the file is a rar archive", "save it as CSV in UTF-8, plain, .gz or .zip"),
    "SUB017": (3, "text stands behind a closed quote", "double quotes within quotes"),
    "SUB101": (1, 'there is no column "prediction"', "name the columns customer_id,prediction"),
    "SUB102": (
        1,
        'nobody knows the column "note"',
        "drop it, or give it the right name: customer_id,prediction",
    ),
    "SUB103": (1, 'there are two columns "prediction"', "name each once"),
    "SUB104": (1, "the columns stand in another order", "write customer_id,prediction"),
    "SUB105": (1, 'spaces stand around the name " prediction"', "write customer_id,prediction"),
    "SUB106": (
        1,
        'the column "Customer_ID" is spelled differently',
        "write customer_id,prediction",
    ),
    "SUB107": (
        1,
        'the column "" is the index of a frame, or names its rows',
        "write it without (pandas: index=False, R: row.names=FALSE)",
    ),
    "SUB109": (
        1,
        'the first line is no header: "ann" is an id',
        "write a header that names each column: customer_id,prediction",
    ),
    "SUB111": (
        1,
        'the column "votes" holds numbers, which may order the rows of a user',
        'say what orders them: name it "score" (the highest first) or "rank" (the lowest first); '
        "harness validate, score and explain take --score-column votes, --rank-column votes or "
        "--row-order (as they stand) too",
    ),
    "SUB201": (None, "missing ids: 1, first bob", "write a row for each"),
    "SUB202": (
        4,
        '"zoe" is none of the ids that are asked for',
        "write the id as it is asked for; drop the row only if its user is not asked for",
    ),
    "SUB203": (4, '"bob" has a row already', "give each user one row"),
    "SUB204": (3, "the line has too few fields", "write customer_id,prediction"),
    "SUB205": (
        3,
        "the line has too many fields",
        "put one space between items",
    ),
    "SUB206": (3, "the line is blank", "drop it"),
    "SUB207": (3, 'spaces stand around "bob "', "write ids as they are"),
    "SUB208": (3, "the id is empty", "write the id of its user"),
    "SUB209": (
        3,
        "\"'bob'\" is damaged (leading zeros, .0, quotes, upper or lower case, encoding)",
        "write ids as text, as they are asked for",
    ),
    "SUB210": (
        2,
        '"ann" does not look like an id of this competition',
        "compare it with the sample submission",
    ),
    "SUB211": (4, 'the row of "bob" stands there again', "write it once"),
    "SUB212": (
        None,
        'none of the ids is asked for: found "yve", asked for "ann"',
        "check the file against its own competition, or write the ids that are asked for",
    ),
    "SUB213": (
        None,
        'none of the ids is asked for in this case: found "ANN", asked for "ann"',
        "write upper and lower case as they are asked for",
    ),
    "SUB301": (3, "the list is empty", "recommend something"),
    "SUB302": (3, "the list is longer than 12", "write the best 12; the others are not looked at"),
    "SUB303": (
        3,
        '"0706016003" stands in the list already',
        "write each item once: a repeat uses a position and hits nothing",
    ),
    "SUB304": (3, '"0999999999" is no item', "write ids of the catalogue"),
    "SUB305": (
        3,
        '"706016003" lost its leading zeros: ids have 10 digits',
        "write ids as text (pandas: dtype=str)",
    ),
    "SUB306": (3, '"0706016003.0" became a decimal', "write ids as text (pandas: dtype=str)"),
    "SUB307": (
        3,
        '"7.06016E+08" was rounded by a spreadsheet',
        "write the file anew from where ids are text",
    ),
    "SUB308": (
        3,
        '"nan" is a word for a missing value',
        "leave the list empty (pandas: fillna(''))",
    ),
    "SUB309": (
        3,
        '"0706016003,0706016001" holds a separator other than one space',
        "put one space between items",
    ),
    "SUB310": (
        3,
        "\"['0706016003',\" stands in brackets or quotes, as Python prints a list",
        "join the items: ' '.join(items)",
    ),
    "SUB311": (
        3,
        "more than one space stands between items, or any around them",
        "write one between items, and none around",
    ),
    "SUB312": (3, '"shirt" does not look like an item id', "write ids of the catalogue"),
    "SUB313": (
        3,
        '"second" is neither a rank (1, 2, 3 …) nor a score',
        "write ranks as 1, 2, 3 …, or scores as numbers with a point (1.5)",
    ),
    "SUB314": (
        3,
        '"0706016002" has the rank of another item of its list',
        "give each item of a list a rank of its own; of identical rows harness validate --fix OUT "
        "keeps one",
    ),
    "SUB315": (
        3,
        '"0706016002" has the score of another item of its list: ties are ordered by item id',
        "write ranks, or scores that differ",
    ),
    "SUB316": (
        3,
        'no item has the rank before that of "0706016002": the position stays empty',
        "write ranks 1, 2, 3 …",
    ),
    "SUB401": (None, "all 3 lists are the same", "look at what makes them"),
    "SUB404": (None, "no list is longer than one item", "look at what separates items"),
}


def test_every_example_is_here() -> None:
    assert set(SAID) == set(RULES) - WITHOUT_EXAMPLE


@pytest.mark.parametrize("code", SAID)
def test_it_is_said_so(code: str, tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    path.write_bytes(EXAMPLES[code])
    (problem,) = (p for p in validate(path, against(tmp_path, code)).problems if p.code == code)
    assert (problem.line, problem.message, problem.hint) == SAID[code]


def test_files_that_are_none(tmp_path: Path) -> None:
    found = {
        p.code: p.message
        for name in ("gone.csv", ".", "a" * 300, "nul\0.csv")
        for p in validate(tmp_path / name, against(tmp_path)).problems
    }
    assert found == {"SUB001": "there is no such file", "SUB002": "is a folder"}


def test_a_column_that_steers_a_terminal_is_shown_without(tmp_path: Path) -> None:
    path = tmp_path / "lists.csv"
    path.write_text("user,\x1b[2J,other\nann,,\n")
    (empty,) = (p for p in validate(path, Against()).problems if p.code == "SUB301")
    (strange,) = (p for p in validate(path, Against()).problems if p.code == "SUB102")
    assert empty.column == "�[2J"
    assert strange.hint == "drop it, or give it the right name: user,�[2J"
