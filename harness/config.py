"""The config file: TOML in, one checked and frozen `Config` out; every mistake names its key."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from harness.errors import UsageError, suggest
from harness.layouts.tables import CandidateRule, Layout

LayoutName = Literal["hm", "ponpare", "kion", "table"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class DataConfig(_Section):
    """``[data]``: where the files are and how they become events."""

    layout: LayoutName
    path: str
    restore_zeros: bool = False
    cache: bool = True
    events: str | None = None
    user: str = "user"
    item: str = "item"
    time: str | Literal[False] = "time"
    time_format: str = "iso"
    separator: str | None = None
    header: bool | list[str] = True
    minimum: dict[str, float] = {}
    users: str | None = None
    items: str | None = None

    @model_validator(mode="after")
    def _only_what_the_layout_reads(self) -> DataConfig:
        allowed = {"layout", "path", "cache"} | _KEYS_OF[self.layout]
        for key in sorted(self.model_fields_set - allowed):
            raise ValueError(
                f'layout "{self.layout}" has no key "{key}"; {suggest(key, sorted(allowed))}'
            )
        if self.layout == "table" and self.events is None:
            raise ValueError('layout "table" needs events = "the file with the event log"')
        return self


_KEYS_OF: dict[str, set[str]] = {
    "hm": {"restore_zeros"},
    "ponpare": set(),
    "kion": {"minimum"},
    "table": set(DataConfig.model_fields) - {"restore_zeros"},
}


class TimeSplit(_Section):
    """The last days are the exam; ``days = "elapsed"`` counts whole days back from the last event.

    ``window = "test"`` examines the test days and trains on everything before them.
    """

    strategy: Literal["time"]
    valid_days: Annotated[int, Field(ge=1)] = 7
    test_days: Annotated[int, Field(ge=0)] = 0
    days: Literal["calendar", "elapsed"] = "calendar"
    window: Literal["valid", "test"] = "valid"

    @model_validator(mode="after")
    def _a_test_window_has_days(self) -> TimeSplit:
        if self.window == "test" and self.test_days == 0:
            raise ValueError('window = "test" needs test_days >= 1')
        return self


class LastNSplit(_Section):
    """The last `n` events of each user are the exam."""

    strategy: Literal["last_n"]
    n: Annotated[int, Field(ge=1)]


class FractionSplit(_Section):
    """The last share of each user's events (rounded down) is the exam."""

    strategy: Literal["fraction"]
    fraction: Annotated[float, Field(gt=0, lt=1)]


class GivenSplit(_Section):
    """A second table, `valid`, is the exam; layout ``table`` alone."""

    strategy: Literal["given"]
    valid: str


SplitConfig = TimeSplit | LastNSplit | FractionSplit | GivenSplit
_STRATEGIES: dict[str, type[_Section]] = {
    "time": TimeSplit,
    "last_n": LastNSplit,
    "fraction": FractionSplit,
    "given": GivenSplit,
}


class EvaluationConfig(_Section):
    """``[evaluation]``: who sits the exam, what counts as a hit, how it is marked."""

    k: Annotated[int, Field(ge=1)] = 12
    users: Literal["seen", "all"] = "seen"
    require_hit: bool = True
    truth: Literal["all", "candidates"] = "all"
    seen_items: Literal["keep", "drop"] = "keep"
    candidates: CandidateRule | None = None
    metrics: list[str] = []
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 42


class ModelConfig(_Section):
    """``[[models]]``: a recommender by import path, its parameters and its number of repeats."""

    name: Annotated[str, Field(min_length=1)]
    use: str
    params: dict[str, Any] = {}
    repeats: Annotated[int, Field(ge=1)] = 1


class Config(_Section):
    """A whole config; relative paths in it start at `folder`, the config file's own."""

    data: DataConfig
    split: Annotated[SplitConfig, Field(discriminator="strategy")]
    evaluation: EvaluationConfig = EvaluationConfig()
    models: Annotated[list[ModelConfig], Field(min_length=1)]
    folder: Annotated[Path, Field(exclude=True)] = Path()

    @model_validator(mode="after")
    def _consistent(self) -> Config:
        names = [m.name for m in self.models]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f'[[models]]: two models are named "{name}"; name each once')
        if isinstance(self.split, GivenSplit) and self.data.layout != "table":
            raise ValueError('[split] strategy "given" goes with layout "table" only')
        if self.data.time is False and not isinstance(self.split, GivenSplit):
            raise ValueError('[data] time = false goes with [split] strategy "given" only')
        return self

    def layout(self) -> Layout:
        """Return the layout that ``[data]`` and a given split describe."""
        folder = Path(os.path.normpath(self.folder / self.data.path))
        match self.data.layout:
            case "hm":
                from harness.layouts import hm

                return hm.layout(folder, restore_zeros=self.data.restore_zeros)
            case "ponpare":
                from harness.layouts import ponpare

                return ponpare.layout(folder)
            case "kion":
                from harness.layouts import kion

                return kion.layout(folder, minimum=self.data.minimum)
            case "table":
                return self._table(folder)

    def _table(self, folder: Path) -> Layout:
        from harness.layouts import table

        keys = ("user", "item", "time_format", "separator", "header", "users", "items")
        return table.layout(
            folder,
            events=self.data.events or "",
            time=self.data.time or None,
            minimum=self.data.minimum,
            valid=self.split.valid if isinstance(self.split, GivenSplit) else None,
            **{key: getattr(self.data, key) for key in keys},
        )

    def resolved(self) -> dict[str, Any]:
        """Return plain values that repeat the run from any folder: defaults in, paths absolute."""
        values = self.model_dump(exclude_none=True)
        keys = {"layout", "path", "cache"} | _KEYS_OF[self.data.layout]
        values["data"] = {key: v for key, v in values["data"].items() if key in keys}
        values["data"]["path"] = str((self.folder / self.data.path).resolve())
        for model in values["models"]:
            module, _, name = model["use"].rpartition(":")
            file = self.folder / f"{module.removesuffix('.py')}.py"
            if file.is_file():
                model["use"] = f"{file.resolve()}:{name}"
        return values


