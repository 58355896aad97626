"""Trials kept in the cache as they finish, so that the next search need not make them.

A search is made from its beginning each time, so its sampler proposes what it would have proposed
anyway; a choice of parameters that was scored before takes that score. So what is found is what an
uninterrupted search finds, and other spaces, seeds and numbers of trials share what they have in
common.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.config import Config
from harness.core import cache
from harness.core.cache import Entry
from harness.core.sources import Source, UnknownSourceError, changed, look
from harness.evaluation.finished import evaluation_key, model_key, record_of
from harness.metrics import Metric, is_own
from harness.tuning.inner import inner_split
from harness.tuning.search import Params, Score, Scored

_FOLDER = "trials"
_MOST = 20_000_000
"""Bytes that are kept, some ten thousand trials; those not used for longest go first."""


class KeptTrials:
    """The trials of one model that searches have finished.

    Attributes
    ----------
    changed : str, optional
        What of the source is not as it was when trials were kept, which are made anew.
    unkept : str, optional
        Why trials are not kept for the next search.
    """

    def __init__(
        self, name: str, shared: Entry | None, first: Mapping[str, Source], *, fresh: bool
    ) -> None:
        self.changed: str | None = None
        self.unkept: str | None = None
        self._name, self._shared, self._first, self._fresh = name, shared, first, fresh

    def scored(self, config: Config, params: Params, score: Score) -> Scored:
        """Return what these parameters score, by `score` where no search has made the trial.

        A model that failed is asked again.

        Parameters
        ----------
        config : Config
            In which the base models have the parameters that they were tuned to.
        """
        if self._shared is None:
            return score(params)
        models = [
            model.model_copy(update={"params": dict(params)}) if model.name == self._name else model
            for model in config.models
        ]
        config = config.model_copy(update={"models": models})
        entry = model_key(self._shared, _FOLDER, config, self._name)

        def build(_: Path, notes: dict[str, Any]) -> Scored | None:
            why = changed(notes["sources"], config.folder)
            if why is not None:
                self.changed = why
                return None
            noted = notes["noted"]
            ci95 = None if noted["ci95"] is None else tuple(noted["ci95"])
            return notes["value"], {**noted, "ci95": ci95, "reused": True}

        kept = None if self._fresh else entry.read(build)
        if kept is not None:
            return kept
        value, noted = score(params)
        if value is not None:
            try:
                sources = record_of(config, self._name, self._first)
                notes = {"value": value, "noted": noted, "sources": sources}
                self.unkept = entry.keep(lambda _: notes) or self.unkept
            except UnknownSourceError as error:
                self.unkept = str(error)
        return value, noted


def kept_trials(
    config: Config, names: Iterable[str], metric: Metric, *, fresh: bool
) -> dict[str, KeptTrials]:
    """Return those of some models of a config, whose classes are imported, before data is read.

    Parameters
    ----------
    fresh : bool
        Whether all are made anew.
    """
    shared = None
    rule, source = inner_split(config).model_dump_json(), metric.definition.digest
    if config.data.cache and not (is_own(metric.name) and source is None):
        with suppress(OSError):  # told by whoever reads a file that is not there
            shared = evaluation_key(config.folds()[0], "trials", rule, str(metric), source)
            cache.make_room(shared.path.parent / _FOLDER, _MOST)
    first = look()
    return {name: KeptTrials(name, shared, first, fresh=fresh) for name in names}
