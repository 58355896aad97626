"""The conformance suite: it passes all baselines, and each check fails one broken recommender."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from baselines.als import ALS
from baselines.blend import Blend
from baselines.bpr import BPR
from baselines.co_visitation import CoVisitation
from baselines.content_knn import ContentKNN
from baselines.content_popular import ContentPopular
from baselines.ease import EASE
from baselines.fill import Fill
from baselines.filter import Filter
from baselines.item_knn import ItemKNN
from baselines.nmf import NMF
from baselines.popular import Popular
from baselines.popular_by_segment import PopularBySegment
from baselines.pure_svd import PureSVD
from baselines.random_items import RandomItems
from baselines.ranker import Ranker
from baselines.repurchase import Repurchase
from baselines.repurchase_gaps import RepurchaseGaps
from baselines.rp3beta import RP3beta
from baselines.trending import Trending
from baselines.user_knn import UserKNN
from baselines.user_profile import UserProfile
from harness import testing
from harness.core.errors import RecommenderError
from harness.models.topk import top_k

ALL: dict[str, Any] = {"categories": ["genre"], "numbers": ["price"], "texts": ["text"]}
"""Columns of `example_train`'s table of items."""
OF_USERS: dict[str, Any] = {"user_categories": ["sex"], "user_numbers": ["age"]}
BASELINES = {
    "random": RandomItems(),
    "popular": Popular(),
    "popular of 3 days": Popular(window_days=3),
    "popular, half-life": Popular(half_life_days=0.5),
    "popular, weights": Popular(weights={"event": 0.5}, window_days=8, half_life_days=4),
    "repurchase": Repurchase(),
    "repurchase, 1 day": Repurchase(window_days=1),
    "content popular": ContentPopular(**ALL),
    "content popular, 3 days": ContentPopular(numbers=["price"], neighbours=1, window_days=3),
    "user profile": UserProfile(**ALL, half_life_days=2, weights={"event": 0.5}, counts=True),
    "user profile, categories": UserProfile(categories=["genre"], window_days=3),
    "content kNN": ContentKNN(**ALL),
    "content kNN, nearest": ContentKNN(texts=["text"], neighbours=1, carried=1, counts=True),
    "ranker": Ranker(**ALL, **OF_USERS, trees=3),
    "ranker, shortlist": Ranker(categories=["genre"], window_days=3, shortlist=4, trees=2, seed=5),
    "repurchase when due": RepurchaseGaps(),
    "repurchase when due, 1 day": RepurchaseGaps(horizon_days=1, window_days=1),
    "popular by segment": PopularBySegment("sex", half_life_days=2),
    "popular by bins": PopularBySegment("age", [25, 40], window_days=None),
    "trending": Trending(),
    "trending, 1 day": Trending(window_days=1, damping=2),
    "co-visitation": CoVisitation(),
    "co-visitation, nothing in the window": CoVisitation(window_days=0.5, basket_days=8),
    "fill": Fill([Repurchase(), RandomItems()]),
    "fill of one": Fill([Popular()]),
    "blend": Blend([Popular(), Repurchase(), RandomItems()], weights=[1, 2, 0.5], depth=3),
    "filter, seen": Filter([Popular()], seen=True),
    "filter, out of stock": Filter([RandomItems()], out_of_stock_days=3),
    "filter, nothing in stock": Filter([RandomItems()], out_of_stock_days=0.5),
    "filter, both, of a fill": Filter([Fill([Popular(), RandomItems()])], True, 2),
    "fill of blends": Fill([Blend([Repurchase(), Popular()]), Filter([RandomItems()], seen=True)]),
    "item kNN": ItemKNN(),
    "item kNN, one neighbour": ItemKNN(1, shrink=5, half_life_days=3),
    "item kNN, tf-idf": ItemKNN(similarity="tfidf", counts=True),
    "item kNN, BM25": ItemKNN(similarity="bm25", window_days=2),
    "item kNN, asymmetric": ItemKNN(similarity="asymmetric", alpha=0.2, weights={"event": 2}),
    "item kNN, inner products": ItemKNN(2, "dot", neighbours_of="candidate", normalize=True),
    "item kNN, Jaccard": ItemKNN(similarity="jaccard", shrink=1),
    "item kNN, dice": ItemKNN(2, "dice", min_similarity=0.4),
    "item kNN, Tversky": ItemKNN(similarity="tversky", alpha=0.2, beta=1.5, counts=True),
    "user kNN": UserKNN(),
    "user kNN, inner products": UserKNN(2, "dot", neighbours_of="voter"),
    "user kNN, Jaccard": UserKNN(similarity="jaccard", min_similarity=0.3, half_life_days=2),
    "user kNN, dice": UserKNN(2, "dice"),
    "user kNN, Tversky": UserKNN(similarity="tversky", alpha=2, beta=0, neighbours_of="voter"),
    "user kNN, nothing in the window": UserKNN(window_days=0.5),
    "RP3beta": RP3beta(neighbours=2, half_life_days=1),
    "RP3beta, of candidates": RP3beta(neighbours=2, neighbours_of="candidate", normalize=True),
    "RP3beta, no popularity": RP3beta(neighbours=3, beta=0),
    "EASE": EASE(regularization=1.0),
    "EASE, nothing in the window": EASE(window_days=0.5),
    "PureSVD": PureSVD(2),
    "PureSVD, all factors": PureSVD(),
    "PureSVD, nothing in the window": PureSVD(window_days=0.5),
    "NMF": NMF(2),
    "NMF, nothing in the window": NMF(window_days=0.5),
    "ALS": ALS(3),
    "ALS, nothing in the window": ALS(window_days=0.5),
    "BPR": BPR(3),
    "BPR, nothing in the window": BPR(window_days=0.5),
}
CHECKS = testing.recommender_checks()


