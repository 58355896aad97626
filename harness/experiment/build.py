"""A config in, its recommenders out: each made once, base models before their ensemble."""

from __future__ import annotations

import copy
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from functools import partial
from graphlib import TopologicalSorter
from typing import Any, Self, cast

from scipy.sparse import csr_array

from harness.config import Config, ModelConfig
from harness.core import plugins
from harness.core.arrays import Int32
from harness.core.errors import UsageError, suggest
from harness.core.given import is_given, shown
from harness.core.random import of_repeat
from harness.core.table import json_value
from harness.experiment.file_model import PrecomputedLists
from harness.models import guard
from harness.models.base import Draws, Recommender, Train
from harness.models.sums import FromSums, Steps


class Shared:
    """A model that others are made of: one object, fitted once on the same training data.

    A copy (``copy.deepcopy``) is made anew and has learnt nothing, so that who wants a base model
    to learn from other data can fit a copy and leave this one as the others know it.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[Sequence[Recommender]], Recommender],
        base_models: Sequence[Recommender],
    ) -> None:
        self.name, self.make, self.base_models = name, make, base_models
        self.model = make(base_models)
        self.train_: Train | None = None
        self.users_: Train | None = None

    def __repr__(self) -> str:
        """Return what messages call it."""
        return f'model "{self.name}"'

    def __deepcopy__(self, memo: dict[int, Any]) -> Shared:
        """Return the same model, made anew of copies of its base models."""
        return Shared(self.name, self.make, copy.deepcopy(self.base_models, memo))

    def fit(self, train: Train) -> Self:
        """Learn from `train`, unless this is what was learnt from last."""
        if self.train_ is not train:
            self.train_ = None
            self.model = guard.guarded(self.name, "fit", lambda: self.model.fit(train))
            self.train_ = self.users_ = train
        return self

    @property
    def models(self) -> list[Recommender]:
        """What it is made of, as ensembles have it: it fits in parts if its model does."""
        return [self.model]

    def fit_steps(self, train: Train) -> Steps:
        """Yield the model's steps to whoever asks first; there are none for the others."""
        if self.train_ is not train:
            self.train_, self.users_ = train, None
            try:
                yield from guard.fit_steps(self.name, self.model, train)
            except BaseException:
                self.train_ = None
                raise

    def for_users(self, train: Train) -> Self:
        """Tell the model whose lists are asked for, unless it knows."""
        if self.users_ is not train:
            model = cast(FromSums, self.model)
            self.model = guard.guarded(self.name, "for_users", lambda: model.for_users(train))
            self.users_ = train
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the model's lists; what it raises names it, and not only what is made of it."""
        answer = guard.guarded(
            self.name,
            "recommend",
            lambda: self.model.recommend(users, k, draws, exclude=exclude),
        )
        return cast(Int32, answer)


class Factories:
    """The classes of a config's models, found once; each repeat's recommenders are made anew.

    Parameters
    ----------
    only : str
        The models that are wanted; these and their base models alone are made. All by default.

    Raises
    ------
    UsageError
        A class or file that there is not; the message names the model.
    """

    def __init__(self, config: Config, *only: str) -> None:
        self.config = config
        self.only = only
        self.settings = {model.name: model for model in config.models}
        self._classes = {
            name: _class_of(config, self.settings[name])
            for name in base_models_first(self.settings, only)
            if self.settings[name].use is not None
        }

    def made(self, repeat: int, without: Container[str] = ()) -> dict[str, Recommender]:
        """Return one repeat's recommenders by name, in the config's order.

        Unless some are named, these are all that have so many repeats, but for those `without`.

        Base models are made before what is made of them, once for all. Every `seed` and
        `random_state` of theirs is its own value at repeat 0, and then follows from that value and
        the repeat.

        Raises
        ------
        UsageError
            A parameter that there is not; the message names the model.
        """
        several = [name for name, one in self.settings.items() if one.repeats > repeat]
        wanted = self.only or [name for name in several if name not in without]
        shared = {part for model in self.settings.values() for part in model.base_models}
        found: dict[str, Recommender] = {}
        for name in base_models_first(self.settings, wanted) if wanted else ():
            base_models = [found[model] for model in self.settings[name].base_models]
            make = partial(self._made, name, repeat)
            found[name] = Shared(name, make, base_models) if name in shared else make(base_models)
        return {name: found[name] for name in wanted}

    def _made(self, name: str, repeat: int, base_models: Sequence[Recommender]) -> Recommender:
        settings = self.settings[name]
        if settings.use is None:
            return PrecomputedLists(name, self.config)
        return _made(settings, self._classes[name], base_models, repeat)

    def params(self, name: str) -> dict[str, Any]:
        """Return the parameters of a model of a class, as JSON has them, defaults written out.

        Not its base models, nor a default that no config could hold, such as a function.
        """
        own = self.settings[name]
        given = guard.defaults(self._classes[name]) if name in self._classes else {}
        given |= guard.stored(self.config.given.models.get(name))
        known = {key: value for key, value in given.items() if _is_plain(value)}
        if own.base_models:
            known.pop("models", None)
        return {key: json_value(value) for key, value in (known | own.params).items()}

    def seeded(self, name: str) -> bool:
        """Return whether a model, or one that it is made of, has a seed."""
        own = self.settings[name]
        has = name in self._classes and guard.seeds(self._classes[name], own.params)
        return bool(has) or any(self.seeded(part) for part in own.base_models)


