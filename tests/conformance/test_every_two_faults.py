"""Any two faults in one file are both found."""

from itertools import combinations
from pathlib import Path

import pytest
from faulty import APART, FAULTS, not_found


@pytest.mark.parametrize("code", FAULTS)
def test_both_are_found(tmp_path: Path, code: str) -> None:
    pairs = [pair for pair in combinations(FAULTS, 2) if pair[0] == code]
    assert not_found((pair for pair in pairs if frozenset(pair) not in APART), tmp_path) == []
