"""Options that several commands have."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from harness.cli.log import asking_for
from harness.core.errors import UsageError
from harness.scoring.options import SubmissionOptions

ConfigArgument = Annotated[
    Path | None, typer.Argument(metavar="CONFIG", help="A config file (TOML).", show_default=False)
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="CONFIG", help="The same, named by an option.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a key, as evaluation.k=5; repeatable. Paths start at the config's folder.",
    ),
]
Lists = Annotated[Path, typer.Argument(metavar="FILE", help="Lists in CSV (.gz, .zip) or Parquet.")]
Cut = Annotated[
    int | None,
    typer.Option("--k", min=1, help="The cut-off where a metric is not named; 12."),
]
Force = Annotated[bool, typer.Option("--force", help="Score a file with errors as it stands.")]
Strict = Annotated[bool, typer.Option("--strict", help="Warnings are errors.")]
Fold = Annotated[
    int | None,
    typer.Option("--fold", help="Which of a run's folds, 1 the earliest; the last."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        metavar="N",
        help="How many processes may work side by side, where memory allows; 1 by default. Same "
        "results.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        callback=asking_for(logging.ERROR),
        help="Print the result, with its notes, and errors alone: no bars, warnings, next steps.",
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        callback=asking_for(logging.INFO),
        help="Say on standard error what each step did, and how long it took.",
    ),
]


def _submission(
    beside_file: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG]", help="The same as --config CONFIG.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="The config of the competition and its evaluation set."),
    ] = None,
    solution: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="True items: the users' ids, and lists of items."),
    ] = None,
    sample: Annotated[
        Path | None,
        typer.Option(help="A file with a row for each id that must be there."),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(help="A table of all items, by a column as item_id, or the first."),
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            help="Between the items of a list: ' ', ',', ';' or '|'. Default: as in the sample or "
            "the solution, where that is plain; else a space."
        ),
    ] = None,
    keep_users_without_items: Annotated[
        bool,
        typer.Option(
            "--keep-users-without-items",
            help="Count users whom the solution gives no true items with 0; H&M leaves them out.",
        ),
    ] = False,
    user_column: Annotated[
        str | None,
        typer.Option(help="Of users, in the lists and the solution. Default: by name."),
    ] = None,
    item_column: Annotated[
        str | None,
        typer.Option(help="Of items, in the lists and the solution. Default: by name."),
    ] = None,
    rank_column: Annotated[str | None, typer.Option(help="Default: rank, if any.")] = None,
    score_column: Annotated[str | None, typer.Option(help="Default: score, if any.")] = None,
    row_order: Annotated[
        bool,
        typer.Option("--row-order", help="The rows of a user stand in order, the best first."),
    ] = False,
    truth_user_column: Annotated[
        str | None,
        typer.Option(help="Of users in the solution, if called otherwise there."),
    ] = None,
    truth_item_column: Annotated[
        str | None,
        typer.Option(help="Of items in the solution, if called otherwise there."),
    ] = None,
    grade_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How relevant the solution's items are; those of grade 0 are not true. 'none': "
            "every row is true. Default: grade, if any.",
        ),
    ] = None,
    ids: Annotated[
        Literal["exact"] | None,
        typer.Option(
            help="exact: ids that differ only in case, spaces, zeros or .0 are different ids. "
            "By default such an id is taken for a damaged known one."
        ),
    ] = None,
    overrides: Set = None,
) -> None:
    """Declare the keys of `SubmissionOptions` as options, and a config behind the file of lists."""


_LAST = ("quiet", "verbose", "format_")
"""What help shows behind the options of submissions."""


def of_submissions(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., Any]], Any]:
    """Give a command the options of submissions, which it takes as one: ``submission``."""
    added = dict(inspect.signature(_submission, eval_str=True).parameters)
    for name in without:
        del added[name]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        parameters = dict(inspect.signature(command, eval_str=True).parameters)
        del parameters["submission"]
        shared = {name: parameters.pop(name) for name in _LAST if name in parameters}

        @functools.wraps(command)
        def with_submission(**values: Any) -> Any:
            submission = {name: values.pop(name) for name in added}
            beside_file = submission.pop("beside_file", None)
            submission["config"] = _config_beside(beside_file, submission["config"])
            submission["overrides"] = submission["overrides"] or ()
            return command(**values, submission=submission)

        every = [*parameters.values(), *added.values(), *shared.values()]
        every = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in every]
        with_submission.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        return with_submission

    return decorate


def one_of(values: list[str] | None, option: str) -> str | None:
    """Return the value of an option that is taken once; refuse several."""
    if values and len(values) > 1:
        raise UsageError(f"{option}: one is compared by; found {' and '.join(values)}")
    return values[0] if values else None


def config_of(argument: Path | None, option: Path | None, what: str = "CONFIG") -> Path:
    """Return the config that is named by an argument or by ``--config``; refuse none, and two."""
    config = _one_config(argument, option)
    if config is None:
        raise UsageError(f"no config; name one: {what}, or --config CONFIG")
    return config


def _config_beside(argument: Path | None, option: Path | None) -> Path | None:
    """Return the config that stands behind a file of lists, or that ``--config`` names."""
    if argument is not None and argument.suffix != ".toml":
        raise UsageError(
            f"{argument}: stands where a config (TOML) may; this command takes one file of lists, "
            "and harness compare FILE… takes several"
        )
    return _one_config(argument, option)


def _one_config(argument: Path | None, option: Path | None) -> Path | None:
    if argument is not None and option is not None and argument != option:
        raise UsageError(f"two configs, {argument} and --config {option}; name one")
    return argument or option


def is_scored(submission: SubmissionOptions) -> bool:
    """Return whether a solution is named, or a config that has one."""
    return submission.get("solution") is not None or submission.get("config") is not None


def files_of(submission: SubmissionOptions) -> list[Path]:
    """Return the files that are named."""
    return [path for path in submission.values() if isinstance(path, Path)]
