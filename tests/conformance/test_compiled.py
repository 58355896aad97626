"""What is compiled: the same as uncompiled, to the last bit, and bounds are checked."""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from harness.core import _kernels as core
from harness.delimited import _delimited
from harness.delimited._delimited import Tally
from harness.delimited.blocks import padded
from harness.submission import _kernels as submission
from harness.submission.keys import nothing
from harness.submission.rules import OF_FAULT

SHARED = "harness.models._kernels"
"""Its functions can be shared by compiled modules alone."""


def uncompiled(name: str) -> ModuleType:
    """Return a module made anew from its source, whatever was compiled of it."""
    path = ROOT / f"{name.replace('.', '/')}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_uncompiled", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        if name != SHARED:
            patch.setitem(sys.modules, SHARED, uncompiled(SHARED))
        spec.loader.exec_module(module)
    return module


def ragged(draw: np.random.Generator, rows: int, below: int) -> tuple[Any, Any]:
    """Return ascending numbers of some rows as CSR, int64."""
    held = [np.flatnonzero(draw.random(below) < 0.3) for _ in range(rows)]
    return np.cumsum([0, *map(len, held)]), np.concatenate(held).astype(np.int64)


def matrix(draw: np.random.Generator, rows: int, columns: int, kind: type) -> tuple[Any, ...]:
    starts, places = ragged(draw, rows, columns)
    return starts, places.astype(np.int32), draw.normal(size=len(places)).astype(kind)


def of_metrics(draw: np.random.Generator) -> dict[str, list[Any]]:
    indptr, indices = ragged(draw, 8, 12)
    truth = indptr, indices.astype(np.int32)
    items = draw.integers(-1, 12, (8, 5)).astype(np.int32)
    sums, counts = list(np.zeros((2, 8))), list(np.zeros((4, 8), np.int32))
    scratch = np.zeros(5, np.uint8), np.zeros(12, np.uint8)
    known = items, *truth, np.diff(indptr).astype(np.int32), 1 / np.arange(1.0, 6)
    users, candidates = np.arange(8, dtype=np.int32), np.arange(-1, 11, dtype=np.int32)
    codes, starts = draw.integers(0, 12, 40).astype(np.int32), np.arange(0, 45, 5)
    seen = np.zeros(len(indices), np.uint8)
    return {
        "tally": [*known, int(draw.integers(0, 6)), *scratch, *sums, *counts],
        "ranks": [items, *truth, 5, np.zeros(len(indices), np.int32)],
        "count_again": [users, starts, codes, candidates, *truth, seen, np.zeros(8, np.int64)],
    }


def of_models(draw: np.random.Generator) -> dict[str, list[Any]]:
    held = ragged(draw, 6, 9)
    lists = np.full((6, 4), -1, np.int32)
    begun = lists.copy()
    begun[:, 0] = draw.integers(-1, 9, 6)
    order = draw.permutation(9).astype(np.int32)
    narrow, right = ((np.float32, np.float64)[n] for n in draw.integers(0, 2, 2))
    users, items = matrix(draw, 6, 5, narrow), matrix(draw, 5, 9, right)
    added = bool(draw.random() < 0.5)  # norms, and what the sum of terms counts among them
    norms = draw.random(6) + 0.5, draw.random(9) + 0.5, added, added / 2, 0.25
    items_of_row = draw.integers(-1, 9, (6, 7)).astype(np.int32)
    more = (np.broadcast_to(order, (6, 9)), True) if draw.random() < 0.5 else (items_of_row, False)
    dense = draw.normal(size=(5, 9)).astype(right)
    barred = np.where(draw.random(9) < 0.2, -np.inf, 0).astype(right)
    scratch = held[0][:-1].copy(), np.zeros(6, np.int64), np.empty(4, right)
    return {
        "first_of": [lists, np.array([0, 4, 9]), order, np.array([0, 1, -1] * 2, np.int32), *held],
        "extend": [begun.copy(), *more, *held],
        "are_good": [draw.integers(-1, 9, (6, 2)), 9, *held],
        "largest_products": [
            *(0, 6, *users, *items, *norms, *held, True, np.zeros(9), np.empty(10, np.int32)),
            *(lists.copy(), np.zeros((6, 4))),
        ],
        "largest_scores": [
            *(0, 6, *users[:2], users[2].astype(right), dense, barred, *held, *scratch),
            *(np.zeros((6, 4), right), lists.copy()),
        ],
    }


