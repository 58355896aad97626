"""Repeats make a model anew with seeds of their own; models that cannot be repeated are told."""

import statistics
from pathlib import Path
from typing import Any

import pytest
import small
from conftest import Write

from harness import config as config_
from harness.experiment.explain import of_run
from harness.experiment.result import ModelResult, Result
from harness.experiment.run import run
from harness.experiment.submit import submit

USERS = "abcdefghij"
LOG = "user,item,time\n" + "".join(
    f"{user},{item},2020-01-0{1 + (n + m) % 5}\n"
    for n, user in enumerate(USERS)
    for m, item in enumerate("pqrstuvw"[n % 4 :])
)
NEXT = "".join(f"{user},{'pqrs'[n % 4]},2020-01-09\n" for n, user in enumerate(USERS))

PLUGGED = """
from pathlib import Path

import numpy as np


def note(text):
    with Path(__file__).with_name("notes.txt").open("a") as file:
        print(text, file=file)


class Drawn:
    '''Random lists, drawn when it learns.'''

    def __init__(self, seed=7, label="drawn"):
        self.seed, self.label = seed, label

    def fit(self, train):
        note(f"{self.label} {self.seed}")
        n, items = len(train.user_ids), len(train.candidates)
        rng = np.random.default_rng(self.seed)
        self.lists_ = np.array([rng.permutation(items) for _ in range(n)], np.int32)
        return self

    def recommend(self, users, k, draws, exclude=None):
        return self.lists_[users, :k].copy()


class State(Drawn):
    def __init__(self, random_state=3):
        super().__init__(random_state, "state")


class Fixed(Drawn):
    '''The same lists for ever, whatever it is asked for.'''

    def __init__(self):
        super().__init__(1, "fixed")


class ByDraws(Fixed):
    def recommend(self, users, k, draws, exclude=None):
        keys = draws.keys(users)
        return ((keys[:, None] + np.arange(k, dtype=np.uint64)) % np.uint64(4)).astype(np.int32)


class Restless(Fixed):
    '''A generator of its own that goes on from call to call.'''

    def fit(self, train):
        self.rng_ = np.random.default_rng(0)
        self.items_ = len(train.candidates)
        return self

    def recommend(self, users, k, draws, exclude=None):
        return np.array([self.rng_.permutation(self.items_)[:k] for _ in users], np.int32)


class OnceOnly(Fixed):
    def recommend(self, users, k, draws, exclude=None):
        if hasattr(self, "asked_"):
            raise RuntimeError("asked before")
        self.asked_ = True
        return super().recommend(users, k, draws, exclude)


class Entropy(Drawn):
    '''Another seed each time that it is made, which nobody can name.'''

    made = 0

    def __init__(self):
        Entropy.made += 1
        super().__init__(Entropy.made, "entropy")

class Positional(Drawn):
    def __init__(self, seed=7, /):
        super().__init__(seed)


class Numpys(Drawn):
    def __init__(self, seed=np.int64(7)):
        super().__init__(seed)


class ByPlace(Fixed):
    '''The same numbers in every call, dealt out by a user's place in it.'''

    def recommend(self, users, k, draws, exclude=None):
        rng = np.random.default_rng(0)
        return np.argsort(rng.random((4, len(users))), axis=0)[:k].T
"""


@pytest.fixture
def folder(write: Write) -> Path:
    found = write(log=LOG + NEXT)
    (found / "plugged.py").write_text(PLUGGED)
    return found


def model(kind: str, repeats: int = 1, name: str = "", **keys: Any) -> dict[str, Any]:
    return {"name": name or kind, "use": f"plugged:{kind}", "repeats": repeats} | keys


def config(folder: Path, *models: dict[str, Any]) -> config_.Config:
    asked = {"k": 3, "metrics": ["MAP@3"]}
    sections = small.values(*models, evaluation=asked, compare={"resamples": 100})
    return config_.parse(sections, folder)


def learnt(folder: Path) -> list[str]:
    """Return who learnt with which seed, in order."""
    return (folder / "notes.txt").read_text().splitlines()


def only(result: Result, name: str) -> ModelResult:
    return next(m for m in result.models if m.name == name)


def means(result: Result, name: str) -> list[float]:
    return only(result, name).scores.of_repeats(result.metrics[0])


