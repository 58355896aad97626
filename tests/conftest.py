"""What every test gets: a cache of its own, tiny folders of competition files, and refusals."""

import itertools
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import small
from hypothesis import settings
from typer.main import get_command

from harness import config as config_
from harness.cli import app, guarded
from harness.core import progress
from harness.core.arrays import Ragged, UInt64
from harness.core.random import id_hashes
from harness.evaluation.run import run
from harness.protocol.evaluation_set import EvaluationSet

ROOT = Path(__file__).parents[1]

# How many examples a property is tried on: --hypothesis-profile=full in `make nightly`.
settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("full", max_examples=400, deadline=None)
settings.load_profile("quick")


@pytest.fixture(scope="session")
def _cache_names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("caches")
    return (str(folder / str(number)) for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_cache(_cache_names: Iterator[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE_DIR", next(_cache_names))  # made when something is kept
    monkeypatch.delenv("HARNESS_CACHE_SETTLE", raising=False)


@pytest.fixture(autouse=True, scope="session")
def _same_on_slow_machines() -> Iterator[None]:
    """Wait for no disk, as no test ends the power; let no line of progress come by the clock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(progress, "FIRST", 3600)
        patch.setattr(progress, "PLAIN", 3600)
        yield


@pytest.fixture(autouse=True)
def _own_modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Forget what a test wrote and imported: models of later tests would seem to be made of it."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__dict__", {}).get("__file__") or ""
        if file.startswith(str(tmp_path_factory.getbasetemp())):
            del sys.modules[name]


Words = str | Sequence[str]
"""A word, or several in a row, such as what many command lines begin with."""
Cli = Callable[..., tuple[int, str, str]]
COMMAND = get_command(app)
"""The command line, which takes longer to build than to answer."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of the test's own, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(here: Path, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Return a function that runs a command there: exit status, output and errors come out."""

    def call(*arguments: Words) -> tuple[int, str, str]:
        status = guarded(lambda: COMMAND(flat(arguments), standalone_mode=False))
        return (status, *capfd.readouterr())

    return call


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of a module's FILES and its RUNS, by config; not to be written to."""
    folder = small.write(tmp_path_factory.mktemp("made"), request.module.FILES)
    for name, config in request.module.RUNS.items():
        run(config_.read(folder / config)).write(folder / name)
    return folder


@pytest.fixture
def harness(made: Path, here: Path, cli: Cli) -> Cli:
    """Return what runs a command in a copy of that folder, whose runs are of the copy's data."""
    shutil.copytree(made, here, dirs_exist_ok=True)
    for config in here.rglob("config.toml"):
        config.write_text(config.read_text().replace(str(made), str(here)))
    return cli


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what is made of files that were written just now, too."""
    monkeypatch.setenv("HARNESS_CACHE_SETTLE", "0")


@pytest.fixture
def no_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave charts out of pages, which say so: drawing them is most of the work."""

    def refuse(*size: Any, **options: Any) -> None:
        raise ValueError("no charts here")

    monkeypatch.setattr("matplotlib.figure.Figure", refuse)


def hashes(n: int) -> UInt64:
    """Return the hashes of users "0" to "n − 1"."""
    return id_hashes(pl.Series([str(user) for user in range(n)], dtype=pl.String))


def flat(words: Iterable[Words]) -> list[str]:
    return [word for part in words for word in ([part] if isinstance(part, str) else part)]


def is_refused(done: tuple[int, str, str], *words: Words) -> None:
    """Check that a command ended with status 2 and an error alone, which holds every word."""
    status, out, err = done
    assert (status, out) == (2, ""), err
    assert "Traceback" not in err
    assert [word for word in flat(words) if word not in err] == [], err


def tells(done: tuple[int, str, str], status: int, *words: Words) -> None:
    """Check that a command ended with this status and printed every word."""
    exit_status, out, err = done
    assert exit_status == status, out + err
    assert [word for word in flat(words) if word not in out] == [], out


def exactly(value: Any) -> Any:
    """Return what equals a figure, or each of several, but for its last bits."""
    return pytest.approx(value, rel=0, abs=1e-12)


def ragged(rows: Iterable[Iterable[int]]) -> Ragged:
    """Return rows of whole numbers, each in rising order, as our arrays hold them."""
    held = [sorted(row) for row in rows]
    numbers = np.array([number for row in held for number in row], np.int32)
    return Ragged(np.cumsum([0, *map(len, held)]), numbers)


def words_of(evaluation_set: EvaluationSet, rows: Ragged) -> dict[str, str]:
    """Return the candidate ids of every row as one word, by user."""
    ids, users = evaluation_set.candidate_ids.to_list(), evaluation_set.user_ids.to_list()
    codes = np.split(rows.indices, rows.indptr[1:-1])
    return {user: "".join(ids[p] for p in row) for user, row in zip(users, codes, strict=True)}


@contextmanager
def refusal(kind: type[Exception], *words: Words) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Check that what is done within is refused by such an error, which holds every word."""
    with pytest.raises(kind) as caught:
        yield caught
    text = str(caught.value)
    assert [word for word in flat(words) if word not in text] == [], text


def python(
    words: Sequence[str], folder: Path | None = None, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run Python in a process of its own, which finds the modules that this one does."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment
    line = [sys.executable, *words]
    return subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><!-- <script>",
    "=cmd()|x %{x} &amp; <b>bold</b> <a href='javascript:alert(1)'>link</a>",
    "long " * 40,
)
"""Names that would do harm on a page, in attributes, elements, labels of charts or JSON."""


def run_folder(
    folder: Path, names: tuple[str, ...] | None = None, metrics: tuple[str, ...] = ()
) -> Path:
    """Write the run of the demo, or of models of these names, and return its folder."""
    values = tomllib.loads((ROOT / "configs" / "demo.toml").read_text(encoding="utf-8"))
    values["data"]["cache"] = False
    values["compare"] = {"resamples": 1000}
    values["evaluation"]["metrics"] = list(metrics) or values["evaluation"]["metrics"]
    if names is not None:
        popular = {"use": "baselines.popular:Popular"}
        days = ({"window_days": 3 * i + 1} for i in range(len(names)))
        values["models"] = [
            popular | {"name": name, "params": params}
            for name, params in zip(names, days, strict=True)
        ]
    run(config_.parse(values, ROOT / "configs")).write(folder)
    return folder


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of four models; not to be written to."""
    return run_folder(tmp_path_factory.mktemp("runs") / "demo")


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of models with hostile names."""
    return run_folder(tmp_path_factory.mktemp("runs") / "hostile", HOSTILE)
