"""One trial: a model evaluated with some parameters on the inner sets, kept in the cache.

A search begins anew each time and takes the scores of choices that are kept.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from harness.config import Config, ModelConfig
from harness.core import cache
from harness.core.cache import Entry
from harness.core.errors import RecommenderError, UsageError, printable
from harness.core.progress import Observer
from harness.evaluation.answers import ask_in_turn
from harness.evaluation.build import Factories, Factory, base_models_first
from harness.evaluation.finished import Kept, evaluation_key, is_known
from harness.metrics import Metric, is_own, needs
from harness.metrics.judgments import Judgments
from harness.metrics.scores import ScoreTable, score
from harness.models.base import Recommender
from harness.models.item_stats import of_train
from harness.protocol.task import Task
from harness.stats.estimates import over_folds
from harness.tuning.inner import inner_split
from harness.tuning.search import Params, Score

_log = logging.getLogger(__name__)

_FOLDER = "trials"
_MOST = 20_000_000
"""Bytes that are kept, some ten thousand trials; those not used for longest go first."""


@dataclass(frozen=True, eq=False)
class Trials:
    """Makes the trials of one model, whose base models, as tuned, learn once for all of them."""

    config: Config
    name: str
    metric: Metric
    folds: Sequence[Task]
    evaluation: Entry | None
    fresh: bool
    unkept: set[str] = field(default_factory=set)

    @cached_property
    def model(self) -> ModelConfig:
        """The model as it is."""
        return self.config.by_name[self.name]

    @cached_property
    def _base_models(self) -> list[list[list[Recommender]]]:
        return [base_models_of(self.model, self.config) for _ in self.folds]

    @cached_property
    def _judgments(self) -> list[Judgments]:
        stats = needs([self.metric])
        return [f.evaluation_set.judgments(of_train(f.train, stats)) for f in self.folds]

    def score(self, params: Params) -> Score:
        """Return the score of some parameters, as it is kept, or made now."""
        if self.evaluation is None or not is_known(self.config, self.name):
            return self.made(params)
        config = with_model(self.config, self.name, {"params": dict(params)})
        kept = Kept(config, self.name, self.evaluation, _FOLDER)
        earlier = None if self.fresh else kept.read(lambda _, notes: Score(*notes["score"]))
        if earlier is not None:
            return earlier._replace(reused=True)
        made = self.made(params)
        if made.mean is not None:
            kept.keep(lambda _: {"score": made})
        if kept.unkept is not None and kept.unkept not in self.unkept:
            self.unkept.add(kept.unkept)
            _log.warning("trials are not kept for a later search: %s", printable(kept.unkept))
        return made

    def made(self, params: Params) -> Score:
        """Evaluate the model with some parameters; the mean is over users and folds."""
        settings = self.model.model_copy(update={"params": dict(params)})
        observer, tables, judgments = Observer(), list[ScoreTable](), self._judgments
        try:
            for number, fold in enumerate(self.folds):
                make = Factory(fold.config, settings).make
                repeats = (make(n, models) for n, models in enumerate(self._base_models[number]))
                answers = ask_in_turn(repeats, settings, fold, observer, left_out=False)
                with observer.step("score", "scoring"):
                    lists = [answer.lists for answer in answers]
                    tables.append(score(lists, judgments[number], [self.metric]))
        except (RecommenderError, UsageError) as error:  # such parameters may not go together
            return Score(error=str(error))
        ids = [fold.evaluation_set.user_ids for fold in self.folds]
        estimate = over_folds(self.metric, tables, ids)
        return Score(estimate.mean, estimate.ci95, sum(observer.seconds.values()))


def trials_key(config: Config, metric: Metric) -> Entry | None:
    """Return the key that all trials of a config share, before data is read; None if none do."""
    rule, source = inner_split(config).model_dump_json(), metric.definition.digest
    if not config.data.cache or (is_own(metric.name) and source is None):
        return None
    evaluation = evaluation_key(config.folds()[0], "trials", rule, str(metric), source)
    cache.make_room(evaluation.path.parent / _FOLDER, _MOST)
    return evaluation


def with_model(config: Config, name: str, update: dict[str, Any]) -> Config:
    """Return a config in which one model has other settings."""
    models = [m.model_copy(update=update) if m.name == name else m for m in config.models]
    return config.model_copy(update={"models": models})


def base_models_of(model: ModelConfig, config: Config) -> list[list[Recommender]]:
    """Return what each repeat of a model is made of.

    Not files of lists, which may know the inner set's days.
    """
    for name in base_models_first(config, [model.name]):
        if config.by_name[name].lists is not None:
            raise UsageError(
                f'model "{model.name}": base model "{name}" is a file of precomputed lists, not '
                "made for the inner evaluation set of tuning; remove the space"
            )
    if not model.base_models:
        return [[] for _ in range(model.repeats)]
    factories = Factories(config, model.base_models)
    made = [factories.make(model.base_models, repeat) for repeat in range(model.repeats)]
    return [[models[base] for base in model.base_models] for models in made]
