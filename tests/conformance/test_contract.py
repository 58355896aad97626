"""The conformance suite: it passes all baselines, and each check fails a broken recommender."""

import pkgutil
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from every_baseline import BASELINES

import baselines
from harness import testing
from harness.core.errors import RecommenderError
from harness.models.sums import fits_in_parts
from harness.models.topk import top_k

CHECKS = testing.recommender_checks()


@pytest.mark.parametrize("model", BASELINES.values(), ids=BASELINES)
def test_baselines_keep_the_contract(model: Any) -> None:
    testing.check_recommender(model)
    assert not any(name.endswith("_") for name in vars(model)), "copies are fitted, not the model"


def test_every_baseline_is_checked() -> None:
    modules = {module.name for module in pkgutil.iter_modules(baselines.__path__, "baselines.")}
    checked = {type(model).__module__ for model in BASELINES.values()}
    assert checked == {name for name in modules if not name.startswith("baselines._")}


def test_baselines_that_learn_from_sums() -> None:
    assert {type(model).__name__ for model in BASELINES.values() if fits_in_parts(model)} == {
        *("RandomItems", "Popular", "PopularBySegment", "Trending", "ContentPopular"),
        *("Repurchase", "RepurchaseGaps", "CoVisitation", "Fill", "Blend", "Filter"),
    }


BROKEN: list[tuple[type[Any], Callable[..., None], str]] = []


def fails(check: Callable[..., None], message: str) -> Callable[[type[Any]], type[Any]]:
    """Return a decorator that lists a class as one that fails this check with this message."""

    def listed(model: type[Any]) -> type[Any]:
        BROKEN.append((model, check, message))
        return model

    return listed


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


@fails(testing.check_fit_returns_self, "fit must return self")
class FitReturnsACopy(Sound):
    def fit(self, train: Any) -> Any:
        return type(self)(self.depth) if hasattr(self, "order_") else Sound().fit(train)


@fails(testing.check_fit_keeps_parameters, 'fit changed the parameter "models"')
class FitChangesAPart(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.models = [Sound()]

    def fit(self, train: Any) -> Any:
        self.models[0].depth += 1
        return super().fit(train)


@fails(testing.check_fit_forgets, "fit must not keep anything from an earlier fit")
class FitRemembers(Sound):
    def fit(self, train: Any) -> Any:
        return self if hasattr(self, "order_") else super().fit(train)


@fails(testing.check_lists_are_valid, "the item is in the list twice")
class Repeats(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        return np.zeros_like(lists)


@fails(testing.check_more_places_than_candidates, "rank 3: found 2; there is no candidate")
class GoesPastTheLast(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        places = np.arange(lists.shape[1], dtype=np.int32)
        return np.where(places < len(self.order_), lists, places)


@fails(testing.check_exclude_is_obeyed, "user nobody, rank 1: found 6; the item is")
class IgnoresExclude(Sound):
    def recommend(self, users: Any, k: int, draws: Any, exclude: Any = None) -> Any:
        return super().recommend(users, k, draws)


@fails(testing.check_everything_excluded, "user cid, rank 1: found 0; the item is ex")
class NeverEmpty(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        lists[lists[:, 0] < 0, 0] = 0
        return lists


@fails(testing.check_no_users, "need at least one array")
class NeedsUsers(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        return np.stack(list(lists))


@fails(testing.check_new_candidates_alone, "no candidate has an event")
class NeedsOldItems(Sound):
    def fit(self, train: Any) -> Any:
        assert train.candidate_sums().any(), "no candidate has an event"
        return super().fit(train)


@fails(testing.check_one_event, "fewer than two users")
class NeedsTwoUsers(Sound):
    def fit(self, train: Any) -> Any:
        assert np.count_nonzero(np.diff(train.user_starts)) > 1, "fewer than two users"
        return super().fit(train)


@fails(testing.check_nothing_lately, "no event in the last month")
class NeedsALastMonth(Sound):
    def fit(self, train: Any) -> Any:
        assert train.last_days(30).any(), "no event in the last month"
        return super().fit(train)


@fails(testing.check_equal_draws_give_equal_lists, "two calls with equal draws differ")
class DrawsItsOwn(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        self.calls_ = getattr(self, "calls_", 0) + 1
        return np.roll(lists, self.calls_, axis=1)


@fails(testing.check_batches_do_not_matter, "depends on the other users")
class DrawsByBatch(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        return lists if len(users) == 1 else np.roll(lists, 1, axis=1)


@fails(testing.check_user_order_does_not_matter, "depends on the order of users")
class DrawsByRow(Sound):
    def spoilt(self, lists: Any, users: Any) -> Any:
        falling = len(users) > 1 and users[0] > users[-1]
        return np.roll(lists, 1, axis=1) if falling else lists


@fails(testing.check_length_does_not_linger, "longer lists changed the shorter")
class KeepsTheLongest(Sound):
    def recommend(self, users: Any, k: int, draws: Any, exclude: Any = None) -> Any:
        self.longest_ = max(k, getattr(self, "longest_", 0))
        return np.roll(super().recommend(users, k, draws, exclude), self.longest_ > k, axis=1)


@fails(testing.check_global_random_state_is_left_alone, "global random state")
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


@fails(testing.check_parts_make_no_difference, "fitted in parts, it recommends other")
class CountsParts(InParts):
    def of_part(self, part: Any) -> Any:
        return {"n": np.ones(1, np.int64)}


@fails(testing.check_global_random_state_is_left_alone, "global random state")
class SeedsRandom(Sound):
    def fit(self, train: Any) -> Any:
        random.seed(1)
        return super().fit(train)


def failing(model: Sound) -> list[str]:
    rows = []
    for check in CHECKS:
        try:
            check(model)
        except Exception:
            rows.append(check.__name__)
    return rows


def test_the_sound_one_passes() -> None:
    testing.check_recommender(Sound())
    testing.check_recommender(InParts())
    with pytest.raises(RecommenderError, match=r"give an object of it: Sound\(\)"):
        testing.check_recommender(Sound)  # type: ignore[arg-type]


NOTICED_BY_OTHERS = {Repeats, IgnoresExclude, DrawsItsOwn, SeedsRandom}
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


def test_every_check_there_is_runs_and_has_something_that_breaks_it() -> None:
    names = {name for name in vars(testing) if name.startswith("check_")}
    assert {check.__name__ for check in CHECKS} == names - {"check_recommender", "check_layout"}
    assert all(check.__doc__ for check in CHECKS), "each says what it asks for"
    assert {check for _, check, _ in BROKEN} == set(CHECKS)
