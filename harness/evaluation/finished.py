"""Finished models: their answers, kept in the cache for the next run that would ask them the same.

A finished model is known by one key: the evaluation set and its files, the settings of the model
and of those that it is made of, the installed packages, Python and the platform. Its entry also
says what code it was made of, ours and others' (`harness.core.sources`): where that has changed,
the model is evaluated anew. Files that a model opens itself are not known.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.config import Config
from harness.config.models import ModelConfig
from harness.config.paths import paths_of
from harness.core import cache, plugins
from harness.core.cache import Entry
from harness.core.errors import DataError
from harness.core.given import is_given
from harness.core.progress import Clock
from harness.core.sources import (
    BESIDE,
    Record,
    Source,
    UnknownSourceError,
    changed,
    is_installed,
    look,
    origin,
    record,
)
from harness.data import loading
from harness.evaluation.answers import Answers
from harness.evaluation.build import base_models_first
from harness.models.recommendations import EMPTY, Recommendations
from harness.protocol.task import Task

Asked = tuple[list[Answers], Clock]
"""What a model answered in each repeat, and the seconds that it took."""
_FOLDER = "models"
"""Of the cache, where they lie."""
_LAST = "models.last"
"""Of the cache: a file for each model of each config, with what was kept last."""
_MOST = 10_000_000_000
"""Bytes that are kept; the models that were not used for longest go first."""


class Finished:
    """The models of a config that need not be asked, as an earlier run finished them.

    Parameters
    ----------
    config : Config
        Of one evaluation set. With ``[data] cache = false`` nothing is kept.
    fresh : bool
        Whether every model is asked anew.
    background : Executor, optional
        Where answers are written; whoever owns it waits for it. Without one nothing is kept.
    most : int
        Bytes that are kept of all configs.

    Attributes
    ----------
    answers : dict of name to function of a Task
        Returns the answers of every repeat, and the seconds that they took; raises DataError where
        they are not for its users and candidates.
    reused : container of str
        The models that have answers because an earlier run finished them.
    changed : dict of name to text
        Why others have none that an earlier run finished, such as ``its settings have changed``.
    unkept : dict of name to text
        Why what others answered is not kept for later runs.
    """

    def __init__(
        self, config: Config, *, fresh: bool, background: Executor | None, most: int = _MOST
    ) -> None:
        self.answers: dict[str, Callable[[Task], Asked]] = {}
        self.reused: Container[str] = self.answers
        self.changed: dict[str, str] = {}
        self.unkept: dict[str, str] = {}
        self._config, self._background, self._most = config, background, most
        self._entries = _entries(config) if background is not None and config.data.cache else {}
        self._first = look()
        # One thread says it where the folder is not private.
        if self._entries and not fresh and cache.is_private(cache.folder() / _FOLDER):
            with ThreadPoolExecutor() as pool:  # checksums let go of Python's lock
                kept = list(pool.map(self._read, self._entries))
            for name, answers in zip(self._entries, kept, strict=True):
                if callable(answers):
                    self.answers[name] = answers
                elif (why := answers or self._reason(name)) is not None:
                    self.changed[name] = why

    def keep(self, name: str, task: Task, answers: Sequence[Answers], clock: Clock) -> None:
        """Let a model's answers be written, unless its source is not known for certain."""
        if self._background is None or name not in self._entries:
            return
        try:
            sources = record_of(self._config, name, self._first)
        except UnknownSourceError as error:
            self.unkept[name] = str(error)
            return
        notes = {
            "sources": sources,
            "size": _size(task),
            "seconds": dict(clock.seconds),  # scoring adds to it
            "repeats": [
                {"drawn": a.drawn, "notes": a.notes, "refusal": a.refusal, "changes": a.changes}
                for a in answers
            ],
        }
        self._background.submit(self._write, name, answers, notes)

    def _write(self, name: str, answers: Sequence[Answers], notes: dict[str, Any]) -> None:
        def write(folder: Path) -> dict[str, Any]:
            for repeat, answer in enumerate(answers):
                np.save(folder / f"lists-{repeat}.npy", answer.lists.items, allow_pickle=False)
                if answer.left_out is not None:
                    path = folder / f"others-{repeat}.npy"
                    np.save(path, answer.left_out.items, allow_pickle=False)
            return notes

        try:
            why = self._entries[name].keep(write)
            if why is not None:
                self.unkept[name] = why
                return
            path, settings, files = self._last(name)
            with suppress(OSError):
                if cache.private(path.parent):
                    path.write_text(json.dumps([settings, files]), encoding="utf-8")
                if self._most:
                    most, self._most = self._most, 0  # once a run: there may be thousands of them
                    cache.make_room(cache.folder() / _FOLDER, most)
        except Exception as error:  # nobody waits for it, and the run is as good without
            self.unkept[name] = plugins.told(error)

    def _read(self, name: str) -> Callable[[Task], Asked] | str | None:
        """Return what returns a model's answers, or what of its source has changed."""

        def build(folder: Path, notes: dict[str, Any]) -> Callable[[Task], Asked] | str:
            why = changed(notes["sources"], self._config.folder)
            if why is not None:
                return why
            answers, clock, (_, candidates) = list[Answers](), Clock(), notes["size"]
            clock.seconds.update(notes["seconds"])
            for repeat, facts in enumerate(notes["repeats"]):
                path = folder / f"others-{repeat}.npy"
                answers.append(
                    Answers(
                        _load(folder / f"lists-{repeat}.npy", candidates),
                        _load(path, candidates) if path.exists() else None,
                        drawn=facts["drawn"],
                        notes=tuple(facts["notes"]),
                        refusal=facts["refusal"],
                        changes=facts["changes"],
                    )
                )
            return partial(_for_task, name, notes["size"], (answers, clock))

        return self._entries[name].read(build)

    def _reason(self, name: str) -> str | None:
        """Return why a model is not there; None where it was never kept of this config."""
        path, settings, files = self._last(name)
        try:
            last_settings, last_files = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError):
            return None
        if last_settings != settings:
            return "its settings have changed"
        if last_files != files:
            return "the data has changed"
        if self._entries[name].path.is_dir():
            return "another version of the harness kept it, or what was kept of it is damaged"
        return "the evaluation, the seed or packages have changed"

    def _last(self, name: str) -> tuple[Path, str, list[list[Any]]]:
        """Return the file for what is kept last of this model of this config, and what it holds."""
        config = self._config
        place = str(config.folder.resolve() / Path(config.file).name), config.fold, name
        path = cache.folder() / _LAST / hashlib.sha256(repr(place).encode()).hexdigest()[:32]
        settings = [_settings_of(model) for model in with_base_models(config, name)]
        return path, repr(settings), self._entries[name].files


