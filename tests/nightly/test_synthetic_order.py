"""Markets are worth evaluating on: random < popular < popular last week < repurchase."""

from pathlib import Path

import pytest
from conftest import ROOT

from harness import config as config_
from harness.data.synthetic import synthesise
from harness.evaluation.run import run

BASELINES = "random", "popular", "popular last week", "repurchase"


def scores_of(name: str, *changes: str) -> list[float]:
    """Return MAP of each baseline in the run of a demo's config."""
    path = ROOT / "configs" / f"{name}.toml"
    result = run(config_.read(path, ["compare.resamples=100", "data.cache=false", *changes]))
    models = {model.name: next(iter(model.metrics.values())).mean for model in result.models}
    return [models[baseline] for baseline in BASELINES]


@pytest.mark.parametrize(
    ("name", "layout", "users", "items"),
    [("demo", "hm", 10_000, 1500), ("demo-ponpare", "ponpare", 4000, 2500)],
)
def test_other_seeds(name: str, layout: str, users: int, items: int, tmp_path: Path) -> None:
    """Larger ones than the samples, whose order tests/journeys/test_demo.py has."""
    synthesise(layout, tmp_path, users=users, items=items, events=60_000, seed=5, gzip=True)
    scores = scores_of(name, f"data.path={tmp_path}")
    assert scores == sorted(scores)
    assert scores[-1] > 2 * scores[0]
