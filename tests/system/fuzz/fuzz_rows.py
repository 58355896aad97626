"""Mutated files with a row an item: no file surprises, and sound ones are read as in plain Python.

The reference knows rows as they stand: it sorts those of each user by rank, or by score from the
highest, and looks at one after the other.
"""

import math
import re
from collections import Counter

import pytest
from exam import TRUTH, Exam
from mutation import TOKENS, batches, chances, mutated, shown
from reference import K, who

from harness.metrics import apk
from harness.submission.validate import Examined

HEADS = {"rank": "customer_id,article_id,rank\n", "score": "customer_id,article_id,score\n"}
SEEDS = [
    "ann,0706016001,1\nann,0706016002,2\nbob,0706016003,1\n",
    "bob,0706016003,2\nann,0706016001,1\nbob,0706016002,1\ncem,0706016001,1\n",
    "".join(f"ann,070601600{i % 3 + 1},{i + 1}\n" for i in range(14)) + "zoe,1,1\n",
    "ann,0706016001,0.5\nann,0706016002,2.5e-1\ncem,0706016003,-1\nbob,x,.5\n",
]
WORDS = [*TOKENS, b"0706016001", b"0706016003", b"bob", b"cem", b"1", b"2", b"13", b"0.5", b"1e0"]
SOUND = re.compile(r"customer_id,article_id,(rank|score)\n(\w+,\w+,[-+.\deE ]*\n)+", re.ASCII)
NUMBER = re.compile(r" *[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)? *")
COUNTED = {"SUB302", "SUB303", "SUB313", "SUB314", "SUB315", "SUB316"}


@pytest.fixture(scope="module")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Exam:
    warm = ((head + SEEDS[0]).encode() for head in HEADS.values())
    return Exam(tmp_path_factory.mktemp("rows"), warm)


def number(text: str, order: str) -> float:
    """Return what orders a row, the first lowest; infinite where it is none."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if order == "score":
        return -value if math.isfinite(value) else math.inf
    return value if math.isfinite(value) and value >= 1 and value == int(value) else math.inf


def reference(text: str) -> tuple[Counter[str], dict[str, dict[float, str]] | None]:
    """Return how often each fault is there, and the items of each user by place, from 0.

    Rows of ANN are ann's, where she has none under her own id.
    """
    head, *lines = text.splitlines()
    there = {*TRUTH} & {line.split(",")[0] for line in lines}
    rows = [
        ",".join([user if who(user) in there else who(user), *rest])
        for user, *rest in (line.split(",") for line in lines)
    ]
    order = head.rpartition(",")[2]
    faults: Counter[str] = Counter()
    lists: dict[str, dict[float, str]] = {}
    for user in {row.split(",")[0] for row in rows}:
        numbered = [
            (number(row.split(",")[2], order), row) for row in rows if row.split(",")[0] == user
        ]
        before, last, met, places = 0.0, -1.0, set(), {}
        for nth, (value, row) in enumerate(sorted(numbered, key=lambda pair: pair[0])):
            item = row.split(",")[1]
            place = value - 1 if order == "rank" else nth
            finite = math.isfinite(value)
            tied = nth > 0 and value == before and finite
            faults["SUB313"] += not finite
            faults["SUB314" if order == "rank" else "SUB315"] += tied
            faults["SUB316"] += order == "rank" and finite and value > before + 1
            faults["SUB302"] += math.isfinite(place) and place >= K > last
            faults["SUB303"] += item in met
            met.add(item)
            if not tied:
                places[place] = item
            before, last = value, place
        lists[user] = places
    return +faults, None if faults["SUB315"] else lists


def average_precision(places: dict[float, str], truth: list[str]) -> float:
    return apk(truth, [places.get(place, "") for place in range(K)], K)


def check(content: bytes, examined: Examined, exam: Exam) -> None:
    text = content.decode("utf-8", "replace")
    if not SOUND.fullmatch(text):
        return
    faults, lists = reference(text)
    counts = {p.code: p.count for p in examined.validation.problems if p.code in COUNTED}
    assert counts == faults
    if lists is None or examined.lists is None:
        assert lists is None or max(max(p, default=0) for p in lists.values()) > K
        return
    values = [average_precision(lists.get(user, {}), truth) for user, truth in TRUTH.items()]
    expected = sum(values) / len(values)
    assert exam.map_at_12(examined) == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize(("batch", "files"), batches(10))
def test_no_rows_surprise(batch: int, files: int, exam: Exam) -> None:
    chance = chances("rows", batch)
    for number in range(files):
        head = HEADS[chance.choice(list(HEADS))].encode()
        content = head + mutated(chance.choice(SEEDS).encode(), chance, WORDS)
        content = mutated(content, chance, WORDS) if chance.random() < 0.1 else content
        with shown(f"batch {batch}, file {number}: {content!r}"):
            check(content, exam.read(content, chance), exam)
