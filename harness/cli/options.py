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

Config = Annotated[
    Path | None,
    typer.Option("--config", help="The config of the competition and its evaluation set."),
]
ConfigArgument = Annotated[
    Path | None, typer.Argument(metavar="CONFIG", help="A config file (TOML).", show_default=False)
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="CONFIG", help="The same, named by an option.")
]
ConfigBeside = Annotated[
    Path | None, typer.Argument(metavar="[CONFIG]", help="The same as --config CONFIG.")
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
Solution = Annotated[
    Path | None,
    typer.Option(
        "--solution",
        metavar="FILE",
        help="True items: the users' ids, and lists of items.",
    ),
]
Sample = Annotated[
    Path | None, typer.Option("--sample", help="A file with a row for each id that must be there.")
]
Items = Annotated[
    Path | None,
    typer.Option("--items", help="A table of all items, by a column as item_id, or the first."),
]
Keep = Annotated[
    bool,
    typer.Option(
        "--keep-users-without-items",
        help="Count users whom the solution gives no true items with 0; H&M leaves them out.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        help="Between the items of a list: ' ', ',', ';' or '|'. Default: as in the sample or the "
        "solution, where that is plain; else a space.",
    ),
]
Cut = Annotated[
    int | None,
    typer.Option("--k", min=1, help="The cut-off where a metric is not named; 12."),
]
Force = Annotated[bool, typer.Option("--force", help="Score a file with errors as it stands.")]
Strict = Annotated[bool, typer.Option("--strict", help="Warnings are errors.")]
UserColumn = Annotated[
    str | None,
    typer.Option(
        "--user-column", help="Of users, in the lists and the solution. Default: by name."
    ),
]
ItemColumn = Annotated[
    str | None,
    typer.Option(
        "--item-column", help="Of items, in the lists and the solution. Default: by name."
    ),
]
TruthUserColumn = Annotated[
    str | None,
    typer.Option(
        "--truth-user-column", help="Of users in the solution, if called otherwise there."
    ),
]
TruthItemColumn = Annotated[
    str | None,
    typer.Option(
        "--truth-item-column", help="Of items in the solution, if called otherwise there."
    ),
]
GradeColumn = Annotated[
    str | None,
    typer.Option(
        "--grade-column",
        metavar="NAME",
        help="How relevant the solution's items are; those of grade 0 are not true. 'none': every "
        "row is true. Default: grade, if any.",
    ),
]
RankColumn = Annotated[str | None, typer.Option("--rank-column", help="Default: rank, if any.")]
ScoreColumn = Annotated[str | None, typer.Option("--score-column", help="Default: score, if any.")]

RowOrder = Annotated[
    bool, typer.Option("--row-order", help="The rows of a user stand in order, the best first.")
]
Ids = Annotated[
    Literal["exact"] | None,
    typer.Option(
        "--ids",
        help="exact: ids that differ only in case, spaces, zeros or .0 are different ids. "
        "By default such an id is taken for a damaged known one.",
    ),
]

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

Engine = Annotated[
    Literal["local", "spark"],
    typer.Option(
        "--engine", help="Where it is worked on: this process, or Spark's workers (docs/scale.md)."
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Spark's master, such as spark://host:7077. Default: the environment's, or local[*].",
    ),
]
Remote = Annotated[
    str | None,
    typer.Option(
        "--remote", metavar="sc://…", help="A Spark Connect server, such as sc://host:15002."
    ),
]
Buckets = Annotated[
    int | None,
    typer.Option(
        "--buckets",
        min=1,
        max=4096,
        help="Of users, on Spark. Default: as many as the data asks for.",
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
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        callback=asking_for(logging.DEBUG),
        help="Show the traceback of what a model raises, and each step as --verbose does.",
    ),
]


_SUBMISSION = {
    "beside_file": (ConfigBeside, None),
    "config": (Config, None),
    "solution": (Solution, None),
    "sample": (Sample, None),
    "items": (Items, None),
    "separator": (Separator, None),
    "keep_users_without_items": (Keep, False),
    "user_column": (UserColumn, None),
    "item_column": (ItemColumn, None),
    "rank_column": (RankColumn, None),
    "score_column": (ScoreColumn, None),
    "row_order": (RowOrder, False),
    "truth_user_column": (TruthUserColumn, None),
    "truth_item_column": (TruthItemColumn, None),
    "grade_column": (GradeColumn, None),
    "ids": (Ids, None),
    "overrides": (Set, None),
}
"""The keys of `SubmissionOptions` as options, and the config as an argument behind the file."""


def of_submissions(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., Any]], Any]:
    """Give a command the options of submissions, which it takes as one: ``submission``."""
    added = {
        name: Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _SUBMISSION.items()
        if name not in without
    }

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        parameters = dict(inspect.signature(command, eval_str=True).parameters)
        del parameters["submission"]
        shared = {name: parameters.pop(name) for name in _LAST if name in parameters}

        @functools.wraps(command)
        def with_submission(**values: Any) -> Any:
            submission = {name: values.pop(name) for name in added}
            submission["overrides"] = submission["overrides"] or ()
            if "beside_file" in added:
                beside_file = submission.pop("beside_file")
                submission["config"] = config_beside(beside_file, submission["config"])
            return command(**values, submission=submission)

        every = [*parameters.values(), *added.values(), *shared.values()]
        every = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in every]
        with_submission.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        return with_submission

    return decorate


_LAST = ("quiet", "verbose", "format_")
"""What help shows behind the options of submissions."""


def one_of(given: list[str] | None, option: str) -> str | None:
    """Return the value of an option that is taken once.

    Raises
    ------
    UsageError
        It is given more often.
    """
    if given and len(given) > 1:
        raise UsageError(f"{option}: one is compared by; found {' and '.join(given)}")
    return given[0] if given else None


def config_of(argument: Path | None, option: Path | None, what: str = "CONFIG") -> Path:
    """Return the config that is named by an argument or by ``--config``.

    Raises
    ------
    UsageError
        None is named, or two.
    """
    given = one_config(argument, option)
    if given is None:
        raise UsageError(f"no config; name one: {what}, or --config CONFIG")
    return given


def config_beside(argument: Path | None, option: Path | None) -> Path | None:
    """Return the config that stands behind a file of lists, or that ``--config`` names.

    Raises
    ------
    UsageError
        Something else stands there, or two are named.
    """
    if argument is not None and argument.suffix != ".toml":
        raise UsageError(
            f"{argument}: stands where a config (TOML) may; this command takes one file of lists, "
            "and harness compare FILE… takes several"
        )
    return one_config(argument, option)


def one_config(argument: Path | None, option: Path | None) -> Path | None:
    """Return the config that an argument or ``--config`` names, if one does; refuse two."""
    if argument is not None and option is not None and argument != option:
        raise UsageError(f"two configs, {argument} and --config {option}; name one")
    return argument or option


def is_scored(submission: SubmissionOptions) -> bool:
    """Return whether a solution is named, or a config that has one."""
    return submission.get("solution") is not None or submission.get("config") is not None


def say_value(error: BaseException) -> None:
    """Say in our own words why an option's value was refused, where pydantic refused it."""
    refused = getattr(error.__cause__, "errors", None)
    if refused is None:
        return
    fault = refused()[0]
    expected = {
        "int_parsing": "a whole number",
        "float_parsing": "a number",
        "greater_than_equal": f"{fault.get('ctx', {}).get('ge')} or more",
    }
    if fault["type"] in expected:
        told = f"found {fault['input']}, expected {expected[fault['type']]}"
    else:
        told = fault["msg"].removeprefix("Value error, ")
    error.message = told  # type: ignore[attr-defined]
