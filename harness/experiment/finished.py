"""Finished models: their answers, kept in the cache for the next run that would ask them the same.

What makes a model the same is said in `identity`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.config import Config
from harness.core import cache
from harness.core.cache import Entry
from harness.core.errors import DataError
from harness.core.progress import Clock
from harness.experiment.answers import Answers
from harness.experiment.identity import common, described, is_known, of_model, uses
from harness.experiment.sources import Sources, UnknownSourceError, sources_of
from harness.models.recommendations import EMPTY, Recommendations
from harness.protocol.task import Task

FOLDER = "models"
"""Of the cache, where they lie."""
_LAST = "models.last"
"""Of the cache: a file for each model of each config, with the name of the entry kept last."""
_MOST = 10_000_000_000
"""Bytes that are kept; the models that were not used for longest go first."""


class KnownModels:
    """Models whose answers are there already.

    Attributes
    ----------
    found : dict of name to function of a Task
        Returns the answers of every repeat, and the seconds that they took; raises DataError where
        they are not for its users and candidates.
    changed : dict of name to text
        Why others are not there that are there of an earlier run, such as ``its settings have
        changed``.
    unkept : dict of name to text
        Why what others answered is not kept for later runs.
    """

    def __init__(self) -> None:
        self.found: dict[str, Callable[[Task], tuple[list[Answers], Clock]]] = {}
        self.changed: dict[str, str] = {}
        self.unkept: dict[str, str] = {}

    @property
    def reused(self) -> Container[str]:
        """The models that are there because an earlier run finished them."""
        return ()

    def keep(self, name: str, task: Task, answers: Sequence[Answers], clock: Clock) -> None:
        """Keep what another model answered, where there is a place."""


class Finished(KnownModels):
    """The models of a config that earlier runs finished.

    Parameters
    ----------
    config : Config
        Of one evaluation set. With ``[data] cache = false`` nothing is kept.
    fresh : bool
        Whether every model is asked anew.
    background : Executor
        Where answers are written; whoever owns it waits for it.
    most : int
        Bytes that are kept of all configs.
    """

    def __init__(
        self, config: Config, *, fresh: bool, background: Executor, most: int = _MOST
    ) -> None:
        super().__init__()
        self._most = most
        self._config, self._background = config, background
        self._sources: dict[str, Sources] = {}
        self._entries: dict[str, Entry] = {}
        if config.data.cache:
            self._sources = sources_of({n: uses(config, n) for n in _asked(config)}, config)
            self._entries = _entries(config)
        if not fresh and cache.is_private(cache.folder() / FOLDER):  # one thread says it if not
            self._take()

    @property
    def reused(self) -> Container[str]:
        """All that were found."""
        return self.found

    def keep(self, name: str, task: Task, answers: Sequence[Answers], clock: Clock) -> None:
        """Let a model's answers be written, unless its source is not known for certain."""
        if name not in self._entries:
            return
        try:
            sources = self._sources[name].known()
        except UnknownSourceError as error:
            self.unkept[name] = str(error)
            return
        notes = {
            "sources": sources,
            "candidates": len(task.evaluation_set.candidates),
            "users": len(task.evaluation_set.users),
            "described": described(task.config, name),
            "seconds": clock.seconds,
            "repeats": [answer.told for answer in answers],
        }
        self._background.submit(self._write, name, answers, notes)

    def _write(self, name: str, answers: Sequence[Answers], notes: dict[str, Any]) -> None:
        entry = self._entries[name]
        why = _keep(entry, answers, notes)
        if why is not None:
            self.unkept[name] = why
            return
        cache.make_room_for(entry.path, self._most)
        with suppress(OSError):
            last = self._last(name)
            if cache.private(last.parent) is not None:
                last.write_text(entry.path.name, encoding="ascii")

    def _take(self) -> None:
        """Take what is kept of the models that are the same."""
        if not self._entries:
            return
        with ThreadPoolExecutor() as pool:  # checksums let go of Python's lock
            given = [(entry, self._sources[name]) for name, entry in self._entries.items()]
            several = list(pool.map(_taken, *zip(*given, strict=True)))
        for name, taken in zip(self._entries, several, strict=True):
            if isinstance(taken, str):
                self.changed[name] = taken
            elif taken is not None:
                self.found[name] = partial(taken.of, name)
        for name in sorted(self._entries.keys() - self.found.keys() - self.changed.keys()):
            self._explain(name)

    def _explain(self, name: str) -> None:
        """Say why a model is not there, if it was ever kept of this config."""
        entry, last = self._entries[name], None
        with suppress(OSError, ValueError):
            kept = self._last(name).read_text(encoding="ascii")
            last = cache.notes_of(entry.path.with_name(kept))
        same_files = last is not None and last["files"] == entry.files
        if entry.path.is_dir() and (same_files or cache.notes_of(entry.path) is None):
            self.changed[name] = "what was kept of it is damaged"
        elif last is None:
            return
        elif last["described"] != described(self._config, name):
            self.changed[name] = "its settings have changed"
        elif not same_files:
            self.changed[name] = "the data has changed"
        else:
            self.changed[name] = "the evaluation, the seed, our code or packages have changed"

    def _last(self, name: str) -> Path:
        """Return the file that says which entry of this model of this config was kept last."""
        config = self._config
        place = str(config.folder.resolve() / Path(config.file).name), config.fold, name
        digest = hashlib.sha256(repr(place).encode()).hexdigest()[:32]
        return cache.folder() / _LAST / digest


