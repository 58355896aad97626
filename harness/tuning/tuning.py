"""A config in, its models' parameters searched on an inner evaluation set, the best put into it."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from harness import config as config_
from harness.config.space import Range, SearchName, TunedRecord, domains
from harness.core.errors import (
    RecommenderError,
    UsageError,
    counted,
    printable,
    suggest,
)
from harness.core.progress import Clock, steps, stopwatch
from harness.experiment.build import Factories, base_models_first, load
from harness.experiment.evaluate_model import asked_in_turn
from harness.experiment.record import Evaluation
from harness.metrics import Metric, needs, parse
from harness.metrics.grades import refuse_grades
from harness.metrics.scores import ScoreTable, score
from harness.models.base import Recommender
from harness.models.item_stats import Catalogue, of_train
from harness.protocol.task import VALUES, Task, asked
from harness.protocol.true_items import highest_grade
from harness.stats.folds import over_folds
from harness.tuning.inner import inner_split, inner_tasks
from harness.tuning.result import Tuned, TunedModel
from harness.tuning.search import Params, Scored, require, run_search, trials_of
from harness.tuning.trials import KeptTrials, kept_trials

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

_log = logging.getLogger(__name__)


def tune(
    config: config_.Config | str | Path,
    *,
    models: Sequence[str] = (),
    fresh: bool = False,
    progress: bool = False,
) -> Tuned:
    """Search the parameters of a config's models on an inner split of train.

    How is said by the config: ``space`` of a model, and ``[tune]``. The evaluation set itself is
    not looked at.

    Parameters
    ----------
    config : Config or path of a TOML file
    models : sequence of str, optional
        The models to tune; all that have a `space` by default.
    fresh : bool
        Make every trial anew. By default those that an earlier search finished are taken from the
        cache, where all is the same that their scores follow from (``[data] cache = false`` keeps
        nothing).
    progress : bool
        Show bars on standard error for what takes longer than a second.

    Raises
    ------
    HarnessError
        Anything a person can mend: the config, a file, an empty inner set, a model of which every
        trial failed.
    """
    if not isinstance(config, config_.Config):
        config = config_.read(Path(config))
    wanted = _wanted(config, models)
    rules = _Rules.of(config)
    counts = {model.name: _checked(model, config) for model in wanted}
    inner_split(config)  # what is wrong with it is told before the events are read
    kept = kept_trials(config, counts, rules.metric, fresh=fresh)
    folds = [_Fold.of(task, rules.metric) for task in inner_tasks(config, progress=progress)]
    evaluation = _evaluation([fold.task for fold in folds])
    found, best, settings = dict[str, TunedModel](), config, {m.name: m for m in config.models}
    for name in base_models_first(settings, [*counts]):
        if name in counts:  # an ensemble is tuned on its base models as they will be
            # Once for all trials: they learn once.
            made = [_base_models(settings[name], best) for _ in folds]
            setup = _TrialSetup(settings[name], best, rules, folds, made, kept[name])
            found[name] = _tuned(setup, counts[name], progress)
            best = _with_best(best, found[name], rules, evaluation.fingerprint)
    return Tuned(
        config=best,
        evaluation=evaluation,
        models=tuple(found[model.name] for model in wanted),
        metric=rules.metric,
        search=rules.search,
        seed=rules.seed,
    )


@dataclass(frozen=True)
class _Rules:
    """How all models of a config are tuned."""

    metric: Metric
    search: SearchName
    seed: int

    @classmethod
    def of(cls, config: config_.Config) -> _Rules:
        own = config.tune
        metric = asked(config)[0] if own.metric is None else parse(own.metric, config.folder)
        if metric.definition.better == "neither":
            raise UsageError(
                f"{metric} describes lists and is neither better high nor low; name another "
                "[tune] metric"
            )
        require()
        return cls(metric, own.search, config.evaluation.seed if own.seed is None else own.seed)


def _evaluation(folds: Sequence[Task]) -> Evaluation:
    """Return what trials are evaluated on."""
    of = [Evaluation.of(t.evaluation_set, t.data.layout, t.split.summary()) for t in folds]
    if len(of) == 1:
        return of[0]
    users = pl.concat([task.evaluation_set.user_ids for task in folds])
    return Evaluation.of_folds(of, users.n_unique())


@dataclass(frozen=True, eq=False)
class _Fold:
    """One inner evaluation set, and what the metric needs to know of its candidates."""

    task: Task
    catalogue: Catalogue | None

    @classmethod
    def of(cls, task: Task, metric: Metric) -> _Fold:
        if task.config.graded:
            highest = highest_grade(task.data, task.split, task.config.evaluation)
            refuse_grades([metric], highest, VALUES)
        return cls(task, of_train(task.train, needs([metric])))


@dataclass(frozen=True, eq=False)
class _TrialSetup:
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

    model: config_.ModelConfig
    config: config_.Config
    rules: _Rules
    folds: Sequence[_Fold]
    base_models: Sequence[Sequence[Sequence[Recommender]]]
    kept: KeptTrials

    def score(self, params: Params) -> Scored:
        """Return the mean over users and folds with these parameters, None if the model fails.

        Noted beside it are ``seconds``, ``ci95`` or ``error``, and ``reused`` of a trial that an
        earlier search made.
        """
        return self.kept.scored(self.config, params, self._evaluated)

    def _evaluated(self, params: Params) -> Scored:
        """Evaluate the model with these parameters on the inner set."""
        settings = self.model.model_copy(update={"params": dict(params)})
        metric, clock = self.rules.metric, Clock()
        try:
            tables = [
                self._scored(settings, fold, base_models, clock)
                for fold, base_models in zip(self.folds, self.base_models, strict=True)
            ]
        except (RecommenderError, UsageError) as error:
            # Such parameters may not go together.
            return None, {"seconds": 0.0, "error": str(error)}
        ids = [fold.task.evaluation_set.user_ids for fold in self.folds]
        own = over_folds(metric, tables, ids)
        return own.mean, {"seconds": sum(clock.seconds.values()), "ci95": own.ci95}

    def _scored(
        self,
        settings: config_.ModelConfig,
        fold: _Fold,
        base_models: Sequence[Sequence[Recommender]],
        clock: Clock,
    ) -> ScoreTable:
        made = load(fold.task.config, settings, base_models)
        answers = asked_in_turn(made, settings, fold.task, None, clock, progress=False)
        with clock.step("score"):
            judgments = fold.task.evaluation_set.judgments(fold.catalogue)
            return score([answer.lists for answer in answers], judgments, [self.rules.metric])


def _wanted(config: config_.Config, names: Sequence[str]) -> list[config_.ModelConfig]:
    """Return the models to tune, in the config's order."""
    known = [model.name for model in config.models if model.space]
    if not known:
        raise UsageError(
            "no model has a space to search; write one under [[models]], such as "
            "space = { window_days = { low = 1, high = 60 } }"
        )
    for name in names:
        if name not in known:
            there = any(model.name == name for model in config.models)
            wrong = f'model "{name}" has no space' if there else f'no model "{name}"'
            raise UsageError(f"{wrong}; {suggest(name, known)}")
    return [model for model in config.models if model.name in (names or known)]


