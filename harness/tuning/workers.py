"""Trials made by several processes: a worker makes the same inner sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache, partial
from typing import Any

from harness.core.workers import EndedError, Open, Workers
from harness.evaluation.build import only
from harness.evaluation.finished import is_known
from harness.evaluation.workers import Job, data_of, stamps_of
from harness.tuning.search import Params, Trial, key_of, trial_of
from harness.tuning.trial import InnerFold, KeptTrials, Rules, Trials, inner_folds, trials_key

Answer = tuple[Trial, str | None, str | None]
"""A trial, and `changed` and `unkept` of the process that made it."""


def side_by_side(
    trials: Trials,
    workers: Workers,
    proposals: Sequence[Params],
    update: Callable[[], object],
    *,
    stamps: Any,
    fresh: bool,
) -> dict[str, Trial]:
    """Return the trial of every choice of parameters, by its `key_of`.

    Parameters
    ----------
    update : function
        Called for each trial that is made.
    stamps : list
        What `stamps_of` returned before the files were read.
    fresh : bool
        Whether all trials are made anew.
    """
    name, kept, made = trials.model.name, trials.kept, dict[str, Trial]()
    first = 0 if is_known(trials.config, name) else len(proposals)  # nobody else has an object

    def ready() -> Open[Params, Answer]:
        data = data_of(stamps, [fold.task for fold in trials.folds])
        return partial(open_trials, Job.of(only(trials.config, [name]), data), name, fresh)

    # Closed at once: workers stop where a trial raises.
    units = [[params] for params in proposals]
    with closing(workers.share(units, ready, partial(_answer, trials), first)) as share:
        for params, answer in share:
            try:
                trial, changed, unkept = answer()
                kept.changed, kept.unkept = changed or kept.changed, unkept or kept.unkept
            except EndedError as error:
                trial = trial_of(params, None, error=f"the model {error}")
            made[key_of(params)] = trial
            update()
    return made


def _answer(trials: Trials, params: Params) -> Answer:
    return trials.score(params), trials.kept.changed, trials.kept.unkept


_folds: list[InnerFold] = []
"""In a worker: the inner sets, which are the same for all models of a search."""


@lru_cache(maxsize=1)
def open_trials(job: Job, name: str, fresh: bool) -> Callable[[Params], Answer]:
    """Read the inner sets in a worker; return what answers by parameters of a model."""
    config = job.read()
    metric, stamps = Rules.of(config).metric, stamps_of(config.layout())
    kept = KeptTrials(config, name, trials_key(config, metric), fresh=fresh)
    if not _folds:
        _folds.extend(inner_folds(config, metric))
    job.require_same(data_of(stamps, [fold.task for fold in _folds]))
    return partial(_answer, Trials(config, name, metric, _folds, kept))
