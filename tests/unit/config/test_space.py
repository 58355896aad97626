"""What a space, [tune] and a record may be, and the messages for what they may not."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from conftest import refusal

from harness.config import parse
from harness.config.diff import differing, settings
from harness.config.space import Range, domains
from harness.core import params
from harness.core.errors import UsageError

VALUES: dict[str, Any] = {
    "data": {"layout": "table", "path": "shop", "events": "log.csv"},
    "split": {"strategy": "time"},
    "models": [{"name": "kNN", "use": "baselines.popular:Popular"}],
}
RECORD = {"trials": 30, "search": "tpe", "seed": 1, "metric": "MAP@12", "value": 0.5, "exam": "f"}


def with_model(**keys: Any) -> dict[str, Any]:
    return VALUES | {"models": [VALUES["models"][0] | keys]}


def refused(values: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as caught:
        parse(values, Path(), "exam.toml")
    return str(caught.value)


def test_lists_and_ranges() -> None:
    space = {
        "near": [20, 50],
        "by": ["cosine", True, {"of": 1}],
        "depth": {"low": 1, "high": 4},
        "shrink": {"low": 0.0, "high": 100},
        "rate": {"low": 1, "high": 100, "log": True},
        "x": [1, True, 1.0, "1"],  # a true beside a one is another value
    }
    ranges = {"depth": Range(1, 4), "shrink": Range(0.0, 100), "rate": Range(1, 100, log=True)}
    parsed = domains(parse(with_model(space=space), Path()).models[0].space)
    assert list(parsed) == list(space)
    lists = {"near": (20, 50), "by": ("cosine", True, {"of": 1}), "x": (1, True, 1.0, "1")}
    assert parsed == lists | ranges
    assert [domain.whole for domain in ranges.values()] == [True, False, True]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (True, " is true; expected a list of values, or a range such as { low = 1, high = 100 }"),
        ([], " is an empty list; give it at least one value"),
        ([1, 2, 1], " holds 1 twice; name each value once"),
        ({"low": 1}, ' needs the key "high"; or write a list of values'),
        ({"low": 1, "hihg": 2}, ' has no key "hihg"; did you mean "high"?'),
        ({"low": 2, "high": 2}, ": low = 2 is not below high = 2"),
        ({"low": False, "high": 2}, ".low is false; expected a number"),
        ({"low": 1, "high": float("inf")}, ".high is inf; expected a number"),
        ({"low": 1, "high": 2, "log": 1}, ".log is 1; expected true or false"),
        ({"low": 0, "high": 2, "log": True}, ": log = true needs low above 0, found low = 0"),
    ],
)
def test_what_is_no_space(value: Any, message: str) -> None:
    text = refused(with_model(space={"x": value}))
    assert text == f'exam.toml: [[models]] "kNN" space.x{message}'


@pytest.mark.parametrize(
    ("tune", "message"),
    [
        ({"trials": 0}, "[tune] trials: found 0; input should be greater than or equal to 1"),
        ({"search": "gird"}, "[tune] search = 'gird'; did you mean \"grid\"?"),
        ({"metric": "MAPP@12"}, '[tune] metric: '),
        ({"metric": "MAP@13"}, "[tune] metric: MAP@13 looks at 13 positions, but k = 12"),
        ({"split": {"strategy": "time", "vald_days": 1}},
         '[tune] split has no key "vald_days"; did you mean "valid_days"?'),
        ({"split": {"strategy": "given", "valid": "x"}},
         "[tune] split strategy is 'given'; allowed: time, last_n, fraction"),
        ({"split": {"strategy": "last_n", "n": 0}},
         "[tune] split n: found 0; input should be greater than or equal to 1"),
        ({"split": {"n": 1}},
         '[tune] split needs the key "strategy", which is missing; allowed: time, last_n, frac'),
        ({"split": 5}, "[tune] split: found 5; expected keys with values"),
    ],
)  # fmt: skip
def test_what_tune_may_not_hold(tune: Any, message: str) -> None:
    assert refused(VALUES | {"tune": tune}).startswith(f"exam.toml: {message}")


def test_a_split_for_tuning_needs_times() -> None:
    timeless = {"data": VALUES["data"] | {"time": False}}
    timeless |= {"split": {"strategy": "given", "valid": "valid.csv"}}
    tune = {"tune": {"split": {"strategy": "last_n", "n": 1}}}
    assert "[tune] split needs times" in refused(VALUES | timeless | tune)


def test_a_record_is_checked() -> None:
    record = parse(with_model(tuned=RECORD), Path()).models[0].tuned
    assert record is not None
    assert record.model_dump() == RECORD
    assert 'has no key "tuned.trails"; did' in refused(with_model(tuned=RECORD | {"trails": 1}))
    missing = refused(with_model(tuned={k: v for k, v in RECORD.items() if k != "exam"}))
    assert '"kNN" needs the key "tuned.exam", which is missing; expected a text' in missing


def test_a_written_config_is_told_as_toml_has_it() -> None:
    """Texts stand without quotes, unless in a list or a table; tuning is no difference of exams."""
    data = {"restore_zeros": True, "path": "x", "since": date(2020, 1, 2)}
    lines = "a.b = [true]", "data.path = x", "data.restore_zeros = true", "data.since = 2020-01-02"
    assert differing({"data": data, "a": {"b": [True]}, "tune": {"trials": 5}}, {}) == lines
    params = {"values": False, "at": [1.5, "z"], "by": {"sale": True}, "kind": "dot"}
    model = {"name": "mine", "use": "baselines.popular:Popular", "params": params}
    assert settings({"models": [model]}, "mine") == (
        "Popular(values=false, at=[1.5, 'z'], by={ sale = true }, kind=dot)"
    )


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: params.require_above(0, n=True), "n is true; expected a number above 0"),
        (lambda: params.require_from(0, n=False), "n is false; expected a number from 0 up"),
        (lambda: params.require_whole(1, n=True), "n is true; expected a whole number from 1 up"),
        (lambda: params.require_flag(n=[True]), "n is [true]; expected true or false"),
        (lambda: params.require_choice(["a"], n=True), "n is true; allowed: a"),
        (lambda: params.require_texts(n=["a", True]), "n is ['a', true]; expected a list of texts"),
    ],
)
def test_so_a_parameter_is_that_cannot_be(call: Callable[[], Any], said: str) -> None:
    with refusal(ValueError, said):
        call()


def test_a_config_is_written_as_it_was_given() -> None:
    """Elsewhere its paths are absolute."""
    values = with_model(space={"x": [1, 2]}, tuned=RECORD) | {"tune": {"trials": 5}}
    config, here = parse(values | {"submission": {"sample": "s.csv"}}, Path("here")), Path("here")
    assert config.written(here) == values | {"submission": {"sample": "s.csv"}}
    elsewhere = values["data"] | {"path": str(here.resolve() / "shop")}
    sample = {"sample": str(here.resolve() / "s.csv")}
    assert config.written(Path("there")) == values | {"data": elsewhere, "submission": sample}
