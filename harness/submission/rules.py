"""What is looked at in a submission: every rule with its code, how bad it is, and how to mend it.

The one place for these facts: messages, ``harness list checks`` and docs/submission-checks.md read
it. Codes never change their meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from harness.submission import faults

Severity = Literal["error", "warning"]
Unit = Literal["", "ids", "lists", "items", "lines"]
Column = Literal["", "user", "items"]


@dataclass(frozen=True)
class Check:
    """One thing that may be wrong.

    Attributes
    ----------
    says : str
        What is wrong, of a value, a count or a detail: a text for `str.format`.
    hint : str
        How to mend it.
    of : str
        What is counted: ``ids``, ``lists``, ``items`` or ``lines``; empty where it is the file.
    column : str
        The column it is in: ``user``, ``items``, or none.
    fixed : bool
        Whether ``--fix`` mends it.
    of_lists : bool
        Whether it does so only where a row holds a list.
    blocks : bool
        Whether ``--fix`` writes nothing as long as it is there.
    fault : int, optional
        What the scan of lines counts it as.
    """

    name: str
    severity: Severity
    says: str
    hint: str
    of: Unit = ""
    column: Column = ""
    fixed: bool = False
    fault: int | None = None
    of_lists: bool = False
    blocks: bool = False


def file(
    name: str,
    says: str,
    hint: str,
    severity: Severity = "error",
    fixed: bool = False,
    blocks: bool = False,
) -> Check:
    """Return a check of the whole file."""
    return Check(name, severity, says, hint, fixed=fixed, blocks=blocks)


def of(of: Unit, column: Column = "") -> Callable[..., Check]:
    """Return what makes checks of one unit."""

    def check(
        name: str,
        fault: int | None,
        says: str,
        hint: str,
        severity: Severity = "error",
        fixed: bool = False,
        of_lists: bool = False,
    ) -> Check:
        return Check(name, severity, says, hint, of, column, fixed, fault, of_lists)

    return check


_row, _id = of("lines"), of("ids", "user")
_list, _item, _rank = of("lists", "items"), of("items", "items"), of("items")

CHECKS: Mapping[str, Check] = {
    "SUB001": file("missing", "there is no such file", "check the path", blocks=True),
    "SUB002": file("folder", "is a folder", "name the file in it", blocks=True),
    "SUB003": file(
        "empty", "the file is empty", "write a header and a row for each user", blocks=True
    ),
    "SUB004": file(
        "header only", "there are no rows behind the header", "write a row for each user"
    ),
    "SUB005": Check(
        "not UTF-8",
        "error",
        "{plain} is no UTF-8",
        "save the file as UTF-8",
        "lines",
    ),
    "SUB006": file(
        "UTF-16", "the file is UTF-16", "save it as UTF-8 (Excel: CSV UTF-8)", fixed=True
    ),
    "SUB007": file(
        "byte order mark",
        "the file begins with a byte order mark",
        "save it as UTF-8 without BOM (pandas: encoding='utf-8')",
        "warning",
        fixed=True,
    ),
    "SUB008": Check("NUL", "error", "a NUL byte stands in it", "write the file anew", "lines"),
    "SUB009": file(
        "wrong separator",
        "{value} stand between fields, where commas should",
        "save it with commas (pandas: sep=',')",
        fixed=True,
    ),
    "SUB010": file(
        "lone CR",
        "bare carriage returns, which end lines for some readers and for others not: {count}",
        "end lines with LF or CR LF",
        fixed=True,
    ),
    "SUB011": _row(
        "unclosed quote", None, "a quote is opened and never closed", "close it, or drop it"
    ),
    "SUB012": file(
        "no newline at the end",
        "the last line has no end: the file may have been cut",
        "look at the last line, and write the file anew",
        "warning",
        fixed=True,
    ),
    "SUB013": file(
        "members",
        "the archive does not hold one file, but {value}",
        "pack the submission alone (a Mac adds __MACOSX: use zip -X on the command line)",
        blocks=True,
    ),
    "SUB014": file(
        "too large",
        "the file unpacks to more than {value}",
        "pack the submission alone, or give it as plain CSV",
        blocks=True,
    ),
    "SUB015": file(
        "corrupt file", "the file is damaged: {value}", "write or pack it again", blocks=True
    ),
    "SUB016": file(
        "another kind", "the file is {value}", "save it as CSV, plain, .gz or .zip", blocks=True
    ),
    "SUB017": _row(
        "text behind a quote",
        None,
        "text stands behind a closed quote",
        "double quotes within quotes",
    ),
    "SUB018": file("forbidden", "the file may not be read", "change its permissions", blocks=True),
    "SUB019": file(
        "endless line", "a line is longer than {value}", "look at what ends the lines", blocks=True
    ),
    "SUB020": file(
        "name of another kind",
        "the name says {value}",
        "name it after what it is: .csv, .csv.gz, .zip or .parquet",
        "warning",
    ),
    "SUB101": file(
        "missing column", 'there is no column "{value}"', "name the columns {allowed}", blocks=True
    ),
    "SUB102": file(
        "unknown column",
        'nobody knows the column "{value}"',
        "drop it, or give it the right name: {allowed}",
        fixed=True,
    ),
    "SUB103": file(
        "duplicate column", 'there are two columns "{value}"', "name each once", blocks=True
    ),
    "SUB104": file(
        "order of columns",
        "the columns stand in another order",
        "write {allowed}",
        "warning",
        fixed=True,
    ),
    "SUB105": file(
        "padded column", 'spaces stand around the name "{value}"', "write {allowed}", fixed=True
    ),
    "SUB106": file(
        "case of a column",
        'the column "{value}" is spelled differently',
        "write {allowed}",
        fixed=True,
    ),
    "SUB107": file(
        "index column",
        'the column "{value}" is the index of a frame, or names its rows',
        "write it without (pandas: index=False, R: row.names=FALSE)",
        fixed=True,
    ),
    "SUB108": file(
        "type of a column",
        "the column {value} is of a type that has no place there",
        "write ids as text, a list of them where a row is a user's, and ranks as numbers",
        blocks=True,
    ),
    "SUB109": file(
        "no header",
        'the first line is no header: "{value}" is an id',
        "write a header: {allowed}",
        blocks=True,
    ),
    "SUB110": file(
        "another form",
        "it can be read, but CSV with a row a user is asked for, and this is {value}",
        "write it so for an upload",
        "warning",
    ),
    "SUB111": file(
        "order not told",
        'the column "{value}" holds numbers, which may order the rows of a user',
        'say what orders them: name it "score" (the highest first) or "rank" (the lowest first); '
        "harness validate, score and explain take --score-column {quoted}, --rank-column {quoted} "
        "or --row-order (as they stand) too",
        blocks=True,
    ),
    "SUB201": Check(
        "missing ids",
        "error",
        "missing ids: {count}, first {values}",
        "write a row for each",
        "",
        "user",
        fixed=True,
        of_lists=True,
    ),
    "SUB202": _id(
        "unknown ids",
        faults.UNKNOWN_ID,
        "{value} is none of the ids that are asked for",
        "write the id as it is asked for; drop the row only if its user is not asked for",
    ),
    "SUB203": _id("duplicate ids", None, "{value} has a row already", "give each user one row"),
    "SUB204": _row(
        "too few fields", faults.TOO_FEW, "the line has too few fields", "write {allowed}"
    ),
    "SUB205": _row(
        "too many fields",
        faults.TOO_MANY,
        "the line has too many fields",
        "{apart}",
    ),
    "SUB206": _row("blank lines", faults.BLANK, "the line is blank", "drop it", "warning", True),
    "SUB207": _id(
        "padded ids",
        faults.PADDED_ID,
        "spaces stand around {value}",
        "write ids as they are",
        fixed=True,
    ),
    "SUB208": _id("empty ids", faults.NO_ID, "the id is empty", "write the id of its user"),
    "SUB209": _id(
        "damaged ids",
        faults.MANGLED_ID,
        "{value} is damaged (leading zeros, .0, quotes, upper or lower case, encoding)",
        "write ids as text, as they are asked for",
        fixed=True,
    ),
    "SUB210": _id(
        "odd ids",
        faults.ODD_ID,
        "{value} does not look like an id of this competition",
        "compare it with the sample submission",
        "warning",
    ),
    "SUB211": _id(
        "rows again", None, "the row of {value} stands there again", "write it once", fixed=True
    ),
    "SUB212": file(
        "no known id",
        "none of the ids is asked for: {value}",
        "check the file against its own competition, or write the ids that are asked for",
        blocks=True,
    ),
    "SUB213": file(
        "case of all ids",
        "none of the ids is asked for in this case: {value}",
        "write upper and lower case as they are asked for",
        blocks=True,
    ),
    "SUB214": Check(
        "ids beyond the sample",
        "warning",
        "users of the evaluation set or solution, {count} beyond the ids that must be there: "
        "first {values}",
        "they count here; a host that asks for the sample's ids alone would refuse them: for an "
        "upload drop the rows, or write it with harness submit --all-events",
        "",
        "user",
    ),
    "SUB301": _list(
        "empty lists", faults.EMPTY, "the list is empty", "recommend something", "warning"
    ),
    "SUB302": _list(
        "too long",
        faults.LONG,
        "the list is longer than {k}",
        "write the best {k}; the others are not looked at",
        "warning",
        fixed=True,
        of_lists=True,
    ),
    "SUB303": _item(
        "repeats",
        faults.REPEATED,
        "{value} stands in the list already",
        "write each item once: a repeat uses a place and hits nothing",
        "warning",
        fixed=True,
        of_lists=True,
    ),
    "SUB304": _item(
        "unknown items", faults.UNKNOWN_ITEM, "{value} is no item", "write ids of the catalogue"
    ),
    "SUB305": _item(
        "lost zeros",
        faults.ZEROS_LOST,
        "{value} lost its leading zeros: ids have {width} digits",
        "write ids as text (pandas: dtype=str)",
        fixed=True,
    ),
    "SUB306": _item(
        "decimal ids",
        faults.DECIMAL,
        "{value} became a decimal",
        "write ids as text (pandas: dtype=str)",
        fixed=True,
    ),
    "SUB307": _item(
        "exponents",
        faults.EXPONENT,
        "{value} was rounded by a spreadsheet",
        "write the file anew from where ids are text",
    ),
    "SUB308": _item(
        "words for nothing",
        faults.LITERAL,
        "{value} is a word for a missing value",
        "leave the list empty (pandas: fillna(''))",
        fixed=True,
    ),
    "SUB309": _item(
        "wrong item separator",
        faults.SEPARATOR,
        "{value} holds a separator other than {between}",
        "{between_items}",
        fixed=True,
        of_lists=True,
    ),
    "SUB310": _item(
        "brackets",
        faults.BRACKETS,
        "{value} stands in brackets or quotes, as Python prints a list",
        "{joined}",
        fixed=True,
    ),
    "SUB311": _list(
        "extra spaces",
        faults.SPACES,
        "more than one space stands between items, or any around them",
        "write one between items, and none around",
        "warning",
        True,
    ),
    "SUB312": _item(
        "another shape",
        faults.MISSHAPEN,
        "{value} does not look like an item id",
        "write ids of the catalogue",
    ),
    "SUB313": _rank(
        "no number",
        None,
        "{value} is neither a rank (1, 2, 3 …) nor a score",
        "write ranks as 1, 2, 3 …, or scores as numbers with a point (1.5)",
    ),
    "SUB314": _item(
        "one rank twice",
        None,
        "{value} has the rank of another item of its list",
        "give each item of a list a rank of its own",
    ),
    "SUB315": _item(
        "tied scores",
        None,
        "{value} has the score of another item of its list: ties are ordered by item id",
        "write ranks, or scores that differ",
        "warning",
    ),
    "SUB316": _item(
        "gap in ranks",
        None,
        "no item has the rank before that of {value}: the place stays empty",
        "write ranks 1, 2, 3 …",
        "warning",
    ),
    "SUB317": _item(
        "another spelling",
        faults.RESPELLED,
        "{value} is an item in upper or lower case, or in another encoding",
        "write ids as the catalogue does, in UTF-8",
        fixed=True,
    ),
    "SUB318": file(
        "lost zeros in the data",
        "the config reads item ids that lost their leading zero: {value}",
        "set restore_zeros = true under [data]; an upload with such ids would hit nothing",
        "warning",
    ),
    "SUB401": Check(
        "one list for all", "warning", "all {count} lists are the same", "look at what makes them"
    ),
    "SUB402": Check(
        "hardly a hit",
        "warning",
        "of the examined users, {value} have a hit",
        "look at whether ids, users and the week are those of the exam",
    ),
    "SUB403": Check(
        "bought already",
        "warning",
        "of all places, {value} hold what the user has in training already",
        "recommend something new, unless people buy again",
    ),
    "SUB404": Check(
        "one item", "warning", "no list is longer than one item", "look at what separates items"
    ),
}

OF_FAULT: Mapping[int, str] = {
    check.fault: code for code, check in CHECKS.items() if check.fault is not None
}
"""The check that each fault of the scan belongs to."""
