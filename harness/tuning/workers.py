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
from harness.tuning.search import Params, Scored, written
from harness.tuning.trial import InnerFold, Rules, TrialSetup, inner_folds
from harness.tuning.trials import KeptTrials, kept_trials

Answer = tuple[Scored, str | None, str | None]
"""What a trial scores, and `changed` and `unkept` of the worker's `KeptTrials`."""


def scores(
    setup: TrialSetup,
    workers: Workers,
    proposals: Sequence[Params],
    update: Callable[[], object],
    *,
    stamps: Any,
    fresh: bool,
) -> dict[str, Scored]:
    """Return what every choice of parameters scores, by how it is `written`.

    Parameters
    ----------
    update : function
        Called for each trial that is made.
    stamps : list
        What `stamps_of` returned before the files were read.
    fresh : bool
        Whether all trials are made anew.
    """
    name = setup.model.name
    units = [[params] for params in proposals]
    first = 0 if is_known(setup.config, name) else len(units)  # nobody else has an object

    def ready() -> Open[Params, Answer]:
        data = data_of(stamps, [fold.task for fold in setup.folds])
        return partial(open_trials, Job.of(only(setup.config, [name]), data), name, fresh)

    made = dict[str, Scored]()
    # Closed at once: workers stop where a trial raises.
    with closing(workers.share(units, ready, first)) as trials:
        for params, answer in trials:
            if answer is None:
                made[written(params)] = setup.score(params)
                workers.require_same_source(name)
            else:
                made[written(params)] = _answered(answer, setup.kept)
            update()
    return made


def _answered(answer: Callable[[], Answer], kept: KeptTrials) -> Scored:
    """Return what a worker's trial has scored."""
    try:
        scored, changed, unkept = answer()
    except EndedError as error:
        return None, {"seconds": 0.0, "error": f"the model {error}"}
    kept.changed, kept.unkept = changed or kept.changed, unkept or kept.unkept
    return scored


_folds: list[InnerFold] = []
"""In a worker: the inner sets, which are the same for all models of a search."""


@lru_cache(maxsize=1)
def open_trials(job: Job, name: str, fresh: bool) -> Callable[[Params], Answer]:
    """Read the inner sets in a worker; return what answers by parameters of a model."""
    config = job.read()
    rules, stamps = Rules.of(config), stamps_of(config.layout())
    kept = kept_trials(config, [name], rules.metric, fresh=fresh)[name]
    if not _folds:
        _folds.extend(inner_folds(config, rules.metric))
    job.require_same(data_of(stamps, [fold.task for fold in _folds]))
    setup = TrialSetup.of(name, config, rules, _folds, kept)

    def answer(params: Params) -> Answer:
        return setup.score(params), kept.changed, kept.unkept

    return answer
