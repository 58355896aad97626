"""``harness fetch``: checked by its sum, unpacked by name, whole or not there; what is said."""

import gc
import hashlib
import io
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest
from conftest import Cli, is_refused, refusal, tells

from harness.core.errors import DataError
from harness.core.progress import doing
from harness.data import datasets
from harness.data.datasets import DATASETS, Place, PublicDataset


class Answer(NamedTuple):
    """All of the content, or `sent` bytes, and then the end, or nothing."""

    status: int = 200
    sent: int | None = None
    says_how_much: bool = True
    stalls: bool = False


@dataclass
class Server:
    """What is served, how each request is answered in turn (the last answer stays), and was."""

    content: bytes
    answers: list[Answer] = field(default_factory=lambda: [Answer()])
    url: str = ""
    requests: int = 0
    asked: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)


RATINGS = "userId,movieId,rating,timestamp\n" + "".join(
    f"{user},{10 + (user + film) % 9},{rating},{1000 * user + film}\n"
    for user in range(1, 5)
    for film, rating in enumerate([5.0, 4.0, 4.5, 2.0, 5.0, 4.0, 4.5, 5.0])
)
"""Four users with eight ratings each, seven of them 4 or more."""
MOVIES = "movieId,title,genres\n" + "".join(f"{film},Film {film},Drama\n" for film in range(10, 19))
FILES = {"ratings.csv": RATINGS, "movies.csv": MOVIES, "README.txt": "cite us\n"}
IN_ARCHIVE = {f"ml-20m/{name}": text for name, text in FILES.items()}


def zipped(members: Mapping[str, str] = IN_ARCHIVE) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return raw.getvalue()


def changes(url: str, archive: bytes) -> dict[str, Any]:
    """Return what makes ml-20m this archive."""
    sizes = {name: len(FILES[name]) for name in ("ratings.csv", "movies.csv")}
    sha256 = hashlib.sha256(archive).hexdigest()
    return {"url": url, "size": len(archive), "sha256": sha256, "files": sizes}


