"""A config in, its models' parameters searched on an inner evaluation set, the best put into it.

The inner set is made from train's own last events alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import config as config_
from harness.config import Config, GivenSplit, InnerSplit, TimeSplit
from harness.config.space import Range, SearchName, TunedRecord, domains
from harness.core.arrays import Bool, Int32
from harness.core.errors import (
    DataError,
    EmptyEvaluationSetError,
    RecommenderError,
    UsageError,
    suggest,
)
from harness.core.progress import Clock, steps
from harness.data.dataset import Dataset, Events
from harness.experiment.build import Factories, base_models_first, load
from harness.experiment.evaluate_model import asked_in_turn
from harness.metrics import Metric, needs, parse
from harness.metrics.grades import refuse_grades
from harness.metrics.scores import score
from harness.models.base import Recommender
from harness.models.item_stats import Catalogue, of_train
from harness.protocol.split import by_time, refuse_empty, split
from harness.protocol.task import VALUES, Task, asked, read, task_of
from harness.protocol.true_items import highest_grade
from harness.stats.estimates import estimate
from harness.tuning.result import Tuned, TunedModel
from harness.tuning.search import Params, require, run_search, trials_of

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial


def inner_task(config: Config, *, progress: bool = False) -> Task:
    """Return a task like the config's within its training events.

    Of a time split it evaluates on the days just before the outer cut-off. All other rules are
    those of `[evaluation]`. What lies behind the outer cut-off is dropped before anything is asked
    of it: events, and the users and items that no training event and no table has.

    Raises
    ------
    HarnessError
        The split says no inner one, or leaves one side of it empty.
    """
    rule = inner_split(config)
    known, end = _known(config, rule, progress)
    try:
        if isinstance(rule, TimeSplit) and isinstance(config.split, TimeSplit) and end is not None:
            parts = by_time(known, rule, end)
            refuse_empty(parts, known)
        else:
            parts = split(known, rule)
        return task_of(config.model_copy(update={"split": rule}), known, parts)
    except (DataError, EmptyEvaluationSetError) as error:
        raise type(error)(f"the inner split of train: {error}\n[tune] split sets another") from None


def inner_split(config: Config) -> InnerSplit:
    """Return how train is split again: as ``[tune] split`` says, or as the data was.

    Raises
    ------
    UsageError
        The split is given, so nothing says how train is to be split.
    """
    if config.tune.split is not None:
        return config.tune.split
    match config.split:
        case GivenSplit():
            raise UsageError(
                '[split] strategy "given" does not say how train is split for tuning; write '
                '[tune] split = { strategy = "time", valid_days = 7 }, "last_n" or "fraction"'
                if config.data.time
                else "events without times cannot be split for tuning; name their column under "
                "[data] time"
            )
        case TimeSplit():  # the test days were held back already
            return config.split.model_copy(update={"test_days": 0, "window": "valid"})
        case rule:
            return rule


def _known(config: Config, rule: InnerSplit, progress: bool) -> tuple[Dataset, int | None]:
    """Return what was known at the outer cut-off, and when that is; the rest is let go."""
    with ThreadPoolExecutor(1) as background:
        data = read(config, background, progress, rule)
    outer = split(data, config.split)
    return past(data, outer.train), outer.cutoff


def past(data: Dataset, events: Events) -> Dataset:
    """Return a data set as if it had these events alone: no other user, and no other item.

    Items that the table of items describes stay.
    """
    users = _mask(len(data.user_ids), events.user)
    items = _mask(len(data.item_ids), events.item)
    if data.catalogue is not None:
        items[data.catalogue] = True
    user_at, item_at = _new_positions(users), _new_positions(items)
    return replace(
        data,
        user_ids=data.user_ids.filter(users),
        item_ids=data.item_ids.filter(items),
        events=events.placed(user_at, item_at),
        catalogue=None if data.catalogue is None else item_at[data.catalogue],
        shown_from=None if data.shown_from is None else data.shown_from[items],
        registered=None if data.registered is None else data.registered[users],
        notes=(),
        span=None,  # what is known of the log behind these events is not theirs
        steps=(),
    )


def _mask(n: int, positions: Int32) -> Bool:
    found = np.zeros(n, np.bool_)
    found[positions] = True
    return found


def _new_positions(kept: Bool) -> Int32:
    """Return the position of every entry among those that are kept."""
    return np.cumsum(kept, dtype=np.int32) - np.int32(1)


def tune(
    config: config_.Config | str | Path,
    *,
    models: Sequence[str] = (),
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
    task = inner_task(config, progress=progress)
    if config.graded:
        highest = highest_grade(task.data, task.split, config.evaluation)
        refuse_grades([rules.metric], highest, VALUES)
    catalogue = of_train(task.train, needs([rules.metric]))
    found, best, settings = dict[str, TunedModel](), config, {m.name: m for m in config.models}
    for name in base_models_first(settings, [*counts]):
        if name in counts:  # an ensemble is tuned on its base models as they will be
            made = _base_models(settings[name], best)  # once for all trials: they learn once
            setup = _TrialSetup(settings[name], rules, task, catalogue, made)
            found[name] = _tuned(setup, counts[name], progress)
            best = _with_best(best, found[name], rules, task.evaluation_set.fingerprint)
    return Tuned(
        config=best,
        layout=task.data.layout,
        window=task.split.summary(),
        evaluation_set=task.evaluation_set,
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


@dataclass(frozen=True, eq=False)
class _TrialSetup:
    """What all trials of one model share."""

    model: config_.ModelConfig
    rules: _Rules
    task: Task
    catalogue: Catalogue | None
    base_models: Sequence[Sequence[Recommender]]

    def score(self, params: Params) -> tuple[float | None, dict[str, Any]]:
        """Evaluate the model with these parameters on the inner set.

        Returns
        -------
        float or None
            The mean over users, None of a model that failed.
        dict
            What its trial notes beside it: ``seconds``, and ``ci95`` or ``error``.
        """
        settings = self.model.model_copy(update={"params": dict(params)})
        metric, clock = self.rules.metric, Clock()
        try:
            made = load(self.task.config, settings, self.base_models)
            answers = asked_in_turn(made, settings, self.task, None, clock, progress=False)
        except (
            RecommenderError,
            UsageError,
        ) as error:  # such parameters may not go together
            return None, {"seconds": 0.0, "error": str(error)}
        with clock.step("score"):
            judgments = self.task.evaluation_set.judgments(self.catalogue)
            table = score([answer.lists for answer in answers], judgments, [metric])
        own = estimate(metric, table.of_users(metric))
        return own.mean, {"seconds": sum(clock.seconds.values()), "ci95": own.ci95}


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
    model, rules, space = setup.model, setup.rules, domains(setup.model.space)
    with steps(f"tuning {model.name}", count + 1, " trials", progress) as bar:

        def score(params: Params) -> tuple[float | None, dict[str, Any]]:
            found = setup.score(params)
            bar.update()
            return found

        sign = rules.metric.definition.sign
        trials = run_search(space, model.params, rules.search, count, rules.seed, sign, score)
    best = _best(model.name, trials, rules)
    return TunedModel(model.name, model.params, space, trials, count + 1 - len(trials), best)


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
