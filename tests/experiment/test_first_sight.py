"""A run says who is best before anything else, in the verdicts of its comparison."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import small
from conftest import Cli

from harness.core import table
from harness.experiment import answer
from harness.experiment.result import Result
from harness.experiment.run import run
from harness.stats.chance import Verdict
from harness.stats.shakeup import RankFlip, ShakeUp

POPULAR = "baselines.popular:Popular"
NAMES = ("first", "second", "third", "last")
Make = Callable[..., Result]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Return a function: model names and keys of [evaluation] in, a small run out."""

    def make(*names: str, **evaluation: object) -> Result:
        models = [{"name": name, "use": POPULAR} for name in names]
        return run(small.config(tmp_path, *models, evaluation=evaluation))

    return make


def told(
    result: Result, verdicts: dict[tuple[str, str], str], baseline: str | None = None
) -> Result:
    """Return the run as if its comparison had found these verdicts."""
    found = result.comparison
    assert found is not None
    pairs = tuple(
        replace(found.pairs[0], one=one, other=other, verdict=word)
        for (one, other), word in verdicts.items()
    )
    return replace(result, comparison=replace(found, baseline=baseline, pairs=pairs))


def against_chance(result: Result, **words: Verdict | None) -> Result:
    models = (
        m.model_copy(update={"vs_random": words.get(m.name, m.vs_random)}) for m in result.models
    )
    return replace(result, models=tuple(models))


BETTER = Verdict(12.9, 9.0, 0.0, "better")
LUCK = Verdict(1.1, 0.5, 0.6, "no better than chance")
WORSE = Verdict(0.4, -9.0, 0.0, "worse than chance")
OF_FIRST = {
    ("first", "second"): "tied",
    ("first", "third"): "better",
    ("first", "last"): "better",
}


def column(result: Result) -> dict[str, str]:
    return {model.name: answer.standing(result, model) for model in result.models}


def test_best_tied_behind_and_chance(make: Make) -> None:
    judged = dict.fromkeys(NAMES, BETTER) | {"last": LUCK}
    result = against_chance(told(make(*NAMES), OF_FIRST), **judged)
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
    ("names", "metric", "lines"),
    [
        # Three users cannot tell models apart: all pairs are tied.
        ("first second", "MAP@2", ["      tied with second"]),
        ("first kNN,tf-idf kNN,cosine", "MAP@2", ['      tied with "kNN,tf-idf", "kNN,cosine"']),
        (" ".join(["first", *MANY]), "MAP@2",
         ["      tied with m0, m1, m2, m3, m4, m5, m6, m7 and 3 more"]),
        ("first", "MAP@2", ["      the only model"]),
        ("first second", "Coverage@2", ["BEST  first: Coverage@2 0.5000",
         "      not compared: Coverage@2 is one value for all lists"]),
        ("first second", "Gini@2", ["BEST  first: Gini@2 0.5000, the lower the better"]),
    ],
)  # fmt: skip
def test_what_a_small_run_says_first(make: Make, names: str, metric: str, lines: list[str]) -> None:
    result = make(*names.split(), metrics=[metric])
    assert [line for line in lines if line not in answer.lines(result)] == []
    text = repr(result).splitlines()
    assert [line.rstrip() for line in text[: len(answer.lines(result))]] == answer.lines(result)
    assert answer.lines(result)[0] in result._repr_html_()
    assert result.comparison is None or " tied " in repr(result.comparison)
    if metric == "Coverage@2":
        assert column(result) == {"first": "", "second": ""}
    if names == "first":
        alone = against_chance(result, first=BETTER)
        assert (answer.title(alone), column(alone)) == ("against chance", {"first": "better"})


@pytest.mark.parametrize(
    ("verdicts", "baseline", "line"),
    [
        # Equal means, and the comparison may have ordered them otherwise.
        ({("second", "first"): "worse"}, None, "      better than second"),
        # A baseline that is best was compared with all.
        ({("second", "first"): "worse", ("third", "first"): "tied"}, "first",
         "      tied with third; better than second"),
    ],
)  # fmt: skip
def test_a_pair_may_name_the_best_second(
    make: Make, verdicts: dict[tuple[str, str], str], baseline: str | None, line: str
) -> None:
    names = sorted({name for pair in verdicts for name in pair})
    assert line in answer.lines(told(make(*names), verdicts, baseline=baseline))


