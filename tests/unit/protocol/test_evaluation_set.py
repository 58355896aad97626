"""Evaluation sets worked out by hand, and against plain Python anywhere."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import refusal, words_of
from few_events import DAY, dataset
from hypothesis import given
from hypothesis import strategies as st

from harness.config import EvaluationConfig
from harness.core.errors import EmptyEvaluationSetError, UsageError
from harness.data.dataset import NO_TIME, Dataset
from harness.protocol.evaluation_set import EvaluationSet, Step, build
from harness.protocol.split import Split

Pairs = Iterable[tuple[str, str]]


def pairs(text: str) -> list[tuple[str, str]]:
    """Read ``"ann:ab bob:c"`` as three (user, item) pairs."""
    return [(u, i) for word in text.split() for u, items in [word.split(":")] for i in items]


def shop(train: Pairs, valid: Pairs, **tables: Any) -> tuple[Dataset, Split]:
    """Return a data set and its split: the first day is training, the second is held out."""
    rows = [(u, i, day * DAY) for day, side in enumerate((train, valid)) for u, i in side]
    data = dataset(rows, items=tables.get("catalogue") or ())
    users, items = data.user_ids.to_list(), data.item_ids.to_list()

    def column(name: str, ids: list[str]) -> Any:
        times = tables.get(name)
        return None if times is None else np.array([times.get(i, NO_TIME) for i in ids], np.int64)

    if tables.get("catalogue") is not None:
        places = [items.index(i) for i in sorted(tables["catalogue"])]
        data = replace(data, catalogue=np.array(places, np.int32))
    data = replace(data, shown_from=column("shown", items), registered=column("registered", users))
    train_, valid_ = (data.events.where(data.events.time == day * DAY) for day in (0, 1))
    return data, Split(train_, valid_, 0, DAY, 2 * DAY)


def evaluation_set(train: Pairs, valid: Pairs, *, k: int = 3, **keys: Any) -> EvaluationSet:
    tables = {name: keys.pop(name, None) for name in ("catalogue", "shown", "registered")}
    return build(*shop(train, valid, **tables), EvaluationConfig(k=k, **keys))


TRAIN = pairs("ann:ab bob:b cid:c")
VALID = pairs("ann:abx bob:x dee:a cid:ccc")
"""x is no candidate of the rule "train"; dee is new; only bob has no candidate hit."""


def test_ponpare_counts_coupons_of_other_weeks_in_r_only() -> None:
    """One of four touched coupons was first shown in the window: r = 1, R = 4; q has no row."""
    shown = {"n": DAY, "o": DAY - 1, "p": 2 * DAY, "q": DAY, "z": DAY + 5}
    keys = {"catalogue": "nopz", "shown": shown, "candidates": "shown", "registered": {"ann": 0}}
    result = evaluation_set(pairs("ann:o"), pairs("ann:nopq"), **keys)
    assert result.candidate_ids.to_list() == ["n", "z"]
    assert words_of(result, result.truth) == {"ann": "n"}
    assert result.relevant.tolist() == [4]
    assert result.outside_ids.to_list() == ["o", "p", "q"]


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
        ("dee:a eve:b", {}, ['after the rule "seen in train"', 'users = "all"',
                             "           2  active in the window", "           0  seen in train"]),
        ("ann:x bob:y cid:z", {}, ['after the rule "with a candidate hit"', "ids the same way",
                                   "           3  seen in train",
                                   "           0  with a candidate hit", "3  candidates"]),
        ("ann:a bob:b", {"seen_items": "drop"},
         ['after the rule "with a candidate hit"', 'or, with seen_items = "drop", set']),
        ("ann:a", {"candidates": "catalogue", "catalogue": ""},
         ["there are no candidates", 'candidates = "catalogue"',
          "           1  active in the window", "           0  candidates"]),
        ("dee:a", {"registered": {}}, ['after the rule "registered and seen in train"']),
    ],
)  # fmt: skip
def test_an_empty_evaluation_set_prints_the_funnel_and_the_rule(
    valid: str, keys: dict[str, Any], named: list[str]
) -> None:
    with refusal(EmptyEvaluationSetError, named):
        evaluation_set(TRAIN, pairs(valid), **keys)


@pytest.mark.parametrize(
    ("keys", "fields"),
    [
        ({"train": TRAIN[::-1] * 3, "valid": VALID[::-1] * 2}, set()),
        ({"train": pairs("aaron:ab ann:ab bob:d cid:c")}, set()),  # who is not evaluated
        ({"k": 4}, {"k"}),
        ({"catalogue": "abce"}, {"candidates"}),
        ({"valid": pairs("ann:ab bob:x dee:a cid:cx")}, {"truth"}),  # whose x
        ({"truth": "candidates"}, {"truth"}),
        ({"valid": pairs("ann:abx bob:x dee:a")}, {"users", "truth"}),
    ],
)
def test_what_changes_the_fingerprint(keys: dict[str, Any], fields: set[str]) -> None:
    base = {"train": TRAIN, "valid": VALID, "candidates": "catalogue", "catalogue": "abcd"}
    before, after = evaluation_set(**base), evaluation_set(**base | keys)
    assert {name for name, value in before.fields.items() if after.fields[name] != value} == fields
    assert (before.fingerprint != after.fingerprint) == bool(fields)


# Plain Python.


def plain(
    train: list[tuple[str, str]], valid: list[tuple[str, str]], catalogue: str, keys: dict[str, Any]
) -> dict[str, Any]:
    """Return the same evaluation set from sets alone."""
    candidates = set(catalogue) if keys["candidates"] == "catalogue" else {i for _, i in train}
    drop = keys["seen_items"] == "drop"
    users = sorted({u for u, _ in valid})
    items_of = {u: {i for v, i in train if v == u} for u in users}
    truth = {u: {i for v, i in valid if v == u} - (items_of[u] if drop else set()) for u in users}
    if keys["truth"] == "candidates":
        truth = {u: items & candidates for u, items in truth.items()}
    funnel = [len(users)]
    if keys["users"] == "seen":
        users = [u for u in users if items_of[u]]
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
        "seen": {u: "".join(sorted(items_of[u] & candidates)) for u in users} if drop else None,
        "n": [len(candidates - items_of[u] if drop else candidates) for u in users],
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
        "truth": words_of(result, result.truth),
        "relevant": result.relevant.tolist(),
        "outside": result.outside_ids.to_list(),
        "seen": None if result.seen is None else words_of(result, result.seen),
        "n": result.n_candidates.tolist(),
    }
