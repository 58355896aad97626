"""Models made of others: made once, learning once, and nobody's part changed by another."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small
from small import LOG

from harness import testing
from harness.config import Config
from harness.config.diff import settings
from harness.core.errors import RecommenderError, UsageError
from harness.core.steps import of_parts
from harness.experiment.build import Factories
from harness.experiment.explain import of_run
from harness.experiment.run import run
from harness.experiment.submit import submit
from harness.models import guard
from harness.models.sums import fit_all, fits_in_parts, without_events
from harness.tuning.tuning import tune

COUNTING = """
from pathlib import Path

import harness
import numpy as np

class Counting:
    def __init__(self, order="abcd"):
        self.order = order
        self.note("made")

    def note(self, what):
        with Path(__file__).with_name("counts.txt").open("a") as file:
            print(self.order, what, file=file)

    def fit(self, train):
        self.note("fit")
        self.ids_ = train.candidate_ids.to_list()
        return self

    def recommend(self, users, k, draws, exclude=None):
        self.note(f"asked {draws.repeat}")
        known = [self.ids_.index(item) for item in self.order if item in self.ids_]
        return harness.top_k(np.array(known, np.int32), users, k, exclude)

class Raises(Counting):
    def fit(self, train):
        raise ZeroDivisionError("too few stars")

class RaisesWhenAsked(Counting):
    def recommend(self, users, k, draws, exclude=None):
        raise KeyError("no bob")

class Wide(Counting):
    def recommend(self, users, k, draws, exclude=None):
        return np.zeros((len(users), k + 1), np.int32)

class Leaves(Counting):
    def __del__(self):
        self.note("gone")

class ForgetsSelf(Counting):
    def fit(self, train):
        pass

class InParts(Counting):
    def fit_steps(self, train):
        self.note("begun")
        total = yield lambda part: {"events": np.array([len(part.events)])}
        self.note(f"learnt {total['events'][0]}")
        self.ids_ = train.candidate_ids.to_list()

    def for_users(self, train):
        self.note("told")
        return self

