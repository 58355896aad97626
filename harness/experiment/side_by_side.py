"""Models evaluated side by side: some by this process, others by workers that make the same task.

A worker reads the same files, and a model's lists follow from task, parameters and seed alone; so
they are the same lists, whoever asks for them.
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from harness.config import Config, ModelConfig, parse
from harness.core import cache
from harness.core.errors import DataError, RecommenderError, UsageError, counted
from harness.core.processes import Answer
from harness.core.progress import Clock
from harness.core.sharing import Work, Workers
from harness.data import loading
from harness.data.layout import Layout
from harness.experiment import finished, memory
from harness.experiment.answers import Answers
from harness.experiment.build import only
from harness.experiment.memory import Limit
from harness.experiment.sources import OneSource
from harness.models.recommendations import Recommendations
from harness.protocol.evaluation_set import EvaluationSet

_log = logging.getLogger(__name__)

WORKER = "harness.experiment.worker"
_A_MODEL = 1_500_000_000
"""Bytes that a model and the scores of a batch of users may hold beside the events."""

R = TypeVar("R")

Asked = tuple[list[Answers], Clock]
"""What a model answered in each repeat, and the seconds that it took."""


class SideBySide:
    """The models of a run, of which some are evaluated by workers.

    Parameters
    ----------
    config : Config
        With all folds.
    workers : Workers
        Of the module `WORKER`.

    Attributes
    ----------
    ready : function
        Returns when the files can be read by others, too: when the cache is written.
    """

    def __init__(self, config: Config, workers: Workers) -> None:
        self._config, self._workers = _of_files(config), workers
        folds = config.folds() if workers.count else ()
        self._stamps = [stamps_of(fold.layout()) for fold in folds]
        self._source = source_of(self._config) if workers.count else None
        self.ready: Callable[[], object] = lambda: None

    def answers(
        self,
        models: Sequence[ModelConfig],
        fold: int,
        evaluation_set: EvaluationSet,
        here: Callable[[ModelConfig], Asked],
        unkept: dict[str, str],
    ) -> Iterator[tuple[ModelConfig, Callable[[], Asked]]]:
        """Yield models with what returns their answers, or raises, as soon as they can be asked.

        Parameters
        ----------
        fold : int
            From 0.
        here : function of a model's settings
            Asks it in this process.
        unkept : dict of name to text
            To which is added why workers do not keep what models answered.
        """

        def data() -> dict[str, Any]:  # the fingerprint is looked at where there is a worker
            return {"stamps": self._stamps[fold], "fingerprint": evaluation_set.fingerprint}

        accept = partial(refuse_other, data, self._source)

        def own(model: ModelConfig) -> Asked:
            return with_same_source(self._source, model.name, partial(here, model))

        received = partial(_answered, unkept)
        work = Work(partial(self._of_fold, fold), accept, _request, received, own, _lost)
        there = {model.name for model in self._config.models}
        asked = sorted(units(models), key=lambda unit: unit[0].name in there)
        mine = sum(unit[0].name not in there for unit in asked)
        return self._workers.share(asked, work, mine)

    def _of_fold(self, fold: int) -> dict[str, Any]:
        self.ready()
        return sent(self._config) | {"fold": fold}


def _of_files(config: Config) -> Config:
    """Return a config of the models that other processes have, too; all, where they have none.

    A unit is theirs as a whole, or not at all.
    """
    given = {m.name for m in config.models if not finished.is_known(config, m.name)}
    if not given:
        return config
    names = [one.name for u in units(config.models) if not given & {m.name for m in u} for one in u]
    return only(config, names)


def sent(config: Config) -> dict[str, Any]:
    """Return a config as a worker is told it."""
    import tomli_w

    values = config.model_dump(exclude_unset=True, exclude_none=True)
    return {"config": tomli_w.dumps(values), "folder": str(config.folder), "file": config.file}


def received(config: str, folder: str, file: str) -> Config:
    """Return the config that was `sent`."""
    return parse(tomllib.loads(config), Path(folder), file)


def source_of(config: Config) -> OneSource:
    """Return the source of a config's classes, imported already."""
    return OneSource()


def refuse_other(
    data: Callable[[], Mapping[str, Any]], source: OneSource | None, answer: Answer
) -> None:
    """Raise DataError where a worker has imported other code than this process, or others.

    Or where it says first what `data` it has found, and that is other than this process has.
    """
    told = answer.told
    if source is not None:
        source.refuse_other(told["code"])
    if "stamps" in told and any(told[what] != own for what, own in data().items()):
        raise DataError("finds other data: its files have changed since they were read")


def with_same_source(source: OneSource | None, name: str, ask: Callable[[], R]) -> R:
    """Return what a model answers this process, if by the code that all processes have."""
    found = ask()
    if source is not None:
        source.require_same(name)
    return found


def silence() -> None:
    """Let a worker log nothing: the process that asks says the same."""
    logger = logging.getLogger("harness")
    logger.propagate = False
    logger.addHandler(logging.NullHandler())


def _request(model: ModelConfig) -> dict[str, Any]:
    return {"model": model.name}


def _lost(model: ModelConfig, how: str) -> Asked:
    raise RecommenderError(f'model "{model.name}" ended its process, which {how}')


def _answered(unkept: dict[str, str], answer: Answer) -> Asked:
    """Return what a worker found."""
    unkept.update(answer.told["unkept"])
    arrays, found, clock = iter(answer.arrays), list[Answers](), Clock()
    clock.seconds.update(answer.told["seconds"])
    for told in answer.told["repeats"]:
        lists = Recommendations(next(arrays))
        others = Recommendations(next(arrays)) if told["others"] else None
        found.append(Answers.of(told, lists, others))
    return found, clock


def units(models: Sequence[ModelConfig]) -> list[list[ModelConfig]]:
    """Return the models, those together that are made of one another: these learn once.

    Examples
    --------
    A blend of a and c, beside b:

    >>> given = [{"name": n, "use": "m:M"} for n in "abc"]
    >>> given += [{"name": "blend", "use": "m:M", "of": ["a", "c"]}]
    >>> found = units([ModelConfig.model_validate(one) for one in given])
    >>> [[model.name for model in unit] for unit in found]
    [['a', 'c', 'blend'], ['b']]
    """
    group = {model.name: {model.name} for model in models}
    for model in models:
        for base in (*model.base_models, model.name):
            joined = group[model.name] | group.get(base, {base})
            group |= dict.fromkeys(joined, joined)
    found: dict[frozenset[str], list[ModelConfig]] = {}
    for model in models:
        found.setdefault(frozenset(group[model.name]), []).append(model)
    return list(found.values())


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
