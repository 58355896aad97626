"""Any two faults in one file are both told."""

from itertools import combinations
from pathlib import Path

import pytest
from faulty import APART, FAULTS, not_told


@pytest.mark.parametrize("code", FAULTS)
def test_both_are_told(tmp_path: Path, code: str) -> None:
    pairs = [pair for pair in combinations(FAULTS, 2) if pair[0] == code]
    assert not_told((pair for pair in pairs if frozenset(pair) not in APART), tmp_path) == []