class RaisesInParts(InParts):
    def fit_steps(self, train):
        yield lambda part: {"n": np.array([1 // len(part.events)])}
"""
"""Lists in a fixed order; what happens to it is written to a file beside it."""


def part(name: str, kind: str = "Counting", **params: Any) -> dict[str, Any]:
    return {"name": name, "use": f"plugged:{kind}", "params": params}


def fill(name: str, *of: str) -> dict[str, Any]:
    return {"name": name, "use": "baselines.fill:Fill", "of": list(of)}


def config(folder: Path, *models: dict[str, Any]) -> Config:
    small.write(folder, {"plugged.py": COUNTING})
    asked = {"metrics": ["MAP@2"]}
    return small.config(folder, *models, evaluation=asked, compare={"resamples": 100})


def counts(folder: Path, what: str) -> list[str]:
    """Return what happened to models in `folder`: whose order, and what behind the word."""
    lines = (folder / "counts.txt").read_text().splitlines()
    return [line.replace(f" {what}", "") for line in lines if f" {what}" in line]


def test_a_part_is_made_and_fitted_once(tmp_path: Path) -> None:
    one, two = part("one", order="ab"), part("two", order="cd")
    models = [fill("both", "one", "two"), one, two, fill("again", "both", "one")]
    run(config(tmp_path, *models))
    assert counts(tmp_path, "made") == ["ab", "cd"]
    assert counts(tmp_path, "fit") == ["ab", "cd"]


def test_parts_draw_with_the_repeats_of_the_whole(tmp_path: Path) -> None:
    models = [fill("whole", "one") | {"repeats": 2}, part("one", order="a") | {"repeats": 3}]
    run(config(tmp_path, *models))
    assert counts(tmp_path, "asked") == ["a 0", "a 1", "a 0", "a 1", "a 2"]


def test_a_whole_stands_anywhere_and_is_scored_like_any_model(tmp_path: Path) -> None:
    """The first has d alone; then comes b: AP@2 is 1/2 for ann and 1 for bob."""
    models = [fill("whole", "one", "popular"), part("one", order="d")]
    popular = {"name": "popular", "use": "baselines.popular:Popular"}
    result = run(config(tmp_path, *models, popular))
    (whole,) = [model for model in result.models if model.name == "whole"]
    assert whole.scores.values[result.metrics[0]].tolist() == [[1 / 2, 1, 0]]


def test_a_model_goes_when_nobody_needs_it(tmp_path: Path) -> None:
    names = {"part": "a", "alone": "b", "last": "c"}
    part_, alone, last = (part(name, "Leaves", order=order) for name, order in names.items())
    run(config(tmp_path, part_, alone, fill("whole", "part"), last))
    lines = (tmp_path / "counts.txt").read_text().splitlines()
    told = [line for line in lines if "fit" in line or "gone" in line]
    assert told == ["a fit", "a gone", "b fit", "b gone", "c fit", "c gone"]


def test_only_who_is_a_part_is_kept(tmp_path: Path) -> None:
    made = Factories(config(tmp_path, fill("whole", "one"), part("one"), part("two"))).made(0)
    assert {name: type(model).__name__ for name, model in made.items()} == {
        "whole": "Fill",
        "one": "Shared",
        "two": "Counting",
    }


def test_only_the_parts_that_are_needed_are_made(tmp_path: Path) -> None:
    broken = part("broken", "Nothing")
    settings = config(tmp_path, fill("whole", "one"), part("one", order="ba"), broken)
    assert list(Factories(settings, "whole").made(0)) == ["whole"]
    submit(settings, "whole", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "user,item\nann,b a\nbob,b a\ncid,b a\n"
    with pytest.raises(UsageError, match='model "broken": plugged has no class "Nothing"'):
        Factories(settings).made(0)


def test_a_whole_of_a_run_is_explained(tmp_path: Path) -> None:
    settings = config(tmp_path, fill("whole", "one"), part("one", order="ba"), part("two"))
    run(settings).write(tmp_path / "run", recommendations=False)
    (tmp_path / "counts.txt").unlink()
    found = of_run(tmp_path / "run", "whole")
    assert found.items.gather(found.lists[0]).to_list() == ["b", "a"]
    assert counts(tmp_path, "made") == ["ba"], "two is not needed"


def shared(folder: Path, *models: dict[str, Any]) -> dict[str, Any]:
    return Factories(config(folder, *models)).made(0)


def test_another_train_is_learnt_anew(tmp_path: Path) -> None:
    made = shared(tmp_path, fill("whole", "one"), part("one"))
    one, train = made["one"], testing.example_train()
    assert one.fit(train).fit(train) is one
    assert made["whole"].fit(train).models_ == [one]
    assert len(counts(tmp_path, "fit")) == 1
    one.fit(testing.example_train())
    one.fit(train)
    assert len(counts(tmp_path, "fit")) == 3


def test_a_copy_is_made_anew_and_knows_nothing(tmp_path: Path) -> None:
    made = shared(tmp_path, fill("whole", "inner"), fill("inner", "one"), part("one"))
    train = testing.example_train()
    inner = made["inner"].fit(train)
    other = copy.deepcopy(inner)
    other.fit(testing.example_train())
    assert len(counts(tmp_path, "fit")) == 2
    inner.fit(train)
    made["one"].fit(train)
    assert len(counts(tmp_path, "fit")) == 2, "the copy's fit is none of the others'"


def test_a_part_learns_in_parts_once_and_is_told_of_users_once(tmp_path: Path) -> None:
    made = shared(tmp_path, fill("whole", "one"), part("one", "InParts"), fill("more", "one"))
    train = testing.example_train()
    given, parts = without_events(train), testing.parts_of(train, np.array([0, 1, 0, 1, 1, 0]))
    for _ in range(2):
        steps = [guard.fit_steps(name, model, given) for name, model in made.items()]
        fit_all(steps, of_parts(lambda: parts))
    assert counts(tmp_path, "begun") == ["abcd"]
    assert counts(tmp_path, "learnt 11") == ["abcd"]
    for number, own in enumerate([parts[0], parts[1], parts[0]], start=1):
        for model in made.values():
            assert model.for_users(own) is model
        assert len(counts(tmp_path, "told")) == number
    fit_all([made["whole"].fit_steps(without_events(train))], of_parts(lambda: parts))
    assert len(counts(tmp_path, "begun")) == 2, "other data are learnt anew"


def test_a_whole_fits_in_parts_if_what_it_is_made_of_does(tmp_path: Path) -> None:
    both = fill("both", "one", "two")
    made = shared(tmp_path, both, fill("whole", "one"), part("one", "InParts"), part("two"))
    expected = {"both": False, "whole": True, "one": True, "two": False}
    assert {name: fits_in_parts(model) for name, model in made.items()} == expected


def test_a_part_that_fails_in_parts_is_named_and_has_learnt_nothing(tmp_path: Path) -> None:
    made = shared(tmp_path, fill("whole", "one"), part("one", "RaisesInParts"))
    train = testing.example_train()
    given, parts = without_events(train), testing.parts_of(train, np.array([0, 0, 0, 0, 0, 1]))
    for _ in range(2):
        with pytest.raises(RecommenderError, match='"one" raised in fit_steps: ZeroDivisionError'):
            fit_all([guard.fit_steps("whole", made["whole"], given)], of_parts(lambda: parts))


def test_a_filter_leaves_its_part_as_the_others_know_it(tmp_path: Path) -> None:
    """In stock are c and d alone (two days); the whole has a, b; then the filter's c, d."""
    stock = {"use": "baselines.filter:Filter", "of": ["one"], "params": {"out_of_stock_days": 5}}
    models = [fill("whole", "one", "stock"), {"name": "stock", **stock}, part("one", order="acd")]
    result = run(config(tmp_path, *models))
    user_scores = {m.name: m.scores.values[result.metrics[0]].tolist() for m in result.models}
    assert user_scores == {
        "whole": [[0, 0, 1]],  # a, c
        "one": [[0, 0, 1]],  # a, c
        "stock": [[0, 1 / 2, 0]],  # c, d
    }


def test_a_part_that_fails_for_itself_names_the_first_user(tmp_path: Path) -> None:
    models = [part("one", "RaisesWhenAsked"), fill("whole", "one")]
    with pytest.raises(
        RecommenderError, match='"one" raised in recommend, first for user ann: Key'
    ):
        run(config(tmp_path, *models))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("Raises", 'model "one" raised in fit: ZeroDivisionError: too few stars'),
        ("ForgetsSelf", 'model "one": fit returned None; expected self'),
        ("RaisesWhenAsked", 'model "one" raised in recommend: KeyError: .no bob'),
        ("Wide", r'"whole" raised in .* model "one" returned shape \(3, 3\), expected \(3, 2\)'),
    ],
)
def test_a_part_that_fails_is_named(tmp_path: Path, kind: str, message: str) -> None:
    with pytest.raises(RecommenderError, match=message):
        run(config(tmp_path, fill("whole", "one"), part("one", kind)))


def test_a_class_without_parts(tmp_path: Path) -> None:
    popular = {"name": "popular", "use": "baselines.popular:Popular", "of": ["one"]}
    with pytest.raises(UsageError) as caught:
        Factories(config(tmp_path, popular, part("one"))).made(0)
    assert str(caught.value).startswith(
        'model "popular": baselines.popular:Popular has no parameter "models"; '
    )


def test_a_whole_without_parts_says_how_to_name_them(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        Factories(config(tmp_path, {"name": "whole", "use": "baselines.fill:Fill"})).made(0)
    assert str(refused.value) == (
        'model "whole": baselines.fill:Fill is made of other models; name them under of'
    )
    whole = {"name": "whole", "use": "baselines.fill:Fill", "params": {"models": ["one"]}}
    with pytest.raises(UsageError) as caught:
        run(config(tmp_path, whole, part("one")), fail_fast=True)
    assert "models holds 'one', which has no fit and recommend; a config names" in str(caught.value)
    assert 'of = ["popular"]' in str(caught.value)


def test_a_leaderboard_shows_what_a_model_is_made_of(tmp_path: Path) -> None:
    precomputed = {"name": "ready", "lists": "mates.csv"}
    values = config(tmp_path, fill("whole", "one"), part("one", order="ab"), precomputed).resolved()
    assert [settings(values, name) for name in ("whole", "one", "ready")] == [
        "Fill(of=['one'])",
        "Counting(order=ab)",
        f"lists {tmp_path}/mates.csv",
    ]


def test_a_whole_is_tuned_and_its_parts_learn_once(tmp_path: Path) -> None:
    whole = {"name": "whole", "use": "baselines.blend:Blend", "of": ["one", "two"]}
    space = {"weights": [[1, 2], [2, 1]], "depth": [1, 2]}
    parts = [part("one", order="ab"), part("two", order="db")]
    settings = config(tmp_path, whole | {"space": space}, *parts)
    settings = settings.model_copy(
        update={"tune": settings.tune.model_copy(update={"search": "grid"})}
    )
    (tmp_path / "log.csv").write_text(LOG + "ann,d,2020-01-07\n")  # held out within
    found = tune(settings)
    assert len(found.models[0].searched) == 4
    assert counts(tmp_path, "fit") == ["ab", "db"]


def test_precomputed_lists_were_not_made_for_the_inner_evaluation_set(tmp_path: Path) -> None:
    (tmp_path / "mates.csv").write_text("user,items\nann,a\n")
    precomputed = {"name": "ready", "lists": "mates.csv"}
    inner = fill("inner", "ready")
    whole = {"name": "whole", "use": "baselines.blend:Blend", "of": ["inner"]}
    settings = config(tmp_path, whole | {"space": {"depth": [1, 2]}}, inner, precomputed)
    with pytest.raises(UsageError) as caught:
        tune(settings)
    assert str(caught.value).startswith(
        'model "whole": base model "ready" is a file of precomputed lists, not made for the '
    )
