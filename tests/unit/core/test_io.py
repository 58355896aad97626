"""Which file is taken, and files and folders that are written whole or not at all."""

import gzip
import zipfile
from pathlib import Path

import pytest
from conftest import refusal

from harness.core.errors import DataError
from harness.core.io import find, parts, unpacked, whole_file, whole_folder


def touch(folder: Path, *names: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).touch()
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "files",
    [
        ["log.csv", "log.csv.gz", "log.csv.zip", "log.zip"],
        ["log.csv.gz", "log.csv.zip", "log.zip"],
        ["log.csv.zip", "log.zip"],
        ["log.zip", "log.txt"],
    ],
)
def test_the_plain_file_comes_first(tmp_path: Path, files: list[str]) -> None:
    assert find(touch(tmp_path, *files) / "log.csv") == tmp_path / files[0]


def test_a_missing_file_names_what_is_there(tmp_path: Path) -> None:
    path = touch(tmp_path, "b.csv", "a.csv") / "log.csv"
    with pytest.raises(DataError) as error:
        find(path)
    assert str(error.value) == (
        f"{path}: no such file (nor log.csv.gz, log.csv.zip)\n"
        f"the folder {tmp_path} holds: a.csv, b.csv"
    )
    touch(tmp_path, *(f"{i}.csv" for i in range(9)))
    with pytest.raises(DataError, match=r"holds: 0.csv, .*7.csv, …$"):
        find(path)
    with refusal(DataError, f"the folder {tmp_path}/none does not exist", "[data]"):
        find(tmp_path / "none" / "log.csv")


def test_parts_of_a_folder_by_name_without_markers(tmp_path: Path) -> None:
    touch(tmp_path, "_SUCCESS", ".part-2.csv", "notes.md")
    with refusal(DataError, "holds no table; expected files ending in .csv"):
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


def test_a_whole_file_takes_its_name_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "out.csv"
    with whole_file(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    with pytest.raises(ZeroDivisionError), whole_file(path) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "new"
    assert names(path.parent) == ["out.csv"]


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
