"""Which file is taken, and files and folders that are written whole or not at all."""

import gzip
import zipfile
from pathlib import Path

import pytest

from harness.core.errors import DataError
from harness.core.io import find, parts, unpacked, whole_file, whole_folder


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).touch()


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        (["log.csv", "log.csv.gz", "log.csv.zip", "log.zip"], "log.csv"),
        (["log.csv.gz", "log.csv.zip", "log.zip"], "log.csv.gz"),
        (["log.csv.zip", "log.zip"], "log.csv.zip"),
        (["log.zip", "log.txt"], "log.zip"),
    ],
)
def test_the_plain_file_comes_first(tmp_path: Path, there: list[str], taken: str) -> None:
    touch(tmp_path, *there)
    assert find(tmp_path / "log.csv") == tmp_path / taken


def test_a_missing_file_names_what_is_there(tmp_path: Path) -> None:
    touch(tmp_path, "b.csv", "a.csv")
    with pytest.raises(DataError) as error:
        find(tmp_path / "log.csv")
    assert str(error.value) == (
        f"{tmp_path}/log.csv: no such file (nor log.csv.gz, log.csv.zip)\n"
        f"the folder {tmp_path} holds: a.csv, b.csv"
    )


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=rf"the folder {tmp_path}/none does not exist.*\[data\]"):
        find(tmp_path / "none" / "log.csv")


def test_many_neighbours_are_cut_short(tmp_path: Path) -> None:
    touch(tmp_path, *(f"{i}.csv" for i in range(9)))
    with pytest.raises(DataError, match=r"holds: 0.csv, .*7.csv, …$"):
        find(tmp_path / "log.csv")


def test_parts_of_a_folder_by_name_without_markers(tmp_path: Path) -> None:
    names = ["part-1.csv", "part-0.csv.gz", "_SUCCESS", ".part-2.csv", "notes.md"]
    touch(tmp_path, *names)
    assert [p.name for p in parts(tmp_path)] == ["part-0.csv.gz", "part-1.csv"]


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    touch(tmp_path, "_SUCCESS")
    with pytest.raises(DataError, match=r"holds no table; expected files ending in .csv"):
        parts(tmp_path)


def test_unpacking_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"text"))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("b.csv", "text")
    for name in ("a.csv.gz", "b.zip"):
        with unpacked(tmp_path / name) as plain:
            assert plain.read_bytes() == b"text"
            assert plain.parent != tmp_path
        assert not plain.parent.exists()


def test_a_whole_file_takes_its_name_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "out.csv"
    with whole_file(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert [p.name for p in path.parent.iterdir()] == ["out.csv"]


def test_a_file_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), whole_file(path) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


def test_a_whole_folder_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    (path / "old").touch()
    with whole_folder(path) as temporary:
        (temporary / "new").touch()
        assert [p.name for p in path.iterdir()] == ["old"]
    assert [p.name for p in path.iterdir()] == ["new"]
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    assert path.stat().st_mode & 0o777 == 0o755


def test_a_folder_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    (path / "old").touch()
    with pytest.raises(ZeroDivisionError), whole_folder(path) as temporary:
        (temporary / "half").touch()
        raise ZeroDivisionError
    assert [p.name for p in path.iterdir()] == ["old"]
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_the_old_folder_comes_back_when_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run"
    path.mkdir()
    (path / "old").touch()
    replace = Path.replace

    def fails_for_the_new(self: Path, target: Path) -> Path:
        if self.name.endswith(".part"):
            raise PermissionError("no")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fails_for_the_new)
    with pytest.raises(PermissionError), whole_folder(path) as temporary:
        (temporary / "new").touch()
    assert [p.name for p in path.iterdir()] == ["old"]
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
