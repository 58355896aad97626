"""Case 2.3: explain says of a file that score would refuse it, and for what."""

from pathlib import Path

import pytest

from harness.cli import app, guarded


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ("ann,x A1\nbob,b\n", "SUB317"),  # another case: a1 is true
        ('ann,"x,a1"\nbob,b\n', "SUB309"),  # read as one item
        ("ann,x a1\nbob,b\nbob,b\n", "SUB211"),
    ],
)
def test_what_score_refuses_is_not_explained_in_silence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    rows: str,
    code: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("truth.csv").write_text("user,items\nann,a1\nbob,b\n")
    Path("file.csv").write_text("user,items\n" + rows)
    options = ["--solution", "truth.csv"]
    assert guarded(lambda: app(["score", "file.csv", *options], standalone_mode=False)) == 1
    assert code in capfd.readouterr().out
    explain = ["explain", "file.csv", *options, "--user", "bob"]
    guarded(lambda: app(explain, standalone_mode=False))
    told = capfd.readouterr().err
    assert code in told
    assert "harness validate" in told


def test_of_a_sound_file_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("truth.csv").write_text("user,items\nann,a1\nbob,b\n")
    Path("file.csv").write_text("user,items\nann,x a1\nbob,b\n")
    explain = ["explain", "file.csv", "--solution", "truth.csv", "--user", "bob"]
    assert not guarded(lambda: app(explain, standalone_mode=False))
    assert capfd.readouterr().err == ""
