"""What is mechanical mended, line by line: compiled, so that a large file takes seconds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.core.arrays import Bytes, Int32, Int64, UInt64
from harness.core.ids import KeyTable
from harness.delimited import fields
from harness.delimited._bytes import PAD
from harness.delimited._lines import NO_ROW
from harness.delimited.blocks import Block
from harness.submission import _fix
from harness.submission._scan import USER
from harness.submission.keys import Known
from harness.submission.scan import Form


@dataclass(frozen=True, eq=False)
class Mended:
    """Mended lines.

    Attributes
    ----------
    text : uint8 array, PAD bytes behind the last line
    starts, stops : int64 arrays
        Where each row stands that is of a user, with its end.
    users : int32 array
        Codes of the known users among the lines, those of lines that are no rows among them.
    secret : uint64 array, (2,)
        What the keys of rows are made with.
    """

    text: Bytes
    starts: Int64
    stops: Int64
    users: Int32
    secret: UInt64

    def without_again(self, written: KeyTable) -> tuple[Bytes, int]:
        """Return the lines but for rows that were written, and how many those are.

        `written` takes the others.
        """
        before = len(written)
        codes = written.codes(fields.keys(self.text, self.starts, self.stops, self.secret))
        new = np.maximum.accumulate(np.concatenate(([before - 1], codes)))[:-1] < codes
        kept = np.ones(len(self.text), np.bool_)
        kept[-PAD:] = False
        for start, stop in zip(self.starts[~new], self.stops[~new], strict=True):
            kept[start:stop] = False
        return self.text[kept], int(np.count_nonzero(~new))


def mended(block: Block, form: Form, between: str, users: Known, items: Known) -> Mended:
    """Return whole lines with what is mechanical mended, and the users they are of.

    Blank lines go; ids lose what is around them and get their zeros back; items lose brackets,
    quotes and decimals, get zeros back and one separator; words for nothing, repeats and items
    behind the longest list go. Lines with too few or too many fields stay as they are.

    Parameters
    ----------
    between : str
        What is written between items.
    """
    buffer, size = block.buffer, block.size
    starts, stops, codes = fields.fields(block, form.wanted)
    # A mended id is longer by at most its zeros; no item has fewer bytes than 1.
    zeros = max(users.width, items.width, 1)
    out = np.empty((size + 4) * (zeros + 3) + PAD, np.uint8)
    begins, spans = np.empty(len(codes) + 1, np.int64), np.zeros((len(codes), 2), np.int64)
    bytes_ = block.separator, form.between_in(block), block.end, form.width, ord(between)
    given = starts, stops, codes, users.ids, items.ids
    length = _fix.mend(buffer, size, *bytes_, *given, out, begins, spans)
    broken = np.flatnonzero((codes == NO_ROW) & (starts[:, USER] < stops[:, USER]))
    torn = users.codes(buffer, starts[broken, USER], stops[broken, USER])
    rows = spans[:, 0] < spans[:, 1]
    there = np.concatenate((codes[codes >= 0], torn[torn >= 0]))
    return Mended(out[: length + PAD], spans[rows, 0], spans[rows, 1], there, users.secret)
