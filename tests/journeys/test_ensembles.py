"""One run of models made of others: made once, learning once, each scored like any model."""

from typing import Any, NamedTuple

import pytest
import small
from counting import COUNTING, fill
from small import POPULAR

from harness.experiment.result import Result
from harness.experiment.run import run

LEAVES = """
class Leaves(Counting):
    def __del__(self):
        self.note("gone")
"""


def part(name: str, order: str, kind: str = "Counting", **keys: Any) -> dict[str, Any]:
    return {"name": name, "use": f"plugged:{kind}", "params": {"order": order}} | keys


STOCK = {"use": "baselines.filter:Filter", "of": ["kept"], "params": {"out_of_stock_days": 5}}
MODELS: list[dict[str, Any]] = [
    fill("both", "one", "two"), part("one", "ab"), part("two", "cd"), fill("again", "both", "one"),
    fill("drawn", "base", repeats=2), part("base", "ba", repeats=3),
    fill("rare first", "rare", "popular"), part("rare", "d"), POPULAR,
    fill("whole", "kept", "stock"), {"name": "stock", **STOCK}, part("kept", "acd"),
    part("part", "dcba", "Leaves"), part("alone", "dcb", "Leaves"),
    fill("behind", "part"), part("last", "dc", "Leaves"),
]  # fmt: skip


class Done(NamedTuple):
    result: Result
    notes: list[list[str]]
    """What happened: the order of a model, and then the words."""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("ensembles")
    small.write(folder, {"plugged.py": COUNTING + LEAVES})
    result = run(small.config(folder, *MODELS, evaluation={"metrics": ["MAP@2"]}))
    assert isinstance(result, Result)
    lines = (folder / "counts.txt").read_text().splitlines()
    return Done(result, [line.split() for line in lines])


def test_a_part_is_made_and_fitted_once_a_repeat_and_draws_with_those_of_the_whole(
    done: Done,
) -> None:
    for order, repeats in (("ab", 1), ("cd", 1), ("ba", 3)):
        for what in ("made", "fit"):
            assert done.notes.count([order, what]) == repeats
    asked = [note[2] for note in done.notes if note[:2] == ["ba", "asked"]]
    assert asked == ["0", "1", "0", "1", "2"]


def test_a_whole_stands_anywhere_and_is_scored_like_any_model(done: Done) -> None:
    """`rare first` has d alone; then comes b: AP@2 is 1/2 for ann and 1 for bob.

    In stock are c and d alone (two days); the whole has a, c; the filter's lists are c, d.
    """
    metric = done.result.metrics[0]
    scores = {m.name: m.scores.values[metric].tolist() for m in done.result.models}
    assert scores["rare first"] == [[1 / 2, 1, 0]]
    assert scores["whole"] == scores["kept"] == [[0, 0, 1]]
    assert scores["stock"] == [[0, 1 / 2, 0]]


def test_a_model_goes_when_nobody_needs_it(done: Done) -> None:
    leave = [note for note in done.notes if note[0] in ("dcba", "dcb", "dc")]
    told = [note for note in leave if note[1] in ("fit", "gone")]
    orders = dict.fromkeys(order for order, _ in told)
    assert told == [[order, what] for order in orders for what in ("fit", "gone")]
