"""Options that several commands have, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.core.errors import UsageError

if TYPE_CHECKING:
    from harness.experiment.terms import Terms
    from harness.submission.format import Named

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="The config of the competition and its exam.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a key, as evaluation.k=5; repeatable."
    ),
]
SolutionOption = Annotated[
    Path | None,
    typer.Option("--solution", help="A file of true items: the users' ids, and lists of items."),
]
SampleOption = Annotated[
    Path | None, typer.Option("--sample", help="A file with a row for each id that must be there.")
]
ItemsOption = Annotated[
    Path | None, typer.Option("--items", help="A table of all items, ids first.")
]
KeepOption = Annotated[
    bool,
    typer.Option(
        "--keep-users-without-items",
        help="Count users whom the solution gives no true items with 0; H&M leaves them out.",
    ),
]
SeparatorOption = Annotated[
    str | None,
    typer.Option(
        "--separator",
        help="Between the items of a list: ' ', ',', ';' or '|'. Default: as in the sample or the "
        "solution, where that is plain; else a space.",
    ),
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Warnings are errors.")]
UserColumn = Annotated[str | None, typer.Option("--user-column", help="Default: user, or first.")]
ItemColumn = Annotated[str | None, typer.Option("--item-column", help="Default: item, or next.")]
RankColumn = Annotated[str | None, typer.Option("--rank-column", help="Default: rank, if any.")]
ScoreColumn = Annotated[str | None, typer.Option("--score-column", help="Default: score, if any.")]

RowOrder = Annotated[
    bool, typer.Option("--row-order", help="The rows of a user stand in order, the best first.")
]


def terms_of(
    config: Path | None,
    sample: Path | None,
    items: Path | None,
    solution: Path | None,
    named: Named | None = None,
    *,
    keep: bool = False,
    separator: str | None = None,
    overrides: Sequence[str] | None = None,
) -> Terms:
    """Return what options say of what a submission is checked against and marked by."""
    from harness import config as config_
    from harness.experiment.terms import Terms

    if overrides and config is None:
        raise UsageError(f"--set {overrides[0]} overrides a key of a config; name it with --config")
    return Terms.of(
        None if config is None else config_.read_for_submissions(config, overrides or ()),
        sample=sample,
        items=items,
        solution=solution,
        named=named,
        keep_users_without_items=keep,
        separator=separator,
    )


def folder_of(config: Path | None) -> Path:
    """Return where paths in a config start."""
    return Path() if config is None else config.parent
