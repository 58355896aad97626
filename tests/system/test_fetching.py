"""A data set from a server to disk: checked by its sum, unpacked by name, whole or not there."""

import shutil
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
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

from harness.core.errors import DataError
from harness.core.progress import steps
from harness.data.fetching import Place


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(time, "sleep", lambda _: None)  # pooch waits before it tries again
    with serving() as server:
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


def test_the_files_come_with_a_config_and_nothing_else(place: Place, server: Server) -> None:
    place.folder.mkdir(parents=True)  # an empty folder is filled
    fill(place)
    assert everything(place.folder.parent) == ALL
    for name, text in FILES.items():
        assert (place.folder / name).read_text() == text
    assert place.is_filled()
    assert server.requests == 1


def test_a_download_that_fails_begins_anew(place: Place, server: Server) -> None:
    server.answers = [cut(50), status(503), plain]
    fill(place)
    assert server.requests == 3
    assert everything(place.folder.parent) == ALL


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (status(404), "the server answers 404 Not Found"),
        (status(503), "the server answers 503 Service Unavailable"),
        (cut(50), "the connection failed (IncompleteRead(50 bytes read"),
    ],
    ids=["404", "503", "cut"],
)
def test_a_download_is_given_up_after_four_tries(
    answer: Answer, said: str, place: Place, server: Server
) -> None:
    server.answers = [answer]
    with refusal(DataError, server.url, said, "try again", f"put it at {place.archive}"):
        fill(place)
    assert server.requests == 4
    assert everything(place.folder.parents[1]) == []


def test_a_server_that_stalls_is_left(place: Place, server: Server) -> None:
    server.answers = [stalls(50)]
    with refusal(DataError, server.url, "the connection failed (timed out)"):
        fill(replace(place, timeout=0.5))


def raises(error: BaseException) -> Callable[..., NoReturn]:
    def function(*_: object, **__: object) -> NoReturn:
        raise error

    return function


def test_a_name_that_is_not_found(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    monkeypatch.setattr(socket, "getaddrinfo", raises(unknown))
    with refusal(DataError, place.dataset.url, "the connection failed (Name or service not known)"):
        fill(place)


def test_what_was_changed_on_its_way_is_removed(place: Place, server: Server) -> None:
    server.content = zipped()[:-1] + b"x"
    sha256 = as_ml_20m("", server.content).sha256
    said = f"expected {place.dataset.sha256} but got {sha256}", "another network"
    with refusal(DataError, server.url, *said):
        fill(place)
    assert everything(place.folder.parent) == []


def test_an_archive_that_a_person_has_brought_is_taken(place: Place, server: Server) -> None:
    place.archive.parent.mkdir()
    place.archive.write_bytes(b"mine")
    with refusal(DataError, str(place.archive), place.dataset.sha256, "move it away"):
        fill(place)
    assert place.archive.read_bytes() == b"mine"
    place.archive.write_bytes(server.content)
    fill(place)
    assert everything(place.folder.parent) == ["ml-20m.zip", *ALL]
    assert server.requests == 0


def test_names_that_lead_elsewhere_are_not_unpacked(server: Server, tmp_path: Path) -> None:
    evil = {"../evil": "x", "/evil": "x", "ml-20m/../../evil": "x", "C:\\evil": "x", "evil": "x"}
    server.content = zipped(IN_ARCHIVE | evil)
    fill(place_of(server, tmp_path))
    assert everything(tmp_path) == [f"data/{name}" for name in ALL]


def test_a_disk_without_room_is_named_before(
    place: Place, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = place.dataset.size + sum(place.dataset.files.values())
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=needed - 1))
    with refusal(DataError, "MB free, and ml-20m needs 0.0 MB", "--out"):
        fill(place)
    assert (server.requests, everything(place.folder.parents[1])) == (0, [])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=needed))
    fill(place)


def test_folders_that_were_made_for_nothing_are_removed(place: Place, tmp_path: Path) -> None:
    nowhere = replace(place, dataset=replace(place.dataset, url="http://127.0.0.1:1/ml-20m.zip"))
    with refusal(DataError, "127.0.0.1"):
        fill(replace(nowhere, folder=tmp_path / "deep" / "data" / "ml-20m"))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "data").mkdir()
    with refusal(DataError, "127.0.0.1"):
        fill(nowhere)
    assert [path.name for path in tmp_path.rglob("*")] == ["data"]


def test_an_interruption_or_a_full_disk_leaves_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "copyfileobj", raises(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        fill(place)
    assert list(place.folder.parents[1].iterdir()) == []
    monkeypatch.setattr(shutil, "copyfileobj", raises(OSError(28, "No space left on device")))
    said = "cannot be written: No space left on device", "another --out"
    with refusal(DataError, str(place.folder), *said):
        fill(place)
    assert list(place.folder.parents[1].iterdir()) == []
