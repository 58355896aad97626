"""A worker process of a run: it makes the run's task anew, and asks the models it is told to."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from harness.core.processes import Answer, serve
from harness.data.dataset import Dataset
from harness.data.layout import Layout
from harness.experiment.failures import Failures
from harness.experiment.finished import Finished
from harness.experiment.in_memory import FoldModels, InMemory
from harness.experiment.side_by_side import received, silence, source_of, stamps_of
from harness.experiment.sources import OneSource
from harness.protocol.task import read


def main() -> None:
    """Answer what `harness.experiment.side_by_side` asks."""
    silence()
    with ThreadPoolExecutor(1) as background:
        serve(_Models(background).answer)


class _Models:
    """The models of the fold that was asked for last."""

    def __init__(self, background: ThreadPoolExecutor) -> None:
        self._background = background
        self._data: tuple[Layout, Dataset] | None = None
        self._fold: FoldModels
        self._found: InMemory
        self._source: OneSource

    def answer(self, request: dict[str, Any]) -> Answer:
        """Return what a request asks for: to make a task, or a model's lists."""
        if "config" in request:
            return self._prepare(**request)
        fold = self._fold
        model = next(m for m in fold.config.models if m.name == request["model"])
        answers, clock = fold.ask(self._found, model)
        self._background.submit(int).result()  # behind what keeps the answers for later runs
        lists = [one for a in answers for one in (a.lists, a.others) if one is not None]
        told: dict[str, Any] = {"repeats": [answer.told for answer in answers]}
        told |= {"seconds": clock.seconds, "unkept": fold.finished.unkept}
        return Answer(told | {"code": self._source.imported()}, [one.items for one in lists])

    def _prepare(self, fold: int, **sent: Any) -> Answer:
        whole = received(**sent)
        own = whole.folds()[fold]
        layout, finished = own.layout(), partial(Finished, fresh=True, background=self._background)
        self._fold = FoldModels.made(own, fold + 1, whole.n_folds, Failures(True), finished)
        stamps, self._source = stamps_of(layout), source_of(own)
        if self._data is None or self._data[0] != layout:
            self._data = None  # let go before others are read
            self._data = layout, read(own, self._background, progress=False)
        self._found = InMemory(self._fold, self._data[1], progress=False)
        of = self._found.task.evaluation_set
        found = {"stamps": stamps, "fingerprint": of.fingerprint}
        return Answer(found | {"code": self._source.imported()})
