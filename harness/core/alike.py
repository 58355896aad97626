"""Ids that are alike: they differ in what nobody can see, or in what programs change on the way.

An id has a form, which leaves out

- what nobody can see: zero-width characters, soft hyphens, byte order marks, marks of direction,
- spaces around it; a space within it that is no plain one is a plain one, or none: two forms,
- quotes and apostrophes in front, with those that close them,
- upper and lower case, how Unicode composes letters (NFC), full-width ASCII, and kinds of dashes,
- a ``.0`` behind a whole number, zeros in front of it, and an exponent as in 1e5.

Two different ids are alike where they share a form, or where one is a whole number and the other is
the same number, rounded to an exponent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import polars as pl

from harness.core.errors import BLANK

_Text = TypeVar("_Text", pl.Series, pl.Expr)
AT, FORM = "at", "form"
KEPT, HEAD, LENGTH = "kept", "head", "length"
MEANT, COUNT = "meant", "count"
SPACES, EXPONENT, DECIMAL, QUOTES, ZEROS, CASE, OTHERWISE = (
    "spaces", "exponent", "decimal", "quotes", "zeros", "case", "otherwise"
)  # fmt: skip
"""What happened to an id that is alike to another."""

_UNSEEN = rf"[\p{{Cc}}\p{{Cf}}{BLANK}--\s]"
_ODD_SPACE = r"[\s--\x20]"
_PLAIN = r"^[!-~](?:[ -~]*[!-~])?$"
"""Printable ASCII, with no space around it."""
_QUOTES = r"['\"`´‘’“”„«»]"
_QUOTED = rf"^{_QUOTES}+(.*?){_QUOTES}*$"
_DECIMAL = r"^(-?[0-9]+)\.0+$"
_PADDED = r"^0+([0-9]+)$"
_NUMBER = r"^[1-9][0-9]*$"
# Spreadsheets write 1.23E+05, in Europe 1,23E+05; Python 1.23e+05; Java and Spark 1.23E5.
_EXPONENT = r"(?i)^([1-9])(?:[.,]([0-9]+))?e\+([0-9]{1,2})$|^([1-9])\.([0-9]+)e([0-9]{1,2})$"
_SHORT = r"^([1-9])e([0-9]{1,2})$"
"""R and JavaScript write 1e5, if no digit is lost: it is 100000, and no number that was rounded."""
_WIDTHS = {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)}
_WIDTHS |= dict.fromkeys([*map(chr, range(0x2010, 0x2016)), "\N{MINUS SIGN}"], "-")
"""Full-width ASCII and dashes, and what they stand for."""
_MOST_KEPT = 18
"""Digits that a whole number of 64 bits holds."""
_LAST = "last"
_TEXT = pl.col(FORM)
_WRITTEN_OUT = _TEXT.str.extract(_SHORT, 1) + pl.lit("0").repeat_by(
    _TEXT.str.extract(_SHORT, 2).cast(pl.UInt32)
).list.join("")


@dataclass(frozen=True, eq=False)
class Forms:
    """The forms of some ids, a row each with the place of its id.

    Some are whole numbers. Of exponents, rows say how many digits are kept, these as a number, and
    how many digits the number had.
    """

    plain: pl.DataFrame
    numbers: pl.DataFrame
    exponents: pl.DataFrame

    @classmethod
    def of(cls, ids: pl.Series, *, joined: bool = True) -> Forms:
        """Return the forms of ids.

        If `joined`, a space within an id that is no plain one may also be none, as in 12 345.
        """
        rows = pl.DataFrame({FORM: ids}).with_row_index(AT)
        is_plain = ids.str.contains(_PLAIN)
        odd = rows.filter(~is_plain)
        readings = [odd.with_columns(_seen(odd[FORM]))]
        if joined:
            within = odd.filter(readings[0][FORM].str.contains(" ", literal=True))
            readings.append(within.with_columns(_seen(within[FORM], space="")))
        usual, odd = (_folded(part) for part in (rows.filter(is_plain), pl.concat(readings)))
        odd = odd.with_columns(_TEXT.str.normalize("NFC"))
        plain = pl.concat([usual, odd]).filter(_TEXT != "")
        return cls(plain, plain.filter(_TEXT.str.contains(_NUMBER)), _exponents(plain))

    def rounded(self, kept: int) -> pl.DataFrame:
        """Return the whole numbers, as exponents of so many digits have them; halves both ways."""
        length, rest = _TEXT.str.len_bytes(), _TEXT.str.slice(kept)
        head = _TEXT.str.slice(0, kept).cast(pl.UInt64)
        up = head + rest.str.contains("^[5-9]").cast(pl.UInt64)
        more = up == 10**kept  # 9.99 is rounded to 10.0
        numbers = self.numbers.filter(length >= kept)
        numbers = numbers.with_columns(pl.lit(kept, pl.UInt32).alias(KEPT))
        ups = numbers.with_columns(
            pl.when(more).then(10 ** (kept - 1)).otherwise(up).cast(pl.UInt64).alias(HEAD),
            (length + more.cast(pl.UInt32)).alias(LENGTH),
        )
        halves = numbers.filter(rest.str.contains("^50*$"))
        return pl.concat([ups, halves.with_columns(head.alias(HEAD), length.alias(LENGTH))])


class Meanings:
    """What ids mean that are not known: the `known` ids (str) that they are alike to.

    >>> meanings = Meanings(pl.Series(["ann", "bob", "007", "123456", "7.0"]))
    >>> meanings.of(pl.Series(["7", "Ann ", "zoe", "1.2E+05"])).rows()
    [(0, '007', 2), (1, 'ann', 1), (3, '123456', 1)]
    """

    def __init__(self, known: pl.Series) -> None:
        self._known, self._forms = known, Forms.of(known)
        self._plain = self._grouped(self._forms.plain, FORM)
        self._exponents = self._grouped(self._forms.exponents, KEPT, HEAD, LENGTH)
        self._rounded: dict[int, pl.DataFrame] = {}

    @property
    def forms(self) -> pl.Series | None:
        """The forms of all known ids; None where some are exponents, and known by rounded ones."""
        return None if len(self._exponents) > 0 else self._plain[FORM]

    def of(self, ids: pl.Series, *, joined: bool = True) -> pl.DataFrame:
        """Return which ids mean known ones, none of which they are; `joined` as in `Forms.of`.

        A row has the place of the id, the known id that is `MEANT`, of several the first by its
        text, and their `COUNT`.
        """
        hits = pl.concat(hit.select(AT, MEANT, _LAST, COUNT) for hit in self._hits(ids, joined))
        pairs = hits.group_by(AT).agg(pl.min(MEANT), pl.max(_LAST), pl.sum(COUNT)).sort(AT)
        single = pl.col(MEANT) == pl.col(_LAST)  # also by two forms
        count = pl.when(single).then(1).otherwise(pl.col(COUNT)).alias(COUNT)
        return pairs.select(AT, MEANT, count)

    def _hits(self, ids: pl.Series, joined: bool) -> Iterator[pl.DataFrame]:
        """Yield known ids that share a form, that exponents were, and that numbers became."""
        forms = Forms.of(ids, joined=joined)
        yield forms.plain.join(self._plain, on=FORM)
        for (kept,), rows in forms.exponents.group_by(KEPT):
            if kept not in self._rounded:
                self._rounded[kept] = self._grouped(self._forms.rounded(kept), HEAD, LENGTH)
            yield rows.join(self._rounded[kept], on=[HEAD, LENGTH])
        for kept in self._exponents[KEPT].unique():
            yield forms.rounded(kept).join(self._exponents, on=[KEPT, HEAD, LENGTH])

    def _grouped(self, rows: pl.DataFrame, *by: str) -> pl.DataFrame:
        """Return the first and the last id of each key, and how many there are."""
        ids = self._known.gather(rows[AT])
        ends = pl.min("id").alias(MEANT), pl.max("id").alias(_LAST), pl.len().alias(COUNT)
        return rows.with_columns(ids.alias("id")).group_by(by).agg(ends)


def damage(ids: pl.Series, known: pl.Series) -> pl.Series:
    """Return what happened to ids, if they stand for known ones that are alike, pair by pair.

    >>> damage(pl.Series(["7", "Ann", "x "]), pl.Series(["007", "ann", "x"])).to_list()
    ['zeros', 'case', 'spaces']
    """
    seen, known_seen = _seen(ids), _seen(known)
    whole = seen.str.contains("^[0-9]+$") & known_seen.str.contains("^[0-9]+$")
    quoted, decimal = f"^{_QUOTES}", rf"^{_QUOTES}*-?[0-9]+\.0+"
    happened = {
        SPACES: ids.str.strip_chars() == known.str.strip_chars(),
        EXPONENT: _is_exponent(seen) & ~_is_exponent(known_seen),
        DECIMAL: seen.str.contains(decimal) & ~known_seen.str.contains(decimal),
        QUOTES: seen.str.contains(quoted) & ~known_seen.str.contains(quoted),
        ZEROS: whole & (seen.str.len_bytes() < known_seen.str.len_bytes()),
        CASE: (_uncased(seen) == _uncased(known_seen)) & (seen != known_seen),
    }
    first = [pl.when(pl.col(name)).then(pl.lit(name)) for name in happened]
    return pl.DataFrame(happened).select(pl.coalesce([*first, pl.lit(OTHERWISE)])).to_series()


def _seen(ids: pl.Series, space: str = " ") -> pl.Series:
    """Return ids without what nobody can see; spaces that are no plain ones become `space`."""
    plain = ids.str.replace_all(_UNSEEN, "").str.replace_all(_ODD_SPACE, space).str.strip_chars()
    return plain.str.replace_many(_WIDTHS)


def _is_exponent(ids: pl.Series) -> pl.Series:
    return ids.str.contains(_EXPONENT) | ids.str.contains(f"(?i){_SHORT}")


def _folded(rows: pl.DataFrame) -> pl.DataFrame:
    rows = _changed(rows, f"^{_QUOTES}", _TEXT.str.replace(_QUOTED, "$1"))
    rows = rows.with_columns(_uncased(_TEXT.str.strip_chars()))
    rows = _changed(rows, r"\.0", _TEXT.str.replace(_DECIMAL, "$1"))
    rows = _changed(rows, "^0", _TEXT.str.replace(_PADDED, "$1"))
    return _changed(rows, _SHORT, _WRITTEN_OUT)


def _changed(rows: pl.DataFrame, pattern: str, change: pl.Expr) -> pl.DataFrame:
    """Return rows, of which those that match are changed: few, as a rule."""
    some = rows[FORM].str.contains(pattern)
    if not some.any():
        return rows
    changed = rows.filter(some).select(change).to_series()
    return rows.with_columns(rows[FORM].scatter(some.arg_true(), changed))


def _uncased(ids: _Text) -> _Text:
    """Return ids in one case, by way of capital letters: ß is SS there, and ı is no i."""
    kept = ids.str.replace_all("ı", "\0", literal=True)
    return kept.str.to_uppercase().str.to_lowercase().str.replace_all("\0", "ı", literal=True)


def _exponents(plain: pl.DataFrame) -> pl.DataFrame:
    """Return the ids that are exponents."""
    rows = plain.filter(_TEXT.str.contains(_EXPONENT))
    part = rows[FORM].str.extract_groups(_EXPONENT).struct.field
    digits = part("1").fill_null(part("4")) + part("2").fill_null(part("5")).fill_null("")
    length = part("3").fill_null(part("6")).cast(pl.UInt32) + 1
    numbers = rows.with_columns(
        digits.str.len_bytes().alias(KEPT),
        digits.cast(pl.UInt64, strict=False).alias(HEAD),
        length.alias(LENGTH),
    )
    return numbers.filter((pl.col(KEPT) <= _MOST_KEPT) & (pl.col(KEPT) <= pl.col(LENGTH)))
