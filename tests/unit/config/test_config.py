"""Configs: what is read, and what is said of every key and value that is not allowed."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from conftest import refusal

from harness.config import TimeSplit, parse, read
from harness.core.errors import UsageError

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "configs").glob("*.toml"))
TOML = """
[data]
layout = "hm"
path = "shop"
[split]
strategy = "time"
[evaluation]
k = 5
[[models]]
name = "popular"
use = "baselines.popular:Popular"
[[models]]
name = "last week"
use = "baselines.popular:Popular"
params = { window_days = 7 }
"""
VALUES: dict[str, Any] = {
    "data": {"layout": "table", "path": "shop", "events": "log.csv"},
    "split": {"strategy": "time"},
    "models": [{"name": "popular", "use": "baselines.popular:Popular"}],
}
MODEL = VALUES["models"][0]


def config_file(folder: Path, text: str = TOML) -> Path:
    path = folder / "hm.toml"
    path.write_text(text, encoding="utf-8")
    return path


def values(**sections: Any) -> dict[str, Any]:
    """Return `VALUES` with keys of sections set, or sections replaced by what is no dict."""
    result = deepcopy(VALUES)
    for name, section in sections.items():
        if isinstance(section, dict) and isinstance(result.get(name), dict):
            result[name] |= section
        else:
            result[name] = section
    return result


def refused(given: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as caught:
        parse(given, Path(), "configs/hm.toml")
    return str(caught.value)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_config_of_the_repository_parses(path: Path) -> None:
    config = read(path)
    assert len({m.name for m in config.models}) == len(config.models) > 1
    assert config.layout().name == config.data.layout


def test_there_are_configs_of_every_layout() -> None:
    assert {read(path).data.layout for path in CONFIGS} == {"hm", "ponpare", "kion", "table"}


def test_defaults() -> None:
    config = parse(VALUES, Path())
    assert isinstance(config.split, TimeSplit)
    assert (config.split.valid_days, config.split.days) == (7, "calendar")
    found = config.evaluation
    assert (found.k, found.users, found.require_hit, found.truth) == (12, "seen", True, "all")
    assert (found.seen_items, found.candidates, found.seed) == ("keep", None, 42)
    assert (config.models[0].repeats, config.models[0].params) == (1, {})


def test_a_relative_path_starts_at_the_configs_folder(tmp_path: Path) -> None:
    config = read(config_file(tmp_path))
    assert config.layout().events[0].table.path.parent == tmp_path / "shop"


def test_an_absolute_path_is_kept(tmp_path: Path) -> None:
    config = read(config_file(tmp_path), [f"data.path={tmp_path / 'other'}"])
    assert config.layout().events[0].table.path.parent == tmp_path / "other"


def test_the_resolved_config_reads_back_as_the_same() -> None:
    config = parse(values(evaluation={"k": 3}), Path())
    assert config.resolved()["evaluation"]["require_hit"] is True
    assert "folder" not in config.resolved()
    given = {key: v for key, v in config.resolved().items() if key != "data"}
    assert parse({**given, "data": VALUES["data"]}, Path()) == config


# --- faults --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sections", "line"),
    [
        ({"evaluation": {"requirehit": True}},
         '[evaluation] has no key "requirehit"; did you mean "require_hit"?'),
        ({"data": {"pth": "x"}}, '[data] has no key "pth"; did you mean "path"?'),
        ({"split": {"valid_day": 7}}, '[split] has no key "valid_day"; did you mean "valid_days"?'),
        ({"models": [{**MODEL, "param": {}}]},
         '[[models]] "popular" has no key "param"; did you mean "params"?'),
        ({"modles": []}, 'no section [modles]; did you mean "models"?'),
        ({"evaluation": {"users": "sen"}},
         "[evaluation] users = 'sen'; did you mean \"seen\"?"),
        ({"evaluation": {"seen_items": "dorp"}},
         "[evaluation] seen_items = 'dorp'; did you mean \"drop\"?"),
        ({"evaluation": {"candidates": "trian"}},
         "[evaluation] candidates = 'trian'; did you mean \"train\"?"),
        ({"data": {"layout": "ponpar"}},
         "[data] layout = 'ponpar'; did you mean \"ponpare\"?\nfor files of another shape: "
         'layout = "table", or one of your own, "my_layout:Name"'),
        ({"split": {"days": "elapse"}}, "[split] days = 'elapse'; did you mean \"elapsed\"?"),
        ({"split": {"strategy": "tme"}}, "[split] strategy is 'tme'; did you mean \"time\"?"),
        ({"data": {"layout": "hm", "restore_zero": True, "events": "x"}},
         '[data] has no key "restore_zero"; did you mean "restore_zeros"?'),
    ],
)  # fmt: skip
def test_the_nearest_name_is_suggested(sections: dict[str, Any], line: str) -> None:
    assert refused(values(**sections)) == f"configs/hm.toml: {line}"


@pytest.mark.parametrize(
    ("sections", "named"),
    [
        ({"time": {}}, ["no section [time]; allowed: ", "evaluation"]),
        ({"folder": "/"}, ["no section [folder]; allowed: ", "models"]),
        ({"data": {"fraction": 1}}, ['[data] has no key "fraction"; allowed: ', "separator"]),
        ({"evaluation": {"time": 1}}, ['[evaluation] has no key "time"; allowed: ', "seen_items"]),
        ({"split": {"n": 3}}, ['[split] has no key "n"; allowed: ', "valid_days", "window"]),
        ({"evaluation": {"truth": "zz"}}, ["truth = 'zz'; allowed: ", "all", "candidates"]),
        ({"evaluation": {"users": 5}}, ["[evaluation] users = 5; allowed: ", "seen", "all"]),
    ],
)
def test_where_nothing_is_near_all_are_named(sections: dict[str, Any], named: list[str]) -> None:
    with refusal(UsageError, *named):
        parse(values(**sections), Path())


@pytest.mark.parametrize(
    ("sections", "start"),
    [
        ({"evaluation": {"k": "5"}}, "[evaluation] k: found '5'; input should be a valid integer"),
        ({"evaluation": {"k": True}}, "[evaluation] k: found true; "),
        ({"evaluation": {"k": 0}}, "[evaluation] k: found 0; input should be greater than or eq"),
        ({"evaluation": {"seed": -1}}, "[evaluation] seed: found -1; "),
        ({"evaluation": {"seed": 2**63}}, f"[evaluation] seed: found {2**63}; "),
        ({"evaluation": {"require_hit": "no"}}, "[evaluation] require_hit: found 'no'; "),
        ({"evaluation": {"metrics": "MAP@12"}}, "[evaluation] metrics: found 'MAP@12'; "),
        ({"evaluation": {"metrics": ["MAP@12", 3]}}, "[evaluation] metrics.1: found 3; "),
        ({"evaluation": 5}, "[evaluation]: found 5; expected keys with values"),
        ({"data": {"time": 5}}, "[data] time"),
        ({"data": {"path": 5}}, "[data] path: found 5; "),
        ({"data": {"header": "no"}}, "[data] header: found 'no'; "),
        ({"data": {"where": {"rating": 4}}}, "[data] where rating: found 4; expected a text or "),
        (
            {"data": {"where": {"rating": {"min": "4"}}}},
            "[data] where rating: found { min = '4' }; expected a text or ",
        ),
        ({"data": {"where": {"rating": {"min": 10**400}}}}, "[data] where rating: found { min = 1"),
        ({"data": {"min_user_events": 2**63}}, "[data] min_user_events: found 9223372036854775808"),
        ({"data": {"where": {"r": True}}}, "[data] where r: found true; expected a text or "),
        (
            {"data": {"where": {"r": {"min": True, "max": [False]}}}},
            "[data] where r: found { min = true, max = [false] }; expected a text or ",
        ),
        ({"data": {"where": {"event": []}}}, "[data] where event: found []; expected a text or "),
        (
            {"data": {"where": {"a b": {"min": 2, "max": 1}}}},
            '[data] where "a b": min = 2 is above max = 1',
        ),
        ({"data": []}, "[data]: found []; expected keys with values"),
        ({"split": {"valid_days": 7.5}}, "[split] valid_days: found 7.5; "),
        ({"split": {"valid_days": 0}}, "[split] valid_days: found 0; "),
        (
            {"data": {"layout": "table", "path": "x", "where": 5}},
            "[data] where: found 5; expected keys with values",
        ),
        ({"split": 5}, "[split]: found 5; expected keys with values"),
        ({"models": []}, "[[models]]: found []; "),
        ({"models": {"name": "x"}}, "[[models]]: found { name = 'x' }; "),
        ({"models": [MODEL, 5]}, "[[models]] number 2: found 5; expected keys with values"),
        ({"models": [{**MODEL, "repeats": 0}]}, '[[models]] "popular" repeats: found 0; '),
        ({"models": [{**MODEL, "name": ""}]}, "[[models]] \"\" name: found ''; "),
        ({"models": [{**MODEL, "name": 5}]}, "[[models]] number 1 name: found 5; "),
    ],
)
def test_a_wrong_value_is_named_with_its_key(sections: dict[str, Any], start: str) -> None:
    lines = refused(values(**sections)).splitlines()
    assert all(line.startswith(f"configs/hm.toml: {start}") for line in lines)


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.1])
def test_a_fraction_lies_between_0_and_1(share: float) -> None:
    given = {**values(), "split": {"strategy": "fraction", "fraction": share}}
    assert f"[split] fraction: found {share}; " in refused(given)


def test_each_fault_has_a_line() -> None:
    lines = refused(values(evaluation={"k": 0, "user": "seen"}, data={"pth": "x"})).splitlines()
    assert len(lines) == 3
    assert all(line.startswith("configs/hm.toml: [") for line in lines)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (["data"], "[data] is missing; write it, with layout and path"),
        (["split"], "[split] is missing; write it, with a strategy"),
        (["models"],
         "[[models]] is missing; write it, with the name and the class (use) of a model"),
        (["data", "path"],
         '[data] needs the key "path", which is missing; expected a text in quotes'),
        (["data", "layout"],
         '[data] needs the key "layout", which is missing; allowed: hm, ponpare, kion, '
         "retailrocket, ml-100k, ml-1m, ml-10m, ml-20m, otto, yambda, table"),
        (["split", "strategy"],
         '[split] needs the key "strategy", which is missing; '
         "allowed: time, last_n, fraction, given"),
        (["models", 0, "use"],
         '[[models]] "popular" needs the key "use", or "lists" with a file of '
         "precomputed recommendations"),
        (["models", 0, "name"], '[[models]] number 1 needs the key "name", which is missing; '
         "expected a text in quotes"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(path: list[Any], line: str) -> None:
    given: Any = deepcopy(VALUES)
    *before, last = path
    target = given
    for part in before:
        target = target[part]
    del target[last]
    assert refused(given) == f"configs/hm.toml: {line}"


@pytest.mark.parametrize(
    ("name", "key", "wanted"),
    [
        ("last_n", "n", "a whole number from 1 and below 2,147,483,648"),
        ("fraction", "fraction", "a number above 0 and below 1"),
        ("given", "valid", "a text in quotes, or a list of them, one a fold"),
    ],
)
def test_a_strategys_own_key_is_needed(name: str, key: str, wanted: str) -> None:
    message = refused({**values(), "split": {"strategy": name}})
    told = f'[split] needs the key "{key}", which is missing; expected {wanted}'
    assert message == f"configs/hm.toml: {told}"


@pytest.mark.parametrize(
    ("data", "start"),
    [
        ({"layout": "hm", "path": "x", "events": "log.csv"},
         '[data] layout "hm" has no key "events"; allowed: '),
        ({"layout": "ponpare", "path": "x", "separator": ";"},
         '[data] layout "ponpare" has no key "separator"; allowed: '),
        ({"layout": "kion", "path": "x", "restore_zeros": True},
         '[data] layout "kion" has no key "restore_zeros"; allowed: '),
        ({"layout": "table", "path": "x", "events": "y", "restore_zeros": True},
         '[data] layout "table" has no key "restore_zeros"; allowed: '),
        ({"layout": "table", "path": "x"}, '[data] layout "table" needs events = '),
    ],
)  # fmt: skip
def test_keys_of_another_layout_are_refused(data: dict[str, Any], start: str) -> None:
    assert refused({**VALUES, "data": data}).startswith(f"configs/hm.toml: {start}")


@pytest.mark.parametrize(
    ("sections", "line"),
    [
        ({"models": [MODEL, {**MODEL, "use": "x:Y"}]},
         '[[models]]: two models are named "popular"; name each once'),
        ({"split": {"window": "test"}}, '[split] window = "test" needs test_days >= 1'),
    ],
)  # fmt: skip
def test_what_does_not_go_together(sections: dict[str, Any], line: str) -> None:
    assert refused(values(**sections)) == f"configs/hm.toml: {line}"


WHOLE = {"name": "whole", "use": "baselines.fill:Fill", "of": ["popular"]}
READY = {"name": "ready", "lists": "mates.csv"}


@pytest.mark.parametrize(
    ("models", "line"),
    [
        ([MODEL, WHOLE | {"of": ["populr"]}],
         '[[models]] "whole" of: no model is named "populr"; did you mean "popular"?'),
        ([MODEL, WHOLE | {"of": ["whole"]}],
         '[[models]] "whole" of: a model cannot be its own base model'),
        ([MODEL, WHOLE | {"of": []}], '[[models]] "whole" of = [] is empty; allowed: popular'),
        ([MODEL, WHOLE | {"of": "popular"}],
         "[[models]] \"whole\" of: found 'popular'; expected a list, such as ['popular']"),
        ([MODEL, WHOLE | {"params": {"models": ["popular"]}}],
         '[[models]] "whole" gives its parameter "models" twice: leave it to of'),
        ([WHOLE | {"of": ["b"]}, WHOLE | {"name": "b", "of": ["c"]},
          WHOLE | {"name": "c", "of": ["whole"]}],
         '[[models]] of: "whole" is a base model of "c" is a base model of "b" is a base model of '
         '"whole"; '
         "a model cannot be its own base model"),
        ([READY | {"use": "x:Y"}], '[[models]] "ready" has both "use" and "lists"; leave one out'),
        ([READY | {"params": {"a": 1}}],
         '[[models]] "ready" has precomputed recommendations, which have no "params"; '
         "leave it out"),
        ([MODEL, READY | {"of": ["popular"]}],
         '[[models]] "ready" has precomputed recommendations, which have no "of"; leave it out'),
        ([READY | {"repeats": 2}],
         '[[models]] "ready" has precomputed recommendations, the same in every repeat; '
         "leave repeats out"),
        ([READY | {"list": "x"}], '[[models]] "ready" has no key "list"; did you mean "lists"?'),
    ],
)  # fmt: skip
def test_parts_and_lists_that_are_refused(models: list[Any], line: str) -> None:
    assert refused(values(models=models)) == f"configs/hm.toml: {line}"


def test_models_stand_in_any_order_and_parts_have_repeats(tmp_path: Path) -> None:
    models = [WHOLE | {"of": ["ready", "popular"]}, READY, MODEL | {"repeats": 3}]
    config = parse(values(models=models), tmp_path / "shop")
    assert [model.base_models for model in config.models] == [["ready", "popular"], [], []]
    whole, precomputed, _ = config.resolved()["models"]
    assert (whole["of"], "lists" in whole) == (["ready", "popular"], False)
    lists = str(tmp_path / "shop" / "mates.csv")
    assert (precomputed["lists"], "use" in precomputed) == (lists, False)
    again = parse(config.resolved(), Path("/elsewhere"))
    assert again.resolved() == config.resolved()


def test_given_goes_with_tables_only() -> None:
    given = {**VALUES, "data": {"layout": "hm", "path": "x"}}
    given["split"] = {"strategy": "given", "valid": "exam.csv"}
    assert '[split] strategy "given" goes with layout "table" only' in refused(given)


def test_events_without_times_need_a_given_split() -> None:
    message = refused(values(data={"time": False}))
    assert '[data] time = false goes with [split] strategy "given" only' in message


# --- files and overrides -------------------------------------------------------------------------


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml: no such file; name a config file"):
        read(tmp_path / "none.toml")


def test_a_folder_is_no_config(tmp_path: Path) -> None:
    with refusal(UsageError, "is a folder, and a config is one file; name a config file (TOML)"):
        read(tmp_path)
    path = config_file(tmp_path)
    with refusal(UsageError, f"is a folder, and a config is one file; there are {path}"):
        read(tmp_path)


def test_text_that_is_not_utf8_is_no_config(tmp_path: Path) -> None:
    (tmp_path / "hm.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"hm\.toml: cannot be read: it is not UTF-8 text"):
        read(tmp_path / "hm.toml")


def test_bad_toml_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"hm\.toml: is not valid TOML: .*line 2"):
        read(config_file(tmp_path, "[data]\nlayout = hm\n"))


def test_a_fault_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = config_file(tmp_path, TOML.replace("k = 5", "kk = 5"))
    with pytest.raises(UsageError, match=re.escape(f'{path}: [evaluation] has no key "kk"')):
        read(path)


@pytest.mark.parametrize(
    ("override", "place", "value"),
    [
        ("evaluation.k=7", ("evaluation", "k"), 7),
        ("evaluation.k = 7", ("evaluation", "k"), 7),
        ("evaluation.require_hit=false", ("evaluation", "require_hit"), False),
        ("evaluation.users=all", ("evaluation", "users"), "all"),
        ('evaluation.users="all"', ("evaluation", "users"), "all"),
        ("evaluation.metrics=['MAP@5', 'NDCG@5']", ("evaluation", "metrics"), ["MAP@5", "NDCG@5"]),
        ("data.path=../other data", ("data", "path"), "../other data"),
        ("data.path=a=b", ("data", "path"), "a=b"),
        ("split.valid_days=3", ("split", "valid_days"), 3),
        ("models.0.repeats=3", ("models", 0, "repeats"), 3),
        ("models.1.params.window_days=14", ("models", 1, "params", "window_days"), 14),
        ("models.0.params.half_life_days=2.5", ("models", 0, "params", "half_life_days"), 2.5),
        ("split={strategy='last_n', n=2}", ("split", "n"), 2),
    ],
)
def test_overrides(tmp_path: Path, override: str, place: tuple[Any, ...], value: Any) -> None:
    found: Any = read(config_file(tmp_path), [override]).model_dump()
    for part in place:
        found = found[part]
    assert found == value
    assert type(found) is type(value)


def test_the_last_override_of_a_key_holds(tmp_path: Path) -> None:
    config = read(config_file(tmp_path), ["evaluation.k=1", "evaluation.k=2"])
    assert config.evaluation.k == 2


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("evaluation.k", '--set evaluation.k: expected key=value, such as "evaluation.k=5"'),
        ("=5", "--set =5: expected key=value"),
        (".k=5", "--set .k=5: expected key=value"),
        ("evaluation..k=5", "--set evaluation..k=5: expected key=value"),
        ("models.0=5", "--set models.0=5: name a key of one model, such as models.0.repeats=3"),
        ("models.2.repeats=5", '--set models.2.repeats=5: there is no "2" to set a key of'),
        ("models.-1.repeats=5", 'there is no "-1" to set a key of'),
        ("models.popular.repeats=5", 'there is no "popular" to set a key of'),
        ("data.path.x.y=5", '--set data.path.x.y=5: there is no "x" to set a key of'),
        ("data.path.x=5", '--set data.path.x=5: "path" is a value and has no keys'),
        ("models.0.name.x=5", '--set models.0.name.x=5: "name" is a value and has no keys'),
        ("evaluation.kk=5", '[evaluation] has no key "kk"'),
        ("evaluation.k=five", "[evaluation] k: found 'five'; input should be a valid integer"),
        ("evaluation=5", "[evaluation]: found 5; expected keys with values"),
        ("evalution.k=5", 'no section [evalution]; did you mean "evaluation"?'),
    ],
)
def test_bad_overrides_are_named(tmp_path: Path, override: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        read(config_file(tmp_path), [override])
