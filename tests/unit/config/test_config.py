"""Configs: what is read, and the message for every key and value that is not allowed."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from conftest import ROOT, refusal

from harness.config import parse, read
from harness.config.diff import differing, settings
from harness.config.space import Range
from harness.core.errors import UsageError

VALUES: dict[str, Any] = {
    "data": {"layout": "table", "path": "shop", "events": "log.csv"},
    "split": {"strategy": "time"},
    "models": [{"name": "popular", "use": "baselines.popular:Popular"}],
}
MODEL = VALUES["models"][0]
WEEKLY = MODEL | {"name": "last week", "params": {"window_days": 7}}
WHOLE = {"name": "whole", "use": "baselines.fill:Fill", "of": ["popular"]}
READY = {"name": "ready", "lists": "mates.csv"}
NO_FILE = "found ''; expected at least 1 character"
PRECOMPUTED = '[[models]] "ready" has precomputed recommendations, so it takes no '


def config_file(folder: Path, **sections: Any) -> Path:
    path = folder / "hm.toml"
    two = {"evaluation": {"k": 5}, "models": [MODEL, WEEKLY]}
    path.write_text(tomli_w.dumps(values(**two | sections)), encoding="utf-8")
    return path


def values(**sections: Any) -> dict[str, Any]:
    """Return `VALUES` with keys of sections set, or sections replaced; None leaves them out."""
    result = VALUES | sections
    for name, section in sections.items():
        if isinstance(section, dict):
            merged = VALUES[name] | section if name in ("data", "split") else section
            result[name] = {key: value for key, value in merged.items() if value is not None}
    return {name: section for name, section in result.items() if section is not None}


def refused(config: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as error:
        parse(config, Path(), "hm.toml")
    return str(error.value)


def test_every_config_of_the_repository_parses() -> None:
    configs = [read(path) for path in sorted((ROOT / "configs").glob("*.toml"))]
    for config in configs:
        assert len({model.name for model in config.models}) == len(config.models) > 1
        assert config.layout().name == config.data.layout
    assert {config.data.layout for config in configs} == {"hm", "ponpare", "kion", "table"}


def test_models_stand_in_any_order_and_base_models_have_repeats(tmp_path: Path) -> None:
    models = [WHOLE | {"of": ["ready", "popular"]}, READY, MODEL | {"repeats": 3}]
    config = parse(values(models=models), tmp_path / "shop")
    assert [model.base_models for model in config.models] == [["ready", "popular"], [], []]
    whole, precomputed, _ = config.resolved()["models"]
    assert (whole["of"], "lists" in whole) == (["ready", "popular"], False)
    lists = str(tmp_path / "shop" / "mates.csv")
    assert (precomputed["lists"], "use" in precomputed) == (lists, False)
    assert config.resolved()["evaluation"]["require_hit"] is True
    assert "folds" not in config.resolved()["split"]
    again = parse(config.resolved(), Path("/elsewhere"))
    assert again.resolved() == config.resolved()


@pytest.mark.parametrize(
    ("sections", "line"),
    [
        ({"data": {"pth": "x"}}, '[data] has no key "pth"; did you mean "path"?'),
        ({"k": 5}, 'no section [k]; did you mean "evaluation.k"?'),
        ({"modles": []}, 'no section [modles]; did you mean "models"?'),
        ({"evaluation": {"users": "sen"}}, "[evaluation] users = 'sen'; did you mean \"seen\"?"),
        ({"data": {"layout": "ponpar"}},
         "[data] layout = 'ponpar'; did you mean \"ponpare\"?\nfor other files, set layout = "
         '"table", or write a layout: "my_layout:Name"'),
        ({"split": {"strategy": "tme"}}, "[split] strategy is 'tme'; did you mean \"time\"?"),
        ({"models": [MODEL, {**MODEL, "use": "x:Y"}]},
         '[[models]]: two models have the name "popular"; give each its own name'),
        ({"split": {"window": "test"}}, '[split] window = "test" needs test_days >= 1'),
        ({"models": [MODEL, WHOLE | {"of": ["populr"]}]},
         '[[models]] "whole" of: no model has the name "populr"; did you mean "popular"?'),
        ({"models": [MODEL, WHOLE | {"of": ["whole"]}]},
         '[[models]] of: "whole" is a base model of "whole"; a model cannot be its own base model'),
        ({"models": [MODEL, WHOLE | {"of": "popular"}]},
         "[[models]] \"whole\" of: found 'popular'; expected a valid list"),
        ({"models": [MODEL, WHOLE | {"params": {"models": ["popular"]}}]},
         '[[models]] "whole" names its base models twice; name them in of only, and remove '
         '"models" from params'),
        ({"models": [WHOLE | {"of": ["b"]}, WHOLE | {"name": "b", "of": ["c"]},
                     WHOLE | {"name": "c", "of": ["whole"]}]},
         '[[models]] of: "whole" is a base model of "c" is a base model of "b" is a base model of '
         '"whole"; a model cannot be its own base model'),
        ({"models": [READY | {"use": "x:Y"}]},
         '[[models]] "ready" has both "use" and "lists"; remove one'),
        ({"models": [MODEL, READY | {"of": ["popular"]}]}, f'{PRECOMPUTED}"of"; remove it'),
        ({"models": [READY | {"repeats": 2}]}, f'{PRECOMPUTED}"repeats"; remove it'),
        ({"data": None}, "[data] is missing; docs/config.md shows its keys"),
        ({"data": {"layout": None}}, '[data] needs the key "layout", which is missing'),
        ({"split": {"strategy": None}},
         '[split] needs the key "strategy", which is missing; '
         "allowed: time, last_n, fraction, given"),
        ({"models": [{"name": "x"}]}, '[[models]] "x" needs the key "use", or "lists" with a file '
         "of precomputed recommendations"),
        ({"models": [{"use": "x:Y"}]},
         '[[models]] number 1 needs the key "name", which is missing'),
        ({"folder": "/"}, "no section [folder]; allowed: data, "),
        ({"data": {"layout": "hm", "events": None}, "split": {"strategy": "given", "valid": "x"}},
         '[split] strategy "given" works with layout "table" only'),
        ({"split": {"strategy": "given"}}, '[split] needs the key "valid", which is missing'),
        ({"split": {"strategy": "given", "valid": []}}, "[split] valid: found []; expected"),
        ({"split": {"strategy": "given", "valid": ""}}, f"[split] valid: {NO_FILE}"),
        ({"split": {"strategy": "given", "valid": ["later.csv", ""]}},
         f"[split] valid.1: {NO_FILE}"),
        ({"data": {"restore_zeros": True}}, '[data] layout "table" has no key "restore_zeros"; '),
        ({"data": {"events": None}}, '[data] layout "table" needs events = '),
        ({"models": []}, "[[models]]: found []; expected at least 1"),
        ({"models": [MODEL, 5]}, "[[models]] number 2: found 5; expected keys with values"),
        ({"models": [{**MODEL, "name": 5}]}, "[[models]] number 1 name: found 5; "),
        ({"split": {"strategy": "fraction", "fraction": 1}},
         "[split] fraction: found 1; expected less than 1"),
    ],
)  # fmt: skip
def test_a_fault_is_named_in_a_line(sections: dict[str, Any], line: str) -> None:
    assert refused(values(**sections)).startswith(f"hm.toml: {line}")


@pytest.mark.parametrize(
    ("section", "key", "value", "start"),
    [
        ("evaluation", "k", "5", ": found '5'; expected a valid integer"),
        ("evaluation", "k", True, ": found true; "),
        ("evaluation", "k", 0, ": found 0; expected greater than or equal to 1"),
        ("evaluation", "seed", 2**63, f": found {2**63}; "),
        ("evaluation", "require_hit", "no", ": found 'no'; expected a valid boolean"),
        ("evaluation", "metrics", ["MAP@12", 3], ".1: found 3; "),
        ("data", "time", False, ' = false works with [split] strategy "given" only'),
        *(("data", "max_unpacked_gb", float(n), f": found {n}") for n in ("0", "inf", "nan")),
        *(
            ("data", key, "", ": found ''; expected at least 1 character")
            for key in ("user", "events", "items")
        ),
        ("data", "where", 5, ": found 5; expected keys with values"),
        ("data", "where", {"r": True}, " r: found true; expected a text or "),
        ("data", "where", {"r": {"min": 10**400}}, " r: found { min = 1"),
        ("data", "where", {"r": {"min": True, "max": [False]}},
         " r: found { min = true, max = [false] }; expected a text or "),
        ("data", "where", {"a b": {"min": 2, "max": 1}}, ' "a b": no value is within { min = 2'),
        ("data", "where", {"r": {"above": 1, "max": 1}}, " r: no value is within { above"),
        *(
            ("data", "where", {"r": where}, " r: found { ")
            for where in ({"empty": True}, {"above": 0, "min": 1}, {"empty": 0, "min": 1})
        ),
        ("data", "layout", "hm", ' "hm" has no key "events"; allowed: '),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_with_its_key(
    section: str, key: str, value: Any, start: str
) -> None:
    lines = refused(values(**{section: {key: value}})).splitlines()
    assert all(line.startswith(f"hm.toml: [{section}] {key}{start}") for line in lines)


def test_each_fault_has_a_line() -> None:
    lines = refused(values(evaluation={"k": 0, "users": 5}, data={"pth": "x"})).splitlines()
    assert [line.split()[1] for line in lines] == ["[data]", "[evaluation]", "[evaluation]"]


def test_what_is_no_config_file(tmp_path: Path) -> None:
    with refusal(UsageError, "none.toml: no such file; name a config file"):
        read(tmp_path / "none.toml")
    with refusal(UsageError, "; name a config file (TOML)"):
        read(tmp_path)
    path = config_file(tmp_path, evaluation={"kk": 5})
    with refusal(UsageError, f"; there are {path}"):
        read(tmp_path)
    with refusal(UsageError, f'{path}: [evaluation] has no key "kk"'):
        read(path)
    path.write_bytes(b"\xff\xfe")
    with refusal(UsageError, "hm.toml: is not valid TOML: "):
        read(path)
    path.write_text("[data]\nlayout = hm\n")
    with refusal(UsageError, "hm.toml: is not valid TOML: ", "line 2"):
        read(path)
    path.write_text("[data]\n[data]\n")
    with refusal(UsageError, "line 2", "; write each [table] once"):
        read(path)


@pytest.mark.parametrize(
    ("override", "place", "value"),
    [
        ("evaluation.k = 7", "evaluation k", 7),
        ("evaluation.require_hit=false", "evaluation require_hit", False),
        ("evaluation.metrics=['MAP@5', 'NDCG@5']", "evaluation metrics", ["MAP@5", "NDCG@5"]),
        ("data.path=../a = b", "data path", "../a = b"),
        ("models.1.params.window_days=14", "models 1 params window_days", 14),
        ("split={strategy='last_n', n=2}", "split n", 2),
    ],
)
def test_overrides(tmp_path: Path, override: str, place: str, value: Any) -> None:
    """The last of a key holds."""
    config: Any = read(config_file(tmp_path), ["evaluation.k=6", override]).model_dump()
    for part in place.split():
        config = config[int(part) if part.isdigit() else part]
    assert config == value
    assert type(config) is type(value)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("evaluation.k", '--set evaluation.k: expected key=value, such as "evaluation.k=5"'),
        *(
            (f"{key}=5", f"--set {key}=5: no such key; name one, such as evaluation.k=5")
            for key in ("models.0", "models.2.repeats", "data.path.x")
        ),
        ("evaluation.k=five", "[evaluation] k: found 'five'; expected a valid integer"),
    ],
)
def test_bad_overrides_are_named(tmp_path: Path, override: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        read(config_file(tmp_path), [override])


VALUES_OR_RANGE = "expected a list of values, or a range such as { low = 1, high = 100 }"
RECORD = {"trials": 30, "search": "tpe", "seed": 1, "metric": "MAP@12", "value": 0.5, "exam": "f"}


def with_model(**keys: Any) -> dict[str, Any]:
    return values(models=[MODEL | keys])


def test_lists_and_ranges() -> None:
    space = {
        "near": [20, 50],
        "by": ["cosine", True, {"of": 1}],
        "depth": {"low": 1, "high": 4},
        "shrink": {"low": 0.0, "high": 100},
        "rate": {"low": 1, "high": 100, "log": True},
        "x": [1, True, 1.0, "1"],  # a true beside a one is another value
    }
    ranges = {
        "depth": Range(low=1, high=4),
        "shrink": Range(low=0.0, high=100),
        "rate": Range(low=1, high=100, log=True),
    }
    parsed = parse(with_model(space=space), Path()).models[0].space
    assert list(parsed) == list(space)
    lists = {"near": (20, 50), "by": ("cosine", True, {"of": 1}), "x": (1, True, 1.0, "1")}
    assert parsed == lists | ranges
    assert [domain.whole for domain in ranges.values()] == [True, False, True]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (True, f": found true; {VALUES_OR_RANGE}"),
        ([], f": found []; {VALUES_OR_RANGE}"),
        ([1, 2, 1], " holds 1 twice; name each value once"),
        ({"low": 1, "hihg": 2}, ' has no key "hihg"; did you mean "high"?'),
        ({"low": 2, "high": 2}, " has low = 2, not below high = 2"),
        ({"low": False, "high": 2}, ".low: found false; expected a finite number"),
        ({"low": 1, "high": 10**400}, f".high: found {10**400}; expected a finite number"),
        ({"low": 1, "high": 2, "log": 1}, ".log: found 1; expected a valid boolean"),
        ({"low": 0, "high": 2, "log": True}, " has log = true and low = 0; low must be above 0"),
    ],
)
def test_what_is_no_space(value: Any, message: str) -> None:
    text = refused(with_model(space={"x": value}))
    assert text == f'hm.toml: [[models]] "popular" space.x{message}'


@pytest.mark.parametrize(
    ("tune", "message"),
    [
        ({"metric": "MAPP@12"}, '[tune] metric: '),
        ({"metric": "MAP@13"}, "[tune] metric: MAP@13 looks at 13 positions, but k = 12"),
        ({"split": {"strategy": "given", "valid": "x"}},
         "[tune] split strategy is 'given'; allowed: time, last_n, fraction"),
        ({"split": {"strategy": "last_n", "n": 0}},
         "[tune] split.n: found 0; expected greater than or equal to 1"),
    ],
)  # fmt: skip
def test_what_tune_may_not_hold(tune: Any, message: str) -> None:
    assert refused(values(tune=tune)).startswith(f"hm.toml: {message}")


def test_a_split_for_tuning_needs_times() -> None:
    split = {"strategy": "given", "valid": "valid.csv"}
    tune = {"split": {"strategy": "last_n", "n": 1}}
    timeless = values(data={"time": False}, split=split, tune=tune)
    assert "[tune] split needs times" in refused(timeless)


TIME = {"strategy": "time", "folds": 2}


def valid(*names: str) -> dict[str, Any]:
    return {"split": {"strategy": "given", "valid": list(names)}}


def lists(*names: str) -> dict[str, Any]:
    return {"models": [{"name": "m", "lists": list(names)}]}


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        (valid("a.csv", "a.csv"), "[split] valid names a file twice"),
        (valid("a.csv", "b.csv"), "[data] events names 1 file"),
        ({"data": {"events": ["a.csv", "b.csv"]}}, "[data] events names several files"),
        ({"split": TIME | {"window": "test", "test_days": 7}}, 'window = "test" is one window'),
        ({"split": TIME, **lists("x.csv")}, '"m" lists names 1 file for 2 folds'),
        (lists("x.csv", "y.csv"), "lists names 2 files"),
    ],
)
def test_configs_of_folds_that_cannot_be(sections: dict[str, Any], words: str) -> None:
    assert words in refused(values(**sections))


@pytest.mark.parametrize("split", [{"strategy": "time"}, {"strategy": "last_n", "n": 1}])
def test_a_list_with_one_name_is_that_name(split: dict[str, Any]) -> None:
    config = parse(values(split=split, data={"events": ["log.csv"]}, **lists("l.csv")), Path())
    assert (config.data.events, config.models[0].lists) == ("log.csv", "l.csv")


def test_a_record_is_checked() -> None:
    record = parse(with_model(tuned=RECORD), Path()).models[0].tuned
    assert record is not None
    assert record.model_dump() == RECORD
    assert 'tuned has no key "trails"; did' in refused(with_model(tuned=RECORD | {"trails": 1}))
    missing = refused(with_model(tuned={k: v for k, v in RECORD.items() if k != "exam"}))
    assert '"popular" needs the key "tuned.exam", which is missing' in missing
    missing = refused(with_model(space={"x": {"low": 1}}))
    assert '"popular" needs the key "space.x.high", which is missing' in missing


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


def test_a_config_is_written_as_it_was_given() -> None:
    """Elsewhere its paths are absolute."""
    tuned = MODEL | {"space": {"x": [1, 2]}, "tuned": RECORD}
    before = values(models=[tuned], tune={"trials": 5}, submission={"sample": "s.csv"})
    config, here = parse(before, Path("here")), Path("here")
    assert config.written(here) == before
    elsewhere = before["data"] | {"path": str(here.resolve() / "shop")}
    sample = {"sample": str(here.resolve() / "s.csv")}
    assert config.written(Path("there")) == before | {"data": elsewhere, "submission": sample}
