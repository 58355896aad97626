"""One file over a bad connection: what is there is gone on with, and no more is ever taken."""

import fcntl
import socket
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import servers
from conftest import refusal
from hypothesis import given
from hypothesis import strategies as st
from servers import Answer, Server, cut, plain, serving, stalls, status, whole

from harness.core.errors import DataError
from harness.data.download import Download, Patience

CONTENT = bytes(range(100))
HASTY = Patience(stall=10, tries=2, pause=0)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        server.content = CONTENT
        yield server


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "new" / "ml-20m.zip.part"


def fetch(server: Server, part: Path, patience: Patience = HASTY) -> int:
    """Download, and return how many bytes the bar has moved in all."""
    told: list[int] = []
    Download(server.url, len(CONTENT), part, patience).run(told.append)
    return sum(told)


def begun(part: Path, content: bytes, tag: str | None = None) -> None:
    """Leave what a killed process has left."""
    part.parent.mkdir()
    part.write_bytes(content)
    if tag is not None:
        part.with_name(f"{part.name}.tag").write_text(tag)


def test_a_file_comes_whole(server: Server, part: Path) -> None:
    assert fetch(server, part) == 100
    assert part.read_bytes() == CONTENT
    assert server.asked == [(None, None)]


def test_a_cut_connection_is_gone_on_with(server: Server, part: Path) -> None:
    server.answers = [cut(30), cut(20), whole]
    assert fetch(server, part) == 100
    assert part.read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=30-", "bytes=50-"]


def test_what_a_killed_process_left_is_gone_on_with(server: Server, part: Path) -> None:
    begun(part, CONTENT[:40], servers.etag(CONTENT))
    assert fetch(server, part) == 100
    assert part.read_bytes() == CONTENT
    assert server.asked == [("bytes=40-", servers.etag(CONTENT))]


@pytest.mark.parametrize("tag", ["", "two\nlines", "ä", "x" * 1000])
def test_a_mark_that_no_header_can_hold_is_left_out(tag: str, server: Server, part: Path) -> None:
    begun(part, CONTENT[:40], tag)
    fetch(server, part)
    assert server.asked == [("bytes=40-", None)]


def test_another_version_begins_anew(server: Server, part: Path) -> None:
    begun(part, b"an older edition", '"older"')
    assert fetch(server, part) == 100
    assert part.read_bytes() == CONTENT
    assert server.asked == [("bytes=16-", '"older"')]


@pytest.mark.parametrize(
    ("headers", "tag"),
    [
        ({"ETag": '"a"', "Last_Modified": "Mon"}, '"a"'),
        ({"ETag": 'W/"a"', "Last_Modified": "Mon"}, "Mon"),
        ({"Last_Modified": "Mon"}, "Mon"),
        ({}, None),
    ],
)
def test_the_strongest_mark_of_the_version_is_kept(
    headers: dict[str, str], tag: str | None, server: Server, part: Path
) -> None:
    server.answers = [
        lambda handler, _: [status(200, **headers)(handler, b""), handler.wfile.write(b"12345")],
        whole,
    ]
    fetch(server, part)
    assert server.asked == [(None, None), ("bytes=5-", tag)]


def anew(first: int, total: str) -> Answer:
    return status(206, Content_Range=f"bytes {first}-99/{total}")


@pytest.mark.parametrize("answer", [plain, status(416), anew(3, "100"), anew(3, "*")])
def test_a_server_that_does_not_go_on_begins_anew(
    answer: Answer, server: Server, part: Path
) -> None:
    begun(part, b"x" * 40)
    server.answers = [answer, whole]
    assert fetch(server, part) == 100
    assert part.read_bytes() == CONTENT


def test_a_part_that_is_too_long_begins_anew(server: Server, part: Path) -> None:
    begun(part, b"x" * 101)
    assert fetch(server, part) == 100
    assert part.read_bytes() == CONTENT
    assert server.ranges == [None]


def test_what_is_whole_is_not_asked_for(server: Server, part: Path) -> None:
    begun(part, CONTENT)
    assert fetch(server, part) == 100
    assert server.asked == []


def test_a_server_that_stalls_is_told_with_what_is_there(server: Server, part: Path) -> None:
    words = ("nothing came for 0.2 seconds", "80 of 100 bytes are there", "goes on from them")
    server.answers = [stalls(40), stalls(40), stalls(0)]
    with refusal(DataError, server.url, *words):
        fetch(server, part, Patience(stall=0.2, tries=2, pause=0))
    assert server.ranges == [None, "bytes=40-", "bytes=80-"]
    assert part.read_bytes() == CONTENT[:80]


def test_tries_are_counted_from_the_last_that_brought_something(server: Server, part: Path) -> None:
    server.answers = [cut(0), cut(10), cut(0), cut(10), whole]
    fetch(server, part, Patience(stall=10, tries=3, pause=0))
    assert part.read_bytes() == CONTENT


def test_beginning_anew_brings_nothing(server: Server, part: Path) -> None:
    """A server that goes on with nothing, and hangs up now earlier and now later, is given up."""

    def begins(after: int) -> Answer:
        return lambda handler, content: plain(handler, content[:after])

    server.answers = [begins(30), begins(50), begins(30), begins(50), begins(30), whole]
    with refusal(DataError, "the connection ended too early", "50 of 100 bytes are there"):
        fetch(server, part, Patience(stall=10, tries=3, pause=0))
    assert len(server.asked) == 4


@pytest.mark.parametrize("size", [99, 101])
def test_a_file_of_another_size_is_refused_before_it_comes(
    size: int, server: Server, part: Path
) -> None:
    server.content = b"x" * size
    with refusal(DataError, f"has a file of {size} bytes and not of 100", "a proxy"):
        fetch(server, part)
    assert not part.exists()
    assert len(server.asked) == 1


