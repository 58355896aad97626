"""One trial: a model evaluated with some parameters on the inner evaluation sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.config import Config, ModelConfig
from harness.config.space import SearchName
from harness.core.errors import RecommenderError, UsageError
from harness.core.progress import Observer
from harness.evaluation.answers import ask_in_turn
from harness.evaluation.build import Factories, Factory, base_models_first
from harness.metrics import Metric, needs, parse
from harness.metrics.grades import refuse_grades
from harness.metrics.scores import ScoreTable, score
from harness.models.base import Recommender
from harness.models.item_stats import Catalogue, of_train
from harness.protocol.evaluation_set import highest_grade
from harness.protocol.task import VALUES, Task, asked
from harness.stats.estimates import over_folds
from harness.tuning.inner import inner_tasks
from harness.tuning.search import Params, Scored, require
from harness.tuning.trials import KeptTrials


@dataclass(frozen=True)
class Rules:
    """How all models of a config are tuned."""

    metric: Metric
    search: SearchName
    seed: int

    @classmethod
    def of(cls, config: Config) -> Rules:
        """Return those of a config; UsageError where no value of its metric is better."""
        own = config.tune
        metric = asked(config)[0] if own.metric is None else parse(own.metric, config.folder)
        if metric.definition.better == "neither":
            raise UsageError(
                f"{metric} describes lists and is neither better high nor low; name another "
                "[tune] metric"
            )
        require()
        return cls(metric, own.search, config.evaluation.seed if own.seed is None else own.seed)


@dataclass(frozen=True, eq=False)
class InnerFold:
    """One inner evaluation set, and what the metric needs to know of its candidates."""

    task: Task
    catalogue: Catalogue | None

    @classmethod
    def of(cls, task: Task, metric: Metric) -> InnerFold:
        """Return that of a task; UsageError where the metric cannot use its grades."""
        if task.config.graded:
            highest = highest_grade(task.data, task.split, task.config.evaluation)
            refuse_grades([metric], highest, VALUES)
        return cls(task, of_train(task.train, needs([metric])))


def inner_folds(config: Config, metric: Metric, *, progress: bool = False) -> list[InnerFold]:
    """Return the inner evaluation sets of a config; raises what `inner_tasks` does."""
    return [InnerFold.of(task, metric) for task in inner_tasks(config, progress=progress)]


@dataclass(frozen=True, eq=False)
class TrialSetup:
    """What all trials of one model share.

    Attributes
    ----------
    config : Config
        In which the base models are tuned.
    base_models : sequence of sequence of sequence of Recommender
        Of each fold and repeat.
    kept : KeptTrials
        Of earlier searches.
    """

    model: ModelConfig
    config: Config
    rules: Rules
    folds: Sequence[InnerFold]
    base_models: Sequence[Sequence[Sequence[Recommender]]]
    kept: KeptTrials

    @classmethod
    def of(
        cls,
        name: str,
        config: Config,
        rules: Rules,
        folds: Sequence[InnerFold],
        kept: KeptTrials,
    ) -> TrialSetup:
        """Return that of a model, with base models that learn once for all trials."""
        model = next(one for one in config.models if one.name == name)
        made = [base_models_of(model, config) for _ in folds]
        return cls(model, config, rules, folds, made, kept)

    def score(self, params: Params) -> Scored:
        """Return the mean over users and folds with these parameters, None if the model fails.

        Noted beside it are ``seconds``, ``ci95`` or ``error``, and ``reused`` of a trial that an
        earlier search made.
        """
        return self.kept.scored(self.config, params, self._evaluated)

    def _evaluated(self, params: Params) -> Scored:
        """Evaluate the model with these parameters on the inner set."""
        settings = self.model.model_copy(update={"params": dict(params)})
        metric, clock, tables = self.rules.metric, Observer(), list[ScoreTable]()
        try:
            for fold, base_models in zip(self.folds, self.base_models, strict=True):
                make = Factory(fold.task.config, settings).make
                repeats = (make(n, models) for n, models in enumerate(base_models))
                answers = ask_in_turn(repeats, settings, fold.task, clock, others=False)
                with clock.step("score"):
                    judgments = fold.task.evaluation_set.judgments(fold.catalogue)
                    lists = [answer.lists for answer in answers]
                    tables.append(score(lists, judgments, [metric]))
        except (RecommenderError, UsageError) as error:
            # Such parameters may not go together.
            return None, {"seconds": 0.0, "error": str(error)}
        ids = [fold.task.evaluation_set.user_ids for fold in self.folds]
        own = over_folds(metric, tables, ids)
        return own.mean, {"seconds": sum(clock.seconds.values()), "ci95": own.ci95}


def base_models_of(model: ModelConfig, config: Config) -> list[list[Recommender]]:
    """Return what each repeat of a model is made of.

    Not files of lists, which may know the inner set's days.
    """
    settings = {one.name: one for one in config.models}
    for name in base_models_first(settings, [model.name]):
        if settings[name].lists is not None:
            raise UsageError(
                f'model "{model.name}": base model "{name}" is a file of precomputed lists, '
                "not made for the inner evaluation set of tuning; leave its space out"
            )
    if not model.base_models:
        return [[]] * model.repeats
    factories = Factories(config, *model.base_models)
    made = [factories.made(repeat) for repeat in range(model.repeats)]
    return [[of_repeat[part] for part in model.base_models] for of_repeat in made]
