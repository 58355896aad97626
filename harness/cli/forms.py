"""The forms of a command, as of a run or of a file; options of one form, or that were removed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import typer

from harness.core.errors import UsageError
from harness.scoring.options import SubmissionOptions, flag_of

RUN, FILE, CONFIG = "a run", "a file of lists", "a config"
LOCAL, SPARK = "--engine local", "--engine spark"

_OF_LISTS = (*map(flag_of, SubmissionOptions.__annotations__), "CONFIG", "--strict", "--force")
"""How lists in files are read, and what they are scored against: a run knows all that."""
_OF_SCORES = ("--keep-users-without-items", "--force")
"""Those of `_OF_LISTS` that say how lists are scored."""
FORMS: dict[str, dict[str, tuple[str, ...]]] = {
    "run": {
        LOCAL: ("--memory", "--fresh", "--model", "--jobs", "--debug"),
        SPARK: ("--master", "--remote", "--buckets", "--tables"),
    },
    "score": {RUN: (), FILE: (*_OF_LISTS, "--k", "--conventions", "--codabench", "--evalai")},
    "explain": {RUN: ("--model", "--repeat", "--fold", "--most-different"), FILE: _OF_LISTS},
    "submit": {RUN: ("--fold",), CONFIG: ("--set", "--all-events")},
}
"""The forms of each command, and the options that go with one alone; others go with all forms.

`compare` and `leaderboard` refuse options themselves, in Python too.
"""

_ONE_MACHINE = (
    "leave it out: one machine reads 1.4 million rows in two seconds. Write lists from Spark to "
    "one file first, or score them in Python: harness.spark.evaluate(predictions, truth, metrics)"
)
_RUN_FOLDERS = (
    "leave it out: compare reads run folders that Spark wrote as any other. If the tables are "
    "elsewhere, copy them into the run folder first"
)
_WHOLE = (
    "leave it out: if events are in buckets, harness refuses models that learn from all events at "
    "once; allow more memory (--memory), choose other models (--model), or use models that learn "
    "by sums"
)
_SPARK_OPTIONS = ("--engine", "--master", "--remote", "--buckets")
_REMOVED = {
    "validate": dict.fromkeys(_SPARK_OPTIONS, _ONE_MACHINE),
    "score": dict.fromkeys(_SPARK_OPTIONS, _ONE_MACHINE),
    "compare": dict.fromkeys(_SPARK_OPTIONS, _RUN_FOLDERS),
    "run": {"--whole": _WHOLE},
}
"""Options that commands had once, and what to do instead."""


def instead_of(command: str, option: str) -> str | None:
    """Return what to use in place of a removed option."""
    return _REMOVED.get(command, {}).get(option)


def refuse_other_forms(context: typer.Context, form: str, instead: str = "") -> None:
    """Refuse options that go with another form of the command; by default, leave them out."""
    typed = [name for name, _ in _typed(context)]
    for other, options in FORMS[context.command.name or ""].items():
        wrong = [name for name in typed if name in options]
        if other != form and wrong:
            names = " and ".join(wrong)
            step = instead or f"leave out {names}"
            raise UsageError(f"{names}: only with {other}, not with {form}; {step}")


def mending(context: typer.Context, file: Path) -> str:
    """Return the command that checks a file of lists as it was read, for the option ``--fix``."""
    from harness.core.io import as_argument

    words = ["harness", "validate", as_argument(file)]
    for name, value in _typed(context):
        if name not in _OF_LISTS or name in _OF_SCORES:
            continue
        option = [name] if name.startswith("-") else []
        for text in value if isinstance(value, (list, tuple)) else [value]:
            words += option if text is True else [*option, str(text)]
    return shlex.join(words)


def _typed(context: typer.Context) -> list[tuple[str, Any]]:
    """Return the options and arguments that were typed, with their values."""
    return [
        (name_of(param), context.params.get(param.name or ""))
        for param in context.command.params
        if getattr(context.get_parameter_source(param.name or ""), "name", "") == "COMMANDLINE"
    ]


def name_of(param: Any) -> str:
    """Return the long name of an option, or how the help calls an argument."""
    first: str = param.opts[0]
    return first if first.startswith("-") else param.metavar or first
