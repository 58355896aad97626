"""Records as CSV, with full figures, for spreadsheets and scripts."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from harness.errors import printable


def as_csv(records: Sequence[Mapping[str, object]]) -> str:
    """Return a header and one line a record; all records have the keys of the first."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(records[0] if records else [])
    writer.writerows([_cell(value) for value in record.values()] for record in records)
    return out.getvalue().rstrip("\n")


def _cell(value: object) -> str:
    if value is None:
        return ""
    return _harmless(printable(value)) if isinstance(value, str) else repr(value)


def _harmless(text: str) -> str:
    """Return text that a spreadsheet does not take for a formula (CWE-1236)."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
