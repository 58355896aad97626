"""Finished models: their answers, kept in the cache for the next run that would ask them the same.

A model is the same only if everything that its lists follow from is: the files of the data, layout,
split and rules of the evaluation, the seed, the model's class, parameters and repeats, those of its
base models, the source of every module that its classes' own folders or packages had imported, and
the installed packages. Files that a model opens itself are not known; `fresh` asks it anew.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.config import Config
from harness.config.paths import paths_of
from harness.core import cache, plugins
from harness.core.cache import Entry
from harness.core.errors import DataError
from harness.core.progress import Clock
from harness.data import loading
from harness.experiment.answers import Answers
from harness.experiment.build import base_models_first
from harness.models.recommendations import EMPTY, Recommendations
from harness.protocol.task import Task

FORMAT = 1
"""Raised whenever the same model would answer otherwise, or is kept otherwise."""
_FOLDER = "models"
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
        Of other models the file whose source has changed, where that is why they are not there.
    """

    def __init__(self) -> None:
        self.found: dict[str, Callable[[Task], tuple[list[Answers], Clock]]] = {}
        self.changed: dict[str, str] = {}

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
    """

    def __init__(self, config: Config, *, fresh: bool, background: Executor) -> None:
        self._config, self._background, self._started = config, background, time.time_ns()
        super().__init__()
        self._sources: dict[str, dict[str, str]] = {}
        self._entries: dict[str, Entry] = {}
        if config.data.cache:
            self._sources = _sources(config)
            self._entries = dict(_entries(config))
        if not fresh and cache.is_private(cache.folder() / _FOLDER):  # one thread says it if not
            self._take()

    @property
    def reused(self) -> Container[str]:
        """All that were found."""
        return self.found

    def keep(self, name: str, task: Task, answers: Sequence[Answers], clock: Clock) -> None:
        """Let a model's answers be written, unless its modules are not those that were imported."""
        if name not in self._entries:
            return
        sources, modules = self._sources[name], _modules(*_places(self._config, name))
        late = {str(p): p for p in modules if str(p) not in sources}
        if any(path.stat().st_mtime_ns > self._started for path in late.values()):
            return
        notes = {
            "sources": sources | _digests(late.values()),
            "candidates": len(task.evaluation_set.candidates),
            "users": len(task.evaluation_set.users),
            "seconds": clock.seconds,
            "repeats": [_told(answer) for answer in answers],
        }
        self._background.submit(_keep, self._entries[name], answers, notes)

    def _take(self) -> None:
        """Take what is kept of the models that are the same."""
        with ThreadPoolExecutor() as pool:  # checksums let go of Python's lock
            several = list(pool.map(_taken, self._entries.values()))
        for name, taken in zip(self._entries, several, strict=True):
            if isinstance(taken, str):
                self.changed[name] = taken
            elif taken is not None:
                self.found[name] = partial(taken.of, name)


def _taken(entry: Entry) -> Taken | str | None:
    """Return a model's answers, or the file because of whose source they are not the same."""

    def build(folder: Path, notes: dict[str, Any]) -> Taken | str:
        for path, digest in notes["sources"].items():
            if _digest(Path(path)) != digest:
                return Path(path).name
        return Taken.read(folder, notes)

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
            odd = tuple(told["notes"])
            found.append(Answers(lists, beyond, told["drawn"], odd, told["refusal"]))
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


def _told(answer: Answers) -> dict[str, Any]:
    """Return what a repeat answered beside its lists."""
    return {
        "drawn": answer.drawn,
        "notes": answer.notes,
        "refusal": answer.refusal,
        "others": answer.others is not None,
    }


def _keep(entry: Entry, answers: Sequence[Answers], notes: dict[str, Any]) -> None:
    def write(folder: Path) -> dict[str, Any]:
        for repeat, answer in enumerate(answers):
            np.save(folder / f"lists-{repeat}.npy", answer.lists.items, allow_pickle=False)
            if answer.others is not None:
                np.save(folder / f"others-{repeat}.npy", answer.others.items, allow_pickle=False)
        return notes

    if entry.settled:
        entry.keep(write)
        _make_room(entry.path.parent)


