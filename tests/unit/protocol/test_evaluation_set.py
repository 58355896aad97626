"""Evaluation sets worked out by hand, and against plain Python anywhere."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from conftest import refusal
from hypothesis import given
from hypothesis import strategies as st

from harness.config import EvaluationConfig
from harness.core.arrays import Ragged
from harness.core.errors import EmptyEvaluationSetError, UsageError
from harness.data.dataset import NO_TIME, Dataset, Events
from harness.protocol.evaluation_set import EvaluationSet, Step, build
from harness.protocol.split import Split

DAY = 86_400_000_000
Pairs = Iterable[tuple[str, str]]


def pairs(text: str) -> list[tuple[str, str]]:
    """Read ``"ann:ab bob:c"`` as three (user, item) pairs."""
    return [(u, i) for word in text.split() for u, items in [word.split(":")] for i in items]


def shop(
    train: Pairs,
    valid: Pairs,
    catalogue: Iterable[str] | None = None,
    shown: dict[str, int] | None = None,
    registered: dict[str, int] | None = None,
) -> tuple[Dataset, Split]:
    """Return a data set and its split: the first day is training, the second is held out."""
    train, valid = list(train), list(valid)
    more = sorted(set(catalogue or ()))
    users = sorted({u for u, _ in [*train, *valid]})
    items = sorted({*(i for _, i in [*train, *valid]), *more})

    def events(side: list[tuple[str, str]], day: int) -> Events:
        return Events(
            np.array([users.index(u) for u, _ in side], np.int32),
            np.array([items.index(i) for _, i in side], np.int32),
            np.full(len(side), day * DAY, np.int64),
            np.zeros(len(side), np.uint8),
        )

    def times(values: dict[str, int] | None, ids: list[str]) -> Any:
        return None if values is None else np.array([values.get(i, NO_TIME) for i in ids], np.int64)

    data = Dataset(
        layout="table",
        user_ids=pl.Series(users, dtype=pl.String),
        item_ids=pl.Series(items, dtype=pl.String),
        events=events([*train, *valid], 0),
        kinds=("event",),
        candidates="train",
        catalogue=None if catalogue is None else np.array([items.index(i) for i in more], np.int32),
        shown_from=times(shown, items),
        registered=times(registered, users),
    )
    return data, Split(events(train, 0), events(valid, 1), 0, DAY, 2 * DAY)


def evaluation_set(train: Pairs, valid: Pairs, *, k: int = 3, **keys: Any) -> EvaluationSet:
    tables = {name: keys.pop(name, None) for name in ("catalogue", "shown", "registered")}
    return build(*shop(train, valid, **tables), EvaluationConfig(k=k, **keys))


def lists(result: EvaluationSet, rows: Ragged) -> dict[str, str]:
    """Return the candidate ids of every row as one word, by user."""
    ids, users = result.candidate_ids.to_list(), result.user_ids.to_list()
    own = np.split(rows.indices, rows.indptr[1:-1])
    return {user: "".join(ids[p] for p in row) for user, row in zip(users, own, strict=True)}


TRAIN = pairs("ann:ab bob:b cid:c")
VALID = pairs("ann:abx bob:x dee:a cid:ccc")
"""x is no candidate of the rule "train"; dee is new; only bob has no candidate hit."""


def test_the_funnel_names_each_rule() -> None:
    result = evaluation_set(TRAIN, VALID)
    assert result.funnel == (
        Step("active in the window", 4),
        Step("seen in train", 3),
        Step("with a candidate hit", 2),
    )
    assert result.user_ids.to_list() == ["ann", "cid"]
    assert result.users.tolist() == [0, 2]
    assert lists(result, result.truth) == {"ann": "ab", "cid": "c"}
    assert result.relevant.tolist() == [3, 1]


def test_ponpare_counts_coupons_of_other_weeks_in_r_only() -> None:
    """One of four touched coupons was first shown in the window: r = 1, R = 4."""
    shown = {"n": DAY, "o": 0, "p": 2 * DAY, "z": DAY + 5}
    keys = {"catalogue": "nopz", "shown": shown, "candidates": "shown", "registered": {"ann": 0}}
    result = evaluation_set(pairs("ann:o"), pairs("ann:nopq"), **keys)
    assert result.candidate_ids.to_list() == ["n", "z"]
    assert lists(result, result.truth) == {"ann": "n"}
    assert result.relevant.tolist() == [4]
    assert result.outside_ids.to_list() == ["o", "p", "q"]


@pytest.mark.parametrize(("rule", "ids"), [("train", "abc"), ("catalogue", "adz"), ("shown", "d")])
def test_candidate_rules(rule: str, ids: str) -> None:
    shown = {"a": DAY - 1, "d": DAY, "z": 2 * DAY, "c": DAY}  # c has no row in the catalogue
    keys = {"candidates": rule, "catalogue": "zda", "shown": shown}
    result = evaluation_set(TRAIN, pairs("ann:ad bob:d cid:d"), **keys)
    assert "".join(result.candidate_ids.to_list()) == ids


def test_the_layouts_own_rule_is_the_default() -> None:
    data, parts = shop(TRAIN, VALID, catalogue="ax")
    result = build(replace(data, candidates="catalogue"), parts, EvaluationConfig())
    assert result.candidate_ids.to_list() == ["a", "x"]


def test_registered_users_registered_before_the_window() -> None:
    registered, every = {"ann": 0, "bob": DAY, "cid": DAY - 1}, pairs("ann:a bob:a cid:a dee:a")
    result = evaluation_set(every, every, registered=registered)
    assert result.user_ids.to_list() == ["ann", "cid"]
    assert result.funnel[1] == Step("registered and seen in train", 2)


@pytest.mark.parametrize("rule", ["catalogue", "shown"])
def test_rules_that_need_a_table_say_so(rule: str) -> None:
    with refusal(UsageError, f'candidates = "{rule}"', "table of items"):
        evaluation_set(TRAIN, VALID, candidates=rule)


@pytest.mark.parametrize("lacking", ["shown_from", "until"])
def test_shown_needs_times_and_a_window(lacking: str) -> None:
    data, parts = shop(TRAIN, VALID, catalogue="a", shown={"a": DAY})
    data = replace(data, shown_from=None) if lacking == "shown_from" else data
    parts = replace(parts, until=None) if lacking == "until" else parts
    with pytest.raises(UsageError, match=r'"shown" needs.*first shown.*strategy = "time"'):
        build(data, parts, EvaluationConfig(candidates="shown"))


@pytest.mark.parametrize(
    ("valid", "keys", "named"),
    [
        ("dee:a eve:b", {}, ['the rule "seen in train" emptied', 'users = "all"',
                             "           2  active in the window", "           0  seen in train"]),
        ("ann:x bob:y cid:z", {}, ['the rule "with a candidate hit" emptied', "ids alike",
                                   "           3  seen in train",
                                   "           0  with a candidate hit", "3  candidates"]),
        ("ann:a bob:b", {"seen_items": "drop"},
         ['the rule "with a candidate hit" emptied', 'or seen_items = "keep" where it drops what']),
        ("ann:a", {"candidates": "catalogue", "catalogue": ""},
         ["no item is a candidate", 'candidates = "catalogue"',
          "           1  active in the window", "           0  candidates"]),
        ("dee:a", {"registered": {}}, ['the rule "registered and seen in train" emptied']),
    ],
)  # fmt: skip
def test_an_empty_evaluation_set_prints_the_funnel_and_the_rule(
    valid: str, keys: dict[str, Any], named: list[str]
) -> None:
    with refusal(EmptyEvaluationSetError, *named):
        evaluation_set(TRAIN, pairs(valid), **keys)


# Fingerprints.

BASE: dict[str, Any] = {
    "train": pairs("ann:ab bob:b cid:c"),
    "valid": pairs("ann:abx bob:bc cid:cx"),
    "catalogue": "abcd",
    "candidates": "catalogue",
}


CHANGES: list[tuple[str, dict[str, Any], set[str]]] = [
    ("order", {"train": BASE["train"][::-1], "valid": BASE["valid"][::-1]}, set()),
    ("repeats", {"valid": BASE["valid"] * 2, "train": BASE["train"] * 3}, set()),
    ("user", {"train": pairs("aaron:ab ann:ab bob:b cid:c")}, set()),
    ("item", {"train": pairs("ann:ab bob:b cid:cAw")}, set()),
    ("other buys", {"train": pairs("ann:d bob:d cid:d")}, set()),
    ("unknown user", {"valid": pairs("ann:abx bob:bc cid:cx dee:ad")}, set()),
    ("k", {"k": 4}, {"k"}),
    ("evaluated user", {"valid": pairs("ann:abx bob:bc cim:cx"),
                        "train": pairs("ann:ab bob:b cim:c")}, {"users", "truth"}),
    ("candidate", {"catalogue": "abce"}, {"candidates"}),
    ("hit", {"valid": pairs("ann:abx bob:bd cid:cx")}, {"truth"}),
    ("other non-candidate", {"valid": pairs("ann:aby bob:bc cid:cx")}, {"truth"}),
    ("whose non-candidate", {"valid": pairs("ann:ab bob:bcx cid:cx")}, {"truth"}),
    ("truth rule", {"truth": "candidates"}, {"truth"}),
]  # fmt: skip


@pytest.mark.parametrize(("change", "keys", "fields"), CHANGES)
def test_what_changes_its_fingerprint(change: str, keys: dict[str, Any], fields: set[str]) -> None:
    before, after = evaluation_set(**BASE), evaluation_set(**{**BASE, **keys})
    assert {name for name, value in before.fields.items() if after.fields[name] != value} == fields
    assert (before.fingerprint != after.fingerprint) == bool(fields)
    assert len(before.fingerprint) == 64


def test_what_was_seen_is_in_the_fingerprint_where_it_is_dropped() -> None:
    """The same truth is left; ann's seen b and bob's seen a are what differs."""
    drop = BASE | {"seen_items": "drop", "valid": pairs("ann:d bob:d")}
    one = evaluation_set(**drop | {"train": pairs("ann:ab bob:a")})
    two = evaluation_set(**drop | {"train": pairs("ann:a bob:ab")})
    assert {n for n, v in one.fields.items() if two.fields[n] != v} == {"seen"}
    assert one.fingerprint != two.fingerprint


# Plain Python.


def plain(
    train: list[tuple[str, str]], valid: list[tuple[str, str]], catalogue: str, keys: dict[str, Any]
) -> dict[str, Any]:
    """Return the same evaluation set from sets alone."""
    candidates = set(catalogue) if keys["candidates"] == "catalogue" else {i for _, i in train}
    drop = keys["seen_items"] == "drop"
    users = sorted({u for u, _ in valid})
    own = {u: {i for v, i in train if v == u} for u in users}
    truth = {u: {i for v, i in valid if v == u} - (own[u] if drop else set()) for u in users}
    if keys["truth"] == "candidates":
        truth = {u: items & candidates for u, items in truth.items()}
    funnel = [len(users)]
    if keys["users"] == "seen":
        users = [u for u in users if own[u]]
        funnel.append(len(users))
    if keys["require_hit"]:
        users = [u for u in users if truth[u] & candidates]
        funnel.append(len(users))
    return {
        "users": users,
        "candidates": sorted(candidates),
        "funnel": funnel,
        "truth": {u: "".join(sorted(truth[u] & candidates)) for u in users},
        "relevant": [len(truth[u]) for u in users],
        "outside": [i for u in users for i in sorted(truth[u] - candidates)],
        "seen": {u: "".join(sorted(own[u] & candidates)) for u in users} if drop else None,
        "n": [len(candidates - own[u] if drop else candidates) for u in users],
    }


log = st.lists(st.tuples(st.sampled_from("uvwx"), st.sampled_from("abcdef")), min_size=1)
RULES: dict[str, list[Any]] = {
    "users": ["seen", "all"],
    "require_hit": [False, True],
    "truth": ["all", "candidates"],
    "seen_items": ["keep", "drop"],
    "candidates": ["train", "catalogue"],
}
rules = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in RULES.items()})


@given(log, log, st.sets(st.sampled_from("abcdefg"), min_size=1), rules)
def test_equals_plain_python(train: Any, valid: Any, catalogue: set[str], keys: Any) -> None:
    expected = plain(train, valid, "".join(sorted(catalogue)), keys)
    if not expected["users"]:
        with pytest.raises(EmptyEvaluationSetError):
            evaluation_set(train, valid, catalogue=catalogue, **keys)
        return
    result = evaluation_set(train, valid, catalogue=catalogue, **keys)
    assert expected == {
        "users": result.user_ids.to_list(),
        "candidates": result.candidate_ids.to_list(),
        "funnel": [step.users for step in result.funnel],
        "truth": lists(result, result.truth),
        "relevant": result.relevant.tolist(),
        "outside": result.outside_ids.to_list(),
        "seen": None if result.seen is None else lists(result, result.seen),
        "n": result.n_candidates.tolist(),
    }
