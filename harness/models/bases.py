"""What several baselines share: parameters that weigh events, how they answer, and ensembles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from scipy.sparse import csr_array

from harness.core.arrays import Bool, Floats, Int32
from harness.core.exact_sum import Sums
from harness.core.params import require_flag, require_models
from harness.models.base import Draws, Recommender, Train
from harness.models.features import feature_groups, feature_matrix
from harness.models.products import largest_products
from harness.models.sums import Steps, side_by_side
from harness.models.topk import top_k


@dataclass(eq=False, kw_only=True)
class EventWeights:
    """Parameters that say which events count and how much: those of `Train.event_weights`."""

    window_days: float | None = None
    half_life_days: float | None = None
    weights: Mapping[str, float] | None = None
    values: bool = False

    def event_weights(self, train: Train) -> tuple[Bool | None, Floats | None]:
        """Return which events of `train` count, and how much: None and None where all count 1."""
        require_flag(values=self.values)
        return train.event_weights(self.window_days, self.half_life_days, self.weights, self.values)

    def exact_sums(self, train: Train) -> Sums:
        """Return each item's sum of weights as `Train.exact_sums` does: those of parts add up."""
        return train.exact_sums(*self.event_weights(train))


@dataclass(eq=False, kw_only=True)
class InteractionWeights(EventWeights):
    """Parameters that say what users did with items: those of `Train.interactions`."""

    counts: bool = False

    def interactions(self, train: Train) -> csr_array[Any]:
        """Return what users did with items, a (users, items) CSR matrix without zeros."""
        require_flag(values=self.values)
        return train.interactions(
            self.window_days, self.half_life_days, self.weights, self.counts, self.values
        )


@dataclass(eq=False)
class ItemFeatures:
    """Parameters that name the attributes of items: those of `feature_groups`."""

    categories: Sequence[str] = ()
    numbers: Sequence[str] = ()
    texts: Sequence[str] = ()

    def features(self, train: Train) -> csr_array[Any]:
        """Return the attributes of all items as rows whose products are their cosines."""
        groups = feature_groups(
            train, categories=self.categories, numbers=self.numbers, texts=self.texts
        )
        return feature_matrix(groups)


@dataclass(eq=False)
class Ensemble:
    """A recommender that is made of others, its base models; it learns in parts if they do.

    Fitted ones are `models_`; `n_candidates_` is how many candidates there are.
    """

    models: Sequence[Recommender]

    def require_parameters(self) -> None:
        """Raise ParameterError where a parameter cannot be."""
        require_models(self.models)

    def fit(self, train: Train) -> Self:
        """Fit every base model."""
        self._note(train)
        self.models_: list[Any] = [model.fit(train) for model in self.models]
        return self

    def fit_steps(self, train: Train) -> Steps:
        """Take the steps of all base models side by side."""
        self._note(train)
        self.models_ = list(self.models)
        yield from side_by_side([model.fit_steps(train) for model in self.models_])

    def for_users(self, train: Train) -> Self:
        """Tell every base model whose lists are asked for."""
        self.models_ = [model.for_users(train) for model in self.models_]
        return self

    def _note(self, train: Train) -> None:
        self.require_parameters()
        self.n_candidates_ = len(train.candidates)


class OneOrder:
    """A recommender with one order of candidates for everyone: `order_`, best first, none twice."""

    order_: Int32

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the first candidates that each user may be shown."""
        return top_k(self.order_, users, k, exclude)


class ItemVotes:
    """A recommender whose scores are what a user's items say of the candidates, added up.

    `fit` learns `users_`, how much each item counts for each user, (users, items), and `votes_`,
    what each item says of each candidate, (items, candidates).
    """

    users_: csr_array[Any]
    votes_: csr_array[Any]

    def recommend(
        self, users: Int32, k: int, draws: Draws, exclude: csr_array[Any] | None = None
    ) -> Int32:
        """Return the candidates of the highest scores above 0."""
        return largest_products(self.users_[users], self.votes_, k, exclude=exclude)[0]
