"""Every rule of submissions: what is wrong, how to mend it, and a file that shows it.

A rule's whole story stands in its declaration; messages, ``harness list checks`` and
docs/submission-checks.md read it. SUB0 and SUB1 are of files and headers, SUB2 of rows and users'
ids, SUB3 of lists and items, SUB4 of what all lists have in common.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from harness.delimited import _delimited
from harness.submission import _kernels as faults

Severity = Literal["error", "warning"]
Unit = Literal["", "ids", "lists", "items", "lines"]
Column = Literal["", "user", "items"]


@dataclass(frozen=True)
class Rule:
    """One thing that may be wrong."""

    code: str
    """``SUB`` and three digits; it never changes its meaning."""
    name: str
    says: str
    """What is wrong, of a value, a count or a detail: a text for `str.format`."""
    hint: str
    """How to mend it."""
    severity: Severity = "error"
    """``error``: a platform refuses it, or scores wrong in silence; ``warning``: worth a look."""
    unit: Unit = ""
    """What is counted: ``ids``, ``lists``, ``items`` or ``lines``; empty where it is the file."""
    column: Column = ""
    """The column it is in: ``user``, ``items``, or none."""
    fault: int | str | None = None
    """What the scan of lines counts it as, or why a file is refused."""
    fixed: bool = False
    """Whether ``--fix`` mends it."""
    of_lists: bool = False
    """Whether it does so only where a row holds a list."""
    blocks: bool = False
    """Whether ``--fix`` writes nothing as long as it is there."""
    example: bytes | None = None
    """A bad file, beside `GOOD`: shown in the documents, and run by the tests. None where no
    text of a few rows shows it."""


id_rule = partial(Rule, unit="ids", column="user")
list_rule = partial(Rule, unit="lists", column="items")
item_rule = partial(Rule, unit="items", column="items")
line_rule = partial(Rule, unit="lines")
blocking_rule = partial(Rule, blocks=True)


SAMPLE = "customer_id,prediction\nann,\nbob,\ncem,\n"
ITEMS = "article_id,name\n0706016001,shirt\n0706016002,shoe\n0706016003,hat\n"
"""The sample submission and the table of items that examples are checked against."""
GOOD = "customer_id,prediction\nann,0706016001 0706016002\nbob,0706016003\ncem,0706016002\n"
"""A file that keeps every rule."""
BY_RANK = """customer_id,article_id,rank
ann,0706016001,1
ann,0706016002,2
bob,0706016003,1
cem,0706016002,1
"""
"""The same lists with a row an item."""


def bob(row: str) -> bytes:
    """Return the good file with another row of bob's."""
    return GOOD.replace("bob,0706016003", row).encode()


