"""One file of known size from a server, on whom nothing relies: what is there is gone on with."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage, HTTPResponse
from io import FileIO
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from harness.core.errors import DataError, printable

_CHUNK = 1 << 16
_PASSING = {408, 425, 429, 500, 502, 503, 504}
"""What a server answers that may be well a moment later."""
_RANGE = 416
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_LONGEST_TAG = 200


@dataclass(frozen=True)
class Patience:
    """How long a server is waited for.

    Attributes
    ----------
    stall : float
        Seconds in which something must come.
    tries : int
        How often in turn a try may bring no byte that was not there before.
    pause : float
        Seconds before the second try; each further pause is twice as long.
    """

    stall: float = 30.0
    tries: int = 4
    pause: float = 1.0


@dataclass(frozen=True)
class Download:
    """What is fetched, and where what is there of it stands.

    Attributes
    ----------
    url : str
        https; http on this machine alone.
    size : int
        Its bytes, which are known: no more are ever taken.
    part : Path
        The file that grows; never the file itself, which has another name.
    patience : Patience
        How long the server is waited for.
    """

    url: str
    size: int
    part: Path
    patience: Patience = Patience()

    @property
    def tag(self) -> Path:
        """The file with the server's mark of the version that `part` is of."""
        return self.part.with_name(f"{self.part.name}.tag")

    @property
    def there(self) -> int:
        """How many bytes are there."""
        with suppress(OSError):
            return self.part.stat().st_size
        return 0

    def discard(self) -> None:
        """Remove what is there."""
        self.part.unlink(missing_ok=True)
        self.tag.unlink(missing_ok=True)

    def run(self, progress: Callable[[int], object]) -> None:
        """Fetch what is missing of the file; `progress` is told how many bytes more are there.

        Raises
        ------
        DataError
            The server does not give the file; the message says why, and what is there.
        """
        refuse_unsafe(self.url, self.url)
        with _writes(self.part):
            self.part.parent.mkdir(parents=True, exist_ok=True)
            file = self.part.open("ab", buffering=0)
        with file, _alone(file, self.part):
            try:
                _Receiver(self, file, progress).insist()
            finally:
                if not file.tell():
                    self.discard()


class _PassingError(Exception):
    """What may be gone at the next try; its text says what it was."""


@dataclass
class _Receiver:
    """Adds to the file what the server sends."""

    download: Download
    file: FileIO
    progress: Callable[[int], object]

    def insist(self) -> None:
        """Ask again until the file is whole, or as often as patience lasts."""
        size, patience = self.download.size, self.download.patience
        self.progress(self.file.tell())
        if self.file.tell() > size:
            self.begin_anew()
        opener, failed, most = build_opener(_Redirects(self.download.url)), 0, self.file.tell()
        while self.file.tell() != size:
            try:
                self._ask(opener)
            except _PassingError as error:
                failed = 1 if self.file.tell() > most else failed + 1
                most = max(most, self.file.tell())
                if failed >= patience.tries:
                    raise self._given_up(str(error)) from error
                time.sleep(patience.pause * 2 ** (failed - 1))

    def begin_anew(self) -> None:
        """Forget what is there."""
        if self.file.tell():
            self.progress(-self.file.tell())
            self.file.truncate(0)
            self.file.seek(0)
        self.download.tag.unlink(missing_ok=True)

    def _ask(self, opener: OpenerDirector) -> None:
        """Make one request for what is missing, and take what comes of it."""
        request = Request(self.download.url, headers=self._headers())  # noqa: S310 - looked at
        try:
            with opener.open(request, timeout=self.download.patience.stall) as response:
                self._take_up(response)
                self._receive(response)
        except HTTPError as error:
            raise self._refused(error) from error
        except (OSError, HTTPException) as error:
            raise self._cut(error) from error

    def _headers(self) -> dict[str, str]:
        headers, there = {"User-Agent": "submission-harness"}, self.file.tell()
        if there:
            headers["Range"] = f"bytes={there}-"
            with suppress(OSError, ValueError):
                headers["If-Range"] = _as_header(self.download.tag.read_text(encoding="ascii"))
        return headers

    def _take_up(self, response: HTTPResponse) -> None:
        """Look at what the server is about to send: the rest, or the whole file anew."""
        size, there, headers = self.download.size, self.file.tell(), response.headers
        if response.status == 206:
            first, total = _content_range(headers)
            self._refuse_other(size if total is None else total)
            if first != there:
                self.begin_anew()
                raise _PassingError("the server sends another part than was asked for")
        elif response.status == 200:
            length = _number(headers.get("Content-Length", ""))
            self._refuse_other(size if length is None else length)
            self.begin_anew()
            self._keep_tag(headers)
        else:
            raise self._unusable(f"answers {response.status} {response.reason}")

    def _keep_tag(self, headers: HTTPMessage) -> None:
        """Keep what tells this version of the file, so that no other is ever gone on with."""
        etag = headers.get("ETag", "")
        tag = headers.get("Last-Modified", "") if not etag or etag.startswith("W/") else etag
        with suppress(ValueError), _writes(self.download.tag):
            self.download.tag.write_text(_as_header(tag), encoding="ascii")

    def _receive(self, response: HTTPResponse) -> None:
        while chunk := response.read1(_CHUNK):
            if self.file.tell() + len(chunk) > self.download.size:
                self._refuse_other(self.file.tell() + len(chunk), "or more ")
            self._write(memoryview(chunk))
            self.progress(len(chunk))
        if self.file.tell() < self.download.size:
            raise _PassingError("the connection ended too early")

    def _write(self, chunk: memoryview) -> None:
        with _writes(self.download.part):
            while chunk:  # a disk that is full takes a part of it first
                chunk = chunk[self.file.write(chunk) :]

    def _refuse_other(self, size: int, more: str = "") -> None:
        """Raise DataError where the server has another file than the one that is meant."""
        if size == self.download.size:
            return
        self.begin_anew()
        raise self._unusable(
            f"has a file of {size:,} bytes {more}and not of {self.download.size:,}: it is another "
            "one, or a proxy or a page to log in on answers in its place"
        )

    def _refused(self, error: HTTPError) -> Exception:
        """Return what is raised where the server answers with an error."""
        answer = f"answers {error.code} {' '.join(str(error.reason).split())}"
        error.close()
        if error.code == _RANGE:
            self.begin_anew()
        if error.code in _PASSING | {_RANGE}:
            return _PassingError(f"the server {answer}")
        return self._unusable(
            "redirects, but never to a file" if error.code // 100 == 3 else answer
        )

    def _cut(self, error: OSError | HTTPException) -> Exception:
        """Return what is raised where the connection was not made, or is gone."""
        cause = error.reason if isinstance(error, URLError) else error
        if isinstance(cause, ssl.SSLCertVerificationError):
            return DataError(
                f"{self.download.url}: the server's certificate cannot be trusted "
                f"({cause.verify_message}): something stands between, or this Python has no "
                "certificates; SSL_CERT_FILE names a file with them"
            )
        if isinstance(cause, TimeoutError):
            return _PassingError(f"nothing came for {self.download.patience.stall:g} seconds")
        if isinstance(cause, socket.gaierror):
            return _PassingError(f"the server's name is not found ({cause.strerror})")
        said = getattr(cause, "strerror", None) or cause or type(cause).__name__
        return _PassingError(f"the connection failed ({printable(str(said))})")

    def _unusable(self, why: str) -> DataError:
        return DataError(f"{self.download.url}: the server {printable(why)}")

    def _given_up(self, why: str) -> DataError:
        there, size = self.file.tell(), self.download.size
        kept = f"{there:,} of {size:,} bytes are there, and the same command goes on from them"
        return DataError(f"{self.download.url}: {printable(why)}; {kept}")


