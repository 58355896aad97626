"""A model whose lists are all or mostly empty is noted with the count, wherever notes are shown."""

import json
from pathlib import Path

import small

from harness import config as config_
from harness.experiment import run_folder
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
NOTES = [
    'model "few 0": all 5 lists are empty, and score 0',
    'model "few 2": 3 of 5 lists are empty, and score 0',
]


def test_most_lists_are_empty(tmp_path: Path) -> None:
    small.write(tmp_path, {"log.csv": LOG, "plugged.py": PLUGGED})
    models = [
        {"name": f"few {known}", "use": "plugged:Few", "params": {"known": known}}
        for known in (0, 2, 3, 5)
    ]
    rules = {"evaluation": {"require_hit": False}, "compare": {"resamples": 100}}
    result = run(config_.parse(small.values(*models, **rules), tmp_path))
    assert [note for note in result.notes if "empty" in note] == NOTES
    assert [note for note in NOTES if note not in repr(result)] == []
    result.write(tmp_path / "run")
    record = json.loads((tmp_path / "run" / "result.json").read_text())
    assert record["notes"] == list(result.notes)
    shown = page(run_folder.read(tmp_path / "run"))
    assert [note for note in NOTES if note.partition(": ")[2] not in shown] == []
