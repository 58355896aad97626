"""Models evaluated by several processes: a worker reads the same files and makes the same task."""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from harness.config import Config, ModelConfig, parse
from harness.core import cache
from harness.core.errors import DataError, RecommenderError, UsageError, counted
from harness.core.progress import Observer
from harness.core.sources import own_code
from harness.core.workers import EndedError, Open, Workers
from harness.data import loading
from harness.data.dataset import Dataset
from harness.data.layout import Layout
from harness.evaluation import memory
from harness.evaluation.answers import Answers
from harness.evaluation.build import only
from harness.evaluation.finished import Asked, Finished, is_known
from harness.evaluation.fold import Failures, Fold, Users, ask_in_memory
from harness.protocol.task import Task, read_events, task_on

_log = logging.getLogger(__name__)

_A_MODEL = 1_500_000_000
"""Bytes that a model and the scores of a batch of users may hold beside the events."""


@dataclass(frozen=True)
class Job:
    """A config as text, as a worker loads the classes that it names itself, and its `data_of`."""

    config: str
    folder: str
    file: str
    data: str
    fold: int = 0

    @classmethod
    def of(cls, config: Config, data: str, fold: int = 0) -> Job:
        """Return that of a config with all folds."""
        import tomli_w

        values = config.model_dump(exclude_unset=True, exclude_none=True)
        return cls(tomli_w.dumps(values), str(config.folder), config.file, data, fold)

    def read(self) -> Config:
        """Return the config."""
        return parse(tomllib.loads(self.config), Path(self.folder), self.file)

    def require_same(self, data: str) -> None:
        """Raise DataError where a worker has read other data."""
        if data != self.data:
            raise DataError("has other data: the files have changed since the run read them")


def data_of(stamps: object, tasks: Iterable[Task]) -> str:
    """Return what identifies the data of tasks, from what `stamps_of` returned before."""
    return repr((stamps, [task.evaluation_set.fingerprint for task in tasks], own_code()))


class ModelWorkers:
    """The models of a config with all folds, of which some are evaluated by workers."""

    def __init__(self, config: Config, workers: Workers) -> None:
        self._workers, self._shared = workers, list[str]()
        self.ready: Callable[[], object] = lambda: None
        for unit in units(config.models) if workers.count else ():
            if all(is_known(config, name) for name in unit):  # another process has no objects
                self._shared += unit
        if self._shared:
            self._config = only(config, self._shared)
            self._stamps = [stamps_of(fold.layout()) for fold in config.folds()]

    def answers(
        self, fold: Fold, users: Users
    ) -> Generator[tuple[str, Callable[[], list[Answers]]], None, None]:
        """Yield models that have not failed with what returns their answers, or raises.

        First those that an earlier run finished. Each is logged when it has been scored.
        """
        finished, number = fold.finished.answers, fold.number - 1
        models = [m for m in fold.config.models if m.name not in fold.failures.errors]
        for name in [model.name for model in models if model.name in finished]:
            yield name, partial(_noted, fold, name, partial(finished[name], users.task))
            fold.log_model(name)

        def ready() -> Open[str, Asked]:
            self.ready()
            data = data_of(self._stamps[number], [users.task])
            return partial(open_fold, Job.of(self._config, data, number))

        waiting = units([model for model in models if model.name not in finished])
        waiting.sort(key=lambda unit: unit[0] in self._shared)
        first = sum(unit[0] not in self._shared for unit in waiting)
        here = partial(_ask, fold, users.task, users.ask)
        with closing(self._workers.share(waiting, ready, here, first)) as share:
            for name, answer in share:
                yield name, partial(_noted, fold, name, answer)
                fold.log_model(name)


def _ask(fold: Fold, task: Task, ask: Callable[[ModelConfig], list[Answers]], name: str) -> Asked:
    """Return what a model answers here, and keep it for later runs."""
    answers = ask(fold.config.by_name[name])
    fold.finished.keep(name, task, answers, fold.clocks[name].seconds)
    return answers, fold.clocks[name].seconds, None


def _noted(fold: Fold, name: str, answer: Callable[[], Asked]) -> list[Answers]:
    """Return what a model answered, after its fold has noted the rest."""
    try:
        answers, seconds, unkept = answer()
    except EndedError as error:
        raise RecommenderError(f'model "{name}" {error}') from error
    fold.clocks[name].seconds.update(seconds)
    if unkept is not None:
        fold.finished.kept[name].unkept = unkept
    return answers


_data: list[tuple[Layout, Dataset]] = []
"""In a worker: the data that was read last."""


@lru_cache(maxsize=1)
def open_fold(job: Job) -> Callable[[str], Asked]:
    """Read a fold in a worker; return what answers by the names of models."""
    open_fold.cache_clear()  # the fold before is let go
    config, background = job.read(), ThreadPoolExecutor(1)
    fold = config.folds()[job.fold]
    finished = Finished(fold, fresh=True, background=background)
    models = Fold(fold, (), Failures(fail_fast=True), Observer(), finished, n_folds=config.n_folds)
    layout = fold.layout()
    stamps = stamps_of(layout)
    if not _data or _data[0][0] != layout:
        _data.clear()
        _data.append((layout, read_events(fold, background, models.observer)))
    task = task_on(fold, _data[0][1], models.observer)
    job.require_same(data_of(stamps, [task]))

    def answer(name: str) -> Asked:
        answers, seconds, _ = _ask(models, task, partial(ask_in_memory, models, task), name)
        background.submit(lambda: None).result()  # done once the answers are kept
        return answers, seconds, finished.unkept.get(name)

    return answer


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


def stamps_of(layout: Layout) -> list[list[Any]]:
    """Return what identifies the content of a layout's files."""
    return cache.stamps(loading.files(layout))


def processes(jobs: int, layouts: Iterable[Layout], limit: memory.Limit) -> int:
    """Return how many processes evaluate models: as many as are asked for and have memory."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise UsageError(f"jobs is {jobs!r}; expected a number of processes, 1 or more")
    if jobs == 1:
        return jobs
    each = max(memory.needed(layout) for layout in layouts) + _A_MODEL
    room = max(1, limit.size // each)
    if room < jobs:
        about = f"each needs about {memory.shown(each)} of memory; {limit.says}"
        _log.warning("--jobs %d: %s", jobs, f"{counted(room, 'process', 'processes')}, as {about}")
    return min(jobs, room)
