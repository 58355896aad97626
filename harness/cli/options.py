"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[
    Path | None,
    typer.Option("--config", help="The config of the competition and its evaluation set."),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a key, as evaluation.k=5; repeatable. Paths start at the config's folder.",
    ),
]
Solution = Annotated[
    Path | None,
    typer.Option("--solution", help="A file of true items: the users' ids, and lists of items."),
]
Sample = Annotated[
    Path | None, typer.Option("--sample", help="A file with a row for each id that must be there.")
]
Items = Annotated[Path | None, typer.Option("--items", help="A table of all items, ids first.")]
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
Strict = Annotated[bool, typer.Option("--strict", help="Warnings are errors.")]
UserColumn = Annotated[str | None, typer.Option("--user-column", help="Default: user, or first.")]
ItemColumn = Annotated[str | None, typer.Option("--item-column", help="Default: item, or next.")]
RankColumn = Annotated[str | None, typer.Option("--rank-column", help="Default: rank, if any.")]
ScoreColumn = Annotated[str | None, typer.Option("--score-column", help="Default: score, if any.")]

RowOrder = Annotated[
    bool, typer.Option("--row-order", help="The rows of a user stand in order, the best first.")
]


def folder_of(config: Path | None) -> Path:
    """Return where paths in a config start."""
    return Path() if config is None else config.parent


def say_value(error: Exception) -> None:
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
