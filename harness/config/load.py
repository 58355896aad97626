"""A TOML file and its overrides in, one checked `Config` out; mistakes in the file's own words."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from harness.config import paths
from harness.config.sections import Config, SubmissionOnly, TableConfig
from harness.config.space import TunedRecord
from harness.config.splits import INNER, STRATEGIES, GivenSplit
from harness.core.errors import UsageError, in_toml, suggest

_Config = TypeVar("_Config", Config, SubmissionOnly)
_NEEDED = {
    "data": "layout and path",
    "split": "a strategy",
    "models": "the name and the class (use) of a model",
}
"""What each section begins with that a config must have."""
_KINDS = {str: "a text in quotes", int: "a whole number", float: "a number"}
_FILES = GivenSplit.model_fields["valid"].annotation
"""Of keys that name a file, or one a fold."""
_OWN = ("folder", "fold", "file", "given")
"""What a config knows of itself, and no file says."""
_LIMITS = (("ge", "from"), ("gt", "above"), ("lt", "below"))
_SHOWN = 10
"""How many files a message lists."""


def read(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Return the config in a TOML file, with ``key=value`` overrides applied.

    Raises
    ------
    UsageError
        The file is missing or no TOML, or a key or value is not allowed.
    """
    return _parsed(_values(path, overrides), path, overrides)


def read_for_submissions(path: Path, overrides: Sequence[str] = ()) -> Config | SubmissionOnly:
    """Return the config as `read` does, of a file that may have the section ``[submission]`` alone.

    Raises
    ------
    UsageError
        As in `read`.
    """
    values = _values(path, overrides)
    if set(values) == {"submission"}:
        return _checked(SubmissionOnly, values, path.parent, _shown(path, overrides))
    return _parsed(values, path, overrides)


def _parsed(values: dict[str, Any], path: Path, overrides: Sequence[str]) -> Config:
    found = _checked(Config, values, path.parent, _shown(path, overrides))
    return found.model_copy(update={"file": str(path)})


def _shown(path: Path, overrides: Sequence[str]) -> str:
    """Return what a config is made of: a fault may be in either."""
    given = "".join(f" --set {override}" for override in overrides)
    return f"{path} with{given}" if given else str(path)