def test_a_random_start_shows_its_spread(folder: Path) -> None:
    result = run(config(folder, model("Drawn", 3)))
    found = means(result, "Drawn")
    assert len(set(found)) > 1
    spread = only(result, "Drawn").metrics["MAP@3"].sd_repeats
    assert spread == pytest.approx(statistics.stdev(found), abs=1e-15)


@pytest.mark.parametrize(
    ("kind", "seed", "distinct"),
    [("Drawn", 7, 4), ("State", 3, 4), ("Numpys", 7, 4), ("Positional", 7, 1)],
)
def test_the_first_repeat_has_the_seed_itself_and_the_others_their_own(
    folder: Path, kind: str, seed: int, distinct: int
) -> None:
    """Where a name can set it."""
    run(config(folder, model(kind, 4)))
    seeds = [int(line.split()[1]) for line in learnt(folder)]
    assert seeds[0] == seed
    assert len(set(seeds)) == distinct
    assert all(0 <= seed < 2**31 for seed in seeds)  # what every library takes
    (folder / "notes.txt").unlink()
    run(config(folder, model(kind, 2)))
    assert [int(line.split()[1]) for line in learnt(folder)] == seeds[:2]


def test_seeds_follow_from_value_and_repeat_alone(folder: Path) -> None:
    models = [model("Drawn", 2, n, params={"label": n, "seed": s}) for n, s in SEEDS.items()]
    run(config(folder, *models))
    seeds = {}
    for line in learnt(folder):
        name, seed = line.split()
        seeds.setdefault(name, []).append(int(seed))
    assert seeds["one"] == seeds["like"]
    assert seeds["one"][1] != seeds["two"][1]


SEEDS = {"one": 5, "two": 6, "like": 5}


def test_a_base_model_is_made_anew_and_shared_within_a_repeat(folder: Path) -> None:
    whole = {"use": "baselines.fill:Fill", "of": ["Drawn"], "repeats": 3}
    models = [model("Drawn", 2), {"name": "one", **whole}, {"name": "two", **whole}]
    result = run(config(folder, *models))
    seeds = learnt(folder)
    assert len(seeds) == 3, "one fit a repeat, whoever needs it"
    assert len(set(seeds)) == 3
    assert means(result, "one")[:2] == means(result, "Drawn")
    assert only(result, "two").metrics["MAP@3"].sd_repeats is not None, "the seed is its part's"


def test_a_later_repeat_is_explained_and_submitted_as_it_was_run(folder: Path) -> None:
    settings = config(folder, model("Drawn", 3))
    run(settings).write(folder / "run")
    lists = of_run(folder / "run", "Drawn", 2)  # refuses lists that have other scores
    submit(settings, "Drawn", folder / "out.csv", repeat=2)
    line = (folder / "out.csv").read_text().splitlines()[1]
    assert line == "a," + " ".join(lists.items.gather(lists.lists[0]).to_list())


@pytest.mark.parametrize(
    ("kind", "repeats", "spread", "words"),
    [
        ("Restless", 1, False, ["asked again, ", "of 10 users", "cannot be repeated", "draws"]),
        ("OnceOnly", 1, False, ["asked again", "RuntimeError: asked before"]),
        ("Entropy", 3, True, ["repeats differ", "cannot be repeated"]),
        ("Fixed", 3, False, ["its 3 repeats are all the same"]),
        ("Fixed", 1, False, []),
        ("Drawn", 2, True, []),
        ("ByDraws", 3, True, []),
    ],
)
def test_what_cannot_be_repeated_is_told_and_what_differs_has_a_spread(
    folder: Path, kind: str, repeats: int, spread: bool, words: list[str]
) -> None:
    result = run(config(folder, model(kind, repeats)))
    (one,) = result.models
    assert one.repeats == repeats
    assert (one.metrics["MAP@3"].sd_repeats is not None) == spread
    assert one.metrics["MAP@3"].ci95 is not None
    assert len(result.notes) == bool(words)
    for note in result.notes:
        assert note.startswith(f'model "{kind}": ')
        assert [word for word in words if word not in note] == []


def test_lists_that_depend_on_who_is_asked_for_together_are_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.experiment.answers._ASKED_AGAIN", 5)
    [note] = run(config(folder, model("ByPlace"))).notes
    assert 'model "ByPlace": asked for the first 5 users alone' in note
    assert "who is asked for together" in note
    assert "draws.keys" in note
    assert "cannot be repeated" not in note
