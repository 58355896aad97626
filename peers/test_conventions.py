"""The table of conventions says what each tool prints, whatever the lists hold."""

import warnings

import pytest
from conftest import as_truth
from scored import Scored

import harness

CLOSE = 1e-12
PRINTED = [  # the convention, and the tool's value
    ("trec_eval", "pytrec_eval", "MAP(divisor=trec)"),
    ("ir_measures", "ir_measures", "MAP(divisor=trec)"),
    ("ir_measures", "ranx", "MAP(divisor=trec)"),
    ("rectools", "rectools", "MAP(divisor=trec)"),
    ("rectools-k", "rectools", "MAP(divisor=k)"),
    ("replay", "replay", "MAP"),
    ("recommenders", "recommenders", "MAP"),
    ("recommenders-map", "recommenders", "MAP(divisor=trec)"),
]


@pytest.mark.parametrize(("convention", "tool", "text"), PRINTED)
def test_the_tool_prints_what_its_convention_says(
    random_cases: list[Scored], convention: str, tool: str, text: str
) -> None:
    """Repeated and empty lists included; truth here is a set, and an empty list is no list."""
    compared = 0
    for scored in random_cases:
        empty = any(not items for items in scored.case["lists"].values())
        if _repeats_truth(scored.case) or (empty and tool == "pytrec_eval"):
            continue
        expected = scored.mean(tool, text)
        assert _conventions(scored.case)[convention] == pytest.approx(expected, rel=0, abs=CLOSE)
        compared += 1
    assert compared > len(random_cases) / 4


def _repeats_truth(case: dict) -> bool:
    return any(len({item for item, _ in rows}) < len(rows) for rows in case["truth"].values())


def _conventions(case: dict) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # users outside the truth are meant
        found = harness.conventions(case["lists"], as_truth(case), case["k"])
    return found[f"MAP@{case['k']}"].to_dict()