def as_ml_20m(url: str, archive: bytes) -> PublicDataset:
    return replace(DATASETS["ml-20m"], **changes(url, archive))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Return a server of a small ml-20m on this machine, where the command looks for it."""
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(time, "sleep", lambda _: None)  # pooch waits before it tries again
    served = Server(zipped())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.requests += 1
            served.asked.set()
            answer = served.answers[0] if len(served.answers) == 1 else served.answers.pop(0)
            self.send_response(answer.status)
            if answer.status == 200 and answer.says_how_much:
                self.send_header("Content-Length", str(len(served.content)))
            self.end_headers()
            if answer.status == 200:
                self.wfile.write(served.content[: answer.sent])
            if answer.stalls:
                self.wfile.flush()
                served.ended.wait()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # a reader that leaves early

    with Quiet(("127.0.0.1", 0), Handler) as http:
        served.url = f"http://127.0.0.1:{http.server_port}/ml-20m.zip"
        known = {"ml-20m": as_ml_20m(served.url, served.content)}
        monkeypatch.setattr(datasets, "DATASETS", MappingProxyType(known))
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield served
        served.ended.set()
        http.shutdown()
        thread.join()
    with warnings.catch_warnings():  # pooch leaves a response open where a download fails
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def place(server: Server, tmp_path: Path) -> Place:
    return Place(as_ml_20m(server.url, server.content), tmp_path / "data" / "ml-20m")


def fill(place: Place) -> None:
    with doing("downloading", place.dataset.size, "B") as stage:
        place.fill(stage)


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


ALL = ["ml-20m/README.txt", "ml-20m/config.toml", "ml-20m/movies.csv", "ml-20m/ratings.csv"]


def test_files_and_a_config_come_after_downloads_that_fail(place: Place, server: Server) -> None:
    place.folder.mkdir(parents=True)  # an empty folder is filled
    server.answers = [Answer(sent=50), Answer(503), Answer(says_how_much=False)]
    fill(place)
    assert (server.requests, everything(place.folder.parent)) == (3, ALL)
    for name, text in FILES.items():
        assert (place.folder / name).read_text() == text
    assert place.is_filled()


def test_four_tries_are_all(place: Place, server: Server) -> None:
    for answer, words in (
        (Answer(404), "the server answers 404 Not Found"),
        (Answer(sent=50), "the connection failed (IncompleteRead(50 bytes read"),
    ):
        server.answers, server.requests = [answer], 0
        with refusal(DataError, server.url, words, "try again", f"save it as {place.archive}"):
            fill(place)
        assert (server.requests, everything(place.folder.parents[1])) == (4, [])


def test_what_was_changed_on_its_way_is_removed(place: Place, server: Server) -> None:
    server.content = zipped()[:-1] + b"x"
    sha256 = as_ml_20m("", server.content).sha256
    words = f"expected {place.dataset.sha256} but got {sha256}"
    with refusal(DataError, server.url, words, "another network"):
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


def test_names_that_lead_elsewhere_are_not_unpacked(place: Place, server: Server) -> None:
    evil = {"../evil": "x", "/evil": "x", "ml-20m/../../evil": "x", "C:\\evil": "x", "evil": "x"}
    server.content = zipped(IN_ARCHIVE | evil)
    fill(replace(place, dataset=as_ml_20m(server.url, server.content)))
    assert everything(place.folder.parents[1]) == [f"data/{name}" for name in ALL]


def test_what_is_broken_off_leaves_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "copyfileobj", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        fill(place)
    assert everything(place.folder.parents[1]) == []
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(shutil, "copyfileobj", Mock(side_effect=full))
    words = "cannot be written: No space left on device", "another --out"
    with refusal(DataError, str(place.folder), words):
        fill(place)
    assert everything(place.folder.parents[1]) == []


def test_what_it_prints_last_is_a_command_that_works(cli: Cli, server: Server) -> None:
    status, out, err = cli("fetch", "ml-20m")
    assert status == 0
    sizes = [f"data/ml-20m/{name}  {len(text):,} bytes" for name, text in FILES.items()]
    *lines, last = out.splitlines()
    assert set(sizes) < set(lines)
    assert last == "next  harness run data/ml-20m/config.toml"
    assert "MovieLens 20M: 20,000,263 ratings by 138,493 users" in err
    assert "no commercial use without GroupLens' permission" in err
    assert "https://files.grouplens.org/datasets/movielens/ml-20m-README.html" in err
    tells(cli("run", "data/ml-20m/config.toml"), 0, "item kNN", "popular", "random × 10")
    assert cli("fetch", "ml-20m") == (0, out, "data/ml-20m: already has ml-20m\n")
    assert server.requests == 1


def test_how_to_install_pooch_is_told(
    cli: Cli, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    is_refused(cli("fetch", "ml-20m"), "pip install pooch requests")
    assert server.requests == 0


FETCH = """
import dataclasses, sys
import harness.cli
from harness.data import datasets
ml_20m = dataclasses.replace(datasets.DATASETS["ml-20m"], **{changes})
datasets.DATASETS = {{"ml-20m": ml_20m}}
sys.argv = ["harness", "fetch", "ml-20m"]
harness.cli.main()
"""


@pytest.mark.parametrize(
    ("sent", "exit_status"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 130)]
)
def test_a_command_that_was_ended_begins_anew(
    sent: signal.Signals, exit_status: int, cli: Cli, server: Server, here: Path
) -> None:
    server.answers = [Answer(sent=50, stalls=True), Answer()]
    code = FETCH.format(changes=changes(server.url, server.content))
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=here, stderr=subprocess.PIPE, text=True) as process:
        assert server.asked.wait(120)
        process.send_signal(sent)
        _, err = process.communicate(timeout=120)
    assert process.returncode == exit_status
    assert "Traceback" not in err
    assert not (here / "data" / "ml-20m").exists()
    assert cli("fetch", "ml-20m")[0] == 0
    assert [path.name for path in (here / "data").iterdir()] == ["ml-20m"]
