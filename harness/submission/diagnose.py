"""What an id is that is not known: a damaged one, one that looks like a known one, or another.

The compiled scan tells known ids from others. These are diagnosed here: each distinct one of a
block once, and of items those of earlier blocks not again, as long as they are kept. `validate`,
``--fix`` and the messages all use the same diagnosis.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.core.arrays import Bool, Bytes, Int32, Int64, UInt64
from harness.core.ids import KeyTable
from harness.delimited import blocks
from harness.delimited.blocks import Block
from harness.submission import _kernels as faults
from harness.submission.keys import Known, packed

if TYPE_CHECKING:
    import polars as pl

    from harness.core.alike import Meanings

SEVERAL = -2
"""The code of an id that looks like more than one known id."""
_SURE = 8
"""From so many characters on, no other id differs in case alone by chance."""
_MOST_KEPT = 1 << 19
"""Tokens whose diagnoses are kept from one block to the next."""
_UNREADABLE = "\N{REPLACEMENT CHARACTER}"
_OPENERS = {b")": b"(", b"]": b"[", b"}": b"{"}
_DRESS = b"[](){}'\""
_NUMPY = re.compile(rb"np\.[^(]*\((.*)\)", re.DOTALL)
_EXPONENT = re.compile(rb"[0-9]+(?:[.,][0-9]*)?[eE]\+?[0-9]+")
_WHOLE = re.compile(rb"([0-9]+)(\.0+)?")
# No-break space, U+2000 to U+200F, and U+3000, beside those of ASCII.
SEPARATOR = re.compile(rb"[,;|\t \n\r]|\xc2\xa0|\xe2\x80[\x80-\x8f]|\xe3\x80\x80")
"""What stands between items in some files."""
_NOTHING = frozenset(b"nan none null na n/a <na> nat nil".split())
_LONGEST_WORD = 4
_HEXADECIMAL = r"^[0-9a-f]*[0-9][0-9a-f]*$|^[0-9A-F]*[0-9][0-9A-F]*$"


class Damage(NamedTuple):
    """What happened to a token: all of it, and what stands around the token, 1 << fault each.

    `bare` is the token without what stands around it; `mended` what it was before, empty for a word
    for nothing, None where that cannot be told.
    """

    marks: int
    dress: int
    bare: bytes
    mended: bytes | None


def damage(token: bytes, *, digits: bool, width: int) -> Damage:
    """Return what happened to a token.

    Only where all ids are numbers, of `digits`, are tokens read as damaged numbers. Every id has so
    many digits as `width` says; 0 where they differ.
    """
    if digits and token.isdigit() and (len(token) < width or width == 0):  # most that were changed
        marks = 1 << faults.ZEROS_LOST if width else 0
        return Damage(marks, 0, token, token.rjust(width, b"0"))
    if not digits and len(token) > _LONGEST_WORD and token.isalnum():
        return Damage(0, 0, token, token)
    bare, dress = _undressed(token)
    if not bare:
        return Damage(dress, dress, bare, b"")
    marks, mended = dress, None
    if bare.lower() in _NOTHING:
        marks, mended = marks | 1 << faults.LITERAL, b""
    elif digits and _EXPONENT.fullmatch(bare):
        marks |= 1 << faults.EXPONENT
    elif SEPARATOR.search(bare):
        marks |= 1 << faults.SEPARATOR
    elif b"'" in bare or b'"' in bare:
        marks |= 1 << faults.BRACKETS
    elif not digits:
        mended = bare
    else:
        whole = _WHOLE.fullmatch(bare)
        marks |= 1 << faults.DECIMAL if whole is not None and whole[2] else 0
        if whole is None or 0 < width < len(whole[1]):
            marks |= 1 << faults.MISSHAPEN
        else:
            marks |= 1 << faults.ZEROS_LOST if len(whole[1]) < width else 0
            mended = whole[1].rjust(width, b"0")
    return Damage(marks, dress, bare, mended)


def _undressed(token: bytes) -> tuple[bytes, int]:
    """Return a token without brackets, quotes and commas around it, and NumPy's ``np.str_(…)``.

    A bracket at the end stays where it closes one that stands within.
    """
    bare = token.lstrip(_DRESS)
    marks = 1 << faults.BRACKETS if len(bare) < len(token) else 0
    stop, opened = len(bare), {end: bare.find(start) for end, start in _OPENERS.items()}
    while stop > 0 and (last := bare[stop - 1 : stop]) in _DRESS + b",;":
        if 0 <= opened.get(last, -1) < stop - 1:
            break
        marks |= 1 << (faults.SEPARATOR if last in b",;" else faults.BRACKETS)
        stop -= 1
    bare = bare[:stop]
    numpy = _NUMPY.fullmatch(bare)
    if numpy is not None:
        bare, marks = numpy[1].strip(b"'\""), 1 << faults.BRACKETS
    # The commas of a list that Python printed are no fault of their own.
    return bare, 1 << faults.BRACKETS if marks & 1 << faults.BRACKETS else marks


@dataclass(frozen=True, eq=False)
class Diagnoses:
    """What some tokens are that are not known."""

    marks: Int64
    """What is wrong with each, 1 << fault; 0 where it is simply another id."""
    codes: Int32
    known: list[bytes]
    """The known id that each means: −1 and empty for none, SEVERAL and the first by its text
    for more than one."""
    further: Int64
    """How many more there are."""
    certain: Bool
    by_case: Bool
    """Whether it can be mended into that id, and whether it is that id in another case."""
    mended: list[bytes | None]
    """What ``--fix`` writes; None: the token as it stands."""


class Learnt(NamedTuple):
    """What items are that are not known, one row each, and known items that some may mean.

    `is_doubtful`: `meant` has the known item beside which, in one list, it may be another. `codes`
    are places among all items that were learnt.
    """

    marks: Int64
    is_mended: Bool
    is_doubtful: Bool
    meant: Mapping[bytes, bytes]
    codes: Int32


class Texts(NamedTuple):
    """Texts in a buffer, where each begins and ends, (n, 2), and their keys, (n, 2)."""

    buffer: Bytes
    spans: Int64
    keys: UInt64


class Diagnosis:
    """Tells what tokens of a column, of users or of items, are that are not known.

    `joined` is as `Meanings.of` takes it. Of the tokens that were learnt, `mended` has what
    ``--fix`` writes where that is not the token as it stands, and `meant` the known item beside
    which, in one list, the token may be another; those in `joined` are to be cut at separators.
    `ids` are the known ones for the compiled scan, with their forms once tokens were compared.
    """

    def __init__(self, known: Known, *, of_users: bool, joined: bool) -> None:
        self.known, self._of_users, self._joined = known, of_users, joined
        self.ids = faults.Ids(known)
        self._lock = RLock()
        self._meanings: Meanings | None = None
        self._forget()

    def _forget(self) -> None:
        self._table = KeyTable()
        self._marks, self._is_mended = np.zeros(0, np.int64), np.zeros(0, np.bool_)
        self._is_doubtful = np.zeros(0, np.bool_)
        self.mended, self.meant = dict[bytes, bytes](), dict[bytes, bytes]()
        self._tokens = list[bytes]()
        self._written: Texts | None = None
        self.joined, self._texts = set[bytes](), set[bytes]()

    def learn(self, block: Block, strangers: Int64) -> Learnt:
        """Return what rows of `Strangers` are; each token is diagnosed when it is first met."""
        with self._lock:
            if len(self._table) > _MOST_KEPT:
                self._forget()
            keys = np.ascontiguousarray(strangers[:, 4:]).view(np.uint64)
            codes = self._table.codes(keys)
            new = np.flatnonzero(codes >= len(self._marks))
            if len(new) > 0:
                first = new[np.unique(codes[new], return_index=True)[1]]
                self._add(block.texts(strangers[first, 1], strangers[first, 2]))
            return Learnt(
                marks=self._marks[codes],
                is_mended=self._is_mended[codes],
                is_doubtful=self._is_doubtful[codes],
                meant=self.meant,
                codes=codes,
            )

    @property
    def texts(self) -> Texts:
        """What ``--fix`` writes for each token that was learnt."""
        if self._written is None:
            buffer, starts, stops = packed([self.mended.get(t, t) for t in self._tokens])
            keys = blocks.keys(buffer, starts, stops, self.known.secret)
            self._written = Texts(buffer, np.stack((starts, stops), axis=1), keys)
        return self._written

    def learn_texts(self, tokens: Iterable[bytes]) -> None:
        """Have `mended` and `meant` hold what is to be written for tokens, known ones or not."""
        texts = [token for token in tokens if token not in self._texts]
        self._texts.update(texts)
        strange = [*compress(texts, ~self.known.has(texts))]
        if strange:
            self._keep(strange, self.of(strange))

    def _add(self, tokens: list[bytes]) -> None:
        """Take in new tokens behind all others."""
        diagnoses = self.of(tokens)
        self._keep(tokens, diagnoses)
        self._tokens += tokens
        self._written = None
        is_joined = diagnoses.marks & 1 << faults.SEPARATOR != 0
        is_mended = np.array([token in self.mended for token in tokens])
        is_doubtful = np.array([token in self.meant for token in tokens])
        self.joined.update(compress(tokens, is_joined & ~is_mended))
        self._marks = np.concatenate((self._marks, diagnoses.marks))
        self._is_mended = np.concatenate((self._is_mended, is_mended | is_joined))
        self._is_doubtful = np.concatenate((self._is_doubtful, is_doubtful))

    def _keep(self, tokens: list[bytes], diagnoses: Diagnoses) -> None:
        """Note what is to be written for tokens."""
        pairs = zip(tokens, diagnoses.mended, strict=True)
        self.mended.update((token, text) for token, text in pairs if text not in (None, token))
        if not self.known.complete:  # beside the item that it looks like it may be another
            dress = 1 << faults.BRACKETS | 1 << faults.SEPARATOR
            is_doubtful = (diagnoses.codes >= 0) & (diagnoses.marks & ~dress != 0)
            self.meant.update(
                compress(zip(tokens, diagnoses.known, strict=True), is_doubtful.tolist())
            )

    def of(self, tokens: Sequence[bytes]) -> Diagnoses:
        """Return what tokens are, none of which is known."""
        known, n = self.known, len(tokens)
        damages = [damage(token, digits=known.digits, width=known.width) for token in tokens]
        dress = np.array([each.dress for each in damages])
        mended = [each.mended for each in damages]
        codes = self._codes(mended)
        diagnoses = Diagnoses(
            marks=np.array([each.marks for each in damages], np.int64),
            codes=codes,
            known=[
                (text or b"" if code >= 0 else b"")
                for text, code in zip(mended, codes, strict=True)
            ],
            further=np.zeros(n, np.int64),
            certain=codes >= 0,
            by_case=np.zeros(n, np.bool_),
            mended=mended,
        )
        if not known.telling:
            diagnoses.marks[:] &= ~(1 << faults.MISSHAPEN)
        rows = np.flatnonzero(codes < 0)
        if len(rows) > 0 and len(known) > 0 and not known.exact:
            texts = [_text(damages[row].bare or tokens[row]) for row in rows.tolist()]
            is_text = np.array([_UNREADABLE not in text for text in texts])
            self._read_as_windows(diagnoses, rows[~is_text])
            if not self._of_users and not known.complete:  # else a fault is plain already
                is_text &= diagnoses.marks[rows] & ~dress[rows] == 0
            self._compare(diagnoses, rows[is_text], [*compress(texts, is_text)], dress)
        if self._of_users:
            diagnoses.marks[diagnoses.marks != 1 << faults.PADDED_ID] = 1 << faults.MANGLED_ID
            diagnoses.marks[diagnoses.codes == -1] = 0
        elif known.complete:
            _blame_unknown(diagnoses)
        return diagnoses

    def may_mean(self, tokens: Sequence[bytes], but: Bool) -> Bool:
        """Return which tokens look like a known id, other than those whose codes `but` excludes."""
        from harness.core.alike import AT, Meanings

        ids = _texts_of(self.known)
        meanings = Meanings(ids.filter(~but[self.known.codes_of(ids)]))
        may_mean = np.zeros(len(tokens), np.bool_)
        texts = _series([_text(_undressed(token)[0] or token) for token in tokens])
        may_mean[meanings.of(texts, joined=self._joined)[AT].to_numpy()] = True
        return may_mean

    def _codes(self, texts: Sequence[bytes | None]) -> Int32:
        """Return the codes of known ids; −1 where a text is none, and where there is no text."""
        codes = self.known.codes_of([text or b"" for text in texts])
        codes[[not text for text in texts]] = -1
        return codes

    def _read_as_windows(self, diagnoses: Diagnoses, rows: Int64) -> None:
        """Note ids that are known where their bytes, which are no UTF-8, are Windows-1252."""
        texts = [diagnoses.mended[row] or b"" for row in rows]
        texts = [text.decode("cp1252", "replace").encode() for text in texts]
        for row, text, code in zip(rows.tolist(), texts, self._codes(texts), strict=True):
            if code >= 0:
                diagnoses.codes[row], diagnoses.known[row], diagnoses.mended[row] = code, text, text
                diagnoses.marks[row] |= 1 << faults.RESPELLED
                diagnoses.certain[row] = True

    def _compare(self, diagnoses: Diagnoses, rows: Int64, texts: list[str], dress: Int64) -> None:
        """Note which rows look like known ids, by their texts without what stands around them."""
        from harness.core.alike import AT, CASE, COUNT, EXPONENT, MEANT
        from harness.core.alike import damage as damages_of

        if len(rows) == 0:
            return
        ids = _series(texts)
        alike = self._meanings_of_all().of(ids, joined=self._joined)
        ids, meant, rows = ids.gather(alike[AT]), alike[MEANT], rows[alike[AT].to_numpy()]
        known = [text.encode() for text in meant]
        happened, single = damages_of(ids, meant), (alike[COUNT] == 1).to_numpy()
        marks, sure = self._judged(ids, meant, happened)
        # Digits that an exponent has lost are lost.
        certain = single & sure & (happened != EXPONENT).to_numpy()
        diagnoses.marks[rows] = marks | dress[rows]
        diagnoses.codes[rows] = np.where(single, self._codes(known), SEVERAL)
        diagnoses.further[rows] = alike[COUNT].to_numpy().astype(np.int64) - 1
        diagnoses.certain[rows] = certain
        diagnoses.by_case[rows] = (happened == CASE).to_numpy() & (dress[rows] == 0)
        for row, text, is_certain in zip(rows.tolist(), known, certain.tolist(), strict=True):
            diagnoses.known[row] = text
            if is_certain:
                diagnoses.mended[row] = text

    def _judged(self, ids: pl.Series, meant: pl.Series, happened: pl.Series) -> tuple[Int64, Bool]:
        """Return the fault of each id that looks like a known one, 1 << fault, and what is sure."""
        from harness.core.alike import CASE, DECIMAL, EXPONENT, QUOTES, SPACES, ZEROS

        complete, sure = self.known.complete, np.ones(len(ids), np.bool_)
        if not complete:  # in another case it may be another id, of which nothing is known
            sure = ((happened != CASE) | (ids.str.len_bytes() >= _SURE)).to_numpy()
        if not self._of_users and not complete:
            is_whole = (ids.str.replace(r"\.0+$", "") == meant) & (happened == DECIMAL)
            is_decimal = is_whole.to_numpy()
            is_spelt = ((happened == CASE) & meant.str.contains(_HEXADECIMAL)).to_numpy()
            marks = np.full(len(ids), 1 << faults.ALIKE, np.int64)
            marks[is_decimal], marks[is_spelt] = 1 << faults.DECIMAL, 1 << faults.RESPELLED
            return marks, sure & (is_decimal | is_spelt)
        fault_of, otherwise = {SPACES: faults.PADDED_ID}, faults.MANGLED_ID
        if not self._of_users:
            fault_of = {EXPONENT: faults.EXPONENT, DECIMAL: faults.DECIMAL}
            fault_of |= {QUOTES: faults.BRACKETS, ZEROS: faults.ZEROS_LOST}
            otherwise = faults.RESPELLED
        return np.array([1 << fault_of.get(name, otherwise) for name in happened], np.int64), sure

    def _meanings_of_all(self) -> Meanings:
        """Return what looks like all known ids, which are read again when this is first asked."""
        from harness.core.alike import Meanings

        with self._lock:
            if self._meanings is None:
                self._meanings = Meanings(_texts_of(self.known))
                forms = self._meanings.forms
                if forms is not None:
                    self.ids = faults.Ids(self.known, self.known.more(forms).table)
            return self._meanings


def _blame_unknown(diagnoses: Diagnoses) -> None:
    """Note items that there are none of: all are known."""
    has_text = np.array([bool(text) for text in diagnoses.mended])
    wrong = diagnoses.marks == 0
    wrong |= diagnoses.marks & 1 << faults.MISSHAPEN != 0
    wrong |= has_text
    wrong &= diagnoses.codes == -1
    diagnoses.marks[wrong] &= ~(1 << faults.MISSHAPEN | 1 << faults.ZEROS_LOST)
    diagnoses.marks[wrong] |= 1 << faults.UNKNOWN_ITEM
    for row in np.flatnonzero(has_text & ~diagnoses.certain):
        diagnoses.mended[row] = None


def _text(text: bytes | str) -> str:
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


def _series(texts: list[str]) -> pl.Series:
    import polars as pl  # slow to import

    return pl.Series("id", texts, dtype=pl.String)


def _texts_of(known: Known) -> pl.Series:
    """Return known ids, each once."""
    import polars as pl  # slow to import

    parts = [_series([])]
    for ids in chain.from_iterable(read() for read in known.texts):
        texts = ids if isinstance(ids, pl.Series) else _series([_text(text) for text in ids])
        parts.append(texts.alias("id"))
    return pl.concat(parts).unique()
