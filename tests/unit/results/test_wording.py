"""A run says which model is best before anything else, in the verdicts of its comparison."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from harness.results import wording
from harness.results.record import Evaluation, ModelRecord, RunRecord
from harness.stats.chance import Verdict
from harness.stats.estimates import ModelEstimate
from harness.stats.pairwise import Comparison, Pair

NAMES = ["first", "second", "third", "last"]
BETTER = Verdict(12.9, 9.0, 0.0, "better")
LUCK = Verdict(1.1, 0.5, 0.6, "no better than chance")
WORSE = Verdict(0.4, -9.0, 0.0, "worse than chance")


def ranking(
    names: list[str],
    pairs: Sequence[tuple[str, str, str]] = (),
    metric: str = "MAP@2",
    baseline: str | None = None,
    chance: Mapping[str, Verdict] = {},
) -> RunRecord:
    """Return models with a mean of 1/2; with pairs (one, word, other), they are compared."""
    estimates = {metric: ModelEstimate(0.5, (0.0, 1.0))}
    models = [
        ModelRecord(name=name, repeats=1, metrics=estimates, vs_random=chance.get(name))
        for name in names
    ]
    rest: Any = (0.0, None, (0.0, 0.0), None, None, 1.0, 1.0, 1.0, 1, 1, 1, None)
    more: Any = {"correction": "holm", "resamples": 100, "seed": 1, "flips": 100, "any_hit": {}}
    compared: Any = tuple(Pair(first, other, *rest, word) for first, word, other in pairs)
    comparison = Comparison(metric=metric, users=3, baseline=baseline, pairs=compared, **more)
    return RunRecord.model_construct(
        models=tuple(models), comparison=comparison if pairs else None, chance={}
    )


def column(result: RunRecord) -> list[str]:
    return [wording.standing(result, model) for model in result.models]


def tied(names: list[str]) -> list[tuple[str, str, str]]:
    return [("first", "tied", name) for name in names]


def test_best_tied_behind_and_chance() -> None:
    better = [("first", "better", name) for name in ("third", "last")]
    chance = dict.fromkeys(NAMES, BETTER) | {"last": LUCK}
    result = ranking(NAMES, [*tied(["second"]), *better], chance=chance)
    assert wording.answer(result) == [
        "BEST  first: MAP@2 0.5000 (0.0000 … 1.0000), 12.9 × chance",
        "      tied with second; better than the other 2",
        "      no better than chance: last",
    ]
    assert wording.standing_title(result) == "against the best"
    assert column(result) == ["best", "tied", "behind", "behind, no better than chance"]


MANY = ["k,1", *(f"m{i}" for i in range(1, 11))]


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (ranking(["first", *MANY], tied(MANY)),
         'tied with "k,1", m1, m2, m3, m4, m5, m6, m7 and 3 more'),
        (ranking(NAMES[:1]), "the only model"),
        (ranking(NAMES[:2]), "not compared: one user is not enough to compare models"),
        (ranking(NAMES[:2], metric="Coverage@2"),
         "not compared: Coverage@2 has one value for all lists"),
        (ranking(NAMES[:1], metric="Gini@2"),
         "BEST  first: Gini@2 0.5000 (0.0000 … 1.0000), lower is better"),
        # Equal means, and the comparison may have ordered them otherwise.
        (ranking(NAMES[:2], [("second", "worse", "first")]), "better than second"),
        # A baseline that is best was compared with all.
        (ranking(NAMES[:3], [("second", "worse", "first"), ("third", "tied", "first")],
                 baseline="first"), "tied with third; better than second"),
    ],
)  # fmt: skip
def test_a_line_of_the_answer(result: RunRecord, line: str) -> None:
    assert line in [each.strip() for each in wording.answer(result)]


def test_who_leads_by_another_metric_is_said() -> None:
    """Recall@2 is highest for the second model, the error lowest for the first."""
    result, models = ranking(NAMES[:2]), []
    for model, recall, gini in zip(result.models, (0.25, 0.5), (0.1, 0.2), strict=True):
        means = {"MAP@2": 0.5, "Recall@2": recall, "Gini@2": gini}
        metrics = {name: ModelEstimate(mean, None) for name, mean in means.items()}
        models.append(model.model_copy(update={"metrics": metrics}))
    assert (
        wording.answer(result.model_copy(update={"models": tuple(models)}))[-1]
        == "      Recall@2 is led by second (0.5000)"
    )


def test_a_best_that_is_no_more_than_chance_says_so() -> None:
    chance = {"first": LUCK, "second": WORSE}
    result = ranking(NAMES[:2], tied(["second"]), chance=chance)
    _, first, _, last = map(str.strip, wording.answer(result))
    assert (first, last) == ("it is no better than chance", "worse than chance: second")
    assert column(result) == ["best, no better than chance", "tied, worse than chance"]
    alone = ranking(NAMES[:1], chance={"first": BETTER})  # beside chance
    assert (wording.standing_title(alone), column(alone)) == ("against chance", ["better"])


def test_beside_a_baseline_nothing_else_is_claimed() -> None:
    words = {"first": "better", "second": "tied", "last": "worse"}
    pairs = [(name, word, "third") for name, word in words.items()]
    result = ranking(NAMES, pairs, baseline="third", chance=dict.fromkeys(NAMES, BETTER))
    assert wording.answer(result)[1:] == [
        "      better than third; not compared with the other 2, only with third"
    ]
    assert wording.standing_title(result) == "against the baseline"
    assert column(result) == ["better", "tied", "baseline", "worse"]


def test_types_of_events_that_hold_commas_stand_in_quotes() -> None:
    made = Evaluation.model_construct(hits=("sale", "view, once"), history=("cart",))
    assert made.truth == 'sale, "view, once" (cart counts as history)'


def test_a_metric_that_calls_nothing_good_has_a_highest() -> None:
    result = ranking(NAMES[:2], [("first", "higher", "second")], metric="Popularity@2")
    first, second = wording.answer(result)
    assert first.startswith("HIGHEST  first: Popularity@2 ")
    assert second == "      higher than second"
    assert wording.standing_title(result) == "against the highest"
    assert column(result) == ["highest", "lower"]


@pytest.mark.parametrize(
    ("last", "alone", "beside"),
    [
        (LUCK, "no better than chance, z +0.5", "no better than chance, z +0.5"),
        (BETTER, "better, z +9.0", "behind, z +9.0"),
    ],
)
def test_repeats_show_their_spread_and_z(last: Verdict, alone: str, beside: str) -> None:
    figures = {"MAP@2": ModelEstimate(0.5, (0.0, 1.0), sd_repeats=0.125)}
    model = ModelRecord(name="last", repeats=10, metrics=figures, vs_random=last)
    single = ranking(["first"]).model_copy(update={"models": (model,)})
    start = f"BEST  last × 10: MAP@2 0.5000 (± 0.1250), {last.lift} × chance"
    assert (wording.answer(single)[0], column(single)) == (start, [alone])
    two = ranking(NAMES[:1], [("first", "better", "last")])
    both = two.model_copy(update={"models": (*two.models, model)})
    assert column(both) == ["best", beside]
