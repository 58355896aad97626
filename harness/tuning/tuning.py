"""A config in, its models' parameters searched on an inner evaluation set, the best put into it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import polars as pl

from harness.config import Config, ModelConfig
from harness.config.space import Range, TunedRecord, domains
from harness.core.errors import RecommenderError, UsageError, counted, printable, suggest
from harness.core.progress import steps, stopwatch
from harness.core.workers import Workers
from harness.evaluation import memory
from harness.evaluation.build import Factory, base_models_first
from harness.evaluation.inputs import config_in_place
from harness.evaluation.workers import processes, stamps_of
from harness.protocol.task import Task
from harness.results.record import Evaluation
from harness.tuning.inner import inner_split
from harness.tuning.result import Tuned, TunedModel
from harness.tuning.search import Params, Trial, key_of, proposed, run_search, trials_of
from harness.tuning.trial import (
    KeptTrials,
    Rules,
    Trials,
    base_models_of,
    inner_folds,
    trials_key,
)
from harness.tuning.workers import side_by_side

_log = logging.getLogger(__name__)


def tune(
    config: Config | Mapping[str, Any] | str | Path,
    *,
    models: Sequence[str] = (),
    fresh: bool = False,
    jobs: int = 1,
    progress: bool = False,
) -> Tuned:
    """Search the parameters of a config's models on an inner split of train.

    How is said by the config: ``space`` of a model, and ``[tune]``. The evaluation set itself is
    not looked at.

    Parameters
    ----------
    config : path of a TOML file, or mapping
        A mapping has the sections of the file, as `harness.run` takes them, with frames for files.
    models : sequence of str, optional
        The models to tune; all that have a `space` by default.
    fresh : bool
        Make every trial anew. By default those that an earlier search finished are taken from the
        cache, where all is the same that their scores follow from (``[data] cache = false`` keeps
        nothing).
    jobs : int
        How many processes may make trials side by side, this one among them, where memory allows;
        the results are the same. Not with ``search = "tpe"``.
    progress : bool
        Show bars on standard error for what takes longer than a second.

    Raises
    ------
    HarnessError
        Anything a person can mend: the config, a file, an empty inner set, a model of which every
        trial failed.
    """
    config = config_in_place(config, jobs)
    wanted = _wanted(config, models)
    rules = Rules.of(config)
    counts = {model.name: _checked(model, config) for model in wanted}
    inner_split(config)  # what is wrong with it is told before the events are read
    count = processes(jobs, [config.layout()], memory.limit(None))
    if jobs > 1 and rules.search == "tpe":
        raise UsageError(
            'search = "tpe" proposes by what the trials before have scored, so they are made one '
            'after the other: leave --jobs out, or search = "random" or "grid"'
        )
    key, stamps = trials_key(config, rules.metric), stamps_of(config.layout())
    folds = inner_folds(config, rules.metric, progress=progress)
    evaluation = _evaluation([fold.task for fold in folds])
    results, kept = dict[str, TunedModel](), dict[str, KeptTrials]()
    best, settings = config, {model.name: model for model in config.models}
    with Workers(count - 1) as workers:
        for name in base_models_first(settings, [*counts]):
            if name in counts:  # an ensemble is tuned on its base models as they will be
                kept[name] = KeptTrials(best, name, key, fresh=fresh)
                trials = Trials(best, name, rules.metric, folds, kept[name])
                share = partial(side_by_side, trials, workers, stamps=stamps, fresh=fresh)
                results[name] = _tuned(
                    trials,
                    rules,
                    counts[name],
                    share if workers.count else None,
                    progress=progress,
                )
                best = _with_best(best, results[name], rules, evaluation.fingerprint)
    return Tuned(
        config=best,
        evaluation=evaluation,
        models=tuple(results[model.name] for model in wanted),
        metric=rules.metric,
        search=rules.search,
        seed=rules.seed,
        changed={name: kept.changed for name, kept in kept.items() if kept.changed},
        unkept={name: kept.unkept for name, kept in kept.items() if kept.unkept},
    )


def _evaluation(folds: Sequence[Task]) -> Evaluation:
    """Return what trials are evaluated on."""
    evaluations = [Evaluation.of(task) for task in folds]
    if len(folds) == 1:
        return evaluations[0]
    users = pl.concat([task.evaluation_set.user_ids for task in folds])
    return Evaluation.of_folds(evaluations, users.n_unique())


def _wanted(config: Config, names: Sequence[str]) -> list[ModelConfig]:
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


def _checked(model: ModelConfig, config: Config) -> int:
    """Return how many trials a model's search makes; made once, so that a typo costs no time."""
    space = domains(model.space)
    try:
        count = trials_of(space, config.tune.search, config.tune.trials)
    except UsageError as error:
        raise UsageError(f'model "{model.name}": {error}') from error
    first = {n: d.low if isinstance(d, Range) else d[0] for n, d in space.items()}
    settings = model.model_copy(update={"params": {**model.params, **first}})
    Factory(config, settings).make(0, base_models_of(model, config)[0])
    return count


def _tuned(
    trials: Trials,
    rules: Rules,
    count: int,
    share: Callable[[Sequence[Params], Callable[[], object]], dict[str, Trial]] | None,
    *,
    progress: bool,
) -> TunedModel:
    """Make all trials of a model: first as it is, then as the search proposes.

    With workers (`share`) all that it proposes are scored before it is told of any.
    """
    model, elapsed = trials.model, stopwatch()
    space, sign = domains(model.space), rules.metric.definition.sign
    search = partial(run_search, space, model.params, rules.search, count, rules.seed, sign)
    with steps(f"tuning {model.name}", count + 1, " trials", progress) as bar:
        if share is not None:
            scored = share(proposed(search), bar.update)
            results = search(lambda params: scored[key_of(params)])
        else:

            def score(params: Params) -> Trial:
                trial = trials.score(params)
                bar.update()
                return trial

            results = search(score)
    _log.info("%s: %s, %s", printable(model.name), counted(len(results), "trial"), elapsed())
    searched = results[1:] or results
    if all(trial.mean is None for trial in searched):
        raise RecommenderError(
            f'model "{model.name}": every trial failed ({len(searched):,}), the first with: '
            f"{searched[0].error}"
        )
    return TunedModel.of(model.name, space, results, count + 1 - len(results), sign)


def _with_best(config: Config, tuned: TunedModel, rules: Rules, fingerprint: str) -> Config:
    """Return the config with a model's best parameters, and where they come from, put in."""
    best = tuned.results[tuned.best]
    record = TunedRecord(
        trials=max(tuned.trials, 1),
        search=rules.search,
        seed=rules.seed,
        metric=str(rules.metric),
        value=cast(float, best.mean),  # not all trials failed
        exam=fingerprint,
    )
    update = {"params": best.params, "tuned": record}
    models = [
        model.model_copy(update=update) if model.name == tuned.name else model
        for model in config.models
    ]
    return config.model_copy(update={"models": models})