def _make_room(folder: Path) -> None:
    """Remove the models that were not used for longest, until the others are few enough."""
    with suppress(OSError):
        kept = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        total = 0
        for path in kept:
            total += sum(file.stat().st_size for file in path.iterdir())
            if total > _MOST:
                shutil.rmtree(path, ignore_errors=True)


def _asked(config: Config) -> Iterator[str]:
    """Yield the models of a class; a file of lists is read again."""
    return (model.name for model in config.models if model.use is not None)


def _entries(config: Config) -> Iterator[tuple[str, Entry]]:
    """Yield the cache's entry of every model, named by all that does not lie in files."""
    layout = config.layout()
    files = loading.files(layout)
    shared = (
        FORMAT,
        loading.FORMAT,
        layout,
        config.data.least,
        config.split.model_dump_json(),
        config.evaluation.model_dump_json(exclude={"metrics"}),
        config.fold,
        platform.platform(),
        sys.version,
        _packages(),
    )
    for name in _asked(config):
        parts = _with_base_models(config, name)
        lists = [config.folder / path for one in parts for path in paths_of(one.lists or [])]
        told = [one.model_dump_json(exclude={"space", "tuned"}) for one in parts]
        with suppress(OSError):  # a file that is not there is told by whoever reads it
            entry = cache.entry((shared, str(config.folder.resolve()), told), [*files, *lists])
            yield name, replace(entry, path=entry.path.parent / _FOLDER / entry.path.name)


def _with_base_models(config: Config, name: str) -> list[Any]:
    settings = {model.name: model for model in config.models}
    return [settings[part] for part in sorted({*base_models_first(settings, [name]), name})]


def _packages() -> list[str]:
    """Return the installed packages with their versions, as their folders are named."""
    found = set[str]()
    for path in sys.path:
        with suppress(OSError):
            names = [one.name for one in Path(path or ".").iterdir()]
            found.update(n for n in names if n.endswith((".dist-info", ".egg-info")))
    return sorted(found)


def _sources(config: Config) -> dict[str, dict[str, str]]:
    """Return the digests of every model's modules; many models have the same."""
    places = {name: _places(config, name) for name in _asked(config)}
    known = {own: _digests(_modules(*own)) for own in set(places.values())}
    return {name: known[own] for name, own in places.items()}


def _places(config: Config, name: str) -> tuple[frozenset[Path], frozenset[str]]:
    """Return the folders and packages of a model's classes."""
    folders, packages = set[Path](), set[str]()
    for part in _with_base_models(config, name):
        module = str(part.use or "").rpartition(":")[0]
        beside = plugins.file_of(module, config.folder)
        if module and beside.is_file():
            folders |= {config.folder.resolve(), beside.resolve().parent}
        elif module:
            packages.add(module.partition(".")[0])
    return frozenset(folders), frozenset(packages)


def _modules(folders: Set[Path], packages: Set[str]) -> list[Path]:
    """Return the files of what is imported from some folders and packages."""
    return sorted(set(_imported(folders, packages)))


def _imported(folders: Set[Path], packages: Set[str]) -> Iterator[Path]:
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__dict__", {}).get("__file__")  # asked otherwise, some import more
        if not isinstance(file, str):
            continue
        own = name.partition(".")[0] in packages
        path = Path(file).resolve() if own or folders else Path()
        beside = any(folder in path.parents for folder in folders) and not _installed(path)
        if (own or beside) and path.is_file():
            yield path


def _installed(path: Path) -> bool:
    """Return whether a file is of an installed package, whose version is known."""
    return "site-packages" in path.parts or "dist-packages" in path.parts


def _digests(paths: Iterable[Path]) -> dict[str, str]:
    return {str(path): _digest(path) for path in paths}


def _digest(path: Path) -> str:
    with suppress(OSError):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""
