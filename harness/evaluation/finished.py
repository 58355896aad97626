"""What is kept of a config's models in the cache for the next command that asks them the same."""

from __future__ import annotations

import logging
import platform
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from harness.config import Config, ModelConfig
from harness.config.paths import paths_of
from harness.core import cache, plugins, sources
from harness.core.errors import DataError, printable
from harness.core.given import is_given
from harness.data import loading
from harness.evaluation.answers import Answers
from harness.evaluation.build import base_models_first
from harness.models.recommendations import Recommendations
from harness.protocol.task import Task

_log = logging.getLogger(__name__)

T = TypeVar("T")
Asked = tuple[list[Answers], Mapping[str, float], str | None]
"""Answers of each repeat, the seconds of each step, and why a worker does not keep them."""
_FOLDER = "models"  # of the cache, where finished models lie
_MOST = 10_000_000_000  # bytes that are kept; the models that were not used for longest go first


class Finished:
    """The models of a config that need not be asked, as an earlier run finished them.

    `answers` of a model take a task, and raise DataError where they are not for its users and
    candidates. `reused` are the models that an earlier run finished, `kept` those that can be known
    again. Without `background`, where answers are written, nothing is kept.
    """

    def __init__(
        self, config: Config, *, fresh: bool, background: Executor | None, most: int = _MOST
    ) -> None:
        self.answers: dict[str, Callable[[Task], Asked]] = {}
        self.reused: Container[str] = self.answers
        self._background, self.kept = background, dict[str, Kept]()
        if background is None or not config.data.cache:
            return
        evaluation = evaluation_key(config)
        for model in config.models:
            if model.use is not None and is_known(config, model.name):  # lists are read again
                self.kept[model.name] = Kept(config, model.name, evaluation, _FOLDER)
        if not self.kept:
            return
        folder = cache.folder() / _FOLDER
        for name, kept in self.kept.items() if not fresh else ():
            answer = kept.read(partial(_read, name))
            if answer is not None:
                self.answers[name] = answer
        cache.make_room(folder, most)

    @property
    def unkept(self) -> dict[str, str]:
        """Why what a model answered is not kept for later runs."""
        return {name: kept.unkept for name, kept in self.kept.items() if kept.unkept}

    def keep(
        self, name: str, task: Task, answers: Sequence[Answers], seconds: Mapping[str, float]
    ) -> None:
        """Let a model's answers be written, unless its source is not known for certain."""
        if self._background is not None and name in self.kept:
            # Copied, as scoring adds to the seconds.
            write = partial(_write, _size(task), dict(seconds), answers)
            self._background.submit(self.kept[name].keep, write)


def _write(
    size: list[int], seconds: dict[str, float], answers: Sequence[Answers], folder: Path
) -> dict[str, Any]:
    for repeat, answer in enumerate(answers):
        np.save(folder / f"lists-{repeat}.npy", answer.lists.items, allow_pickle=False)
        if answer.left_out is not None:
            np.save(folder / f"others-{repeat}.npy", answer.left_out.items, allow_pickle=False)
    repeats = [
        {"drawn": answer.drawn, "refusal": answer.refusal, "changes": answer.changes}
        for answer in answers  # files of lists, which have notes, are read again
    ]
    return {"size": size, "seconds": seconds, "repeats": repeats}


def _read(name: str, folder: Path, notes: dict[str, Any]) -> Callable[[Task], Asked]:
    """Return what returns the answers that `_write` wrote, for a task."""
    answers = list[Answers]()
    for repeat, facts in enumerate(notes["repeats"]):
        lists = Recommendations(np.load(folder / f"lists-{repeat}.npy", mmap_mode="r"))
        path, left_out = folder / f"others-{repeat}.npy", None
        if path.exists():
            left_out = Recommendations(np.load(path, mmap_mode="r"))
        answers.append(Answers(lists, left_out, **facts))

    def of_task(task: Task) -> Asked:
        if _size(task) != notes["size"]:
            raise DataError(
                f'model "{name}": the kept lists of an earlier run are from another evaluation '
                "set; evaluate it again with --fresh (in Python, fresh=True)"
            )
        return answers, notes["seconds"], None

    return of_task


def _size(task: Task) -> list[int]:
    return [len(task.evaluation_set.users), len(task.evaluation_set.candidates)]


