"""What sections are made of: known keys, and paths, in which ``~`` and variables are replaced."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError

from harness.core.errors import suggest
from harness.core.given import is_given
from harness.data.layout import is_remote

UNKNOWN, UNSET = "unknown_key", "unset_variable"
"""The types of the faults of a key that there is not, and of a variable."""
_HOME = re.compile(r"~(?=$|[/\\])")
_VARIABLE = re.compile(r"\$(?:(?P<dollar>\$)|(?P<plain>[A-Za-z_]\w*)|\{(?P<braced>\w+)\})")


class Section(BaseModel):
    """Keys with values: frozen, of exact types, no key unknown."""

    model_config = ConfigDict(frozen=True, strict=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _knows_its_keys(cls, values: Any) -> Any:
        for key in values if isinstance(values, dict) else ():
            if key not in cls.model_fields:
                hint = suggest(str(key), cls.model_fields)
                message = 'has no key "{key}"; {hint}'
                raise PydanticCustomError(UNKNOWN, message, {"key": key, "hint": hint})
        return values


def expanded(path: str) -> str:
    """Return a path with the user's folder for ``~``, and values for variables.

    ``$$`` is a dollar sign. URIs, names of tables that Spark reads, and of frames, are kept.

    Examples
    --------
    >>> expanded("prices$$.csv"), expanded("s3a://shop/$day")
    ('prices$.csv', 's3a://shop/$day')
    """
    if is_remote(path) or is_given(path):
        return path
    home = _HOME.match(path)
    if home is not None:
        path = os.path.expanduser("~").replace("$", "$$") + path[home.end() :]  # noqa: PTH111
    return _VARIABLE.sub(_value, path)


def _value(variable: re.Match[str]) -> str:
    if variable["dollar"]:
        return "$"
    name = variable["plain"] or variable["braced"]
    value = os.environ.get(name, "")
    if not value:
        raise PydanticCustomError(
            UNSET,
            "needs the variable ${name}, which is not set; set it (export {name}=…), write the "
            "path out, or "
            'write "$$" where a name has a dollar sign',
            {"name": name},
        )
    return value


def escaped(path: str) -> str:
    """Return the text of a config that is read as `path`: what `expanded` turns into it.

    Examples
    --------
    >>> escaped("prices$.csv"), escaped("~/log.csv"), escaped("~ann")
    ('prices$$.csv', './~/log.csv', '~ann')
    """
    if is_remote(path) or is_given(path):
        return path
    return ("./" if _HOME.match(path) else "") + path.replace("$", "$$")


PathText = Annotated[str, AfterValidator(expanded), PlainSerializer(escaped)]
"""A path of a config, or another name that a table may have."""

FileText = Annotated[str, Field(min_length=1), AfterValidator(expanded), PlainSerializer(escaped)]
"""The same of a file: an empty one would name its folder."""

PathOrFalse = Annotated[
    Annotated[PathText, Tag("path")] | Annotated[Literal[False], Tag("false")],
    Discriminator(lambda value: "false" if value is False else "path"),
]
"""The same, or that there is none."""

PathTexts = Annotated[
    Annotated[FileText, Tag("one")]
    | Annotated[list[FileText], Field(min_length=1), Tag("several")],
    Discriminator(lambda value: "several" if isinstance(value, list) else "one"),
    AfterValidator(
        lambda names: names[0] if isinstance(names, list) and len(names) == 1 else names
    ),
]
"""A file's name, or one a fold; a list of one is that one."""


def paths_of(names: str | list[str]) -> list[str]:
    """Return the paths that a key names, one or one a fold."""
    return names if isinstance(names, list) else [names]
