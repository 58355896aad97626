"""Files of precomputed lists: read as `harness score` reads them, and as parts of ensembles."""

from pathlib import Path
from typing import Any

import pytest
import small
from conftest import refusal
from scipy.sparse import csr_array

import harness
from harness.config import Config
from harness.core.errors import UsageError
from harness.core.random import Draws
from harness.evaluation.answers import ask
from harness.evaluation.list_model import PrecomputedLists
from harness.protocol.task import make_task
from harness.results.tables import ids_of
from harness.scoring.submissions import SubmissionError

LOG = """user,item,time
ann,a,2020-01-01
bob,b,2020-01-02
bob,c,2020-01-02
cid,b,2020-01-03
ann,b,2020-01-09
bob,a,2020-01-09
cid,new,2020-01-09
cid,c,2020-01-09
"""
"""The last day is held out: ann's truth is b, bob's a, cid's c and new, which is no candidate."""


def config(folder: Path, text: str, log: str = LOG) -> Config:
    small.write(folder, {"lists.csv": text})
    return small.config(folder, {"name": "m", "lists": "lists.csv"}, log=log, evaluation={"k": 3})


def answered(settings: Config) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return notes on a file, and its lists of ids; "" of an item that nobody knows."""
    task, model = make_task(settings), PrecomputedLists("m", settings)
    answer = ask("m", model, task, 0, left_out=False)
    return answer.notes, ids_of(answer.lists, task.evaluation_set.candidate_ids).to_list()


def test_items_that_cannot_hit_use_their_places(tmp_path: Path) -> None:
    """The second a of bob's list can hit nothing either."""
    text = "user,items\nann,zzz new b\nbob,b a a\ncid,new zzz c\n"
    notes, lists = answered(config(tmp_path, text))
    assert lists == [["", "new", "b"], ["b", "a", "a"], ["new", "", "c"]]
    note = 'model "m": 4 positions have items that are not candidates, so they cannot hit'
    assert notes == (note, 'model "m": SUB303 "a" is already in the list')


@pytest.mark.parametrize(
    ("text", "ann", "note"),
    [
        ("user,rank,item\nann,1,\nann,2,b\nbob,1,a\n", [None, "b"], "SUB316 the rank before"),
        ("user,item\nann,\nann,b\nbob,a\n", ["b"], "SUB301 a row has no item"),
        ("user,item\nann,b\nbob,a\nann,a\n", ["b", "a"], "SUB319 the row of"),
        ("user,items\nann,zzz b\nbob,a\ncid,\n", ["", "b"], "1 position"),
    ],
)
def test_what_moves_items_in_a_file_is_told(
    tmp_path: Path, text: str, ann: list[Any], note: str
) -> None:
    notes, lists = answered(config(tmp_path, text))
    assert lists == [ann, ["a"], []]
    first, second = notes
    assert first == 'model "m": 1 evaluated user has no list, so it scores 0'
    assert second.startswith(f'model "m": {note}')


def test_a_valid_file_is_not_refused_when_its_ids_are_looked_up(tmp_path: Path) -> None:
    """Three candidates tell nothing of ids; all thirty items say that zzz looks like none."""
    rows = [("ann", 1, 1), ("bob", 2, 2), ("cid", 3, 3), ("ann", 2, 9), ("bob", 1, 9)]
    rows += [("cid", item, 9) for item in range(3, 31)]
    log = "user,item,time\n" + "".join(f"{u},{i},2020-01-{day:02}\n" for u, i, day in rows)
    _, lists = answered(config(tmp_path, "user,items\nann,zzz 17 2\n", log))
    assert lists == [["", "17", "2"], [], []]


def test_a_part_answers_with_candidates_that_may_be_listed(tmp_path: Path) -> None:
    """What is none, or was seen, is passed over, and the next ones move up."""
    task = make_task(settings := config(tmp_path, "user,items\nann,new a c\nbob,zzz b a a\n"))
    ids = task.evaluation_set.candidate_ids.to_list()
    model = PrecomputedLists("m", settings).fit(task.train)

    def lists(*seen: str) -> list[str]:
        exclude = (
            csr_array([[item in user_items for item in ids] for user_items in seen])
            if seen
            else None
        )
        draws = Draws(0, 0, lambda: task.hashes)
        positions = model.recommend(task.evaluation_set.users, 3, draws, exclude)
        return ["".join(ids[position] for position in row if position >= 0) for row in positions]

    assert lists() == ["ac", "ba", ""]
    assert lists("a", "bc", "b") == ["c", "a", ""]


def test_a_file_with_errors_is_refused_as_score_refuses_it(tmp_path: Path) -> None:
    settings, lists = config(tmp_path, "user,items\nann,b c\nann,b\n"), tmp_path / "lists.csv"
    with pytest.raises(SubmissionError) as by_score:
        harness.score(lists, config=settings)
    (problem,) = str(by_score.value).splitlines()[1:]
    with refusal(SubmissionError) as caught:
        answered(settings)
    assert problem.startswith("SUB203 ")
    assert str(caught.value) == (
        f'model "m": {lists}: these lists have errors; fix them, or see all of them: harness '
        f"validate {lists} --config {settings.file}\n{problem}"
    )


@pytest.mark.parametrize("name", ["mates.csv", ".", "no\0name", "x" * 5000])
def test_a_missing_file_is_told(tmp_path: Path, name: str) -> None:
    settings = small.config(tmp_path, {"name": "m", "lists": name})
    words = f'model "m": no file {tmp_path / name}; paths start at the config\'s folder'
    with refusal(UsageError, words):
        PrecomputedLists("m", settings)
