"""A data set on disk: checked by its sum, unpacked by name, whole or not there."""

import re
import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import NoReturn

import pytest
from conftest import refusal
from servers import (
    FILES,
    IN_ARCHIVE,
    Answer,
    Server,
    as_ml_20m,
    cut,
    plain,
    serving,
    stalls,
    status,
    zipped,
)

from harness import config as config_
from harness.core.errors import DataError, UsageError
from harness.core.progress import steps
from harness.data import fetching
from harness.data.datasets import DATASETS, PublicDataset, known
from harness.data.fetching import Place


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(time, "sleep", lambda _: None)  # pooch waits before it tries again
    with serving() as server:
        server.content = zipped()
        yield server


@pytest.fixture
def place(server: Server, tmp_path: Path) -> Place:
    """Return where the served archive is to be unpacked."""
    return place_of(server, tmp_path)


def place_of(server: Server, folder: Path) -> Place:
    return Place(as_ml_20m(server.url, server.content), folder / "data" / "ml-20m")


def fill(place: Place) -> None:
    with steps("downloading", place.dataset.size, "B", shown=False) as bar:
        place.fill(bar)


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


ALL = ["ml-20m/README.txt", "ml-20m/config.toml", "ml-20m/movies.csv", "ml-20m/ratings.csv"]


def test_the_files_come_with_a_config_and_nothing_else(place: Place) -> None:
    assert not place.is_filled()
    fill(place)
    assert everything(place.folder.parent) == ALL
    for name, text in FILES.items():
        assert (place.folder / name).read_text() == text
    assert place.is_filled()


def test_a_download_that_fails_begins_anew(place: Place, server: Server) -> None:
    server.answers = [cut(50), status(503), plain]
    fill(place)
    assert server.requests == 3
    assert everything(place.folder.parent) == ALL


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (status(404), "the server answers 404 Not Found"),
        (status(503), "the server answers 503 Service Unavailable"),
        (cut(50), "the connection failed (IncompleteRead(50 bytes read"),
    ],
)
def test_a_download_is_given_up_after_four_tries(
    answer: Answer, says: str, place: Place, server: Server
) -> None:
    server.answers = [answer]
    with refusal(DataError, server.url, says, "try again", f"put it at {place.archive}"):
        fill(place)
    assert server.requests == 4
    assert everything(place.folder.parents[1]) == []


def test_a_server_that_stalls_is_left(
    place: Place, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "TIMEOUT", 0.2)
    server.answers = [stalls(50, 2)]
    with refusal(DataError, server.url, "the connection failed (timed out)"):
        fill(place)


