"""Models evaluated by several processes: a worker reads the same files and makes the same task.

A model's lists follow from task, parameters and seed alone; so they are the same, whoever asks.
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from harness.config import Config, ModelConfig, parse
from harness.core import cache
from harness.core.errors import RecommenderError, UsageError, counted
from harness.core.workers import Answering, EndedError, Prepare, Workers
from harness.data import loading
from harness.data.dataset import Dataset
from harness.data.layout import Layout
from harness.experiment import memory
from harness.experiment.build import only
from harness.experiment.evaluate_part import Asked
from harness.experiment.failures import Failures
from harness.experiment.finished import Finished, is_known
from harness.experiment.fold import Evaluator, FoldModels, InMemory
from harness.experiment.memory import Limit
from harness.protocol.task import read

Answer = tuple[Asked, dict[str, str]]
"""What a worker answers of a model, and why what it answered is not kept."""

_log = logging.getLogger(__name__)

_A_MODEL = 1_500_000_000
"""Bytes that a model and the scores of a batch of users may hold beside the events."""


@dataclass(frozen=True)
class Job:
    """A fold of a config, from 0, as text: a worker loads the classes that it names itself."""

    config: str
    folder: str
    file: str
    fold: int = 0

    @classmethod
    def of(cls, config: Config, fold: int = 0) -> Job:
        """Return that of a config with all folds."""
        import tomli_w

        values = config.model_dump(exclude_unset=True, exclude_none=True)
        return cls(tomli_w.dumps(values), str(config.folder), config.file, fold)

    def read(self) -> Config:
        """Return the config."""
        return parse(tomllib.loads(self.config), Path(self.folder), self.file)


class ModelWorkers:
    """The models of a run, of which some are evaluated by workers.

    Parameters
    ----------
    config : Config
        With all folds.

    Attributes
    ----------
    ready : function
        Returns when the files can be read by others, too: when the cache is written.
    """

    def __init__(self, config: Config, workers: Workers) -> None:
        self._workers, self._shared = workers, shared_models(config) if workers.count else []
        self.ready: Callable[[], object] = lambda: None
        if self._shared:
            self._config = only(config, self._shared)
            self._stamps = [stamps_of(fold.layout()) for fold in config.folds()]

    def answers(
        self, fold: FoldModels, evaluator: Evaluator
    ) -> Generator[tuple[ModelConfig, Callable[[], Asked]], None, None]:
        """Yield models that have not failed with what returns their answers, or raises.

        First those that an earlier run finished, then the others, as soon as they can be asked.
        """
        finished, number = fold.finished.answers, fold.number - 1
        models = [m for m in fold.config.models if m.name not in fold.failures.errors]
        for model in models:
            if model.name in finished:
                yield model, partial(finished[model.name], evaluator.task)

        def data() -> list[Any]:
            return [self._stamps[number], evaluator.task.evaluation_set.fingerprint]

        waiting = units([model for model in models if model.name not in finished])
        waiting.sort(key=lambda unit: unit[0] in self._shared)
        first = sum(unit[0] not in self._shared for unit in waiting)
        settings = {model.name: model for model in models}
        share = self._workers.share(waiting, partial(self._prepare, number), data, first)
        with closing(share):
            for name, answer in share:
                yield settings[name], partial(self._asked, evaluator, settings[name], answer)

    def _prepare(self, number: int) -> Prepare[str, Answer]:
        self.ready()
        return partial(prepared, Job.of(self._config, number))

    def _asked(
        self, evaluator: Evaluator, model: ModelConfig, answer: Callable[[], Answer] | None
    ) -> Asked:
        """Return what a model answered in a worker, or answers here."""
        if answer is None:
            answers = evaluator.fold.ask(evaluator, model)
            self._workers.require_same_source(model.name)
            return answers
        try:
            answers, unkept = answer()
        except EndedError as error:
            raise RecommenderError(f'model "{model.name}" {error}') from error
        evaluator.fold.finished.unkept.update(unkept)
        return answers


def shared_models(config: Config) -> list[str]:
    """Return the models that other processes have, too: a unit as a whole, or nothing of it."""
    shared = (unit for unit in units(config.models) if all(is_known(config, name) for name in unit))
    return [name for unit in shared for name in unit]


_data: list[tuple[Layout, Dataset]] = []
"""In a worker: the data that was read last."""


@lru_cache(maxsize=1)
def prepared(job: Job) -> Answering[str, Answer]:
    """Return what answers by models, and what identifies the data; called in a worker."""
    prepared.cache_clear()  # the fold before is let go
    config, background = job.read(), ThreadPoolExecutor(1)
    fold = config.folds()[job.fold]
    models = FoldModels.made(
        fold,
        job.fold + 1,
        config.n_folds,
        Failures(fail_fast=True),
        partial(Finished, fresh=True, background=background),
    )
    layout = fold.layout()
    stamps = stamps_of(layout)
    if not _data or _data[0][0] != layout:
        _data.clear()
        _data.append((layout, read(fold, background, models.observer)))
    evaluator = InMemory(models, _data[0][1])
    settings = {model.name: model for model in fold.models}

    def answer(name: str) -> Answer:
        answers = models.ask(evaluator, settings[name])
        background.submit(int).result()  # behind what keeps them
        return answers, models.finished.unkept

    return answer, [stamps, evaluator.task.evaluation_set.fingerprint]


def units(models: Sequence[ModelConfig]) -> list[list[str]]:
    """Return the names of models, those together that are made of one another: these learn once.

    Examples
    --------
    A blend of a and c, beside b:

    >>> models = [{"name": n, "use": "m:M"} for n in "abc"]
    >>> models += [{"name": "blend", "use": "m:M", "of": ["a", "c"]}]
    >>> units([ModelConfig.model_validate(model) for model in models])
    [['a', 'c', 'blend'], ['b']]
    """
    groups = {model.name: {model.name} for model in models}
    for model in models:
        for base in model.base_models:
            joined = groups[model.name] | groups.get(base, {base})
            groups |= dict.fromkeys(joined, joined)
    together: dict[frozenset[str], list[str]] = {}
    for model in models:
        together.setdefault(frozenset(groups[model.name]), []).append(model.name)
    return list(together.values())


def stamps_of(layout: Layout) -> list[list[Any]] | None:
    """Return what identifies the content of a layout's files; None where they are none."""
    with suppress(OSError):  # a file that is not there is told by whoever reads it
        return cache.stamps(loading.files(layout))
    return None


def processes(jobs: int, layouts: Iterable[Layout], limit: Limit | None) -> int:
    """Return how many processes evaluate models: as many as are asked for and have memory.

    Raises
    ------
    UsageError
        `jobs` is no number of processes.
    """
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise UsageError(f"jobs is {jobs!r}; expected a whole number of processes, from 1")
    if jobs == 1 or limit is None:
        return jobs
    each = max(memory.needed(layout) for layout in layouts) + _A_MODEL
    room = max(1, limit.size // each)
    if room < jobs:
        about = f"each needs about {memory.shown(each)} of memory; {limit.says}"
        _log.warning("--jobs %d: %s", jobs, f"{counted(room, 'process', 'processes')}, as {about}")
    return min(jobs, room)
