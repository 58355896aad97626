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
from contextlib import suppress
from functools import cache as cache_
from pathlib import Path

from harness.config import Config
from harness.config.models import ModelConfig
from harness.config.paths import paths_of
from harness.core import cache
from harness.core.cache import Entry
from harness.core.given import is_given
from harness.core.imports import is_installed
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
        own_code(),
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


def is_known(config: Config, name: str) -> bool:
    """Return whether it is known what a model is: no object or frame of a program has an identity.

    Nor has what is made of one.
    """
    parts = _with_base_models(config, name)
    named = [one for part in parts for one in (part.use, *paths_of(part.lists or [])) if one]
    return not any(map(is_given, named))


def _with_base_models(config: Config, name: str) -> list[ModelConfig]:
    settings = {model.name: model for model in config.models}
    return [settings[part] for part in sorted({*base_models_first(settings, [name]), name})]


@cache_
def own_code() -> str:
    """Return what tells the source of this package, where it is a checkout: it has no version."""
    folder = Path(__file__).parents[1]
    if is_installed(folder):
        return ""
    files = [path for path in sorted(folder.rglob("*.*")) if path.suffix in (".py", ".so")]
    stats = [(str(path), path.stat()) for path in files]
    told = repr([(path, own.st_size, own.st_mtime_ns) for path, own in stats])
    return hashlib.sha256(told.encode()).hexdigest()


def _packages() -> list[tuple[str, int]]:
    """Return the installed packages with their versions, and when each was installed.

    Their folders are named after their versions, and are made anew when one is installed again.
    """
    found = set[tuple[str, int]]()
    for path in map(Path, sys.path):
        if is_installed(path.parent):  # a package's own, there once the package is imported
            continue
        with suppress(OSError):
            kept = (one for one in path.iterdir() if one.suffix in (".dist-info", ".egg-info"))
            found.update((one.name, one.stat().st_mtime_ns) for one in kept)
    return sorted(found)
