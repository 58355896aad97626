"""Which ids are alike, and which are different ids however near."""

import polars as pl
import pytest

from harness.core.alike import Forms, alike

ALIKE = [
    ("u1", "u1\u200b"),  # zero-width space
    ("u1", "\ufeffu1"),  # byte order mark
    ("u1", "u\u00ad1"),  # soft hyphen
    ("u1", "\u202au1\u202c"),  # marks of direction
    ("u1", "u1\ufe0f"),  # variation selector
    ("u1", "u1\x00"),
    ("u1", " u1"),
    ("u1", "u1\t"),
    ("u1", "u1\u00a0"),
    ("u1", "\u3000u1"),
    ("a b", "a\u00a0b"),
    ("12345", "12\u202f345"),
    ("caf\u00e9", "cafe\u0301"),
    ("Ann", "aNN"),
    ("Stra\u00dfe", "STRASSE"),
    ("\u0391\u03a3", "\u03b1\u03c2"),  # a sigma at the end of a word
    ("107", "107.0"),
    ("-5", "-5.00"),
    ("7", "007"),
    ("0345", "345"),
    ("0", "000"),
    ("0345", "345.0"),
    ("0345", "'345"),
    ("bob", "'bob"),
    ("bob", "\u201cbob\u201d"),
    ("bob", '"BOB "'),
    ("123456", "1.23E+05"),
    ("123456", "1,23456E+05"),
    ("0123456", "1.23456e+05"),
    ("9007199254740993", "9.0072E+15"),
    ("9007199254740993", "9.007199254740993E15"),
    ("99961", "1E+05"),
    ("125000", "1.2E+05"),  # a half, rounded to the even digit
    ("125000", "1.3E+05"),  # and up
]
DIFFERENT = [
    ("u1", "u1"),
    ("u1", "u2"),
    ("a b", "ab"),
    ("a b", "a  b"),
    ("a-b", "ab"),
    ("a_b", "ab"),
    ("e", "\u00e9"),
    ("i", "\u0131"),
    ("1", "\uff11"),  # a wide digit
    ("7", "70"),
    ("0a", "a"),
    ("07a", "7a"),
    ("7", "7.5"),
    ("7", "7."),
    ("1.0.0", "1"),
    ("a.0", "a"),
    ("bob", "bob'"),
    ("120000", "12e4"),
    ("12e4", "12E5"),
    ("124000", "1.23E+05"),
    ("1234567", "1.23E+05"),
    ("\u200b", "\u00a0"),  # nothing is left of either
    ("'", '"'),
]


def pairs(one: list[str], other: list[str]) -> list[tuple[int, int]]:
    return alike(Forms.of(pl.Series(one)), Forms.of(pl.Series(other))).rows()


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_alike_whichever_is_known(one: str, other: str) -> None:
    assert pairs([one], [other]) == [(0, 0)]
    assert pairs([other], [one]) == [(0, 0)]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_whichever_is_known(one: str, other: str) -> None:
    assert pairs([one], [other]) == []
    assert pairs([other], [one]) == []


def test_an_id_may_be_alike_to_several() -> None:
    assert pairs(["7", "x"], ["07", "X", "7", "007.0"]) == [(0, 0), (0, 3), (1, 1)]


def test_of_a_list_a_space_within_is_one() -> None:
    """Between the items of a list it stands for a space, never for nothing."""
    known = Forms.of(pl.Series(["12345", "12 345"]))
    file = pl.Series(["12\u00a0345"])
    assert alike(Forms.of(file), known).rows() == [(0, 0), (0, 1)]
    assert alike(Forms.of(file, joined=False), known).rows() == [(0, 1)]
