"""Every rule in words: line, count, message and cure of its example, and what else is there."""

from pathlib import Path

import pytest
from checking import against, checked

from harness.delimited import blocks
from harness.submission.expected import Against
from harness.submission.findings import Findings
from harness.submission.format import FORMATS
from harness.submission.problems import problems
from harness.submission.rules import EXAMPLES, RULES
from harness.submission.rules.rule import GOOD
from harness.submission.validate import validate

WORDS = {
    "SUB003": "the file is empty; write a header and a row for each user",
    "SUB004": "there are no rows behind the header; write a row for each user",
    "SUB005": "line 5: byte 4, 0xE9 is no UTF-8; save the file as UTF-8",
    "SUB006": "the file is UTF-16; save it as UTF-8 (Excel: CSV UTF-8)",
    "SUB007": (
        "the file begins with a byte order mark; save it as UTF-8 without BOM (pandas: "
        "encoding='utf-8')"
    ),
    "SUB008": "line 3: a NUL byte stands in it; write the file anew",
    "SUB009": (
        "line 1: semicolons stand between fields, where commas should; save it with commas "
        "(pandas: sep=',')"
    ),
    "SUB010": (
        "bare carriage returns, which end lines for some readers and for others not: 4; end "
        "lines with LF or CR LF"
    ),
    "SUB011": "line 3: a quote is opened and never closed; close it, or drop it",
    "SUB012": (
        "the last line has no end: the file may have been cut; look at the last line, and "
        "write the file anew"
    ),
    "SUB013": (
        "the archive does not hold one file, but submission.csv, notes.txt; pack the "
        "submission alone (a Mac adds __MACOSX: use zip -X on the command line)"
    ),
    "SUB014": (
        "the file unpacks to more than 16,777,216 bytes; pack the submission alone, or give "
        "it as plain CSV"
    ),
    "SUB015": (
        "the file is damaged: the file ends before its end was marked; write or pack it again"
    ),
    "SUB016": "the file is a rar archive; save it as CSV in UTF-8, plain, .gz or .zip",
    "SUB017": "line 3: text stands behind a closed quote; double quotes within quotes",
    "SUB101": 'line 1: there is no column "prediction"; name the columns customer_id,prediction',
    "SUB102": (
        'line 1: nobody knows the column "note"; drop it, or give it the right name: '
        "customer_id,prediction"
    ),
    "SUB103": 'line 1: there are two columns "prediction"; name each once',
    "SUB104": "line 1: the columns stand in another order; write customer_id,prediction",
    "SUB105": 'line 1: spaces stand around the name " prediction"; write customer_id,prediction',
    "SUB106": (
        'line 1: the column "Customer_ID" is spelled differently; write customer_id,prediction'
    ),
    "SUB107": (
        'line 1: the column "" is the index of a frame, or names its rows; write it without '
        "(pandas: index=False, R: row.names=FALSE)"
    ),
    "SUB109": (
        'line 1: the first line is no header: "ann" is an id; write a header that names each '
        "column: customer_id,prediction"
    ),
    "SUB111": (
        'line 1: the column "votes" holds numbers, which may order the rows of a user; say '
        'what orders them: name it "score" (the highest first) or "rank" (the lowest first); '
        "harness validate, score and explain take --score-column votes, --rank-column votes "
        "or --row-order (as they stand) too"
    ),
    "SUB201": "customer_id: missing ids: 1, first bob; write a row for each",
    "SUB202": (
        'line 4, customer_id: "zoe" is none of the ids that are asked for; write the id as it'
        " is asked for; drop the row only if its user is not asked for"
    ),
    "SUB203": 'line 4, customer_id: "bob" has a row already; give each user one row',
    "SUB204": "line 3: the line has too few fields; write customer_id,prediction",
    "SUB205": "line 3: the line has too many fields; put one space between items",
    "SUB206": "line 3: the line is blank; drop it",
    "SUB207": 'line 3, customer_id: spaces stand around "bob "; write ids as they are',
    "SUB208": "line 3, customer_id: the id is empty; write the id of its user",
    "SUB209": (
        "line 3, customer_id: \"'bob'\" is damaged (leading zeros, .0, quotes, upper or lower "
        "case, encoding); write ids as text, as they are asked for"
    ),
    "SUB210": (
        'line 2, customer_id: "ann" does not look like an id of this competition; compare it '
        "with the sample submission"
    ),
    "SUB211": 'line 4, customer_id: the row of "bob" stands there again; write it once',
    "SUB212": (
        'none of the ids is asked for: found "yve", asked for "ann"; check the file against '
        "its own competition, or write the ids that are asked for"
    ),
    "SUB213": (
        'none of the ids is asked for in this case: found "ANN", asked for "ann"; write upper'
        " and lower case as they are asked for"
    ),
    "SUB301": "line 3, prediction: the list is empty; recommend something",
    "SUB302": (
        "line 3, prediction: the list is longer than 12; write the best 12; the others are "
        "not looked at"
    ),
    "SUB303": (
        'line 3, prediction: "0706016003" stands in the list already; write each item once: a'
        " repeat uses a position and hits nothing"
    ),
    "SUB304": 'line 3, prediction: "0999999999" is no item; write ids of the catalogue',
    "SUB305": (
        'line 3, prediction: "706016003" lost its leading zeros: ids have 10 digits; write '
        "ids as text (pandas: dtype=str)"
    ),
    "SUB306": (
        'line 3, prediction: "0706016003.0" became a decimal; write ids as text (pandas: dtype=str)'
    ),
    "SUB307": (
        'line 3, prediction: "7.06016E+08" was rounded by a spreadsheet; write the file anew '
        "from where ids are text"
    ),
    "SUB308": (
        'line 3, prediction: "nan" is a word for a missing value; leave the list empty '
        "(pandas: fillna(''))"
    ),
    "SUB309": (
        'line 3, prediction: "0706016003,0706016001" holds a separator other than one space; '
        "put one space between items"
    ),
    "SUB310": (
        "line 3, prediction: \"['0706016003',\" stands in brackets or quotes, as Python prints "
        "a list; join the items: ' '.join(items)"
    ),
    "SUB311": (
        "line 3, prediction: more than one space stands between items, or any around them; "
        "write one between items, and none around"
    ),
    "SUB312": (
        'line 3, prediction: "shirt" does not look like an item id; write ids of the catalogue'
    ),
    "SUB313": (
        'line 3: "second" is neither a rank (1, 2, 3 …) nor a score; write ranks as 1, 2, 3 '
        "…, or scores as numbers with a point (1.5)"
    ),
    "SUB314": (
        'line 3, article_id: "0706016002" has the rank of another item of its list; give each'
        " item of a list a rank of its own; of identical rows harness validate --fix OUT "
        "keeps one"
    ),
    "SUB315": (
        'line 3, article_id: "0706016002" has the score of another item of its list: ties are'
        " ordered by item id; write ranks, or scores that differ"
    ),
    "SUB316": (
        'line 3, article_id: no item has the rank before that of "0706016002": the position '
        "stays empty; write ranks 1, 2, 3 …"
    ),
    "SUB401": "all 3 lists are the same; look at what makes them",
    "SUB404": "no list is longer than one item; look at what separates items",
}
"""Where, what and how to mend it."""
COUNTS = {"SUB010": 4, "SUB210": 4, "SUB310": 2, "SUB401": 3, "SUB404": 3}
"""Of what an example has more than one."""
BESIDE = {
    "SUB020": "SUB014 SUB015",
    "SUB101": "SUB109",
    "SUB102": "SUB101 SUB109",
    "SUB110": "SUB313 SUB314 SUB315 SUB316",
    "SUB201": "SUB004 SUB008 SUB017 SUB102 SUB103 SUB104 SUB107 SUB208 SUB212 SUB213",
    "SUB202": "SUB005 SUB008 SUB017 SUB212 SUB213",
    "SUB203": "SUB111",
    "SUB210": "SUB312",
    "SUB303": "SUB302",
    "SUB310": "SUB011",
    "SUB404": "SUB111",
}
"""What is found beside the fault that an example shows, with the examples."""
NOTED = {
    "SUB001": "there is no such file; check the path",
    "SUB002": "is a folder; name the file in it",
    "SUB018": "the file may not be read; change its permissions",
    "SUB019": "a line is longer than x; look at what ends the lines",
    "SUB020": "the name says x; name it after what it is: .csv, .csv.gz, .zip or .parquet",
    "SUB108": (
        "the column x is of a type that has no place there; write ids as text, a list of them "
        "where a row is a user's, and ranks as numbers"
    ),
    "SUB110": (
        "it can be read, but CSV with a row a user is asked for, and this is x; write it so for "
        "an upload"
    ),
    "SUB214": (
        "customer_id: users of the evaluation set or solution, 1 beyond the ids that must be "
        "there: first x; they count here; a host that asks for the sample's ids alone would "
        "refuse them: for an upload drop the rows, or write it with harness submit --all-events"
    ),
    "SUB317": (
        'prediction: "x" is an item in upper or lower case, or in another encoding; write ids as '
        "the catalogue does, in UTF-8"
    ),
    "SUB318": (
        "the config reads item ids that lost their leading zero: x; set restore_zeros = true "
        "under [data]; an upload with such ids would hit nothing"
    ),
    "SUB319": (
        'prediction: the row of "x" stands apart from others of its user, whose list is the order'
        ' of rows; add a column "rank"; where rows stand in order, say --row-order (Python: '
        "row_order=True)"
    ),
    "SUB402": (
        "of the evaluated users, x have a hit; look at whether ids, users and the week are those "
        "of the evaluation set"
    ),
    "SUB403": (
        "of all positions, x hold what the user has in training already; recommend something new,"
        " unless people buy again"
    ),
}
"""Of rules that no text of three rows shows: what is said of the value x."""


