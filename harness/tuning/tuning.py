"""A config in, its models' parameters searched on an inner evaluation set, the best put into it."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, cast

import polars as pl

from harness.config import Config, ModelConfig
from harness.config.space import Range, TunedRecord
from harness.core import cache
from harness.core.errors import RecommenderError, UsageError, counted, printable, suggest
from harness.core.progress import Observer, doing, shown, stopwatch
from harness.core.workers import EndedError, Open, Workers
from harness.evaluation import memory
from harness.evaluation.answers import ask_in_turn
from harness.evaluation.build import Factories, Factory, base_models_first, only
from harness.evaluation.finished import Kept, evaluation_key, is_known
from harness.evaluation.inputs import config_in_place
from harness.evaluation.workers import Job, data_of, processes, stamps_of
from harness.metrics import Metric, is_own, needs
from harness.metrics.judgments import Judgments
from harness.metrics.scores import ScoreTable, score
from harness.models.base import Recommender
from harness.models.item_stats import of_train
from harness.protocol.task import Task
from harness.results.record import Evaluation
from harness.stats.estimates import over_folds
from harness.tuning.inner import inner_split, inner_tasks, metric_of
from harness.tuning.result import Tuned, TunedModel, at_the_edge
from harness.tuning.search import Params, Score, key_of, require, run_search, trials_of

_log = logging.getLogger(__name__)

_FOLDER = "trials"
_MOST = 20_000_000
"""Bytes of trials that are kept, some ten thousand; those not used for longest go first."""


def tune(
    config: Config | Mapping[str, Any] | str | Path,
    *,
    models: Sequence[str] = (),
    fresh: bool = False,
    jobs: int = 1,
    progress: bool = False,
) -> Tuned:
    """Find the best parameters of a config's models on an inner split of train.

    The config sets the ``space`` of each model and ``[tune]``. It never looks at the evaluation
    set.

    Parameters
    ----------
    config : path of a TOML file, or mapping
        A mapping has the sections of the file, as `harness.run` takes them, with frames for files.
    models : sequence of str, optional
        The models to tune; all that have a `space` by default.
    fresh : bool
        Run every trial again. By default a trial comes from the cache if an earlier search made it
        with the same data, settings, code and packages (``[data] cache = false`` turns the cache
        off).
    jobs : int
        Use up to this many processes, this one included, if memory allows; the results do not
        change. Not with ``search = "tpe"``.
    progress : bool
        Show the progress on standard error.

    Raises
    ------
    HarnessError
        A mistake that you can fix: in the config or a file, or an empty inner set. Also if every
        trial of a model fails.
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
            'search = "tpe" needs the scores of earlier trials, so trials run one after the '
            'other: remove --jobs, or use search = "random" or "grid"'
        )
    key, stamps = trials_key(config, metric), stamps_of(config.layout())
    with shown(progress):
        folds = inner_tasks(config)
    evaluations = [Evaluation.of(fold) for fold in folds]
    users = pl.concat([fold.evaluation_set.user_ids for fold in folds]).n_unique()
    several = len(folds) > 1
    evaluation = Evaluation.of_folds(evaluations, users) if several else evaluations[0]
    results, unkept = dict[str, TunedModel](), set[str]()
    best = config
    with shown(progress), Workers(count - 1) as workers:
        for name in base_models_first(config, counts):
            if name not in counts:
                continue
            # An ensemble is tuned on its base models as they will be.
            trials = Trials(best, name, metric, folds, key, fresh, unkept)
            model = _tuned(trials, workers, stamps, counts[name], seed)
            record = TunedRecord(
                trials=max(model.trials, 1),
                search=search,
                seed=seed,
                metric=str(metric),
                value=cast(float, model.results[model.best].mean),  # not all trials failed
                exam=evaluation.fingerprint,
            )
            update = {"params": model.results[model.best].params, "tuned": record}
            best, results[name] = with_model(best, name, update), model
    return Tuned(
        config=best,
        evaluation=evaluation,
        models=tuple(results[model.name] for model in wanted),
        metric=metric,
        search=search,
        seed=seed,
    )


def _wanted(config: Config, names: Sequence[str]) -> list[ModelConfig]:
    known = [model.name for model in config.models if model.space]
    if not known:
        raise UsageError(
            "no model has a space to search; write one under [[models]], such as "
            "space = { window_days = { low = 1, high = 60 } }"
        )
    for name in names:
        if name not in known:
            raise UsageError(f'there is no model "{name}" with a space; {suggest(name, known)}')
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


def _tuned(
    trials: Trials, workers: Workers, stamps: list[list[Any]], count: int, seed: int
) -> TunedModel:
    """Make all trials of a model, with the workers; `stamps` are of the files before reading."""
    model, elapsed, config = trials.model, stopwatch(), trials.config
    name, space, sign = model.name, model.space, trials.metric.definition.sign

    def ready() -> Open[Params, Score]:
        job = Job.of(only(config, [name]), data_of(stamps, trials.folds))
        return partial(open_trials, job, name, trials.fresh)

    def score_all(choices: Sequence[Params]) -> dict[str, Score]:
        scores, units = dict[str, Score](), [[params] for params in choices]
        as_it_is = key_of(model.params)  # is scored as well, but is no trial
        first = 0 if is_known(config, name) else len(units)  # other processes have no objects
        # Closed at once: workers stop where a trial raises.
        with closing(workers.share(units, ready, trials.score, first)) as share:
            for params, answer in share:
                try:
                    scores[key_of(params)] = answer()
                except EndedError as error:
                    scores[key_of(params)] = Score(error=f"the model {error}")
                if key_of(params) != as_it_is:
                    stage.update()
        return scores

    with doing(f"tuning {printable(name)}, trial", count) as stage:
        results = run_search(space, model.params, config.tune.search, count, seed, sign, score_all)
    _log.info("%s: %s, %s", printable(name), counted(len(results) - 1, "trial"), elapsed())
    searched = results[1:] or results
    if all(trial.mean is None for trial in searched):
        raise RecommenderError(
            f'model "{name}": every trial failed ({len(searched):,}), the first with: '
            f"{searched[0].error}"
        )
    # Of equally good trials the earliest is the best.
    best = min(results, key=lambda t: math.inf if t.mean is None else sign * t.mean)
    return TunedModel(
        name=name,
        trials=len(results) - 1,
        failed=sum(trial.mean is None for trial in results[1:]),
        again=count + 1 - len(results),
        reused=sum(trial.reused for trial in results[1:]),
        best=best.trial,
        at_the_edge=at_the_edge(space, best.params) if best.trial else {},
        results=results,
    )


_folds: list[Task] = []
"""In a worker: the inner sets, which are the same for all models of a search."""


@lru_cache(maxsize=1)
def open_trials(job: Job, name: str, fresh: bool) -> Callable[[Params], Score]:
    """Read the inner sets in a worker; return what answers by parameters of a model."""
    config = job.read()
    metric, stamps = metric_of(config), stamps_of(config.layout())
    evaluation = trials_key(config, metric)
    if not _folds:
        _folds.extend(inner_tasks(config))
    job.require_same(data_of(stamps, _folds))
    return Trials(config, name, metric, _folds, evaluation, fresh).score


@dataclass(frozen=True, eq=False)
class Trials:
    """Makes the trials of one model, whose base models, as tuned, learn once for all of them."""

    config: Config
    name: str
    metric: Metric
    folds: Sequence[Task]
    evaluation: cache.Entry | None
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


def trials_key(config: Config, metric: Metric) -> cache.Entry | None:
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