class Kept:
    """What is kept of one model in a folder of the cache, or why nothing is (`unkept`).

    Its key is made of the evaluation set and its files, the settings of the model and of its base
    models, the installed packages, Python and the platform. Files that a model opens are not known.
    """

    def __init__(self, config: Config, name: str, evaluation: cache.Entry, folder: str) -> None:
        self.config, self.name = config, name
        self._entry = model_key(evaluation, folder, config, name)
        self.unkept: str | None = None

    def read(self, build: Callable[[Path, dict[str, Any]], T]) -> T | None:
        """Return what `build` makes of the folder and its notes, None if there is none to trust."""

        def build_unchanged(folder: Path, notes: dict[str, Any]) -> T | None:
            changed = sources.changed(notes["sources"], self.config.folder)
            if changed is None:
                return build(folder, notes)
            _log.info("%s is evaluated again: %s", printable(self.name), printable(changed))
            return None

        return self._entry.read(build_unchanged)

    def keep(self, write: Callable[[Path], dict[str, Any]]) -> None:
        """Let `write` fill the folder and return notes, unless it is not certain what was run."""
        try:
            record = _record(self.config, self.name)
            self.unkept = self._entry.keep(lambda folder: {**write(folder), "sources": record})
        except sources.UnknownSourceError as error:
            self.unkept = str(error)
        except Exception as error:  # nobody waits for it, so it is told at the end of the run
            self.unkept = plugins.told(error)


def evaluation_key(config: Config, *more: object) -> cache.Entry:
    """Return the key that all models share on one evaluation set; `more` is what else they do."""
    layout, place = config.layout(), str(config.folder.resolve())
    rules = config.split.model_dump_json(), config.evaluation.model_dump_json(exclude={"metrics"})
    system = platform.platform(), sys.version, _packages()
    key = layout, config.data.least, rules, config.fold, place, system, more
    return cache.entry(key, loading.files(layout))


def model_key(evaluation: cache.Entry, folder: str, config: Config, name: str) -> cache.Entry:
    """Return the key of one model on an evaluation set, in a folder of the cache."""
    parts, lists = list[Any](), list[Path]()
    for model in _with_base_models(config, name):
        settings = model.model_dump_json(exclude={"space", "tuned", "params"})
        # As Python writes them: JSON has no inf or date.
        params = sorted((name, repr(value)) for name, value in model.params.items())
        module = (model.use or "").rpartition(":")[0]
        place = plugins.file_of(module, config.folder)  # comes before what is installed
        is_beside, package = place.is_file(), module.partition(".")[0]
        origin = str(place.resolve()) if is_beside else sources.origin(package)
        parts.append(((settings, params), origin))
        lists += [config.folder / path for path in paths_of(model.lists or [])]
    return evaluation.part(folder, parts, lists)


def is_known(config: Config, name: str) -> bool:
    """Return whether a model can be known again: it is made of no object or frame of a program."""
    models = _with_base_models(config, name)
    names = [use for model in models for use in (model.use, *paths_of(model.lists or [])) if use]
    return not any(map(is_given, names))


def _with_base_models(config: Config, name: str) -> list[ModelConfig]:
    return [config.by_name[part] for part in sorted(base_models_first(config, [name]))]


def _record(config: Config, name: str) -> sources.Record:
    """Return the record of the source of a model, whose classes are imported."""
    # Of files beside configs those of the model count, of other modules all. What installed
    # classes and ours are made of is in the key.
    uses = [model.use for model in _with_base_models(config, name) if model.use is not None]
    modules = {use.rpartition(":")[0] for use in uses}
    beside = {plugins.file_of(module, config.folder).resolve() for module in modules}
    files = {
        module: file
        for module, file in sources.files().items()
        if file in beside or not module.startswith(sources.BESIDE)
    }
    is_own = any(file in beside or module in modules for module, file in files.items())
    return sources.record(files, config.folder) if is_own else {}


def _packages() -> list[tuple[str, int]]:
    """Return the installed packages with their versions, and when each was installed."""
    packages = set[tuple[str, int]]()
    for path in map(Path, sys.path):
        if sources.is_installed(path.parent):  # a package's own, there once the package is imported
            continue
        with suppress(OSError):
            for folder in path.iterdir():
                if folder.suffix in (".dist-info", ".egg-info"):
                    packages.add((folder.name, folder.stat().st_mtime_ns))
    return sorted(packages)
