"""What every test gets: a cache of its own, and tiny folders of competition files."""

from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes files (name=text) into a folder and returns the folder."""

    def write(folder: str = "data", **files: str) -> Path:
        target = tmp_path / folder
        target.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (target / f"{name}.csv").write_text(text, encoding="utf-8")
        return target

    return write


LOG = """user,item,time
ann,a,2020-01-01
ann,b,2020-01-02
ann,a,2020-01-09
bob,b,2020-01-03
bob,c,2020-01-08
cid,a,2020-01-04
cid,d,2020-01-10
"""
"""Seven events of ten days; with valid_days = 3 the exam is 2020-01-08 … 10."""


@pytest.fixture
def config_values(write: Write) -> dict[str, object]:
    """Return the values of a config on `LOG`, for tests to change."""
    folder = write(log=LOG)
    return {
        "data": {"layout": "table", "path": str(folder), "events": "log.csv"},
        "split": {"strategy": "time", "valid_days": 3},
        "evaluation": {"k": 2},
        "models": [{"name": "popular", "use": "baselines.popular:Popular"}],
    }