def _size(task: Task) -> list[int]:
    return [len(task.evaluation_set.users), len(task.evaluation_set.candidates)]


def _for_task(name: str, size: list[int], answers: Asked, task: Task) -> Asked:
    """Return a finished model's answers; DataError where they are not for a task's users."""
    if _size(task) != size:
        raise DataError(
            f'model "{name}": what an earlier run kept of it is of another evaluation set; '
            "evaluate it anew: --fresh (in Python, fresh=True)"
        )
    return answers


def _load(path: Path, candidates: int) -> Recommendations:
    items: npt.NDArray[np.int32] = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    if items.dtype != np.int32 or items.ndim != 2:
        raise ValueError(f"{path}: holds no lists")
    if items.size and not (items.min() >= EMPTY and items.max() < candidates):
        raise ValueError(f"{path}: holds positions of no candidates")
    return Recommendations(items)


def _entries(config: Config) -> dict[str, Entry]:
    """Return the entry of every model of a class, unless it needs a file that is not there.

    A file of lists is read again, and an object asked again.
    """
    entries = dict[str, Entry]()
    with suppress(OSError):
        key = evaluation_key(config)
        for model in config.models:
            if model.use is not None and is_known(config, model.name):
                with suppress(OSError):
                    entries[model.name] = model_key(key, _FOLDER, config, model.name)
    return entries


