"""A config in, its recommenders out: each made once, base models before their ensemble."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, cast

from scipy.sparse import csr_array

from harness.config import Config, ModelConfig
from harness.core import plugins
from harness.core.arrays import Int32
from harness.core.errors import UsageError
from harness.core.given import is_given, no_file, shown
from harness.core.params import is_plain
from harness.core.random import of_repeat
from harness.core.table import json_value
from harness.evaluation.list_model import PrecomputedLists
from harness.models import guard
from harness.models.base import Draws, Recommender, Train
from harness.models.sums import FromSums, Steps
from harness.protocol.task import model_of


@dataclass(eq=False, repr=False)
class Shared:
    """A base model: one object, fitted once on the same training data for all made of it.

    A deep copy is made anew and has learnt nothing: a model that lets a base model learn from other
    data fits a copy, and leaves this one as the others know it.
    """

    name: str
    make: Callable[[Sequence[Recommender]], Recommender]
    base_models: Sequence[Recommender]

    def __post_init__(self) -> None:
        self.model = self.make(self.base_models)
        self.train_: Train | None = None
        self.users_: Train | None = None

    def __repr__(self) -> str:
        return f'model "{self.name}"'  # checks of ensembles say so

    def __deepcopy__(self, memo: dict[int, Any]) -> Shared:
        return Shared(self.name, self.make, copy.deepcopy(self.base_models, memo))

    @property
    def models(self) -> list[Recommender]:
        """What it is made of, as ensembles have it: it fits in parts if its model does."""
        return [self.model]

    def fit(self, train: Train) -> Self:
        """Learn from `train`, unless this is what was learnt from last."""
        if self.train_ is not train:
            self.train_ = None
            self.model = guard.guarded(self.name, "fit", lambda: self.model.fit(train))
            self.train_ = self.users_ = train
        return self

    def fit_steps(self, train: Train) -> Steps:
        """Yield the model's steps to the first that asks; there are none for the others."""
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
        ask = partial(self.model.recommend, users, k, draws, exclude=exclude)
        return cast(Int32, guard.guarded(self.name, "recommend", ask))


class Factory:
    """Makes the repeats of one model: of its class, as copies of an object, or of its lists."""

    def __init__(self, config: Config, settings: ModelConfig) -> None:
        self.config, self.settings = config, settings
        name, use = settings.name, settings.use
        # None where it was given to an earlier process, whose lists may be at hand.
        model = config.given.models.get(name)
        if use is not None and not is_given(use):
            self.kind = plugins.load(f'model "{name}"', use, config.folder, "class")
        else:
            self.kind = model if isinstance(model, type) else None
        self.original = None if self.kind is not None else model

    def make(self, repeat: int, base_models: Sequence[Recommender]) -> Recommender:
        """Return one repeat, which has learnt nothing; its seeds follow from those of repeat 0."""
        settings, name = self.settings, self.settings.name
        if settings.use is None:
            return PrecomputedLists(name, self.config)
        use = shown(settings.use)
        if self.kind is not None:
            seeds = {key: of_repeat(seed, repeat) for key, seed in self.seeds.items()}
            models = {"models": list(base_models)} if base_models else {}
            return guard.made(name, use, self.kind, settings.params | seeds | models)
        if self.original is None:
            step = f'put its class in a file next to the config, and write "my_model:{use}"'
            raise no_file(settings.use, step)
        try:
            model = copy.deepcopy(self.original)
        except Exception as error:  # a stranger's object may hold anything
            raise UsageError(
                f'model "{name}": harness cannot copy this {use} ({plugins.told(error)}), but '
                "each fit needs a fresh copy; give its class and parameters instead, as in "
                '{"use": MyModel, "params": {…}}'
            ) from error
        return guard.checked(name, use, model)

    @property
    def seeds(self) -> dict[str, int]:
        """The value of each of its parameters that is a seed."""
        return guard.seeds(self.kind, self.settings.params)

    def params(self) -> dict[str, Any]:
        """Return parameters as JSON has them, with the defaults that a config could hold."""
        defaults = guard.defaults(self.kind) | guard.stored(self.original)
        if self.settings.base_models:
            defaults.pop("models", None)
        kept = {key: value for key, value in defaults.items() if value is None or is_plain(value)}
        return {key: json_value(value) for key, value in (kept | self.settings.params).items()}


class Factories:
    """The models of a config, or some and their base models; classes are loaded once."""

    def __init__(self, config: Config, names: Sequence[str] = ()) -> None:
        self.config = config
        parts = base_models_first(config, names or config.by_name)
        self.by_name = {name: Factory(config, config.by_name[name]) for name in parts}

    def make(self, names: Sequence[str], repeat: int = 0) -> dict[str, Recommender]:
        """Return one repeat of models by name; each base model is made once for all of them."""
        bases = {base for model in self.config.models for base in model.base_models}
        models = dict[str, Recommender]()
        for name in base_models_first(self.config, names):
            settings, make = self.config.by_name[name], partial(self.by_name[name].make, repeat)
            base_models = [models[base] for base in settings.base_models]
            # A file of lists learns nothing that could be shared.
            is_shared = name in bases and settings.use is not None
            models[name] = Shared(name, make, base_models) if is_shared else make(base_models)
        return {name: models[name] for name in names}

    def seeded(self, name: str) -> bool:
        """Return whether a model, or one that it is made of, has a seed."""
        return any(self.by_name[part].seeds for part in base_models_first(self.config, [name]))


def base_models_first(config: Config, names: Iterable[str]) -> list[str]:
    """Return models and all that they are made of, base models before what is made of them."""
    ordered = list[str]()
    for name in names:
        parts = base_models_first(config, config.by_name[name].base_models)
        ordered += [part for part in (*parts, name) if part not in ordered]
    return ordered


def only(config: Config, names: Sequence[str]) -> Config:
    """Return a config of some of its models, and of those that they are made of."""
    for name in names:
        model_of(config, name)
    return with_models(config, base_models_first(config, names))


def with_models(config: Config, names: Sequence[str]) -> Config:
    """Return a config of these models alone; without the baseline all pairs are compared."""
    models, compare = [model for model in config.models if model.name in names], config.compare
    if compare.baseline not in names:
        compare = compare.model_copy(update={"baseline": None})
    return config.model_copy(update={"models": models, "compare": compare})
