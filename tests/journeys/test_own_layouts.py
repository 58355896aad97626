"""A layout of one's own in a run."""

from pathlib import Path

import pytest
import small
import tomli_w
from conftest import Cli
from event_files import SALES, SHOP


def test_a_layout_of_ones_own(cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is run, and repeated from anywhere."""
    values = small.values(compare={"resamples": 100})
    values["data"] = {"layout": "shops:Shop", "path": "."}
    files = {"shops.py": SHOP, "sales.txt": SALES, "own.toml": tomli_w.dumps(values)}
    table = {"log.csv": small.LOG, "table.toml": small.toml(compare={"resamples": 100})}
    small.write(here, files | table)
    assert cli("run", "own.toml", "--out", "first", "--format", "csv")[0] == 0
    shown = [cli("run", config, "--format", "csv")[:2] for config in ("own.toml", "table.toml")]
    assert shown[0] == (0, shown[1][1])
    (here / "other").mkdir()
    monkeypatch.chdir(here / "other")
    assert cli("run", "../first/config.toml", "--format", "csv")[:2] == shown[0]