def _checked(model: config_.ModelConfig, config: config_.Config) -> int:
    """Return how many trials a model's search makes; made once, so that a typo costs no time."""
    space = domains(model.space)
    try:
        count = trials_of(space, config.tune.search, config.tune.trials)
    except UsageError as error:
        raise UsageError(f'model "{model.name}": {error}') from error
    first = {n: d.low if isinstance(d, Range) else d[0] for n, d in space.items()}
    settings = model.model_copy(update={"params": {**model.params, **first}})
    next(load(config, settings, _base_models(model, config)))
    return count


def _base_models(model: config_.ModelConfig, config: config_.Config) -> list[list[Recommender]]:
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


def _tuned(setup: _TrialSetup, count: int, progress: bool) -> TunedModel:
    """Make all trials of a model: first as it is, then as the search proposes."""
    model, rules, space, took = setup.model, setup.rules, domains(setup.model.space), stopwatch()
    with steps(f"tuning {model.name}", count + 1, " trials", progress) as bar:

        def score(params: Params) -> Scored:
            found = setup.score(params)
            bar.update()
            return found

        sign = rules.metric.definition.sign
        trials = run_search(space, model.params, rules.search, count, rules.seed, sign, score)
    _log.info("%s: %s, %s", printable(model.name), counted(len(trials), "trial"), took())
    return TunedModel(
        name=model.name,
        given=model.params,
        space=space,
        trials=trials,
        again=count + 1 - len(trials),
        best=_best(model.name, trials, rules),
        changed=setup.kept.changed,
        unkept=setup.kept.unkept,
    )


def _best(name: str, trials: Sequence[FrozenTrial], rules: _Rules) -> FrozenTrial:
    """Return the best trial, of equally good ones the earliest."""
    searched = trials[1:] or trials
    if all(trial.value is None for trial in searched):
        raise RecommenderError(
            f'model "{name}": every trial failed ({len(searched):,}), the first with: '
            f"{searched[0].user_attrs['error']}"
        )
    sign = rules.metric.definition.sign
    return min(trials, key=lambda t: math.inf if t.value is None else sign * t.value)


def _with_best(
    config: config_.Config, found: TunedModel, rules: _Rules, fingerprint: str
) -> config_.Config:
    """Return the config with a model's best parameters, and where they come from, put in."""
    record = TunedRecord(
        trials=max(len(found.searched), 1),
        search=rules.search,
        seed=rules.seed,
        metric=str(rules.metric),
        value=found.best.values[0],
        exam=fingerprint,
    )
    update = {"params": found.params(found.best), "tuned": record}
    models = [
        model.model_copy(update=update) if model.name == found.name else model
        for model in config.models
    ]
    return config.model_copy(update={"models": models})
