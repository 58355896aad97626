"""A config in, its models' parameters searched on an inner evaluation set, the best put into it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, cast

import polars as pl

from harness.config import Config, ModelConfig
from harness.config.space import Range, TunedRecord
from harness.core.errors import RecommenderError, UsageError, counted, printable, suggest
from harness.core.progress import steps, stopwatch
from harness.core.workers import EndedError, Open, Workers
from harness.evaluation import memory
from harness.evaluation.build import Factory, base_models_first, only
from harness.evaluation.finished import is_known
from harness.evaluation.inputs import config_in_place
from harness.evaluation.workers import Job, data_of, processes, stamps_of
from harness.metrics import Metric
from harness.protocol.task import Task
from harness.results.record import Evaluation
from harness.tuning.inner import inner_split
from harness.tuning.result import Tuned, TunedModel
from harness.tuning.search import (
    Params,
    Trial,
    key_of,
    proposed,
    require,
    run_search,
    trial_of,
    trials_of,
)
from harness.tuning.trial import (
    InnerFold,
    Trials,
    base_models_of,
    inner_folds,
    metric_of,
    trials_key,
    with_model,
)

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
    metric, search = metric_of(config), config.tune.search
    require()
    seed = config.evaluation.seed if config.tune.seed is None else config.tune.seed
    counts = {model.name: _checked(model, config) for model in wanted}
    inner_split(config)  # what is wrong with it is told before the events are read
    count = processes(jobs, [config.layout()], memory.limit(None))
    if jobs > 1 and search == "tpe":
        raise UsageError(
            'search = "tpe" proposes by what the trials before have scored, so they are made one '
            'after the other: leave --jobs out, or search = "random" or "grid"'
        )
    key, stamps = trials_key(config, metric), stamps_of(config.layout())
    folds = inner_folds(config, metric, progress=progress)
    evaluation = _evaluation([fold.task for fold in folds])
    results = dict[str, TunedModel]()
    best, settings = config, {model.name: model for model in config.models}
    with Workers(count - 1) as workers:
        for name in base_models_first(settings, [*counts]):
            if name in counts:  # an ensemble is tuned on its base models as they will be
                trials = Trials(best, name, metric, folds, key, fresh)
                share = partial(_side_by_side, trials, workers, stamps)
                results[name] = _tuned(
                    trials,
                    counts[name],
                    seed,
                    share if workers.count else None,
                    progress=progress,
                )
                best = _with_best(best, results[name], metric, seed, evaluation)
    return Tuned(
        config=best,
        evaluation=evaluation,
        models=tuple(results[model.name] for model in wanted),
        metric=metric,
        search=search,
        seed=seed,
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
    space = model.space
    try:
        count = trials_of(space, config.tune.search, config.tune.trials)
    except UsageError as error:
        raise UsageError(f'model "{model.name}": {error}') from error
    first = {n: d.low if isinstance(d, Range) else d[0] for n, d in space.items()}
    settings = model.model_copy(update={"params": {**model.params, **first}})
    Factory(config, settings).make(0, base_models_of(model, config)[0])
    return count


def _side_by_side(
    trials: Trials,
    workers: Workers,
    stamps: list[list[Any]],
    proposals: Sequence[Params],
    update: Callable[[], object],
) -> dict[str, Trial]:
    """Return the trial of every choice of parameters by its `key_of`, and `update` at each.

    `stamps` are of the files before they were read.
    """
    name, made = trials.name, dict[str, Trial]()
    first = 0 if is_known(trials.config, name) else len(proposals)  # nobody else has an object

    def ready() -> Open[Params, Trial]:
        data = data_of(stamps, [fold.task for fold in trials.folds])
        return partial(open_trials, Job.of(only(trials.config, [name]), data), name, trials.fresh)

    # Closed at once: workers stop where a trial raises.
    units = [[params] for params in proposals]
    with closing(workers.share(units, ready, trials.score, first)) as share:
        for params, answer in share:
            try:
                trial = answer()
            except EndedError as error:
                trial = trial_of(params, None, error=f"the model {error}")
            made[key_of(params)] = trial
            update()
    return made


_folds: list[InnerFold] = []
"""In a worker: the inner sets, which are the same for all models of a search."""


@lru_cache(maxsize=1)
def open_trials(job: Job, name: str, fresh: bool) -> Callable[[Params], Trial]:
    """Read the inner sets in a worker; return what answers by parameters of a model."""
    config = job.read()
    metric, stamps = metric_of(config), stamps_of(config.layout())
    evaluation = trials_key(config, metric)
    if not _folds:
        _folds.extend(inner_folds(config, metric))
    job.require_same(data_of(stamps, [fold.task for fold in _folds]))
    return Trials(config, name, metric, _folds, evaluation, fresh).score


def _tuned(
    trials: Trials,
    count: int,
    seed: int,
    share: Callable[[Sequence[Params], Callable[[], object]], dict[str, Trial]] | None,
    *,
    progress: bool,
) -> TunedModel:
    """Make all trials of a model: first as it is, then as the search proposes.

    With workers (`share`) all that it proposes are scored before it is told of any.
    """
    model, elapsed = trials.model, stopwatch()
    space, sign = model.space, trials.metric.definition.sign
    kind = trials.config.tune.search
    search = partial(run_search, space, model.params, kind, count, seed, sign)
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


def _with_best(
    config: Config, tuned: TunedModel, metric: Metric, seed: int, evaluation: Evaluation
) -> Config:
    """Return the config with a model's best parameters, and where they come from, put in."""
    best = tuned.results[tuned.best]
    record = TunedRecord(
        trials=max(tuned.trials, 1),
        search=config.tune.search,
        seed=seed,
        metric=str(metric),
        value=cast(float, best.mean),  # not all trials failed
        exam=evaluation.fingerprint,
    )
    return with_model(config, tuned.name, {"params": best.params, "tuned": record})
