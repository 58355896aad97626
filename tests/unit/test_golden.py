"""Every published example of the golden file, which names its sources."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import ROOT, exactly, ragged

from harness import evaluate
from harness.metrics import Block, Judgments, apk, mapk, parse, per_user
from harness.stats.chance_law import law

FILE = ROOT / "tests" / "files" / "golden.json"
GOLDEN: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
OURS = {
    "AP[min(R,k)]": "MAP",
    "AP[R]": "MAP(divisor=trec)",
    "AP[k]": "MAP(divisor=k)",
    "AP[min(R,L)]": "MAP(divisor=retrieved)",
    "AP[hits]": "MAP(divisor=hits)",
    "Precision": "Precision",
    "RR": "MRR",
    "NDCG[retrieved]": "NDCG(ideal=retrieved)",
}


def block(truth: Sequence[str], predicted: Sequence[str], k: int) -> Block:
    code = {item: i for i, item in enumerate(dict.fromkeys([*truth, *predicted]))}
    judgments = ragged([{code[item] for item in truth}])
    lists = np.array([[code[item] for item in predicted]], np.int32).reshape(1, -1)
    return Block(lists, Judgments(judgments, judgments.sizes), k)


def value(name: str, truth: Sequence[str], predicted: Sequence[str], k: int) -> float:
    return float(per_user(parse(f"{name}@{k}"), block(truth, predicted, k))[0])


def is_hit(truth: Sequence[str], predicted: Sequence[str], k: int) -> int:
    """Return rel(k): whether place k itself is a hit."""
    before = block(truth, predicted, k - 1).tally.hits[0] if k > 1 else 0
    return int(block(truth, predicted, k).tally.hits[0] - before)


def test_every_golden_case_is_here() -> None:
    parts = {part: len(cases) for part, cases in GOLDEN.items() if part != "about"}
    assert parts == {"users": 28, "means": 6, "novelty": 2, "pfound": 5, "random_ap": 8}


@pytest.mark.parametrize("user", GOLDEN["users"], ids=lambda user: user["id"])
def test_golden_user(user: dict[str, Any]) -> None:
    truth, predicted, k = user["truth"], user["predicted"], user["k"]
    for name, expected in user["expected"].items():
        result = (
            is_hit(truth, predicted, k) if name == "rel" else value(OURS[name], truth, predicted, k)
        )
        assert result == exactly(expected), name
    if "AP[min(R,k)]" in user["expected"]:
        assert apk(truth, predicted, k) == exactly(user["expected"]["AP[min(R,k)]"])


@pytest.mark.parametrize("mean", GOLDEN["means"], ids=lambda mean: mean["id"])
def test_golden_mean(mean: dict[str, Any]) -> None:
    users = [user for user in GOLDEN["users"] if user["id"] in mean["of"]]
    assert len(users) == len(mean["of"])
    truth, lists = ([user[part] for user in users] for part in ("truth", "predicted"))
    name, k = OURS[mean["metric"]], users[0]["k"]
    values = [value(name, true, row, k) for true, row in zip(truth, lists, strict=True)]
    assert np.mean(values) == exactly(mean["expected"])
    if name == "MAP":
        assert mapk(truth, lists, k=k) == exactly(mean["expected"])


@pytest.mark.parametrize("case", GOLDEN["novelty"])
def test_golden_novelty(case: dict[str, Any]) -> None:
    users, shares = 10_000, case["probabilities"]
    everyone = [(user, len(shares)) for user in range(users)]
    having = [(user, item) for item, p in enumerate(shares) for user in range(round(p * users))]
    train = pl.DataFrame(everyone + having, schema=["user", "item"], orient="row")
    lists, truth = {0: list(range(len(shares)))}, {0: [0]}
    result = evaluate(lists, truth, f"Novelty@{case['k']}", train=train)
    assert result.iloc[0] == exactly(case["expected"])


@pytest.mark.parametrize("case", GOLDEN["pfound"])
def test_golden_pfound(case: dict[str, Any]) -> None:
    cut = "" if case["k"] is None else f"@{case['k']}"
    lists = {"ann": list(range(len(case["p_rel"])))}
    truth = {"ann": dict(enumerate(case["p_rel"]))}
    result = evaluate(lists, truth, f"pFound(p_break={case['p_break']}){cut}")
    assert result.iloc[0] == exactly(case["expected"])


@pytest.mark.parametrize("case", GOLDEN["random_ap"])
def test_golden_chance(case: dict[str, Any]) -> None:
    n, relevant = case["n_candidates"], case["relevant_candidates"]
    chance = law(parse(f"MAP@{case['k']}"), n, relevant, case["relevant_all"])
    assert chance is not None
    assert float(chance.mean) == exactly(case["mean"])
    assert math.sqrt(chance.var) == exactly(case["sd"])