def test_no_more_than_the_known_size_is_taken(server: Server, part: Path) -> None:
    server.content, server.answers = b"x" * 10_000_000, [plain]
    with refusal(DataError, "bytes or more and not of 100"):
        fetch(server, part)
    assert not part.exists()


def test_a_rest_of_another_file_is_refused(server: Server, part: Path) -> None:
    begun(part, CONTENT[:40])
    server.answers = [anew(40, "5000")]
    with refusal(DataError, "has a file of 5,000 bytes and not of 100"):
        fetch(server, part)


@pytest.mark.parametrize(
    ("code", "says", "requests"),
    [
        (403, "the server answers 403 Forbidden", 1),
        (404, "the server answers 404 Not Found", 1),
        (204, "the server answers 204 No Content", 1),
        (429, "the server answers 429 Too Many Requests", 2),
        (416, "the server answers 416 Requested Range Not Satisfiable", 2),
        (500, "the server answers 500 Internal Server Error", 2),
        (503, "the server answers 503 Service Unavailable", 2),
    ],
)
def test_what_a_server_answers_is_told(
    code: int, says: str, requests: int, server: Server, part: Path
) -> None:
    server.answers = [status(code)]
    with refusal(DataError, server.url, says):
        fetch(server, part)
    assert len(server.asked) == requests


def test_a_redirection_on_this_machine_is_followed_with_its_range(
    server: Server, part: Path
) -> None:
    begun(part, CONTENT[:40])
    server.answers = [status(302, Location="/elsewhere.zip"), whole]
    fetch(server, part)
    assert part.read_bytes() == CONTENT
    assert server.ranges == ["bytes=40-", "bytes=40-"]


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "to", ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://example.org/x", "data:,x"]
)
def test_a_redirection_to_anything_but_https_is_refused(
    code: int, to: str, server: Server, part: Path
) -> None:
    server.answers = [status(code, Location=to)]
    with refusal(DataError, server.url, to, "https alone is followed"):
        fetch(server, part)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("to", "says"), [("http://[", "no URL"), ("/ml-20m.zip", "redirects, but never to a file")]
)
def test_a_redirection_to_nowhere_is_told(to: str, says: str, server: Server, part: Path) -> None:
    server.answers = [status(302, Location=to)]
    with refusal(DataError, server.url, says):
        fetch(server, part)


def test_the_proxy_of_the_environment_is_asked(
    server: Server, part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("http_proxy", server.url)
    Download("http://localhost:9/x.zip", 100, part, HASTY).run(lambda _: None)
    assert part.read_bytes() == CONTENT


@pytest.mark.parametrize("url", ["http://example.org/x.zip", "file:///etc/passwd", "ftp://a/b"])
def test_nothing_but_https_is_asked(url: str, part: Path) -> None:
    with refusal(DataError, url, "https alone"):
        Download(url, 1, part).run(print)
    assert not part.parent.exists()


def test_a_name_that_is_not_found_is_told(part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    words = ("https://files.invalid/x.zip", "the server's name is not found (Name or service")
    with refusal(DataError, *words, "0 of 100 bytes are there"):
        Download("https://files.invalid/x.zip", 100, part, HASTY).run(print)
    assert list(part.parent.iterdir()) == []


def test_a_server_that_is_not_there_is_told(part: Path) -> None:
    with serving() as gone:
        pass
    with refusal(DataError, gone.url, "the connection failed (Connection refused)"):
        fetch(gone, part)


def test_a_certificate_that_is_not_trusted_is_told_at_once(
    server: Server, part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        error = ssl.SSLCertVerificationError(1, "certificate verify failed")
        error.verify_message = "self-signed certificate"
        raise error

    monkeypatch.setattr(ssl.SSLContext, "wrap_socket", refused)
    url = server.url.replace("http:", "https:")
    with refusal(DataError, url, "(self-signed certificate)", "SSL_CERT_FILE"):
        Download(url, 100, part, Patience(tries=50, pause=50)).run(print)


def test_two_do_not_write_one_file(server: Server, part: Path) -> None:
    begun(part, CONTENT[:40])
    with part.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        with refusal(DataError, str(part), "another command fetches it at this moment"):
            fetch(server, part)
    assert (part.read_bytes(), server.asked) == (CONTENT[:40], [])


def test_a_place_that_cannot_be_written_is_told(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    part = tmp_path / "file" / "x.part"
    with refusal(DataError, "x.part: cannot be written", "--out"):
        fetch(server, part)
    assert server.asked == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs a disk that is always full")
def test_a_full_disk_is_told(server: Server, part: Path) -> None:
    part.parent.mkdir()
    part.symlink_to("/dev/full")
    words = (str(part), "cannot be written: No space left on device", "goes on where it stopped")
    with refusal(DataError, *words):
        fetch(server, part)


MISHAPS = st.one_of(
    st.integers(0, 120).map(cut),
    st.sampled_from([whole, plain, status(416), status(500), anew(3, "100")]),
)


@given(mishaps=st.lists(MISHAPS, max_size=6), there=st.integers(0, 120))
def test_whatever_happens_the_file_is_right(
    mishaps: list[Answer], there: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    part = tmp_path_factory.mktemp("any") / "x.part"
    part.write_bytes((CONTENT + bytes(20))[:there])
    with serving() as server:
        server.content, server.answers = CONTENT, [*mishaps, whole]
        assert fetch(server, part, Patience(stall=10, tries=9, pause=0)) == 100
    assert part.read_bytes() == CONTENT