def evaluation_key(config: Config, *more: object) -> Entry:
    """Return the key that all models share on the one evaluation set of a config.

    Parameters
    ----------
    more : objects
        What else their answers follow from.

    Raises
    ------
    OSError
        A file is not there.
    """
    layout, place = config.layout(), str(config.folder.resolve())
    rules = config.split.model_dump_json(), config.evaluation.model_dump_json(exclude={"metrics"})
    system = platform.platform(), sys.version, _packages()
    key = layout, config.data.least, rules, config.fold, place, system, more
    return cache.entry(key, loading.files(layout))


def model_key(evaluation: Entry, folder: str, config: Config, name: str) -> Entry:
    """Return the key of one model, in a folder of the cache.

    Parameters
    ----------
    evaluation : Entry
        What `evaluation_key` returned.

    Raises
    ------
    OSError
        A file of lists is not there.
    """
    models = with_base_models(config, name)
    lists = [config.folder / path for model in models for path in paths_of(model.lists or [])]
    parts = [(_settings_of(model), _place_of(model.use, config.folder)) for model in models]
    return evaluation.part(folder, parts, lists)


def _settings_of(model: ModelConfig) -> tuple[str, list[tuple[str, str]]]:
    """Return a model's settings, its parameters as Python writes them: JSON has no inf or date."""
    params = sorted((name, repr(value)) for name, value in model.params.items())
    return model.model_dump_json(exclude={"space", "tuned", "params"}), params


def _place_of(use: str | None, folder: Path) -> str:
    """Return where the module of a class lies: a file beside the config comes before others."""
    module = (use or "").rpartition(":")[0]
    beside = plugins.file_of(module, folder)
    return str(beside.resolve()) if beside.is_file() else origin(module.partition(".")[0])


def is_known(config: Config, name: str) -> bool:
    """Return whether it is known what a model is: no object or frame of a program has an identity.

    Nor has what is made of one.
    """
    models = with_base_models(config, name)
    names = [use for model in models for use in (model.use, *paths_of(model.lists or [])) if use]
    return not any(map(is_given, names))


def with_base_models(config: Config, name: str) -> list[ModelConfig]:
    """Return the settings of a model and of those that it is made of."""
    settings = {model.name: model for model in config.models}
    return [settings[part] for part in sorted({*base_models_first(settings, [name]), name})]


def record_of(config: Config, name: str, first: Mapping[str, Source]) -> Record:
    """Return the record of the source of a model, whose classes are imported; raises as `record`.

    Of the files beside configs those of the model count, of other modules all. Installed classes
    and ours are made of nothing that is not in the key.
    """
    uses = [model.use for model in with_base_models(config, name) if model.use is not None]
    modules = {use.rpartition(":")[0] for use in uses}
    beside = {str(plugins.file_of(module, config.folder).resolve()) for module in modules}
    sources = {
        module: source
        for module, source in look().items()
        if source.file in beside or not module.startswith(BESIDE)
    }
    own = any(source.file in beside or module in modules for module, source in sources.items())
    return record(sources, first, config.folder) if own else {}


def _packages() -> list[tuple[str, int]]:
    """Return the installed packages with their versions, and when each was installed.

    Their folders are named after their versions, and are made anew when one is installed again.
    """
    packages = set[tuple[str, int]]()
    for path in map(Path, sys.path):
        if is_installed(path.parent):  # a package's own, there once the package is imported
            continue
        with suppress(OSError):
            for folder in path.iterdir():
                if folder.suffix in (".dist-info", ".egg-info"):
                    packages.add((folder.name, folder.stat().st_mtime_ns))
    return sorted(packages)
