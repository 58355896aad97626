"""One run with repeats: models made anew with seeds of their own, and what cannot be repeated."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import small

from harness.config import Config
from harness.evaluation.run import run
from harness.results.record import ModelRecord
from harness.results.run import Run

DAYS = [(f"u{n:03}", f"2020-01-0{1 + n % 5}", n % 4) for n in range(120)]
"""More users than are asked again, to see if they get the same lists."""
LOG = "user,item,time\n" + "".join(
    f"{user},{item},{day}\n" for user, day, first in DAYS for item in "pqrstuvw"[first:]
)
NEXT = "".join(f"{user},{'pqrs'[first]},2020-01-09\n" for user, _, first in DAYS)
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
        self.items_ = len(train.candidates)
        lists = [rng.permutation(self.items_) for _ in train.user_ids]
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

class Fixed(Drawn):
    def __init__(self, seed=1, /):
        super().__init__(seed, "fixed")

class ByDraws(Fixed):
    def recommend(self, users, k, draws, exclude=None):
        keys = draws.keys(users)
        return ((keys[:, None] + np.arange(k, dtype=np.uint64)) % np.uint64(4)).astype(np.int32)

class Entropy(Drawn):
    '''Another seed each time that it is made, which nobody can name.'''

    made = 0

    def __init__(self):
        Entropy.made += 1
        super().__init__(Entropy.made, "entropy")

class ByPlace(Fixed):
    '''The same numbers in every call, dealt out by a user's place in it.'''

    def recommend(self, users, k, draws, exclude=None):
        rng = np.random.default_rng(0)
        return np.argsort(rng.random((4, len(users))), axis=0)[:k].T
"""


def model(kind: str, repeats: int = 1, **keys: Any) -> dict[str, Any]:
    return {"name": kind, "use": f"plugged:{kind}", "repeats": repeats} | keys


FILL = {"use": "baselines.fill:Fill", "of": ["base"], "repeats": 3}
MODELS = [
    *(model(kind, 4) for kind in ("Drawn", "State", "Numpys")),
    model("ByPlace"),
    *(model(kind, 3) for kind in ("Fixed", "Entropy", "ByDraws")),
    model("Drawn", 2, name="base", params={"label": "base"}),
    *({"name": name, **FILL} for name in ("first fill", "second fill")),
]


class Done(NamedTuple):
    config: Config
    result: Run
    folder: Path
    fits: list[str]

    def model(self, name: str) -> ModelRecord:
        return next(entry for entry in self.result.models if entry.name == name)

    def means(self, name: str) -> list[float]:
        return self.result.scores[name].of_repeats(self.result.metrics["MAP@3"])

    def seeds(self, label: str) -> list[int]:
        """Return the seeds with which models of a label learnt, in order."""
        return [int(fit.split()[1]) for fit in self.fits if fit.split()[0] == label]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("repeats")
    small.write(folder, {"plugged.py": PLUGGED})
    rules = {"evaluation": {"k": 3, "metrics": ["MAP@3"]}, "compare": {"resamples": 100}}
    config = small.config(folder, models=MODELS, log=LOG + NEXT, **rules)
    result = run(config)
    result.write(folder / "run")
    return Done(config, result, folder, (folder / "notes.txt").read_text().splitlines())


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
    assert done.model("second fill").metrics["MAP@3"].sd_repeats is not None


@pytest.mark.parametrize(
    ("name", "spread", "words"),
    [
        ("ByPlace", False, ["on a second call", "other users", "draws.keys"]),
        ("Entropy", True, ["repeats differ", "not repeatable"]),
        ("Fixed", False, ["its 3 repeats are equal"]),
        ("Drawn", True, []),
        ("ByDraws", True, []),
    ],
)
def test_what_cannot_be_repeated_is_told_and_what_differs_has_a_spread(
    done: Done, name: str, spread: bool, words: list[str]
) -> None:
    figure = done.model(name).metrics["MAP@3"]
    assert (figure.sd_repeats is not None) == spread
    notes = [note for note in done.result.notes if note.startswith(f'model "{name}": ')]
    assert len(notes) == bool(words)
    for note in notes:
        assert [word for word in words if word not in note] == []
