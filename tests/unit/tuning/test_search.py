"""Which parameters a search tries, in which order, and how the best of them are shown."""

import logging
import random
import sys
from typing import Any

import numpy as np
import pytest
from conftest import refusal

from harness.config.space import Domain, Range
from harness.core.errors import UsageError
from harness.tuning.result import at_the_edge, shown
from harness.tuning.search import Score, key_of, require, run_search, trials_of

SPACE: dict[str, Domain] = {
    "shrink": Range(low=0.5, high=8.0, log=True),
    "near": Range(low=1, high=4),
    "by": ("x", [1]),
}


def tried(
    search: Any,
    trials: int = 20,
    seed: int = 1,
    space: Any = None,
    sign: int = -1,
    value: Any = None,
) -> list[Any]:
    choices_tried: list[dict[str, Any]] = []

    def score(choices: Any) -> dict[str, Score]:
        choices_tried.extend(choices)
        return {key_of(p): Score(value(p) if value and p else 0.0) for p in choices}

    made = run_search(space or SPACE, {}, search, trials, seed, sign, score)
    assert len(made) == len(choices_tried), "one trial a choice, the first without any"
    return choices_tried[1:]


def test_a_grid_goes_through_all_combinations_the_last_fastest() -> None:
    space = {"a": (1, 2), "b": ("x", "y")}
    trials = tried("grid", space=space)
    assert [(p["a"], p["b"]) for p in trials] == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]
    assert trials_of(space, "grid", None) == trials_of(space, "grid", 7) == 4
    assert (trials_of(SPACE, "random", None), trials_of(SPACE, "tpe", 5)) == (30, 5)


@pytest.mark.parametrize("search", ["random", "tpe"])
def test_values_lie_in_their_domains(search: str) -> None:
    """Of five choices all are tried in five trials, however often one is drawn."""
    trials = tried(search, 60)
    assert len(trials) == 60
    assert {p["near"] for p in trials} == {1, 2, 3, 4}
    assert all(0.5 <= p["shrink"] <= 8 for p in trials)
    assert {repr(p["by"]) for p in trials} == {"'x'", "[1]"}
    assert all(p["shrink"] == float(f"{p['shrink']:.4g}") for p in trials)
    tags = tried(search, 5, space={"tag": tuple("abcde")})
    assert sorted(params["tag"] for params in tags) == list("abcde")


@pytest.mark.parametrize("search", ["random", "tpe"])
def test_equal_seeds_try_the_same(search: str) -> None:
    def value(params: Any) -> float | None:
        return None if params["near"] == 4 else float(params["shrink"])

    first, again, *rest = (tried(search, seed=n, value=value) for n in (1, 1, 2, 2**62, 2**62 - 1))
    assert first == again
    assert len(set(map(str, (first, *rest)))) == 4


def test_log_gives_equal_ratios_equal_chances() -> None:
    """Half of the draws from 1 … 10,000 lie below 100; of draws that are not of logs, 1 %."""
    for log, low, high in ((False, -1, 20), (True, 70, 130)):
        trials = tried("random", 200, space={"x": Range(low=1.0, high=10_000.0, log=log)})
        assert low < sum(p["x"] < 100 for p in trials) < high


@pytest.mark.parametrize("sign", [-1, 1])
def test_tpe_comes_nearer_to_the_better_end(sign: int) -> None:
    trials = tried(
        "tpe", 60, space={"x": Range(low=0.0, high=1.0)}, sign=sign, value=lambda p: p["x"]
    )
    late = float(np.mean([p["x"] for p in trials[30:]]))
    assert late < 0.3 if sign > 0 else late > 0.7


@pytest.mark.parametrize("search", ["random", "tpe"])
def test_global_generators_and_logs_are_left_alone(
    search: str, capfd: pytest.CaptureFixture[str]
) -> None:
    import optuna

    def states() -> str:
        numpy = np.random.get_state()  # noqa: NPY002 - the global generator is what is watched
        return repr([random.getstate(), *(np.asarray(part).tolist() for part in numpy)])

    before = states()
    tried(search, 15)
    assert (states(), optuna.logging.get_verbosity()) == (before, logging.INFO)
    assert capfd.readouterr() == ("", "")


def test_what_no_grid_can_try_is_refused() -> None:
    with refusal(UsageError, "space.shrink is a range", "shrink = [0.5, 8.0]", 'search = "random"'):
        trials_of(SPACE, "grid", None)
    with refusal(UsageError, "trials = 3 are fewer than the grid's 4 combinations"):
        trials_of({"a": (1, 2), "b": (1, 2)}, "grid", 3)


def test_without_optuna_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with refusal(UsageError, "not installed: pip install optuna"):
        require()


@pytest.mark.parametrize(
    ("domain", "place", "end"),
    [
        *(((0, 1, 2), 2, "high"), ((2, 3, 5), 2, "low"), ((1, 2, 3), 2, ""), ((1, 2), 2, "")),
        *((Range(low=2, high=3), 2, "low"), (Range(low=1, high=3), 2, "")),
    ],
)
def test_the_best_at_the_edge_is_told(domain: Domain, place: int, end: str) -> None:
    """Of two values one is always at an end."""
    assert at_the_edge({"place": domain}, {"place": place}) == ({"place": end} if end else {})


def test_numbers_are_shown_with_four_figures() -> None:
    values = [0.00012346, 12345678.9, 7, True, "cosine", [1, 2]]
    assert list(map(shown, values)) == ["0.0001235", "12345679", "7", "true", "cosine", "[1, 2]"]
