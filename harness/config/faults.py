"""What is wrong with a config, in the words of the file: section, key, found, allowed."""

from __future__ import annotations

from typing import Any

from harness.config.sections import (
    STRATEGIES,
    CompareConfig,
    Config,
    DataConfig,
    EvaluationConfig,
    ModelConfig,
    SubmissionConfig,
)
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
            return f'{section} has no key "{key}"; {suggest(key, _allowed(values, name))}'
        case "missing":
            return f'{section} needs the key "{key}"' if key else f"{section} is missing"
        case "union_tag_invalid" | "union_tag_not_found":
            found = values["split"].get("strategy") if isinstance(values["split"], dict) else None
            return f"[split] strategy is {found!r}; {suggest(str(found), STRATEGIES)}"
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
            return list(STRATEGIES[values["split"]["strategy"]].model_fields)
        case "models":
            return list(ModelConfig.model_fields)
        case "submission":
            return list(SubmissionConfig.model_fields)
        case "compare":
            return list(CompareConfig.model_fields)
        case _:
            return list(EvaluationConfig.model_fields)
