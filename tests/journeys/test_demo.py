"""The two sample competitions, each run once, against plain Python in sets and dicts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import plain
import pytest
import small

from harness import config, run

Document = dict[str, Any]


@pytest.fixture(scope="module")
def demos(demo_run: Path) -> dict[str, Document]:
    """Return the results by the names of the samples."""
    path = plain.ROOT / "configs" / "demo-ponpare.toml"
    ponpare = run(config.read(path, ["compare.resamples=100", "data.cache=false"]))
    hm = (demo_run / "result.json").read_text(encoding="utf-8")
    return {"hm": json.loads(hm), "ponpare": json.loads(ponpare.to_json())}


def figures(document: Document, name: str) -> dict[str, float]:
    (model,) = (model for model in document["models"] if model["name"] == name)
    return {metric: figure["mean"] for metric, figure in model["metrics"].items()}


@pytest.mark.parametrize(
    ("sample", "again"), [("hm", plain.plain_hm), ("ponpare", plain.plain_ponpare)]
)
def test_the_sample_agrees_with_plain_python(
    sample: str, again: Callable[[], plain.Plain], demos: dict[str, Document]
) -> None:
    document, expected = demos[sample], again()
    evaluation = document["evaluation"]
    assert [step["users"] for step in evaluation["funnel"]] == expected.funnel
    assert evaluation["candidates"] == len(expected.candidates)
    lists = {
        "popular": expected.popular_for(),
        "popular last week": expected.popular_for(7),
        "repurchase": expected.repurchase_for(),
    }
    for model, list_of in lists.items():
        assert figures(document, model) == pytest.approx(expected.scores(list_of), abs=1e-12)
    names = [model["name"] for model in document["models"]]
    assert names == [*reversed(lists), "random"]  # best first


def test_another_seed_changes_random_alone(tmp_path: Path) -> None:
    models = small.POPULAR, small.RANDOM
    sections = {"compare": {"resamples": 100}, "log": small.MANY}
    one, two = (
        json.loads(run(small.config(tmp_path, *models, evaluation=seed, **sections)).to_json())
        for seed in ({"seed": 42}, {"seed": 43})
    )
    assert figures(one, "random") != figures(two, "random")
    assert figures(one, "popular") == figures(two, "popular")
