"""What a rule of submissions says of itself, and the files that show it."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from functools import partial
from typing import Literal

Severity = Literal["error", "warning"]
Unit = Literal["", "ids", "lists", "items", "lines"]
Column = Literal["", "user", "items"]


@dataclass(frozen=True)
class Rule:
    """One thing that may be wrong.

    Attributes
    ----------
    code : str
        ``SUB`` and three digits; it never changes its meaning.
    name : str
    says : str
        What is wrong, of a value, a count or a detail: a text for `str.format`.
    hint : str
        How to mend it.
    severity : str
        ``error``: a platform refuses it, or scores wrong in silence; ``warning``: worth a look.
    unit : str
        What is counted: ``ids``, ``lists``, ``items`` or ``lines``; empty where it is the file.
    column : str
        The column it is in: ``user``, ``items``, or none.
    fault : int or str, optional
        What the scan of lines counts it as, or why a file is refused.
    fixed : bool
        Whether ``--fix`` mends it.
    of_lists : bool
        Whether it does so only where a row holds a list.
    blocks : bool
        Whether ``--fix`` writes nothing as long as it is there.
    example : bytes, optional
        A bad file, beside `GOOD`: shown in the documents, and run by the tests. None where no text
        of a few rows shows it.
    """

    code: str
    name: str
    says: str
    hint: str
    severity: Severity = "error"
    unit: Unit = ""
    column: Column = ""
    fault: int | str | None = None
    fixed: bool = False
    of_lists: bool = False
    blocks: bool = False
    example: bytes | None = None


id_rule = partial(Rule, unit="ids", column="user")
list_rule = partial(Rule, unit="lists", column="items")
item_rule = partial(Rule, unit="items", column="items")
line_rule = partial(Rule, unit="lines")


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
