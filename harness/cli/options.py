"""Options that several commands have."""

from __future__ import annotations

import functools
import inspect
import logging
import shlex
from collections.abc import Callable, Sequence
from inspect import Parameter
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, get_args, get_origin

import typer

from harness.cli.output import Format, asking_for
from harness.core.errors import UsageError
from harness.scoring.options import SubmissionOptions, flag_of, types_of

ConfigArgument = Annotated[
    Path | None, typer.Argument(metavar="CONFIG", help="A config file (TOML).", show_default=False)
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="CONFIG", help="Same as the argument CONFIG.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a key of the config, such as evaluation.k=5. Repeatable. Relative paths "
        "start at the config's folder.",
    ),
]
Lists = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="A submission: CSV (also .gz or .zip), JSON or Parquet."),
]
BesideLists = Annotated[
    Path | None, typer.Argument(metavar="CONFIG", help="Same as --config CONFIG.")
]
Cut = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="The cut-off if you name no metric. Default: that of the config or the competition, "
        "else 12.",
    ),
]
Force = Annotated[bool, "Score a file even if it has errors."]
Replace = Annotated[bool, "Replace the file that --out names."]
Strict = Annotated[bool, "Treat warnings as errors."]
Repeat = Annotated[int, "The repeat of the model."]
Fold = Annotated[
    int | None,
    typer.Option(min=1, help="The fold of the run; 1 is the earliest. Default: the last."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        metavar="N",
        help="Use up to N processes, if memory allows. The results do not change. Default: 1.",
    ),
]
Quiet = Annotated[
    bool, "Print only the result and errors: no progress bars, warnings or next steps."
]
Verbose = Annotated[bool, "Log each step and its time to standard error."]
Output = Annotated[Format, "The format of the result."]

_FIRST = ("context", "file", "paths", "source")
"""The arguments, and what Typer gives."""
_AGAINST = ("beside_lists", "solution", "config", "overrides", "sample", "items")
"""What submissions are checked and scored against: help shows it first."""
_LAST = (*("strict", "force", "fix", "codabench", "evalai"), *("quiet", "verbose", "format_"))
"""What is refused, written and printed: help shows it last."""
_LETTERS = {"out": "-o", "quiet": "-q", "verbose": "-v"}
_LEVELS = {"quiet": logging.ERROR, "verbose": logging.INFO, "debug": logging.DEBUG}


def declared(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command for Typer, which declares an option by its type and its help.

    ``Annotated[int, "How many."]`` of a parameter `users` is ``--users``; a third element is what
    help shows for the value. No number is below 0. Whatever Typer declares itself stays.
    """
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    command.__signature__ = inspect.Signature(list(map(_declared, parameters)))  # type: ignore[attr-defined]
    return command


def _declared(parameter: Parameter) -> Parameter:
    name, annotation = parameter.name, parameter.annotation
    kind, text, metavar = (*get_args(annotation), None, None, None)[:3]
    if not isinstance(text, str):
        return parameter
    option = typer.Option(
        flag_of(name.rstrip("_")),
        *filter(None, [_LETTERS.get(name)]),
        min=0 if kind in (int, int | None) else None,
        metavar=metavar,
        help=text,
        callback=asking_for(_LEVELS[name]) if name in _LEVELS else None,
    )
    for part in (kind, *get_args(kind)):
        if part is Path:  # or a text, in Python
            kind = Path | None
        elif get_origin(part) is Sequence:
            kind = GenericAlias(list, get_args(part)) | None
    return parameter.replace(annotation=Annotated[kind, option])


def of_submissions(
    form: type = SubmissionOptions, *, without: tuple[str, ...] = ()
) -> Callable[[Callable[..., Any]], Any]:
    """Give a command the keys of a TypedDict as options; it takes those typed as `submission`.

    A config may stand behind the file of lists, but for commands without `beside_lists`. Help shows
    what submissions are scored against, the command's own options, the others, and output.
    """
    hints = types_of(form) | {"beside_lists": BesideLists, "overrides": Set}
    added = {
        key: Parameter(
            key,
            Parameter.KEYWORD_ONLY,
            default=False if get_args(hint)[0] is bool else None,
            annotation=hint,
        )
        for key, hint in hints.items()
        if key not in without
    }

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_submission(**values: Any) -> Any:
            typed = {name: values.pop(name) for name in added}
            submission = {name: value for name, value in typed.items() if value not in (None, [])}
            beside_lists = submission.pop("beside_lists", None)
            if beside_lists is not None and beside_lists.suffix != ".toml":
                name = shlex.quote(str(beside_lists))
                step = "harness compare FILE… takes several submissions"
                if "user" in values:
                    step = f"to explain a user, type --user {name}"
                raise UsageError(
                    f"{beside_lists}: the second argument must be a config (.toml); {step}; if the "
                    f"file has the true items, type --solution {name}"
                )
            submission["config"] = _single_config(beside_lists, submission.get("config"))
            return command(**values, submission=submission)

        parameters = dict(inspect.signature(command, eval_str=True).parameters)
        del parameters["submission"]
        every = {**parameters, **added}
        middle = [name for name in every if name not in _LAST]
        order = dict.fromkeys((*_FIRST, *_AGAINST, *middle, *_LAST))
        with_submission.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [every[n].replace(kind=Parameter.KEYWORD_ONLY) for n in order if n in every]
        )
        return with_submission

    return decorate


def single(values: list[str] | None, option: str) -> str | None:
    """Return the value of an option that is taken once; refuse several."""
    if values and len(values) > 1:
        raise UsageError(f"{option}: name one metric; found {' and '.join(values)}")
    return values[0] if values else None


def config_of(argument: Path | None, option: Path | None, what: str = "CONFIG") -> Path:
    """Return the config that is named by an argument or by ``--config``; refuse none, and two."""
    config = _single_config(argument, option)
    if config is None:
        raise UsageError(f"no config; name one: {what}, or --config CONFIG")
    return config


def _single_config(argument: Path | None, option: Path | None) -> Path | None:
    if argument is not None and option is not None and argument != option:
        raise UsageError(f"found two configs, {argument} and --config {option}; name one")
    return argument or option
