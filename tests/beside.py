"""Models for runs in several processes, which wait for each other."""

from pathlib import Path
from typing import Any

import small

from harness.config import Config

# Every process writes down that it asked; this one waits until a worker has done so, too.
OWN = """
import os, time
from multiprocessing import current_process
from pathlib import Path
from baselines.popular import Popular
WORKS = current_process().name != "MainProcess"

class Meets(Popular):
    def __init__(self, folder, window_days=None):
        super().__init__(window_days=window_days)
        self.folder = folder

    def fit_steps(self, train):
        if self.window_days == 3:
            raise ValueError("no three")
        Path(self.folder, "worker" if WORKS else "parent").touch()
        end = time.monotonic() + 300
        while not WORKS and not Path(self.folder, "worker").exists():
            assert time.monotonic() < end, "no worker came"
            time.sleep(0.01)
        yield from super().fit_steps(train)

class Leaves(Meets):
    def fit_steps(self, train):
        Path(self.folder, "worker").touch()
        os._exit(7) if WORKS else None
        yield from Popular.fit_steps(self, train)

class Raises(Meets):
    def fit_steps(self, train):
        Path(self.folder, "worker").touch()
        raise ValueError("in a worker" if WORKS else "here")
"""


def own(folder: Path, use: str, name: str) -> dict[str, Any]:
    met = folder / "met"
    met.mkdir(exist_ok=True)
    return {"name": name, "use": f"own:{use}", "params": {"folder": str(met)}}


def config(folder: Path, models: list[dict[str, Any]], **sections: Any) -> Config:
    """Return a config whose first model waits for a worker."""
    small.write(folder, {"log.csv": small.MANY, "own.py": OWN})
    data = {"cache": True, **sections.pop("data", {})}
    models = [own(folder, "Meets", "first"), *models]
    return small.config_of(folder, models=models, data=data, **sections)
