"""Ratings and both samples: plain Python finds the same, and so does a run of shuffled files."""

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import plain
import pytest
from small import timeless

from harness import config, run

MADE_UP = Path(__file__).parents[1] / "files" / "movielens"
MOVIELENS = plain.ROOT / "data" / "ml-latest-small"
"""The ratings themselves, where they were put as data/README.md says: nobody may pass them on."""
FEW = "compare.resamples=100"


@pytest.mark.parametrize("folder", [MADE_UP, *([MOVIELENS] if MOVIELENS.is_dir() else [])])
@pytest.mark.parametrize(
    ("ties", "tie"), [("shuffle", plain.shuffle_key), ("id", lambda user, item: item)]
)
def test_movielens_agrees_with_plain_python(
    ties: str, tie: Callable[[str, str], object], folder: Path
) -> None:
    overrides = [f"data.path={folder}", f"split.ties={ties}", FEW]
    movielens = config.read(plain.ROOT / "configs" / "movielens.toml", overrides)
    popular = [model for model in movielens.models if model.name == "popular"]
    result = run(movielens.model_copy(update={"models": popular}))
    expected = plain.plain_movielens(folder, tie)
    evaluation_set = result.evaluation_set
    assert [step.users for step in evaluation_set.funnel] == expected.funnel
    assert len(evaluation_set.candidates) == len(expected.candidates)
    figures = {metric: figure.mean for metric, figure in result.models[0].metrics.items()}
    assert figures == pytest.approx(expected.scores(expected.popular_for()), abs=1e-12)


def document(path: Path, *overrides: str) -> str:
    result = run(config.read(path, [FEW, "data.cache=false", *overrides]))
    return json.dumps(timeless(json.loads(result.to_json())))


@pytest.mark.parametrize(
    ("name", "data"), [("demo.toml", "hm-sample"), ("demo-ponpare.toml", "ponpare-sample")]
)
def test_row_order_changes_no_byte(tmp_path: Path, name: str, data: str) -> None:
    for path in sorted((plain.ROOT / "data" / data).iterdir()):
        header, *rows = gzip.decompress(path.read_bytes()).decode().splitlines(keepends=True)
        random.Random(1).shuffle(rows)  # noqa: S311
        text = header + "".join(rows)
        (tmp_path / path.stem).write_text(text, encoding="utf-8", newline="")
    path = plain.ROOT / "configs" / name
    assert document(path, f"data.path={tmp_path}") == document(path)