@pytest.mark.parametrize("model", BASELINES.values(), ids=BASELINES)
def test_baselines_keep_the_contract(model: Any) -> None:
    testing.check_recommender(model)
    assert not any(name.endswith("_") for name in vars(model)), "copies are fitted, not the model"


def test_every_check_there_is_runs() -> None:
    named = {name for name in vars(testing) if name.startswith("check_")}
    named -= {"check_recommender", "check_layout"}
    assert {check.__name__ for check in CHECKS} == named


def test_every_check_says_what_it_asks_for() -> None:
    assert all(check.__doc__ for check in CHECKS)


class Sound:
    """Candidates from the last id to the first; each broken class below changes one thing."""

    def __init__(self, depth: int = 1) -> None:
        self.depth = depth

    def fit(self, train: Any) -> Any:
        self.order_ = np.arange(len(train.candidates), dtype=np.int32)[::-1]
        return self

    def recommend(self, users: Any, k: int, draws: Any, exclude: Any = None) -> Any:
        return self.spoilt(top_k(self.order_, users, k, exclude), users)

    def spoilt(self, lists: Any, users: Any) -> Any:
        return lists


class FitReturnsACopy(Sound):
    def fit(self, train: Any) -> Any:
        return type(self)(self.depth) if hasattr(self, "order_") else Sound().fit(train)


class FitChangesDepth(Sound):
    def fit(self, train: Any) -> Any:
        self.depth += 1
        return super().fit(train)


