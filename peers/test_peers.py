"""Random exams: where a tool defines a metric as we do, the figures are the same.

Where that is, alike.py says; what parts the tools elsewhere is shown in test_differences.py.
"""

from statistics import fmean

import pytest
from alike import ALIKE, ALIKE_OF_ALL_LISTS, NOT_ALIKE, answer, filled_lists, truth
from scored import Scored

CLOSE = 1e-12
GIVEN_BY_USER = [(tool, text) for tool, text in ALIKE if tool != "recommenders"]


def test_every_figure_of_every_tool_is_compared(random_exams: list[Scored]) -> None:
    had = {
        (tool, text)
        for scored in random_exams
        for tool, figures in scored.results.items()
        for text in figures
        if tool != "ours"
    }
    assert had == ALIKE.keys() | ALIKE_OF_ALL_LISTS.keys() | NOT_ALIKE


@pytest.mark.parametrize(("tool", "text"), GIVEN_BY_USER)
def test_users_have_the_same_value(random_exams: list[Scored], tool: str, text: str) -> None:
    where, averaged = ALIKE[tool, text]
    compared = []
    for scored in _having(random_exams, tool, text):
        theirs = scored.results[tool][text]["users"]
        assert theirs.keys() == averaged(scored.exam)
        for user in sorted(theirs.keys() & truth(scored.exam)):
            marked = answer(scored.exam, user)
            if where(marked):
                compared.append((theirs[user], scored.user("ours", text, user), marked))
    _assert_same(compared)


@pytest.mark.parametrize(("tool", "text"), ALIKE)
def test_means_are_the_same(random_exams: list[Scored], tool: str, text: str) -> None:
    where, averaged = ALIKE[tool, text]
    compared = []
    for scored in _having(random_exams, tool, text):
        users = averaged(scored.exam)
        comparable = all(where(answer(scored.exam, user)) for user in users)
        if comparable and users and users <= truth(scored.exam):
            means = scored.mean(tool, text), _our_mean(scored, text, users)
            compared.append((*means, scored.exam))
    _assert_same(compared)


@pytest.mark.parametrize(("tool", "text"), ALIKE_OF_ALL_LISTS)
def test_all_lists_together_have_the_same_value(
    random_exams: list[Scored], tool: str, text: str
) -> None:
    """We look at the lists of users with truth alone, so only they may have lists."""
    where = ALIKE_OF_ALL_LISTS[tool, text]
    compared = [
        (scored.mean(tool, text), scored.mean("ours", text), scored.exam)
        for scored in _having(random_exams, tool, text)
        if where(scored.exam) and filled_lists(scored.exam) <= truth(scored.exam)
    ]
    _assert_same(compared)


def _having(exams: list[Scored], tool: str, text: str) -> list[Scored]:
    return [scored for scored in exams if text in scored.results[tool]]


def _our_mean(scored: Scored, text: str, users: set[str]) -> float:
    """Return our mean, or that of our values where the tool averages over fewer users."""
    if users == truth(scored.exam):
        return scored.mean("ours", text)
    return fmean(scored.user("ours", text, user) for user in users)


def _assert_same(compared: list[tuple]) -> None:
    """Compare (theirs, ours, of what); a comparison of nothing but zeros proves nothing."""
    assert any(theirs for theirs, *_ in compared)
    wrong = [case for case in compared if not abs(case[0] - case[1]) <= CLOSE]
    assert not wrong[:1], f"{len(wrong)} of {len(compared)} differ"
