"""``[[models]]``: what each model of a config may say, and which are made of others."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any

from pydantic import Field, model_validator

from harness.config.base import Section
from harness.config.paths import PathTexts, paths_of
from harness.config.space import Space, TunedRecord
from harness.core.errors import suggest


class ModelConfig(Section):
    """``[[models]]``: a recommender by import path, or precomputed recommendations.

    Attributes
    ----------
    use, params : str, dict
        The class, and its keyword parameters.
    of : list of str, optional
        Of an ensemble: its base models in this config, given to its parameter `models`.
    lists : str or list of str, optional
        The file of precomputed recommendations, instead of a class; or one a fold.
    """

    name: Annotated[str, Field(min_length=1)]
    use: str | None = None
    lists: PathTexts | None = None
    of: Annotated[list[str], Field(min_length=1)] | None = None
    params: dict[str, Any] = {}
    repeats: Annotated[int, Field(ge=1)] = 1
    space: Space = {}
    tuned: TunedRecord | None = None

    @property
    def base_models(self) -> list[str]:
        """The models that an ensemble is made of."""
        return self.of or []

    @model_validator(mode="after")
    def _a_class_or_lists(self) -> ModelConfig:
        if self.use is None and self.lists is None:
            raise ValueError(
                'needs the key "use", or "lists" with a file of precomputed recommendations'
            )
        if self.use is not None and self.lists is not None:
            raise ValueError('has both "use" and "lists"; leave one out')
        if self.lists is not None and "" in paths_of(self.lists):
            raise ValueError('lists is ""; name the file of precomputed recommendations')
        if self.lists is not None:
            for key in ("of", "params", "space", "tuned"):
                if getattr(self, key):
                    raise ValueError(
                        f'has precomputed recommendations, which have no "{key}"; leave it out'
                    )
            if self.repeats > 1:
                raise ValueError(
                    "has precomputed recommendations, the same in every repeat; leave repeats out"
                )
        if self.of is not None and "models" in self.params:
            raise ValueError('gives its parameter "models" twice: leave it to of')
        return self


def require_base_models(models: Sequence[ModelConfig]) -> None:
    """Raise ValueError where base models are unknown, or a model is its own."""
    names = [model.name for model in models]
    for model in models:
        for base in model.base_models:
            if base not in names:
                others = [name for name in names if name != model.name]
                raise ValueError(
                    f'[[models]] "{model.name}" of: no model is named "{base}"; '
                    f"{suggest(base, others)}"
                )
    try:
        TopologicalSorter({model.name: model.base_models for model in models}).prepare()
    except CycleError as error:
        circle = " is a base model of ".join(f'"{name}"' for name in error.args[1])
        raise ValueError(
            f"[[models]] of: {circle}; a model cannot be its own base model"
        ) from error
