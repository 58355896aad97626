"""What is kept of a trial: taken while all that its score follows from is the same."""

import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import small

from harness.config import Config
from harness.core import cache, plugins
from harness.metrics import parse
from harness.tuning.search import Score
from harness.tuning.tuning import Trials, trials_key

MINE = "import trial_helper\nfrom baselines.popular import Popular as Mine\n"
FIRST = "def first(hits, n_relevant, k):\n    return float(hits[0])\n"
BASE = {"name": "base", "use": "baselines.popular:Popular"}
WHOLE = {"name": "whole", "use": "baselines.blend:Blend", "of": ["base"]}


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, at_once: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    files = {"mine.py": MINE, "trial_helper.py": "", "metric.py": FIRST, "log.csv": small.LOG}
    small.write(tmp_path, files)
    return cache.folder() / "trials"


def config(folder: Path, *more: dict[str, Any], **sections: Any) -> Config:
    models = {"name": "mine", "use": "mine:Mine"}, *more
    data = {"cache": True, **sections.pop("data", {})}
    return small.config_of(folder, models=models, data=data, **sections)


def made_anew(
    config: Config,
    value: float | None = 0.5,
    *,
    name: str = "mine",
    metric: str = "MAP@2",
    fresh: bool = False,
    **params: Any,
) -> bool:
    """Ask for the score of parameters; return whether it was made anew."""
    plugins.load("model", "mine:Mine", config.folder, "class")
    key = trials_key(config, parse(metric, config.folder))
    made = Score(value, value and (0.25, 0.75), 1.0)
    trials = Trials(config, name, parse(metric, config.folder), (), key, fresh)
    with patch.object(Trials, "made", return_value=made) as asked:
        score = trials.score(params)
    assert score._replace(ci95=score.ci95 and tuple(score.ci95)) == made._replace(
        reused=not asked.called
    )
    return bool(asked.called)


def test_a_score_is_kept_for_its_parameters(tmp_path: Path) -> None:
    """Not that of a model that failed."""
    settings = config(tmp_path)
    assert [made_anew(settings, None) for _ in range(2)] == [True, True]
    assert [made_anew(settings, window_days=7) for _ in range(2)] == [True, False]
    assert made_anew(settings, window_days=8)
    assert made_anew(settings, fresh=True, window_days=7)


def test_a_class_that_was_given_in_python_is_not_known_again(tmp_path: Path) -> None:
    settings = config(tmp_path)
    model = settings.models[0].model_copy(update={"use": "given:Mine"})
    settings = settings.model_copy(update={"models": [model]})
    assert [made_anew(settings) for _ in range(2)] == [True, True]


def test_another_evaluation_has_other_trials(tmp_path: Path) -> None:
    """What is kept of finished models in general is in the tests of these."""
    assert made_anew(config(tmp_path))
    last: Any = {"split": {"strategy": "last_n", "n": 1}}
    for other in ({"evaluation": {"seed": 7}}, {"tune": last}, {"data": {"cache": False}}):
        assert made_anew(config(tmp_path, **other))
    assert made_anew(config(tmp_path), metric="Recall@2")
    assert not made_anew(config(tmp_path))


def test_changed_source_is_evaluated_anew(tmp_path: Path) -> None:
    settings = config(tmp_path)
    assert made_anew(settings)
    (tmp_path / "trial_helper.py").write_text("# a comment\n")
    sys.modules.pop("trial_helper")  # as in another process: else it is in memory as it was
    assert [made_anew(settings) for _ in range(2)] == [True, False]


def test_a_score_follows_from_the_source_of_its_metric(tmp_path: Path) -> None:
    settings = config(tmp_path)
    assert [made_anew(settings, metric="metric:first@2") for _ in range(2)] == [True, False]
    (tmp_path / "metric.py").write_text(FIRST.replace("hits[0]", "hits[0] / 2"))
    assert made_anew(settings, metric="metric:first@2")


def test_a_score_follows_from_base_models_as_they_are_tuned(tmp_path: Path) -> None:
    first, other = (
        config(tmp_path, WHOLE, {**BASE, "params": {"window_days": days}}) for days in (7, 8)
    )
    assert [made_anew(settings, name="whole") for settings in (first, other, first)] == [
        True,
        True,
        False,
    ]


def test_a_place_that_cannot_be_written_is_told(
    tmp_path: Path, kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("a file")
    assert made_anew(config(tmp_path))
    assert caplog.messages == [
        f"trials are not kept for a later search: cannot write to {kept}; make room there, or "
        "set HARNESS_CACHE_DIR to a folder of your own"
    ]


def test_files_beside_other_configs_do_not_count(tmp_path: Path) -> None:
    settings, shop = config(tmp_path), small.write(tmp_path / "shop", {"other.py": MINE})
    plugins.load("model", "other:Mine", shop, "class")
    small.write(shop, {"other.py": ""})
    assert [made_anew(settings) for _ in range(2)] == [True, False]
