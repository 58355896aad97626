"""Any two faults in one file are both found, as a pass over the lines finds all."""

from itertools import combinations
from pathlib import Path

import pytest
from faulty import APART, FAULTS, against, found

from harness.submission.rules import OF_FAULT


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
