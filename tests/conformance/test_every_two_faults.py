"""Any two faults in one file are both found, as a pass over the lines finds all."""

import re
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path

import pytest

from harness.submission.expected import Against, of_tables
from harness.submission.rules import EXAMPLES, GOOD, ITEMS, OF_FAULT
from harness.submission.validate import validate

FIRST, SECOND = "0706016001", "0706016002"
LISTS = 30
USERS = [f"user{number:02}" for number in range(LISTS)]

BEFORE, BEHIND = GOOD.encode().split(b"bob,0706016003")
OF_A_ROW: dict[str, str] = {
    code: example[len(BEFORE) : -len(BEHIND)].decode()
    for code, example in EXAMPLES.items()
    if example.startswith(BEFORE) and example.endswith(BEHIND)
    if code not in ("SUB011", "SUB201", "SUB210", "SUB215", "SUB312")
}
"""What an example makes of bob's row; each has a user of its own."""
OF_THE_FILE: dict[str, Callable[[str], str]] = {
    "SUB102": lambda text: re.sub("(?<=.)\n", ",x\n", text),
    "SUB103": lambda text: re.sub("(?<=.)\n", ",prediction\n", text),
    "SUB105": lambda text: text.replace("prediction", "prediction ", 1),
    "SUB106": lambda text: text.replace("customer_id", "Customer_ID", 1),
    "SUB107": lambda text: "," + re.sub("\n(?=.)", "\n0,", text),
    "SUB201": lambda text: text[: text[:-1].rindex("\n") + 1],
}
OF_ITS_BYTES: dict[str, Callable[[bytes], bytes]] = {
    "SUB005": lambda text: text + b"caf\xe9," + FIRST.encode() + b"\n",
    "SUB011": lambda text: text + f'zoe,"{FIRST}\n'.encode(),
    "SUB012": lambda text: text.rstrip(b"\n"),
    "SUB009": lambda text: text.replace(b",", b"\t"),
    "SUB010": lambda text: text.replace(b"\n", b"\r"),
    "SUB007": lambda text: b"\xef\xbb\xbf" + text,
    "SUB006": lambda text: text.decode().encode("utf-16"),
}
"""In the order they are done, whichever there are."""
FAULTS = [*OF_A_ROW, *OF_THE_FILE, *OF_ITS_BYTES]
APART = {
    frozenset({"SUB005", "SUB006"}),  # what is no text is no UTF-16 either
    frozenset({"SUB006", "SUB007"}),  # the mark of UTF-16 is another
}
"""Faults that cannot stand in one file."""


def against(folder: Path) -> Against:
    """Return what such files are checked against."""
    rows = [f"{user},\n" for user in USERS]
    (folder / "sample.csv").write_text("customer_id,prediction\n" + "".join(rows))
    (folder / "articles.csv").write_text(ITEMS)
    return of_tables(folder / "sample.csv", folder / "articles.csv").cut_at(12)


def content(faults: Iterable[str]) -> bytes:
    rows = ["customer_id,prediction", *(f"{user},{FIRST} {SECOND}" for user in USERS)]
    for number, (code, row) in enumerate(OF_A_ROW.items(), 1):
        if code in faults:
            rows[number] = row.replace("bob", USERS[number - 1])
    lines = "\n".join([*rows, ""])
    for code, edit in OF_THE_FILE.items():
        lines = edit(lines) if code in faults else lines
    text = lines.encode()
    for code, change in OF_ITS_BYTES.items():
        text = change(text) if code in faults else text
    return text


def found(faults: Iterable[str], folder: Path, known: Against) -> set[str]:
    (folder / "submission.csv").write_bytes(content(faults))
    return {problem.code for problem in validate(folder / "submission.csv", known).problems}


@pytest.mark.parametrize("code", FAULTS)
def test_both_are_found(tmp_path: Path, code: str) -> None:
    known = against(tmp_path)
    for pair in combinations(FAULTS, 2):
        if pair[0] == code and frozenset(pair) not in APART:
            assert {*pair} <= found(pair, tmp_path, known), pair


def test_every_fault_of_a_line_is_among_them() -> None:
    """But those of ids that nobody knows."""
    of_lines = {code for fault, code in OF_FAULT.items() if isinstance(fault, int)}
    assert of_lines - set(FAULTS) == {"SUB210", "SUB312", "SUB320"}
