"""Models evaluated by several processes: a worker reads the same files and makes the same task.

A model's lists follow from task, parameters and seed alone; so they are the same, whoever asks.
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harness.config import Config, ModelConfig, parse
from harness.core import cache
from harness.core.arrays import Int32
from harness.core.errors import RecommenderError, UsageError, counted
from harness.core.progress import Clock
from harness.core.workers import Ask, Reply, Work, Workers, reply
from harness.data import loading
from harness.data.dataset import Dataset
from harness.data.layout import Layout
from harness.experiment import memory
from harness.experiment.answers import Answers
from harness.experiment.build import only
from harness.experiment.evaluate_part import Asked
from harness.experiment.failures import Failures
from harness.experiment.finished import Finished, is_known
from harness.experiment.fold import Evaluator, FoldModels
from harness.experiment.in_memory import InMemory
from harness.experiment.memory import Limit
from harness.models.recommendations import Recommendations
from harness.protocol.task import read

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
        self._workers, self._names = workers, shared_models(config) if workers.count else []
        self.ready: Callable[[], object] = lambda: None
        if self._names:
            self._config = only(config, self._names)
            self._stamps = [stamps_of(fold.layout()) for fold in config.folds()]

    def answers(
        self, fold: FoldModels, task: Evaluator
    ) -> Generator[tuple[ModelConfig, Callable[[], Asked]], None, None]:
        """Yield models that have not failed with what returns their answers, or raises.

        First those that an earlier run finished, then the others, as soon as they can be asked.
        """
        finished, settings = fold.finished, {model.name: model for model in fold.config.models}
        for name, model in settings.items():
            if name in finished.found and name not in fold.failures.found:
                yield model, partial(finished.found[name], task.task)

        def open_() -> Ask[str]:
            self.ready()
            return partial(ask, Job.of(self._config, fold.number - 1))

        def seen() -> list[Any]:
            return [self._stamps[fold.number - 1], task.task.evaluation_set.fingerprint]

        def here(name: str) -> Asked:
            answers = fold.ask(task, settings[name])
            self._workers.require_same_source(name)
            return answers

        done = {*finished.found, *fold.failures.found}
        unasked = units([model for name, model in settings.items() if name not in done])
        names = [[model.name for model in unit] for unit in unasked]
        names.sort(key=lambda unit: unit[0] in self._names)
        first = sum(unit[0] not in self._names for unit in names)  # workers do not have these
        work = Work(open_, seen, partial(_read, finished.unkept), here, _lost)
        for name, answered in self._workers.share(names, work, first):
            yield settings[name], answered


def shared_models(config: Config) -> list[str]:
    """Return the models that other processes have, too: a unit as a whole, or nothing of it."""
    known = {model.name: is_known(config, model.name) for model in config.models}
    return [
        model.name
        for unit in units(config.models)
        if all(known[model.name] for model in unit)
        for model in unit
    ]


def _read(unkept: dict[str, str], told: Mapping[str, Any], lists: list[Int32]) -> Asked:
    """Return what a worker has answered."""
    unkept.update(told["unkept"])
    arrays, answers, clock = iter(lists), list[Answers](), Clock()
    clock.seconds.update(told["seconds"])
    for repeat in told["repeats"]:
        evaluated = Recommendations(next(arrays))
        others = Recommendations(next(arrays)) if repeat["others"] else None
        answers.append(Answers.of(repeat, evaluated, others))
    return answers, clock


def _lost(name: str, ending: str) -> Asked:
    raise RecommenderError(f'model "{name}" ended its process, which {ending}')


_asked: list[_Fold] = []
"""In a worker: the fold that was asked for last."""
_read_last: list[tuple[Layout, Dataset]] = []
"""In a worker: the data that was read last."""


def ask(job: Job, names: Sequence[str]) -> Reply:
    """Return what models answer; called in a worker."""
    return reply(partial(_Fold.of, job), names)


class _Fold:
    """A fold in a worker."""

    def __init__(self, job: Job) -> None:
        config = job.read()
        fold = config.folds()[job.fold]
        self.job, self._background = job, ThreadPoolExecutor(1)
        self._models = FoldModels.made(
            fold,
            job.fold + 1,
            config.n_folds,
            Failures(fail_fast=True),
            partial(Finished, fresh=True, background=self._background),
        )
        layout = fold.layout()
        self._stamps = stamps_of(layout)
        if not _read_last or _read_last[0][0] != layout:
            _read_last.clear()  # let go before others are read
            _read_last.append((layout, read(fold, self._background, self._models.observer)))
        self._task = InMemory(self._models, _read_last[0][1])

    @classmethod
    def of(cls, job: Job) -> _Fold:
        """Return the fold, made anew unless it was asked for last."""
        if not _asked or _asked[0].job != job:
            _asked.clear()
            _asked.append(cls(job))
        return _asked[0]

    def seen(self) -> list[Any]:
        """Return what tells the data that was read."""
        return [self._stamps, self._task.task.evaluation_set.fingerprint]

    def ask(self, name: str) -> tuple[dict[str, Any], list[Int32]]:
        """Return a model's answers, and keep them for later runs."""
        model = next(model for model in self._models.config.models if model.name == name)
        answers, clock = self._models.ask(self._task, model)
        self._background.submit(int).result()  # behind what keeps them
        lists = [one.items for a in answers for one in (a.lists, a.others) if one is not None]
        return {
            "repeats": [answer.told for answer in answers],
            "seconds": clock.seconds,
            "unkept": self._models.finished.unkept,
        }, lists


def units(models: Sequence[ModelConfig]) -> list[list[ModelConfig]]:
    """Return the models, those together that are made of one another: these learn once.

    Examples
    --------
    A blend of a and c, beside b:

    >>> models = [{"name": n, "use": "m:M"} for n in "abc"]
    >>> models += [{"name": "blend", "use": "m:M", "of": ["a", "c"]}]
    >>> together = units([ModelConfig.model_validate(model) for model in models])
    >>> [[model.name for model in unit] for unit in together]
    [['a', 'c', 'blend'], ['b']]
    """
    group = {model.name: {model.name} for model in models}
    for model in models:
        for base in (*model.base_models, model.name):
            joined = group[model.name] | group.get(base, {base})
            group |= dict.fromkeys(joined, joined)
    together: dict[frozenset[str], list[ModelConfig]] = {}
    for model in models:
        together.setdefault(frozenset(group[model.name]), []).append(model)
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
