"""Precomputed lists: a file is evaluated like a model, and scores what `harness score` says."""

from pathlib import Path

import pytest
import small

import harness
from harness.experiment.run import run

METRICS = ["MAP", "NDCG", "Novelty", "Popularity", "Coverage", "Gini", "MAP(divisor=retrieved)"]
TEXTS = ["a b", "z b a", "b b c", "", "e d"]


@pytest.mark.parametrize("seen_items", ["drop", "keep"])
def test_a_run_says_what_score_says(tmp_path: Path, seen_items: str) -> None:
    """Lists with holes: some are empty, some repeat an item, some hold what no candidate is."""
    rows = "".join(f"user{n},{TEXTS[n // 3 % 5]}\n" for n in range(40))
    small.write(tmp_path, {"lists.csv": f"user,items\n{rows}"})
    rules = {"k": 3, "seen_items": seen_items, "metrics": [f"{name}@3" for name in METRICS]}
    ready = {"name": "ready", "lists": "lists.csv"}
    settings = small.config(tmp_path, ready, log=small.MANY, evaluation=rules)
    result = run(settings)
    scored = harness.score(tmp_path / "lists.csv", config=settings)
    by_run, by_score = (
        {name: figure.mean for name, figure in of.metrics.items()}
        for of in (result.models[0], scored)
    )
    assert by_run == by_score
    n = scored.left_out["users_without_list"]
    assert n > 0
    assert f'model "ready": {n} evaluated users have no list, and score 0' in result.notes
