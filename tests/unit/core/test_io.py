"""Which file is taken; files and folders that are written whole or not at all, and leftovers."""

import gzip
import tempfile
import zipfile
from pathlib import Path

import pytest
from conftest import refusal

from harness.core import io
from harness.core.errors import DataError
from harness.core.io import find, parts, unpacked, whole_file, whole_folder


def touch(folder: Path, *names: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).touch()
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_plain_file_comes_first(tmp_path: Path) -> None:
    files = ["log.csv", "log.csv.gz", "log.csv.zip", "log.zip"]
    touch(tmp_path, *files, "log.txt")
    for name in files:
        assert find(tmp_path / "log.csv") == tmp_path / name
        (tmp_path / name).unlink()


def test_a_missing_file_names_what_is_there(tmp_path: Path) -> None:
    path = touch(tmp_path, "b.csv", "a.csv") / "log.csv"
    with pytest.raises(DataError) as error:
        find(path)
    assert str(error.value) == (
        f"{path}: no such file (nor log.csv.gz, log.csv.zip)\nthe folder {tmp_path} has: a.csv, "
        "b.csv"
    )
    touch(tmp_path, *(f"{i}.csv" for i in range(9)))
    with pytest.raises(DataError, match=r"has: 0.csv, .*7.csv, …$"):
        find(path)
    with refusal(DataError, f"the folder {tmp_path}/none does not exist", "[data]"):
        find(tmp_path / "none" / "log.csv")


def test_parts_of_a_folder_by_name_without_markers(tmp_path: Path) -> None:
    touch(tmp_path, "_SUCCESS", ".part-2.csv", "notes.md")
    with refusal(DataError, "no table in this folder; expected files that end in .csv"):
        parts(tmp_path)
    touch(tmp_path, "part-1.csv", "part-0.csv.gz")
    assert [p.name for p in parts(tmp_path)] == ["part-0.csv.gz", "part-1.csv"]


def test_unpacking_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"text"))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("b.csv", "text")
    for name in ("a.csv.gz", "b.zip"):
        with unpacked(tmp_path / name) as plain:
            assert plain.read_bytes() == b"text"
            assert plain.parent != tmp_path
        assert not plain.parent.exists()


def test_a_whole_file_takes_its_name_when_all_went_well(tmp_path: Path) -> None:
    path = tmp_path / "sub" / ("x" * 250 + ".csv")  # as long as can be
    with whole_file(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    with pytest.raises(ZeroDivisionError), whole_file(path) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert (names(path.parent), path.read_text()) == ([path.name], "new")


def test_a_whole_folder_replaces_the_old_one(tmp_path: Path) -> None:
    path = touch(tmp_path / "run", "old")
    with whole_folder(path) as temporary:
        touch(temporary, "new")
        assert names(path) == ["old"]
    with pytest.raises(ZeroDivisionError), whole_folder(path) as temporary:
        touch(temporary, "half")
        raise ZeroDivisionError
    assert (names(path), names(tmp_path)) == (["new"], ["run"])
    assert path.stat().st_mode & 0o777 == 0o755


def test_the_old_folder_comes_back_when_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = touch(tmp_path / "run", "old")
    replace = Path.replace

    def fails_for_the_new(self: Path, target: Path) -> Path:
        if self.name.endswith(".part"):
            raise PermissionError("no")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fails_for_the_new)
    with pytest.raises(PermissionError), whole_folder(path) as temporary:
        touch(temporary, "new")
    assert (names(path), names(tmp_path)) == (["old"], ["run"])


def of_dead(path: Path, machine: str = io.owner().split("-")[1], end: str = "part") -> Path:
    """Return a name that a process which is gone gave, here or on another machine."""
    name = io.beside(path, end).name
    return path.with_name(name.replace(io.owner(), f"99999999-{machine}"))


def test_what_a_killed_command_left_goes_and_no_link_is_followed(tmp_path: Path) -> None:
    touch(of_dead(tmp_path / "out.csv"), "file")
    touch(of_dead(tmp_path / "run"), "half")
    kept = touch(tmp_path / "kept", "file")
    of_dead(tmp_path / "run").symlink_to(kept)
    with whole_file(tmp_path / "out.csv") as temporary:
        temporary.write_text("whole")
    with whole_folder(tmp_path / "run") as temporary:
        touch(temporary, "whole")
    assert (names(tmp_path / "run"), names(kept)) == (["whole"], ["file"])
    assert {"kept", "out.csv", "run"} <= {*names(tmp_path)}
    assert not [path for path in tmp_path.glob(".*") if not path.is_symlink()]


def test_what_a_killed_command_put_aside_comes_back_and_what_it_unpacked_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the next command fails too."""
    touch(of_dead(tmp_path / "run", end="old"), "old")
    with pytest.raises(ZeroDivisionError), whole_folder(tmp_path / "run"):
        raise ZeroDivisionError
    assert (names(tmp_path), names(tmp_path / "run")) == (["run"], ["old"])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mine = io.owner().partition("-")[2]
    touch(tmp_path / f"harness-99999999-{mine}-abc", "a.csv")
    with io.temporary_folder() as made:
        assert names(tmp_path) == sorted([made.name, "run"])


def test_what_is_anothers_or_alive_stays(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    stay = [
        io.beside(path, "part").name,
        of_dead(path, "00000000").name,
        of_dead(tmp_path / "other.csv").name,
    ]
    stay += [".out.csv.part", ".out.csv.7.part", "out.csv.bak"]
    touch(tmp_path, *stay)
    with whole_file(path) as temporary:
        temporary.write_text("whole")
    assert {*names(tmp_path)} == {"out.csv", *stay}