def read(path: Path, overrides: Sequence[str] = ()) -> Config:
    """Return the config in a TOML file, with ``key=value`` overrides applied.

    Raises
    ------
    UsageError
        The file is missing or no TOML, or a key or value is not allowed.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {_reason(error)}") from error
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: is not valid TOML: {error}") from error
    for override in overrides:
        _apply(values, override)
    return parse(values, path.parent, str(path))


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"


def parse(values: dict[str, Any], folder: Path, name: str = "config") -> Config:
    """Return the checked config of plain `values`.

    Raises
    ------
    UsageError
        A key or value is not allowed; the message names it and the nearest valid one.
    """
    if "folder" in values:
        raise UsageError(f"{name}: no section [folder]; {suggest('folder', _sections())}")
    try:
        return Config.model_validate({**values, "folder": folder})
    except ValidationError as error:
        lines = [_line(values, fault) for fault in error.errors()]
        raise UsageError("\n".join(f"{name}: {line}" for line in lines)) from error


def _apply(values: dict[str, Any], override: str) -> None:
    """Set ``a.b=value`` in `values`; the value is TOML, or plain text where that is no TOML."""
    key, equals, text = override.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts):
        raise UsageError(f'--set {override}: expected key=value, such as "evaluation.k=5"')
    target: Any = values
    for part in parts[:-1]:
        target = _step(target, part, override)
    if isinstance(target, list):
        raise UsageError(f"--set {override}: name a key of one model, such as models.0.repeats=3")
    if not isinstance(target, dict):
        raise UsageError(f'--set {override}: "{parts[-2]}" is a value and has no keys')
    target[parts[-1]] = _value(text.strip())


def _step(target: Any, part: str, override: str) -> Any:
    if isinstance(target, dict):
        return target.setdefault(part, {})
    if isinstance(target, list) and part.isdecimal() and int(part) < len(target):
        return target[int(part)]
    raise UsageError(f'--set {override}: there is no "{part}" to set a key of')


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _sections() -> list[str]:
    return [name for name in Config.model_fields if name != "folder"]


def _line(values: dict[str, Any], fault: Any) -> str:
    """Return one fault in the words of the config file: section, key, found, allowed."""
    if not fault["loc"]:
        return str(fault["ctx"]["error"])
    section, key = _place(values, *fault["loc"])
    name = fault["loc"][0]
    match fault["type"]:
        case "extra_forbidden" if not key:
            return f"no section [{name}]; {suggest(name, _sections())}"
        case "extra_forbidden":
            return f'{section} has no key "{key}"; {suggest(key, _allowed(values, name))}'
        case "missing":
            return f'{section} needs the key "{key}"' if key else f"{section} is missing"
        case "union_tag_invalid" | "union_tag_not_found":
            found = values["split"].get("strategy") if isinstance(values["split"], dict) else None
            return f"[split] strategy is {found!r}; {suggest(str(found), _STRATEGIES)}"
        case "value_error":
            return f"{section} {fault['ctx']['error']}"
        case "literal_error":
            allowed = [
                a.strip("' ") for a in fault["ctx"]["expected"].replace(" or ", ",").split(",")
            ]
            return f"{section} {key} = {fault['input']!r}; {suggest(str(fault['input']), allowed)}"
        case "model_type" | "model_attributes_type":
            return f"{section}: found {fault['input']!r}; expected keys with values"
        case _:
            words = fault["msg"][0].lower() + fault["msg"][1:]
            return f"{f'{section} {key}'.rstrip()}: found {fault['input']!r}; {words}"


def _place(values: dict[str, Any], name: str, *keys: str | int) -> tuple[str, str]:
    """Return the section and the key (dotted, "" for the section itself) that a fault is at."""
    match name, keys:
        case "models", (int(at), *rest):
            model = values["models"][at]
            known = model.get("name") if isinstance(model, dict) else None
            which = f'"{known}"' if isinstance(known, str) else f"number {at + 1}"
            return f"[[models]] {which}", ".".join(map(str, rest))
        case "models", _:
            return "[[models]]", ""
        case "split", (_strategy, *rest):
            return "[split]", ".".join(map(str, rest))
        case "data", ("header" | "time" as key, *_kind):  # a union: the kind tried is no key
            return "[data]", key
    return f"[{name}]", ".".join(map(str, keys))


def _allowed(values: dict[str, Any], section: str) -> list[str]:
    match section:
        case "data":
            return list(DataConfig.model_fields)
        case "split":
            return list(_STRATEGIES[values["split"]["strategy"]].model_fields)
        case "models":
            return list(ModelConfig.model_fields)
        case _:
            return list(EvaluationConfig.model_fields)


def layout_names() -> tuple[str, ...]:
    """Return the names that ``[data] layout`` takes."""
    return get_args(LayoutName)
