"""Precomputed lists: a file is evaluated like a model, and scores what `harness score` says."""

import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import harness
from harness import config as config_
from harness.config import Config
from harness.experiment.run import run
from harness.experiment.submit import submit

ROOT = Path(__file__).parents[2]
BEYOND = ["Novelty", "Popularity", "Coverage", "Gini", "MAP(divisor=retrieved)"]


def sample(name: str, *models: dict[str, Any], **evaluation: Any) -> Config:
    """Return a demo's config with more models."""
    values = tomllib.loads((ROOT / "configs" / f"{name}.toml").read_text(encoding="utf-8"))
    values["evaluation"] |= evaluation
    values["models"] += models
    return config_.parse(values | {"compare": {"resamples": 100}}, ROOT / "configs")


@pytest.mark.parametrize(("name", "seen_items"), [("demo", "drop"), ("demo-ponpare", "keep")])
def test_a_run_says_what_score_says(name: str, seen_items: str, tmp_path: Path) -> None:
    """Lists with holes: some are empty, some repeat an item, some hold what no candidate is."""
    k = 12 if name == "demo" else 10
    more = {"seen_items": seen_items, "metrics": [f"{m}@{k}" for m in ("MAP", "NDCG", *BEYOND)]}
    config = sample(name, **more)
    submit(config, "repurchase", tmp_path / "own.csv")
    frame = pl.read_csv(tmp_path / "own.csv", infer_schema=False)
    items = frame.columns[1]
    catalogue = sorted({i for text in frame[items].drop_nulls() for i in text.split(" ")})
    old = pl.read_csv(ROOT / "data" / "ponpare-sample" / "coupon_list_train.csv.gz")
    other = catalogue[0] if name == "demo" else old["COUPON_ID_hash"][0]
    changed = [
        {0: None, 1: text, 2: f"{other} {text}", 3: text}[row % 4] if text else None
        for row, text in enumerate(frame[items].to_list())
    ]
    texts = [None if t is None else " ".join(t.split(" ")[:k]) for t in changed]
    frame.with_columns(pl.Series(items, texts)).write_csv(tmp_path / "lists.csv")
    config = sample(name, {"name": "ready", "lists": str(tmp_path / "lists.csv")}, **more)
    result = run(config)
    scored = harness.score(tmp_path / "lists.csv", config=config)
    ready = next(model for model in result.models if model.name == "ready")
    own, by_score = ({m: f.mean for m, f in of.metrics.items()} for of in (ready, scored))
    assert own == by_score
    n = scored.left_out["users_without_list"]
    assert n > 0
    assert f'model "ready": {n} evaluated users have no list, and score 0' in result.notes
    odd = [note for note in result.notes if "items that are no candidates" in note]
    assert len(odd) == (name == "demo-ponpare")  # in H&M every article is a candidate
