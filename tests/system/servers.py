"""A server on this machine that answers as it is told, and what it serves."""

import gc
import hashlib
import io
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.data.datasets import DATASETS, PublicDataset

Answer = Callable[[BaseHTTPRequestHandler, "Server"], None]


def answering(
    status: int = 200, sent: int | None = None, *, says_how_much: bool = True, stalls: bool = False
) -> Answer:
    """Return an answer: all of the content, or `sent` bytes, and then the end, or nothing."""

    def answer(handler: BaseHTTPRequestHandler, server: "Server") -> None:
        handler.send_response(status)
        if status == 200 and says_how_much:
            handler.send_header("Content-Length", str(len(server.content)))
        handler.end_headers()
        if status == 200:
            handler.wfile.write(server.content[:sent])
        if stalls:
            handler.wfile.flush()
            server.ended.wait()

    return answer


@dataclass
class Server:
    """What is served, how each request is answered in turn (the last answer stays), and was."""

    content: bytes
    answers: list[Answer] = field(default_factory=lambda: [answering()])
    url: str = ""
    requests: int = 0
    asked: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.requests += 1
        self.asked.set()
        first = self.answers[0] if len(self.answers) == 1 else self.answers.pop(0)
        first(handler, self)


@contextmanager
def serving() -> Iterator[Server]:
    """Yield a server of a small ml-20m on a free port of this machine; it is gone afterwards."""
    served = Server(zipped())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.answer(self)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # a reader that leaves early

    with Quiet(("127.0.0.1", 0), Handler) as server:
        served.url = f"http://127.0.0.1:{server.server_port}/ml-20m.zip"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield served
        served.ended.set()
        server.shutdown()
        thread.join()
    with warnings.catch_warnings():  # pooch leaves a response open where a download fails
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


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
    """Return a zip archive of some members."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return raw.getvalue()


def as_ml_20m(url: str, archive: bytes) -> PublicDataset:
    """Return ml-20m as if it were this archive."""
    return replace(
        DATASETS["ml-20m"],
        url=url,
        size=len(archive),
        sha256=hashlib.sha256(archive).hexdigest(),
        files={name: len(FILES[name]) for name in ("ratings.csv", "movies.csv")},
    )
