"""A fault is told beside another, as a pass over the lines finds all; every pair: conformance."""

import gzip
from pathlib import Path

from faulty import APART, FAULTS, against, content, not_told

from harness.submission.rules import RULES
from harness.submission.validate import validate

WITHOUT = {
    # No rows are read, or the header alone is concerned.
    *("SUB001", "SUB002", "SUB003", "SUB004", "SUB013", "SUB014", "SUB015", "SUB016", "SUB018"),
    *("SUB019", "SUB020", "SUB101", "SUB104", "SUB108", "SUB109", "SUB110"),
    "SUB214",  # where an evaluation set has more users than the sample
    "SUB318",  # of the config, not of the file
    *("SUB212", "SUB213"),  # where there are no ids that are asked for
    "SUB317",  # where ids are no numbers
    *("SUB210", "SUB312"),  # where nobody says which ids there are
    *("SUB111", "SUB313", "SUB314", "SUB315", "SUB316", "SUB319"),  # a row an item
    *("SUB401", "SUB402", "SUB403", "SUB404"),  # of all lists together
}


def test_every_rule_is_among_the_faults_or_said_not_to_be() -> None:
    assert set(FAULTS) | WITHOUT == set(RULES)


def test_each_is_told_beside_two_others(tmp_path: Path) -> None:
    """Beside its neighbour, and one of another group."""
    pairs = [(FAULTS[i - step], one) for i, one in enumerate(FAULTS) for step in (1, 9)]
    assert not_told((pair for pair in pairs if frozenset(pair) not in APART), tmp_path) == []


def test_both_are_told_of_a_packed_file(tmp_path: Path) -> None:
    path = tmp_path / "submission.csv.gz"
    path.write_bytes(gzip.compress(content("SUB203", "SUB007")))
    codes = {problem.code for problem in validate(path, against(tmp_path)).problems}
    assert codes == {"SUB203", "SUB007"}
