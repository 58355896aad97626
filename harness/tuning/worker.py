"""A worker process of a search: it makes the same inner sets anew, and the trials it is told to."""

from __future__ import annotations

import tomllib
from typing import Any

from harness.core.processes import Answer, serve
from harness.experiment.side_by_side import received, silence, source_of, stamps_of
from harness.experiment.sources import OneSource
from harness.tuning.trial import InnerFold, Rules, TrialSetup, inner_folds
from harness.tuning.trials import kept_trials


def main() -> None:
    """Answer what `harness.tuning.side_by_side` asks."""
    silence()
    serve(_Trials().answer)


class _Trials:
    """The trials of the model that was asked for last."""

    def __init__(self) -> None:
        self._folds: list[InnerFold] = []
        self._setup: TrialSetup
        self._source: OneSource

    def answer(self, request: dict[str, Any]) -> Answer:
        """Return what a request asks for: to make the inner sets, or a trial."""
        if "model" in request:
            return self._prepare(**request)
        setup = self._setup
        value, noted = setup.score(tomllib.loads(request["params"]))
        told: dict[str, Any] = {"value": value, "noted": noted}
        told |= {"changed": setup.kept.changed, "unkept": setup.kept.unkept}
        return Answer(told | {"code": self._source.imported()})

    def _prepare(self, model: str, fresh: bool, **sent: Any) -> Answer:
        config = received(**sent)
        rules = Rules.of(config)
        stamps, self._source = stamps_of(config.layout()), source_of(config)
        kept = kept_trials(config, [model], rules.metric, fresh=fresh)[model]
        # They are the same for all models of a search.
        self._folds = self._folds or inner_folds(config, rules.metric)
        self._setup = TrialSetup.of(model, config, rules, self._folds, kept)
        prints = [fold.task.evaluation_set.fingerprint for fold in self._folds]
        found = {"stamps": stamps, "fingerprints": prints}
        return Answer(found | {"code": self._source.imported()})
