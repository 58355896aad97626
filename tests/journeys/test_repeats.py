"""One run with repeats: models made anew, with seeds of their own."""

from typing import Any, NamedTuple

import pytest
import small

from harness.evaluation.run import run
from harness.results.run import Run

PLUGGED = """
from pathlib import Path
import numpy as np

class Drawn:
    '''Random lists, drawn when it learns, which writes down its seed.'''

    def __init__(self, seed=7, label="drawn"):
        self.seed, self.label = seed, label

    def fit(self, train):
        with Path(__file__).with_name("notes.txt").open("a") as file:
            print(self.label, self.seed, file=file)
        rng = np.random.default_rng(self.seed)
        lists = [rng.permutation(len(train.candidates)) for _ in train.user_ids]
        self.lists_ = np.array(lists, np.int32)
        return self

    def recommend(self, users, k, draws, exclude=None):
        return self.lists_[users, :k].copy()

class State(Drawn):
    def __init__(self, random_state=3):
        super().__init__(random_state, "state")

class Numpys(Drawn):
    def __init__(self, seed=np.int64(7)):
        super().__init__(seed, "numpys")
"""
BASE = {"name": "base", "use": "plugged:Drawn", "repeats": 2, "params": {"label": "base"}}
FILL = {"use": "baselines.fill:Fill", "of": ["base"], "repeats": 3}
MODELS: list[dict[str, Any]] = [
    *({"name": n, "use": f"plugged:{n}", "repeats": 4} for n in ("Drawn", "State", "Numpys")),
    BASE,
    *({"name": name, **FILL} for name in ("first fill", "second fill")),
]


class Done(NamedTuple):
    result: Run
    fits: list[list[str]]

    def means(self, name: str) -> list[float]:
        return self.result.scores[name].of_repeats(self.result.metrics["MAP@3"])

    def seeds(self, label: str) -> list[int]:
        """Return the seeds with which models of a label learnt, in order."""
        return [int(seed) for name, seed in self.fits if name == label]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = small.write(tmp_path_factory.mktemp("repeats"), {"plugged.py": PLUGGED})
    rules = {"k": 3, "metrics": ["MAP@3"]}
    result = run(small.config(folder, models=MODELS, log=small.MANY, evaluation=rules))
    return Done(result, list(map(str.split, (folder / "notes.txt").read_text().splitlines())))


def test_the_first_repeat_has_the_seed_itself_and_the_others_their_own(done: Done) -> None:
    """Where a name can set it; they follow from value and repeat alone."""
    for label, seed in (("drawn", 7), ("state", 3), ("numpys", 7)):
        seeds = done.seeds(label)
        assert (len(seeds), seeds[0], len(set(seeds))) == (4, seed, 4)
        assert all(0 <= seed < 2**31 for seed in seeds)  # what every library takes
    assert done.seeds("numpys") == done.seeds("drawn")
    assert done.seeds("state")[1] != done.seeds("drawn")[1]


def test_a_base_model_is_made_anew_and_shared_within_a_repeat(done: Done) -> None:
    """One fit a repeat, whoever needs it; the seed of what is made of it is its own."""
    assert len(done.seeds("base")) == len(set(done.seeds("base"))) == 3
    assert done.means("first fill")[:2] == done.means("base")
    assert len(set(done.means("second fill"))) > 1