def _taken(entry: Entry, sources: Sources) -> Taken | str | None:
    """Return a model's answers, or what of its source is not the same."""

    def build(folder: Path, notes: dict[str, Any]) -> Taken | str:
        return sources.other_than(notes["sources"]) or Taken.read(folder, notes)

    found = entry.read(build)
    if isinstance(found, Taken):
        with suppress(OSError):
            os.utime(entry.path)
    return found


class Taken:
    """A finished model's answers.

    Attributes
    ----------
    answers : list of Answers, one a repeat
    clock : Clock
        What they took when they were asked for.
    """

    def __init__(self, answers: list[Answers], notes: Mapping[str, Any]) -> None:
        self.answers, self.clock = answers, Clock()
        self.clock.seconds.update(notes["seconds"])
        self._of = notes["users"], notes["candidates"]

    @classmethod
    def read(cls, folder: Path, notes: Mapping[str, Any]) -> Taken:
        """Return the answers in a folder; ValueError where they are none."""
        found = []
        for repeat, told in enumerate(notes["repeats"]):
            lists = _load(folder / f"lists-{repeat}.npy", notes["candidates"])
            others = folder / f"others-{repeat}.npy"
            beyond = _load(others, notes["candidates"]) if told["others"] else None
            found.append(Answers.of(told, lists, beyond))
        return cls(found, notes)

    def of(self, name: str, task: Task) -> tuple[list[Answers], Clock]:
        """Return the answers, and the seconds that they took.

        Raises
        ------
        DataError
            They are not for the users and candidates of a task.
        """
        of = task.evaluation_set
        if self._of != (len(of.users), len(of.candidates)):
            raise DataError(
                f'model "{name}": what an earlier run kept of it is of another evaluation set; '
                "evaluate it anew: --fresh (in Python, fresh=True)"
            )
        return self.answers, self.clock


def _load(path: Path, candidates: int) -> Recommendations:
    items: npt.NDArray[np.int32] = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    if items.dtype != np.int32 or items.ndim != 2:
        raise ValueError(f"{path}: holds no lists")
    if items.size and not (items.min() >= EMPTY and items.max() < candidates):
        raise ValueError(f"{path}: holds positions of no candidates")
    return Recommendations(items)


def _keep(entry: Entry, answers: Sequence[Answers], notes: dict[str, Any]) -> str | None:
    """Write a model's answers; return why they are not kept, None where they are."""

    def write(folder: Path) -> dict[str, Any]:
        for repeat, answer in enumerate(answers):
            np.save(folder / f"lists-{repeat}.npy", answer.lists.items, allow_pickle=False)
            if answer.others is not None:
                np.save(folder / f"others-{repeat}.npy", answer.others.items, allow_pickle=False)
        return notes

    return entry.keep_settled(write)


def _asked(config: Config) -> Iterator[str]:
    """Yield the models of a class; a file of lists is read again, and an object asked again."""
    named = (model.name for model in config.models if model.use is not None)
    return (name for name in named if is_known(config, name))


def _entries(config: Config) -> dict[str, Entry]:
    """Return the cache's entry of every model; none of one that needs a file which is not there."""
    found = dict[str, Entry]()
    with suppress(OSError):
        shared = common(config)
        for name in _asked(config):
            with suppress(OSError):
                found[name] = of_model(shared, FOLDER, config, name)
    return found
