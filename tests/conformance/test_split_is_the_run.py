"""A run of the files that split writes, and lists scored on them: the figures of the run itself."""

from pathlib import Path
from typing import Any

import pytest
import small

import harness
from harness.hosting.submit import submit

OF_TRAIN = ("Coverage", "Gini", "Novelty")
"""Metrics that need more than a solution."""
HOLES = "user,items\n" + "".join(
    f"user{n},{('a b', 'z b', 'b b', '', 'e')[n // 3 % 5]}\n" for n in range(40)
)
"""Some lists are empty, some repeat an item, some hold what no candidate is."""


def means_of(metrics: Any) -> dict[str, float]:
    return {name: figure.mean for name, figure in metrics.items()}


@pytest.mark.parametrize("sections", small.CONFIGS.values(), ids=small.CONFIGS)
def test_runs_and_lists_score_on_the_files_as_in_the_run(
    sections: dict[str, Any], tmp_path: Path
) -> None:
    """But of models that look back from the cut-off, which a given split puts behind train.

    The files name no files of lists, such as `holes`.
    """
    more = [*sections.get("more", []), {"name": "holes", "lists": "holes.csv"}]
    small.write(tmp_path, {"holes.csv": HOLES})
    config, out = small.many(tmp_path, **(sections | {"more": more})), tmp_path / "out"
    done = harness.split(config, out)
    was, now = harness.run(config), harness.run(out / "config.toml")
    fingerprint = was.evaluation.fingerprint
    assert now.evaluation.fingerprint == done.record.evaluation.fingerprint == fingerprint
    other = {"trending", "gaps", "fading"} if config.split.strategy == "time" else set()
    figures = [
        {model.name: model.metrics for model in run.models if model.name not in other | {"holes"}}
        for run in (was, now)
    ]
    assert figures[0] == figures[1]
    of_run = {model.name: model.metrics for model in was.models}
    metrics = [name for name in of_run["popular"] if not name.startswith(OF_TRAIN)]
    for name in ("popular", "after", "gaps"):
        submit(config, name, tmp_path / "lists.csv")
        scored = harness.score(
            tmp_path / "lists.csv",
            solution=out / "solution.csv",
            sample=out / "sample_submission.csv",
            metrics=metrics,
            keep_users_without_items=True,
        )
        assert [scored.metrics[m].mean for m in metrics] == [of_run[name][m].mean for m in metrics]
        result = harness.score(tmp_path / "lists.csv", config=config)
        assert means_of(result.metrics) == means_of(of_run[name])
        assert result.validation is not None
        assert result.validation.errors == ()
    holes = harness.score(tmp_path / "holes.csv", config=config)
    assert means_of(holes.metrics) == means_of(of_run["holes"])