def test_every_rule_is_here() -> None:
    assert set(WORDS) == set(EXAMPLES)
    assert set(WORDS) | set(NOTED) == set(RULES)


SIZES = [(code, size) for code in WORDS for size in (64, 1 << 22) if code != "SUB014" or size > 64]


@pytest.mark.parametrize(("code", "size"), SIZES)
def test_an_example_has_these_words(
    tmp_path: Path, code: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks of 64 bytes and in one; the file of 16 megabytes in one alone."""
    monkeypatch.setattr(blocks, "SIZE", size)
    problems_ = checked(tmp_path, EXAMPLES[code], against(tmp_path, code)).problems
    faults = {p.code: (f"{p.where()}{p.message}; {p.hint}", p.count) for p in problems_}
    assert faults.pop(code) == (WORDS[code], COUNTS.get(code, 1))
    assert set(faults) == {beside for beside, examples in BESIDE.items() if code in examples}


@pytest.mark.parametrize("code", NOTED)
def test_what_is_noted_has_these_words(code: str) -> None:
    findings = Findings()
    findings.note(code, "x")
    (problem,) = problems(findings, FORMATS["hm"], False, True)
    assert f"{problem.where()}{problem.message}; {problem.hint}" == NOTED[code]


def test_files_that_are_none(tmp_path: Path) -> None:
    names = ("gone.csv", ".", "a" * 300, "nul\0.csv")
    results = [validate(tmp_path / name, against(tmp_path)) for name in names]
    assert [[p.code for p in result.problems] for result in results] == [
        ["SUB001"],
        ["SUB002"],
        ["SUB001"],
        ["SUB001"],
    ]


def test_a_column_by_nearly_its_name(tmp_path: Path) -> None:
    """Only where the column that may be meant is not there as well."""
    near = checked(tmp_path, GOOD.replace("prediction", "predictions"))
    both = checked(tmp_path, "customer_id,prediction,predictions\nann,,\nbob,,\n")
    assert [[p.message for p in r.problems if p.code == "SUB102"] for r in (near, both)] == [
        ['nobody knows the column "predictions"; did you mean "prediction"?'],
        ['nobody knows the column "predictions"'],
    ]


def test_a_column_that_steers_a_terminal_is_shown_without(tmp_path: Path) -> None:
    faults = checked(tmp_path, "user,\x1b[2J,other\nann,,\n", Against()).problems
    (empty,) = (p for p in faults if p.code == "SUB301")
    (strange,) = (p for p in faults if p.code == "SUB102")
    assert empty.column == "�[2J"
    assert strange.hint == "drop it, or give it the right name: user,�[2J"