def refuse_unsafe(url: str, start: str) -> None:
    """Raise DataError where a URL is not https; http is for servers on this machine alone.

    Parameters
    ----------
    start : str
        The URL that was asked for first; relative ones begin there.
    """
    try:
        to = urlsplit(urljoin(start, url))  # a relative one stays where it may be
    except ValueError:
        raise DataError(f"{start}: the server redirects to {printable(url)!r}, no URL") from None
    own = to.scheme == "http" and to.hostname in _LOOPBACK and urlsplit(start).hostname in _LOOPBACK
    if to.scheme != "https" and not own:
        raise DataError(f"{start}: leads to {printable(url)!r}, and https alone is followed")


class _Redirects(HTTPRedirectHandler):
    """Follows redirections to https, and to nothing else."""

    def __init__(self, start: str) -> None:
        self.start = start

    def http_error_302(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage
    ) -> Any:
        try:
            refuse_unsafe(headers.get("Location", ""), self.start)
        except DataError:
            fp.close()
            raise
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _content_range(headers: HTTPMessage) -> tuple[int | None, int | None]:
    """Return the first byte of a part that is sent, and the bytes of the whole, where told.

    Examples
    --------
    >>> headers = HTTPMessage()
    >>> headers["Content-Range"] = "bytes 10-99/100"
    >>> _content_range(headers)
    (10, 100)
    """
    span, _, total = headers.get("Content-Range", "").removeprefix("bytes ").partition("/")
    return _number(span.partition("-")[0]), _number(total)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() else None


def _as_header(tag: str) -> str:
    """Return a mark of a version; raise ValueError where no header can hold it."""
    if not tag.isascii() or not tag.isprintable() or not 0 < len(tag) <= _LONGEST_TAG:
        raise ValueError(tag)
    return tag


@contextmanager
def _writes(path: Path) -> Iterator[None]:
    """Raise DataError where a file cannot be written, as on a full disk."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written: {error.strerror}; mend that, or name another --out; the "
            "same command goes on where it stopped"
        ) from error


@contextmanager
def _alone(file: FileIO, path: Path) -> Iterator[None]:
    """Raise DataError where another process adds to the file at this moment."""
    with suppress(ImportError):  # not on Windows
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(
                f"{path}: another command fetches it at this moment; wait for it"
            ) from None
        except OSError:  # a file system without locks
            pass
    yield