@pytest.mark.parametrize(
    ("verdict", "words"), [(LUCK, "no better than chance"), (WORSE, "worse than chance")]
)
def test_a_best_that_is_no_more_than_chance_says_so(
    make: Make, verdict: Verdict, words: str
) -> None:
    result = against_chance(make("first", "second"), first=verdict, second=WORSE)
    assert answer.lines(result)[1] == f"      it is {words}"
    assert answer.lines(result)[-1] == "      worse than chance: second"
    assert column(result)["first"] == f"best, {words}"
    assert column(result)["second"] == "tied, worse than chance"


def test_beside_a_baseline_nothing_else_is_claimed(make: Make) -> None:
    verdicts = {
        ("first", "third"): "better",
        ("second", "third"): "tied",
        ("last", "third"): "worse",
    }
    result = told(make(*NAMES), verdicts, baseline="third")
    result = against_chance(result, **dict.fromkeys(NAMES, BETTER))
    assert answer.lines(result)[1:] == [
        "      better than third; not compared with the other 2, only with third"
    ]
    assert answer.title(result) == "against the baseline"
    assert list(column(result).values()) == ["better", "tied", "baseline", "worse"]


def test_a_metric_that_calls_nothing_good_has_a_highest(make: Make) -> None:
    result = told(
        make("first", "second", metrics=["Popularity@2"]), {("first", "second"): "higher"}
    )
    assert answer.lines(result)[0].startswith("HIGHEST  first: Popularity@2 ")
    assert answer.lines(result)[1] == "      higher than second"
    assert answer.title(result) == "against the highest"
    assert column(result) == {"first": "highest", "second": "lower"}


def test_repeats_show_their_spread_and_z(make: Make) -> None:
    result = against_chance(told(make("first", "last"), {("first", "last"): "better"}), last=LUCK)
    *others, last = result.models
    figure = replace(last.metrics["MAP@2"], sd_repeats=0.125)
    repeated = {"repeats": 10, "metrics": last.metrics | {"MAP@2": figure}}
    random = last.model_copy(update=repeated)
    alone = replace(result, models=(random,), comparison=None)
    assert answer.lines(alone)[0] == "BEST  last × 10: MAP@2 0.5000 (± 0.1250), 1.1 × chance"
    beside = replace(result, models=(*others, random))
    assert column(beside)["last"] == "no better than chance, z +0.5"
    assert "      no better than chance: last × 10" in answer.lines(beside)
    assert column(against_chance(beside, last=BETTER))["last"] == "behind, z +9.0"
    assert column(against_chance(alone, last=BETTER))["last"] == "better, z +9.0"


def test_times_pairs_and_leaderboards_follow_with_verbose(make: Make, cli: Cli) -> None:
    result = make("first", "second")
    assert len(result.sheets()) == 1
    assert len(result.sheets(verbose=True)) == 2
    models = [{"name": name, "use": POPULAR} for name in ("first", "second")]
    small.write(Path(), {"shop.toml": small.toml(*models)})
    shown = {}
    for option in ([], ["-v"], ["--verbose"]):
        status, out, _ = cli("run", "shop.toml", "--out", "one two", *option)
        assert status == 0
        shown[tuple(option)] = re.sub(r"\d+\.\d s", "", out)
    short, long = shown[()], shown["-v",]
    assert shown["--verbose",] == long
    for words in ("pairs  MAP@2", "p (Holm)", "time ", "leaderboards  ", "users  3 active"):
        assert words in long
        assert words not in short
    for words in ("BEST  first", "3 users · 4 candidates · k = 2", "1 day from 2020-01-08"):
        assert words in short
        assert words in long
    assert short.splitlines()[-3:] == [
        "written to one two/",
        "next  harness report 'one two'",
        "      harness compare 'one two'",
    ]


def shaken(public: int) -> ShakeUp:
    rank_flips = (RankFlip("first", "second", 0.5, 0.1),)
    return ShakeUp("MAP@2", public / 100, public, 100, 10_000, 42, 0.25, rank_flips)


@pytest.mark.parametrize(("public", "shown"), [(29, False), (30, True)])
def test_a_public_leaderboard_of_few_users_is_in_no_table(
    make: Make, public: int, shown: bool
) -> None:
    result = replace(make("first", "second"), shake_ups=(shaken(public),))
    text = "\n".join(map(table.plain, result.sheets(verbose=True)))
    assert (f"rank flips at {public} %" in text) == shown
    assert ("50 %, tied in 10 %" in text) == shown
    assert ("nobody is first on both" in text) == shown
    assert f"leaderboards  {public} % public ({public} of 100 users): " in text
    assert ("not shown, as fewer than 30 users tell nothing" in text) != shown
    assert result.to_dict()["shake_up"][0]["leader_falls"] == 0.25  # JSON has all
