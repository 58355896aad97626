"""What a model's answers follow from: a model is the same only where all of it is.

These are the files of the data, layout, split and rules of the evaluation, the seed, the model's
class, parameters and repeats, those of its base models, the source of every module that its
classes' own folders or packages had imported, and the installed packages. Files that a model opens
itself are not known.
"""

from __future__ import annotations

import hashlib
import platform
import sys
import time
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from pathlib import Path

from harness.config import Config
from harness.config.models import ModelConfig
from harness.config.paths import paths_of
from harness.core import cache, plugins
from harness.core.cache import Entry
from harness.data import loading
from harness.experiment.build import base_models_first

FORMAT = 1
"""Raised whenever the same model would answer otherwise, or is kept otherwise."""


def common(config: Config, *more: object) -> Entry:
    """Return the cache's entry of what all models of a config follow from, beside their own.

    Parameters
    ----------
    config : Config
        Of one evaluation set.
    more : objects
        What else they follow from.

    Raises
    ------
    OSError
        A file is not there.
    """
    layout = config.layout()
    known = (
        FORMAT,
        loading.FORMAT,
        layout,
        config.data.least,
        config.split.model_dump_json(),
        config.evaluation.model_dump_json(exclude={"metrics"}),
        config.fold,
        str(config.folder.resolve()),
        platform.platform(),
        sys.version,
        _packages(),
        more,
    )
    return cache.entry(known, loading.files(layout))


def of_model(shared: Entry, folder: str, config: Config, name: str) -> Entry:
    """Return the entry of one model, in a folder of the cache.

    Parameters
    ----------
    shared : Entry
        What `common` returned.

    Raises
    ------
    OSError
        A file of lists is not there.
    """
    parts = _with_base_models(config, name)
    lists = [config.folder / path for one in parts for path in paths_of(one.lists or [])]
    return shared.part(folder, [_told(one) for one in parts], lists)


def described(config: Config, name: str) -> str:
    """Return what a model is, whatever the data: its settings and those of its base models."""
    return repr([_told(one) for one in _with_base_models(config, name)])


def _told(model: ModelConfig) -> tuple[str, list[tuple[str, str]]]:
    """Return a model's settings, its parameters as Python writes them: JSON has no inf or date."""
    params = sorted((name, repr(value)) for name, value in model.params.items())
    return model.model_dump_json(exclude={"space", "tuned", "params"}), params


def uses(config: Config, name: str) -> list[str]:
    """Return the import paths of a model and of those that it is made of."""
    return [one.use for one in _with_base_models(config, name) if one.use is not None]


def _with_base_models(config: Config, name: str) -> list[ModelConfig]:
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


class Sources:
    """The source of what is imported from some folders and packages, when it is made."""

    def __init__(self, folders: Set[Path], packages: Set[str]) -> None:
        self._started = time.time_ns()
        self._folders, self._packages = folders, packages
        self._looked_at: dict[tuple[str, str], Path | None] = {}
        self._first = _digests(self._modules())

    def known(self) -> dict[str, str] | None:
        """Return the digest of every file, also of those imported since; None where one is unsure.

        A file that was written meanwhile may not be what was imported.
        """
        now = _digests(self._modules())
        late = [Path(path) for path in now if path not in self._first]
        if any(path.stat().st_mtime_ns > self._started for path in late):
            return None
        return now if self._first.items() <= now.items() else None

    def _modules(self) -> list[Path]:
        """Return the files of theirs that are imported; each module is looked at once."""
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__dict__", {}).get("__file__")  # else some import
            if isinstance(file, str) and (name, file) not in self._looked_at:
                self._looked_at[name, file] = self._own(name, file)
        return sorted({path for path in self._looked_at.values() if path is not None})

    def _own(self, name: str, file: str) -> Path | None:
        own = name.partition(".")[0] in self._packages
        path = Path(file).resolve() if own or self._folders else Path()
        beside = any(folder in path.parents for folder in self._folders) and not _installed(path)
        return path if (own or beside) and path.is_file() else None


def sources_of(named: Mapping[str, Iterable[str]], config: Config) -> dict[str, Sources]:
    """Return the source of the folders and packages of import paths, digested once for all alike.

    Parameters
    ----------
    named : mapping of name to import paths
        ``module:name``, which are imported already.
    config : Config
        Beside which their files may lie.
    """
    places = {name: _places(of, config.folder) for name, of in named.items()}
    known = {own: Sources(*own) for own in set(places.values())}
    return {name: known[own] for name, own in places.items()}


def _places(uses: Iterable[str], folder: Path) -> tuple[frozenset[Path], frozenset[str]]:
    folders, packages = set[Path](), set[str]()
    for module in filter(None, (use.rpartition(":")[0] for use in uses)):
        beside = plugins.file_of(module, folder)
        if beside.is_file():
            folders |= {folder.resolve(), beside.resolve().parent}
        else:
            packages.add(module.partition(".")[0])
    return frozenset(folders), frozenset(packages)


def changed(digests: Mapping[str, str]) -> str | None:
    """Return the name of a source file that no longer has its digest, None where all have it."""
    return next((Path(p).name for p, own in digests.items() if _digest(Path(p)) != own), None)


def _installed(path: Path) -> bool:
    """Return whether a file is of an installed package, whose version is known."""
    return "site-packages" in path.parts or "dist-packages" in path.parts


def _digests(paths: Iterable[Path]) -> dict[str, str]:
    return {str(path): _digest(path) for path in paths}


def _digest(path: Path) -> str:
    with suppress(OSError):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""
