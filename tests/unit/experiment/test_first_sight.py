"""A run says which model is best before anything else, in the verdicts of its comparison."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from harness.experiment import answer
from harness.experiment.answer import Ranking
from harness.experiment.record import ModelRecord
from harness.metrics import parse
from harness.stats.chance import Verdict
from harness.stats.estimates import ModelEstimate
from harness.stats.pairwise import Comparison, Pair

NAMES = ("first", "second", "third", "last")
BETTER = Verdict(12.9, 9.0, 0.0, "better")
LUCK = Verdict(1.1, 0.5, 0.6, "no better than chance")
WORSE = Verdict(0.4, -9.0, 0.0, "worse than chance")


def ranking(
    *names: str,
    metric: str = "MAP@2",
    verdicts: Mapping[tuple[str, str], str] | None = None,
    baseline: str | None = None,
    chance: Mapping[str, Verdict] = {},
) -> Ranking:
    """Return models with a mean of 1/2 and these verdicts of pairs; without any, no comparison."""
    models = tuple(
        ModelRecord(
            name=name,
            repeats=1,
            metrics={metric: ModelEstimate(0.5, (0.0, 1.0))},
            vs_random=chance.get(name),
        )
        for name in names
    )
    pairs = tuple(
        Pair(*pair, 0.0, None, (0.0, 0.0), None, None, 1.0, 1.0, 1.0, 1, 1, 1, None, verdict)  # type: ignore[arg-type]
        for pair, verdict in (verdicts or {}).items()
    )
    comparison = Comparison(
        metric=metric,
        users=3,
        baseline=baseline,
        correction="holm",
        resamples=100,
        seed=1,
        flips=100,
        any_hit={},
        pairs=pairs,
    )
    return Ranking((parse(metric),), models, None if verdicts is None else comparison, {})


def column(result: Ranking) -> dict[str, str]:
    return {model.name: answer.standing(result, model) for model in result.models}


def tied(*names: str) -> dict[tuple[str, str], str]:
    return {("first", name): "tied" for name in names}


def test_best_tied_behind_and_chance() -> None:
    verdicts = tied("second") | {("first", name): "better" for name in ("third", "last")}
    chance = dict.fromkeys(NAMES, BETTER) | {"last": LUCK}
    result = ranking(*NAMES, verdicts=verdicts, chance=chance)
    assert answer.lines(result) == [
        "BEST  first: MAP@2 0.5000 (0.0000 … 1.0000), 12.9 × chance",
        "      tied with second; better than the other 2",
        "      no better than chance: last",
    ]
    assert answer.title(result) == "against the best"
    assert column(result) == {
        "first": "best",
        "second": "tied",
        "third": "behind",
        "last": "behind, no better than chance",
    }


MANY = [f"m{i}" for i in range(11)]


@pytest.mark.parametrize(
    ("result", "line"),
    [
        (ranking("first", "second", verdicts=tied("second")), "      tied with second"),
        (ranking("first", "k,1", "k,2", verdicts=tied("k,1", "k,2")),
         '      tied with "k,1", "k,2"'),
        (ranking("first", *MANY, verdicts=tied(*MANY)),
         "      tied with m0, m1, m2, m3, m4, m5, m6, m7 and 3 more"),
        (ranking("first"), "      the only model"),
        (ranking("first", "second"), "      not compared: one user tells no two models apart"),
        (ranking("first", "second", metric="Coverage@2"),
         "      not compared: Coverage@2 is one value for all lists"),
        (ranking("first", "second", metric="Gini@2"),
         "BEST  first: Gini@2 0.5000 (0.0000 … 1.0000), the lower the better"),
        # Equal means, and the comparison may have ordered them otherwise.
        (ranking("first", "second", verdicts={("second", "first"): "worse"}),
         "      better than second"),
        # A baseline that is best was compared with all.
        (ranking("first", "second", "third", baseline="first",
                 verdicts={("second", "first"): "worse", ("third", "first"): "tied"}),
         "      tied with third; better than second"),
    ],
)  # fmt: skip
def test_a_line_of_the_answer(result: Ranking, line: str) -> None:
    assert line in answer.lines(result)


def test_without_a_comparison_models_stand_beside_chance_alone() -> None:
    alone = ranking("first", chance={"first": BETTER})
    assert (answer.title(alone), column(alone)) == ("against chance", {"first": "better"})
    assert column(ranking("first", "second")) == {"first": "", "second": ""}


@pytest.mark.parametrize(
    ("verdict", "words"), [(LUCK, "no better than chance"), (WORSE, "worse than chance")]
)
def test_a_best_that_is_no_more_than_chance_says_so(verdict: Verdict, words: str) -> None:
    chance = {"first": verdict, "second": WORSE}
    result = ranking("first", "second", verdicts=tied("second"), chance=chance)
    assert answer.lines(result)[1] == f"      it is {words}"
    assert answer.lines(result)[-1] == "      worse than chance: second"
    assert column(result) == {"first": f"best, {words}", "second": "tied, worse than chance"}


def test_beside_a_baseline_nothing_else_is_claimed() -> None:
    words = {"first": "better", "second": "tied", "last": "worse"}
    verdicts = {(name, "third"): word for name, word in words.items()}
    chance = dict.fromkeys(NAMES, BETTER)
    result = ranking(*NAMES, verdicts=verdicts, baseline="third", chance=chance)
    assert answer.lines(result)[1:] == [
        "      better than third; not compared with the other 2, only with third"
    ]
    assert answer.title(result) == "against the baseline"
    assert list(column(result).values()) == ["better", "tied", "baseline", "worse"]


def test_a_metric_that_calls_nothing_good_has_a_highest() -> None:
    verdicts = {("first", "second"): "higher"}
    result = ranking("first", "second", metric="Popularity@2", verdicts=verdicts)
    assert answer.lines(result)[0].startswith("HIGHEST  first: Popularity@2 ")
    assert answer.lines(result)[1] == "      higher than second"
    assert answer.title(result) == "against the highest"
    assert column(result) == {"first": "highest", "second": "lower"}


def test_repeats_show_their_spread_and_z() -> None:
    verdicts = {("first", "last"): "better"}
    figures = {"MAP@2": ModelEstimate(0.5, (0.0, 1.0), sd_repeats=0.125)}

    def repeated(*names: str, last: Verdict) -> Ranking:
        result = ranking(*names, verdicts=verdicts if len(names) > 1 else None)
        *others, model = result.models
        changed = {"repeats": 10, "metrics": figures, "vs_random": last}
        return replace(result, models=(*others, model.model_copy(update=changed)))

    alone = repeated("last", last=LUCK)
    assert answer.lines(alone)[0] == "BEST  last × 10: MAP@2 0.5000 (± 0.1250), 1.1 × chance"
    beside = repeated("first", "last", last=LUCK)
    assert column(beside)["last"] == "no better than chance, z +0.5"
    assert "      no better than chance: last × 10" in answer.lines(beside)
    assert column(repeated("first", "last", last=BETTER))["last"] == "behind, z +9.0"
    assert column(repeated("last", last=BETTER))["last"] == "better, z +9.0"
