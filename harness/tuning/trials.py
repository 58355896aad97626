"""Trials kept in the cache as they finish, so that the next search need not make them.

A search is made from its beginning each time, so its sampler proposes what it would have proposed
anyway; a choice of parameters that was scored before takes that score. So what is found is what an
uninterrupted search finds, and other spaces, seeds and numbers of trials share what they have in
common.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.config import Config
from harness.core import cache
from harness.core.cache import Entry
from harness.core.sources import Sources, UnknownSourceError
from harness.experiment.finished import evaluation_key, model_key, record_of
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

    def __init__(self, name: str, shared: Entry | None, sources: Sources, *, fresh: bool) -> None:
        self.changed: str | None = None
        self.unkept: str | None = None
        self._name, self._shared, self._sources, self._fresh = name, shared, sources, fresh

    def scored(self, config: Config, params: Params, score: Score) -> Scored:
        """Return what these parameters score, by `score` where no search has told.

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
        kept = None if self._fresh else entry.read(self._taken)
        if kept is not None:
            with suppress(OSError):
                os.utime(entry.path)
            return kept
        value, noted = score(params)
        if value is not None:
            try:
                sources = record_of(self._sources, config, self._name)
                notes = {"value": value, "noted": noted, "sources": sources}
                self.unkept = entry.keep_settled(lambda _: notes) or self.unkept
            except UnknownSourceError as error:
                self.unkept = str(error)
        return value, noted

    def _taken(self, _: Path, notes: dict[str, Any]) -> Scored | None:
        changed = self._sources.changed(notes["sources"])
        if changed is not None:
            self.changed = changed
            return None
        noted = notes["noted"]
        ci95 = None if noted["ci95"] is None else tuple(noted["ci95"])
        return notes["value"], {**noted, "ci95": ci95, "reused": True}


def kept_trials(
    config: Config, names: Iterable[str], metric: Metric, *, fresh: bool
) -> dict[str, KeptTrials]:
    """Return those of some models of a config, whose classes are imported, before data is read.

    Parameters
    ----------
    fresh : bool
        Whether all are made anew.
    """
    shared = _shared(config, metric) if config.data.cache else None
    if shared is not None:
        with suppress(OSError):
            cache.make_room(shared.path.parent / _FOLDER, _MOST)
    sources = Sources(config.folder)
    return {name: KeptTrials(name, shared, sources, fresh=fresh) for name in names}


def _shared(config: Config, metric: Metric) -> Entry | None:
    """Return the key that all trials share; None where a file or a metric's source is missing."""
    rule, source = inner_split(config).model_dump_json(), metric.definition.digest
    if is_own(metric.name) and source is None:
        return None
    with suppress(OSError):  # told by whoever reads it
        return evaluation_key(config.folds()[0], "trials", rule, str(metric), source)
    return None
