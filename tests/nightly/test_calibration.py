"""A small version of benchmarks/calibration*.py: do tests err as often as they say?

Limits are four standard errors of the share of so many trials.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def studies() -> tuple[Any, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        return import_module("calibration"), import_module("calibration_folds")


def around(share: float, trials: int) -> Any:
    return pytest.approx(share, abs=4 * (share * (1 - share) / trials) ** 0.5)


@pytest.mark.parametrize(("users", "hits"), [(500, 0.2), (2000, 0.1)])
def test_two_equal_models(studies: tuple[Any, Any], users: int, hits: float) -> None:
    t, flips, difference, ours, *_ = studies[0].two_equal_models((users, hits, 600, 0)) / 600
    assert [t, flips] == [around(0.05, 600)] * 2
    assert [difference, ours] == [around(0.95, 600)] * 2


def test_ten_equal_models(studies: tuple[Any, Any]) -> None:
    """Holm's rate is at most 5 %; pairs of ten models depend on each other, so it is less."""
    (wrong,) = studies[0].ten_equal_models((500, 0.2, 300, 0)) / 300
    assert wrong <= 0.05 + 4 * (0.05 * 0.95 / 300) ** 0.5


@pytest.mark.parametrize(("users", "candidates"), [(500, 300), (2000, 3000)])
def test_a_random_model(studies: tuple[Any, Any], users: int, candidates: int) -> None:
    (wrong,) = studies[0].random_models((users, candidates, 600, 0)) / 600
    assert wrong == around(0.05, 600)


@pytest.mark.parametrize("pattern", ["all in four", "a fifth in four, others in one"])
def test_two_equal_models_over_folds(studies: tuple[Any, Any], pattern: str) -> None:
    """With a sign a row the error is 7 to 10 %; intervals of raw values hold in up to 99.9 %."""
    shares = studies[1].recurring_users((pattern, "50 %, worth 1", 500, 600, 0)) / 600
    t, flips, _rows, difference, ours, *_ = shares
    assert [t, flips] == [around(0.05, 600)] * 2
    assert [difference, ours] == [around(0.95, 600)] * 2


def test_a_random_model_over_folds(studies: tuple[Any, Any]) -> None:
    (wrong,) = studies[1].random_folds(("a fifth in four, others in one", 300, 500, 600, 0)) / 600
    assert wrong == around(0.05, 600)
