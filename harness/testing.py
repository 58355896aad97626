"""One conformance suite for every recommender, ours or a stranger's.

In a test::

    import pytest
    from harness.testing import recommender_checks

    @pytest.mark.parametrize("check", recommender_checks(), ids=lambda check: check.__name__)
    def test_my_model_keeps_the_contract(check):
        check(MyModel())

or all at once, ``check_recommender(MyModel())``. A recommender that learns from sums over users
(`harness.models.sums`) is asked for the same lists when users are in parts; `parts_of` and
`fitted_in_parts` do so with any data.

`check_layout` looks at a layout, ours or a stranger's, and at the files that it is for.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from harness.core.arrays import Int32, Ragged
from harness.core.errors import RecommenderError
from harness.core.exact_sum import of_parts
from harness.core.random import Draws, id_hashes
from harness.data.attributes import notes_on_ids
from harness.data.attributes import read as read_attributes
from harness.data.dataset import DAY_US, ID, Dataset, Events
from harness.data.layout import Layout
from harness.data.layouts import require_layout
from harness.data.loading import load
from harness.data.ordering import canonical
from harness.models import guard
from harness.models.base import Recommender, Train
from harness.models.recommendations import checked
from harness.models.sums import fit_all, fits_in_parts, without_events

Check = Callable[[Recommender], None]

_EVENTS = (
    ("ann", "a", 0), ("ann", "b", 1), ("ann", "a", 9), ("ann", "gone", 9),
    ("bob", "b", 3), ("bob", "c", 3), ("bob", "b", 8),
    ("cid", "d", 9), ("dee", "gone", 2), ("eve", "a", 7), ("eve", "e", 8),
)  # fmt: skip
_CANDIDATES = ("a", "b", "c", "d", "e", "new1", "new2")
_USERS = ("ann", "bob", "cid", "dee", "eve", "nobody")  # nobody has no event
_ITEMS_TABLE = {  # neither "gone" nor "d" has a row
    "item": ["e", "new1", "a", "b", "c", "new2"],
    "genre": ["food", "food", "food", "spa", "spa", None],
    "price": ["900", "800", "1000", "250.5", None, "300"],
    "text": ["hot soup", "cold soup", "soup and bread", "massage", "", "massage at night"],
}
_USERS_TABLE = {  # "dee" has no row
    "user": ["nobody", "ann", "bob", "cid", "eve"],
    "sex": ["f", "f", "m", None, "m"],
    "age": ["30", "31", "", "55", "20"],
}


def check_recommender(recommender: Recommender) -> None:
    """Run every check on copies of an unfitted recommender.

    Raises
    ------
    RecommenderError
        The first check that fails; the message says which and how. Or it is a class.
    """
    if isinstance(recommender, type):
        name = recommender.__name__
        raise RecommenderError(f"{name} is a class; give an object of it: {name}()")
    for check in recommender_checks():
        try:
            check(recommender)
        except Exception as error:  # a stranger's code may raise anything
            kind = "" if isinstance(error, RecommenderError) else f"{type(error).__name__}: "
            name = type(recommender).__name__
            raise RecommenderError(f"{name} fails {check.__name__}: {kind}{error}") from error


def check_layout(layout: Layout, folder: Path | str) -> None:
    """Read the files in a folder by a layout.

    Parameters
    ----------
    layout : Layout
        Of `harness.layouts`.
    folder : Path or str
        Where files of its shape are; a few rows of each will do.

    Raises
    ------
    UsageError
        It is no layout, or does not say what it must.
    DataError
        A file, column or value that is not as the layout says; tables of users or items that
        describe nobody who has events.
    """
    require_layout(layout, "layout")
    folder = Path(folder)  # text is the name of a folder that Spark alone can read
    data = load(layout.within(folder))
    if (users := layout.users) is not None:
        described = read_attributes(users.placed(folder))
        notes_on_ids(users, "users", described[users.id], data.user_ids)


def recommender_checks() -> list[Check]:
    """Return the checks, each a function of an unfitted recommender."""
    return [
        check_fit_returns_self,
        check_fit_keeps_parameters,
        check_fit_forgets,
        check_lists_are_valid,
        check_more_places_than_candidates,
        check_exclude_is_obeyed,
        check_everything_excluded,
        check_no_users,
        check_new_candidates_alone,
        check_one_event,
        check_nothing_lately,
        check_equal_draws_give_equal_lists,
        check_batches_do_not_matter,
        check_user_order_does_not_matter,
        check_length_does_not_linger,
        check_parts_make_no_difference,
        check_global_random_state_is_left_alone,
    ]


def example_train(
    candidates: tuple[str, ...] = _CANDIDATES,
    *,
    events: tuple[tuple[str, str, int], ...] = _EVENTS,
    cutoff_day: int = 10,
) -> Train:
    """Return ten days of a tiny shop: an unknown user, new items, and one that is gone.

    Its tables have gaps: of items with ``genre``, ``price`` and ``text``, of users with ``sex``
    and ``age``.
    """
    users = pl.Series(ID, sorted(_USERS))
    items = pl.Series(ID, sorted({*_CANDIDATES, "gone"}))
    user, item = users.to_list(), items.to_list()
    codes = Events(
        np.array([user.index(u) for u, _, _ in events], np.int32),
        np.array([item.index(i) for _, i, _ in events], np.int32),
        np.array([day * DAY_US for _, _, day in events], np.int64),
        np.zeros(len(events), np.uint8),
    )
    ordered = canonical(codes, len(users), len(items), 1)
    positions = np.array([item.index(c) for c in candidates], np.int32)
    dataset = Dataset(
        "example", users, items, ordered, ("event",), "train",
        users_table=pl.DataFrame(_USERS_TABLE), items_table=pl.DataFrame(_ITEMS_TABLE),
    )  # fmt: skip
    return Train(dataset, ordered, positions, cutoff=cutoff_day * DAY_US)


def example_draws(train: Train, repeat: int = 0, seed: int = 7) -> Draws:
    """Return draws for the users of `example_train`."""
    return Draws(seed, repeat, id_hashes(train.user_ids))


def _fitted(recommender: Recommender, train: Train) -> Recommender:
    return copy.deepcopy(recommender).fit(train)


def _everyone(train: Train) -> Int32:
    return np.arange(len(train.user_ids), dtype=np.int32)


def _lists(
    model: Recommender,
    train: Train,
    k: int,
    users: Int32 | None = None,
    exclude: csr_array[Any] | None = None,
) -> Int32:
    """Return the lists of some users, by default all, if they are as the contract says."""
    users = _everyone(train) if users is None else users
    answer = model.recommend(users, k, example_draws(train), exclude=exclude)
    rows = None
    if exclude is not None:
        rows = Ragged(exclude.indptr.astype(np.int64), exclude.indices.astype(np.int32))
    name = type(model).__name__
    return checked(name, answer, train.user_ids.gather(users), k, len(train.candidates), rows)


def _require(holds: bool, recommender: Recommender, rule: str) -> None:
    if not holds:
        raise RecommenderError(f"{type(recommender).__name__}: {rule}")


def check_fit_returns_self(recommender: Recommender) -> None:
    """Return from ``fit`` the object it was called on."""
    model = copy.deepcopy(recommender)
    _require(model.fit(example_train()) is model, recommender, "fit must return self")


def check_fit_keeps_parameters(recommender: Recommender) -> None:
    """Keep what the constructor stored; ``fit`` stores under names ending in ``_``."""
    before = _parameters(recommender)
    after = _parameters(_fitted(recommender, example_train()))
    for name, value in before.items():
        _require(
            after.get(name) == value,
            recommender,
            f'fit changed the parameter "{name}"; store learnt values under a name that ends in _',
        )


def _parameters(model: Any) -> dict[str, str]:
    """Return what a model has under names that do not end in ``_``, as text."""
    return {name: _shown(value) for name, value in vars(model).items() if not name.endswith("_")}


def _shown(value: Any) -> str:
    """Return a parameter as text: a recommender by its type and its own parameters."""
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(map(_shown, value))})"
    if isinstance(value, dict):
        return f"dict({', '.join(f'{key!r}: {_shown(member)}' for key, member in value.items())})"
    if callable(getattr(value, "fit", None)) and hasattr(value, "__dict__"):
        return f"{type(value).__qualname__}({_parameters(value)})"
    return repr(value)


def check_fit_forgets(recommender: Recommender) -> None:
    """Learn in a second ``fit`` what a first one on the same data would."""
    other, train = example_train(("a", "c", "e")), example_train()
    again = _lists(_fitted(recommender, other).fit(train), train, 3)
    once = _lists(_fitted(recommender, train), train, 3)
    _require(
        np.array_equal(again, once), recommender, "fit must not keep anything from an earlier fit"
    )


def check_lists_are_valid(recommender: Recommender) -> None:
    """Return (n, k) candidate positions without repeats, for k = 1 and k = 4."""
    train = example_train()
    model = _fitted(recommender, train)
    for k in (1, 4):
        _lists(model, train, k)


def check_more_places_than_candidates(recommender: Recommender) -> None:
    """Leave the end of a list empty where k exceeds the candidates."""
    train = example_train(("a", "b"))
    _lists(_fitted(recommender, train), train, 5)


def check_exclude_is_obeyed(recommender: Recommender) -> None:
    """Recommend nothing that ``exclude`` holds."""
    train = example_train()
    held = np.zeros((len(train.user_ids), len(train.candidates)), np.bool_)
    held[0, [0, 1]] = held[1, [2]] = held[5, [0, 3, 6]] = True
    _lists(_fitted(recommender, train), train, 4, exclude=csr_array(held))


def check_everything_excluded(recommender: Recommender) -> None:
    """Give an empty list to a user for whom everything is excluded."""
    train = example_train()
    held = np.zeros((len(train.user_ids), len(train.candidates)), np.bool_)
    held[2] = True
    _lists(_fitted(recommender, train), train, 4, exclude=csr_array(held))


def check_no_users(recommender: Recommender) -> None:
    """Answer (0, k) when no users are asked for."""
    train = example_train()
    _lists(_fitted(recommender, train), train, 3, users=np.zeros(0, np.int32))


def check_new_candidates_alone(recommender: Recommender) -> None:
    """Learn and answer where no candidate has an event."""
    train = example_train(("new1", "new2"))
    _lists(_fitted(recommender, train), train, 2)


def check_one_event(recommender: Recommender) -> None:
    """Learn from a single event: all other rows of the matrix are empty."""
    train = example_train(events=_EVENTS[:1])
    _lists(_fitted(recommender, train), train, 3)


def check_nothing_lately(recommender: Recommender) -> None:
    """Learn and answer where every event is years old, and every window empty."""
    train = example_train(cutoff_day=3_000)
    _lists(_fitted(recommender, train), train, 3)


def check_equal_draws_give_equal_lists(recommender: Recommender) -> None:
    """Give the same lists for the same users and draws, however often asked."""
    train = example_train()
    model = _fitted(recommender, train)
    rule = "two calls with equal draws differ; draw from `draws` alone"
    _require(np.array_equal(_lists(model, train, 3), _lists(model, train, 3)), recommender, rule)


def check_batches_do_not_matter(recommender: Recommender) -> None:
    """Give a user the same list alone as among others."""
    train = example_train()
    model = _fitted(recommender, train)
    single = [_lists(model, train, 3, users=user) for user in _everyone(train)[:, np.newaxis]]
    rule = "a user's list depends on the other users"
    _require(np.array_equal(_lists(model, train, 3), np.vstack(single)), recommender, rule)


def check_user_order_does_not_matter(recommender: Recommender) -> None:
    """Give users the same lists in whatever order they are asked for."""
    train = example_train()
    model = _fitted(recommender, train)
    turned = _lists(model, train, 3, users=_everyone(train)[::-1].copy())[::-1]
    rule = "a user's list depends on the order of users"
    _require(np.array_equal(_lists(model, train, 3), turned), recommender, rule)


def check_length_does_not_linger(recommender: Recommender) -> None:
    """Keep apart answers to different k."""
    train = example_train()
    model = _fitted(recommender, train)
    first = _lists(model, train, 2)
    _lists(model, train, 4)
    rule = "asking for longer lists changed the shorter ones"
    _require(np.array_equal(first, _lists(model, train, 2)), recommender, rule)


def check_parts_make_no_difference(recommender: Recommender) -> None:
    """Learn from users in three parts what it learns from all at once, where it offers to."""
    if not fits_in_parts(recommender):
        return
    train = example_train()
    part = _everyone(train) % 3
    parts = parts_of(train, part)
    model: Any = fitted_in_parts(copy.deepcopy(recommender), train, parts)
    lists = np.empty((len(part), 3), np.int32)
    for number, data in enumerate(parts):
        lists[part == number] = _lists(model.for_users(data), data, 3)
    rule = (
        "fitted in parts, it recommends other lists than fitted at once; steps must be whole "
        "numbers that add up, without candidates"
    )
    _require(
        np.array_equal(lists, _lists(_fitted(recommender, train), train, 3)), recommender, rule
    )


def parts_of(train: Train, part: Int32) -> list[Train]:
    """Return the users of each part, with their events, as training data of their own.

    `part`, (n users,), has the part of each user; every number up to the largest is one.
    """
    parts = []
    for number in range(int(part.max()) + 1):
        users = np.flatnonzero(part == number)
        events = train.events.of_users(users.astype(np.int32), len(train.user_ids))
        registered = None if train.dataset.registered is None else train.dataset.registered[users]
        ids = train.user_ids.gather(users)
        dataset = replace(train.dataset, user_ids=ids, registered=registered, events=events)
        parts.append(replace(train, dataset=dataset, events=events))
    return parts


def fitted_in_parts(recommender: Recommender, train: Train, parts: Sequence[Train]) -> Recommender:
    """Return a recommender of which `fits_in_parts` holds after all its steps.

    In the parts every item is a candidate; those of `train` alone are the real ones.
    """
    everything = np.arange(len(train.item_ids), dtype=np.int32)
    learned = [replace(part, candidates=everything) for part in parts]
    steps = guard.fit_steps(type(recommender).__name__, recommender, without_events(train))
    fit_all([steps], of_parts(lambda: learned))
    return recommender


def check_global_random_state_is_left_alone(recommender: Recommender) -> None:
    """Neither draw from nor seed ``random`` and ``numpy.random``."""
    kept = (random.getstate(), np.random.get_state())  # noqa: NPY002 - looked at, not drawn from
    train = example_train()
    _lists(_fitted(recommender, train), train, 3)  # libraries draw when imported
    try:
        # A state that no seed gives, so that seeding shows even where it was seeded so before.
        random.random(), np.random.random()  # noqa: NPY002, S311
        before = (random.getstate(), repr(np.random.get_state()))  # noqa: NPY002
        _lists(_fitted(recommender, train), train, 3)
        after = (random.getstate(), repr(np.random.get_state()))  # noqa: NPY002
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])  # noqa: NPY002
    _require(before == after, recommender, "the global random state changed; draw from `draws`")
