"""What is wrong with a config, in the words of the file: section, key, found, allowed."""

from __future__ import annotations

from typing import Any

from harness.config.base import Section
from harness.config.sections import (
    CompareConfig,
    Config,
    DataConfig,
    EvaluationConfig,
    ModelConfig,
    SubmissionConfig,
    TuneConfig,
)
from harness.config.space import TunedRecord
from harness.config.splits import INNER, STRATEGIES
from harness.errors import suggest


def section_names() -> list[str]:
    """Return the names of the sections that a config file may have."""
    return [name for name in Config.model_fields if name != "folder"]


def in_words(values: dict[str, Any], fault: Any) -> str:
    """Return one fault in the words of the config file: section, key, found, allowed."""
    if not fault["loc"]:
        return str(fault["ctx"]["error"])
    section, key = _place(values, *fault["loc"])
    name = fault["loc"][0]
    match fault["type"]:
        case "extra_forbidden" if not key:
            return f"no section [{name}]; {suggest(name, section_names())}"
        case "extra_forbidden":
            last = key.rpartition(".")[2]
            return f'{section} has no key "{key}"; {suggest(last, _allowed(values, fault["loc"]))}'
        case "missing":
            return f'{section} needs the key "{key}"' if key else f"{section} is missing"
        case "union_tag_invalid" | "union_tag_not_found":
            found = fault["input"].get("strategy") if isinstance(fault["input"], dict) else None
            allowed = INNER if name == "tune" else STRATEGIES
            return f"{section} strategy is {found!r}; {suggest(str(found), allowed)}"
        case "value_error":
            return f"{section} {fault['ctx']['error']}"
        case "literal_error":
            words = fault["ctx"]["expected"].replace(" or ", ",").split(",")
            near = suggest(str(fault["input"]), [word.strip("' ") for word in words])
            return f"{section} {key} = {fault['input']!r}; {near}"
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
        case "tune", ("split", *rest):
            return "[tune] split", ".".join(map(str, rest[1:]))
        case "data", ("header" | "time" as key, *_kind):  # a union: the kind tried is no key
            return "[data]", key
    return f"[{name}]", ".".join(map(str, keys))


def _allowed(values: dict[str, Any], place: tuple[str | int, ...]) -> list[str]:
    """Return the keys that could stand where an unknown one does."""
    match place:
        case ("split", *_):
            return list(STRATEGIES[values["split"]["strategy"]].model_fields)
        case ("tune", "split", str(strategy), *_):
            return list(STRATEGIES[strategy].model_fields)
        case ("models", _, "tuned", *_):
            return list(TunedRecord.model_fields)
    return list(_KEYS_OF.get(str(place[0]), EvaluationConfig).model_fields)


_KEYS_OF: dict[str, type[Section]] = {
    "data": DataConfig,
    "models": ModelConfig,
    "submission": SubmissionConfig,
    "compare": CompareConfig,
    "tune": TuneConfig,
}
