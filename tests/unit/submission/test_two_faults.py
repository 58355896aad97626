"""A fault is found beside another, as a pass over the lines finds all; every pair: conformance."""

import gzip
from pathlib import Path

from faulty import APART, FAULTS, against, content, not_found

from harness.submission.rules import OF_FAULT
from harness.submission.validate import validate


def test_every_fault_of_a_line_is_among_them() -> None:
    """But those of ids that are no numbers, or that nobody knows."""
    of_lines = {code for fault, code in OF_FAULT.items() if isinstance(fault, int)}
    assert of_lines - set(FAULTS) == {"SUB210", "SUB312", "SUB317"}


def test_each_is_found_beside_two_others(tmp_path: Path) -> None:
    """Beside its neighbour, and one of another group."""
    pairs = [(FAULTS[i - step], one) for i, one in enumerate(FAULTS) for step in (1, 9)]
    assert not_found((pair for pair in pairs if frozenset(pair) not in APART), tmp_path) == []


def test_both_are_found_in_a_packed_file(tmp_path: Path) -> None:
    path = tmp_path / "submission.csv.gz"
    path.write_bytes(gzip.compress(content("SUB203", "SUB007")))
    codes = {problem.code for problem in validate(path, against(tmp_path)).problems}
    assert codes == {"SUB203", "SUB007"}
