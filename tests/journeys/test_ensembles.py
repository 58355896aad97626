"""One run of models made of others: each goes when nobody needs it any more."""

from pathlib import Path

import small
from counting import COUNTING, fill

from harness.evaluation.run import run

LEAVES = """
class Leaves(Counting):
    def __del__(self):
        self.note("gone")
"""


def test_a_model_goes_when_nobody_needs_it(tmp_path: Path) -> None:
    """A part, when the whole that stands behind the next model has been asked."""
    leaves = [
        {"name": name, "use": "plugged:Leaves", "params": {"order": order}}
        for name, order in (("part", "dcba"), ("alone", "dcb"), ("last", "dc"))
    ]
    small.write(tmp_path, {"plugged.py": COUNTING + LEAVES})
    run(small.config(tmp_path, *leaves[:2], fill("behind", "part"), leaves[2]))
    notes = [line.split() for line in (tmp_path / "counts.txt").read_text().splitlines()]
    steps = [(order, what) for order, what, *_ in notes if what in ("fit", "gone")]
    orders = dict.fromkeys(order for order, _ in steps)
    assert steps == [(order, what) for order in orders for what in ("fit", "gone")]
    assert {*orders} == {"dcba", "dcb", "dc"}
