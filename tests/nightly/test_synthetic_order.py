"""The samples are worth evaluating on: random < popular < popular last week < repurchase."""

from itertools import pairwise
from pathlib import Path

import pytest
from conftest import ROOT

from harness import config as config_
from harness.data.synthetic import synthesise
from harness.experiment.run import run

BASELINES = "random", "popular", "popular last week", "repurchase"


def scores_of(name: str, *changes: str) -> tuple[list[float], int]:
    """Return MAP of each baseline in the run of a demo's config, and of how many users."""
    path = ROOT / "configs" / f"{name}.toml"
    result = run(config_.read(path, ["compare.resamples=100", "data.cache=false", *changes]))
    models = {model.name: next(iter(model.metrics.values())).mean for model in result.models}
    return [models[baseline] for baseline in BASELINES], result.evaluation.users


REAL = (0, 0.003, 0.005, 0.02), (0.005, 0.015, 0.03, 0.06)
"""What scores on the data of H&M are between."""


@pytest.mark.parametrize(("name", "least"), [("demo", 800), ("demo-ponpare", 300)])
def test_each_baseline_of_the_samples_beats_the_one_before(name: str, least: int) -> None:
    scores, users = scores_of(name)
    assert users >= least
    for worse, better in pairwise(scores):
        assert better > 1.1 * worse, scores
    if name == "demo":
        for score, low, high in zip(scores, *REAL, strict=True):
            assert low < score < high


@pytest.mark.parametrize(
    ("name", "layout", "users", "items"),
    [("demo", "hm", 10_000, 1500), ("demo-ponpare", "ponpare", 4000, 2500)],
)
def test_other_seeds(name: str, layout: str, users: int, items: int, tmp_path: Path) -> None:
    """Larger markets keep the order, too."""
    synthesise(layout, tmp_path, users=users, items=items, events=60_000, seed=5, gzip=True)
    scores, _ = scores_of(name, f"data.path={tmp_path}")
    assert scores == sorted(scores)
    assert scores[-1] > 2 * scores[0]
