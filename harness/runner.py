"""The main job: a config in, every model through the same exam, a `Result` out."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import chance, metrics
from harness import config as config_
from harness.catalogue import of_train
from harness.clock import Clock
from harness.dataset import Dataset
from harness.errors import HarnessError
from harness.evaluation import EvaluationSet, left_out
from harness.leaderboard_estimate import population
from harness.models import Factories
from harness.profile import profile
from harness.recommender import Recommender
from harness.results import Chance, Result
from harness.setting import asked as asked_of
from harness.setting import of_users, set_exam
from harness.sitting import describing, sit
from harness.split import Split
from harness.standings import standings

if TYPE_CHECKING:
    from harness.submission.known import Known


def run(config: config_.Config | str | Path, *, progress: bool = False) -> Result:
    """Let every model of a config sit the exam it sets.

    Parameters
    ----------
    config : Config or path of a TOML file
    progress : bool
        Show bars on standard error for steps that take longer than a second.

    Raises
    ------
    HarnessError
        Anything a person can mend: the config, a file, an empty exam, a model that breaks its
        contract.
    """
    if not isinstance(config, config_.Config):
        config = config_.read(Path(config))
    asked = asked_of(config)
    factories = Factories(config)
    models = [factories.made(r) for r in range(max(model.repeats for model in config.models))]
    with ThreadPoolExecutor(1) as background:  # leaving waits until the cache is written
        return _run(config, asked, factories, models, background, progress)


def _run(
    config: config_.Config,
    asked: tuple[metrics.Metric, ...],
    factories: Factories,
    models: list[dict[str, Recommender]],
    background: Executor,
    progress: bool,
) -> Result:
    clock = Clock()
    setting = set_exam(config, background=background, clock=clock, progress=progress)
    exam = setting.exam
    with clock.step("chance"):
        catalogue = of_train(setting.train, (*asked, *describing(exam.k)))
        floors = {m: _floor(m, exam) for m in asked}
    with clock.step("users"):
        users = profile(setting, config.compare.slices)
        others = of_users(setting, left_out(exam, setting.data, setting.parts, config.evaluation))
        sample, unread = _sample(config)
    sittings = [
        sit(
            # Taken out, so that a model's memory is free again unless it is a part of a later one.
            (of_repeat.pop(model.name) for of_repeat in models[: model.repeats]),
            model,
            setting,
            catalogue,
            asked,
            progress,
            # Nothing can be said for others of a metric that is not 0 for users without hits.
            others=others if asked[0].definition.earned else None,
            seeded=factories.seeded(model.name),
        )
        for model in config.models
    ]
    with clock.step("compare"):
        found = standings(sittings, asked, exam, users, config)
    return Result(
        config=_resolved(config, setting.data, asked),
        layout=setting.data.layout,
        window=setting.parts.summary(),
        start=_start(setting.parts),
        exam=exam,
        metrics=asked,
        chance={str(m): _chance(f) for m, f in floors.items() if f is not None},
        population=population(exam, others.exam, sample),
        users=users,
        notes=(
            *_notes(setting.data, setting.parts, exam, floors),
            *unread,
            *(note for sitting in sittings for note in sitting.notes),
        ),
        seconds=clock.seconds,
        **found._asdict(),
    )


def _sample(config: config_.Config) -> tuple[Known | None, tuple[str, ...]]:
    """Return the ids that a leaderboard averages with or without true items, and what to know.

    A sample submission that cannot be read costs its figure, not the run.
    """
    from harness.submission.competition import averaged_ids

    try:
        return averaged_ids(config), ()
    except HarnessError as error:
        return None, (f"no score over the sample submission: {error}",)


def _resolved(
    config: config_.Config, data: Dataset, asked: tuple[metrics.Metric, ...]
) -> dict[str, Any]:
    """Return the config with what the layout and the defaults decided written out."""
    values = config.resolved()
    values["evaluation"]["metrics"] = [config.from_anywhere(str(metric)) for metric in asked]
    values["evaluation"].setdefault("candidates", data.candidates)
    return values


def _floor(metric: metrics.Metric, exam: EvaluationSet) -> chance.Moments | None:
    return chance.exact(metric.up_to(exam.k), exam.n_candidates, exam.truth.sizes, exam.relevant)


def _chance(moments: chance.Moments) -> Chance:
    return Chance(*chance.of_set(moments))


def _start(parts: Split) -> str:
    """Return the date the window starts, for the run's name."""
    if parts.cutoff is None:
        return "given"
    return str(np.datetime64(parts.cutoff, "us").astype("datetime64[D]"))


def _notes(
    data: Dataset,
    parts: Split,
    exam: EvaluationSet,
    floors: dict[metrics.Metric, chance.Moments | None],
) -> tuple[str, ...]:
    notes = [*data.notes, *parts.notes]
    if exam.k > len(exam.candidates):
        notes.append(f"k = {exam.k:,} is more than the {len(exam.candidates):,} candidates")
    unknown = [str(metric) for metric, floor in floors.items() if floor is None]
    if unknown:
        notes.append(f"no exact chance value is known for {', '.join(unknown)}")
    if parts.held_back:
        notes.append(f"{parts.held_back:,} events lie in another window and are left out")
    return tuple(notes)
