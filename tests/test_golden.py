"""Every published example: those of the golden file, and the printed ones as literals."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import ragged

from harness import evaluate
from harness.metrics import Block, Judgments, apk, mapk, parse, per_user
from harness.stats.chance_moments import exact

FILE = Path(__file__).parent / "files" / "golden.json"
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
    """Return one list of strings beside its truth."""
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
    given = user["truth"], user["predicted"], user["k"]
    for name, expected in user["expected"].items():
        found = is_hit(*given) if name == "rel" else value(OURS[name], *given)
        assert found == pytest.approx(expected, rel=0, abs=1e-12), name
    if "AP[min(R,k)]" in user["expected"]:
        assert apk(*given) == pytest.approx(user["expected"]["AP[min(R,k)]"], rel=0, abs=1e-12)


@pytest.mark.parametrize("mean", GOLDEN["means"], ids=lambda mean: mean["id"])
def test_golden_mean(mean: dict[str, Any]) -> None:
    users = [user for user in GOLDEN["users"] if user["id"] in mean["of"]]
    assert len(users) == len(mean["of"])
    values = [
        value(OURS[mean["metric"]], user["truth"], user["predicted"], user["k"]) for user in users
    ]
    assert np.mean(values) == pytest.approx(mean["expected"], rel=0, abs=1e-12)


@pytest.mark.parametrize("case", GOLDEN["novelty"], ids=lambda case: case["id"])
def test_golden_novelty(case: dict[str, Any]) -> None:
    users, shares = 10_000, case["probabilities"]
    everyone = [(user, len(shares)) for user in range(users)]
    having = [(user, item) for item, p in enumerate(shares) for user in range(round(p * users))]
    train = pl.DataFrame(everyone + having, schema=["user", "item"], orient="row")
    lists, truth = {0: list(range(len(shares)))}, {0: [0]}
    found = evaluate(lists, truth, f"Novelty@{case['k']}", train=train)
    assert found.iloc[0] == pytest.approx(case["expected"], rel=0, abs=1e-12)


@pytest.mark.parametrize("case", GOLDEN["pfound"], ids=lambda case: case["id"])
def test_golden_pfound(case: dict[str, Any]) -> None:
    cut = "" if case["k"] is None else f"@{case['k']}"
    lists = {"ann": list(range(len(case["p_rel"])))}
    truth = {"ann": dict(enumerate(case["p_rel"]))}
    found = evaluate(lists, truth, f"pFound(p_break={case['p_break']}){cut}")
    assert found.iloc[0] == pytest.approx(case["expected"], rel=0, abs=1e-12)


@pytest.mark.parametrize("case", GOLDEN["random_ap"], ids=lambda c: f"{c['n_candidates']}@{c['k']}")
def test_golden_chance(case: dict[str, Any]) -> None:
    sizes = case["n_candidates"], case["relevant_candidates"], case["relevant_all"]
    found = exact(parse(f"MAP@{case['k']}"), *sizes)
    assert found is not None
    assert float(found.mean) == pytest.approx(case["mean"], rel=0, abs=1e-12)
    assert math.sqrt(found.var) == pytest.approx(case["sd"], rel=0, abs=1e-12)


HM = [  # truth a…e; the lists of the H&M MAP@12 notebook at k = 4
    ("bcade", 1.0),
    ("abcde", 1.0),
    ("fbcde", (1 / 2 + 2 / 3 + 3 / 4) / 4),
    ("afegb", (1 + 2 / 3) / 4),
    ("afcgb", (1 + 2 / 3) / 4),
    ("dcbae", 1.0),
]


@pytest.mark.parametrize(("predicted", "expected"), HM)
def test_the_lists_of_the_hm_notebook(predicted: str, expected: float) -> None:
    assert value("MAP", "abcde", predicted, 4) == pytest.approx(expected, abs=1e-12)


def test_the_mean_of_the_hm_notebook() -> None:
    lists = [list(predicted) for predicted, _ in HM]
    assert mapk([list("abcde")] * 6, lists, k=4) == pytest.approx(0.71875, abs=1e-12)


PRINTED = [  # source, metric, k, truth, list, value
    ("RecoTour chapter 5", "MAP", 10, "37425", "x7yz3uvwpq", 0.18),
    ("MAP@K guide", "MAP(divisor=k)", 5, "ABF", "CBEAD", 0.2),
    ("MAP@K guide", "MAP", 5, "ABF", "CBEAD", 1 / 3),
    ("MAP@K guide", "MAP(divisor=k)", 5, "ABF", "ABCDE", 0.4),
    ("MAP@K guide", "MAP(divisor=k)", 5, "ABCDE", "ABCDE", 1.0),
    ("MAP@K guide", "MAP(divisor=retrieved)", 5, "F", "CEAFB", 0.25),
    ("ranking notes", "MRR", 5, "35", "xy3z5", 1 / 3),
    ("ranking notes", "MAP(divisor=hits)", 5, "35", "xy3z5", (1 / 3 + 2 / 5) / 2),
    ("ranking notes", "NDCG(ideal=retrieved)", 5, "35", "xy3z5", 0.5437713091520254),
    ("ranking notes", "NDCG(ideal=retrieved)", 5, "4", "xyz4u", 0.43067655807339306),
    ("H&M notebook", "Precision", 3, "abcde", "afcgb", 2 / 3),
]


@pytest.mark.parametrize(("source", "name", "k", "truth", "predicted", "expected"), PRINTED)
def test_what_others_print(
    source: str, name: str, k: int, truth: str, predicted: str, expected: float
) -> None:
    assert value(name, truth, predicted, k) == pytest.approx(expected, abs=1e-12), source


@pytest.mark.parametrize(
    ("p_rel", "name", "expected"),
    [
        ([0.4, 0.1, 0.0, 0.61, 0.14], "pFound", 0.668683607275),
        ([0.4, 0.1, 0.0, 0.61, 0.14], "pFound@3", 0.4 + 0.6 * 0.85 * 0.1),
        ([0, 0, 1, 0, 1], "pFound@5", 0.85**2),
        ([0.07, 0.14, 0.41, 0.61], "pFound(p_break=0.3)", 0.42055169086),
    ],
)
def test_what_others_print_of_pfound(p_rel: list[float], name: str, expected: float) -> None:
    found = evaluate([list(range(len(p_rel)))], {0: dict(enumerate(p_rel))}, name)
    assert found.iloc[0] == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize(
    ("truth", "predicted", "values"),
    [  # under min(R, k), R, k, min(R, L) and hits, at k = 10
        ("abcdefghijkl", "abcdefghij", (1, 10 / 12, 1, 1, 1)),
        ("a", "xa", (1 / 2, 1 / 2, 1 / 20, 1 / 2, 1 / 2)),
        ("abc", "a", (1 / 3, 1 / 3, 1 / 10, 1, 1)),
        ("ab", "aab", (5 / 6, 5 / 6, 1 / 6, 5 / 6, 5 / 6)),
        ("", "a", (0, 0, 0, 0, 0)),
        ("a", "", (0, 0, 0, 0, 0)),
        ("aab", "ab", (1, 1, 1 / 5, 1, 1)),
    ],
)
def test_the_five_conventions(truth: str, predicted: str, values: tuple[float, ...]) -> None:
    found = [value(name, truth, predicted, 10) for name in list(OURS.values())[:5]]
    assert found == pytest.approx(list(values), abs=1e-12)


def test_a_thousand_truth_items_and_five_hits() -> None:
    truth = [f"i{i}" for i in range(1000)]
    assert value("MAP(divisor=trec)", truth, truth[:5], 5) == pytest.approx(0.005, abs=1e-12)
    assert value("MAP", truth, truth[:5], 5) == 1.0