def zipped(*names: str) -> bytes:
    """Return an archive that holds the good file under each of these names."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), GOOD)  # the same bytes at any time
    return packed.getvalue()


_ROWS = gzip.compress(b"cem,0706016002\n" * (1 << 14), mtime=0)
"""A quarter of a megabyte, packed: made at import, so in a millisecond."""

_ALL = (
    blocking_rule(
        "SUB001",
        "missing",
        "the file does not exist",
        "check the path",
        fault="missing",
    ),
    blocking_rule(
        "SUB002",
        "folder",
        "this is a folder",
        "name the file in it",
        fault="folder",
    ),
    blocking_rule(
        "SUB003",
        "empty",
        "the file is empty",
        "write a header and one row per user",
        example=b"",
        fault="empty",
    ),
    Rule(
        "SUB004",
        "header only",
        "there are no rows after the header",
        "write one row per user",
        example=b"customer_id,prediction\n",
    ),
    line_rule(
        "SUB005",
        "not UTF-8",
        "{plain} is not UTF-8",
        "save the file as UTF-8",
        example=bob("bob,0706016003") + b"caf\xe9,0706016001\n",
    ),
    Rule(
        "SUB006",
        "UTF-16",
        "the file is UTF-16",
        "save it as UTF-8 (Excel: CSV UTF-8)",
        fixed=True,
        example=GOOD.encode("utf-16"),
    ),
    Rule(
        "SUB007",
        "byte order mark",
        "the file starts with a byte order mark",
        "save it as UTF-8 without BOM (pandas: encoding='utf-8')",
        severity="warning",
        fixed=True,
        example=("\ufeff" + GOOD).encode(),
    ),
    line_rule(
        "SUB008",
        "NUL",
        "the line has a NUL byte",
        "write the file again",
        example=bob("bob\0,0706016003"),
    ),
    Rule(
        "SUB009",
        "wrong separator",
        "{value} separate the fields, but commas should",
        "save it with commas (pandas: sep=',')",
        fixed=True,
        example=GOOD.replace(",", ";").encode(),
    ),
    Rule(
        "SUB010",
        "lone CR",
        "bare carriage returns, which end a line for some readers only: {count}",
        "end lines with LF or CR LF",
        fixed=True,
        example=GOOD.replace("\n", "\r").encode(),
    ),
    line_rule(
        "SUB011",
        "unclosed quote",
        "a quote is opened but never closed",
        "close it, or remove it",
        example=bob('bob,"0706016003'),
    ),
    Rule(
        "SUB012",
        "no newline at the end",
        "the last line has no line end, so the file may be cut off",
        "check the last line, and write the file again",
        severity="warning",
        fixed=True,
        example=GOOD.rstrip("\n").encode(),
    ),
    blocking_rule(
        "SUB013",
        "members",
        "the archive must have one file, but it has {value}",
        "pack only the submission (a Mac adds __MACOSX: use zip -X on the command line)",
        example=zipped("submission.csv", "notes.txt"),
        fault="members",
    ),
    blocking_rule(
        "SUB014",
        "too large",
        "the file unpacks to more than {value}",
        "pack only the submission, or use plain CSV",
        example=gzip.compress(GOOD.encode(), mtime=0) + _ROWS * 80,
        fault="large",
    ),
    blocking_rule(
        "SUB015",
        "corrupt file",
        "the file is damaged: {value}",
        "write or pack it again",
        example=gzip.compress(GOOD.encode(), mtime=0)[:-9],
        fault="damaged",
    ),
    blocking_rule(
        "SUB016",
        "another kind",
        "the file is {value}",
        "save it as CSV in UTF-8, plain, .gz or .zip",
        example=b"Rar!\x1a\x07\x01\x00",
        fault="kind",
    ),
    line_rule(
        "SUB017",
        "text after a quote",
        "there is text after a closing quote",
        "write a quote inside quotes twice",
        example=bob('"bob"s,0706016003'),
    ),
    blocking_rule(
        "SUB018",
        "forbidden",
        "the file cannot be read",
        "change its permissions",
        fault="closed",
    ),
    blocking_rule(
        "SUB019",
        "endless line",
        "a line is longer than {value}",
        "check the line ends",
        fault="endless",
    ),
    Rule(
        "SUB020",
        "wrong file name",
        "the name says {value}",
        "use the right ending: .csv, .csv.gz, .zip, .json or .parquet",
        severity="warning",
    ),
    blocking_rule(
        "SUB021",
        "broken JSON",
        "cannot be read as JSON: {value}",
        'write one object per line, {{"user": "ann", "items": ["a", "b"]}}, or one object, '
        '{{"ann": ["a", "b"], "bob": ["c"]}}',
        fault="json",
        example=b'{"customer_id": "ann", "prediction": ["0706016001"]}\n'
        b'{"customer_id": "bob", "prediction": ["0706016003"]\n',
    ),
    blocking_rule(
        "SUB101",
        "missing column",
        'there is no column "{value}"',
        "name the columns {allowed}",
        example=GOOD.replace("prediction", "list").encode(),
    ),
    Rule(
        "SUB102",
        "unknown column",
        'the column "{value}" is unknown{near}',
        "remove it, or use the right name: {allowed}",
        fixed=True,
        example=b"customer_id,prediction,note\nann,0706016001 0706016002,x\n",
    ),
    blocking_rule(
        "SUB103",
        "duplicate column",
        'there are two columns "{value}"',
        "name each once",
        example=b"customer_id,prediction,prediction\nann,0706016001 0706016002,\n",
    ),
    Rule(
        "SUB104",
        "order of columns",
        "the columns are in another order",
        "write {allowed}",
        severity="warning",
        fixed=True,
        example=b"prediction,customer_id\n0706016001 0706016002,ann\n",
    ),
    Rule(
        "SUB105",
        "padded column",
        'there are spaces around the name "{value}"',
        "write {allowed}",
        fixed=True,
        example=GOOD.replace(",prediction", ", prediction").encode(),
    ),
    Rule(
        "SUB106",
        "case of a column",
        'the column "{value}" is spelled differently',
        "write {allowed}",
        fixed=True,
        example=GOOD.replace("customer_id", "Customer_ID").encode(),
    ),
    Rule(
        "SUB107",
        "index column",
        'the column "{value}" is the index of a frame, or its row names',
        "write it without (pandas: index=False, R: row.names=FALSE)",
        fixed=True,
        example=b",customer_id,prediction\n0,ann,0706016001 0706016002\n",
    ),
    blocking_rule(
        "SUB108",
        "type of a column",
        "the column {value} has a type that is not allowed",
        "write ids as text (or as a list of text, with one row per user), and ranks as numbers",
    ),
    blocking_rule(
        "SUB109",
        "no header",
        'the first line is not a header: "{value}" is an id',
        "write a header that names each column: {allowed}",
        fault="header",
        example=b"ann,0706016001 0706016002\nbob,0706016003\ncem,0706016002\n",
    ),
    Rule(
        "SUB110",
        "another form",
        "this is {value}; harness can read it, but the competition requires CSV with one row per "
        "user",
        "write it as CSV for an upload",
        severity="warning",
    ),
    blocking_rule(
        "SUB111",
        "order not clear",
        'the column "{value}" has numbers, which may order the rows of a user',
        (
            'name it "score" (highest first) or "rank" (lowest first); or use --score-column '
            "{quoted}, --rank-column {quoted} or --row-order (the order of the rows)"
        ),
        example=BY_RANK.replace("article_id,rank", "prediction,votes").encode(),
    ),
    blocking_rule(
        "SUB112",
        "columns not clear",
        "several columns may hold the users or the items: {value}",
        "write a header if there is none, or name the columns: --user-column and --item-column "
        "(Python: user_column=, item_column=)",
        fault="columns",
        example=GOOD.replace("customer_id,prediction", "a,b,c").replace("\n", ",x\n").encode(),
    ),
    Rule(
        "SUB113",
        "extra column",
        'the column "{value}" is not read',
        "remove it for an upload",
        severity="warning",
        fixed=True,
    ),
    blocking_rule(
        "SUB114",
        "several models",
        'a user has rows with different values in the column "{value}": several lists of one user',
        "write one file per value; if all rows are one list, remove the column",
        example=b"model,customer_id,prediction\na,ann,0706016001 0706016002\nb,ann,0706016002\n"
        b"a,bob,0706016003\na,cem,0706016002\n",
    ),
    Rule(
        "SUB115",
        "rank against score",
        'the column "{value}" gives another order than the column that harness uses; rows: {count}',
        "remove the wrong one, or use this one: --rank-column or --score-column",
        severity="warning",
    ),
    Rule(
        "SUB116",
        "taken for scores",
        'harness uses the column "{value}" as scores, highest first',
        'name it "score"; if it holds something else: --rank-column, --score-column or --row-order',
        severity="warning",
    ),
    Rule(
        "SUB201",
        "missing ids",
        "missing ids: {count}, first {values}",
        "write one row for each",
        column="user",
        fixed=True,
        of_lists=True,
        example=GOOD.replace("bob,0706016003\n", "").encode(),
    ),
    id_rule(
        "SUB202",
        "unknown ids",
        "{value} is not one of the required ids",
        "write the id as required; remove the row only if its user is not required",
        fault=faults.UNKNOWN_ID,
        example=bob("bob,0706016003\nzoe,0706016001"),
    ),
    id_rule(
        "SUB203",
        "duplicate ids",
        "{value} has a row already",
        "give each user one row",
        example=bob("bob,0706016003\nbob,0706016001"),
    ),
    line_rule(
        "SUB204",
        "too few fields",
        "the line has too few fields",
        "write {allowed}",
        fault=_delimited.TOO_FEW,
        example=bob("bob"),
    ),
    line_rule(
        "SUB205",
        "too many fields",
        "the line has too many fields",
        "{apart}",
        fault=_delimited.TOO_MANY,
        example=bob("bob,0706016003,0706016001"),
    ),
    line_rule(
        "SUB206",
        "blank lines",
        "the line is blank",
        "remove it",
        severity="warning",
        fault=_delimited.BLANK,
        fixed=True,
        example=bob("\nbob,0706016003"),
    ),
    id_rule(
        "SUB207",
        "padded ids",
        "there are spaces around {value}",
        "write ids without spaces{unless}",
        fault=faults.PADDED_ID,
        fixed=True,
        example=bob("bob ,0706016003"),
    ),
    id_rule(
        "SUB208",
        "empty ids",
        "the id is empty",
        "write the id of the user",
        fault=faults.NO_ID,
        example=bob(",0706016003"),
    ),
    id_rule(
        "SUB209",
        "damaged ids",
        "{value} is damaged (zeros, .0, exponent, quotes, case, encoding or invisible characters)",
        "write ids as text, as required{unless}",
        fault=faults.MANGLED_ID,
        fixed=True,
        example=bob("'bob',0706016003"),
    ),
    id_rule(
        "SUB210",
        "odd ids",
        "{value} does not look like an id of this competition",
        "compare it with the required ids",
        severity="warning",
        fault=faults.ODD_ID,
        example=bob("bob,0706016003\nA3,0706016001"),
    ),
    id_rule(
        "SUB211",
        "repeated rows",
        "the row of {value} is repeated",
        "write it once",
        fixed=True,
        example=bob("bob,0706016003\nbob,0706016003"),
    ),
    blocking_rule(
        "SUB212",
        "no known id",
        "none of the ids is known: {value}",
        "check that this is the right competition, or write the required ids",
        example=b"customer_id,prediction\nyve,0706016001 0706016002\nzoe,0706016003\n",
    ),
    Rule(
        "SUB213",
        "case of all ids",
        "the ids differ in upper and lower case: {value}",
        "write upper and lower case as required",
        fixed=True,
        example=b"customer_id,prediction\nANN,0706016001 0706016002\nBOB,0706016003\n",
    ),
    Rule(
        "SUB214",
        "ids beyond the sample",
        ("users of the evaluation set or solution that are not required: {count}, first {values}"),
        (
            "they count here, but a host that requires only the sample's ids would refuse them; "
            "for an upload, remove these rows, or write the file with harness submit --all-events"
        ),
        severity="warning",
        column="user",
    ),
    id_rule(
        "SUB215",
        "look-alike ids",
        "{value} is unknown and looks like an id that also has a row",
        "if both are one user, write one row with the known id; else leave them",
        severity="warning",
        example=bob("bob,0706016003\nBob,0706016001"),
    ),
    list_rule(
        "SUB301",
        "empty lists",
        "the list is empty",
        "recommend at least one item",
        severity="warning",
        fault=faults.EMPTY,
        example=bob("bob,"),
    ),
    list_rule(
        "SUB302",
        "too long",
        "the list is longer than {k}",
        "write the best {k}; harness ignores the others",
        severity="warning",
        fault=faults.LONG,
        fixed=True,
        of_lists=True,
        example=bob("bob," + "0706016003 " * 12 + "0706016003"),
    ),
    item_rule(
        "SUB303",
        "repeats",
        "{value} is already in the list",
        "write each item once: a repeat uses a position but cannot hit",
        severity="warning",
        fault=faults.REPEATED,
        fixed=True,
        of_lists=True,
        example=bob("bob,0706016003 0706016003"),
    ),
    item_rule(
        "SUB304",
        "unknown items",
        "{value} is not an item",
        "write ids from the catalogue",
        fault=faults.UNKNOWN_ITEM,
        example=bob("bob,0999999999"),
    ),
    item_rule(
        "SUB305",
        "lost zeros",
        "{value} lost its leading zeros{digits}",
        "write ids as text (pandas: dtype=str)",
        fault=faults.ZEROS_LOST,
        fixed=True,
        example=bob("bob,706016003"),
    ),
    item_rule(
        "SUB306",
        "decimal ids",
        "{value} became a decimal",
        "write ids as text (pandas: dtype=str)",
        fault=faults.DECIMAL,
        fixed=True,
        example=bob("bob,0706016003.0"),
    ),
    item_rule(
        "SUB307",
        "exponents",
        "{value} was rounded by a spreadsheet",
        "write the file again from data with ids as text",
        fault=faults.EXPONENT,
        example=bob("bob,7.06016E+08"),
    ),
    item_rule(
        "SUB308",
        "missing values",
        "{value} means a missing value",
        "leave the list empty (pandas: fillna(''))",
        fault=faults.LITERAL,
        fixed=True,
        example=bob("bob,nan"),
    ),
    item_rule(
        "SUB309",
        "wrong item separator",
        "{value} holds a separator other than {between}",
        "{between_items}",
        fault=faults.SEPARATOR,
        fixed=True,
        of_lists=True,
        example=bob('bob,"0706016003,0706016001"'),
    ),
    item_rule(
        "SUB310",
        "brackets",
        "{value} is in brackets or quotes, as Python prints a list",
        "{joined}",
        fault=faults.BRACKETS,
        fixed=True,
        example=bob("bob,\"['0706016003', '0706016001']\""),
    ),
    list_rule(
        "SUB311",
        "extra spaces",
        "there are extra spaces between items or around the list",
        "write one space between items, and none around the list",
        severity="warning",
        fault=faults.SPACES,
        fixed=True,
        example=bob("bob,0706016003  0706016001"),
    ),
    item_rule(
        "SUB312",
        "wrong form",
        "{value} does not look like an item id",
        "write ids from the catalogue",
        fault=faults.MISSHAPEN,
        example=bob("bob,shirt"),
    ),
    Rule(
        "SUB313",
        "not a number",
        "{value} is neither a rank (1, 2, 3 …) nor a score",
        "write ranks as 1, 2, 3 …, or scores as numbers with a point (1.5)",
        unit="items",
        example=BY_RANK.replace(",2\n", ",second\n").encode(),
    ),
    item_rule(
        "SUB314",
        "one rank twice",
        "{value} has the rank of another item of its list",
        "give each item of a list its own rank; of identical rows, --fix keeps one",
        example=BY_RANK.replace(",2\n", ",1\n").encode(),
    ),
    item_rule(
        "SUB315",
        "tied scores",
        "{value} has the same score as another item of its list; harness orders ties by item id",
        "write ranks, or different scores",
        severity="warning",
        example=BY_RANK.replace("rank", "score").replace(",2\n", ",1\n").encode(),
    ),
    item_rule(
        "SUB316",
        "gap in ranks",
        "the rank before {value} is missing, so its position is empty",
        "write ranks 1, 2, 3 …",
        severity="warning",
        example=BY_RANK.replace(",2\n", ",3\n").encode(),
    ),
    item_rule(
        "SUB317",
        "another spelling",
        "{value} is an item in another spelling (case, encoding, added zeros or invisible "
        "characters)",
        "write ids as in the catalogue, in UTF-8",
        fault=faults.RESPELLED,
        fixed=True,
        example=bob("bob,0706016003\u200b"),
    ),
    Rule(
        "SUB318",
        "lost zeros in the data",
        "the item ids of the config's data lost their leading zero: {value}",
        "set [data] restore_zeros = true; an upload with such ids would hit nothing",
        severity="warning",
    ),
    item_rule(
        "SUB319",
        "scattered rows",
        "the row of {value} is apart from the other rows of its user, and the order of rows is "
        "the order of the list",
        'add a column "rank"; if the order of rows is right, use --row-order (Python: '
        "row_order=True)",
        severity="warning",
    ),
    item_rule(
        "SUB320",
        "look-alike items",
        "{value} is an unknown item that looks like a known one",
        "write ids the same way in both files, as text (pandas: dtype=str); if both are items, "
        'use --ids exact (Python: ids="exact")',
        severity="warning",
        fault=faults.ALIKE,
    ),
    Rule(
        "SUB321",
        "rows that may not be true",
        "every row of the solution counts as true, but one column may mean that some are not: "
        "{values}",
        "keep only the rows of true items, and remove the column",
        severity="warning",
    ),
    Rule(
        "SUB322",
        "missing values in the solution",
        "some true items of the solution look like missing values, but count as items (an empty "
        "cell means no true item): {values}",
        "if there is no item, leave the cell empty (pandas: fillna('')), or remove the row if "
        "there is one row per item; if it is an item, name a table of items with --items "
        "(Python: items=)",
        severity="warning",
    ),
    Rule(
        "SUB323",
        "look-alike ids in the solution",
        "some ids of the solution look alike, but count as different: {values}",
        "write each id in one way, as text (pandas: dtype=str); if all are different ids, use "
        '--ids exact (Python: ids="exact")',
        severity="warning",
    ),
    Rule(
        "SUB401",
        "one list for all",
        "all {count} lists are the same",
        "check the code that makes them",
        severity="warning",
        example=(
            b"customer_id,prediction\n"
            b"ann,0706016001 0706016002\nbob,0706016001 0706016002\ncem,0706016001 0706016002\n"
        ),
    ),
    Rule(
        "SUB402",
        "few hits",
        "evaluated users with a hit: {value}",
        "check that ids, users and dates are those of the evaluation set",
        severity="warning",
    ),
    Rule(
        "SUB403",
        "already bought",
        "positions with an item that the user already has in training: {value}",
        "recommend new items, unless users buy the same item again",
        severity="warning",
    ),
    Rule(
        "SUB404",
        "one item",
        "no list has more than one item",
        "check the separator of items",
        severity="warning",
        example=b"customer_id,prediction\nann,0706016001\nbob,0706016003\ncem,0706016002\n",
    ),
)
RULES: Mapping[str, Rule] = {rule.code: rule for rule in _ALL}
OF_FAULT: Mapping[int | str, str] = {
    rule.fault: rule.code for rule in RULES.values() if rule.fault is not None
}
"""The code of the rule that each fault belongs to, of a line or of a file that is refused."""
EXAMPLES: Mapping[str, bytes] = {
    rule.code: rule.example for rule in RULES.values() if rule.example is not None
}
"""The bad file of each rule that has one, by code."""
