"""Which ids are alike, and which are different ids however near."""

import polars as pl
import pytest

from harness.core.alike import Meanings

ALIKE = [
    ("u1", "u1\u200b"),  # zero-width space
    ("u1", "\u202au1\u202c"),  # marks of direction
    ("u1", "u1\ufe0f"),  # variation selector
    ("u1", "u1\x00"),
    ("u1", " u1"),
    ("u1", "u1\t"),
    ("u1", "u1\u00a0"),
    ("a b", "a\u00a0b"),
    ("12345", "12\u202f345"),
    ("caf\u00e9", "cafe\u0301"),
    ("Ann", "aNN"),
    ("Stra\u00dfe", "STRASSE"),
    ("\u0391\u03a3", "\u03b1\u03c2"),  # a sigma at the end of a word
    ("107", "107.0"),
    ("-5", "-5.00"),
    ("7", "007"),
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
    ("99961", "1E+05"),
    ("100000", "1e5"),
    ("1500", "1.5e3"),
    ("10", "\uff11\uff10"),  # full-width digits
    ("ab", "\uff21b"),
    ("sku-1", "sku\u20131"),  # an en dash
    ("-5", "\u22125"),
    ("125000", "1.2E+05"),  # a half, rounded to the even digit
    ("125000", "1.3E+05"),  # and up
]
DIFFERENT = [
    ("u1", "u2"),
    ("a b", "ab"),
    ("a b", "a  b"),
    ("a-b", "ab"),
    ("a_b", "ab"),
    ("e", "\u00e9"),
    ("i", "\u0131"),
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
    ("123456", "1e5"),  # a number without a plus is not rounded
    ("1500", "1.5e3a"),
    ("124000", "1.23E+05"),
    ("1234567", "1.23E+05"),
    ("\u200b", "\u00a0"),  # nothing is left of either
    ("'", '"'),
]


def meant(texts: list[str], known: list[str], **options: bool) -> list[tuple[int, str, int]]:
    return Meanings(pl.Series(known)).of(pl.Series(texts), **options).rows()


@pytest.mark.parametrize(("first", "other"), ALIKE)
def test_alike_whichever_is_known(first: str, other: str) -> None:
    assert meant([first], [other]) == [(0, other, 1)]
    assert meant([other], [first]) == [(0, first, 1)]


@pytest.mark.parametrize(("first", "other"), DIFFERENT)
def test_different_whichever_is_known(first: str, other: str) -> None:
    assert meant([first], [other]) == []
    assert meant([other], [first]) == []


def test_of_several_the_first_is_named_and_how_many_there_are() -> None:
    assert meant(["7", "x", "y"], ["07", "X", "007.0", "z"]) == [(0, "007.0", 2), (1, "X", 1)]
    numbers = ["123400", "123456", "0123499", "7"]
    assert meant(["1.234E+05"], numbers) == [(0, "123400", 1)]
    assert meant(["1.23E+05", "1.2E+05"], numbers) == [(0, "0123499", 3), (1, "0123499", 3)]
    assert meant(["a\u00a0b"], ["A\u00a0B"]) == [(0, "A\u00a0B", 1)]  # by both of its forms


def test_of_a_list_a_space_within_is_one() -> None:
    """Between the items of a list it stands for a space, never for nothing."""
    known = ["12345", "12 345"]
    assert meant(["12\u00a0345"], known) == [(0, "12 345", 2)]
    assert meant(["12\u00a0345"], known, joined=False) == [(0, "12 345", 1)]


def test_ids_are_not_changed() -> None:
    ids = pl.Series(["007", "'x", " y"])
    Meanings(ids).of(ids)
    assert ids.to_list() == ["007", "'x", " y"]
