"""``harness fetch``: what is said, and what is left behind."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

import pytest
from conftest import Cli, is_refused, tells
from servers import FILES, Server, as_ml_20m, serving, stalls, status, whole

from harness.data import datasets


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Return a server that has a small ml-20m, where the command looks for it."""
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving() as server:
        known = {"ml-20m": as_ml_20m(server.url, server.content)}
        monkeypatch.setattr(datasets, "DATASETS", MappingProxyType(known))
        yield server


def test_what_it_prints_last_is_a_command_that_works(cli: Cli, server: Server) -> None:
    status_, out, err = cli("fetch", "ml-20m")
    assert (status_, server.requests) == (0, 1)
    sizes = [f"data/ml-20m/{name}  {len(text):,} bytes" for name, text in FILES.items()]
    *lines, last = out.splitlines()
    assert set(sizes) < set(lines)
    assert last == "next  harness run data/ml-20m/config.toml"
    assert "MovieLens 20M: 20,000,263 ratings by 138,493 users" in err
    assert "no commercial use without GroupLens' permission" in err
    assert "https://files.grouplens.org/datasets/movielens/ml-20m-README.html" in err
    tells(cli("run", "data/ml-20m/config.toml"), 0, "item kNN", "popular", "random × 10")


def test_the_terms_are_shown_before_anything_comes(
    cli: Cli, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)  # pooch waits before it tries again
    server.answers = [status(404)]
    done = cli("fetch", "ml-20m", "--out", "new/films")
    is_refused(done, server.url, "the server answers 404 Not Found", "put it at new/ml-20m.zip")
    assert done[2].index("no commercial use") < done[2].index("404")


def test_what_is_there_is_not_fetched_again(cli: Cli, server: Server) -> None:
    first = cli("fetch", "ml-20m", "--out", "films")
    status_, out, err = cli("fetch", "ml-20m", "--out", "films")
    assert (status_, out, server.requests) == (0, first[1], 1)
    assert err == "films: has ml-20m already\n"
    Path("films/ratings.csv").write_text("mine")
    is_refused(cli("fetch", "ml-20m", "--out", "films"), "films: has", "name another --out")
    assert Path("films/ratings.csv").read_text() == "mine"


def test_a_name_that_is_not_known_and_pooch_that_is_not_installed(
    cli: Cli, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_refused(cli("fetch", "ml-20"), 'has no "ml-20"', 'did you mean "ml-20m"?')
    monkeypatch.setitem(sys.modules, "pooch", None)
    is_refused(cli("fetch", "ml-20m"), 'pip install "submission-harness[fetch]"')
    assert server.requests == 0


FETCH = """
import sys
sys.path.insert(0, {folder!r})
import harness.cli
from harness.data import datasets
from servers import as_ml_20m, zipped
datasets.DATASETS = {{"ml-20m": as_ml_20m({url!r}, zipped())}}
sys.argv = ["harness", "fetch", "ml-20m"]
harness.cli.main()
"""


@pytest.mark.parametrize(
    ("sent", "exit_status"),
    [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130), (signal.SIGTERM, 130)],
)
def test_a_command_that_was_ended_begins_anew(
    sent: signal.Signals, exit_status: int, cli: Cli, server: Server, here: Path
) -> None:
    server.answers = [stalls(50), whole]
    code = FETCH.format(folder=str(Path(__file__).parent), url=server.url)
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=here, stderr=subprocess.PIPE, text=True
    ) as process:
        while not server.requests:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(sent)
        _, err = process.communicate(timeout=120)
    assert process.returncode == exit_status
    assert "Traceback" not in err
    assert not (here / "data" / "ml-20m").exists()
    assert cli("fetch", "ml-20m")[0] == 0
    assert [path.name for path in (here / "data").iterdir()] == ["ml-20m"]