class FitChangesAPart(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.models = [Sound()]

    def fit(self, train: Any) -> Any:
        self.models[0].depth += 1
        return super().fit(train)


class FitRemembers(Sound):
    def fit(self, train: Any) -> Any:
        return self if hasattr(self, "order_") else super().fit(train)


class Repeats(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        return np.zeros_like(lists)


class TooWide(Sound):
    def recommend(self, users: Any, k: int, draws: Any, exclude: Any = None) -> Any:
        return super().recommend(users, k + 1, draws, exclude)


class GoesPastTheLast(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        places = np.arange(lists.shape[1], dtype=np.int32)
        return np.where(places < len(self.order_), lists, places)


class IgnoresExclude(Sound):
    def recommend(self, users: Any, k: int, draws: Any, exclude: Any = None) -> Any:
        return super().recommend(users, k, draws)


class NeverEmpty(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        lists[lists[:, 0] < 0, 0] = 0
        return lists


class NeedsUsers(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        return np.stack(list(lists))


class NeedsOldItems(Sound):
    def fit(self, train: Any) -> Any:
        assert train.candidate_sums().any(), "no candidate has an event"
        return super().fit(train)


class NeedsTwoUsers(Sound):
    def fit(self, train: Any) -> Any:
        assert np.count_nonzero(np.diff(train.user_starts)) > 1, "fewer than two users"
        return super().fit(train)


class NeedsALastMonth(Sound):
    def fit(self, train: Any) -> Any:
        assert train.last_days(30).any(), "no event in the last month"
        return super().fit(train)


class DrawsItsOwn(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        self.calls_ = getattr(self, "calls_", 0) + 1
        return np.roll(lists, self.calls_, axis=1)


class DrawsByBatch(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        return lists if len(users) == 1 else np.roll(lists, 1, axis=1)


class DrawsByRow(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        falling = len(users) > 1 and users[0] > users[-1]
        return np.roll(lists, 1, axis=1) if falling else lists


class KeepsTheLongest(Sound):
    def recommend(self, users: Any, k: int, draws: Any, exclude: Any = None) -> Any:
        self.longest_ = max(k, getattr(self, "longest_", 0))
        return np.roll(super().recommend(users, k, draws, exclude), self.longest_ > k, axis=1)


class DrawsFromNumPy(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        np.random.random()  # noqa: NPY002 - what must be noticed
        return lists


class InParts(Sound):
    def fit_steps(self, train: Any) -> Any:
        self.turned_ = int((yield lambda part: self.of_part(part))["n"][0])
        super().fit(train)

    def of_part(self, part: Any) -> Any:
        return {"n": np.zeros(1, np.int64)}

    def for_users(self, train: Any) -> Any:
        self.order_ = np.roll(self.order_, self.turned_)
        return self


class CountsParts(InParts):
    def of_part(self, part: Any) -> Any:
        return {"n": np.ones(1, np.int64)}


class CountsCandidates(InParts):
    def of_part(self, part: Any) -> Any:
        return {"n": np.array([len(part.candidates)])}


class AddsFractions(InParts):
    def of_part(self, part: Any) -> Any:
        return {"n": np.zeros(1)}


class SeedsRandom(Sound):
    def fit(self, train: Any) -> Any:
        random.seed(1)
        return super().fit(train)


BROKEN: list[tuple[type[Sound], Callable[..., None], str]] = [
    (FitReturnsACopy, testing.check_fit_returns_self, "fit must return self"),
    (FitChangesDepth, testing.check_fit_keeps_parameters, 'fit changed the parameter "depth"'),
    (FitChangesAPart, testing.check_fit_keeps_parameters, 'fit changed the parameter "models"'),
    (FitRemembers, testing.check_fit_forgets, "fit must forget what an earlier fit learnt"),
    (Repeats, testing.check_lists_are_valid, "the item stands twice"),
    (TooWide, testing.check_lists_are_valid, "returned shape (6, 2), expected (6, 1)"),
    (GoesPastTheLast, testing.check_more_places_than_candidates, "rank 3: found 2; no candidate"),
    (IgnoresExclude, testing.check_exclude_is_obeyed, "user nobody, rank 1: found 6; the item is"),
    (NeverEmpty, testing.check_everything_excluded, "user cid, rank 1: found 0; the item is ex"),
    (NeedsUsers, testing.check_no_users, "need at least one array"),
    (NeedsOldItems, testing.check_new_candidates_alone, "no candidate has an event"),
    (NeedsTwoUsers, testing.check_one_event, "fewer than two users"),
    (NeedsALastMonth, testing.check_nothing_lately, "no event in the last month"),
    (DrawsItsOwn, testing.check_equal_draws_give_equal_lists, "two calls with equal draws differ"),
    (DrawsByBatch, testing.check_batches_do_not_matter, "depends on who else is asked for"),
    (DrawsByRow, testing.check_user_order_does_not_matter, "depends on the order of users"),
    (KeepsTheLongest, testing.check_length_does_not_linger, "longer lists changed the shorter"),
    (CountsParts, testing.check_parts_make_no_difference, "fitted in parts it recommends other"),
    (CountsCandidates, testing.check_parts_make_no_difference, "use no candidates in them"),
    (AddsFractions, testing.check_parts_make_no_difference, "the sums 'n' are float64"),
    (DrawsFromNumPy, testing.check_global_random_state_is_left_alone, "global random state"),
    (SeedsRandom, testing.check_global_random_state_is_left_alone, "global random state"),
]


@pytest.fixture(autouse=True)
def _random_state() -> Any:
    before = random.getstate(), np.random.get_state()  # noqa: NPY002 - kept, not used
    yield
    random.setstate(before[0])
    np.random.set_state(before[1])  # noqa: NPY002


def failing(model: Sound) -> list[str]:
    found = []
    for check in CHECKS:
        try:
            check(model)
        except Exception:
            found.append(check.__name__)
    return found


def test_the_sound_one_passes() -> None:
    testing.check_recommender(Sound())
    testing.check_recommender(InParts())


NOTICED_BY_OTHERS = {Repeats, TooWide, IgnoresExclude, DrawsItsOwn, SeedsRandom}
"""Of the others, one check alone notices each."""


@pytest.mark.parametrize(
    ("broken", "check", "words"), BROKEN, ids=[broken.__name__ for broken, _, _ in BROKEN]
)
def test_each_check_fails_what_breaks_it(
    broken: type[Sound], check: Callable[..., None], words: str
) -> None:
    noticed = failing(broken())
    assert check.__name__ in noticed
    assert len(noticed) == 1 or broken in NOTICED_BY_OTHERS
    with pytest.raises(RecommenderError) as caught:
        testing.check_recommender(broken())
    assert str(caught.value).startswith(f"{broken.__name__} fails {noticed[0]}: ")
    with pytest.raises((AssertionError, RecommenderError, ValueError)) as alone:
        check(broken())
    assert words in str(alone.value)


def test_every_check_has_something_that_breaks_it() -> None:
    assert {check for _, check, _ in BROKEN} == set(CHECKS)