def _is_plain(value: object) -> bool:
    """Return whether a value is None, or one that a config could hold."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and all(map(_is_plain, value.values()))
    return value is None or isinstance(value, bool | int | float | str | date | time)


def base_models_first(settings: Mapping[str, ModelConfig], only: Sequence[str]) -> Iterable[str]:
    """Return what has to be made for some models, or for all, in an order that serves."""
    waiting, needed = list(only or settings), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += settings[name].base_models
    graph = {name: model.base_models for name, model in settings.items() if name in needed}
    return TopologicalSorter(graph).static_order()


def only(config: Config, names: Sequence[str]) -> Config:
    """Return a config of some of its models, and of those that they are made of.

    Without the baseline of ``[compare]`` all pairs are compared.

    Raises
    ------
    UsageError
        It has no such model.
    """
    settings = {model.name: model for model in config.models}
    for name in names:
        if name not in settings:
            raise UsageError(f'no model "{name}" in the config; {suggest(name, settings)}')
    wanted = {*names, *base_models_first(settings, names)}
    compare = config.compare
    if compare.baseline not in wanted:
        compare = compare.model_copy(update={"baseline": None})
    models = [model for model in config.models if model.name in wanted]
    return config.model_copy(update={"models": models, "compare": compare})


def itself(model: Recommender) -> Recommender:
    """Return a model without what shares it."""
    return model.model if isinstance(model, Shared) else model


def load(
    config: Config, settings: ModelConfig, base_models: Sequence[Sequence[Recommender]]
) -> Iterator[Recommender]:
    """Yield every repeat of one model of a class, of base models that are made already."""
    factory = _class_of(config, settings)
    for repeat in range(settings.repeats):
        yield _made(settings, factory, base_models[repeat], repeat)


def _made(
    settings: ModelConfig,
    factory: Callable[..., Any],
    base_models: Sequence[Recommender],
    repeat: int,
) -> Recommender:
    if isinstance(factory, _Copies):
        return factory()
    own = guard.seeds(factory, settings.params)
    params = settings.params | {name: of_repeat(seed, repeat) for name, seed in own.items()}
    given = params | ({"models": list(base_models)} if base_models else {})
    return guard.made(settings.name, shown(str(settings.use)), factory, given)


def _class_of(config: Config, settings: ModelConfig) -> Callable[..., Any]:
    """Return what makes a model: its class, or what copies an object that was given."""
    name, use = settings.name, str(settings.use)
    if not is_given(use):
        found: Callable[..., Any] = plugins.load(f'model "{name}"', use, config.folder, "class")
        return found
    held = config.given.models.get(name)
    if held is None:
        return partial(_Gone, use)
    return held if isinstance(held, type) else _Copies(name, held)


class _Copies:
    """Makes models of an object: copies of it, as it was given."""

    def __init__(self, name: str, model: Any) -> None:
        self._name, self._model = name, model

    def __call__(self) -> Recommender:
        try:
            return cast(Recommender, copy.deepcopy(self._model))
        except Exception as error:  # a stranger's object may hold anything
            raise UsageError(
                f'model "{self._name}": no copy can be made of this {type(self._model).__name__} '
                f"({plugins.told(error)}); every fit takes a copy of the object as it was given: "
                'give its class and parameters instead, as in {"use": MyModel, "params": {…}}'
            ) from error


class _Gone:
    """Stands for a model of an earlier run whose class or object was given in Python."""

    def __init__(self, use: str, **params: Any) -> None:
        self._use = use

    def fit(self, train: Train) -> Self:
        """Raise UsageError: nobody has it."""
        raise UsageError(
            f"{shown(self._use)} was given in Python, and no file holds it; put its class into a "
            f'file beside the config, and name it: use = "my_model:{shown(self._use)}"'
        )

    recommend = fit
