"""What a killed command left is removed by the next one; what is another's or alive is not."""

import os
from pathlib import Path

from harness.core import leftovers
from harness.core.io import whole_file, whole_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def of_dead(path: Path, end: str) -> Path:
    """Return a name that a process which is gone gave."""
    name = leftovers.beside(path, end).name
    return path.with_name(name.replace(f".{os.getpid()}-", ".99999999-"))


def test_a_half_file_and_a_half_folder_go(tmp_path: Path) -> None:
    of_dead(tmp_path / "out.csv", "part").write_text("half")
    of_dead(tmp_path / "run", "part").mkdir()
    with whole_file(tmp_path / "out.csv") as temporary:
        temporary.write_text("whole")
    with whole_folder(tmp_path / "run") as temporary:
        (temporary / "whole").touch()
    assert names(tmp_path) == ["out.csv", "run"]
    assert names(tmp_path / "run") == ["whole"]


def test_what_is_anothers_or_alive_stays(tmp_path: Path) -> None:
    mine = leftovers.beside(tmp_path / "out.csv", "part")
    dead, machine = mine.name.split(".")[3].split("-")
    elsewhere = mine.with_name(mine.name.replace(f"{dead}-{machine}", "99999999-00000000"))
    other_file = mine.with_name(mine.name.replace(".out.csv.", ".other.csv."))
    strange = [tmp_path / name for name in (".out.csv.part", ".out.csv.7.part", "out.csv.bak")]
    for path in (mine, elsewhere, other_file, *strange):
        path.touch()
    with whole_file(tmp_path / "out.csv") as temporary:
        temporary.write_text("whole")
    assert set(names(tmp_path)) == {
        "out.csv", *(path.name for path in (mine, elsewhere, other_file, *strange))
    }  # fmt: skip


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    of_dead(tmp_path / "run", "part").symlink_to(kept)
    with whole_folder(tmp_path / "run") as temporary:
        (temporary / "whole").touch()
    assert names(kept) == ["file"]


def test_a_name_that_is_as_long_as_can_be(tmp_path: Path) -> None:
    with whole_file(tmp_path / ("x" * 250 + ".csv")) as temporary:
        temporary.write_text("whole")
    assert names(tmp_path) == ["x" * 250 + ".csv"]
