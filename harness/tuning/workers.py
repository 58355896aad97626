"""Trials made by several processes: a worker makes the same inner sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import lru_cache, partial
from typing import Any

from harness.core.arrays import Int32
from harness.core.workers import Reply, Work, Workers, reply
from harness.experiment.build import only
from harness.experiment.finished import is_known
from harness.experiment.workers import Job, stamps_of
from harness.tuning.search import Params, Scored, written
from harness.tuning.trial import InnerFold, Rules, TrialSetup, inner_folds
from harness.tuning.trials import kept_trials


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
    config = only(setup.config, [name])
    seen = [stamps, _fingerprints(setup.folds)]

    def here(params: Params) -> Scored:
        scored = setup.score(params)
        workers.require_same_source(name)
        return scored

    work = Work(
        open=lambda: partial(ask, Job.of(config), name, fresh),
        seen=lambda: seen,
        read=partial(_read, setup),
        here=here,
        lost=_lost,
    )
    made = dict[str, Scored]()
    first = 0 if is_known(config, name) else len(proposals)  # nobody else has an object
    # Closed at once: workers stop where a trial raises.
    with closing(workers.share([[one] for one in proposals], work, first)) as trials:
        for params, scored in trials:
            made[written(params)] = scored()
            update()
    return made


def _fingerprints(folds: Sequence[InnerFold]) -> list[str]:
    return [fold.task.evaluation_set.fingerprint for fold in folds]


def _read(setup: TrialSetup, told: Mapping[str, Any], _: list[Int32]) -> Scored:
    """Return what a worker's trial has scored."""
    setup.kept.changed = told["changed"] or setup.kept.changed
    setup.kept.unkept = told["unkept"] or setup.kept.unkept
    noted = told["noted"]
    if noted.get("ci95") is not None:
        noted["ci95"] = tuple(noted["ci95"])
    return told["value"], noted


def _lost(params: Params, ending: str) -> Scored:
    return None, {"seconds": 0.0, "error": f"the model ended its process, which {ending}"}


def ask(job: Job, model: str, fresh: bool, params: Sequence[Params]) -> Reply:
    """Return what trials of a model score; called in a worker."""
    return reply(partial(_trials, job, model, fresh), params)


@lru_cache(maxsize=1)
def _trials(job: Job, model: str, fresh: bool) -> _Trials:
    return _Trials(job, model, fresh)


_folds: list[InnerFold] = []
"""In a worker: the inner sets, which are the same for all models of a search."""


class _Trials:
    """The trials of a model in a worker."""

    def __init__(self, job: Job, model: str, fresh: bool) -> None:
        config = job.read()
        rules = Rules.of(config)
        stamps = stamps_of(config.layout())
        kept = kept_trials(config, [model], rules.metric, fresh=fresh)[model]
        _folds.extend(() if _folds else inner_folds(config, rules.metric))
        self._setup = TrialSetup.of(model, config, rules, _folds, kept)
        self._seen = [stamps, _fingerprints(_folds)]

    def seen(self) -> list[Any]:
        """Return what tells the data that was read."""
        return self._seen

    def ask(self, item: Params) -> tuple[dict[str, Any], list[Int32]]:
        """Return what a trial scores, and what is told of earlier ones."""
        value, noted = self._setup.score(item)
        kept = self._setup.kept
        told = {"value": value, "noted": noted, "changed": kept.changed, "unkept": kept.unkept}
        return told, []