def test_a_name_that_is_not_found(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> NoReturn:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with refusal(DataError, place.dataset.url, "the connection failed (Name or service not known)"):
        fill(place)


def test_what_was_changed_on_its_way_is_removed(place: Place, server: Server) -> None:
    server.content = zipped()[:-1] + b"x"
    sha256 = as_ml_20m("", server.content).sha256
    words = (server.url, f"expected {place.dataset.sha256} but got {sha256}", "another network")
    with refusal(DataError, *words):
        fill(place)
    assert everything(place.folder.parent) == []


def test_an_archive_that_a_person_has_brought_is_taken(place: Place, server: Server) -> None:
    place.archive.parent.mkdir()
    place.archive.write_bytes(server.content)
    fill(place)
    assert everything(place.folder.parent) == ["ml-20m.zip", *ALL]
    assert server.requests == 0


def test_another_archive_that_a_person_has_brought_is_left_alone(place: Place) -> None:
    place.archive.parent.mkdir()
    place.archive.write_bytes(b"mine")
    with refusal(DataError, str(place.archive), place.dataset.sha256, "move it away"):
        fill(place)
    assert place.archive.read_bytes() == b"mine"


def test_a_folder_that_has_the_files_is_left_alone(place: Place, server: Server) -> None:
    fill(place)
    (place.folder / "config.toml").write_text("mine")
    (place.folder / "notes.txt").write_text("mine")
    assert place.is_filled()
    assert (place.folder / "config.toml").read_text() == "mine"
    assert server.requests == 1


def test_files_that_were_unpacked_by_hand_get_a_config(place: Place, server: Server) -> None:
    place.folder.mkdir(parents=True)
    for name in ("ratings.csv", "movies.csv"):
        (place.folder / name).write_text(FILES[name])
    assert place.is_filled()
    assert (place.folder / "config.toml").is_file()
    assert server.requests == 0


@pytest.mark.parametrize(
    ("there", "says"),
    [
        ({"mine.txt": "x"}, "has mine.txt, but not ratings.csv of ml-20m with its"),
        ({"ratings.csv": "x", "movies.csv": FILES["movies.csv"]}, "but not ratings.csv"),
    ],
)
def test_a_folder_with_other_files_is_refused(
    there: dict[str, str], says: str, place: Place
) -> None:
    place.folder.mkdir(parents=True)
    for name, text in there.items():
        (place.folder / name).write_text(text)
    with refusal(UsageError, str(place.folder), says, "name another --out"):
        place.is_filled()
    assert {path.name: path.read_text() for path in place.folder.iterdir()} == there


def test_a_file_in_its_place_is_refused(place: Place) -> None:
    place.folder.parent.mkdir()
    place.folder.write_text("mine")
    with refusal(UsageError, str(place.folder), "Not a directory", "--out"):
        place.is_filled()


@pytest.mark.parametrize("folder", [".", "..", "/", "new/.."])
def test_a_folder_without_a_name_of_its_own_is_refused(
    folder: str, place: Place, here: Path
) -> None:
    with refusal(UsageError, "name a folder to make with --out"):
        replace(place, folder=Path(folder)).is_filled()


def test_an_empty_folder_is_filled(place: Place) -> None:
    place.folder.mkdir(parents=True)
    assert not place.is_filled()
    fill(place)
    assert everything(place.folder.parent) == ALL


def test_names_that_lead_elsewhere_are_not_unpacked(server: Server, tmp_path: Path) -> None:
    evil = {"../evil": "x", "/evil": "x", "ml-20m/../../evil": "x", "C:\\evil": "x", "evil": "x"}
    server.content = zipped(IN_ARCHIVE | evil)
    place = place_of(server, tmp_path)
    fill(place)
    assert everything(tmp_path) == [f"data/{name}" for name in ALL]


def test_a_disk_without_room_is_told_before(
    place: Place, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = place.dataset.size + sum(place.dataset.files.values())
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=needed - 1))
    with refusal(DataError, "MB free, and ml-20m needs 0.0 MB", "--out"):
        fill(place)
    assert (server.requests, everything(place.folder.parents[1])) == (0, [])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=needed))
    fill(place)


def test_a_folder_that_was_made_for_nothing_is_removed(place: Place, tmp_path: Path) -> None:
    nowhere = replace(place.dataset, url="http://127.0.0.1:1/ml-20m.zip")
    with refusal(DataError, "127.0.0.1"):
        fill(replace(place, dataset=nowhere, folder=tmp_path / "deep" / "data" / "ml-20m"))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "data").mkdir()
    with refusal(DataError, "127.0.0.1"):
        fill(replace(place, dataset=nowhere))
    assert everything(tmp_path) == []
    assert (tmp_path / "data").is_dir()


def interrupted(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def test_an_interruption_leaves_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "copyfileobj", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fill(place)
    assert list(place.folder.parents[1].iterdir()) == []


def test_a_full_disk_while_unpacking_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    words = (str(place.folder), "cannot be written: No space left on device", "another --out")
    with refusal(DataError, *words):
        fill(place)
    assert list(place.folder.parents[1].iterdir()) == []


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=list(DATASETS))
def test_a_declaration_is_sound(dataset: PublicDataset) -> None:
    assert re.fullmatch("[0-9a-f]{64}", dataset.sha256)
    assert dataset.url == f"https://files.grouplens.org/datasets/movielens/{dataset.name}.zip"
    for name in dataset.members:
        assert PurePosixPath(name).parts == (dataset.folder, PurePosixPath(name).name)
    assert "commercial" in dataset.licence.text
    assert "Harper and J. A. Konstan (2015)" in dataset.licence.text


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=list(DATASETS))
def test_the_config_is_sound_and_its_files_come(dataset: PublicDataset, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(fetching.config_of(dataset), encoding="utf-8")
    tables = config_.read(path).layout().tables
    assert {Path(table.name).name for table in tables} <= dataset.files.keys()
    assert len(path.read_text(encoding="utf-8").splitlines()) < 50


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ml-1", ('did you mean "ml-1m"?', "ml-32m")),
        ("ML-25M", ('did you mean "ml-25m"?',)),
        ("netflix", ("allowed: ml-100k, ml-1m, ml-10m, ml-20m, ml-25m, ml-32m",)),
        ("ml-latest-small", ("GroupLens changes it now and then", "ml-100k")),
    ],
)
def test_a_name_that_is_not_known(name: str, words: tuple[str, ...]) -> None:
    with refusal(UsageError, f'has no "{name}"', *words):
        known(name)
