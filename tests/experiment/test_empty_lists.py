"""A model whose lists are all or mostly empty is noted with the count, wherever notes are shown."""

import json
from pathlib import Path

import pytest
import small
from conftest import Write

from harness import config as config_
from harness.experiment import run_folder
from harness.experiment.result import Result
from harness.experiment.run import run
from harness.report.page import page

LOG = "user,item,time\n" + "".join(f"u{n},a,2020-01-01\nu{n},b,2020-01-09\n" for n in range(5))

PLUGGED = """
import numpy as np


class Few:
    '''A list for the first `known` users alone.'''

    def __init__(self, known=0):
        self.known = known

    def fit(self, train):
        return self

    def recommend(self, users, k, draws, exclude=None):
        lists = np.full((len(users), k), -1, np.int32)
        lists[users < self.known, 0] = 0
        return lists
"""


def ran(folder: Path, known: int) -> Result:
    (folder / "plugged.py").write_text(PLUGGED)
    few = {"name": "few", "use": "plugged:Few", "params": {"known": known}}
    asked = {"require_hit": False}
    sections = small.values(few, evaluation=asked, compare={"resamples": 100})
    return run(config_.parse(sections, folder))


@pytest.mark.parametrize(
    ("known", "note"),
    [
        (0, 'model "few": all 5 lists are empty, and score 0'),
        (2, 'model "few": 3 of 5 lists are empty, and score 0'),
        (3, ""),
        (5, ""),
    ],
)
def test_most_lists_are_empty(write: Write, tmp_path: Path, known: int, note: str) -> None:
    result = ran(write(log=LOG), known)
    assert [text for text in result.notes if "empty" in text] == ([note] if note else [])
    assert note in repr(result)
    result.write(tmp_path / "run")
    record = json.loads((tmp_path / "run" / "result.json").read_text())
    assert record["notes"] == list(result.notes)
    assert note.partition(": ")[2] in page(run_folder.read(tmp_path / "run"))
