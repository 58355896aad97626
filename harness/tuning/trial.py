"""One trial: a model evaluated with some parameters on the inner evaluation sets.

Trials are kept in the cache as they finish, so that the next search need not make them. A search is
made from its beginning each time, so its sampler proposes what it would have proposed anyway; a
choice of parameters that was scored before takes that score. So what is found is what an
uninterrupted search finds, and other spaces, seeds and numbers of trials share what they have in
common.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from harness.config import Config, ModelConfig
from harness.core import cache
from harness.core.cache import Entry
from harness.core.errors import RecommenderError, UsageError, printable
from harness.core.progress import Observer
from harness.evaluation.answers import ask_in_turn
from harness.evaluation.build import Factories, Factory, base_models_first
from harness.evaluation.finished import Kept, evaluation_key, is_known
from harness.metrics import Metric, is_own, needs, parse
from harness.metrics.grades import refuse_grades
from harness.metrics.scores import ScoreTable, score
from harness.models.base import Recommender
from harness.models.item_stats import Catalogue, of_train
from harness.protocol.evaluation_set import highest_grade
from harness.protocol.task import VALUES, Task, asked
from harness.stats.folds import over_folds
from harness.tuning.inner import inner_split, inner_tasks
from harness.tuning.search import Params, Score, Trial, trial_of

_log = logging.getLogger(__name__)

_FOLDER = "trials"
_MOST = 20_000_000
"""Bytes that are kept, some ten thousand trials; those not used for longest go first."""


def metric_of(config: Config) -> Metric:
    """Return what parameters are searched by; UsageError where no value of it is better."""
    name = config.tune.metric
    metric = asked(config)[0] if name is None else parse(name, config.folder)
    if metric.definition.better == "neither":
        raise UsageError(
            f"{metric} describes lists and is neither better high nor low; name another "
            "[tune] metric"
        )
    return metric


class InnerFold(NamedTuple):
    """One inner evaluation set, and what the metric needs to know of its candidates."""

    task: Task
    catalogue: Catalogue | None


def inner_folds(config: Config, metric: Metric, *, progress: bool = False) -> list[InnerFold]:
    """Return the inner evaluation sets; UsageError where the metric cannot use their grades."""
    folds = []
    for task in inner_tasks(config, progress=progress):
        if config.graded:
            highest = highest_grade(task.data, task.split, task.config.evaluation)
            refuse_grades([metric], highest, VALUES)
        folds.append(InnerFold(task, of_train(task.train, needs([metric]))))
    return folds


def kept_or_made(
    config: Config, name: str, evaluation: Entry | None, score: Score, *, fresh: bool = False
) -> Trial:
    """Return the trial of a model's parameters in a config, by `score` where no search has made it.

    A model that failed is asked again; with `fresh` every model.
    """
    params = next(model.params for model in config.models if model.name == name)
    if evaluation is None or not is_known(config, name):
        return score(params)
    kept = Kept(config, name, evaluation, _FOLDER)

    def build(_: Path, notes: dict[str, Any]) -> Trial:
        return trial_of(params, notes["mean"], notes["ci95"], notes["seconds"], reused=True)

    trial = None if fresh else kept.read(build)
    if trial is None:
        trial = score(params)
        if trial.mean is not None:
            kept.keep(lambda _: trial.model_dump(include={"mean", "ci95", "seconds"}))
    if kept.unkept is not None:
        _say_unkept(kept.unkept)
    return trial


@lru_cache(maxsize=1)
def _say_unkept(why: str) -> None:
    """Say it once, as it is the same for one trial after the other."""
    _log.warning("trials are not kept for another search: %s", printable(why))


def with_model(config: Config, name: str, update: dict[str, Any]) -> Config:
    """Return a config in which one model has other settings."""
    models = [m.model_copy(update=update) if m.name == name else m for m in config.models]
    return config.model_copy(update={"models": models})


def trials_key(config: Config, metric: Metric) -> Entry | None:
    """Return the key that all trials of a config share, before data is read; None if none do."""
    _say_unkept.cache_clear()
    rule, source = inner_split(config).model_dump_json(), metric.definition.digest
    if not config.data.cache or (is_own(metric.name) and source is None):
        return None
    evaluation = evaluation_key(config.folds()[0], "trials", rule, str(metric), source)
    cache.make_room(evaluation.path.parent / _FOLDER, _MOST)
    return evaluation


@dataclass(frozen=True, eq=False)
class Trials:
    """Makes the trials of one model, whose base models, as tuned, learn once for all of them."""

    config: Config
    name: str
    metric: Metric
    folds: Sequence[InnerFold]
    evaluation: Entry | None
    fresh: bool

    @cached_property
    def model(self) -> ModelConfig:
        """The model as it is."""
        return next(model for model in self.config.models if model.name == self.name)

    @cached_property
    def _base_models(self) -> list[list[list[Recommender]]]:
        return [base_models_of(self.model, self.config) for _ in self.folds]

    def score(self, params: Params) -> Trial:
        """Return the trial of these parameters: its mean is over users and folds."""
        config = with_model(self.config, self.name, {"params": dict(params)})
        return kept_or_made(config, self.name, self.evaluation, self._evaluated, fresh=self.fresh)

    def _evaluated(self, params: Params) -> Trial:
        """Evaluate the model with these parameters on the inner sets."""
        settings = self.model.model_copy(update={"params": dict(params)})
        observer, tables = Observer(), list[ScoreTable]()
        try:
            for fold, base_models in zip(self.folds, self._base_models, strict=True):
                make = Factory(fold.task.config, settings).make
                repeats = (make(n, models) for n, models in enumerate(base_models))
                answers = ask_in_turn(repeats, settings, fold.task, observer, left_out=False)
                with observer.step("score"):
                    judgments = fold.task.evaluation_set.judgments(fold.catalogue)
                    lists = [answer.lists for answer in answers]
                    tables.append(score(lists, judgments, [self.metric]))
        except (RecommenderError, UsageError) as error:  # such parameters may not go together
            return trial_of(params, None, error=str(error))
        ids = [fold.task.evaluation_set.user_ids for fold in self.folds]
        estimate = over_folds(self.metric, tables, ids)
        return trial_of(params, estimate.mean, estimate.ci95, sum(observer.seconds.values()))


def base_models_of(model: ModelConfig, config: Config) -> list[list[Recommender]]:
    """Return what each repeat of a model is made of.

    Not files of lists, which may know the inner set's days.
    """
    settings = {model.name: model for model in config.models}
    for name in base_models_first(settings, [model.name]):
        if settings[name].lists is not None:
            raise UsageError(
                f'model "{model.name}": base model "{name}" is a file of precomputed lists, '
                "not made for the inner evaluation set of tuning; leave its space out"
            )
    if not model.base_models:
        return [[]] * model.repeats
    factories = Factories(config, model.base_models)
    made = [factories.make(model.base_models, repeat) for repeat in range(model.repeats)]
    return [[of_repeat[part] for part in model.base_models] for of_repeat in made]
