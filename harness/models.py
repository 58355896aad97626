"""A config in, its recommenders out: each made once, parts before what is made of them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any, Self, cast

from scipy.sparse import csr_array

from harness import plugins
from harness.config import Config, ModelConfig
from harness.dataset import Int32
from harness.ready import ReadyLists
from harness.recommender import Draws, Recommender, Train


class Shared:
    """A model that others are made of: one object, fitted once on the same training data.

    A copy (``copy.deepcopy``) is made anew and has learnt nothing, so that who wants a part to
    learn from other data can fit a copy and leave this one as the others know it.
    """

    def __init__(self, config: Config, settings: ModelConfig, parts: Sequence[Recommender]) -> None:
        self.made = (config, settings, parts)
        self.model = load(config, settings, parts)
        self.train_: Train | None = None

    def __repr__(self) -> str:
        """Return what messages call it."""
        return f'model "{self.made[1].name}"'

    def __deepcopy__(self, memo: dict[int, Any]) -> Shared:
        """Return the same model, made anew of copies of its parts."""
        config, settings, parts = self.made
        return Shared(config, settings, copy.deepcopy(parts, memo))

    def fit(self, train: Train) -> Self:
        """Learn from `train`, unless this is what was learnt from last."""
        if self.train_ is not train:
            self.train_ = None
            name = self.made[1].name
            self.model = plugins.guarded(name, "fit", lambda: self.model.fit(train))
            self.train_ = train
        return self

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the model's lists; what it raises names it, and not only what it is a part of."""
        name, own = self.made[1].name, self.model
        answer = plugins.guarded(
            name, "recommend", lambda: own.recommend(users, k, draws, exclude=exclude)
        )
        return cast(Int32, answer)


def make(config: Config, *only: str) -> dict[str, Recommender]:
    """Return the recommenders of a config by name, in its order.

    Parameters
    ----------
    only : str
        The models that are wanted; these and their parts alone are made. All by default.

    Raises
    ------
    UsageError
        A class, parameter or file that there is not; the message names the model.
    """
    settings = {model.name: model for model in config.models}
    shared = {part for model in config.models for part in model.parts}
    made: dict[str, Recommender] = {}
    for name in parts_first(settings, only):
        parts = [made[part] for part in settings[name].parts]
        make_one = Shared if name in shared else load
        made[name] = make_one(config, settings[name], parts)
    return {name: made[name] for name in only or settings}


def parts_first(settings: Mapping[str, ModelConfig], only: Sequence[str]) -> Iterable[str]:
    """Return what has to be made for some models, or for all, in an order that serves."""
    waiting, needed = list(only or settings), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += settings[name].parts
    graph = {name: model.parts for name, model in settings.items() if name in needed}
    return TopologicalSorter(graph).static_order()


def itself(model: Recommender) -> Recommender:
    """Return a model without what shares it."""
    return model.model if isinstance(model, Shared) else model


def load(config: Config, settings: ModelConfig, parts: Sequence[Recommender]) -> Recommender:
    """Return one model, made of parts that are made already."""
    if settings.use is None:
        return ReadyLists(settings.name, config)
    given = settings.params | ({"models": list(parts)} if parts else {})
    return plugins.load(settings.name, settings.use, given, config.folder)
