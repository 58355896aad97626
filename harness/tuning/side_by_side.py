"""Trials made side by side: some by this process, others by workers on the same inner sets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from harness.core.processes import Answer
from harness.core.sharing import Work, Workers
from harness.experiment.side_by_side import (
    refuse_other,
    sent,
    source_of,
    stamps_of,
    with_same_source,
)
from harness.tuning.search import Params, Score, Scored, proposed, written
from harness.tuning.trial import TrialSetup

WORKER = "harness.tuning.worker"


class SideBySide:
    """The trials of a model, of which some are made by workers.

    Parameters
    ----------
    workers : Workers
        Of the module `WORKER`; without any all trials are made here, when the search asks for them.
    fresh : bool
        Whether all trials are made anew.
    """

    def __init__(self, setup: TrialSetup, workers: Workers, *, fresh: bool) -> None:
        self.setup, self._workers, self._fresh = setup, workers, fresh
        self._stamps = stamps_of(setup.config.layout())
        self._source = source_of(setup.config) if workers.count else None

    def scores(self, given: tuple[Any, ...], update: Callable[[], object]) -> Score:
        """Return what scores parameters; with workers all that a search proposes are scored first.

        Parameters
        ----------
        given : tuple
            What `proposed` takes.
        update : function
            Called for each trial that is made.
        """
        if self._workers.count == 0:
            return partial(self._scored, update)
        prints = [fold.task.evaluation_set.fingerprint for fold in self.setup.folds]
        own = {"stamps": self._stamps, "fingerprints": prints}
        accept = partial(refuse_other, lambda: own, self._source)

        def here(params: Params) -> Scored:
            given = self.setup.model.name, partial(self.setup.score, params)
            return with_same_source(self._source, *given)

        work = Work(self._opening, accept, _request, self._received, here, _lost)
        found = dict[str, Scored]()
        for params, scored in self._workers.share([[one] for one in proposed(*given)], work):
            found[written(params)] = scored()
            update()
        return lambda params: found[written(params)]

    def _scored(self, update: Callable[[], object], params: Params) -> Scored:
        found = self.setup.score(params)
        update()
        return found

    def _opening(self) -> dict[str, Any]:
        own = {"model": self.setup.model.name, "fresh": self._fresh}
        return sent(self.setup.config) | own

    def _received(self, answer: Answer) -> Scored:
        told, kept = answer.told, self.setup.kept
        kept.changed = told["changed"] or kept.changed
        kept.unkept = told["unkept"] or kept.unkept
        noted = told["noted"]
        if noted.get("ci95") is not None:
            noted["ci95"] = tuple(noted["ci95"])
        return told["value"], noted


def _lost(params: Params, how: str) -> Scored:
    return None, {"seconds": 0.0, "error": f"the model ended its process, which {how}"}


def _request(params: Params) -> dict[str, Any]:
    import tomli_w

    return {"params": tomli_w.dumps(params)}
