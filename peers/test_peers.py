"""Random cases: where a tool defines a metric as we do, the values are the same.

Where that is, alike.py says; what parts the tools elsewhere is shown in test_differences.py.
"""

from statistics import fmean

import pytest
from alike import ALIKE, ALIKE_OF_ALL_LISTS, NOT_ALIKE, answer, filled_lists, truth
from scored import Scored

CLOSE = 1e-12
GIVEN_BY_USER = [(tool, text) for tool, text in ALIKE if tool != "recommenders"]


def test_every_value_of_every_tool_is_compared(random_cases: list[Scored]) -> None:
    had = {
        (tool, text)
        for scored in random_cases
        for tool, values in scored.results.items()
        for text in values
        if tool != "ours"
    }
    assert had == ALIKE.keys() | ALIKE_OF_ALL_LISTS.keys() | NOT_ALIKE


@pytest.mark.parametrize(("tool", "text"), GIVEN_BY_USER)
def test_users_have_the_same_value(random_cases: list[Scored], tool: str, text: str) -> None:
    where, averaged = ALIKE[tool, text]
    compared = []
    for scored in _having(random_cases, tool, text):
        theirs = scored.results[tool][text]["users"]
        assert theirs.keys() == averaged(scored.case)
        for user in sorted(theirs.keys() & truth(scored.case)):
            listed = answer(scored.case, user)
            if where(listed):
                compared.append((theirs[user], scored.user("ours", text, user), listed))
    _assert_same(compared)


@pytest.mark.parametrize(("tool", "text"), ALIKE)
def test_means_are_the_same(random_cases: list[Scored], tool: str, text: str) -> None:
    where, averaged = ALIKE[tool, text]
    compared = []
    for scored in _having(random_cases, tool, text):
        users = averaged(scored.case)
        comparable = all(where(answer(scored.case, user)) for user in users)
        if comparable and users and users <= truth(scored.case):
            means = scored.mean(tool, text), _our_mean(scored, text, users)
            compared.append((*means, scored.case))
    _assert_same(compared)


@pytest.mark.parametrize(("tool", "text"), ALIKE_OF_ALL_LISTS)
def test_all_lists_together_have_the_same_value(
    random_cases: list[Scored], tool: str, text: str
) -> None:
    """We look at the lists of users with truth alone, so only they may have lists."""
    where = ALIKE_OF_ALL_LISTS[tool, text]
    compared = [
        (scored.mean(tool, text), scored.mean("ours", text), scored.case)
        for scored in _having(random_cases, tool, text)
        if where(scored.case) and filled_lists(scored.case) <= truth(scored.case)
    ]
    _assert_same(compared)


def _having(cases: list[Scored], tool: str, text: str) -> list[Scored]:
    return [scored for scored in cases if text in scored.results[tool]]


def _our_mean(scored: Scored, text: str, users: set[str]) -> float:
    """Return our mean, or that of our values where the tool averages over fewer users."""
    if users == truth(scored.case):
        return scored.mean("ours", text)
    return fmean(scored.user("ours", text, user) for user in users)


def _assert_same(compared: list[tuple]) -> None:
    """Compare (theirs, ours, of what); a comparison of nothing but zeros proves nothing."""
    assert any(theirs for theirs, *_ in compared)
    wrong = [case for case in compared if not abs(case[0] - case[1]) <= CLOSE]
    assert not wrong[:1], f"{len(wrong)} of {len(compared)} differ"