def of_baselines(draw: np.random.Generator) -> dict[str, list[Any]]:
    starts = np.arange(0, 35, 5)
    items = draw.integers(0, 7, 30).astype(np.int32)
    candidate = np.array([-1, 0, 1, 2, 3, 4, 5], np.int32)
    times = np.sort(draw.integers(-20, 0, (6, 5)), axis=1).ravel()
    held, lists = ragged(draw, 6, 6), np.full((6, 3), -1, np.int32)
    square = starts, items % 6, draw.random(30)
    asked = draw.integers(-1, 6, (2, 6, 4)).astype(np.int32)
    users = np.repeat(np.arange(6, dtype=np.int32), 5)
    by_item = np.argsort(items, kind="stable")
    begins = np.searchsorted(items[by_item], np.arange(8))
    pairs = begins, by_item, users, candidate[items], times
    whole = starts, items.astype(np.int64), draw.random(30)
    keys, three = draw.integers(0, 2**64, 6, np.uint64), np.zeros(3, np.int64)
    places = draw.integers(-1, 6, (6, 4)).astype(np.int32)
    return {
        "distinct": [keys, np.arange(6), np.arange(6, dtype=np.int32), three, lists.copy()],
        "latest": [starts, items, candidate, times, *held, lists.copy()],
        "gram": [0, 6, *square, *square, np.zeros((6, 6))],
        "fuse": [
            asked,
            draw.integers(1, 99, (2, 4)),
            3,
            np.zeros(6, np.int64),
            three,
            lists.copy(),
        ],
        "count_pairs": [users, items, times, 9.0, np.zeros(7, np.int64)],
        "pairs": [
            *(0, 7, *pairs, draw.random(30), 2.0 ** draw.integers(2, 50, 7), 9.0, 4.0),
            *(np.arange(0, 48, 6), np.zeros(6, np.int64), np.empty(7, np.int32)),
            *(np.zeros(7, np.int64), np.zeros(42, np.int32), np.zeros(42, np.int64)),
        ],
        "heaviest": [
            *(0, 6, starts.astype(np.int32), items, draw.integers(1, 9, 30)),
            *(np.full((6, 3), -1, np.int32), np.zeros((6, 3))),
        ],
        "pair_products": [0, 6, *whole, *whole, places, np.zeros(7), np.zeros((6, 4))],
    }


CASES = {
    "harness.metrics._kernels": of_metrics,
    SHARED: of_models,
    "baselines._kernels": of_baselines,
}


@pytest.mark.parametrize("name", CASES)
def test_uncompiled_it_gives_the_same_bits(name: str) -> None:
    compiled, plain = importlib.import_module(name), uncompiled(name)
    loops = {key for key, value in vars(compiled).items() if callable(value) and key[0] != "_"}
    for seed in range(20):
        cases = CASES[name](np.random.default_rng(seed))
        assert cases.keys() == loops
        for function, arguments in cases.items():
            copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
            assert getattr(compiled, function)(*arguments) == getattr(plain, function)(*copies)
            for argument, other in zip(arguments, copies, strict=True):
                assert np.asarray(argument).tobytes() == np.asarray(other).tobytes(), (
                    function,
                    seed,
                )


def test_slices_that_do_not_fit_are_refused() -> None:
    """0.1 and 1e9 have digits in slices 32 to 35, counted from 2^(−32 · 34)."""
    item, weight = np.zeros(2, np.int32), np.array([0.1, 1e9])
    assert core.slice_span(weight) == (32, 35)
    for columns in range(4):
        with pytest.raises(ValueError, match=f"{columns} slices of 2 weights"):
            core.add_slices(item, weight, 32, np.zeros((1, columns), np.int64))
    with pytest.raises(IndexError):
        core.add_slices(item + 1, weight, 32, np.zeros((1, 4), np.int64))


TEXT = padded(b"ann,a b\n")
PLACES, KEYS = np.zeros((1, 2), np.int64), np.zeros((1, 2), np.uint64)
SECRET, LINE = np.zeros(2, np.uint64), np.zeros(1, np.int64)


def int32(*numbers: int) -> Any:
    return np.array(numbers, np.int32)


UNENDED = padded(b"ann,a b")


@pytest.mark.parametrize(
    "call",
    [
        # A line without an end; bytes outside the buffer; lists and lines that do not fit.
        lambda: _delimited.cut(
            UNENDED, 7, 44, 10, 1, int32(0, 1), PLACES, PLACES.copy(), int32(0), Tally()
        ),
        lambda: _delimited.keys(TEXT, np.array([-1]), np.array([3]), SECRET, KEYS),
        lambda: _delimited.keys(TEXT, np.array([0]), np.array([9]), SECRET, KEYS),
        lambda: submission.mark_repeats(
            np.ones(1, np.uint8), int32(3), LINE, np.zeros(1, np.uint8)
        ),
        lambda: _delimited.plain(
            TEXT, 8, 44, True, -1, True, 99, np.zeros(3, np.uint8), *[LINE] * 3
        ),
        lambda: _delimited.mark(TEXT.copy(), len(TEXT), b"::"),
    ],
)
def test_nothing_is_read_or_written_outside_a_buffer(call: Callable[[], object]) -> None:
    with pytest.raises(IndexError):
        call()


def test_a_separator_has_one_to_eight_bytes_and_a_table_of_ids_a_power_of_two() -> None:
    """A place in the table is a key's lowest bits."""
    for size in (0, 9):
        with pytest.raises(ValueError, match=f"a separator of {size} bytes"):
            _delimited.mark(TEXT.copy(), 8, b":" * size)
    table = np.zeros((3, 2), np.uint64)
    with pytest.raises(ValueError, match=r"\(3, 2\)"):
        submission.Ids(replace(nothing(), table=table))


def test_a_table_without_a_free_row_is_not_searched_for_ever() -> None:
    full = np.array([[1, 1], [2, 2]], np.uint64)  # the codes 0 and 1
    codes, unknown = np.full(1, -1, np.int32), np.array([[3, 0]], np.uint64)
    assert core.codes(unknown, 0, full, 2, 2, codes) == (0, 2)


def test_every_fault_of_a_line_has_a_rule() -> None:
    """That a list holds one item is nothing, unless all do: SUB404."""
    assert len([fault for fault in OF_FAULT if isinstance(fault, int)]) == submission.COUNT - 1
