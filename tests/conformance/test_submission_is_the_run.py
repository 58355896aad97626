"""A model's lists written, validated and scored: the score of the run, to the last bit."""

from pathlib import Path

import pytest

import harness
from harness import config as config_
from harness.experiment.run import run
from harness.experiment.submit import submit

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("name", "ending"), [("demo", ".csv"), ("demo-ponpare", ".csv.gz")])
def test_written_validated_and_scored_it_has_the_runs_own_score(
    name: str, ending: str, tmp_path: Path
) -> None:
    overrides = ["compare.resamples=100"]
    config = config_.read(ROOT / "configs" / f"{name}.toml", overrides)
    out = tmp_path / f"submission{ending}"
    for model in run(config).models:
        submit(config, model.name, out)
        found = harness.validate(out, config=config)
        assert found.errors == (), [problem.message for problem in found.errors]
        scored = harness.score(out, config=config)
        for metric, figure in model.metrics.items():
            if model.repeats == 1:
                assert scored.metrics[metric].mean == figure.mean
            else:
                (values,) = [v for m, v in model.scores.values.items() if str(m) == metric]
                assert scored.metrics[metric].mean == pytest.approx(values[0].mean(), rel=1e-14)