def _values(path: Path, overrides: Sequence[str]) -> dict[str, Any]:
    """Return the plain values of a TOML file, with ``key=value`` overrides applied."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise UsageError(f"{path}: no such file; {_configs_beside(path)}") from error
    except IsADirectoryError as error:
        there = _configs_beside(path / "config.toml")
        raise UsageError(f"{path}: is a folder, and a config is one file; {there}") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: cannot be read: it is not UTF-8 text") from error
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise UsageError(f"{path}: is not valid TOML: {error}") from error
    for override in overrides:
        _apply(values, override)
    return values


def _configs_beside(path: Path) -> str:
    """Return the end of a message: the file that may be meant, or those that there are."""
    there = {one.stem: str(one) for one in sorted(path.parent.glob("*.toml"))}
    near = get_close_matches(path.stem, there, n=1)
    if near:
        return f'did you mean "{there[near[0]]}"?'
    if not there:
        return "name a config file (TOML)"
    more = ", …" if len(there) > _SHOWN else ""
    return f"there are {', '.join(list(there.values())[:_SHOWN])}{more}"


def parse(values: dict[str, Any], folder: Path, name: str = "config") -> Config:
    """Return the checked config of plain `values`.

    Raises
    ------
    UsageError
        A key or value is not allowed; the message names it and the nearest valid one.
    """
    return _checked(Config, values, folder, name).model_copy(update={"file": name})


def _checked(whole: type[_Config], values: dict[str, Any], folder: Path, name: str) -> _Config:
    for own in values.keys() & {*_OWN}:
        raise UsageError(f"{name}: no section [{own}]; {suggest(own, _section_names())}")
    try:
        return whole.model_validate({**values, "folder": folder})
    except ValidationError as error:
        lines = [_in_words(values, fault) for fault in error.errors()]
        raise UsageError("\n".join(f"{name}: {line}" for line in lines)) from None  # it says all


def _apply(values: dict[str, Any], override: str) -> None:
    """Set ``a.b=value`` in `values`; the value is TOML, or plain text where that is no TOML."""
    key, equals, text = override.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts):
        raise UsageError(f'--set {override}: expected key=value, such as "evaluation.k=5"')
    target: Any = values
    for part in parts[:-1]:
        if isinstance(target, dict):
            target = target.setdefault(part, {})
        elif isinstance(target, list) and part.isdecimal() and int(part) < len(target):
            target = target[int(part)]
        else:
            there = f"; there are 0 to {len(target) - 1}" if isinstance(target, list) else ""
            raise UsageError(f'--set {override}: there is no "{part}" to set a key of{there}')
    if isinstance(target, list):
        raise UsageError(f"--set {override}: name a key of one model, such as models.0.repeats=3")
    if not isinstance(target, dict):
        raise UsageError(f'--set {override}: "{parts[-2]}" is a value and has no keys')
    value: Any = text.strip()
    with suppress(tomllib.TOMLDecodeError, RecursionError, ValueError):
        value = tomllib.loads(f"value = {value}")["value"]
    target[parts[-1]] = value


def _section_names() -> list[str]:
    """Return the names of the sections that a config file may have."""
    return [name for name in Config.model_fields if name not in _OWN]


def _in_words(values: dict[str, Any], fault: Any) -> str:
    """Return one fault in the words of the config file: section, key, found, allowed."""
    if not fault["loc"]:
        return str(fault["ctx"]["error"])
    section, key = _place(values, *fault["loc"])
    name = fault["loc"][0]
    match fault["type"]:
        case "extra_forbidden":
            return _unknown(values, section, key, fault["loc"])
        case "missing":
            return f"{section} {_missing(values, key, *fault['loc'])}"
        case "union_tag_not_found":
            wanted = suggest("", INNER if name == "tune" else STRATEGIES)
            return f'{section} needs the key "strategy", which is missing; {wanted}'
        case "union_tag_invalid":
            found, allowed = fault["input"]["strategy"], INNER if name == "tune" else STRATEGIES
            return f"{section} strategy is {found!r}; {suggest(str(found), allowed)}"
        case "value_error":
            return f"{section} {fault['ctx']['error']}"
        case paths.UNSET:
            return f"{section} {key}: {fault['msg']}"
        case "literal_error":
            words = fault["ctx"]["expected"].replace(" or ", ",").split(",")
            near = suggest(str(fault["input"]), [word.strip("' ") for word in words])
            return f"{section} {key} = {in_toml(fault['input'])}; {near}"
        case "model_type" | "model_attributes_type" | "dict_type":
            place = f"{section} {key}".rstrip()
            return f"{place}: found {in_toml(fault['input'])}; expected keys with values"
        case _:
            return f"{f'{section} {key}'.rstrip()}: {_not_allowed(fault)}"


def _not_allowed(fault: Any) -> str:
    """Return what was found of one value, and what is allowed."""
    found, words = in_toml(fault["input"]), fault["msg"][0].lower() + fault["msg"][1:]
    if fault["type"] in ("list_type", "tuple_type") and isinstance(fault["input"], str):
        words = f"expected a list, such as [{found}]"
    return f"found {found}; {words}"


def _place(values: dict[str, Any], name: str, *keys: str | int) -> tuple[str, str]:
    """Return the section and the key (dotted, "" for the section itself) that a fault is at."""
    match name, keys:
        case "models", (int(at), *rest):
            model = values["models"][at]
            known = model.get("name") if isinstance(model, dict) else None
            rest = rest[:1] if rest[:1] == ["lists"] else rest
            which = f'"{known}"' if isinstance(known, str) else f"number {at + 1}"
            return f"[[models]] {which}", ".".join(map(str, rest))
        case "models", _:
            return "[[models]]", ""
        case "split", (_strategy, "valid", *_):
            return "[split]", "valid"
        case "split", (_strategy, *rest):
            return "[split]", ".".join(map(str, rest))
        case "submission", ("sample", *_):
            return "[submission]", "sample"
        case "data", ("events", *_):
            return "[data]", "events"
        case "tune", ("split", *rest):
            return "[tune] split", ".".join(map(str, rest[1:]))
        case "data", ("header" | "rows" | "time" as key, *_):  # a union: the type tried is no key
            return "[data]", key
        case "data", ("users" | "items" as key, _kind, *rest):
            return "[data]", ".".join(map(str, (key, *rest)))
    return f"[{name}]", ".".join(map(str, keys))


def _keys(values: dict[str, Any], place: tuple[Any, ...]) -> Mapping[str, FieldInfo]:
    """Return the keys that are allowed where one is unknown or missing."""
    match place:
        case ("split", *_):
            return STRATEGIES[values["split"]["strategy"]].model_fields
        case ("tune", "split", str(strategy), *_):
            return STRATEGIES[strategy].model_fields
        case ("models", _, "tuned", *_):
            return TunedRecord.model_fields
        case ("data", "users" | "items", "table", *_):
            return TableConfig.model_fields
    section = Config.model_fields[str(place[0])].annotation
    (keys,) = get_args(section) or (section,)  # of [[models]], those of one
    fields: Mapping[str, FieldInfo] = keys.model_fields
    return fields


def _unknown(values: dict[str, Any], section: str, key: str, place: tuple[Any, ...]) -> str:
    """Return what is said of a section or a key that there is not."""
    if not key:
        return f"no section [{place[0]}]; {suggest(place[0], _section_names())}"
    last = key.rpartition(".")[2]
    return f'{section} has no key "{key}"; {suggest(last, _keys(values, place))}'


def _missing(values: dict[str, Any], key: str, *place: Any) -> str:
    """Return what is said of a required key, or of a section without one."""
    if not key:
        return f"is missing; write it, with {_NEEDED[place[0]]}"
    return f'needs the key "{key}", which is missing; {_wanted(_keys(values, place)[place[-1]])}'


def _wanted(key: FieldInfo) -> str:
    """Return the end of a message: what the value of a key may be."""
    if key.annotation == _FILES:
        return f"expected {_KINDS[str]}, or a list of them, one a fold"
    if key.annotation not in _KINDS:
        return suggest("", get_args(key.annotation))
    if key.examples:
        return suggest("", key.examples)
    limits = [(word, getattr(rule, name, None)) for rule in key.metadata for name, word in _LIMITS]
    bounds = [f"{word} {limit:,}" for word, limit in limits if limit is not None]
    return f"expected {_KINDS[key.annotation]} {' and '.join(bounds)}".rstrip()
