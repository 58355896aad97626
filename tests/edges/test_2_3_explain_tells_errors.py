"""Case 2.3: explain says of a file that score would refuse it, and for what."""

from pathlib import Path

import pytest
from conftest import Cli, tells


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ("ann,x A1\nbob,b\n", "SUB317"),  # another case: a1 is true
        ('ann,"x,a1"\nbob,b\n', "SUB309"),  # read as one item
        ("ann,x a1\nbob,b\nbob,b\n", "SUB211"),
    ],
)
def test_what_score_refuses_is_not_explained_in_silence(cli: Cli, rows: str, code: str) -> None:
    Path("truth.csv").write_text("user,items\nann,a1\nbob,b\n")
    Path("file.csv").write_text("user,items\n" + rows)
    options = ["--solution", "truth.csv"]
    tells(cli("score", "file.csv", *options), 1, code)
    told = cli("explain", "file.csv", *options, "--user", "bob")[2]
    assert code in told
    assert "harness validate" in told


def test_of_a_sound_file_nothing_is_said(cli: Cli) -> None:
    Path("truth.csv").write_text("user,items\nann,a1\nbob,b\n")
    Path("file.csv").write_text("user,items\nann,x a1\nbob,b\n")
    status, _, err = cli("explain", "file.csv", "--solution", "truth.csv", "--user", "bob")
    assert (status, err) == (0, "")
